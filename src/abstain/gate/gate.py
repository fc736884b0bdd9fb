"""The learner of a gate."""

import os
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._core import files
from ..capacity import Capacity, CapacityLike, as_capacity
from ..engine import Learner, Seed
from ..engine.feedback import chances_of
from ..errors import DecisionError, InputError, shown
from ..experts.columns import ALWAYS_ANSWER, ALWAYS_REVIEW
from ..learners import DoublyRobust
from ..typing import Array, Floats, Ints
from . import frames
from .answers import CLASSES, NUMBER, Said, Task, check_names
from .arguments import as_labels, as_levels, as_names, as_text, as_time, check_source, floor, quantiles
from .case import ANSWER, REVIEW, Case
from .experts import NO_ANSWER, ModelLosses, ModelThresholds
from .frames import Block, Player, inputs, playing
from .prices import OTHER, Prices, threshold_at, weighed

if TYPE_CHECKING:
    import polars as pl


def make_learner(
    kind: Callable[..., Learner], levels: Floats, prices: Prices, feedback: Any, capacity: Capacity | None, seed: Seed
) -> Learner:
    """A learner of this kind that has learnt nothing, on models with these thresholds."""
    options: dict[str, Any] = {} if feedback == "predicted" else {"feedback": feedback}
    if kind is DoublyRobust:
        options |= {"memory": "adaptive", "min_observe": floor(chances_of(feedback))}
    if capacity is not None:
        if "capacity" not in getattr(kind, "options", ("capacity",)):
            name = getattr(kind, "__name__", "this learner")
            raise InputError(f"capacity: {name} knows of none; DoublyRobust and Exp3Abs do")
        options["capacity"] = capacity
    options["loss"] = ModelLosses(prices.plain, prices.of_signs)
    try:
        return kind(ModelThresholds(levels), cost=prices.cost, seed=seed, **options)
    except TypeError as error:
        raise InputError(f"learner: expected one that takes the gate's experts and options ({error})") from None


def experts_of(learner: Learner) -> ModelThresholds:
    """The experts of a learner that a gate can go on with."""
    if not isinstance(learner, Learner) or not isinstance(learner.experts, ModelThresholds):
        raise InputError(f"learner: expected a class of learner that takes the gate's experts, got {shown(learner)}")
    if learner.supervised:
        raise InputError(f"learner: {type(learner).__name__} needs the labels of all cases, which no gate has")
    return learner.experts


def add_model_to(gate: "Gate", name: str) -> None:
    """See `Gate.add_model`. Its thresholds are the first model's."""
    if name in gate.models:
        raise InputError(f"models: expected a new name, got {shown(name)}")
    _rearrange(gate, [*range(len(gate.models)), -1], as_names([*gate.models, name]))


def retire_from(gate: "Gate", name: str) -> None:
    """See `Gate.retire`."""
    if name not in gate.models:
        raise InputError(f"model: expected one of {', '.join(gate.models)}, got {shown(name)}")
    if len(gate.models) == 1:
        raise InputError(f"model: expected another one beside the last, got {shown(name)} to retire")
    stays = [m for m, other in enumerate(gate.models) if other != name]
    _rearrange(gate, stays, [gate.models[m] for m in stays])


def _rearrange(gate: "Gate", model_from: Sequence[int], models: list[str]) -> None:
    """Go on with other models, by the numbers they had; -1 for a newcomer."""
    learner = gate.learner
    with learner.lock:
        n_levels = gate.levels.shape[1]
        models_before = np.array(model_from)
        experts_before = models_before[:, np.newaxis] * n_levels + np.arange(n_levels)
        experts_before[models_before < 0] = -1
        counts = np.where((models_before < 0)[:, np.newaxis], 0, gate.counts[models_before])
        levels = gate.levels[np.maximum(models_before, 0)]
        learner.rearrange(ModelThresholds(levels), models_before, experts_before.ravel())
        gate.models = models
        gate._hold(learner, counts)


def shares(gate: "Gate") -> Floats:
    """The share of cases in which each model was more certain than each of its thresholds (P, L)."""
    above = np.cumsum(gate.counts[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(above[:, 1:] / np.maximum(above[:, :1], 1))


def policy_frame(gate: "Gate") -> "pl.DataFrame":
    """See `Gate.policy`."""
    import polars as pl

    learner, n_levels = gate.learner, gate.levels.shape[1]
    with learner.lock:
        weights = getattr(learner, "weights", None)
        prices = getattr(learner, "estimates", getattr(learner, "means", None))
        table = pl.DataFrame(
            {
                "model": np.repeat(gate.models, n_levels),
                "threshold": gate.levels.ravel(),
                "weight": np.full(gate.levels.size, np.nan) if weights is None else weights,
                "cost": np.full(gate.levels.size, np.nan) if prices is None else np.clip(prices, 0.0, 1.0) * gate.unit,
                "share": shares(gate).ravel(),
            }
        )
    table = table.with_columns(
        pl.when(pl.col("threshold") < ALWAYS_REVIEW).then("threshold").alias("threshold"),
        pl.col("weight", "cost").fill_nan(None),
    )
    by = ["cost"] if weights is None else ["weight"]
    return table.sort(by, descending=weights is not None, nulls_last=True, maintain_order=True)


def policy_sentence(gate: "Gate") -> str:
    """The heaviest model and threshold, in words."""
    if gate.counts.sum() == 0:
        return f"follows {', '.join(gate.models)}; has decided nothing yet"
    best = policy_frame(gate).row(0, named=True)
    price = "" if best["cost"] is None else f"; {best['cost']:.3g} a case"
    if best["threshold"] is None:
        return f"sends every case to review{price}"
    return f"answers with {best['model']} {_when(gate, best['threshold'])}, {100 * best['share']:.0f} % of cases{price}"


def _when(gate: "Gate", threshold: float) -> str:
    if threshold == ALWAYS_ANSWER:
        return "always"
    if gate.task.kind == NUMBER and gate.prices.max_stake is None:  # in the user's own unit
        return f"from an expected error of {(1.0 - threshold) * gate.task.max_error:.3g} down"
    return f"from confidence {as_text(threshold)} on"


COUNTS = "gate.counts"


def gate_contents(gate: "Gate") -> tuple[dict[str, Any], dict[str, Array]]:
    """The header and the arrays of a gate's file."""
    header, arrays = gate.learner.contents()
    task = gate.task
    kept = {
        "models": gate.models,
        "task": task.kind,
        "classes": None if task.classes is None else list(task.classes),
        "max_error": task.max_error,
        "prices": gate.prices.kept(),
        "labels": gate.labels[0],
        "last_time": gate.last_time,
    }
    return {**header, "gate": kept}, {**arrays, COUNTS: gate.counts}


def fill_in(gate: "Gate", learner: Learner, kept: Mapping[str, Any], counts: Any) -> None:
    """Fill in a gate by what a file says; a `ValueError` says what is wrong with it."""
    gate.models = as_names(kept["models"])
    gate.task = Task(kept["task"], kept["classes"], kept["max_error"])
    prices = kept["prices"]
    kinds: dict[Any, Any] = {(said, true): price for said, true, price in prices["kinds"]}
    mistake = {**kinds, OTHER: prices["other"]} if kinds else prices["other"]
    gate.prices = Prices(gate.task, prices["review"], mistake, prices["max_stake"])
    labels = kept["labels"]
    gate.labels = as_labels(tuple(labels) if isinstance(labels, list) else labels)
    gate.capacity, gate.seed = getattr(learner, "capacity", None), learner.seed
    gate._kind = type(learner)
    last = kept["last_time"]
    if last is not None and type(last) is not int:
        raise InputError(f"last_time: expected microseconds, got {last!r:.50}")
    gate.last_time = last
    same_price = getattr(learner.cost, "value", None) == gate.prices.cost
    if not same_price or getattr(learner, "feedback", "predicted") != gate.labels[1]:
        raise InputError("gate: the prices, the labels and the learner do not fit together")
    experts = learner.experts
    if not isinstance(experts, ModelThresholds) or len(experts.levels) != len(gate.models):
        raise InputError("gate: the models and the experts do not fit together")
    shape = len(gate.models), experts.levels.shape[1] + 1
    fits = isinstance(counts, np.ndarray) and counts.shape == shape and counts.dtype == np.int64
    if not fits or (counts < 0).any():
        raise InputError("gate: the counts do not fit the models")
    gate._hold(learner, counts.copy())


class Gate:
    """Named models, prices and reviewers: every case is answered by one of the models, or goes to review.

    A case is answered by a model whose confidence is above a threshold; which model, and which threshold, is learnt
    from the labels that come back. Give ``cost``; or the prices ``review`` and ``mistake``, or ``max_stake`` for it.

    Args:
        models: Their names.
        cost: The price of a review where a mistake costs 1.
        review: The price of a review, in your money.
        mistake: The price of a mistake, or prices by kind, ``{("spam", "ham"): 9, "other": 1}`` (what was said, what
            was true).
        max_stake: A mistake costs what is at stake in the case; this is the most that can be.
        task: How models answer: "classes" (a class and a confidence), "binary" (the probability of the second of two
            classes, or a class and a confidence), "number" (a number and its expected error).
        classes: What there is to answer, where it is known.
        max_error: What errors of numbers count relative to.
        labels: Which come back: those of cases that were "answered", of those "reviewed", of "both", or two
            probabilities (after answering, after a review).
        thresholds: How many each model has, or these themselves, or "quantiles" of a warm-up log.
        capacity: A limit on reviews: a share of the cases, or an `abstain.Capacity`.
        learner: A class of learner, or a function with the same arguments.
        seed: Of its random numbers; unless given, every gate draws others.

    >>> gate = Gate(["gbm", "rules"], cost=0.2, seed=0)
    >>> for _ in range(300):
    ...     case = gate.decide({"gbm": ("spam", 0.93), "rules": None})
    ...     if case.action == "answer":
    ...         gate.learn(case, "spam")
    >>> case.action, case.answer, case.model
    ('answer', 'spam', 'gbm')
    """

    def __init__(
        self,
        models: Sequence[str],
        *,
        cost: float | None = None,
        review: float | None = None,
        mistake: "float | Mapping[Any, float] | None" = None,
        max_stake: float | None = None,
        task: str = CLASSES,
        classes: Sequence[Any] | None = None,
        max_error: float = 1.0,
        labels: "str | tuple[float, float]" = "answered",
        thresholds: Any = 48,
        capacity: CapacityLike = None,
        learner: Callable[..., Learner] = DoublyRobust,
        seed: Seed = None,
    ) -> None:
        if (cost is None) == (review is None):
            raise InputError("cost: expected either cost, or review (and mistake), got both or none of them")
        if cost is not None and mistake is not None:
            raise InputError("mistake: expected review= beside it, not cost=, which is for mistakes that cost 1")
        self.models = as_names(models)
        self.task = Task(task, classes, max_error)
        price = cost if review is None else review
        self.prices = Prices(self.task, price, 1.0 if mistake is None else mistake, max_stake)  # type: ignore[arg-type]
        self.labels = as_labels(labels)
        self.capacity = as_capacity(capacity)
        self.seed = seed
        if not callable(learner):
            raise InputError(f"learner: expected a class of learner, or a function, got {shown(learner)}")
        self._kind = learner
        self.last_time: int | None = None
        """Of the last case, in microseconds."""
        self._begin(as_levels(thresholds, len(self.models), self.task))

    def _begin(self, levels: Floats | None) -> None:
        """Make the learner; without thresholds, later."""
        if levels is None:
            self._learner: Learner | None = None
            self.counts = np.zeros((len(self.models), 1), np.int64)
        else:
            learner = make_learner(self._kind, levels, self.prices, self.labels[1], self.capacity, self.seed)
            self._hold(learner, np.zeros((len(levels), levels.shape[1] + 1), np.int64))

    def _hold(self, learner: Learner, counts: Ints) -> None:
        """Go on with this learner."""
        self.levels = experts_of(learner).levels
        self._learner, self.counts = learner, counts
        self._rows = [row.tolist() for row in self.levels]

    @property
    def learner(self) -> Learner:
        """What learns which model and threshold to follow."""
        if self._learner is None:
            raise InputError('thresholds: "quantiles" are those of a log; expected warm_start first')
        return self._learner

    # The protocol.

    @property
    def cost(self) -> float:
        """The price of a review, in the user's money. It can be set to another: that holds from the coming case on."""
        return self.prices.review

    @cost.setter
    def cost(self, review: float) -> None:
        price = self.prices.check_review(review)
        with self.learner.lock:
            self.learner.cost = price / self.prices.unit
            self.prices.review = price

    @property
    def unit(self) -> float:
        """The price of the dearest mistake, in the user's money: all losses are relative to it."""
        return self.prices.unit

    @property
    def round(self) -> int:
        """The number of cases decided."""
        return 0 if self._learner is None else self._learner.round

    @property
    def pending(self) -> tuple[int, ...]:
        """The cases whose label is still to be learnt."""
        return () if self._learner is None else self._learner.pending

    def _row(self, said: Sequence[Said | None], stake: float, elapsed: int) -> Floats:
        """The input of one case."""
        row = np.zeros(2 * len(said) + 1)
        for m, one in enumerate(said):
            row[m] = NO_ANSWER if one is None else one.confidence + (1.0 - stake) * (1.0 - one.confidence)
            row[len(said) + m] = self.task.sign(one) * stake
        row[-1] = elapsed
        return row

    def _decide(self, answers: Any, stake: float | None, time: Any, keep: bool) -> Case:
        learner = self.learner
        with learner.lock:
            given = check_names(answers, self.models)
            said = [self.task.read(name, given.get(name)) for name in self.models]
            at, now = self.prices.as_stake(stake), as_time(time, self.last_time, self.capacity)
            row = self._row(said, at, 0 if now is None or self.last_time is None else now - self.last_time)
            decision = learner.decide(row) if keep else learner.peek(row)
            model, level = divmod(decision.expert, self.levels.shape[1])
            threshold = self._rows[model][level] if at == 1.0 else float(threshold_at(self.levels[model, level], at))
            follows, reviewed = said[model], decision.abstained
            case = Case(
                action=REVIEW if reviewed else ANSWER,
                answer=None if reviewed or follows is None else follows.answer,
                model=self.models[model],
                threshold=None if threshold >= ALWAYS_REVIEW else threshold,
                confidence=None if follows is None else follows.confidence,
                probability=decision.probability,
                cost=self.prices.review,
                stake=None if stake is None else float(stake),
                over_capacity=decision.over_capacity,
                explored=decision.explored,
                answers=MappingProxyType(
                    {name: None if one is None else one.answer for name, one in zip(self.models, said, strict=True)}
                ),
                decision=decision,
            )
            if keep:
                object.__setattr__(case, "_sign", learner.sign)
                self.last_time = self.last_time if now is None else now
                for m in range(len(said)):
                    self.counts[m, bisect_left(self._rows[m], row[m])] += 1
            return case

    def decide(self, answers: Mapping[str, Any], *, stake: float | None = None, time: Any = None) -> Case:
        """Decide on a case by what the models say; a model that is not named, or says None or NaN, has no answer.

        ``time`` (a datetime, or seconds) is for capacities by time.
        """
        return self._decide(answers, stake, time, True)

    def peek(self, answers: Mapping[str, Any], *, stake: float | None = None, time: Any = None) -> Case:
        """What `decide` would do. Nothing changes, and there is nothing to learn: it has no id."""
        return self._decide(answers, stake, time, False)

    def _open(self, case: "Case | str") -> Case:
        """A case of this gate, with nothing changed."""
        if isinstance(case, str):
            case = Case.from_json(case)
        if not isinstance(case, Case):
            raise DecisionError(f"case: expected a Case, or its JSON, got {type(case).__name__}")
        if case.id is None:
            raise DecisionError("case: it was only peeked at; `decide` makes cases that can be learnt")
        if case.decision.learner != self.learner.id:
            raise DecisionError("case: expected one of this gate, got one of another")
        if not case.signed_by(self.learner.sign):
            raise DecisionError(f"case: {case.round} was changed since it was decided")
        return case

    def learn(self, case: "Case | str", label: Any, source: str | None = None) -> None:
        """Learn the truth of a case, whenever it comes, once; ``case`` may be its JSON.

        ``source`` says where it comes from: a "review", the "outcome", or an "audit" of a case that was answered.
        """
        with self.learner.lock:
            case = self._open(case)
            check_source(source, case.action, self.labels)
            true = self.task.label(label)
            stake = self.prices.as_stake(case.stake)
            losses = [0.0 if a is None else self.prices.of(a, true, stake) for a in case.answers.values()]
            self.learner.learn(case.decision, losses)

    def forget(self, case: "Case | str") -> None:
        """Close a case whose label will never come."""
        with self.learner.lock:
            case = self._open(case)
            check_source(None, case.action, self.labels)
            self.learner.forget(case.decision)

    # Many cases.

    def decide_many(self, frame: Any) -> "pl.DataFrame":
        """Decide on the rows of a frame, one after the other; see "A frame of cases" on the page "The gate".

        The column ``case`` has what `learn` needs.
        """
        return frames.decide_many(self, frame)

    def warm_start(self, log: Any) -> None:
        """Learn from a frame with all its labels, in a column ``label``, before the first case."""
        self.teach(frames.as_block(self, log))

    def teach(self, block: Block) -> None:
        """`warm_start`, of arrays."""
        if self._learner is None:
            self._begin(quantiles(weighed(block.confidence, _column(block.stake))))
        with self.learner.lock:
            if self.round > 0:
                raise InputError(f"warm_start: expected a gate before its first case, got one after {self.round}")
            X = inputs(block, self.task.two, None)
            self.learner.warm_start(X, block.losses)
            self.count(X)

    def playing(self, delay: int = 0, later: bool = False) -> AbstractContextManager[Player]:
        """A function that plays blocks of cases; see `abstain.gate.frames`."""
        return playing(self, delay, later)

    def count(self, X: Floats) -> None:
        """Take note of how certain the models are in these cases."""
        for m, row in enumerate(self.levels):
            self.counts[m] += np.bincount(np.searchsorted(row, X[:, m]), minlength=len(row) + 1)

    # What was learnt.

    def policy(self) -> "pl.DataFrame":
        """A row for each model and threshold (null: reviews always): its weight, its estimated price a case, the share
        of cases it would have answered; the heaviest first.
        """
        return policy_frame(self)

    def __str__(self) -> str:
        return policy_sentence(self)

    def __repr__(self) -> str:
        return f"<Gate: {', '.join(self.models)}; {self.round} cases, {len(self.pending)} of them open>"

    # Other models.

    def add_model(self, name: str) -> None:
        """From the coming case on there is another model; it starts with the weight of the average."""
        add_model_to(self, name)

    def retire(self, name: str) -> None:
        """From the coming case on that model is gone. Open cases can still be learnt."""
        retire_from(self, name)

    # Files.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, in one piece; `abstain.load` reads it."""
        with self.learner.lock:
            header, arrays = gate_contents(self)
        files.write(path, header, arrays)

    @classmethod
    def of_file(cls, learner: Learner, kept: Any, counts: Any) -> Self:
        """The gate that a file describes, by its learner; a `ValueError` says what is wrong with it."""
        gate = cls.__new__(cls)
        fill_in(gate, learner, kept, counts)
        return gate


def _column(stake: Floats | None) -> Any:
    return 1.0 if stake is None else stake[:, np.newaxis]

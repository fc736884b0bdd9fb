"""The gate: named models with prices and reviewers. It answers a case with one of the models, or sends it to review."""

import copy
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._core import files
from .._core.extras import need
from .._core.signals import held_back
from .._core.validation import as_count, as_number
from ..capacity import Capacity, CapacityLike, as_capacity
from ..engine import Decision, Learner, Report, Seed
from ..engine.loop import Played, room_for
from ..engine.play import NO_EDGES, Table
from ..errors import AbstainError, DecisionError, InputError, ReadOnlyError, shown
from ..experts.columns import ALWAYS_REVIEW
from ..learners import DoublyRobust, Exp3Abs, Stacked
from ..learners.exp3.weighted import WeightedLearner
from ..typing import Floats
from .answers import ANSWER, CLASSES, REVIEW, STAKE, TIME, Labels, Plain, Task, as_names
from .case import Asked, Case
from .clock import Clock
from .combined_play import CombinedGame
from .combining import COMBINED, Cases, Combination, as_cases, check_combining, not_heard, too_many
from .experts import (
    NO_ANSWER,
    ModelLosses,
    ModelThresholds,
    Tally,
    as_start,
    as_thresholds,
    make_learner,
    quantiles,
    supposed,
    with_threshold,
)
from .frames import (
    Block,
    Columns,
    PlayedCases,
    Player,
    as_block,
    check_column,
    frame_of,
    inputs,
    played_cases,
    with_combined,
)
from .health import Health, Monitor, as_on_alarm, health_of
from .maturity import Ages, as_maturity
from .policy import Policy, when
from .prices import PerStake, Prices, threshold_at, weighed

if TYPE_CHECKING:
    import polars as pl

COUNTS = "gate.counts"
"""The name of the counts in a file."""
TIMES = "gate.times"
"""The name of the times of cases that are not old enough yet, in a file."""
HEALTH = "gate.health."
"""How the names of the arrays behind `Gate.health` begin, in a file."""


class Gate:
    """Named models, prices and reviewers: the gate answers a case with one of the models, or sends it to review.

    It answers with a model if the model's confidence is above a threshold. It learns which model and which threshold
    from the labels that come back. Give ``cost``; or ``review_price``, and ``mistake_price`` or ``max_stake`` with it.
    Many threads may use one gate: whatever changes it happens under one lock.

    Args:
        models: The names of the models.
        cost: The price of a review if a mistake costs 1.
        review_price: The price of a review, in your money.
        mistake_price: The price of a mistake, 1 unless given; or prices by kind (what was said, what was true), such
            as ``{("spam", "ham"): 9, "other": 1}``. A price may be `PerStake`: so many times what is at stake in the
            case.
        max_stake: The largest stake that a case may have. If no price is `PerStake`, all of them are then meant for
            each unit of stake.
        task: How models answer: "classes" (a class and a confidence), "binary" (the probability of the second of two
            classes, or a class and a confidence), or "number" (a number and its expected error).
        classes: The possible answers, if they are known.
        max_error: The error of a number that counts as a whole mistake; smaller errors count in proportion.
        labels: Which labels come back: those of "answered" cases, of "reviewed" ones, of "both", or a pair of
            probabilities (after answering, after a review).
        thresholds: How many thresholds each model has, the thresholds themselves, or "quantiles" of the log that
            `warm_start` learns from.
        capacity: A limit on reviews: a share of the cases, or an `abstain.Capacity`.
        maturity: The age at which cases are learnt, for labels whose delay depends on what they say: a number of
            cases, a timedelta, or a text such as "14 days" (then every case needs a time). A label that comes earlier
            is kept. By default labels are learnt when they come.
        on_alarm: What to do with a model that suddenly agrees less with the others, or is less or more certain than
            before: "report" it in `health`; or "review", so that the model is not followed until labels speak for it
            or it behaves as before.
        start: The policy to begin with, a model and the threshold that its confidence has to exceed (None: review every
            case), such as today's. The gate leaves it as labels show that another one is better.
        learner: A class of learner, or a function with the same arguments that makes one.
        combine: Whether the gate combines its models: it then has one more, "combined", whose answer it learns from
            all their answers and confidences. Not for numbers.
        seed: The seed of the random numbers; without one, every gate draws different numbers.

    Raises:
        InputError: If an argument is out of range, or the arguments do not fit together.

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
        review_price: float | None = None,
        mistake_price: "float | PerStake | Mapping[Any, float | PerStake] | None" = None,
        max_stake: float | None = None,
        task: str = CLASSES,
        classes: Sequence[Any] | None = None,
        max_error: float = 1.0,
        labels: "str | tuple[float, float]" = "answered",
        thresholds: Any = 48,
        capacity: CapacityLike = None,
        maturity: "int | timedelta | str | None" = None,
        on_alarm: str = "review",
        start: tuple[str, float | None] | None = None,
        learner: Callable[..., Learner] = DoublyRobust,
        combine: bool = False,
        seed: Seed = None,
    ) -> None:
        if (cost is None) == (review_price is None):
            raise InputError(
                "cost: expected either cost, or review_price (and mistake_price), got "
                f"cost={shown(cost)} and review_price={shown(review_price)}"
            )
        if cost is not None and mistake_price is not None:
            raise InputError(
                "mistake_price: expected review_price= with it, not cost=, which is for mistakes that cost 1, got "
                f"{shown(mistake_price)}"
            )
        self._models = as_names(models)
        self._task = Task(task, classes, max_error)
        combines = check_combining(combine, self._task, self._models)
        self._combination = Combination(len(self._models), self._task.two) if combines else None
        name, review = ("review_price", review_price) if cost is None else ("cost", cost)
        self._prices = Prices(self._task, review, 1.0 if mistake_price is None else mistake_price, max_stake, name)
        self._labels = Labels(labels)
        self._capacity = as_capacity(capacity)
        self._seed = seed
        if not callable(learner):
            raise InputError(f"learner: expected a class of learner, or a function, got {shown(learner)}")
        self._kind: Callable[..., Learner] | None = learner
        self._start = None if start is None else as_start(start, self._followed)
        self._clock = Clock()
        self._on_alarm = as_on_alarm(on_alarm)
        self._monitor = Monitor(len(self._models), self._task)
        self._times: dict[int, int] = {}  # of open cases that were given one, by round
        age = as_maturity(maturity)
        self._ages = None if age is None else Ages(age)
        self._learner: Learner | None = None
        self._starting = threading.RLock()  # held until there is a learner, which has a lock of its own
        self._tally = Tally(np.empty((len(self._followed), 0)))
        table = as_thresholds(thresholds, len(self._followed), self._task, self._prices)
        if table is not None:
            self._learner, self._tally = self._begin(table)
            self._kind = None

    def _begin(self, thresholds: Floats) -> tuple[Learner, Tally]:
        """Return a new learner, and what counts confidences between its thresholds."""
        assert self._kind is not None
        if self._start is not None:
            model, threshold = self._followed.index(self._start[0]), self._start[1]
            thresholds, _ = with_threshold(thresholds, model, threshold)
        made = make_learner(self._kind, thresholds, self._prices, self._labels, self._capacity, self._seed)
        self._favour_start(made, thresholds)
        if self._ages is not None:
            made.ripen(0)
        return made, Tally(thresholds)

    def _favour_start(self, made: Learner, thresholds: Floats) -> None:
        """Let a learner that knows nothing yet begin with the policy that was given, if its model is still there."""
        if self._start is None or self._start[0] not in self._followed:
            return
        if not isinstance(made, WeightedLearner):
            raise InputError(f"start: {type(made).__name__} has none; DoublyRobust and Exp3Abs do")
        model = self._followed.index(self._start[0])
        made.favour(model * thresholds.shape[1] + with_threshold(thresholds, model, self._start[1])[1])
        if isinstance(made, DoublyRobust) and made.chances.predicted >= made.chances.abstained:
            made.suppose(*supposed(thresholds, self._task))  # else reviews show what answers would have cost

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock: the learner's or, until there is a learner, another."""
        if self._learner is None:
            with self._starting:
                if self._learner is None:
                    yield
                    return
        assert self._learner is not None  # another thread may have made it just now
        with self._learner.lock:
            yield

    def __setattr__(self, name: str, value: Any) -> None:
        own = getattr(type(self), name, None)
        if name.startswith("_") or (isinstance(own, property) and own.fset is not None):
            return object.__setattr__(self, name, value)
        instead = {"models": "use add_model and remove_model", "cost": "set review_price"}.get(name)
        known = instead or (f"make another gate with {name}=..." if own is not None else "a gate has no such attribute")
        raise ReadOnlyError(f"{name}: cannot be set, got {shown(value)}; {known}")

    # What it was made with.

    @property
    def models(self) -> list[str]:
        """The names of the models; see `add_model` and `remove_model`."""
        return list(self._models)

    @property
    def combine(self) -> bool:
        """Whether the gate combines its models, and has one more, "combined"."""
        return self._combination is not None

    @property
    def _followed(self) -> list[str]:
        """The names of all that can be followed: the models, and their combination, if there is one."""
        return self._models if self._combination is None else [*self._models, COMBINED]

    @property
    def review_price(self) -> float:
        """The price of a review, in your money. You may set it: it is as if it had always been so."""
        return self._prices.review

    @review_price.setter
    def review_price(self, price: float) -> None:
        self._change_prices(review=price)

    @property
    def mistake_price(self) -> "float | PerStake | dict[Any, float | PerStake]":
        """The price of a mistake, or prices by kind, in your money.

        You may set it. If all prices change by the same factor, it is as if they had always been so. If some change
        more than others, what was learnt of losses does not hold any more: the estimates start afresh, and labels that
        wait for their maturity are not learnt.
        """
        price = self._prices.mistake
        return dict(price) if isinstance(price, dict) else price

    @mistake_price.setter
    def mistake_price(self, price: "float | PerStake | Mapping[Any, float | PerStake]") -> None:
        self._change_prices(mistake=price)

    @property
    def max_stake(self) -> float | None:
        """The largest stake that a case may have, if there is one. You may set it, in a gate with stakes."""
        return self._prices.max_stake

    @max_stake.setter
    def max_stake(self, stake: float | None) -> None:
        self._change_prices(max_stake=stake)

    def _change_prices(self, **changes: Any) -> None:
        with self._locked():
            prices, same = self._prices.changed(**changes)
            if self._learner is not None and (not same or prices.cost != self._prices.cost):
                if not isinstance(self._learner, WeightedLearner):
                    name = type(self._learner).__name__
                    raise InputError(f"prices: {name} cannot change them; DoublyRobust and Exp3Abs can")
                with held_back():
                    if same:
                        self._learner.reprice(prices.cost)
                    else:
                        loss = ModelLosses(prices.of_signs)
                        self._learner.start_afresh(prices.cost, loss)
                        if self.round == 0:
                            self._favour_start(self._learner, self.thresholds)
                        self._monitor.watch.forget_losses()
                    self._prices = prices
            self._prices = prices

    @property
    def unit(self) -> float:
        """What a loss of 1 is inside, in your money: the price of the most expensive mistake. With stakes, it is 100
        times the price of a review when the gate was made, if that is less; more expensive mistakes count as such.
        """
        return self._prices.unit

    @property
    def task(self) -> str:
        """How models answer."""
        return self._task.kind

    @property
    def classes(self) -> tuple[Any, ...] | None:
        """The possible answers, if they are known."""
        return self._task.classes

    @property
    def max_error(self) -> float:
        """The error of a number that counts as a whole mistake."""
        return self._task.max_error

    @property
    def labels(self) -> str | tuple[float, float]:
        """Which labels come back, as it was given."""
        return self._labels.given

    @property
    def capacity(self) -> Capacity | None:
        """The limit on reviews, if there is one. You may set it: it holds from the next case on."""
        return self._capacity

    @capacity.setter
    def capacity(self, capacity: CapacityLike) -> None:
        with self._locked():
            limit = as_capacity(capacity)
            if self._learner is not None and limit != self._capacity:
                if not isinstance(self._learner, WeightedLearner):
                    raise InputError(f"capacity: {type(self._learner).__name__} has none; DoublyRobust and Exp3Abs do")
                self._learner.limit(limit)
            self._capacity = limit

    @property
    def maturity(self) -> int | timedelta | None:
        """The age at which cases are learnt: a number of cases, or a span of time; None: when labels come."""
        return None if self._ages is None else self._ages.maturity.given

    @property
    def on_alarm(self) -> str:
        """What the gate does with a model in alarm."""
        return self._on_alarm

    @property
    def start(self) -> tuple[str, float | None] | None:
        """The policy that the gate began with, if it was given: a model and its threshold."""
        return self._start

    @property
    def seed(self) -> Seed:
        """The seed, as it was given."""
        return self._seed

    # What it is now.

    @property
    def learner(self) -> Learner:
        """The learner inside, which learns the model and the threshold to follow."""
        if self._learner is None:
            raise InputError('thresholds: "quantiles" come from a log; expected warm_start first')
        return self._learner

    @property
    def thresholds(self) -> Floats:
        """The thresholds of each model, in increasing order (P, L): -1 always answers, 1 never.

        The last row is that of the combination, if the gate combines its models.
        """
        experts = self.learner.experts
        assert isinstance(experts, ModelThresholds)
        return experts.thresholds

    @property
    def round(self) -> int:
        """The number of cases decided."""
        return 0 if self._learner is None else self._learner.round

    @property
    def pending(self) -> tuple[int, ...]:
        """The numbers of the open cases, whose label `learn` still takes.

        Cases without a label are none of them, nor those whose label is kept until they are old enough.
        """
        return () if self._learner is None else self._learner.pending

    @property
    def last_time(self) -> int | None:
        """The time of the last case, in microseconds. You may set it to None, to start the clock anew."""
        return self._clock.last

    @last_time.setter
    def last_time(self, time: None) -> None:
        if time is not None:
            raise ReadOnlyError(f"last_time: expected None, which starts the clock anew, got {shown(time)}")
        with self.learner.lock:
            self._clock = Clock()
            if self._ages is not None:
                self._ages.restart()

    # One case.

    def decide(self, answers: Mapping[str, Any], *, stake: float | None = None, time: Any = None) -> Case:
        """Decide on a case.

        Args:
            answers: What each model says, by its name. A model that is not named, or says None or NaN, has no answer.
            stake: What is at stake, from 0 on, for gates with ``max_stake`` or a price `PerStake`.
            time: When the case came, for capacities per day and a maturity in days: a datetime, or seconds. All cases
                of a gate have the same kind of time; datetimes without a time zone are read as UTC.

        Returns:
            The case: what to do, and all that `learn` needs.

        Raises:
            InputError: If a name is unknown, or an answer, the stake or the time is out of range. Nothing changes then.
        """
        with self.learner.lock:
            return self._decide(self._read(answers, stake, time, self._clock), True)

    def peek(self, answers: Mapping[str, Any], *, stake: float | None = None, time: Any = None) -> Case:
        """Return what `decide` would. Nothing changes; the case has no id and cannot be learnt.

        Args:
            answers: As in `decide`.
            stake: As in `decide`.
            time: As in `decide`.

        Returns:
            The case.

        Raises:
            InputError: As in `decide`.
        """
        with self.learner.lock:
            return self._decide(self._read(answers, stake, time, self._clock), False)

    def _read(self, answers: Any, stake: Any, time: Any, clock: Clock) -> Asked:
        """Check a case; ``clock`` is that of the case before."""
        said = self._task.read_all(answers, self._models)
        prices, capacity = self._prices, self._capacity
        at_stake = 1.0 if stake is None and not prices.staked else prices.as_stake(stake)
        why = None
        if capacity is not None and capacity.per_day is not None:
            why = "the capacity is per day"
        elif self._ages is not None and self._ages.maturity.span is not None:
            why = "the maturity is a span of time"
        return Asked(said, stake, at_stake, clock if why is None and time is None else clock.at(time, why))

    def watch(
        self,
        answers: Mapping[str, Any],
        *,
        decided: str,
        probability: float,
        stake: float | None = None,
        time: Any = None,
    ) -> Case:
        """Take note of a case that somebody else decided: shadow mode.

        The gate learns only what the labels of such cases identify. A label is weighed by the probability with which it
        was to be seen; your own choices, fed to `decide`, would teach the gate that the cases they left out are easy.
        Where a label could not be seen at all (a rule that never answers such cases), every answer is taken to be
        a mistake: the gate leaves these cases to review until labels of its own say otherwise.

        Args:
            answers: As in `decide`.
            decided: What was done: the name of the model whose answer was used, or "review".
            probability: The probability, before the decision was made, that the case would be answered: 1.0 or 0.0 for
                a fixed rule, as "answer above 0.85".
            stake: As in `decide`.
            time: As in `decide`.

        Returns:
            The case. Give its label to `learn` if one came.

        Raises:
            InputError: If an argument is out of range, what was decided has no probability, the learner is
                neither `DoublyRobust` nor `Exp3Abs`, or the gate has a capacity. Nothing changes then.
        """
        learner = self.learner
        with learner.lock:
            models = self._models
            if not isinstance(learner, (DoublyRobust, Exp3Abs)) or isinstance(learner, Stacked):
                raise InputError(f"watch: expected DoublyRobust or Exp3Abs as learner, got {type(learner).__name__}")
            asked = self._read(answers, stake, time, self._clock)
            if decided not in (REVIEW, *models):
                raise InputError(f"decided: expected review or one of {', '.join(models)}, got {shown(decided)}")
            model = 0 if decided == REVIEW else models.index(decided)
            if decided != REVIEW and asked.said[model] is None:
                raise InputError(f"decided: expected a model with an answer in this case, got {shown(decided)}")
            answered = as_number(probability, "probability", "a number in [0, 1]", lambda p: 0.0 <= p <= 1.0)
            if (answered if decided != REVIEW else 1.0 - answered) == 0.0:
                raise InputError(f"probability: expected one with which {shown(decided)} can happen, got {answered:g}")
            level = self._tally.n_thresholds
            expert = level - 1 if decided == REVIEW else model * level
            chance = self._labels.after[ANSWER] * answered + self._labels.after[REVIEW] * (1.0 - answered)
            hidden = chance == 0.0
            case = self._decide(asked, True, lambda x: learner.watch(x, expert, answered, 1.0 if hidden else None))
            if hidden:
                risks = [self._prices.risk(one, asked.at_stake) for one in case.answers.values()]
                given = zip(case.answers.values(), risks, strict=True)
                learner.learn(case.decision, [0.0 if one is None else min(1.0, risk) for one, risk in given])
            return case

    def _decide(self, asked: Asked, keep: bool, play: Callable[[Floats], Decision] | None = None) -> Case:
        """Decide on a case, or let ``play`` say what was decided."""
        learner, models, combination = self.learner, self._followed, self._combination
        said, stake, at_stake, clock = asked
        muted = None
        if play is None and self._on_alarm == REVIEW and self._monitor.watch.any and any(self._monitor.watch.muted):
            muted = self._monitor.watch.muted
        if muted is not None and self._capacity is not None:
            heard = any(one is not None and not out for one, out in zip(said, muted, strict=True))
            muted = muted if heard else None  # a case that nobody answers takes a review, whatever the capacity
        lesson: tuple[float, ...] = ()
        if combination is not None:  # it hears the models that are not in alarm, if these are more than half
            combined, silent = None, muted is not None and too_many(sum(muted), len(muted))
            if not silent:
                combined, lesson = combination.combine(said, self._prices, at_stake, muted)
            said, muted = [*said, combined], None if muted is None else [*muted, silent]
        row: list[float] = []
        answers: dict[str, Plain | None] = {}
        confidences: dict[str, float | None] = {}
        for name, one in zip(models, said, strict=True):
            confidences[name] = None if one is None else one.confidence
            answers[name], confidence = (None, NO_ANSWER) if one is None else one
            row.append(confidence)
        prices, risks = self._prices, [1.0] * len(row)
        if prices.staked:
            risks = [prices.risk(None if one is None else one.answer, at_stake) for one in said]
            row = [c if c == NO_ANSWER else max(0.0, 1.0 - r * (1.0 - c)) for c, r in zip(row, risks, strict=True)]
        signs = [0.0] * len(row)
        if self._task.two:
            signs = [self._task.sign(one) * min(1.0, r) for one, r in zip(said, risks, strict=True)]
        if muted is not None:  # to the learner, a model in alarm has no answer
            row = [NO_ANSWER if out else confidence for out, confidence in zip(muted, row, strict=True)]
            signs = [0.0 if out else sign for out, sign in zip(muted, signs, strict=True)]
        passed = 0 if clock is self._clock else clock.passed(self._clock)
        x = np.array([*row, *signs, passed], np.float64)
        decision = play(x) if play is not None else learner.decide(x) if keep else learner.peek(x)
        model, place = divmod(decision.expert, self._tally.n_thresholds)
        threshold = self._tally.thresholds[model][place]
        if prices.staked:
            threshold = float(threshold_at(np.asarray(threshold), risks[model]))
        follows, reviewed = said[model], decision.abstained
        case = Case(
            action=REVIEW if reviewed else ANSWER,
            answer=None if reviewed or follows is None else follows.answer,
            model=models[model],
            threshold=None if threshold >= ALWAYS_REVIEW else threshold,
            confidence=None if follows is None else follows.confidence,
            probability=decision.probability,
            review_price=prices.review,
            stake=None if stake is None else float(stake),
            over_capacity=decision.over_capacity,
            explored=decision.explored,
            answers=MappingProxyType(answers),
            confidences=MappingProxyType(confidences),
            time=None if clock is self._clock else clock.written,
            decision=decision,
            lesson=lesson,
        )
        if keep:
            object.__setattr__(case, "_sign", learner.sign)
            if clock is not self._clock:
                self._clock = clock
                if clock.last is not None and self._labels.after[case.action] > 0.0:
                    self._times[case.round] = clock.last
            self._tally.add(row)
            self._monitor.decided(asked.said, case, muted is not None)
            if self._ages is not None:
                if clock.last is not None:
                    self._ages.add([clock.last])
                learner.ripen(self._ages.last_ripe(learner.round))
                if combination is not None:
                    combination.ripen(learner.last_ripe or 0)
        return case

    def learn(self, case: "Case | str", label: Any, source: str | None = None) -> None:
        """Learn the true label of a case, at any later time, once.

        If the gate has a ``maturity`` and the case is not as old yet, the label is kept. It is learnt after the
        decision with which the case is old enough.

        Args:
            case: The case, or its JSON.
            label: The truth.
            source: Where the label comes from, to have it checked: a "review", the "outcome", or an "audit" of an
                answered case.

        Raises:
            DecisionError: If the case is of another gate, was changed, learnt or forgotten before, or if no label can
                come from there.
            LabelError: If the label is none of the classes, a number where the answers are texts or a text where they
                are numbers, or, for ``task="number"``, no number.
            FileError: If a text is not the JSON of a case.
        """
        learner = self.learner
        with learner.lock:
            case = self._check_open(case)
            self._labels.check(source, case.action)
            true, prices = self._task.label(label, case.answers.values()), self._prices
            if prices.plain:
                full = [0.0 if answer is None or answer == true else 1.0 for answer in case.answers.values()]
            else:
                stake = 1.0 if case.stake is None else case.stake
                full = [0.0 if answer is None else prices.full(answer, true, stake) for answer in case.answers.values()]
            losses = [min(1.0, loss) for loss in full] if prices.staked else full
            combination = self._combination
            lesson = None
            if combination is not None and case.lesson:  # without one it was left out: too many models were in alarm
                lesson = combination.lesson_of(case, true, self._task, learner, self._monitor.known(case, self._models))
            learner.learn(case.decision, losses)
            if combination is not None and lesson is not None:
                combination.take(case.round, lesson, learner.last_ripe)
            self._times.pop(case.round, None)
            self._monitor.heard(case, true, full, self._models, learner.round, prices.unit)

    def forget(self, case: "Case | str | None" = None, *, before: Any = None) -> int:
        """Close a case whose label will never come, or all open cases before a round or a time.

        Args:
            case: The case, or its JSON.
            before: Instead of a case: a round (a whole number), or a time as in `decide` (a datetime, or seconds as a
                float), which closes cases that were decided with an earlier time.

        Returns:
            How many cases were closed.

        Raises:
            DecisionError: If the case is not open.
            FileError: If a text is not the JSON of a case.
            InputError: If both or none are given, the time is of another kind than those of the cases, or labels may
                fail to come (two probabilities): the gate then learns that one did not, which takes the case itself.
        """
        learner = self.learner
        if (case is None) == (before is None):
            raise InputError(f"case: expected either a case or before=, got {shown(case)} and {shown(before)}")
        with learner.lock:
            if case is not None:
                case = self._check_open(case)
                self._labels.check(None, case.action)
                learner.forget(case.decision)
                self._times.pop(case.round, None)
                return 1
            if isinstance(before, (int, np.integer)) and not isinstance(before, bool):
                rounds: Any = range(int(before))
            else:
                limit = Clock(None, self._clock.kind).at(before, "it is the time before which cases are closed").last
                rounds = {t for t, time in self._times.items() if limit is not None and time < limit}
            if any(0.0 < chance < 1.0 for chance in self._labels.after.values()):
                raise InputError(
                    f"before: expected each case by itself with labels={self._labels.given!r}, got {shown(before)}"
                )
            closed = learner.forget_rounds(rounds)
            self._times = {t: time for t, time in self._times.items() if t not in rounds}
            return closed

    def _check_open(self, case: "Case | str") -> Case:
        """Return a case of this gate in which nothing was changed; else raise an error."""
        learner = self.learner
        if isinstance(case, str):
            case = Case.from_json(case)
        if not isinstance(case, Case):
            raise DecisionError(f"case: expected a Case, or its JSON, got {type(case).__name__}")
        if case.id is None:
            raise DecisionError("case: expected one that `decide` returned, got one of `peek`, which cannot be learnt")
        if case.decision.learner != learner.id:
            raise DecisionError("case: expected one of this gate, got one of another")
        if not case.signed_by(learner.sign):
            raise DecisionError(f"case: {case.round} was changed since it was decided")
        return case

    # Many cases.

    def decide_many(self, frame: Any) -> "pl.DataFrame":
        """Decide on the rows of a frame, one after the other.

        Args:
            frame: A frame of Polars or pandas, or a dictionary of columns: for each model its answers, in a column with
                its name, and its confidences (``gbm_confidence``; expected errors: ``gbm_error``); ``stake``, ``time``.

        Returns:
            A frame with one row per case. The column ``case`` has the JSON that `learn` takes.

        Raises:
            InputError: If a column is missing, or a row is out of range. All rows are checked before the first is
                decided, so that nothing changes then.
            ImportError: If Polars is not installed.
        """
        need("polars", "gate.decide_many", "cli")
        return frame_of(self._decide_rows(frame), self._task)

    def _decide_rows(self, frame: Any) -> list[Case]:
        with self.learner.lock:
            columns, clock, asked = Columns(frame, self._models, self._task), self._clock, []
            for i in range(columns.n):
                try:
                    stake, time = columns.value(STAKE, i), columns.value(TIME, i)
                    asked.append(self._read(columns.answers(i), stake, time, clock))
                    for model, said in zip(self._models, asked[-1].said, strict=True):
                        check_column(model, said)
                except AbstainError as error:
                    raise type(error)(f"row {i}: {error}") from None
                clock = asked[-1].clock
            with self._all_or_nothing():
                return [self._decide(one, True) for one in asked]

    def warm_start(self, log: Any) -> None:
        """Learn from cases with all their labels, before the first case.

        Args:
            log: A frame as in `decide_many`, with the true labels in a column ``label``.

        Raises:
            InputError: If the gate has decided a case, a column is missing, a row is out of range, or the learner
                cannot start warm.
            LabelError: If a label is none of the classes, or no number.
        """
        with self._locked():  # no price or model may change in between
            self._teach(self._as_block(log))

    def _as_block(self, log: Any) -> Block:
        with self._locked():
            return as_block(log, self._models, self._task, self._prices)

    def _teach(self, block: Block) -> None:
        """Learn from a block of cases with all their labels, before the first case."""
        with self._locked():
            if self.round > 0:
                raise InputError(f"warm_start: expected a gate before its first case, got one after {self.round}")
            combination, own = self._combination, block
            if combination is not None:
                combination = combination.copy()
                block = combination.teach(block, as_cases(block, self._task.two, self._prices))
            learner, tally = self._learner, self._tally
            if learner is None:
                sure = block.confidence if block.risk is None else weighed(block.confidence, block.risk)
                learner, tally = self._begin(quantiles(sure, self._followed))
            X = inputs(block, self._task.two, None)
            learner.warm_start(X, block.learnt)
            with held_back():
                tally.add_all(X)
                self._monitor.learn(own)
                self._tally, self._combination, self._kind = tally, combination, None
                self._learner = learner  # last: from now on other threads use it

    @contextmanager
    def _playing(self, delay: int = 0, later: bool = False) -> Iterator[Player]:
        """Give a function that plays blocks of cases, with labels ``delay`` cases late, or (``later``) when blocks say.

        It does what `decide` and `learn` would, except that cases without a label are learnt when their label would
        come, which nobody knows live. A maturity in cases is obeyed; one in days is for ``due``, in the blocks. In the
        end, labels that are still to come are not learnt: their cases stay open. After an exception the gate is as
        before; Ctrl-C leaves it after the cases played.
        """
        with self._all_or_nothing():
            learner, ages = self.learner, self._ages
            late = as_count(delay, "delay", least=0)
            if ages is not None and ages.maturity.cases is not None:
                late = max(late, ages.maturity.cases)
            combination, combined = self._combination, None
            if combination is None:
                game = learner.playing(late, later)
            else:
                combined = CombinedGame(learner, combination, self.thresholds[-1], self._prices, late, later)
                game = combined.game
            labels = self._monitor.playing(learner, late)
            n_kept = min(2, learner.new_carry().size) if isinstance(learner, WeightedLearner) else 0

            def run(table: Table, cases: Cases | None, out: Played) -> None:
                if combined is None or cases is None:
                    game.play(table, NO_EDGES, _no_progress, out)
                else:
                    combined.play(table, cases, out)

            def play(block: Block) -> PlayedCases:
                cases = None if combined is None else as_cases(block, self._task.two, self._prices)
                whole = block if cases is None else with_combined(block)
                X = inputs(whole, self._task.two, self._clock.last)
                n = len(X)
                out = room_for(n, n_kept)
                costs = learner.cost.of(X, learner.round + 1, n)
                table = Table(X, learner.loss.labels(whole.learnt), costs, block.due, block.came)
                obeys = self._on_alarm == REVIEW
                if not obeys:
                    run(table, cases, out)
                    if cases is not None:
                        cases.fill_in(whole, slice(None))
                for rows, muted in labels.stretches(block):
                    done = Played(out.expert[rows], out.abstained[rows], out.loss[rows], out.kept[rows])
                    if obeys:  # to the learner, a model in alarm has no answer
                        if self._capacity is not None:
                            muted &= (~muted & ~np.isnan(block.confidence[rows])).any(axis=1, keepdims=True)
                        own, all_models = muted.shape[1], whole.confidence.shape[1]
                        X[rows, :own][muted], X[rows, all_models : all_models + own][muted] = NO_ANSWER, 0.0
                        run(table.part(rows), None if cases is None else cases.part(rows, not_heard(muted)), done)
                        if cases is not None:
                            cases.fill_in(whole, rows)
                    played = played_cases(done, self.thresholds, whole, rows.start)
                    labels.count(block, rows, played, muted if obeys else None, self._prices)
                self._tally.add_all(X)
                if block.time is not None and n > 0:
                    self._clock = self._clock._replace(last=int(block.time[-1]))
                    if ages is not None:
                        ages.add(block.time.tolist())
                played = played_cases(out, self.thresholds, whole)
                return played if cases is None else played._replace(combined=cases.answers(block, self._task.two))

            def leave() -> None:
                game.leave()
                if ages is not None:
                    learner.ripen(ages.last_ripe(learner.round))

            try:
                yield play
            except Exception:
                raise
            except BaseException:
                leave()
                raise
            leave()

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Hold the lock; an exception undoes all that happened inside."""
        learner = self.learner
        with learner.lock:
            ages = None if self._ages is None else self._ages.copy()
            parts = {
                "_tally": copy.deepcopy(self._tally), "_ages": ages, "_monitor": self._monitor.copy(),
                "_combination": copy.copy(self._combination), "_times": dict(self._times),
            }  # fmt: skip
            before = learner.snapshot(), {**vars(self), **parts}
            try:
                yield
            except Exception:
                learner.restore(before[0])
                vars(self).update(before[1])
                raise

    # What was learnt.

    def policy(self) -> "pl.DataFrame":
        """Return what was learnt.

        Returns:
            A frame with one row per model and threshold, the heaviest first (the cheapest, if the learner has no
            weights): ``model``, ``threshold`` (null: reviews every case), ``weight``, ``price`` (estimated, per case)
            and ``share`` (of the cases it would have answered). What the learner does not report is null.

        Raises:
            ImportError: If Polars is not installed.
        """
        return self._policy().frame()

    def _policy(self) -> Policy:
        learner = self.learner
        with learner.lock:
            shares, report = self._tally.shares(), learner.report()
            heard = learner.last_heard > 0 or self._tally.n > self.round  # or it started warm
            if isinstance(report, Report) and report.estimates is not None and not heard:
                report = report._replace(estimates=np.full_like(report.estimates, np.nan))  # nothing but guesses
            return Policy(tuple(self._followed), self.thresholds, shares, report, self._prices)

    def health(self) -> Health:
        """Return how the gate and its models are doing, as far as that can be said without waiting for labels.

        Returns:
            Numbers; ``.sentences`` and ``str()`` say them in words, ``.frame()`` shows the models as a frame.
        """
        learner = self.learner
        with learner.lock:
            return health_of(self._monitor, self._models, learner)

    def __str__(self) -> str:
        idle = f"follows {', '.join(self._followed)}"
        if self._start is not None and self._start[0] in self._followed:
            model, threshold = self._start
            idle = "begins by reviewing every case"
            if threshold is not None:
                idle = f"begins with {model} {when(threshold, self._prices)}"
        if self._learner is None:
            return f"{idle}; has decided nothing yet"
        with self._learner.lock:
            if self._tally.empty:
                return f"{idle}; has decided nothing yet"
            policy = self._policy()
            name, cases = type(self._learner).__name__, "case" if self.round == 1 else "cases"
            decided = f"{self.round:,} {cases}, {len(self.pending):,} of them open"
            if policy.unlabelled:
                leads = (policy.rows()[0].weight or 0.0) > 0.5  # the start, unless prices or models changed since
                now = policy.sentence() if leads else f"follows {', '.join(self._followed)}"
                return f"{now}; has decided {decided}; no label has come yet"
            if policy.known:
                return policy.sentence()
            return f"follows {', '.join(self._followed)}; has decided {decided}; {name} reports no weights or prices"

    def __repr__(self) -> str:
        with self._locked():
            return f"<Gate: {', '.join(self._models)}; {self.round} cases, {len(self.pending)} of them open>"

    # Models that come and go.

    def add_model(self, name: str) -> None:
        """Add a model from the next case on. It starts with the average weight, and the first model's thresholds.

        Args:
            name: Its name.

        Raises:
            InputError: If a model or a column has that name, or the learner cannot take another model.
        """
        with self.learner.lock:
            if name in self._models:
                raise InputError(f"models: expected a new name, got {shown(name)}")
            models = as_names([*self._models, name])
            check_combining(self.combine, self._task, models)
            self._rearrange([*range(len(self._models)), -1], models)

    def remove_model(self, name: str) -> None:
        """Remove a model from the next case on. Open cases can still be learnt.

        Args:
            name: Its name.

        Raises:
            InputError: If no other model is left, there is none of that name, or the learner cannot do without it.
        """
        with self.learner.lock:
            if name not in self._models:
                raise InputError(f"model: expected one of {', '.join(self._models)}, got {shown(name)}")
            if len(self._models) == 1:
                raise InputError(f"model: expected another one beside the last, got {shown(name)} to remove")
            stay = [m for m, other in enumerate(self._models) if other != name]
            self._rearrange(stay, [self._models[m] for m in stay])

    def _rearrange(self, model_from: Sequence[int], models: list[str]) -> None:
        """Go on with other models, by the numbers they had; -1 for a new one. The lock is held."""
        learner, combination = self.learner, self._combination
        before = np.array([*model_from, *([] if combination is None else [len(self._models)])])
        if combination is not None:
            combination = combination.rearranged(model_from)
        thresholds = self.thresholds[np.maximum(before, 0)]
        experts = before[:, np.newaxis] * thresholds.shape[1] + np.arange(thresholds.shape[1])
        experts[before < 0] = -1
        counts = np.where((before < 0)[:, np.newaxis], 0, self._tally.counts[before])
        with held_back():
            learner.rearrange(ModelThresholds(thresholds), before, experts.ravel())
            self._models, self._tally, self._combination = models, Tally(thresholds, counts), combination
            self._monitor = self._monitor.rearrange(model_from)

    # Copies and files.

    def __copy__(self) -> Self:
        return copy.deepcopy(self)  # a copy that shared the learner would be neither

    def __getstate__(self) -> dict[str, Any]:
        with self._locked():
            learner = self._learner
            values = {name: value for name, value in vars(self).items() if name != "_starting"}
            values["_tally"] = copy.deepcopy(self._tally)
            values["_ages"] = None if self._ages is None else self._ages.copy()
            values["_monitor"] = self._monitor.copy()
            values["_combination"] = copy.copy(self._combination)
            values["_times"] = dict(self._times)
            if learner is not None:
                values["_learner"] = type(learner), learner.__getstate__()
            return values

    def __setstate__(self, values: dict[str, Any]) -> None:
        vars(self).update(values, _starting=threading.RLock())
        if values["_learner"] is not None:
            kind, state = values["_learner"]
            learner = kind.__new__(kind)
            learner.__setstate__(state)
            self._learner = learner

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, in one piece; `abstain.load` reads it.

        Args:
            path: The file.

        Raises:
            InputError: If a gate with thresholds="quantiles" has not seen a log yet.
            OSError: If the file cannot be written.
        """
        with self.learner.lock:
            header, arrays = self.learner.contents()
            kept = {
                "models": self._models,
                "task": self._task.kind,
                "classes": None if self._task.classes is None else list(self._task.classes),
                "max_error": self._task.max_error,
                "prices": self._prices.to_file(),
                "labels": self._labels.given,
                "last_time": self._clock.last,
                "time_kind": self._clock.kind,
                "maturity": None,
                "on_alarm": self._on_alarm,
                "combine": self.combine,
                "start": self._start,
                "open_times": list(self._times.items()),
            }
            kept["health"], watched = self._monitor.to_file()
            arrays = {**arrays, COUNTS: self._tally.counts, **{HEALTH + name: one for name, one in watched.items()}}
            if self._ages is not None:
                kept["maturity"], arrays[TIMES] = self._ages.to_file()
            if self._combination is not None:
                arrays |= self._combination.to_file()
        files.write(path, {**header, "gate": kept}, arrays)

    @classmethod
    def _of_file(cls, learner: Learner, kept: Any, arrays: Mapping[str, Any]) -> Self:
        """Return the gate that a file describes, by its learner; raise a `ValueError` if the parts do not fit."""
        gate = cls.__new__(cls)
        gate._models = as_names(kept["models"])
        gate._task = Task(kept["task"], kept["classes"], kept["max_error"])
        gate._prices = prices = Prices.from_file(gate._task, kept["prices"])
        gate._labels = Labels(kept["labels"])
        combines = check_combining(kept["combine"], gate._task, gate._models)
        gate._combination = None
        if combines:
            gate._combination = Combination.from_file(len(gate._models), gate._task.two, arrays, learner)
        gate._capacity, gate._seed = getattr(learner, "capacity", None), learner.seed
        gate._clock = Clock.from_file(kept["last_time"], kept["time_kind"])
        gate._kind, gate._starting = None, threading.RLock()
        times_of = kept.get("open_times", [])
        if not all(type(number) is int for pair in times_of for number in pair):
            raise InputError(f"open_times: expected rounds and microseconds, got {shown(times_of)}")
        gate._times = dict(times_of)
        began = kept.get("start")  # its model may have gone since
        gate._start = None if began is None else as_start(began, [began[0]] if isinstance(began, list) else [])
        ripe = learner.last_ripe
        age = kept.get("maturity")
        gate._ages = None if age is None else Ages.from_file(age, arrays[TIMES], learner.round, ripe)
        if gate._ages is None and ripe is not None:
            raise InputError("gate: expected a maturity for cases that wait until they are old enough, got none")
        if getattr(learner.cost, "value", None) != prices.cost:
            raise InputError(f"gate: the prices do not fit the learner's cost, {learner.cost!r}")
        if not ModelLosses(prices.of_signs).like(learner.loss):
            raise InputError(f"gate: the prices do not fit the learner's loss, {learner.loss!r}")
        if getattr(learner, "feedback", "predicted") != gate._labels.feedback:
            raise InputError(f"gate: the labels, {gate._labels.given!r}, do not fit the learner's feedback")
        if not isinstance(learner.experts, ModelThresholds) or learner.experts.n_predictors != len(gate._followed):
            raise InputError(f"gate: the models do not fit the experts, {learner.experts!r}")
        gate._tally = Tally(learner.experts.thresholds, arrays[COUNTS])
        gate._on_alarm = as_on_alarm(kept["on_alarm"])
        watched = {name.removeprefix(HEALTH): one for name, one in arrays.items() if name.startswith(HEALTH)}
        gate._monitor = Monitor.from_file(len(gate._models), gate._task, kept["health"], watched)
        gate._learner = learner
        return gate


def _no_progress(done: int) -> None:
    """Report nothing: a block is short."""

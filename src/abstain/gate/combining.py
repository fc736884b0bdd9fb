"""Combining models: a small online stack whose answer and confidence are one more model of the gate, `combined`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core import config

from .._core.validation import as_flag
from ..engine import Learner, check_arrays
from ..errors import DecisionError, InputError, shown
from ..kernels.packing import packed
from ..learners.exp3.weighted import WeightedLearner
from ..typing import Array, Bools, Floats, Ints
from .answers import NUMBER, Plain, Said, Task
from .case import Case
from .frames import Block, with_combined
from .prices import Prices
from .stack import Stacks, answer_one, learn_one, new_stacks, weigh_all

COMBINED = "combined"
"""The name of the combination among the models."""


class Cases(NamedTuple):
    """Cases of a table, as the combination sees them, one row per case."""

    code: Ints
    """(n, P) the candidate that each model answers, numbered in the order in which models name them; with two classes 0
    and 1; -1: no answer."""
    confidence: Floats
    """(n, P)"""
    truth: Ints
    """(n,) the true candidate; -1: none of them."""
    full: Floats
    """(n, C) what each of the candidates loses, relative to the unit; C is max(2, P)."""
    lost: Floats
    """(n, C) the same as it is learnt: at most 1."""
    kinds: Floats
    """(n or 1, ...) the prices of mistakes by kind; see `say`."""
    risk: Floats
    """(n, C + 1) with stakes: what a mistake of each candidate would lose, in full, and (last) of no answer; else 1."""
    sure: Floats
    """(n,) room for the confidence of the combined answer, as thresholds see it ..."""
    said: Ints
    """(n,) ... and for the answer, a candidate; -1: none."""

    def answers(self, block: Block, two: bool) -> Floats:
        """Return what the combination said, as a number of the block's answers (n,); with two classes -1 or +1."""
        if two:
            return np.where(self.said > 0, 1.0, -1.0)
        assert block.answer is not None
        first = np.argmax(self.code == self.said[:, np.newaxis], axis=1)
        return np.asarray(block.answer[np.arange(len(first)), first])

    def fill_in(self, block: Block, rows: slice) -> None:
        """Write losses and risks of the combined answers to some rows of a block, of which it is the last model."""
        if block.risk is not None:
            there, said = np.arange(len(self.said))[rows], self.said[rows]
            block.losses[rows, -1] = np.where(said < 0, 0.0, self.full[there, said])
            block.risk[rows, -1] = self.risk[there, said]  # the last one is that of no answer, -1

    def part(self, rows: slice, unheard: Bools) -> Cases:
        """Return some of the rows, in which the combination does not hear the models ``unheard`` (n, P)."""
        self.code[rows][unheard] = -1
        kinds = self.kinds if len(self.kinds) == 1 else self.kinds[rows]
        return Cases(
            self.code[rows], self.confidence[rows], self.truth[rows], self.full[rows], self.lost[rows], kinds,
            self.risk[rows], self.sure[rows], self.said[rows],
        )  # fmt: skip


class Lesson(NamedTuple):
    """What the combination learns from a case."""

    code: Sequence[int]
    """The candidate that each model answered, see `Cases` ..."""
    confidence: Sequence[float]
    """... and its confidence."""
    truth: int
    """The true candidate; -1: none of them."""
    observed: float
    """The probability that the label would be seen."""
    chances: Sequence[float]
    """What each regression said of the first candidate, then of the next."""

    def of_models(self, model_from: Sequence[int]) -> Lesson:
        """Return the lesson for other models, by the numbers they had; -1 for a new one."""
        code = [self.code[m] if m >= 0 else -1 for m in model_from]
        return self._replace(code=code, confidence=[self.confidence[m] if m >= 0 else 0.0 for m in model_from])


SAVED = ("theta", "covariance", "score", "learnt")
NO_KINDS = np.zeros((0, 0))
"""All mistakes cost the same."""
UNHEARD = -1.0
"""The confidence, in a lesson, of a model in alarm."""
PREFIX = "gate.combined."
"""What the names of the arrays in a file begin with."""


def too_many(n_muted: Any, n_models: int) -> Any:
    """Say whether so many models are in alarm, half or more, that nothing is combined."""
    return 2 * n_muted >= n_models


def not_heard(muted: Bools) -> Bools:
    """Return which models the combination does not hear (n, P): those in alarm, or all, if these are half or more.

    >>> not_heard(np.array([[False, True, False], [False, True, True]]))
    array([[False,  True, False],
           [ True,  True,  True]])
    """
    return np.asarray(muted | too_many(muted.sum(axis=1, keepdims=True), muted.shape[1]))


class Combination:
    """The stack of a gate: it answers and learns single cases, and keeps labels that came before their time.

    Args:
        n_models: The number of models.
        two: Whether there are two classes.
    """

    def __init__(self, n_models: int, two: bool) -> None:
        self.two, self.n_models = two, n_models
        self.early: dict[int, Lesson] = {}
        """Labels that came before their time, by the number of the case."""
        self._take(new_stacks(n_models))

    def _take(self, stacks: Stacks) -> None:
        self.stacks = stacks
        self.packed = packed(stacks)
        self.chances = np.zeros((self.n_models, len(stacks.score)))
        """Room for what regressions say of candidates."""
        self._flat = self.chances.reshape(-1)
        self._code = np.zeros(self.n_models, np.int64)
        self._confidence = np.zeros(self.n_models)
        self._calls: dict[Any, Any] = {}

    def _call(self, function: Any, *arguments: Any) -> Any:
        """Call a compiled function; its machine code is looked up once."""
        found = self._calls.get(function)
        if found is None:
            found = function
            if not config.DISABLE_JIT:  # type: ignore[attr-defined]
                types = tuple(numba.typeof(argument) for argument in arguments)  # type: ignore[no-untyped-call]
                function.compile(types)
                found = function.get_overload(types)
            self._calls[function] = found
        return found(*arguments)

    def _show(self, code: Sequence[int], confidence: Sequence[float]) -> None:
        """Let compiled functions see a case: one by one, few numbers are written faster than as a list."""
        codes, confidences = self._code, self._confidence
        for m in range(self.n_models):
            codes[m] = code[m]
            confidences[m] = confidence[m]

    def n_candidates(self, code: Sequence[int]) -> int:
        """Return how many candidates are judged where models answer these."""
        n = max(code, default=-1) + 1
        return min(n, 1) if self.two else n

    def answer(self, code: list[int], confidence: list[float], kinds: Floats) -> tuple[int, float, tuple[float, ...]]:
        """Combine the answers to a case. Nothing changes.

        Args:
            code: The candidate that each model answers, see `Cases`.
            confidence: The models' confidences, any number without an answer.
            kinds: The prices of mistakes by kind, see `say`.

        Returns:
            The combined answer, a candidate or -1; its confidence; and what each regression says of each candidate.
        """
        self._show(code, confidence)
        answer, sure = self._call(
            answer_one, self.two, self._code, self._confidence, kinds, self.chances, self.packed
        )  # fmt: skip
        n = self.n_candidates(code) * self.chances.shape[1]
        return answer, sure, tuple(self._flat[:n].tolist())

    def learn(self, lesson: Lesson) -> None:
        """Learn the truth of a case."""
        code, confidence, truth, observed, chances = lesson
        n, parts = len(chances), self.chances.shape[1]
        self._show(code, confidence)
        if n > len(self._flat):  # more candidates than there are models today
            room = np.zeros((n // parts, parts))
            room.reshape(-1)[:] = chances
        else:
            room = self.chances
            self._flat[:n] = chances
        self._call(
            learn_one, self.two, n // parts, self._code, self._confidence, truth, observed, room, self.packed
        )  # fmt: skip

    def ripen(self, last: int) -> None:
        """Learn the labels of cases up to a number that came before their time."""
        for t in sorted(t for t in self.early if t <= last):
            self.learn(self.early.pop(t))

    def combine(
        self, said: Sequence[Said | None], prices: Prices, stake: float, muted: Sequence[bool] | None = None
    ) -> tuple[Said | None, tuple[float, ...]]:
        """Combine what models say in a case. Nothing changes.

        Args:
            said: What each model says.
            prices: What mistakes cost.
            stake: What is at stake.
            muted: Which models are in alarm: they are not heard.

        Returns:
            What the combination says, and what it needs to learn: the models' confidences (`UNHEARD`: in alarm), and
            what each regression says of each candidate.
        """
        found = self._numbers(prices.task)
        code = [-1 if one is None else found.setdefault(one.answer, len(found)) for one in said]
        confidence = [0.0 if one is None else one.confidence for one in said]
        if muted is not None:
            code = [-1 if out else k for k, out in zip(code, muted, strict=True)]
            confidence = [UNHEARD if out else sure for sure, out in zip(confidence, muted, strict=True)]
        kinds = prices.between(list(found), max(len(found), 2), stake) if prices.by_kind else NO_KINDS
        answer, sure, chances = self.answer(code, confidence, kinds)
        if answer < 0:
            return None, (*confidence, *chances)
        combined = list(found)[answer]
        if prices.staked and prices.by_kind:
            sure = relative_to(sure, prices.risk(combined, stake))
        return Said(combined, sure), (*confidence, *chances)

    def _numbers(self, task: Task) -> dict[Plain, int]:
        """Return the numbers of candidates that are known beforehand: those of two classes."""
        return {one: k for k, one in enumerate(task.classes or ())} if self.two else {}

    def lesson_of(self, case: Case, truth: Plain, task: Task, learner: Learner, models: list[str | None]) -> Lesson:
        """Return what a case teaches, in terms of the models of today (None: it came after the case).

        Raises:
            DecisionError: If the case was not decided by a gate that combines models.
        """
        *names, _ = case.answers  # the combination is the last
        *answers, _ = case.answers.values()
        found, n = self._numbers(task), len(answers)
        code = [-1 if one is None else found.setdefault(one, len(found)) for one in answers]
        code = [-1 if sure == UNHEARD else k for k, sure in zip(code, case.lesson, strict=False)]
        expected = n + self.n_candidates(code) * self.chances.shape[1]
        if len(case.lesson) != expected:
            raise DecisionError(f"case: expected {expected} numbers in its lesson, got {len(case.lesson)}")
        seen = observed(learner, case.decision.abstained, case.decision.carry)
        lesson = Lesson(code, [max(0.0, sure) for sure in case.lesson[:n]], found.get(truth, -1), seen, case.lesson[n:])
        if names == models:
            return lesson
        return lesson.of_models([names.index(model) if model in names else -1 for model in models])

    def take(self, t: int, lesson: Lesson, last_ripe: int | None) -> None:
        """Learn the label of case ``t``, or keep it until the case is old enough."""
        if last_ripe is not None and t > last_ripe:
            self.early[t] = lesson
        else:
            self.learn(lesson)

    def teach(self, block: Block, cases: Cases) -> Block:
        """Learn from cases with all their labels; return them with the combined answers, from before each label."""
        n = len(cases.truth)
        said, lost, risk = np.zeros(n), np.zeros(n), cases.risk[:, -1].copy()
        for i in range(n):
            code = cases.code[i].tolist()
            kinds = np.ascontiguousarray(cases.kinds[i if len(cases.kinds) > 1 else 0])
            answer, sure, chances = self.answer(code, cases.confidence[i].tolist(), kinds)
            cases.sure[i] = np.nan
            if answer < 0:
                continue
            said[i], lost[i], risk[i] = 2.0 * answer - 1.0, cases.full[i, answer], cases.risk[i, answer]
            cases.sure[i] = relative_to(sure, risk[i]) if block.risk is not None and kinds.size > 0 else sure
            self.learn(Lesson(code, cases.confidence[i].tolist(), int(cases.truth[i]), 1.0, chances))
        return with_combined(block, cases.sure, said, lost, risk)

    def rearranged(self, model_from: Sequence[int]) -> Combination:
        """Return a combination of other models, by the numbers they had; -1 for a new one, of which nothing is known.

        What is known of the others stays; what was known of those that left is dropped.
        """
        other = Combination(len(model_from), self.two)
        old, new = self.stacks, other.stacks
        stay = [(k, m) for k, m in enumerate(model_from) if m >= 0]
        at = np.array([*(4 * k + i for k, _ in stay for i in range(4)), len(new.mean) - 1])
        was = np.array([*(4 * m + i for _, m in stay for i in range(4)), len(old.mean) - 1])
        new.theta[:, at] = old.theta[:, was]
        new.covariance[:, at[:, np.newaxis], at] = old.covariance[:, was[:, np.newaxis], was]
        for name in ("score", "learnt", "share"):
            getattr(new, name)[:] = getattr(old, name)
        other.early = {t: one.of_models(model_from) for t, one in self.early.items()}
        return other

    def copy(self) -> Combination:
        """Copy it."""
        other = Combination.__new__(Combination)
        other.two, other.n_models, other.early = self.two, self.n_models, dict(self.early)
        other._take(Stacks._make(array.copy() for array in self.stacks))
        return other

    __copy__ = copy

    def __deepcopy__(self, known: Any) -> Combination:
        return self.copy()

    def __getstate__(self) -> tuple[Any, ...]:
        return self.two, self.n_models, self.early, tuple(self.stacks)

    def __setstate__(self, values: tuple[Any, ...]) -> None:
        self.two, self.n_models, self.early, stacks = values
        self._take(Stacks._make(stacks))

    def to_file(self) -> dict[str, Array]:
        """Describe it as arrays."""
        kept, parts, n = [self.early[t] for t in sorted(self.early)], len(self.stacks.score), self.n_models
        sizes = np.array([len(one.chances) // parts for one in kept], np.int64)
        arrays = {name: getattr(self.stacks, name).copy() for name in SAVED} | {
            "early.round": np.array(sorted(self.early), np.int64),
            "early.code": np.array([one.code for one in kept], np.int64).reshape(-1, n),
            "early.confidence": np.array([one.confidence for one in kept]).reshape(-1, n),
            "early.truth": np.array([one.truth for one in kept], np.int64),
            "early.observed": np.array([one.observed for one in kept], np.float64),
            "early.size": sizes,
            "early.chances": np.concatenate([np.zeros(0), *(one.chances for one in kept)]).reshape(-1, parts),
        }
        return {PREFIX + name: array for name, array in arrays.items()}

    @classmethod
    def from_file(cls, n_models: int, two: bool, arrays: Mapping[str, Array], learner: Learner) -> Combination:
        """Read what `to_file` wrote, of a gate with this learner; raise a `ValueError` if it cannot be that."""
        self = cls(n_models, two)
        given = {name.removeprefix(PREFIX): array for name, array in arrays.items() if name.startswith(PREFIX)}
        check_arrays({name: given[name] for name in SAVED}, {name: getattr(self.stacks, name) for name in SAVED},
                     ("theta", "covariance"))  # fmt: skip
        covariance = given["covariance"]
        if (
            not (np.diagonal(covariance, axis1=1, axis2=2) > 0.0).all()
            or (covariance != covariance.transpose(0, 2, 1)).any()
        ):
            raise InputError(f"{COMBINED}: expected covariances, got {shown(covariance)}")
        for name in SAVED:
            getattr(self.stacks, name)[...] = given[name]
        rounds, code, sizes, chances = (given[f"early.{name}"] for name in ("round", "code", "size", "chances"))
        confidence, truth, observed = (given[f"early.{name}"] for name in ("confidence", "truth", "observed"))
        n, parts = len(rounds), len(self.stacks.score)
        right = (
            all(one.dtype == np.int64 for one in (rounds, code, sizes, truth))
            and code.shape == confidence.shape == (n, n_models)
            and sizes.shape == truth.shape == observed.shape == rounds.shape == (n,)
            and chances.shape == (sizes.sum(), parts)
            and all(one.dtype == np.float64 for one in (confidence, observed, chances))
            and ((confidence >= 0.0) & (confidence <= 1.0)).all()
            and ((observed > 0.0) & (observed <= 1.0)).all()
            and ((chances >= 0.0) & (chances <= 1.0)).all()
            and (sizes >= 0).all()
            and (
                n == 0
                or (
                    rounds[0] > (learner.last_ripe or 0) and rounds[-1] <= learner.round and (np.diff(rounds) > 0).all()
                )
            )
            and (code >= -1).all()
            and (code < np.maximum(sizes, 2 if two else 0)[:, np.newaxis]).all()
        )
        if not right:
            raise InputError(f"{COMBINED}: expected labels that came before their time, got something else")
        for t, part, *rest in zip(
            rounds.tolist(), np.split(chances, np.cumsum(sizes)[:-1]) if n else [], code, confidence, truth.tolist(),
            observed.tolist(), strict=True,
        ):  # fmt: skip
            self.early[t] = Lesson._make([*rest, part.ravel().tolist()])
        self.weigh()
        return self

    def weigh(self) -> None:
        """Compute the weights of the regressions, which follow from their scores."""
        self._call(weigh_all, self.packed)


def candidates(answers: Ints) -> Ints:
    """Number the answers of each row in the order in which models name them.

    Args:
        answers: A number for every answer (n, P); below 0: no answer.

    Returns:
        The numbers (n, P); -1: no answer.

    >>> candidates(np.array([[7, -1, 3, 7], [2, 2, 2, 0]]))
    array([[ 0, -1,  1,  0],
           [ 0,  0,  0,  1]])
    """
    code, found = np.full(answers.shape, -1), np.zeros(len(answers), np.int64)
    for m in range(answers.shape[1]):
        for before in range(m):
            same = (code[:, m] < 0) & (answers[:, before] == answers[:, m])
            code[same, m] = code[same, before]
        fresh = (code[:, m] < 0) & (answers[:, m] >= 0)
        code[fresh, m] = found[fresh]
        found += fresh
        code[answers[:, m] < 0, m] = -1
    return code


def as_cases(block: Block, two: bool, prices: Prices) -> Cases:
    """Return the cases of a block as the combination sees them.

    Raises:
        InputError: If the block lacks what is needed: who agrees, if there are more than two classes; the truth, where
            losses do not tell it; and prices of each kind of mistake, if they differ.
    """
    n, models = block.confidence.shape
    missing, size = np.isnan(block.confidence), max(2, models)
    truth, full, risk = block.truth, np.zeros((n, size)), np.ones((n, size + 1))
    kinds = np.zeros((1, 0, 0)) if block.kinds is None else block.kinds
    if prices.by_kind and block.kinds is None and (prices.staked or not two):
        raise InputError("block: expected the prices of each kind of mistake, by which answers are combined")
    if prices.staked:
        assert block.risk is not None
        risk[:] = block.risk[:, :1]
        if prices.by_kind:
            some = ~missing.all(axis=1)
            risk[some, -1] = kinds[some, 0, -1]
    if two:
        assert block.said is not None
        code = np.where(missing, -1, (block.said > 0.0).astype(np.int64))
        if truth is None:  # what a model loses tells it
            if prices.staked or prices.by_kind:
                raise InputError("block: expected the truth, which a mistake that costs nothing does not tell")
            first = np.argmin(missing, axis=1)
            told, losses = (part[np.arange(n), first] for part in (code, block.losses))
            truth = np.where(losses > 0.0, 1 - told, told)
        assert prices.task.classes is not None
        if prices.by_kind and not prices.staked:
            kinds = prices.between(prices.task.classes, 2)[np.newaxis]
        for said, true in ((0, 1), (1, 0)):
            if kinds.size > 0:
                lost = np.broadcast_to(kinds[:, said, true], n)
            else:
                lost = risk[:, said] if prices.staked else np.ones(n)
            full[truth == true, said] = lost[truth == true]
            if prices.staked and prices.by_kind:
                risk[:, said] = lost
    else:
        if block.answer is None or truth is None:
            raise InputError("block: expected its answers and truths, by which more than two classes are combined")
        numbers = np.where(missing, -1, block.answer)
        code = candidates(numbers)
        same = (numbers == truth[:, np.newaxis]) & ~missing
        truth = np.where(same.any(axis=1), code[np.arange(n), np.argmax(same, axis=1)], -1)
        for m in reversed(range(models)):
            there = ~missing[:, m]
            full[there, code[there, m]] = block.losses[there, m]
            if block.risk is not None:
                risk[there, code[there, m]] = block.risk[there, m]
    return Cases(
        code, np.where(missing, 0.0, block.confidence), truth.astype(np.int64), full,
        np.minimum(1.0, full) if prices.staked else full, kinds, risk, np.zeros(n), np.full(n, -1),
    )  # fmt: skip


def relative_to(sure: float, risk: float) -> float:
    """The confidence at which doubt times risk is an expected price, of which one minus is ``sure``."""
    return 1.0 - min(1.0, (1.0 - sure) / risk) if risk > 0.0 else 1.0


def check_combining(combine: Any, task: Task, models: Sequence[str]) -> bool:
    """Return whether a gate combines its models; raise an error if these cannot be combined."""
    if as_flag(combine, "combine"):
        if task.kind == NUMBER:
            raise InputError('combine: expected False for task="number": numbers are not combined, got True')
        if COMBINED in models:
            raise InputError(f"models: {COMBINED!r} is the name of the models' combination, unless combine=False")
        return True
    return False


def observed(learner: Learner, abstained: bool, carry: Floats) -> float:
    """Return the probability of seeing a label: what the learner carries, or, if it draws no expert, the chance."""
    return float(carry[0]) if isinstance(learner, WeightedLearner) else learner.chances[abstained]

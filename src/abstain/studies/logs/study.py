"""Studies of logs as data: which logs, how late the labels are, who plays."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from ... import __version__
from ..._core.validation import as_count, as_seed, is_number
from ...errors import InputError
from ..ingredients import Keyed, LearnerSpec
from .players import ALTERNATIVES
from .recipes import LOGS, SHIPPED, Recipe, recipe

QUICK_ROUNDS, QUICK_DELAYS, QUICK_REPETITIONS = 2_000, (0, 100), 2
FEEDBACKS = ("predicted", "both", "abstained")


@dataclass(frozen=True)
class Goal:
    """What a learner should reach, in per cent of the tuned threshold's loss."""

    learner: str
    feedback: str
    delay: int
    still: float
    """At most this on every log on which nothing moves ..."""
    moving: float | None = None
    """... and at most this in the mean over those on which something does."""


@dataclass(frozen=True)
class LogStudy:
    """Every log, made so often, with labels so late, played by every learner.

    A learner's labels are those of its option ``feedback``; two learners may have the same label if that differs.
    """

    role: ClassVar[str] = ""
    """The paper has no logs."""
    name: str
    title: str = ""
    figure: str = ""
    logs: tuple[str, ...] = LOGS
    learners: tuple[LearnerSpec, ...] = ()
    delays: tuple[int, ...] = (0, 100, 2_000)
    repetitions: int = 5
    rounds: int = 40_000
    """Of each log, at most."""
    goals: tuple[Goal, ...] = ()
    seed: int = 0
    """Of the first repetition; the next has the next number."""

    def __post_init__(self) -> None:
        try:
            self._check()
        except InputError as error:
            raise InputError(f"study {self.name}: {error}") from None

    def _check(self) -> None:
        for name in ("logs", "learners", "delays", "goals"):
            values = getattr(self, name)
            if not isinstance(values, (tuple, list)) or (not values and name != "goals"):
                raise InputError(f"{name}: expected a list, got {values!r}")
            object.__setattr__(self, name, tuple(values))
        for log in self.logs:
            recipe(log)
        delays = (as_count(delay, "delays", least=0) for delay in self.delays)
        object.__setattr__(self, "delays", tuple(dict.fromkeys(delays)))
        object.__setattr__(self, "logs", tuple(dict.fromkeys(self.logs)))
        as_count(self.repetitions, "repetitions")
        as_count(self.rounds, "rounds", least=100)
        if as_seed(self.seed) is None or not isinstance(self.seed, int):
            raise InputError(f"seed: expected a whole number that is not negative, got {self.seed!r}")
        for learner in self.learners:
            if not isinstance(learner, LearnerSpec):
                raise InputError(f"learners: expected LearnerSpecs, got {learner!r}")
            if learner.label in ALTERNATIVES:
                raise InputError(f"label: expected none of {'; '.join(ALTERNATIVES)}, got {learner.label!r}")
        names = [f"{learner.label} ({feedback_of(learner)})" for learner in self.learners]
        if len(set(names)) < len(names):
            raise InputError(f"learners: expected none twice, got {', '.join(names)}")
        for goal in self.goals:
            if not isinstance(goal, Goal):
                raise InputError(f"goals: expected Goals, got {goal!r}")
            if not all(is_number(share) for share in (goal.still, goal.moving) if share is not None):
                raise InputError(f"goals: expected per cent as numbers, got {goal!r}")
            who = f"{goal.learner} ({goal.feedback})"
            if who not in names:
                raise InputError(f"goals: expected one of {'; '.join(names)}, got {who}")
            if goal.delay not in self.delays:
                raise InputError(f"goals: expected a delay of {', '.join(map(str, self.delays))}, got {goal.delay!r}")

    def quick(self) -> "LogStudy":
        """A few short logs of the sets that come with scikit-learn, twice: to see that it works."""
        return replace(
            self, logs=SHIPPED, delays=QUICK_DELAYS, rounds=min(self.rounds, QUICK_ROUNDS),
            repetitions=min(self.repetitions, QUICK_REPETITIONS), goals=(),
        )  # fmt: skip


def feedback_of(learner: LearnerSpec) -> str:
    """Which labels come back to it, as a word; a supervised learner is shown all, whatever it does."""
    if learner.supervised:
        return "both"
    feedback = learner.options.get("feedback", "predicted")
    return feedback if isinstance(feedback, str) else ", ".join(f"{chance:g}" for chance in feedback)


@dataclass(frozen=True)
class LogJob(Keyed):
    """One learner on one log, or (without one) all alternatives."""

    sort = "LogPart"
    recipe: Recipe
    rounds: int
    seed: int
    delay: int
    learner: LearnerSpec | None
    version: str = __version__

    def __str__(self) -> str:
        who = "alternatives" if self.learner is None else f"{self.learner.label} ({feedback_of(self.learner)})"
        return f"{self.recipe.name}, seed {self.seed}, labels {self.delay:,} late, {who}"

    @property
    def dataset(self) -> str:
        """The set it is made of."""
        return self.recipe.dataset

    @property
    def group(self) -> str:
        """Jobs that are played on the same log have the same."""
        return f"{self.recipe.key} {self.rounds} {self.seed}"

    @property
    def weight(self) -> float:
        """About how long it takes, in runs of 10,000 rounds of 2,000 experts."""
        return self.rounds / 1e5


def jobs(study: LogStudy) -> list[LogJob]:
    """All that a study needs."""
    players: Sequence[LearnerSpec | None] = (None, *study.learners)
    return [
        LogJob(recipe(log), min(study.rounds, recipe(log).rounds), study.seed + repetition, delay, learner)
        for log in study.logs
        for repetition in range(study.repetitions)
        for delay in study.delays
        for learner in players
    ]

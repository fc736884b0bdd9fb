"""The runs of figure 3: from results, or short ones played for it."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ... import instances
from ..claims.bias import is_linear
from ..claims.settings import Run
from ..problems import INSTANCES
from .bias_playing import play
from .figure import Source
from .panels import START
from .style import styles

if TYPE_CHECKING:
    import polars

ROLE, FIRST, SECOND, COST = "bias", "bias-problem", "proposition-1", 0.9
"""Of the studies, and their sets; a name that begins with the second is that construction with some probability."""
TITLES = {FIRST: "the bias problem", SECOND: "proposition 1"}
NAMES = {"UCB-NT": "UCB-NT, subset graph"}
"""What this figure calls a learner, to tell the graphs apart."""
ROUNDS = 20_000
"""Runs in results that are shorter say nothing: others of this length are played instead."""


class Side(NamedTuple):
    """A region of the input space."""

    probability: float
    losses: tuple[float, float]
    """The expected loss of red and of blue there; the cost where one abstains."""
    abstains: tuple[bool, bool]


class Runs(NamedTuple):
    """A learner's single runs."""

    learner: str
    t: tuple[int, ...]
    regret: tuple[tuple[float, ...], ...]
    """R_t of each run."""

    @property
    def mean(self) -> tuple[float, ...]:
        """Over the runs."""
        return tuple(np.mean(self.regret, axis=0).tolist())


class Trial(NamedTuple):
    """An instance, and the learners on it."""

    title: str
    instance: instances.Instance
    learners: tuple[Runs, ...]
    for_figure: bool = False
    """Whether the runs are no results, but played for the figure."""

    @property
    def gap(self) -> float:
        """What a round with the wrong expert costs on average."""
        return max(self.instance.means) - min(self.instance.means)

    @property
    def rounds(self) -> int:
        """The last round."""
        return self.learners[0].t[-1]

    def trapped(self, runs: Runs) -> int:
        """How many of a learner's runs are linear, as claims 11 and 12 have it."""
        t, none = np.array(runs.t), np.zeros(0, np.int64)
        found = (Run("", self.title, self.instance.cost, t, np.array(regret), none) for regret in runs.regret)
        return sum(is_linear(run, self.gap) for run in found)


def trials(source: Source) -> tuple[Trial, ...]:
    """The bias problem, then proposition 1's construction by its probability, each with the longest runs there are."""
    import polars

    names = [study.name for study in source.studies if study.role == ROLE] or [ROLE]
    parts = source.curves.filter(polars.col("study").is_in(names)).partition_by("study", "dataset", "cost")
    longest: dict[str, tuple[instances.Instance, polars.DataFrame | None]] = {}
    for own in sorted(parts, key=_rounds):
        name, cost = str(own["dataset"][0]), float(own["cost"][0])
        if name in INSTANCES and name.startswith((FIRST, SECOND)):
            instance = _instance(name, cost)
            longest[_title(name, instance)] = instance, own
    for name in (FIRST, SECOND):
        if not any(title.startswith(TITLES[name]) for title in longest):
            instance = _instance(name, COST)
            longest[_title(name, instance)] = instance, None
    found = []
    for title, (instance, part) in longest.items():
        short = part is None or _rounds(part) < ROUNDS
        curves = play(instance, ROUNDS) if part is None or short else part
        found.append(Trial(title, instance, _runs(curves), short))
    return tuple(sorted(found, key=lambda trial: (trial.title != TITLES[FIRST], -trial.gap)))


def _rounds(part: "polars.DataFrame") -> int:
    return int(part["t"].to_numpy().max())


def _instance(name: str, cost: float) -> instances.Instance:
    instance = INSTANCES[name](cost)
    assert isinstance(instance, instances.Instance)
    return instance


def _title(name: str, instance: instances.Instance) -> str:
    """Proposition 1's with the probability of the input on which both predict."""
    return TITLES[FIRST] if name == FIRST else f"{TITLES[SECOND]}, p = {instance.probabilities[0]:g}"


def _runs(curves: "polars.DataFrame") -> tuple[Runs, ...]:
    import polars

    curves = curves.filter((polars.col("t") >= START) | (polars.col("t") == polars.col("t").max()))
    found = []
    for label in styles(curves["learner"].to_list()):
        own = curves.filter(polars.col("learner") == label).sort("expert_set", "draw", "t")
        parts = own.partition_by("expert_set", "draw", maintain_order=True)
        regret = tuple(tuple(part["loss"] - part["best"]) for part in parts)
        found.append(Runs(label, tuple(parts[0]["t"]), regret))
    return tuple(found)


def sides_of(instance: instances.Instance) -> tuple[Side, Side]:
    """The regions where red predicts and where it abstains, exactly: from the instance's table of outcomes."""
    rows, labels, chances = instance.values[:, :-1], instance.values[:, -1], instance.probabilities
    advice = instance.experts.advise(rows)
    errors = instance.loss(advice.predictions, instance.loss.labels(labels))
    paid = np.where(advice.abstains, instance.cost, errors)
    left, right = (
        Side(
            float(chances[where].sum()),
            _pair(np.average(paid[where], axis=0, weights=chances[where])),
            _pair(np.all(advice.abstains[where], axis=0)),
        )
        for where in (~advice.abstains[:, 0], advice.abstains[:, 0])
    )
    return left, right


def _pair(values: Any) -> tuple[Any, Any]:
    red, blue = values.tolist()
    return red, blue

"""What claims are judged from: results by study, setting and learner, and the roles of studies."""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import datasets
from ..errors import AbstainError
from . import seeds
from .results import summary
from .sets import INSTANCES, UNSCALED
from .study import LearnerStudy, Study, with_curves

if TYPE_CHECKING:
    import polars as pl

    from ..paper.growth import Row


class Role(NamedTuple):
    """What a study is to the claims."""

    role: str = ""
    """One of `study.ROLES`, or nothing."""
    scale: str = ""

    @property
    def is_reading(self) -> bool:
        """Whether it is another reading of the paper."""
        return self.role == "reading"

    def repeats(self, dataset: str) -> bool:
        """Whether a study of another scaling has the same runs: of a set that is not scaled."""
        return self.scale == "minmax" and dataset in UNSCALED


class Roles:
    """The roles of studies by their names: those given, and the paper's."""

    def __init__(self, studies: Iterable[Study] = ()) -> None:
        self._known = {**_paper_roles(), **{study.name: _role(study) for study in studies}}

    def __getitem__(self, study: str) -> Role:
        return self._known.get(study, Role())

    def named(self, role: str) -> tuple[str, ...]:
        """The studies with that role."""
        return tuple(name for name, known in self._known.items() if known.role == role)


def _role(study: Study) -> Role:
    return Role(study.role, getattr(study, "scale", ""))


@cache
def _paper_roles() -> dict[str, Role]:
    from ..paper import paper

    file = paper()
    return {name: Role(file.role(name), "" if "kind" in table else table.get("scale", file.defaults["scale"]))
            for name, table in file.studies.items()}  # fmt: skip


Floats: TypeAlias = NDArray[np.float64]

MAIN = ("regret", "abstention", "main")
"""The order in which the paper's studies with the role "main" are looked at: of a setting that is in several, the first
counts, and their runs are the same."""
PAPER = ("UCB", "UCB-NT", "UCB-GT", "FS")
"""The paper's four learners."""


@dataclass(frozen=True, eq=False)
class Line:
    """A learner in a setting, at each checkpoint t: means over draws, then over expert sets."""

    t: NDArray[np.int64]
    regret: Floats
    """R_t / t."""
    regret_sd: Floats
    abstained: Floats
    """The fraction of the rounds so far."""
    edges: Floats
    of_sets: Floats = field(default_factory=lambda: np.zeros(0))
    """R_T / T of each expert set, in their order."""


@dataclass(frozen=True, eq=False)
class Setting:
    """A data set with a cost, in a study."""

    study: str
    dataset: str
    cost: float
    expert_sets: int
    lines: dict[str, Line] = field(repr=False)
    role: Role
    """Of the study."""

    def regret(self, learner: str) -> float:
        """R_T / T."""
        return float(self.lines[learner].regret[-1])

    def has(self, *learners: str) -> bool:
        """Whether all of them were run to the end."""
        return all(learner in self.lines for learner in learners)


@dataclass(frozen=True, eq=False)
class Run:
    """One learner on one draw."""

    study: str
    dataset: str
    cost: float
    t: NDArray[np.int64]
    regret: Floats
    """R_t."""
    edges: NDArray[np.int64]


@dataclass(frozen=True)
class Known:
    """What claims need that the frame does not say."""

    n_experts: Mapping[str, int] = field(default_factory=dict)
    """K on each set of the studies with the role "adversarial"."""
    largest: Mapping[str, float] = field(default_factory=dict)
    """The largest share of the rows that one rule abstains on, for each set of the studies with the role "extreme"."""
    growth: "Sequence[Row]" = ()
    """Runs of ContEXP3-ABS."""


def known(studies: Sequence[Study], growth: "Sequence[Row]" = (), data: Path | None = None) -> Known:
    """What is known of these studies; ``data`` is the folder of the data sets."""
    played = with_curves(studies)
    largest = {
        dataset: share
        for study in played
        if study.role == "extreme"
        for dataset in study.sets
        if (share := _largest(study, dataset, data)) is not None
    }
    return Known(_n_experts(played), largest, growth)


def _n_experts(studies: Sequence[LearnerStudy]) -> dict[str, int]:
    """On sets of the library's; of others the number of features is not known here."""
    return {
        dataset: (
            INSTANCES[dataset](cost).experts
            if dataset in INSTANCES
            else study.experts.make(datasets.info(dataset).features, None)
        ).n_experts
        for study in studies
        if study.role == "adversarial"
        for dataset, cost in study.settings
        if (dataset in INSTANCES or dataset in datasets.names) and study.own_set(dataset) is None
    }


def _largest(study: LearnerStudy, dataset: str, data: Path | None) -> float | None:
    """On the study's first draw; None if the set is not one of the library's, or not here."""
    if dataset not in datasets.names or study.own_set(dataset) is not None:
        return None
    scale = None if study.scale == "none" else study.scale
    seed = seeds.of_data(study.seed, dataset, 0, 0)
    try:
        X, _ = datasets.load(dataset, scale=scale, data=data, n=study.rounds, seed=seed)
    except AbstainError:  # not here, or damaged, which is said elsewhere
        return None
    experts = study.experts.make(X.shape[1], seeds.of_experts(study.seed, dataset, 0))
    return float(experts.advise(X).abstains.mean(axis=0).max())


class Results:
    """The results frame, arranged. Rows whose comparator is not known yet are left out.

    ``studies`` are those whose results they are; what is not among them has the role of the paper's of that name.
    ``known`` is what the frame does not say.
    """

    def __init__(self, curves: "pl.DataFrame", studies: Iterable[Study] = (), known: Known | None = None) -> None:
        import polars as pl

        self.roles = Roles(studies)
        self.known = Known() if known is None else known
        self.main: tuple[str, ...] = tuple(sorted(self.roles.named("main"), key=lambda name: [*MAIN, name].index(name)))
        """The studies that claims 1 to 5 and others about figures 5 to 10 look at."""
        self.curves = curves.filter(pl.col("best").is_not_null())
        self._settings: dict[tuple[str, str, float], Setting] = {}
        sets = self.curves.group_by("study", "dataset", "cost").agg(pl.col("expert_set").n_unique())
        expert_sets = {(study, dataset, cost): n for study, dataset, cost, n in sets.iter_rows()}
        of_sets = self._of_sets()
        table = summary(self.curves).sort("study", "dataset", "cost", "learner", "t")
        for key, rows in table.partition_by("study", "dataset", "cost", as_dict=True, maintain_order=True).items():
            study, dataset, cost = key
            last, lines = rows["t"].max(), {}
            for name, line in rows.partition_by("learner", as_dict=True, maintain_order=True).items():
                if line["t"][-1] == last:
                    columns = ("t", "regret", "regret_sd", "abstained", "edges")
                    t, regret, regret_sd, abstained, edges = (line[column].to_numpy() for column in columns)
                    lines[name[0]] = Line(t, regret, regret_sd, abstained, edges, of_sets[*key, *name])
            self._settings[key] = Setting(study, dataset, cost, expert_sets[key], lines, self.roles[study])

    def _of_sets(self) -> dict[tuple[object, ...], Floats]:
        """R_T / T of each expert set, by study, set, cost and learner."""
        import polars as pl

        group = ("study", "dataset", "cost", "learner")
        last = self.curves.filter(pl.col("t") == pl.col("t").max().over("study", "dataset", "cost"))
        regret = ((pl.col("loss") - pl.col("best")) / pl.col("t")).mean().alias("regret")
        means = last.group_by(*group, "expert_set").agg(regret).sort(*group, "expert_set")
        parts = means.partition_by(*group, as_dict=True, maintain_order=True)
        return {key: rows["regret"].to_numpy() for key, rows in parts.items()}

    @property
    def studies(self) -> list[str]:
        """The studies there are results of, sorted."""
        return sorted({study for study, _, _ in self._settings})

    def as_reading(self, study: str) -> "Results":
        """The same with a reading's study for the main ones: a judge then judges that reading."""
        reading = copy(self)
        reading.main = (study,)
        return reading

    def with_role(self, role: str, learners: tuple[str, ...] = ()) -> list[Setting]:
        """The settings of all studies with that role."""
        return self.settings(*self.roles.named(role), learners=learners)

    def settings(self, *studies: str, learners: tuple[str, ...] = ()) -> list[Setting]:
        """The settings of these studies in which these learners were run; of equal ones the first study's."""
        found: dict[tuple[str, float], Setting] = {}
        for wanted in studies:
            for (study, dataset, cost), setting in self._settings.items():
                if study == wanted and setting.has(*learners):
                    found.setdefault((dataset, cost), setting)
        return [found[key] for key in sorted(found)]

    def runs(self, learner: str, study: str | None = None, dataset: str | None = None) -> list[Run]:
        """Every run of a learner, one a draw and expert set."""
        import polars as pl

        rows = self.curves.filter(pl.col("learner") == learner)
        if study is not None:
            rows = rows.filter(pl.col("study") == study)
        if dataset is not None:
            rows = rows.filter(pl.col("dataset") == dataset)
        keys = ("study", "dataset", "cost", "expert_set", "draw")
        found = []
        for key, run in rows.sort(*keys, "t").partition_by(*keys, as_dict=True, maintain_order=True).items():
            regret = (run["loss"] - run["best"]).to_numpy()
            found.append(Run(key[0], key[1], key[2], run["t"].to_numpy(), regret, run["edges"].to_numpy()))
        return found

"""What claims are judged from: the results of studies by setting and learner, and the studies themselves."""

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..typing import Floats
from .results import summary
from .sets import UNSCALED
from .study import LearnerStudy, Study, with_curves

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Trajectory:
    """One learner in one setting at each checkpoint t: means over draws, then over expert sets."""

    t: NDArray[np.int64]
    regret: Floats
    """R_t / t."""
    regret_sd: Floats
    abstained: Floats
    """The fraction of the rounds so far."""
    edges: Floats
    of_sets: Floats = field(default_factory=lambda: np.zeros(0))
    """R_T / T of each expert set, in their order."""
    pseudo: Floats = field(default_factory=lambda: np.full(1, np.nan))
    """R_t / t in expected losses, where those of the experts are known; else nan."""

    @property
    def expected(self) -> Floats:
        """Pseudo-regret, which theorems are about, where it is known; else regret."""
        return self.regret if np.isnan(self.pseudo).any() else self.pseudo


@dataclass(frozen=True, eq=False)
class Setting:
    """A data set with a cost, in a study."""

    study: str
    dataset: str
    cost: float
    expert_sets: int
    learners: dict[str, Trajectory] = field(repr=False)
    """The learners that were run to the end, by label."""
    scale: str = ""
    """How the study scales features."""

    def regret(self, learner: str) -> float:
        """R_T / T."""
        return float(self.learners[learner].regret[-1])

    def has(self, *learners: str) -> bool:
        """Whether all of them were run to the end."""
        return all(learner in self.learners for learner in learners)

    @property
    def is_unscaled_twin(self) -> bool:
        """Whether a study with another scaling has the same runs, because this set is not scaled."""
        return self.scale == "minmax" and self.dataset in UNSCALED


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


class Results:
    """The results of a run, as judges and figures see them. Rows without a comparator are left out.

    Args:
        curves: The results frame (see `results.read`).
        studies: The studies that were run. Judges find them by their roles.
        frames: The results of studies of other kinds, by kind.
        records: The records of games that figures asked for, by the key of the job.
        data: The folder of the data sets, for judges that look at the data.
        quick: Whether the studies were played in their quick form, of which nothing is judged.
    """

    def __init__(
        self,
        curves: "pl.DataFrame",
        studies: Iterable[Study] = (),
        *,
        frames: "Mapping[str, pl.DataFrame] | None" = None,
        records: Mapping[str, Mapping[str, Any]] | None = None,
        data: Path | None = None,
        quick: bool = False,
    ) -> None:
        import polars as pl

        self.quick = quick
        self.curves = curves.filter(pl.col("best").is_not_null())
        self.studies: dict[str, Study] = {study.name: study for study in studies}
        self.frames: Mapping[str, pl.DataFrame] = frames or {}
        self.records: Mapping[str, Mapping[str, Any]] = records or {}
        self.data = data
        self.reading = ""
        """The study of another reading of the paper that is judged; empty for our reading."""

    @cached_property
    def summary(self) -> "pl.DataFrame":
        """Means and standard deviations of the curves."""
        return summary(self.curves)

    def study(self, name: str) -> LearnerStudy | None:
        """The study of learners on data sets with a name."""
        return next((study for study in with_curves(self.studies.values()) if study.name == name), None)

    @cached_property
    def _settings(self) -> dict[tuple[str, str, float], Setting]:
        import polars as pl

        sets = self.curves.group_by("study", "dataset", "cost").agg(pl.col("expert_set").n_unique())
        expert_sets = {(study, dataset, cost): n for study, dataset, cost, n in sets.iter_rows()}
        of_sets, found = self._of_sets(), {}
        table = self.summary.sort("study", "dataset", "cost", "learner", "t")
        for key, rows in table.partition_by("study", "dataset", "cost", as_dict=True, maintain_order=True).items():
            name, dataset, cost = key
            last, learners = rows["t"].max(), {}
            for label, of_learner in rows.partition_by("learner", as_dict=True, maintain_order=True).items():
                if of_learner["t"][-1] == last:
                    columns = ("t", "regret", "regret_sd", "abstained", "edges", "pseudo")
                    values: dict[str, Any] = {column: of_learner[column].to_numpy() for column in columns}
                    learners[label[0]] = Trajectory(**values, of_sets=of_sets[*key, *label])
            study = self.study(name)
            found[key] = Setting(name, dataset, cost, expert_sets[key], learners, study.scale if study else "")
        return found

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
    def names(self) -> list[str]:
        """The studies with results, sorted by name."""
        return sorted({study for study, _, _ in self._settings})

    @property
    def main(self) -> tuple[str, ...]:
        """The studies with the role "main", or the one reading that is judged.

        The study with the most settings comes first: of a setting that several have, its results count.
        """
        if self.reading:
            return (self.reading,)
        sizes = {
            study.name: len(study.settings) for study in with_curves(self.studies.values()) if study.role == "main"
        }
        return tuple(sorted(sizes, key=lambda name: -sizes[name]))

    def with_role(self, role: str) -> tuple[str, ...]:
        """The names of the studies with a role."""
        return tuple(name for name, study in self.studies.items() if study.role == role)

    def of(self, studies: Iterable[Study]) -> "Results":
        """The results of these studies alone."""
        import polars as pl

        chosen = list(studies)
        curves = self.curves.filter(pl.col("study").is_in([study.name for study in chosen]))
        return Results(curves, chosen, frames=self.frames, records=self.records, data=self.data, quick=self.quick)

    def as_reading(self, study: str) -> "Results":
        """The same results with a reading's study in place of the main ones: a judge then judges that reading."""
        reading = copy(self)
        reading.reading = study
        return reading

    def settings(self, *studies: str, learners: tuple[str, ...] = ()) -> list[Setting]:
        """The settings of studies.

        Args:
            studies: The names of the studies. Of a setting that several have, the first counts.
            learners: The learners that a setting must have.

        Returns:
            The settings, sorted by set and cost.
        """
        found: dict[tuple[str, float], Setting] = {}
        for wanted in studies:
            for (study, dataset, cost), setting in self._settings.items():
                if study == wanted and setting.has(*learners):
                    found.setdefault((dataset, cost), setting)
        return [found[key] for key in sorted(found)]

    def runs(self, learner: str, study: str | None = None, dataset: str | None = None) -> list[Run]:
        """Every run of a learner, one per draw and expert set."""
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

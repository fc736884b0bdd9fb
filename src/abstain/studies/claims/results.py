"""The results, arranged for the claims."""

from collections.abc import Iterable
from copy import copy
from typing import TYPE_CHECKING

from ..results import summary
from ..spec import AnyStudy
from .known import Known
from .roles import Roles
from .settings import MAIN, Floats, Line, Run, Setting

if TYPE_CHECKING:
    import polars as pl


class Results:
    """The results frame, arranged. Rows whose comparator is not known yet are left out.

    ``studies`` are those whose results they are; what is not among them has the role of the paper's of that name.
    ``known`` is what the frame does not say.
    """

    def __init__(self, curves: "pl.DataFrame", studies: Iterable[AnyStudy] = (), known: Known | None = None) -> None:
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

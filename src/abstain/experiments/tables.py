"""Tables of final numbers: every learner in every setting, and an overview."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from ..typing import Floats, Ints
from . import outputs
from .formats import latex, markdown
from .study import LearnerStudy, Study, with_curves

if TYPE_CHECKING:
    import polars as pl

FULL = "FS"
"""The learner that sees every label: what others are measured by."""
CLOCK = "UCB-GT"
"""The learner whose time is the unit, where it is played."""
LIMIT = (2.0, 0.002)
"""A learner is near FS if its average regret is at most so many times that of FS, plus so much. Where that of FS is
negative it counts as 0: twice as negative is not what anybody asks for."""
SETTING = ("study", "dataset", "cost")
COVERAGE = 0.95


def finals(
    curves: "pl.DataFrame",
    *,
    learners: Sequence[str] = (),
    reference: str | None = None,
    apart: Sequence[str] = (FULL,),
) -> "pl.DataFrame":
    """A row for each setting (study, set, cost) and learner, from a results frame.

    ``regret`` is the mean of R_T / T with its standard error ``se``; ``tracking`` the same against the best sequence of
    experts. ``difference`` is that to the ``reference`` in the same repetitions (FS where it is played, else the first
    of the ``learners``, unless one is given), from ``low`` to ``high`` with 95 % confidence. ``ratio`` is that to FS,
    ``excess`` what ``regret`` has above 2 FS + 0.002 (above 0.002 where FS is negative), and ``within`` whether that is
    nothing. ``rank`` counts from the least regret; those ``apart`` have none. ``time`` is the median time a round, in
    times of UCB-GT on the same draw, or of the fastest learner.

    Repetitions on one expert set are not independent: errors are over the ``units``, the expert sets where there are
    several, else the draws. A single unit has no error.
    """
    import polars as pl

    runs = _runs(curves)
    order = [*learners, *sorted(set(runs["learner"]) - set(learners))]
    known = runs.group_by(SETTING).agg(pl.col("learner").unique())
    against = {tuple(row[:3]): _reference(row[3], order, reference) for row in known.iter_rows()}
    names = pl.DataFrame(
        [(*key, name) for key, name in against.items()],
        schema={**{name: runs.schema[name] for name in SETTING}, "reference": pl.String},
        orient="row",
    )
    runs = runs.join(names, on=SETTING, how="left", maintain_order="left")
    pair = (*SETTING, "expert_set", "draw")
    other = runs.filter(pl.col("learner") == pl.col("reference")).select(*pair, of_reference="regret")
    runs = runs.join(other, on=pair, how="left", maintain_order="left").with_columns(
        difference=pl.col("regret") - pl.col("of_reference")
    )
    rows = _means(runs)
    full = rows.filter(pl.col("learner") == FULL).select(*SETTING, full="regret")
    rows = rows.join(full, on=SETTING, how="left").with_columns(
        ratio=pl.when(pl.col("full") > 0.0).then(pl.col("regret") / pl.col("full")),
        excess=pl.col("regret") - LIMIT[0] * pl.col("full").clip(lower_bound=0.0) - LIMIT[1],
    )
    ranked = rows.filter(~pl.col("learner").is_in(list(apart))).select(
        *SETTING, "learner", rank=pl.col("regret").rank("average").over(SETTING)
    )
    rows = rows.join(ranked, on=(*SETTING, "learner"), how="left").with_columns(within=pl.col("excess") <= 0.0)
    place = pl.col("learner").replace_strict({label: k for k, label in enumerate(order)}, return_dtype=pl.Int64)
    return rows.sort(*SETTING, place).select(
        *SETTING, "rounds", "learner", "repetitions", "units", "regret", "se", "tracking", "tracking_se",
        "reference", "difference", "low", "high", "ratio", "excess", "within", "rank", "time",
    )  # fmt: skip


def _runs(curves: "pl.DataFrame") -> "pl.DataFrame":
    """A row a run: what it came to at the end."""
    import polars as pl

    if "tracked" not in curves.columns:  # results of an earlier version
        curves = curves.with_columns(tracked=pl.col("best"))
    last = curves.filter(pl.col("best").is_not_null()).filter(pl.col("t") == pl.col("t").max().over(SETTING))
    seconds, cell = pl.col("seconds_run"), (*SETTING, "expert_set", "draw")
    clock = seconds.filter(pl.col("learner") == CLOCK).first()
    return last.select(
        *cell,
        "learner",
        rounds="t",
        regret=(pl.col("loss") - pl.col("best")) / pl.col("t"),
        tracking=(pl.col("loss") - pl.col("tracked")) / pl.col("t"),
        time=seconds / pl.coalesce(clock, seconds.min()).over(cell),
    )


def _reference(played: Sequence[str], order: Sequence[str], wanted: str | None) -> str:
    if wanted is not None and wanted in played:
        return wanted
    return FULL if FULL in played else next(label for label in order if label in played)


def _means(runs: "pl.DataFrame") -> "pl.DataFrame":
    """Means over units of the means within each, and their errors; summed in the order of the frame, whose bits are
    the same for any number of workers.
    """
    import polars as pl
    from scipy.special import stdtrit

    group = (*SETTING, "rounds", "learner", "reference")
    several = pl.col("expert_set").n_unique().over(SETTING) > 1
    runs = runs.with_columns(unit=pl.when(several).then(pl.col("expert_set")).otherwise(pl.col("draw")))
    columns = ("regret", "tracking", "difference")
    of_units = runs.group_by(*group, "unit", maintain_order=True).agg(pl.col(columns).mean())
    means = of_units.group_by(group, maintain_order=True).agg(
        pl.col(columns).mean(),
        *((pl.col(name).std(ddof=1) / pl.len().sqrt()).alias(f"{name}_se") for name in columns),
        units=pl.len(),
    )
    counts = runs.group_by(group).agg(pl.col("time").median(), repetitions=pl.len())
    wide = stdtrit(np.maximum(means["units"].to_numpy() - 1, 1), 0.5 + COVERAGE / 2.0)
    reach = pl.Series("reach", wide) * means["difference_se"]
    return means.with_columns(
        low=pl.col("difference") - reach, high=pl.col("difference") + reach, se=pl.col("regret_se")
    ).join(counts, on=group)  # fmt: skip


def overview(finals: "pl.DataFrame") -> "pl.DataFrame":
    """What the final numbers come to, a row a learner, in the order of their ranks; those without come last.

    Medians over settings of R_T / T (``regret``, ``tracking``), of the ratio to FS and of the relative time; the mean
    rank; in how many settings FS was played (``limits``) and the regret is ``within`` 2 FS + 0.002; in how many it is
    ``negative``; by how much it is above the limit at worst (``excess``); the steepest slopes (see `slopes`).
    """
    import polars as pl

    rows = finals.group_by("learner", maintain_order=True).agg(
        settings=pl.len(),
        regret=pl.col("regret").median(),
        tracking=pl.col("tracking").median(),
        ratio=pl.col("ratio").median(),
        rank=pl.col("rank").mean(),
        within=pl.col("within").sum(),
        limits=pl.col("within").count(),
        negative=(pl.col("regret") < 0.0).sum(),
        excess=pl.col("excess").max(),
        time=pl.col("time").median(),
    )
    steepest = slopes(finals).group_by("learner").agg(pl.col("slope", "tracking_slope").max())
    return rows.join(steepest, on="learner", how="left", maintain_order="left").sort(
        "rank", nulls_last=True, maintain_order=True
    )


def slopes(finals: "pl.DataFrame") -> "pl.DataFrame":
    """How regret grows: the slope of log R_T against log T over the numbers of rounds a set was played for, a row for
    each set, cost and learner with several. Regret that is not positive has none.
    """
    import polars as pl

    found = []
    for key, rows in finals.partition_by("dataset", "cost", "learner", as_dict=True, maintain_order=True).items():
        if rows["rounds"].n_unique() > 1:
            found.append((*key, *(_slope(rows["rounds"].to_numpy(), rows[name].to_numpy())
                                  for name in ("regret", "tracking"))))  # fmt: skip
    schema = {"dataset": pl.String, "cost": pl.Float64, "learner": pl.String, "slope": pl.Float64,
              "tracking_slope": pl.Float64}  # fmt: skip
    return pl.DataFrame(found, schema=schema, orient="row")


def _slope(rounds: Ints, regret: Floats) -> float | None:
    if (regret <= 0.0).any():
        return None
    return float(np.polyfit(np.log(rounds), np.log(rounds * regret), 1)[0])


@dataclass(frozen=True, eq=False)
class Table:
    """The final numbers of a study, or of several that share a table."""

    name: str
    title: str
    finals: "pl.DataFrame"
    overview: "pl.DataFrame"
    slopes: "pl.DataFrame"

    @property
    def moves(self) -> bool:
        """Whether the best sequence of experts is another than the best expert."""
        return bool((self.finals["tracking"] != self.finals["regret"]).any())


def check_names(studies: Sequence[Study]) -> None:
    """Raise an error if two tables have the same files. Studies of learners may share a table, others may not."""
    shared = [study.table or study.name for study in with_curves(studies)]
    others = [study.name for study in studies if study.kind != LearnerStudy.kind]
    for name in others:
        if name in shared:
            raise InputError(f"table: expected another name than that of a study of another kind, got {name!r}")
    outputs.check_apart([*shared, *others], "tables")


def table_of(name: str, studies: Sequence[LearnerStudy], curves: "pl.DataFrame") -> list[Table]:
    """The table of studies that share it; none without results."""
    import polars as pl

    rows = pl.concat([_finals(curves.filter(pl.col("study") == study.name), study) for study in studies])
    if not len(rows):
        return []
    titles = "; ".join(dict.fromkeys(study.title or study.name for study in studies))
    return [Table(name, titles, rows, overview(rows), slopes(rows))]


def tables(curves: "pl.DataFrame", studies: Sequence[Study]) -> list[Table]:
    """The tables of these studies, as far as there are results."""
    return [table for study in studies for table in study.tables(curves, studies)]


def _finals(curves: "pl.DataFrame", study: LearnerStudy) -> "pl.DataFrame":
    labels = [learner.label for learner in study.learners]
    return finals(curves, learners=labels, reference=study.reference or None, apart=study.apart)


def write(table: Table, folder: Path) -> tuple[Path, ...]:
    """Write NAME.md, for people, NAME.csv, a row a setting and learner, and NAME.tex, for papers."""
    name = outputs.file_name(table.name)
    folder = outputs.make_folder(folder)
    text = markdown(table.name, table.title, table.finals, table.overview, table.slopes)
    return (
        outputs.write(folder / f"{name}.md", text.encode()),
        outputs.write(folder / f"{name}.csv", table.finals.write_csv().encode()),
        outputs.write(folder / f"{name}.tex", latex(table.name, table.title, table.finals, table.moves).encode()),
    )

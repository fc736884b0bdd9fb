"""Final numbers of studies: one row per setting and learner, and an overview with one row per learner."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .._core.files import check_apart, file_name, make_folder, write_bytes
from ..errors import InputError
from ..typing import Floats, Ints
from .formats import latex, markdown
from .results import with_pseudo
from .study import LearnerStudy, Study, with_curves

if TYPE_CHECKING:
    import polars as pl

FULL = "FS"
"""The learner that sees every label, which others are compared with."""
CLOCK = "UCB-GT"
"""Times are relative to this learner, if it is played."""
LIMIT = (2.0, 0.002)
"""A learner is near FS if its average regret is at most the first times that of FS, plus the second. Negative regret
of FS counts as 0: twice as negative would be no aim."""
SETTING = ("study", "dataset", "cost")
COVERAGE = 0.95


def finals(
    curves: "pl.DataFrame",
    *,
    learners: Sequence[str] = (),
    reference: str | None = None,
    apart: Sequence[str] = (FULL,),
) -> "pl.DataFrame":
    """One row per setting (study, set, cost) and learner, from a results frame.

    ``regret`` is the mean of R_T / T with its standard error ``se``; ``tracking`` is the same against the best sequence
    of experts, ``pseudo`` the same in expected losses, where those of the experts are known. ``difference`` is the
    paired difference to the ``reference``, between ``low`` and ``high`` with 95 % confidence. ``ratio`` is the ratio to
    FS, ``excess`` is ``regret`` minus 2 FS + 0.002 (minus 0.002 if FS is negative), and ``within`` tells whether that
    is at most 0. ``rank`` starts at the least regret. ``time`` is the median time per round, relative to UCB-GT on the
    same draw or to the fastest learner.

    Repetitions on one expert set are not independent. Errors are over the ``units``: the expert sets if there are
    several, otherwise the draws. A single unit has no error.

    Args:
        curves: The results frame.
        learners: The order of the learners; others follow by name.
        reference: The learner to compare with. By default FS if it is played, otherwise the first of the learners.
        apart: Learners that do not compete and have no rank.

    Returns:
        The frame, sorted by setting.
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
        "reference", "difference", "low", "high", "ratio", "excess", "within", "rank", "time", "pseudo", "pseudo_se",
    )  # fmt: skip


def _runs(curves: "pl.DataFrame") -> "pl.DataFrame":
    """One row per run: its numbers at the end."""
    import polars as pl

    if "tracked" not in curves.columns:  # results of an earlier version
        curves = curves.with_columns(tracked=pl.col("best"))
    curves = with_pseudo(curves)
    last = curves.filter(pl.col("best").is_not_null()).filter(pl.col("t") == pl.col("t").max().over(SETTING))
    seconds, cell = pl.col("seconds_run"), (*SETTING, "expert_set", "draw")
    clock = seconds.filter(pl.col("learner") == CLOCK).first()
    return last.select(
        *cell,
        "learner",
        rounds="t",
        regret=(pl.col("loss") - pl.col("best")) / pl.col("t"),
        tracking=(pl.col("loss") - pl.col("tracked")) / pl.col("t"),
        pseudo=pl.col("pseudo") / pl.col("t"),
        time=seconds / pl.coalesce(clock, seconds.min()).over(cell),
    )


def _reference(played: Sequence[str], order: Sequence[str], wanted: str | None) -> str:
    if wanted is not None and wanted in played:
        return wanted
    return FULL if FULL in played else next(label for label in order if label in played)


def _means(runs: "pl.DataFrame") -> "pl.DataFrame":
    """Means over units of the means within each, and their errors.

    They are summed in the order of the frame: the bits are the same for any number of workers.
    """
    import polars as pl
    from scipy.special import stdtrit

    group = (*SETTING, "rounds", "learner", "reference")
    several = pl.col("expert_set").n_unique().over(SETTING) > 1
    runs = runs.with_columns(unit=pl.when(several).then(pl.col("expert_set")).otherwise(pl.col("draw")))
    columns = ("regret", "tracking", "difference", "pseudo")
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
    """Summarise final numbers: one row per learner, sorted by rank; learners without one come last.

    The columns are medians over settings of R_T / T (``regret``, ``tracking``), of the ratio to FS and of the relative
    time; the mean rank; the number of settings in which FS was played (``limits``), in which regret is ``within``
    2 FS + 0.002, and in which it is ``negative``; the largest ``excess``; and the steepest slopes (see `slopes`).
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
    """How regret grows: the slope of log R_T against log T, if a set was played for several numbers of rounds.

    There is one row per set, cost and learner. Regret that is not positive has no slope.
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
class FinalNumbers:
    """The final numbers of a study, or of several that share a table."""

    name: str
    title: str
    finals: "pl.DataFrame"
    overview: "pl.DataFrame"
    slopes: "pl.DataFrame"

    @property
    def moves(self) -> bool:
        """Whether the best sequence of experts differs from the best expert."""
        return bool((self.finals["tracking"] != self.finals["regret"]).any())


def check_names(studies: Sequence[Study]) -> None:
    """Check that no two tables share files. Studies of learners may share a table, others have their own.

    Raises:
        InputError: If two have the same name, or names that lead to the same files.
    """
    shared = [study.table or study.name for study in with_curves(studies)]
    others = [study.name for study in studies if study.kind != LearnerStudy.kind]
    for name in others:
        if name in shared:
            raise InputError(f"table: expected another name than that of a study of another kind, got {name!r}")
    check_apart([*shared, *others], "tables")


def table_of(name: str, studies: Sequence[LearnerStudy], curves: "pl.DataFrame") -> list[FinalNumbers]:
    """The table of studies that share it; empty without results."""
    import polars as pl

    rows = pl.concat([_finals(curves.filter(pl.col("study") == study.name), study) for study in studies])
    if not len(rows):
        return []
    titles = "; ".join(dict.fromkeys(study.title or study.name for study in studies))
    return [FinalNumbers(name, titles, rows, overview(rows), slopes(rows))]


def _finals(curves: "pl.DataFrame", study: LearnerStudy) -> "pl.DataFrame":
    labels = [learner.label for learner in study.learners]
    return finals(curves, learners=labels, reference=study.reference or None, apart=study.apart)


def write(table: FinalNumbers, folder: Path) -> tuple[Path, ...]:
    """Write NAME.md for people, NAME.csv with one row per setting and learner, and NAME.tex for papers."""
    name = file_name(table.name)
    folder = make_folder(folder)
    text = markdown(table.name, table.title, table.finals, table.overview, table.slopes)
    return (
        write_bytes(folder / f"{name}.md", text.encode()),
        write_bytes(folder / f"{name}.csv", table.finals.write_csv().encode()),
        write_bytes(folder / f"{name}.tex", latex(table.name, table.title, table.finals, table.moves).encode()),
    )

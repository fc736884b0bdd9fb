"""The final numbers, and the settings of the studies."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..claims.roles import Roles
from ..claims.settings import MAIN, PAPER
from ..growth import GrowthStudy
from ..logs.study import LogStudy
from ..rows import Rows
from ..spec import AnyStudy
from .markup import table, text

if TYPE_CHECKING:
    import polars as pl


def finals(summary: "pl.DataFrame", titles: Mapping[str, str], studies: Sequence[AnyStudy] = ()) -> str:
    """R_T / T of every learner in every setting, a table a study; studies that share their runs are shown once."""
    import polars as pl

    names = sorted(summary["study"].unique(), key=lambda name: ([*titles, name].index(name), name))
    shared, roles = [name for name in MAIN if name in names], Roles(studies)
    shown = shared[:1] + [name for name in names if name not in MAIN and not roles[name].is_reading]
    parts = []
    for name in shown:
        rows = summary.filter(pl.col("study") == name)
        rows = rows.filter(pl.col("t") == pl.col("t").max().over("dataset", "cost"))
        heading = f"<h3>{text(titles.get(name) or name)} <code>{text(name)}</code></h3>"
        parts.append(f"{heading}\n{_study(rows)}{_below(rows)}")
    return "\n".join(parts)


def _below(rows: "pl.DataFrame") -> str:
    """In how many settings the adversarial learner has less regret than the stochastic flagship."""
    import polars as pl

    if not {"EXP3-ABS", "UCB-GT"} <= set(rows["learner"]):  # first: older versions of Polars cannot pivot a single row
        return ""
    both = rows.pivot(on="learner", index=("dataset", "cost"), values="regret").drop_nulls(("EXP3-ABS", "UCB-GT"))
    fewer = both.filter(pl.col("EXP3-ABS") < pl.col("UCB-GT"))
    return f"\n<p>EXP3-ABS has less than UCB-GT in {len(fewer)} of {len(both)} settings.</p>"


def _study(rows: "pl.DataFrame") -> str:
    learners = sorted(rows["learner"].unique(), key=lambda label: (_place(label), label))
    several, bodies = bool((rows["regret_sd"] > 0).any()), []
    for _, of_set in rows.sort("dataset", "cost").partition_by("dataset", as_dict=True, maintain_order=True).items():
        lines = []
        for (dataset, cost), here in of_set.partition_by("dataset", "cost", as_dict=True, maintain_order=True).items():
            values = {row["learner"]: (row["regret"], row["regret_sd"]) for row in here.iter_rows(named=True)}
            least = min((mean for label, (mean, _) in values.items() if label != "FS"), default=None)
            cells = (_cell(values.get(label), least, label, several) for label in learners)
            lines.append((f"{text(dataset)}, {cost:g}", *cells))
        bodies.append(lines)
    return table(("Set, cost", *learners), bodies, "numbers")


def _place(label: str) -> int:
    """The paper's learners in their order, FS last, others between."""
    first = [paper for paper in PAPER if label == paper or label.startswith(f"{paper},")]
    return len(PAPER) + 1 if label == "FS" else PAPER.index(first[0]) if first else len(PAPER)


def _cell(value: tuple[float, float] | None, least: float | None, label: str, several: bool) -> str:
    """Mean and, with several expert sets, deviation; the least mean is bold."""
    if value is None:
        return ""
    mean, deviation = value
    shown = f"{round(mean, 4) + 0.0:.4f}"  # no -0.0000
    shown = f"<strong>{shown}</strong>" if mean == least and label != "FS" else shown
    return f'{shown}<span class="sd"> ± {deviation:.4f}</span>' if several else shown


def settings(studies: Sequence[AnyStudy]) -> str:
    """A row a study: what was played, how often, from which seed."""
    rows = []
    for study in studies:
        if isinstance(study, GrowthStudy):
            rows.append(_growth(study))
            continue
        if isinstance(study, LogStudy):
            rows.append(_logs(study))
            continue
        pairs = ", ".join(f"{key} = {value}" for key, value in sorted(study.experts.options.items()))
        figure = f"figure {study.figure}" if study.figure else ""
        rows.append(
            (
                f"<code>{text(study.name)}</code><br>{text(study.title)}<br>{text(figure)}",
                text(_played(study.settings)),
                text(f"{study.experts.kind}{f' ({pairs})' if pairs else ''}; {study.scale}"),
                text("; ".join(learner.label for learner in study.learners)),
                text(f"{study.rounds:,}"),
                text(f"{study.expert_sets} × {study.draws}"),  # noqa: RUF001 (a times sign)
                text(study.seed),
            )
        )
    heads = ("Study", "Sets and costs", "Experts; scale", "Learners", "T", "Expert sets × draws", "Seed")  # noqa: RUF001
    return table(heads, [rows], "settings")


def data(files: Sequence[Rows]) -> str:
    """A row a set: the file, its size, and what is odd about it."""
    rows = [
        (
            text(found.dataset),
            text(found.file),
            text(f"{found.rows:,}"),
            text(found.features),
            text(f"{found.positive:.1%}"),
            text("; ".join(found.notes)),
        )
        for found in files
    ]
    return table(("Set", "File", "Rows", "Features", "Share of +1", "Notes"), [rows], "data")


def _growth(study: GrowthStudy) -> tuple[str, ...]:
    return (
        f"<code>{text(study.name)}</code><br>{text(study.title)}",
        text(f"lipschitz, d = {', '.join(map(str, study.dims))}: {study.cost:g}"),
        "none",
        "ContEXP3-ABS",
        text(", ".join(f"{n:,}" for n in study.rounds)),
        text(f"{study.runs} runs"),
        text(study.seed),
    )


def _logs(study: LogStudy) -> tuple[str, ...]:
    return (
        f"<code>{text(study.name)}</code><br>{text(study.title)}",
        text("; ".join(study.logs)),
        "three models, 48 thresholds each",
        text("; ".join(dict.fromkeys(learner.label for learner in study.learners))),
        text(f"{study.rounds:,} at most"),
        text(f"{study.repetitions} seeds"),
        text(study.seed),
    )


def _played(pairs: Sequence[tuple[str, float]]) -> str:
    """Sets with equal costs together: "higgs, eye: 0.1, 0.2"."""
    of_set: dict[str, tuple[float, ...]] = {}
    for dataset, cost in pairs:
        of_set[dataset] = (*of_set.get(dataset, ()), cost)
    costs = dict.fromkeys(of_set.values())
    return "; ".join(
        f"{', '.join(name for name, at in of_set.items() if at == some)}: {', '.join(f'{c:g}' for c in some)}"
        for some in costs
    )

"""What is written and printed of studies of logs."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import outputs
from ..figures.saving import rendered, trying
from ..figures.saving import write as save
from ..figures.style import look
from ..tables import Grid
from ..tables.markdown import grid
from . import goals, over_time
from .results import more_labels as differences
from .results import summary
from .study import LogStudy
from .tables import LogTable, more_labels, tables

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

ROWS = "logs.parquet"
INTRODUCTION = """Per cent of the loss of the threshold tuned on the first tenth with all its labels, on the same log;
below 0 is better. {seeds} Losses count after the first tenth.
"""


def write(studies: Sequence[Any], rows: "pl.DataFrame", out: Path, console: "Console") -> list[str]:
    """Write tables/NAME.md, tables/NAME.csv and figures/NAME-over-time for every study of logs, and print the tables
    of its latest labels. What could not be drawn comes back, a sentence each.
    """
    failed: list[str] = []
    if not any(isinstance(study, LogStudy) for study in studies):
        return failed
    _write_rows(rows, out)
    for study in studies:
        here = rows.filter(study=study.name) if isinstance(study, LogStudy) else rows.clear()
        if not here.is_empty():
            _write_study(study, here, out, console, failed)
    return failed


def _write_rows(rows: "pl.DataFrame", out: Path) -> None:
    stream = io.BytesIO()
    rows.write_parquet(stream)
    outputs.write(out / ROWS, stream.getvalue())


def _write_study(study: LogStudy, rows: "pl.DataFrame", out: Path, console: "Console", failed: list[str]) -> None:
    found = summary(rows)
    shown, judged = tables(study, found), goals.reached(study, found)
    compared = more_labels(study, differences(rows))
    if compared is not None:
        shown.append(compared)
    folder, name = outputs.make_folder(out / "tables"), outputs.file_name(study.name)
    outputs.write(folder / f"{name}.csv", found.write_csv().encode())
    outputs.write(folder / f"{name}.md", page(study, shown, judged).encode())
    files: dict[str, bytes] = {}
    with trying(f"The loss of {study.name} over time", failed), look():
        panels = over_time.over_time(study, rows)
        files = rendered(over_time.draw(panels)) if panels else {}
    if files:
        save(files, out / "figures", f"{name}-over-time")
    for table in shown:
        if table.delay == max(study.delays):
            console.print(Grid(_as_title(table.title), table.heads, table.lines))
    if judged:
        console.print(Grid("Goals", goals.HEADS, judged))
    console.print(f"Tables:  {folder / name}.md", markup=False, highlight=False, soft_wrap=True)


def page(study: LogStudy, shown: Sequence[LogTable], judged: tuple[tuple[str, ...], ...]) -> str:
    """All tables in Markdown."""
    seeds = f"Means over {study.repetitions} seeds from {study.seed} on, and the standard error of that difference."
    if study.repetitions == 1:
        seeds = f"Of 1 seed, {study.seed}."
    parts = [f"# {study.title or study.name}", INTRODUCTION.format(seeds=seeds)]
    if judged:
        parts += ["## Goals\n", grid(goals.HEADS, judged), ""]
    for table in shown:
        parts += [f"## {_as_title(table.title)}\n", grid(table.heads, table.lines), ""]
    return "\n".join(parts)


def _as_title(text: str) -> str:
    return text[0].upper() + text[1:]

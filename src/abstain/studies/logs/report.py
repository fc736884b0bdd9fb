"""What is written and printed of studies of logs."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import outputs
from ..figures.saving import save
from ..figures.style import look
from . import goals, over_time
from .results import more_labels as differences
from .results import summary
from .study import LogStudy
from .tables import LogTable, markdown, more_labels, tables

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

ROWS = "logs.parquet"
INTRODUCTION = """Per cent of the loss of the threshold tuned on the first tenth with all its labels, on the same log;
below 0 is better. Means over {seeds} seeds from {first} on, and the standard error of that difference. Losses count
after the first tenth.
"""


def write(studies: Sequence[Any], rows: "pl.DataFrame", out: Path, console: "Console") -> None:
    """Write tables/NAME.md, tables/NAME.csv and figures/NAME-over-time for every study of logs, and print the tables
    of its latest labels.
    """
    if not any(isinstance(study, LogStudy) for study in studies):
        return
    _write_rows(rows, out)
    for study in studies:
        here = rows.filter(study=study.name) if isinstance(study, LogStudy) else rows.clear()
        if not here.is_empty():
            _write_study(study, here, out, console)


def _write_rows(rows: "pl.DataFrame", out: Path) -> None:
    stream = io.BytesIO()
    rows.write_parquet(stream)
    outputs.write(out / ROWS, stream.getvalue())


def _write_study(study: LogStudy, rows: "pl.DataFrame", out: Path, console: "Console") -> None:
    found = summary(rows)
    shown, judged = tables(study, found), goals.reached(study, found)
    compared = more_labels(study, differences(rows))
    if compared is not None:
        shown.append(compared)
    folder = outputs.make_folder(out / "tables")
    outputs.write(folder / f"{study.name}.csv", found.write_csv().encode())
    outputs.write(folder / f"{study.name}.md", page(study, shown, judged).encode())
    panels = over_time.over_time(study, rows)
    if panels:
        with look():
            save(over_time.draw(panels), out / "figures", f"{study.name}-over-time")
    for table in shown:
        if table.delay == max(study.delays):
            _print(table.title, table.heads, table.lines, console)
    if judged:
        _print("Goals", goals.HEADS, judged, console)
    console.print(f"Tables:  {folder / study.name}.md", markup=False, highlight=False, soft_wrap=True)


def page(study: LogStudy, shown: Sequence[LogTable], judged: tuple[tuple[str, ...], ...]) -> str:
    """All tables in Markdown."""
    parts = [f"# {study.title or study.name}", INTRODUCTION.format(seeds=study.repetitions, first=study.seed)]
    if judged:
        parts += ["## Goals\n", markdown(goals.HEADS, judged), ""]
    for table in shown:
        parts += [f"## {table.title[0].upper()}{table.title[1:]}\n", markdown(table.heads, table.lines), ""]
    return "\n".join(parts)


def _print(title: str, heads: tuple[str, ...], lines: tuple[tuple[str, ...], ...], console: "Console") -> None:
    from rich.markup import escape
    from rich.table import Table

    result = Table(title=title[0].upper() + title[1:])
    for k, head in enumerate(heads):
        result.add_column(escape(head), justify="left" if k == 0 else "right")
    for line in lines:
        result.add_row(*(escape(cell) for cell in line))
    console.print(result)

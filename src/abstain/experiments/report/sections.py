"""What the sections of the report show."""

import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from ..._core.pages import environment
from ..._core.validation import as_count
from ...errors import InputError
from ..claims import MARKS, Verdict, verdicts_said
from ..curves import StudyCurves
from ..evidence import Results
from ..figures import Drawn
from ..formats import Strong, final_cells, meanings, number, overview_cells, repetitions
from ..registry import SECTIONS, collected
from ..study import Study, repeated
from ..style import trying
from ..tables import FinalNumbers

if TYPE_CHECKING:
    import polars as pl
    from jinja2 import Environment
    from rich.console import RenderableType

S = TypeVar("S")


class Cell(NamedTuple):
    """A cell: a text, whether it is bold, and what follows it in small letters."""

    text: str
    strong: bool = False
    after: str = ""


class HtmlTable(NamedTuple):
    """A table of the page. The first column heads the rows; rows of a body belong together."""

    heads: Sequence[str]
    bodies: Sequence[Sequence[Sequence[Cell]]]


@dataclass(frozen=True)
class Section(Generic[S]):
    """A section that a package adds to the report.

    Args:
        number: Its place among the added sections.
        key: Its anchor in the page.
        title: Its title.
        show: A function of `Results` and the verdicts that returns what is shown, or None if there is nothing.
        html: Turns what is shown into HTML; see `render`.
        table: Turns what is shown into something that Rich prints in the terminal.
    """

    number: int
    key: str
    title: str
    show: Callable[[Results, Sequence[Verdict]], S | None]
    html: Callable[[S], str]
    table: "Callable[[S], RenderableType]"

    def __post_init__(self) -> None:
        number = as_count(self.number, "section: number")
        for part in ("show", "html", "table"):
            if not callable(getattr(self, part)):
                raise InputError(f"section {number}: {part}: expected a function, got {getattr(self, part)!r}")


class Shown(NamedTuple):
    """An added section with its content."""

    key: str
    title: str
    html: str
    table: "RenderableType"


def show_sections(results: Results, verdicts: Sequence[Verdict], failed: list[str]) -> list[Shown]:
    """The registered sections that have something to show, by number; ``failed`` gets a sentence for each error."""
    found = []
    for section in collected(SECTIONS, Section):
        with trying(f"Section {section.title}", failed):
            content: Any = section.show(results, verdicts)
            if content is not None:
                found.append(Shown(section.key, section.title, section.html(content), section.table(content)))
    return found


def templates(package: str) -> "Environment":
    """The templates of a package, with those of the report (``pieces.html``) behind them."""
    from jinja2 import ChoiceLoader

    own = environment(package)
    own.loader = ChoiceLoader([loader for loader in (own.loader, environment(__package__).loader) if loader])
    own.filters["pieces"] = pieces
    return own


def render(package: str, template: str, **values: Any) -> str:
    """Render a template of a package as a part of the page.

    Args:
        package: The package with a folder ``templates``.
        template: The name of the file there. It may import the macros of ``pieces.html``.
        values: What the template uses. Texts are escaped.

    Returns:
        HTML.
    """
    return templates(package).get_template(template).render(**values)


def pieces(sentence: object) -> list[str]:
    """Split a sentence into pieces. Every second one is code, which stood between backquotes.

    >>> pieces("Run `abstain demo` first.")
    ['Run ', 'abstain demo', ' first.']
    """
    return re.split("`([^`]+)`", str(sentence))


class Count(NamedTuple):
    """How many claims have a verdict."""

    word: str
    label: str


def tally(verdicts: Sequence[Verdict]) -> list[Count]:
    """How many claims hold, hold in part, fail and were not judged."""
    counts = ((word, sum(verdict.verdict == word for verdict in verdicts)) for word in MARKS)
    return [Count(word, verdicts_said(word, count)) for word, count in counts if count]


LARGEST_SVG = 700_000
"""Bytes up to which a drawing stays SVG, sharp at any size. Larger ones are PNG: the page opens fast."""
_TYPES = {".svg": "image/svg+xml", ".png": "image/png"}


class Image(NamedTuple):
    """A picture of the page."""

    key: str
    """Its anchor, if it has one."""
    alt: str
    title: str
    caption: str
    address: str
    """The image itself as a data address; empty if its files are missing."""


class Curves(NamedTuple):
    """The curves of a study."""

    study: str
    title: str
    images: list[Image]


def figures(drawn: Sequence[Drawn]) -> list[Image]:
    """The numbered figures, in order."""
    found = []
    for figure in sorted(drawn, key=lambda figure: figure.number):
        title = f"Figure {figure.number}. {figure.title}"
        found.append(Image(f"figure-{figure.number}", title, f"{title}.", figure.caption, image(figure.paths)))
    return found


def curves(drawn: Sequence[StudyCurves], titles: Mapping[str, str]) -> list[Curves]:
    """The curves of each study under its title."""
    found = {one.study: Curves(one.study, titles.get(one.study) or one.study, []) for one in drawn}
    for one in drawn:
        title = f"{one.title[0].upper()}{one.title[1:]}."
        found[one.study].images.append(Image("", f"{one.study}: {one.title}", title, one.caption, image(one.paths)))
    return list(found.values())


def image(paths: Sequence[Path]) -> str:
    """A picture as a data address: names inside several SVG files would clash in one page."""
    there = [Path(path) for path in paths if Path(path).suffix in _TYPES and Path(path).is_file()]
    small = [path for path in there if path.suffix == ".svg" and path.stat().st_size <= LARGEST_SVG]
    chosen = next(iter(small + [path for path in there if path.suffix == ".png"] + there), None)
    if chosen is None:
        return ""
    return f"data:{_TYPES[chosen.suffix]};base64,{b64encode(chosen.read_bytes()).decode('ascii')}"


class StudyNumbers(NamedTuple):
    """R_T / T in a study: one row per setting, one column per learner."""

    study: str
    title: str
    table: HtmlTable
    below: tuple[int, int] | None
    """In how many settings EXP3-ABS has less than UCB-GT, and of how many; None if they were not both played."""


def numbers(summary: "pl.DataFrame", titles: Mapping[str, str], studies: Sequence[Study] = ()) -> list[StudyNumbers]:
    """The final regret of every study except other readings. Studies that share their runs are shown once."""
    import polars as pl

    names = sorted(summary["study"].unique(), key=lambda name: ([*titles, name].index(name), name))
    hidden = repeated([study for study in studies if study.name in names])
    hidden |= {study.name for study in studies if study.role == "reading"}
    found = []
    for name in (name for name in names if name not in hidden):
        rows = summary.filter(pl.col("study") == name)
        rows = rows.filter(pl.col("t") == pl.col("t").max().over("dataset", "cost"))
        found.append(StudyNumbers(name, titles.get(name) or name, _number_table(rows), _below(rows)))
    return found


def _below(rows: "pl.DataFrame") -> tuple[int, int] | None:
    import polars as pl

    if not {"EXP3-ABS", "UCB-GT"} <= set(rows["learner"]):  # first: older versions of Polars cannot pivot a single row
        return None
    both = rows.pivot(on="learner", index=("dataset", "cost"), values="regret").drop_nulls(("EXP3-ABS", "UCB-GT"))
    return len(both.filter(pl.col("EXP3-ABS") < pl.col("UCB-GT"))), len(both)


def _number_table(rows: "pl.DataFrame") -> HtmlTable:
    learners = sorted(rows["learner"].unique(), key=lambda label: (_place(label), label))
    several, bodies = bool((rows["regret_sd"] > 0).any()), []
    for _, of_set in rows.sort("dataset", "cost").partition_by("dataset", as_dict=True, maintain_order=True).items():
        body = []
        for (dataset, cost), here in of_set.partition_by("dataset", "cost", as_dict=True, maintain_order=True).items():
            values = {row["learner"]: (row["regret"], row["regret_sd"]) for row in here.iter_rows(named=True)}
            least = min((mean for label, (mean, _) in values.items() if label != "FS"), default=None)
            cells = (_cell(values.get(label), least, label, several) for label in learners)
            body.append([Cell(f"{dataset}, {cost:g}"), *cells])
        bodies.append(body)
    return HtmlTable(("Set, cost", *learners), bodies)


_FIRST = ("UCB", "UCB-NT", "UCB-GT")


def _place(label: str) -> int:
    """These learners and their variants come first, FS last, others between."""
    first = [k for k, name in enumerate(_FIRST) if label == name or label.startswith(f"{name},")]
    return len(_FIRST) + 1 if label == "FS" else first[0] if first else len(_FIRST)


def _cell(value: tuple[float, float] | None, least: float | None, label: str, several: bool) -> Cell:
    """The mean, with the standard deviation over several expert sets. The least mean is bold."""
    if value is None:
        return Cell("")
    mean, deviation = value
    return Cell(number(mean), mean == least and label != "FS", f" ± {deviation:.4f}" if several else "")


FEW_ROWS = 40
"""A table of settings with more rows is folded."""


class Overview(NamedTuple):
    """Final numbers with one row per learner, then one row per setting and learner with paired differences."""

    name: str
    title: str
    learners: HtmlTable
    settings: HtmlTable
    repetitions: str
    is_open: bool


def explained(tables: Sequence[Overview]) -> list[tuple[str, str]]:
    """What the columns mean, each once."""
    return meanings(head for table in tables for head in (*table.learners.heads, *table.settings.heads))


def overview(table: FinalNumbers) -> Overview:
    """The final numbers of a table, for the page."""
    heads, rows = final_cells(table.finals, table.moves)
    first = int(table.finals["study"].n_unique() == 1)  # a single study need not be named in every row
    columns, learners = overview_cells(table.overview)
    learner = heads.index("learner")
    of_settings = [list(group) for _, group in groupby(rows, key=lambda row: row[:learner])]
    return Overview(
        table.name,
        table.title,
        _html_table(columns, [learners]),
        _html_table(heads[first:], [[row[first:] for row in group] for group in of_settings]),
        repetitions(table.finals),
        len(rows) <= FEW_ROWS,
    )


def _html_table(heads: Sequence[str], bodies: Sequence[Sequence[Sequence[str]]]) -> HtmlTable:
    return HtmlTable(
        heads, [[[Cell(cell, isinstance(cell, Strong)) for cell in row] for row in rows] for rows in bodies]
    )

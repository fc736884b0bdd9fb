"""What the sections of the report show."""

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ...paper.readings import Reading
from ..claims import Verdict
from ..curves import StudyCurves
from ..evidence import PAPER, Roles
from ..formats import EXPLAINED, MOVING, Strong, counts, factor, number, settings, shown
from ..study import Study, repeated
from ..tables import Table

if TYPE_CHECKING:
    import polars as pl


class Cell(NamedTuple):
    """A cell: a text, whether it is bold, and what follows it in small letters."""

    text: str
    strong: bool = False
    after: str = ""


class Grid(NamedTuple):
    """A table: the first column heads the rows, which stand together in bodies."""

    heads: Sequence[str]
    bodies: Sequence[Sequence[Sequence[Cell]]]


RINGS = 1
"""The claim that rests on how we read the rings: the lead of UCB-GT over UCB-NT."""
_WORDS = (("holds", "hold"), ("holds in part", "hold in part"), ("fails", "fail"), ("not judged", "not judged"))


class Count(NamedTuple):
    """How many claims have a verdict."""

    word: str
    label: str


def tally(verdicts: Sequence[Verdict]) -> list[Count]:
    """How many hold, hold in part, fail, were not judged."""
    counts = ((word, label, sum(verdict.verdict == word for verdict in verdicts)) for word, label in _WORDS)
    return [Count(word, f"{count} {label}") for word, label, count in counts if count]


def pieces(sentence: object) -> list[str]:
    """A sentence in pieces, every second of which is code, that is, between backquotes.

    >>> pieces("Run `abstain demo` first.")
    ['Run ', 'abstain demo', ' first.']
    """
    return re.split("`([^`]+)`", str(sentence))


LARGEST_SVG = 700_000
"""Bytes up to which a drawing is kept as such, sharp at any size; a larger one is shown as PNG, or the page would grow
beyond what a browser opens at once."""
_TYPES = {".svg": "image/svg+xml", ".png": "image/png"}


class Picture(Protocol):
    """A drawn figure (`figures.Drawn`)."""

    @property
    def number(self) -> int: ...
    @property
    def title(self) -> str: ...
    @property
    def caption(self) -> str: ...
    @property
    def paths(self) -> Sequence[Path]: ...


class Figure(NamedTuple):
    """A figure of the page."""

    key: str
    """Its anchor; none of those that are not the paper's."""
    alt: str
    title: str
    caption: str
    image: str
    """The image itself, as an address; nothing if its files are not there."""


class Curves(NamedTuple):
    """The figures of a study."""

    study: str
    title: str
    figures: list[Figure]


def figures(pictures: Sequence[Picture]) -> list[Figure]:
    """The paper's figures by their numbers."""
    found = []
    for picture in sorted(pictures, key=lambda picture: picture.number):
        title = f"Figure {picture.number}. {picture.title}"
        found.append(Figure(f"figure-{picture.number}", title, f"{title}.", picture.caption, image(picture.paths)))
    return found


def curves(drawn: Sequence[StudyCurves], titles: Mapping[str, str]) -> list[Curves]:
    """The figures of each study under its title."""
    found = {one.study: Curves(one.study, titles.get(one.study) or one.study, []) for one in drawn}
    for one in drawn:
        title = f"{one.title[0].upper()}{one.title[1:]}."
        shown = Figure("", f"{one.study}: {one.title}", title, one.caption, image(one.paths))
        found[one.study].figures.append(shown)
    return list(found.values())


def image(paths: Sequence[Path]) -> str:
    """An image of its own, for the names inside several SVG files would meet in one page."""
    there = [Path(path) for path in paths if Path(path).suffix in _TYPES and Path(path).is_file()]
    small = [path for path in there if path.suffix == ".svg" and path.stat().st_size <= LARGEST_SVG]
    chosen = next(iter(small + [path for path in there if path.suffix == ".png"] + there), None)
    if chosen is None:
        return ""
    return f"data:{_TYPES[chosen.suffix]};base64,{b64encode(chosen.read_bytes()).decode('ascii')}"


class Finals(NamedTuple):
    """R_T / T in a study, a row a setting and a column a learner."""

    study: str
    title: str
    grid: Grid
    below: tuple[int, int] | None
    """In how many settings EXP3-ABS has less than UCB-GT, and of how many; None if they were not both played."""


def finals(summary: "pl.DataFrame", titles: Mapping[str, str], studies: Sequence[Study] = ()) -> list[Finals]:
    """One for each study, but other readings; studies that share their runs are shown once."""
    import polars as pl

    names = sorted(summary["study"].unique(), key=lambda name: ([*titles, name].index(name), name))
    roles, twice = Roles(studies), repeated([study for study in studies if study.name in names])
    found = []
    for name in (name for name in names if name not in twice and not roles[name].is_reading):
        rows = summary.filter(pl.col("study") == name)
        rows = rows.filter(pl.col("t") == pl.col("t").max().over("dataset", "cost"))
        found.append(Finals(name, titles.get(name) or name, _finals_grid(rows), _below(rows)))
    return found


def _below(rows: "pl.DataFrame") -> tuple[int, int] | None:
    import polars as pl

    if not {"EXP3-ABS", "UCB-GT"} <= set(rows["learner"]):  # first: older versions of Polars cannot pivot a single row
        return None
    both = rows.pivot(on="learner", index=("dataset", "cost"), values="regret").drop_nulls(("EXP3-ABS", "UCB-GT"))
    return len(both.filter(pl.col("EXP3-ABS") < pl.col("UCB-GT"))), len(both)


def _finals_grid(rows: "pl.DataFrame") -> Grid:
    learners = sorted(rows["learner"].unique(), key=lambda label: (_place(label), label))
    several, bodies = bool((rows["regret_sd"] > 0).any()), []
    for _, of_set in rows.sort("dataset", "cost").partition_by("dataset", as_dict=True, maintain_order=True).items():
        lines = []
        for (dataset, cost), here in of_set.partition_by("dataset", "cost", as_dict=True, maintain_order=True).items():
            values = {row["learner"]: (row["regret"], row["regret_sd"]) for row in here.iter_rows(named=True)}
            least = min((mean for label, (mean, _) in values.items() if label != "FS"), default=None)
            cells = (_cell(values.get(label), least, label, several) for label in learners)
            lines.append([Cell(f"{dataset}, {cost:g}"), *cells])
        bodies.append(lines)
    return Grid(("Set, cost", *learners), bodies)


def _place(label: str) -> int:
    """The paper's learners in their order, FS last, others between."""
    first = [paper for paper in PAPER if label == paper or label.startswith(f"{paper},")]
    return len(PAPER) + 1 if label == "FS" else PAPER.index(first[0]) if first else len(PAPER)


def _cell(value: tuple[float, float] | None, least: float | None, label: str, several: bool) -> Cell:
    """Mean and, with several expert sets, deviation; the least mean is bold."""
    if value is None:
        return Cell("")
    mean, deviation = value
    return Cell(number(mean), mean == least and label != "FS", f" ± {deviation:.4f}" if several else "")


FEW_ROWS = 40
"""Rows up to which a table of settings is shown at once."""


class Overview(NamedTuple):
    """A table of final numbers, a row a learner; and a row a setting and learner, with paired differences."""

    name: str
    title: str
    grid: Grid
    settings: Grid
    repetitions: str
    """How many there are, in words."""
    is_open: bool


def overviews(tables: Sequence[Table]) -> list[Overview]:
    """One for each table."""
    return [_overview(table) for table in tables]


def explained(tables: Sequence[Overview]) -> list[str]:
    """What the columns are; of streams that move only where there are some."""
    moves = any({"tracking", "slope"} & set(table.grid.heads) for table in tables)
    return [EXPLAINED, MOVING] if moves else [EXPLAINED]


def _overview(table: Table) -> Overview:
    heads, rows = settings(table.finals, table.moves)
    first = int(table.finals["study"].n_unique() == 1)  # then it need not be said
    n = "; ".join(f"{n} repetitions, errors over {units}" for n, units in counts(table.finals))
    columns, learners = shown(table.overview)
    learner = heads.index("learner")
    of_settings = [list(group) for _, group in groupby(rows, key=lambda row: row[:learner])]
    return Overview(
        table.name,
        table.title,
        _table_grid(columns, [learners]),
        _table_grid(heads[first:], [[row[first:] for row in group] for group in of_settings]),
        n,
        len(rows) <= FEW_ROWS,
    )


def _table_grid(heads: Sequence[str], bodies: Sequence[Sequence[Sequence[str]]]) -> Grid:
    return Grid(heads, [[[Cell(cell, isinstance(cell, Strong)) for cell in row] for row in rows] for rows in bodies])


PAIR = ("UCB-NT", "UCB-GT")
"""The learners whose sizes are shown: the lead of the second rests on how the rings are read."""
FEW_SETTINGS = 12
"""Settings up to which the sizes are shown at once."""


class Shapes(NamedTuple):
    """What a reading does to the claims."""

    name: str
    words: list[str]
    """The verdicts, in the order of the columns; nothing where there is none."""
    breaks: str
    worse: list[Verdict]
    """Those it breaks."""


class Sized(NamedTuple):
    """Regret under a reading, a row a setting."""

    name: str
    settings: int
    grid: Grid
    is_open: bool


class Readings(NamedTuple):
    """The section of other readings."""

    claims: list[int]
    shapes: list[Shapes]
    medians: Grid | None
    """A row a reading."""
    sizes: list[Sized]


def readings(found: Sequence[Reading]) -> Readings:
    """All of it; sizes as far as there are any."""
    claims = sorted({verdict.number for reading in found for verdict in reading.verdicts})
    sized = [reading for reading in found if reading.sizes]
    return Readings(
        claims,
        [_shapes(reading, claims) for reading in found],
        Grid(("Reading", *_HEADS, "UCB-GT leads in"), [[_medians(reading) for reading in sized]]) if sized else None,
        [_sizes(reading) for reading in sized],
    )


def _shapes(reading: Reading, claims: Sequence[int]) -> Shapes:
    words = {verdict.number: verdict.verdict for verdict in reading.verdicts}
    worse = [verdict for verdict in reading.verdicts if verdict.number in reading.breaks]
    broken = ", ".join(map(str, reading.breaks)) or "none"
    return Shapes(reading.name, [words.get(number, "") for number in claims], broken, worse)


_HEADS = ("UCB-NT, ours", "UCB-NT, this", "UCB-GT, ours", "UCB-GT, this", "GT / NT, ours", "GT / NT, this")


def _sizes(reading: Reading) -> Sized:
    bodies: dict[str, list[list[Cell]]] = {}
    for size in reading.sizes:
        values = (f"{size.dataset}, {size.cost:g}", *_cells(_both(size.ours), _both(size.here)))
        bodies.setdefault(size.dataset, []).append([Cell(value) for value in values])
    n = len(reading.sizes)
    return Sized(reading.name, n, Grid(("Set, cost", *_HEADS), list(bodies.values())), n <= FEW_SETTINGS)


def _medians(reading: Reading) -> list[Cell]:
    """Over the settings that were played under both readings, where there are such."""
    both = [size for size in reading.sizes if None not in (*_both(size.ours), *_both(size.here))]
    pairs = [[_both(size.ours) for size in both], [_both(size.here) for size in both or reading.sizes]]
    middle = [tuple(_median([pair[k] for pair in some]) for k in (0, 1)) for some in pairs]
    leads = sum(nt is not None and gt is not None and gt < nt for nt, gt in pairs[1])
    cells = _cells(*middle)[:4] + [factor(one) for one in reading.leads]
    return [Cell(text) for text in (reading.name, *cells, f"{leads} of {len(pairs[1])}")]


def _both(regrets: Mapping[str, float] | None) -> tuple[float | None, ...]:
    return tuple((regrets or {}).get(label) for label in PAIR)


def _cells(ours: Sequence[float | None], here: Sequence[float | None]) -> list[str]:
    both = [number(one) for pair in zip(ours, here, strict=True) for one in pair]
    return [*both, factor(_share(ours)), factor(_share(here))]


def _share(pair: Sequence[float | None]) -> float | None:
    """UCB-GT's regret as a share of UCB-NT's; none where that is not positive."""
    nt, gt = pair
    return gt / nt if nt is not None and gt is not None and nt > 0.0 else None


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None

"""Other readings: what they do to the claims, and to the sizes of regret."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from ..claims import Reading, Verdict
from ..tables.cells import factor, number
from .cells import Cell, Grid

PAIR = ("UCB-NT", "UCB-GT")
"""The learners whose sizes are shown: the lead of the second rests on how the rings are read."""
FEW = 12
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
    return Sized(reading.name, n, Grid(("Set, cost", *_HEADS), list(bodies.values())), n <= FEW)


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

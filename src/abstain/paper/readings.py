"""Other readings of the paper: what they do to its claims, as a section of the report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from ..experiments import (
    Cell,
    HtmlTable,
    Results,
    Section,
    Setting,
    Verdict,
    all_claims,
    factor,
    number,
    render,
    verdict,
)

if TYPE_CHECKING:
    from rich.table import Table

PAIR = ("UCB-NT", "UCB-GT")
"""The lead of the second over the first depends on how the rings are read."""
FEW_SETTINGS = 12
"""A table of more settings is folded."""
_WORSE = ("holds", "holds in part", "fails")


@dataclass(frozen=True)
class Sizes:
    """Final regret in one setting."""

    dataset: str
    cost: float
    ours: Mapping[str, float] | None
    """R_T / T under our reading, by learner; None if it was not run there."""
    here: Mapping[str, float]
    """R_T / T under this reading."""


@dataclass(frozen=True)
class Reading:
    """The verdicts under one reading."""

    study: str
    name: str
    verdicts: list[Verdict]
    breaks: tuple[int, ...]
    """The claims that fare worse than under our reading; without our reading, those that do not hold."""
    sizes: tuple[Sizes, ...] = ()

    @property
    def leads(self) -> tuple[float | None, float | None]:
        """The median ratio of UCB-GT's regret to UCB-NT's, under our reading and under this one.

        Medians are over the settings that both have. Claim 1 tells whether the ratio is below 1, this tells the size.
        """
        both = [(sizes.ours, sizes.here) for sizes in self.sizes if sizes.ours is not None]
        here = [here for _, here in both] or [sizes.here for sizes in self.sizes]
        return _lead([ours for ours, _ in both]), _lead(here)


def readings(results: Results, ours: Sequence[Verdict] = ()) -> list[Reading]:
    """Judge the claims under every reading that has results, sorted by study; ``ours`` are the verdicts under ours.

    Studies with the role "reading" are readings.
    """
    before = {one.number: one.verdict for one in ours}
    asked = [claim for claim in all_claims() if claim.of_readings]
    found = []
    for study in (name for name in results.names if name in results.with_role("reading")):
        verdicts = [verdict(claim, results.as_reading(study)) for claim in asked]
        broken = tuple(one.number for one in verdicts if _is_worse(one.verdict, before.get(one.number, "holds")))
        title = results.studies[study].title or study
        reading = Reading(study, title, verdicts, broken, _sizes(results, study))
        found.append(replace(reading, verdicts=[_with_lead(one, reading) for one in verdicts]))
    return found


def _sizes(results: Results, study: str) -> tuple[Sizes, ...]:
    ours = {(s.dataset, s.cost): _regrets(s) for s in results.settings(*results.main)}
    return tuple(Sizes(s.dataset, s.cost, ours.get((s.dataset, s.cost)), _regrets(s)) for s in results.settings(study))


def _regrets(setting: Setting) -> dict[str, float]:
    return {label: setting.regret(label) for label in setting.learners}


def _lead(regrets: Sequence[Mapping[str, float]]) -> float | None:
    ratios = [ratio for one in regrets if (ratio := _ratio(_pair(one))) is not None]
    return median(ratios) if ratios else None


def _pair(regrets: Mapping[str, float] | None) -> tuple[float | None, ...]:
    return tuple((regrets or {}).get(label) for label in PAIR)


def _ratio(pair: Sequence[float | None]) -> float | None:
    """UCB-GT's regret divided by UCB-NT's; None if that is not positive."""
    nt, gt = pair
    return gt / nt if nt is not None and gt is not None and nt > 0.0 else None


def _with_lead(one: Verdict, reading: Reading) -> Verdict:
    """Add to claim 1 how large the lead was before."""
    ours, here = reading.leads
    if one.number != 1 or ours is None or here is None:
        return one
    more = f" In these settings the median was {ours:.2f} under our reading, and is {here:.2f}."
    return replace(one, numbers=one.numbers + more)


def _is_worse(word: str, than: str) -> bool:
    """Whether one verdict is worse than another. "Not judged" is neither better nor worse."""
    judged = word in _WORSE and than in _WORSE
    return judged and _WORSE.index(word) > _WORSE.index(than)


def readings_table(found: Sequence[Reading]) -> "Table":
    """A Rich table: one row per reading with a shape per claim, the claims it breaks, and the median ratios."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    result = Table(title="Other readings (● holds, ◐ in part, ○ fails)", box=box.SIMPLE_HEAD)
    result.add_column("reading")
    asked = sorted({one.number for reading in found for one in reading.verdicts})
    for claim in asked:
        result.add_column(str(claim), justify="center")
    result.add_column("breaks")
    result.add_column("UCB-GT / UCB-NT", justify="right")
    for reading in found:
        marks = {one.number: one.mark for one in reading.verdicts}
        lead = " → ".join(f"{one:.2f}" for one in reading.leads if one is not None)
        result.add_row(Text(reading.name), *(marks.get(claim, "") for claim in asked), _broken(reading), lead)
    return result


def _broken(reading: Reading) -> str:
    return ", ".join(map(str, reading.breaks)) or "none"


class Shapes(NamedTuple):
    """What a reading does to the claims."""

    name: str
    words: list[str]
    """The verdicts in the order of the columns; empty where there is none."""
    breaks: str
    worse: list[Verdict]
    """The verdicts on the claims it breaks."""


class SizeTable(NamedTuple):
    """Regret under a reading: one row per setting."""

    name: str
    settings: int
    table: HtmlTable
    is_open: bool


class Content(NamedTuple):
    """What the section shows."""

    claims: list[int]
    shapes: list[Shapes]
    medians: HtmlTable | None
    """One row per reading; None if no reading has sizes."""
    sizes: list[SizeTable]


_HEADS = ("UCB-NT, ours", "UCB-NT, this", "UCB-GT, ours", "UCB-GT, this", "GT / NT, ours", "GT / NT, this")


def content(found: Sequence[Reading]) -> Content:
    """Arrange readings for the report."""
    claims = sorted({one.number for reading in found for one in reading.verdicts})
    sized = [reading for reading in found if reading.sizes]
    heads = ("Reading", *_HEADS, "UCB-GT leads in")
    return Content(
        claims,
        [_shapes(reading, claims) for reading in found],
        HtmlTable(heads, [[_medians(reading) for reading in sized]]) if sized else None,
        [_size_table(reading) for reading in sized],
    )


def _shapes(reading: Reading, claims: Sequence[int]) -> Shapes:
    words = {one.number: one.verdict for one in reading.verdicts}
    worse = [one for one in reading.verdicts if one.number in reading.breaks]
    return Shapes(reading.name, [words.get(claim, "") for claim in claims], _broken(reading), worse)


def _size_table(reading: Reading) -> SizeTable:
    bodies: dict[str, list[list[Cell]]] = {}
    for size in reading.sizes:
        values = (f"{size.dataset}, {size.cost:g}", *_cells(_pair(size.ours), _pair(size.here)))
        bodies.setdefault(size.dataset, []).append([Cell(value) for value in values])
    n = len(reading.sizes)
    return SizeTable(reading.name, n, HtmlTable(("Set, cost", *_HEADS), list(bodies.values())), n <= FEW_SETTINGS)


def _medians(reading: Reading) -> list[Cell]:
    """Medians over the settings that were played under both readings, if there are any."""
    both = [size for size in reading.sizes if None not in (*_pair(size.ours), *_pair(size.here))]
    pairs = [[_pair(size.ours) for size in both], [_pair(size.here) for size in both or reading.sizes]]
    middle = [tuple(_median([pair[k] for pair in some]) for k in (0, 1)) for some in pairs]
    leads = sum(nt is not None and gt is not None and gt < nt for nt, gt in pairs[1])
    cells = _cells(*middle)[:4] + [factor(one) for one in reading.leads]
    return [Cell(text) for text in (reading.name, *cells, f"{leads} of {len(pairs[1])}")]


def _cells(ours: Sequence[float | None], here: Sequence[float | None]) -> list[str]:
    both = [number(one) for pair in zip(ours, here, strict=True) for one in pair]
    return [*both, factor(_ratio(ours)), factor(_ratio(here))]


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def html(found: Sequence[Reading]) -> str:
    """The section as HTML."""
    return render(__package__, "readings.html", readings=content(found))


READINGS = Section(
    1, "readings", "Other readings", lambda results, ours: readings(results, ours) or None, html, readings_table
)

"""The report's page: one HTML file that needs nothing else, laid out by templates."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ... import datasets
from ..._core.pages import environment
from ...errors import AbstainError
from ...paper.readings import Reading
from ...typing import Array, Floats
from .. import outputs
from ..claims import Verdict
from ..curves import StudyCurves
from ..sets import fingerprint, source
from ..specs import SetSpec
from ..study import Study, said, with_curves
from ..tables import Table
from .sections import RINGS, Picture, curves, explained, figures, finals, overviews, pieces, readings, tally

if TYPE_CHECKING:
    import polars as pl

PACKAGES = ("numpy", "numba", "scipy", "polars", "matplotlib", "joblib")


def versions() -> dict[str, str]:
    """What the results were made with: this library, Python, the packages, the platform."""
    from ... import __version__

    found = {"abstain": __version__, "Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return {**found, "platform": platform.platform()}


class Rows(NamedTuple):
    """A data file, as far as a study uses it."""

    dataset: str
    file: str
    """Its name, size and checksum."""
    rows: int
    features: int
    positive: float
    """The share of +1."""
    notes: tuple[str, ...]
    """What is odd: too few rows, constant features."""


@dataclass(frozen=True)
class Facts:
    """What is known of a run beside its verdicts and figures; only what is given is shown."""

    command: str = ""
    made: str = ""
    """When, in words."""
    seconds: float | None = None
    """How long the whole run took."""
    summary: "pl.DataFrame | None" = None
    """The results' summary (`results.summary`), for the table of final numbers."""
    tables: Sequence[Table] = ()
    """The tables of final numbers, of which the overviews are shown."""
    curves: Sequence[StudyCurves] = ()
    """The curves of studies that the paper's figures do not show."""
    readings: Sequence[Reading] = ()
    missing: Sequence[str] = ()
    """What could not be run or drawn, a sentence each."""
    parts: str = ""
    """How many parts were run, and how many taken from earlier runs."""
    rows: Sequence[Rows] = ()
    """The data files."""
    versions: Mapping[str, str] = field(default_factory=versions)


def rows_of(studies: Sequence[Study], data: Any) -> list[Rows]:
    """The files behind the sets of these studies; those that are computed, or not here, are left out."""
    longest: dict[str, int] = {}
    own: dict[str, SetSpec] = {}
    for study in with_curves(studies):
        longest |= {name: max(study.rounds, longest.get(name, 0)) for name in map(source, study.sets)}
        own |= {one.name: one for one in study.own}
    rows = (
        _own_rows(own[name], rounds) if name in own else _rows(name, rounds, data) for name, rounds in longest.items()
    )
    return [found for found in rows if found is not None]


def _own_rows(spec: SetSpec, rounds: int) -> Rows | None:
    if spec.kind is not None:
        return None
    path = Path(spec.file)
    file = f"{path.name}, {path.stat().st_size} bytes, {spec.code[:8]}" if spec.file else "a table"
    return _described(spec.name, file, *spec.rows("none"), rounds)


def _rows(name: str, rounds: int, data: Any) -> Rows | None:
    if name not in datasets.names or name == "synthetic":
        return None
    try:
        X, y = datasets.load(name, scale=None, data=data)
    except AbstainError:  # not here, or damaged, which is said elsewhere
        return None
    where = datasets.info(name, data=data).found or ""
    file = f"{Path(where).name}, {fingerprint(name, data)}" if Path(where).is_file() else where
    return _described(name, file, X, y, rounds)


def _described(name: str, file: str, X: Floats, y: Array, rounds: int) -> Rows:
    notes = []
    if len(X) < rounds:
        notes.append(f"{len(X):,} rows, fewer than the {rounds:,} rounds: drawn with replacement")
    constant = int((np.ptp(X, axis=0) == 0.0).sum())
    if constant > 0:
        notes.append(f"{constant} of {X.shape[1]} features {'is' if constant == 1 else 'are'} constant")
    return Rows(name, file, len(X), X.shape[1], float((y == 1).mean()), tuple(notes))


def write(
    path: str | os.PathLike[str],
    verdicts: Sequence[Verdict],
    figures: Sequence[Picture],
    studies: Sequence[Study],
    facts: Facts,
) -> Path:
    """Write the report to ``path`` (the old one stays until the new is whole) and return the path."""
    return outputs.write(Path(path), page(verdicts, figures, studies, facts).encode())


def page(verdicts: Sequence[Verdict], drawn: Sequence[Picture], studies: Sequence[Study], facts: Facts) -> str:
    """The page as text: the claims, the figures, the numbers, how they were made."""
    titles = {study.name: study.title for study in studies}
    tables = overviews(facts.tables)
    templates = environment(__package__)
    templates.filters["pieces"] = pieces
    return templates.get_template("report.html").render(
        sections=_sections(verdicts, drawn, studies, facts),
        own=bool(studies) and not verdicts and not any(study.role for study in studies),
        missing=facts.missing,
        verdicts=verdicts,
        tally=tally(verdicts),
        rings=RINGS,
        figures=figures(drawn),
        curves=curves(facts.curves, titles),
        alike=said(studies, [study.name for study in studies if not study.role]),
        numbers=[] if facts.summary is None else finals(facts.summary, titles, studies),
        tables=tables,
        explained=explained(tables),
        readings=readings(facts.readings),
        settings=[study.describe() for study in studies],
        rows=facts.rows,
        run=_run(facts),
    )


def _sections(
    verdicts: Sequence[Verdict], drawn: Sequence[Picture], studies: Sequence[Study], facts: Facts
) -> list[tuple[str, str]]:
    """The templates of the sections there are, and their titles; studies of one's own come before the paper's."""
    first = bool(facts.curves)
    wanted = [
        ("curves", "Curves", first),
        ("tables", "Overview", first and facts.tables),
        ("claims", "Claims", verdicts),
        ("figures", "Figures", drawn),
        ("numbers", "Final numbers", facts.summary is not None and len(facts.summary)),
        ("tables", "Overview", facts.tables and not first),
        ("readings", "Other readings", facts.readings),
        ("settings", "Settings", studies),
        ("data", "Data", facts.rows),
        ("run", "This run", True),
    ]
    return [(key, title) for key, title, is_there in wanted if is_there]


def _run(facts: Facts) -> list[tuple[str, str]]:
    rows = [("command", facts.command), ("made", facts.made)]
    if facts.seconds is not None:
        minutes, seconds = divmod(round(facts.seconds), 60)
        rows.append(("time taken", f"{minutes} min {seconds} s" if minutes else f"{facts.seconds:.1f} s"))
    rows.append(("jobs", facts.parts))
    rows += facts.versions.items()
    return [(name, value) for name, value in rows if value]

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
from ..._core.files import write_bytes
from ...errors import AbstainError
from ...typing import Array, Floats
from ..claims import Verdict
from ..curves import StudyCurves
from ..figures import Drawn
from ..sets import fingerprint, source
from ..specs import SetSpec
from ..study import Study, said, with_curves
from ..tables import FinalNumbers
from .sections import Shown, curves, explained, figures, numbers, overview, tally, templates

if TYPE_CHECKING:
    import polars as pl

PACKAGES = ("numpy", "numba", "scipy", "polars", "matplotlib", "joblib")


def versions() -> dict[str, str]:
    """The versions of this library, of Python and of packages, and the platform."""
    from ... import __version__

    found = {"abstain": __version__, "Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return {**found, "platform": platform.platform()}


class DataFile(NamedTuple):
    """A data file, as far as a study uses it."""

    dataset: str
    file: str
    """Its name, size and checksum."""
    rows: int
    features: int
    positive: float
    """The share of +1."""
    notes: tuple[str, ...]
    """What is unusual: too few rows, constant features."""


def data_files(studies: Sequence[Study], data: Any) -> list[DataFile]:
    """The files behind the sets of studies. Sets that are computed or missing are left out."""
    longest: dict[str, int] = {}
    own: dict[str, SetSpec] = {}
    for study in with_curves(studies):
        longest |= {name: max(study.rounds, longest.get(name, 0)) for name in map(source, study.sets)}
        own |= {one.name: one for one in study.own}
    files = (
        _own_file(own[name], rounds) if name in own else _file(name, rounds, data) for name, rounds in longest.items()
    )
    return [found for found in files if found is not None]


def _own_file(spec: SetSpec, rounds: int) -> DataFile | None:
    if spec.kind is not None or spec.instance is not None:
        return None
    path = Path(spec.file)
    file = f"{path.name}, {path.stat().st_size} bytes, {spec.code[:8]}" if spec.file else "a table"
    return _described(spec.name, file, *spec.rows("none"), rounds)


def _file(name: str, rounds: int, data: Any) -> DataFile | None:
    if name not in datasets.names or name == "synthetic":
        return None
    try:
        X, y = datasets.load(name, scale=None, data=data)
    except AbstainError:  # missing or damaged: the run reports it
        return None
    where = datasets.info(name, data=data).found or ""
    file = f"{Path(where).name}, {fingerprint(name, data)}" if Path(where).is_file() else where
    return _described(name, file, X, y, rounds)


def _described(name: str, file: str, X: Floats, y: Array, rounds: int) -> DataFile:
    notes = []
    if len(X) < rounds:
        notes.append(f"{len(X):,} rows, fewer than the {rounds:,} rounds: drawn with replacement")
    constant = int((np.ptp(X, axis=0) == 0.0).sum())
    if constant > 0:
        notes.append(f"{constant} of {X.shape[1]} features {'is' if constant == 1 else 'are'} constant")
    return DataFile(name, file, len(X), X.shape[1], float((y == 1).mean()), tuple(notes))


@dataclass(frozen=True)
class Facts:
    """What the report shows besides verdicts and figures. Only what is given is shown.

    Args:
        command: The command.
        made: When it was run, in words.
        seconds: How long the whole run took.
        summary: The summary of the results (`results.summary`), for the tables of final regret.
        tables: The final numbers, shown as overviews.
        curves: The curves of studies.
        sections: Sections of other packages.
        missing: One sentence for each thing that could not be run or drawn.
        parts: How many jobs were run, and how many were taken from earlier runs.
        files: The data files.
        versions: The versions of packages.
    """

    command: str = ""
    made: str = ""
    seconds: float | None = None
    summary: "pl.DataFrame | None" = None
    tables: Sequence[FinalNumbers] = ()
    curves: Sequence[StudyCurves] = ()
    sections: Sequence[Shown] = ()
    missing: Sequence[str] = ()
    parts: str = ""
    files: Sequence[DataFile] = ()
    versions: Mapping[str, str] = field(default_factory=versions)


def write(
    path: str | os.PathLike[str],
    verdicts: Sequence[Verdict],
    drawn: Sequence[Drawn],
    studies: Sequence[Study],
    facts: Facts,
) -> Path:
    """Write the report, see `page`, to a file; an old one stays until the new one is complete."""
    return write_bytes(Path(path), page(verdicts, drawn, studies, facts).encode())


def page(verdicts: Sequence[Verdict], drawn: Sequence[Drawn], studies: Sequence[Study], facts: Facts) -> str:
    """The report as HTML: claims, figures, numbers, and how they were made."""
    from markupsafe import Markup

    titles = {study.name: study.title for study in studies}
    tables = [overview(table) for table in facts.tables]
    return (
        templates(__package__)
        .get_template("report.html")
        .render(
            sections=_sections(verdicts, drawn, studies, facts),
            added={shown.key: Markup(shown.html) for shown in facts.sections},
            is_paper=any(study.role for study in studies) or not studies,
            missing=facts.missing,
            verdicts=verdicts,
            tally=tally(verdicts),
            figures=figures(drawn),
            curves=curves(facts.curves, titles),
            alike=said(studies, [study.name for study in studies if not study.role]),
            numbers=[] if facts.summary is None else numbers(facts.summary, titles, studies),
            tables=tables,
            explained=explained(tables),
            studies=[study.describe() for study in studies],
            files=facts.files,
            run=_run(facts),
        )
    )


def _sections(
    verdicts: Sequence[Verdict], drawn: Sequence[Drawn], studies: Sequence[Study], facts: Facts
) -> list[tuple[str, str]]:
    """The sections with content, as pairs of a key and a title. Own studies come before the paper's."""
    first = bool(facts.curves)
    wanted = [
        ("curves", "Curves", first),
        ("tables", "Overview", first and facts.tables),
        ("claims", "Claims", verdicts),
        ("figures", "Figures", drawn),
        ("numbers", "Final numbers", facts.summary is not None and len(facts.summary)),
        ("tables", "Overview", facts.tables and not first),
        *((shown.key, shown.title, True) for shown in facts.sections),
        ("studies", "Studies", studies),
        ("data", "Data", facts.files),
        ("run", "This run", True),
    ]
    return [(key, title) for key, title, has_content in wanted if has_content]


def _run(facts: Facts) -> list[tuple[str, str]]:
    rows = [("command", facts.command), ("made", facts.made)]
    if facts.seconds is not None:
        minutes, seconds = divmod(round(facts.seconds), 60)
        rows.append(("time taken", f"{minutes} min {seconds} s" if minutes else f"{facts.seconds:.1f} s"))
    rows.append(("jobs", facts.parts))
    rows += facts.versions.items()
    return [(name, value) for name, value in rows if value]

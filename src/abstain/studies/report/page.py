"""The page: one file that needs nothing else. What it shows is worked out here, and laid out by templates, a section
each, which escape all of it.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from ..._core.pages import environment
from .. import outputs
from ..claims import Verdict
from ..sharing import said
from ..spec import AnyStudy
from .claims import RINGS, pieces, tally
from .facts import Facts
from .figures import Picture, curves, figures
from .numbers import finals
from .overviews import explained, overviews
from .readings import readings
from .settings import settings


def write(
    path: str | os.PathLike[str],
    verdicts: Sequence[Verdict],
    figures: Sequence[Picture],
    studies: Sequence[AnyStudy],
    facts: Facts,
) -> Path:
    """Write the report to ``path`` (the old one stays until the new is whole) and return the path."""
    return outputs.write(Path(path), page(verdicts, figures, studies, facts).encode())


def page(verdicts: Sequence[Verdict], drawn: Sequence[Picture], studies: Sequence[AnyStudy], facts: Facts) -> str:
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
        settings=settings(studies),
        rows=facts.rows,
        run=_run(facts),
    )


def _sections(
    verdicts: Sequence[Verdict], drawn: Sequence[Picture], studies: Sequence[AnyStudy], facts: Facts
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

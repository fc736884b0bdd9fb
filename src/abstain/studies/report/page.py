"""The page: one file that needs nothing else."""

import os
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from string import Template

from .. import outputs
from ..claims import Verdict
from ..spec import AnyStudy
from . import claims, numbers
from .curves import curves
from .facts import Facts
from .figures import Picture, figure
from .markup import prose, table, text, verdict
from .overviews import overviews


def write(
    path: str | os.PathLike[str],
    verdicts: Sequence[Verdict],
    figures: Sequence[Picture],
    studies: Sequence[AnyStudy],
    facts: Facts,
) -> Path:
    """Write the report to ``path`` (the old one stays until the new is whole) and return the path."""
    return outputs.write(Path(path), page(verdicts, figures, studies, facts).encode())


def page(verdicts: Sequence[Verdict], figures: Sequence[Picture], studies: Sequence[AnyStudy], facts: Facts) -> str:
    """The page as text: the claims, the figures, the numbers, how they were made."""
    sections = []
    titles = {study.name: study.title for study in studies}
    if facts.curves:
        sections.append(("curves", "Curves", curves(facts.curves, titles)))
        if facts.tables:
            sections.append(("tables", "Overview", overviews(facts.tables)))
    if verdicts:
        judged = f'<p class="tally">{claims.tally(verdicts)}</p>\n{claims.claims(verdicts)}'
        sections.append(("claims", "Claims", judged))
    if figures:
        drawn = sorted(figures, key=lambda picture: picture.number)
        sections.append(("figures", "Figures", "\n".join(figure(picture) for picture in drawn)))
    if facts.summary is not None and len(facts.summary):
        sections.append(("numbers", "Final numbers", _NUMBERS + numbers.finals(facts.summary, titles, studies)))
    if facts.tables and not facts.curves:
        sections.append(("tables", "Overview", overviews(facts.tables)))
    if facts.readings:
        sections.append(("readings", "Other readings", _READINGS + claims.readings(facts.readings)))
    if studies:
        sections.append(("settings", "Settings", numbers.settings(studies)))
    if facts.rows:
        sections.append(("data", "Data", numbers.data(facts.rows)))
    sections.append(("run", "This run", _run(facts)))
    return Template(_file("page.html")).substitute(
        style=_file("style.css"),
        lede=_PAPER if verdicts or not facts.curves else _OWN,
        missing=_missing(facts.missing),
        contents="\n".join(f'<a href="#{key}">{text(name)}</a>' for key, name, _ in sections),
        sections="\n".join(
            f'<section id="{k}">\n<h2>{text(name)}</h2>\n{body}\n</section>' for k, name, body in sections
        ),
    )


_PAPER = (
    "The experiments of Cortes, DeSalvo, Gentile, Mohri and Yang, <cite>Online Learning with Abstention</cite> (ICML "
    "2018), run again with the library <code>abstain</code>: what the paper claims, judged from these results by rules "
    "taken from the words of the claims; then its figures, the numbers behind them, and how they were made."
)
_OWN = (
    "Learners that may abstain, compared with the library <code>abstain</code>: their curves, what they come to, "
    "paired differences, and how they were made."
)
_NUMBERS = (
    "<p>Average regret R<sub>T</sub>/T: the mean over draws and expert sets, ± the standard deviation over expert "
    "sets (confidence-based experts are not drawn, so there it is that of the data alone). In bold the least of a row; "
    "FS sees every label and does not compete.</p>\n"
)
_READINGS = (
    "<p>Where the paper leaves room we chose one reading; these are others. A reading breaks a claim that fares worse "
    "under it than under ours. "
    f"{' '.join(verdict(word) for word in ('holds', 'holds in part', 'fails'))}</p>\n"
)


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _missing(sentences: Sequence[str]) -> str:
    if not sentences:
        return ""
    return (
        f'<div class="missing"><p>Missing here:</p><ul>{"".join(f"<li>{prose(s)}</li>" for s in sentences)}</ul></div>'
    )


def _run(facts: Facts) -> str:
    rows = [("command", facts.command), ("made", facts.made)]
    if facts.seconds is not None:
        minutes, seconds = divmod(round(facts.seconds), 60)
        rows.append(("time taken", f"{minutes} min {seconds} s" if minutes else f"{facts.seconds:.1f} s"))
    rows.append(("cells", facts.parts))
    rows += facts.versions.items()
    return table(("", ""), [[(text(name), text(value)) for name, value in rows if value]], "run")

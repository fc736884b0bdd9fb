"""`abstain reproduce`: run studies, then show what came out."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._core.files import check_apart, writing
from ..errors import InputError
from . import claims, figures, registry, report
from . import tables as tabled
from .claims import Claim
from .curves import draw_studies
from .evidence import Results
from .figures import Figure
from .formats import Meanings, TextTable, differences_table, number, overview_table
from .jobs import Job
from .registry import N
from .report import Section
from .results import summary
from .runner import FAILURES, Session, run
from .study import LearnerStudy, Study, earlier, with_curves
from .style import trying
from .toml import of_packages

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

QUICK = (
    "This is a quick run, of one expert set, two draws and 2,000 rounds, unless a study says otherwise (of "
    "ContEXP3-ABS two runs of 10,000): it shows that everything works, and judges nothing."
)
SHOWN = 12
"""Settings whose numbers are printed."""
ROWS = 30
"""Larger tables of paired differences are in the report alone."""


def reproduce(
    wanted: Sequence[Study],
    out: Path,
    *,
    command: str,
    quick: bool = False,
    data: Path | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    console: "Console",
) -> bool:
    """Run studies, then draw, table, judge and report what came out; return whether nothing failed.

    The arguments are those of `runner.run`; ``command`` is what was asked for, in the words of the report.
    """
    start = time.perf_counter()
    wanted = [study.quick() if quick else study for study in wanted]
    check_apart([study.name for study in wanted], "studies")
    tabled.check_names(wanted)
    present = [study.here(data) for study in wanted]
    studies, notes = [study for study, _ in present], [note for _, note in present if note]
    for note in notes:
        _say(console, "yellow", "missing", note)
    judged = [study for study in studies if study.role or study.claims or study.figures]
    asked = _asked(claims.all_claims() if any(study.role for study in judged) else [], judged, "claims")
    wished = _asked(figures.all_figures() if any(study.role for study in judged) else [], judged, "figures")
    broken = of_packages()[1] + [
        sentence
        for group, kind in ((registry.CLAIMS, Claim), (registry.FIGURES, Figure), (registry.SECTIONS, Section))
        for sentence in registry.broken(group, kind)
    ]
    for sentence in broken:
        _say(console, "red", "failed", sentence)
    if quick:
        notes.insert(0, QUICK)
    console.print("At their first use the kernels are compiled, which takes a while.", highlight=False)
    failed: list[str] = []
    games = _games(wished, studies, failed)
    session = run(studies, out, data=data, jobs=jobs, dask=dask, more=games, console=console)
    failed += [text for study in studies for text in study.show(session.frames[study.kind], out, console)]
    if not any(study.in_report for study in studies):
        show_outcome(session, console, failed)
        return not session.failures and not failed
    with console.status("Drawing the figures, judging the claims ...", spinner="line"):
        played = with_curves(studies)
        results = Results(
            session.curves, studies, frames=session.frames, records=session.records, data=data, quick=quick
        )
        pictures = figures.draw_all(results, out / "figures", wished)
        _remove_others(out / "figures", pictures.drawn)
        shown, others = draw_studies(session.curves, played, out / "figures")
        failed += [*pictures.failed, *others]
        alone = {study.name for study in studies if not study.role}
        earliest = [earlier(study, played) for study in played if not study.role]
        stand_in = {study.name for study in earliest if study is not None}
        results = results.of(judged)
        verdicts = claims.judge(results, asked)
        failed += [f"Claim {one.number} could not be judged ({one.failed})." for one in verdicts if one.failed]
        sections = report.show_sections(results, verdicts, failed)
        tables = [table for study in studies for table in study.tables(session.frames[study.kind], studies)]
        for table in tables:
            tabled.write(table, out / "tables")
    means = summary(session.curves)
    facts = report.Facts(
        command=command,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        seconds=time.perf_counter() - start,
        summary=means,
        tables=tables,
        curves=[one for one in shown if one.study in alone | stand_in],
        sections=sections,
        parts=f"{session.n_run:,} run now, {session.n_kept:,} kept from earlier runs",
        files=report.data_files(studies, data),
        missing=[*notes, *broken, *_missing(session), *failed, *_absent(pictures)],
    )
    page = report.write(out / "report.html", verdicts, pictures.drawn, studies, facts)
    with_results = [study for study in played if study.name in session.curves["study"]]
    if with_results and not tables:
        console.print(_finals(means, with_results[0]))
    told: set[str] = set()
    for table in tables:
        printed = [overview_table(table.name, table.overview)]
        if alone.intersection(table.finals["study"]) and len(table.finals) <= ROWS:
            printed.append(differences_table(table, SHOWN))
        for one in printed:
            console.print(one)
            console.print(Meanings([head for head in one.heads if head not in told]))
            told.update(one.heads)
    if verdicts and all(one.quick for one in verdicts):
        console.print(f"Claims: {len(verdicts)} {verdicts[0].label}", highlight=False)
    elif verdicts:
        console.print(claims.table(verdicts))
    for section in sections:
        console.print(section.table)
    for found in facts.files:
        for note in found.notes:
            _say(console, "yellow", "note", f"{found.dataset}: {note}")
    show_outcome(session, console, failed)
    for path in session.paths:
        console.print(f"Results: {path}", markup=False, highlight=False, soft_wrap=True)
    if shown:
        console.print(f"Figures: {out / 'figures'}", markup=False, highlight=False, soft_wrap=True)
    if tables:
        console.print(f"Tables:  {out / 'tables'}", markup=False, highlight=False, soft_wrap=True)
    console.print(f"Report:  {page}", markup=False, highlight=False, soft_wrap=True)
    return not session.failures and not failed


def _asked(known: Sequence[N], studies: Sequence[Study], name: str) -> list[N]:
    """The registered claims or figures and those of the studies, sorted by number."""
    found = {one.number: one for one in known}
    for study in studies:
        for one in getattr(study, name):
            if found.setdefault(one.number, one) is not one:
                raise InputError(f"study {study.name}: {name}: expected another number than {one.number}: it is taken")
    return [found[number] for number in sorted(found)]


def _games(wished: Sequence[Figure[Any]], studies: Sequence[Study], failed: list[str]) -> list[Job]:
    """The games that figures need besides results."""
    jobs: list[Job] = []
    for figure in wished:
        with trying(f"Figure {figure.number}", failed):
            jobs += figure.jobs(studies)
    return jobs


def _finals(table: "pl.DataFrame", study: LearnerStudy) -> TextTable:
    """R_T / T of every learner in the first settings of a study; the report has all."""
    import polars as pl

    last = table.filter((pl.col("study") == study.name) & (pl.col("t") == study.rounds))
    labels = [learner.label for learner in study.learners]
    settings = last.partition_by("dataset", "cost", as_dict=True, maintain_order=True)
    lines = []
    for (dataset, cost), rows in list(settings.items())[:SHOWN]:
        regret = dict(zip(rows["learner"], rows["regret"], strict=True))
        lines.append([f"{dataset}, {cost:g}", *(number(regret[label]) for label in labels)])
    more = f"and {len(settings) - SHOWN} more settings in the report" if len(settings) > SHOWN else ""
    return TextTable(f"Average regret R_T / T, study {study.name}", ["set, cost", *labels], lines, more)


def _missing(session: Session) -> list[str]:
    """What could not be run, a sentence each."""
    failed = f"{len(session.failures):,} jobs failed; {FAILURES} says why." if session.failures else ""
    sets = f"Data sets that are not here: {', '.join(sorted(session.missing))}." if session.missing else ""
    return [sentence for sentence in (sets, failed) if sentence]


def _remove_others(folder: Path, drawn: Sequence[figures.Drawn]) -> None:
    """Figures of an earlier command in the same folder would be taken for this one's."""
    kept = {path for figure in drawn for path in figure.paths}
    for path in folder.glob("figure-*"):
        if path not in kept:
            with writing(path):
                path.unlink()


def _absent(pictures: figures.Pictures) -> list[str]:
    numbers = ", ".join(map(str, pictures.absent))
    return [f"Figures without results in this run: {numbers}."] if numbers else []


def show_outcome(session: Session, console: "Console", failed: Sequence[str] = ()) -> None:
    """What was run, what is missing, what failed; ``failed`` says what could not be drawn or judged."""
    for dataset, why in sorted(session.missing.items()):
        _say(console, "yellow", "missing", why if why.startswith(dataset) else f"{dataset}: {why}")
    by_reason: dict[str, list[str]] = {}
    for record in session.failures:
        by_reason.setdefault(record["failed"], []).append(record["what"])
    for why, parts in by_reason.items():
        more = f" (and {len(parts) - 1:,} more)" if len(parts) > 1 else ""
        _say(console, "red", "failed", f"{parts[0]}{more}: {why}")
    for sentence in failed:
        _say(console, "red", "failed", sentence)
    if by_reason:
        _say(console, "red", "failed", f"tracebacks are in {session.out / FAILURES}")
    counts = f"{session.n_run:,} jobs run, {session.n_kept:,} kept from before, {session.n_missing:,} without data"
    console.print(f"{counts}, {len(session.failures):,} failed; {session.seconds:.1f} s", highlight=False)


def _say(console: "Console", colour: str, head: str, text: str) -> None:
    from rich.markup import escape

    console.print(f"[{colour}]{head}:[/{colour}] {escape(text)}", highlight=False, soft_wrap=True)

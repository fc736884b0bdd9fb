"""`abstain reproduce`: run studies, then show what came out."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ..paper.logs import report as logs
from ..paper.readings import breaks as readings_of
from ..paper.readings import readings_table
from . import claims, figures, outputs, report
from . import tables as tabled
from .curves import draw_studies
from .evidence import known
from .formats import Grid, differences, number, terminal
from .report.page import rows_of
from .results import summary
from .runner import FAILURES, Session, run
from .sets import source
from .study import earlier
from .toml import AnyStudy, LearnerStudy, LogStudy, paper, read, select, shipped

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

QUICK = (
    "This is a quick run, of one expert set, two draws and 2,000 rounds, unless a study says otherwise (of "
    "ContEXP3-ABS two runs of 10,000): it shows that everything works, not whether the paper is right."
)
SHOWN = 12
"""Settings whose numbers are printed."""


def find(name: str) -> list[AnyStudy]:
    """The studies of a name, of which "all" are the paper's, or those of a TOML file."""
    if name.endswith(".toml"):
        return list(read(name).values())
    return select(paper() if name == "all" else shipped(), name)


def reproduce(
    name: str, out: Path, *, quick: bool, data: Path | None, jobs: int | None, dask: str | None, console: "Console"
) -> bool:
    """Run and report; whether nothing failed."""
    start = time.perf_counter()
    figures.known()
    claims.all_claims()  # a figure or claim that is not whole is refused now, not when all is played
    wanted = [study.quick() if quick else study for study in find(name)]
    outputs.check_apart([study.name for study in wanted], "studies")
    tabled.check_names(wanted)
    studies = [study.here(data) if isinstance(study, LearnerStudy) else study for study in wanted]
    notes = [_played_instead(*pair) for pair in zip(wanted, studies, strict=True) if pair[0] != pair[1]]
    for note in notes:
        _say(console, "yellow", "missing", note)
    if quick:
        notes.insert(0, QUICK)
    console.print("At their first use the kernels are compiled, which takes a while.", highlight=False)
    session = run(studies, out, data=data, jobs=jobs, dask=dask, console=console)
    undrawn = logs.write(studies, session.logged, out, console)
    if all(isinstance(study, LogStudy) for study in studies):  # they have nothing to do with the paper's claims
        show_outcome(session, console, undrawn)
        return not session.failures and not undrawn
    with console.status("Drawing the figures, judging the claims ...", spinner="line"):
        judged = [study for study in studies if study.role]
        played = [study for study in studies if isinstance(study, LearnerStudy)]
        pictures = figures.Pictures([], [], [])
        if judged:
            pictures = figures.draw_all(session.curves, out / "figures", played)
        _remove_others(out / "figures", pictures.drawn)
        shown, others = draw_studies(session.curves, played, out / "figures")
        undrawn += [*pictures.failed, *others]
        alone = {study.name for study in studies if not study.role}
        earliest = [earlier(study, played) for study in played if not study.role]
        stand_in = {study.name for study in earliest if study is not None}
        curves = session.curves.filter(session.curves["study"].is_in([study.name for study in judged]))
        verdicts = claims.judge(curves, judged, known(judged, session.grown, data)) if judged else []
        readings = readings_of(curves, verdicts, {study.name: study.title for study in judged}, judged)
        tables = tabled.tables(session.curves, studies)
        for table in tables:
            tabled.write(table, out / "tables")
    means = summary(session.curves)
    facts = report.Facts(
        command=f"abstain reproduce {name}{' --quick' if quick else ''}",
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        seconds=time.perf_counter() - start,
        summary=means,
        tables=tables,
        curves=[one for one in shown if one.study in alone | stand_in],
        readings=readings,
        parts=f"{session.n_run:,} run now, {session.n_kept:,} kept from earlier runs",
        rows=rows_of(studies, data),
        missing=[*notes, *_missing(session), *undrawn, *_absent(pictures)],
    )
    page = report.write(out / "report.html", verdicts, pictures.drawn, studies, facts)
    first = next((study for study in studies if study.name in session.curves["study"]), None)
    if isinstance(first, LearnerStudy):
        console.print(_finals(means, first))
    for table in tables:
        console.print(terminal(table.name, table.overview))
        if alone.intersection(table.finals["study"]):
            console.print(differences(table, SHOWN))
    if verdicts:
        console.print(claims.table(verdicts))
    if readings:
        console.print(readings_table(readings))
    for found in facts.rows:
        for note in found.notes:
            _say(console, "yellow", "note", f"{found.dataset}: {note}")
    show_outcome(session, console, undrawn)
    console.print(f"Results: {session.path}", markup=False, highlight=False, soft_wrap=True)
    if shown:
        console.print(f"Figures: {out / 'figures'}", markup=False, highlight=False, soft_wrap=True)
    if tables:
        console.print(f"Tables:  {out / 'tables'}", markup=False, highlight=False, soft_wrap=True)
    console.print(f"Report:  {page}", markup=False, highlight=False, soft_wrap=True)
    return not session.failures and not undrawn


def _finals(table: "pl.DataFrame", study: LearnerStudy) -> Grid:
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
    return Grid(f"Average regret R_T / T, study {study.name}", ["set, cost", *labels], lines, more)


def _played_instead(wanted: AnyStudy, played: AnyStudy) -> str:
    assert isinstance(wanted, LearnerStudy)
    assert isinstance(played, LearnerStudy)
    sets = list(dict.fromkeys(map(source, wanted.sets)))
    return (
        f"{' and '.join(sets)} {'are' if len(sets) > 1 else 'is'} not here, so {wanted.name} is played on "
        f"{', '.join(played.sets)} instead; to get {'them' if len(sets) > 1 else 'it'}: abstain datasets get "
        f"{' '.join(sets)}"
    )


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
            with outputs.writing(path):
                path.unlink()


def _absent(pictures: figures.Pictures) -> list[str]:
    numbers = ", ".join(map(str, pictures.absent))
    return [f"Figures without results in this run: {numbers}."] if numbers else []


def show_outcome(session: Session, console: "Console", undrawn: Sequence[str] = ()) -> None:
    """What was run, what is missing, what failed, what could not be drawn."""
    for dataset, why in sorted(session.missing.items()):
        _say(console, "yellow", "missing", why if why.startswith(dataset) else f"{dataset}: {why}")
    by_reason: dict[str, list[str]] = {}
    for record in session.failures:
        by_reason.setdefault(record["failed"], []).append(record["what"])
    for why, parts in by_reason.items():
        more = f" (and {len(parts) - 1:,} more)" if len(parts) > 1 else ""
        _say(console, "red", "failed", f"{parts[0]}{more}: {why}")
    for sentence in undrawn:
        _say(console, "red", "failed", sentence)
    if by_reason:
        _say(console, "red", "failed", f"tracebacks are in {session.path.with_name(FAILURES)}")
    counts = f"{session.n_run:,} jobs run, {session.n_kept:,} kept from before, {session.n_missing:,} without data"
    console.print(f"{counts}, {len(session.failures):,} failed; {session.seconds:.1f} s", highlight=False)


def _say(console: "Console", colour: str, head: str, text: str) -> None:
    from rich.markup import escape

    console.print(f"[{colour}]{head}:[/{colour}] {escape(text)}", highlight=False, soft_wrap=True)

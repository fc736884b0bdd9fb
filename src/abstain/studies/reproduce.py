"""`abstain reproduce`: run studies, then show what came out."""

from pathlib import Path
from typing import TYPE_CHECKING

from .runner import FAILURES, Session, run
from .spec import Study, paper, read, select

if TYPE_CHECKING:
    from rich.console import Console


def find(name: str) -> list[Study]:
    """The studies of a name of the paper's, or those of a TOML file."""
    if name.endswith(".toml"):
        return list(read(name).values())
    return select(paper(), name)


def reproduce(
    name: str, out: Path, *, quick: bool, data: Path | None, jobs: int | None, dask: str | None, console: "Console"
) -> bool:
    """Run and report; whether nothing failed."""
    studies = [study.quick() if quick else study for study in find(name)]
    console.print("At their first use the kernels are compiled, which takes a while.", highlight=False)
    session = run(studies, out, data=data, jobs=jobs, dask=dask, console=console)
    finish(session, out, console)
    return not session.failures


def finish(session: Session, out: Path, console: "Console") -> None:
    """Figures, claims, report. The one place where what was run becomes what is shown."""
    for dataset, why in sorted(session.missing.items()):
        console.print(f"[yellow]missing:[/yellow] {dataset}: {why}", highlight=False, soft_wrap=True)
    if session.failures:
        _show_failures(session, out, console)
    kept = session.n_parts - session.n_run - len(session.failures)
    console.print(
        f"{session.n_run:,} cells run, {kept:,} from before or missing, {len(session.failures):,} failed, "
        f"{session.seconds:.0f} s",
        highlight=False,
    )
    console.print(f"Results: {session.path}", highlight=False, soft_wrap=True)


def _show_failures(session: Session, out: Path, console: "Console", most: int = 10) -> None:
    for record in session.failures[:most]:
        console.print(f"[red]failed:[/red] {record['what']}: {record['failed']}", highlight=False, soft_wrap=True)
    if len(session.failures) > most:
        console.print(f"... and {len(session.failures) - most} more", highlight=False)
    console.print(f"Tracebacks: {out / FAILURES}", highlight=False, soft_wrap=True)

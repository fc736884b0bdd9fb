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
    show_outcome(session, console)
    console.print(f"Results: {session.path}", markup=False, highlight=False, soft_wrap=True)


def show_outcome(session: Session, console: "Console") -> None:
    """What was run, what is missing, what failed."""
    for dataset, why in sorted(session.missing.items()):
        _say(console, "yellow", "missing", why if why.startswith(dataset) else f"{dataset}: {why}")
    by_reason: dict[str, list[str]] = {}
    for record in session.failures:
        by_reason.setdefault(record["failed"], []).append(record["what"])
    for why, parts in by_reason.items():
        more = f" (and {len(parts) - 1:,} more)" if len(parts) > 1 else ""
        _say(console, "red", "failed", f"{parts[0]}{more}: {why}")
    if by_reason:
        _say(console, "red", "failed", f"tracebacks are in {session.path.with_name(FAILURES)}")
    counts = f"{session.n_run:,} cells run, {session.n_kept:,} kept from before, {session.n_missing:,} without data"
    console.print(f"{counts}, {len(session.failures):,} failed; {session.seconds:.1f} s", highlight=False)


def _say(console: "Console", colour: str, head: str, text: str) -> None:
    from rich.markup import escape

    console.print(f"[{colour}]{head}:[/{colour}] {escape(text)}", highlight=False, soft_wrap=True)

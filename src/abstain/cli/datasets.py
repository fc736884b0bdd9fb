"""``abstain datasets``: what is here, and getting what is not."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

app = typer.Typer(help="List the data sets: which are here, where, and which are not.", invoke_without_command=True)

Folder = Annotated[
    Path | None, typer.Option("--data", metavar="DIR", help="A folder with data files, looked in first.")
]
Target = Annotated[Path | None, typer.Option("--data", metavar="DIR", help="Where to; the user's cache, if not given.")]


@app.callback()
def listing(context: typer.Context, data: Folder = None) -> None:
    """List the data sets: which are here, where, and which are not."""
    context.obj = data
    if context.invoked_subcommand is not None:
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from .. import datasets
    from ..datasets import loading
    from ..errors import AbstainError

    console = Console()
    table = Table("name", title="data sets")
    table.add_column("rows", justify="right")
    table.add_column("features", justify="right")
    table.add_column("where", overflow="fold")
    missing = []
    try:
        for name in datasets.names:
            info = datasets.info(name, data=data)
            where = "[yellow]not here[/yellow]" if info.found is None else escape(info.found)
            table.add_row(name, f"{info.rows:,}", str(info.features), where)
            if info.found is None:
                missing.append(name)
        looked_in = [
            f"  {folder}" + ("" if folder.is_dir() else " (not there)") for _, folder in loading.searched(data)
        ]
    except AbstainError as error:
        raise _failed(console, error) from None
    console.print(table)
    console.print(
        "Rows are those of the public originals. Looked in:", *looked_in, sep="\n", markup=False, soft_wrap=True
    )
    wanted = [name for name in missing if name not in ("breast-cancer", "digits")]
    if wanted:
        console.print(f"To download: abstain datasets get {' '.join(wanted)}", markup=False, soft_wrap=True)
    if len(wanted) < len(missing):
        console.print("breast-cancer and digits come with scikit-learn: pip install 'abstain[sklearn]'", markup=False)


@app.command()
def get(
    context: typer.Context,
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="The sets to download.")],
    data: Target = None,
) -> None:
    """Download public originals, check them and keep them; a download that was cut goes on."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    from .. import datasets
    from ..errors import AbstainError

    console = Console()
    folder = data if data is not None else context.obj
    failures = 0
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    for name in dict.fromkeys(names):
        tasks: dict[str, TaskID] = {}
        try:
            with Progress(*columns, console=console, transient=True) as bar:

                def report(
                    step: str, done: int, total: int | None, bar: Progress = bar, tasks: dict[str, TaskID] = tasks
                ) -> None:
                    if step not in tasks:
                        tasks[step] = bar.add_task(step, total=total)
                    bar.update(tasks[step], completed=done, total=total)

                path = datasets.fetch(name, data=folder, progress=report)
            console.print(f"{name}: {path}", markup=False, highlight=False, soft_wrap=True)
        except AbstainError as error:
            _failed(console, error)
            failures += 1
        except KeyboardInterrupt:
            console.print("Stopped; what came is kept: the same command goes on from there.")
            raise typer.Exit(130) from None
    if failures:
        raise typer.Exit(1)


def _failed(console: "Console", error: Exception) -> typer.Exit:
    from rich.markup import escape

    console.print(f"[red]error:[/red] {escape(str(error))}", highlight=False, soft_wrap=True)
    return typer.Exit(1)

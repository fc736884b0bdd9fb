"""`abstain datasets` and `abstain datasets get`."""

from pathlib import Path
from typing import Annotated

import typer

from .._core.terminal import progress, say
from .console import ERROR, command, failed

app = typer.Typer(invoke_without_command=True)

Folder = Annotated[Path | None, typer.Option("--data", metavar="DIR", help="A folder with data files, searched first.")]
Target = Annotated[
    Path | None, typer.Option("--data", metavar="DIR", help="The folder to keep them in; by default the user's cache.")
]


@app.callback()
def listing(context: typer.Context, data: Folder = None) -> None:
    """List the data sets: which ones are here, where they are, and which are missing.

    Example: abstain datasets --data ~/data
    """
    context.obj = data
    if context.invoked_subcommand is not None:
        return
    from rich.markup import escape
    from rich.table import Table

    from .. import datasets
    from ..datasets import loading

    with command("datasets") as console:
        table = Table("name", title="data sets")
        table.add_column("rows", justify="right")
        table.add_column("features", justify="right")
        table.add_column("where", overflow="fold")
        missing = []
        for name in datasets.names:
            info = datasets.info(name, data=data)
            where = "[yellow]not here[/yellow]" if info.found is None else escape(info.found)
            table.add_row(name, f"{info.rows:,}", str(info.features), where)
            if info.found is None:
                missing.append(name)
        looked_in = [
            f"  {folder}" + ("" if folder.is_dir() else " (not there)") for _, folder in loading.searched(data)
        ]
        console.print(table)
        say(console, "Rows are those of the public originals. Looked in:", *looked_in)
        wanted = [name for name in missing if name not in ("breast-cancer", "digits")]
        if wanted:
            say(console, f"To download: abstain datasets get {' '.join(wanted)}")
        if len(wanted) < len(missing):
            say(console, "breast-cancer and digits come with scikit-learn: pip install 'abstain[sklearn]'")


@app.command()
def get(
    context: typer.Context,
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="The data sets to download.")],
    data: Target = None,
) -> None:
    """Download public originals, check them and keep them; an interrupted download resumes.

    Example: abstain datasets get covtype skin
    """
    from .. import datasets
    from ..errors import AbstainError

    folder = data if data is not None else context.obj
    failures = 0
    stopped = "Stopped; what came is kept: the same command goes on from there."
    with command("datasets get", stopped=stopped) as console:
        for name in dict.fromkeys(names):
            try:
                with progress(console, in_bytes=True) as report:
                    path = datasets.fetch(name, data=folder, progress=report)
                say(console, f"{name}: {path}")
            except AbstainError as error:
                failed(str(error))
                failures += 1
    if failures:
        raise typer.Exit(ERROR)

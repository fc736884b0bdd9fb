"""The command ``abstain``: one module per subcommand."""

from typing import Annotated

import typer

from .. import __version__
from . import backup, compare, console, datasets, demo, gates, keys, replay, reproduce, serve, warmup

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help='Online learning with the option to say "I don\'t know".'
)
app.add_typer(datasets.app, name="datasets")
app.command()(replay.replay)
app.command()(demo.demo)
app.command()(reproduce.reproduce)
app.command()(compare.compare)
app.command()(warmup.warmup)
app.command()(serve.serve)
app.add_typer(gates.app, name="gates")
app.add_typer(keys.app, name="keys")
app.command()(backup.backup)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    """Online learning with the option to say "I don't know"."""


def run() -> None:
    """Run the command and end the process."""
    console.run_app(app)

"""The command ``abstain``: one module per subcommand."""

from typing import Annotated

import typer

from .. import __version__
from . import backup, compare, console, datasets, demo, gates, keys, replay, reproduce, serve, warmup

_GATES, _SERVICE, _STUDIES, _SET_UP = "What would a gate save?", "Service", "Studies", "Set-up"
"""Groups of commands in the help."""

app = typer.Typer(add_completion=False, no_args_is_help=True)
app.command(rich_help_panel=_GATES)(replay.replay)
app.command(rich_help_panel=_GATES)(demo.demo)
app.command(rich_help_panel=_SERVICE)(serve.serve)
app.add_typer(gates.app, name="gates", rich_help_panel=_SERVICE)
app.add_typer(keys.app, name="keys", rich_help_panel=_SERVICE)
app.command(rich_help_panel=_SERVICE)(backup.backup)
app.command(rich_help_panel=_STUDIES)(reproduce.reproduce)
app.command(rich_help_panel=_STUDIES)(compare.compare)
app.add_typer(datasets.app, name="datasets", rich_help_panel=_STUDIES)
app.command(rich_help_panel=_SET_UP)(warmup.warmup)


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
    """A gate decides, case by case, whether a model answers or a person does, and learns from labels.

    Example: abstain replay log.csv --review-price 1 --mistake-price 5 --unit EUR
    """


def run() -> None:
    """Run the command and end the process."""
    console.run_app(app)

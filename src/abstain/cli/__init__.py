"""The command ``abstain``."""

import typer

from . import datasets, reproduce

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help='Online learning with the option to say "I don\'t know".'
)
app.add_typer(datasets.app, name="datasets")
app.command()(reproduce.reproduce)


@app.callback()
def main() -> None:
    """Online learning with the option to say "I don't know"."""

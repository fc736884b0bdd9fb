"""The command ``abstain``."""

import codecs
import io
import sys
from typing import Annotated

import typer

from .. import __version__
from . import compare, datasets, demo, replay, reproduce, warmup

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help='Online learning with the option to say "I don\'t know".'
)
app.add_typer(datasets.app, name="datasets")
app.command()(replay.replay)
app.command()(demo.demo)
app.command()(reproduce.reproduce)
app.command()(compare.compare)
app.command()(warmup.warmup)


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
    """What the command calls."""
    print_anything()
    app()


LIKE = {"●": "+", "◐": "~", "○": "-", "·": ".", "…": "~", "β": "b"}
"""One character for one, so that tables keep their columns; any other becomes a question mark."""


def _like(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(LIKE.get(character, "?") for character in error.object[error.start : error.end]), error.end


def print_anything() -> None:
    """Make the standard streams take every text, file names that are not text included.

    A terminal of Windows or a pipe may be cp1252, a bare container's ASCII; and a file name with a byte that is no
    character cannot even be written in UTF-8.
    """
    codecs.register_error("abstain", _like)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="abstain")

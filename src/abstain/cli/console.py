"""What all subcommands share: one line for an error, exit codes, Ctrl-C, the standard streams."""

import codecs
import io
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import typer

from .._core import terminal
from .._core.extras import missing
from ..errors import AbstainError

if TYPE_CHECKING:
    from rich.console import Console

ERROR, INTERRUPTED = 2, 130
"""Exit codes."""
LIKE = {"●": "+", "◐": "~", "○": "-", "·": ".", "…": "~", "β": "b"}
"""One character for one, so that tables keep their columns; any other becomes a question mark."""


@contextmanager
def command(name: str, *extras: str, stopped: str = "Interrupted.") -> Iterator["Console"]:
    """Run the body of a subcommand, which may need ``extras`` besides ``cli``; yields the console to print to.

    What goes wrong is one line on stderr and exit code 2, never a traceback; after Ctrl-C ``stopped`` and 130.
    """
    text = missing(f"abstain {name}", *extras)
    if text is not None:
        raise failed(text)
    console = terminal.console()
    try:
        yield console
    except BrokenPipeError:  # the reader of a pipe had enough: not an error
        raise
    except (AbstainError, OSError) as error:
        raise failed(str(error)) from None
    except KeyboardInterrupt:
        terminal.say(console, stopped)
        raise typer.Exit(INTERRUPTED) from None


def failed(text: str) -> typer.Exit:
    """Print an error on stderr, and return the exception that ends the command: one line, wrapped in a terminal."""
    line = f"error: {terminal.printable(text)}"
    with suppress(OSError):  # a full stderr: nobody to tell
        if sys.stderr.isatty():  # between words; a file gets one line
            columns = shutil.get_terminal_size().columns
            line = textwrap.fill(line, columns, break_long_words=False, break_on_hyphens=False)
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
    return typer.Exit(ERROR)


def run_app(app: typer.Typer) -> None:
    """Run the command line and end the process; a standard output that cannot be written is an error, too."""
    _print_anything()
    code: object = 0
    try:
        app()
    except SystemExit as stop:
        code = stop.code
    except OSError as error:  # printing help, say: subcommands handle their own errors
        code = failed(str(terminal.unwritable(error))).exit_code
    try:
        if sys.stdout is not None:  # it is None if the caller closed it
            sys.stdout.flush()
    except OSError as error:
        code = code or failed(str(terminal.unwritable(error))).exit_code
        with suppress(OSError):  # Python flushes once more at the end, and must not fail then
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code if isinstance(code, int) else ERROR)


def _like(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(LIKE.get(character, "?") for character in error.object[error.start : error.end]), error.end


def _print_anything() -> None:
    """Make the standard streams take every text, file names that are not text included.

    A terminal of Windows or a pipe may be cp1252, a bare container's ASCII; and a file name with a byte that is no
    character cannot even be written in UTF-8.
    """
    codecs.register_error("abstain", _like)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="abstain")

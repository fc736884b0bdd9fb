"""Printing in any encoding: what a stream cannot hold is shown by a character like it, never by a traceback."""

import codecs
import io
import sys

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

"""The files of a figure."""

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import InputError
from .. import outputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DATES: dict[str, dict[str, None]] = {"svg": {"Date": None}, "png": {}, "pdf": {"CreationDate": None}}
"""The kinds of files, and what keeps the date out of them: the same picture is the same file."""


@contextmanager
def trying(what: str, failed: list[str]) -> Iterator[None]:
    """Whatever goes wrong inside costs this picture, and no other: it is added to what failed, as a sentence."""
    try:
        yield
    except Exception as error:  # whatever somebody's figure does, or Matplotlib with somebody's names
        failed.append(f"{what} could not be drawn ({type(error).__name__}: {error}).")


def rendered(figure: "Figure") -> dict[str, bytes]:
    """The content of its files, by kind."""
    from matplotlib.figure import Figure as Drawing

    if not isinstance(figure, Drawing):
        raise InputError(f"draw: expected a figure of Matplotlib, got {figure!r}")
    layout = figure.get_layout_engine()
    if layout is not None:
        layout.execute(figure)  # once for all files
        figure.set_layout_engine("none")
    files = {}
    for kind, dates in DATES.items():
        stream = io.BytesIO()
        figure.savefig(stream, format=kind, dpi=150, metadata=dates)
        files[kind] = stream.getvalue()
    return files


def write(files: Mapping[str, bytes], folder: Path, name: str) -> tuple[Path, ...]:
    """Write NAME.svg, NAME.png and NAME.pdf, each in one piece."""
    outputs.make_folder(folder)
    return tuple(outputs.write(folder / f"{name}.{kind}", content) for kind, content in files.items())

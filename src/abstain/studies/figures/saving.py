"""The files of a figure."""

from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import FileError
from ...replacing import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DATES: dict[str, dict[str, None]] = {"svg": {"Date": None}, "png": {}, "pdf": {"CreationDate": None}}
"""The kinds of files, and what keeps the date out of them: the same picture is the same file."""


def save(figure: "Figure", folder: Path, name: str) -> tuple[Path, ...]:
    """Write NAME.svg, NAME.png and NAME.pdf, each in one piece."""
    paths = tuple(folder / f"{name}.{kind}" for kind in DATES)
    layout = figure.get_layout_engine()
    if layout is not None:
        layout.execute(figure)  # once for all files
        figure.set_layout_engine("none")
    for path in paths:
        kind = path.suffix.removeprefix(".")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with replacing(path) as stream:
                figure.savefig(stream, format=kind, dpi=150, metadata=DATES[kind])
        except OSError as error:
            raise FileError(f"{path}: cannot be written: {error.strerror or error}") from error
    return paths

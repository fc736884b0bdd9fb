"""The files of a figure."""

from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import FileError
from ...replacing import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save(figure: "Figure", folder: Path, name: str) -> tuple[Path, Path]:
    """Write NAME.svg and NAME.png, each in one piece."""
    paths = folder / f"{name}.svg", folder / f"{name}.png"
    layout = figure.get_layout_engine()
    if layout is not None:
        layout.execute(figure)  # once for both files
        figure.set_layout_engine("none")
    for path in paths:
        kind = path.suffix.removeprefix(".")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with replacing(path) as stream:
                figure.savefig(stream, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else {})
        except OSError as error:
            raise FileError(f"{path}: cannot be written: {error.strerror or error}") from error
    return paths

"""The files of a figure."""

import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import FileError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save(figure: "Figure", folder: Path, name: str) -> tuple[Path, Path]:
    """Write NAME.svg and NAME.png, each under a temporary name first; the old ones stay until the new are whole."""
    paths = folder / f"{name}.svg", folder / f"{name}.png"
    layout = figure.get_layout_engine()
    if layout is not None:
        layout.execute(figure)  # once for both files
        figure.set_layout_engine("none")
    for path in paths:
        temporary = path.with_name(f".{path.stem}.{uuid.uuid4().hex}{path.suffix}")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            try:
                figure.savefig(temporary, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else {})
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)
        except OSError as error:
            raise FileError(f"{path}: cannot be written: {error.strerror or error}") from error
    return paths

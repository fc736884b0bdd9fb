"""Figures inside the page."""

from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from .markup import text

LARGEST_SVG = 700_000
"""Bytes up to which a drawing is kept as such, sharp at any size; a larger one is shown as PNG, or the page would grow
beyond what a browser opens at once."""
_TYPES = {".svg": "image/svg+xml", ".png": "image/png"}


class Picture(Protocol):
    """A drawn figure (`figures.Drawn`)."""

    @property
    def number(self) -> int: ...
    @property
    def title(self) -> str: ...
    @property
    def caption(self) -> str: ...
    @property
    def paths(self) -> Sequence[Path]: ...


def figure(picture: Picture) -> str:
    """A figure with its title and sentence; the image is part of the page."""
    heading = f"Figure {picture.number}. {picture.title}"
    image = embedded(picture.paths, heading)
    caption = f"<strong>{text(heading)}</strong> {text(picture.caption)}"
    return f'<figure id="figure-{int(picture.number)}">\n{image}\n<figcaption>{caption}</figcaption>\n</figure>'


def embedded(paths: Sequence[Path], heading: str) -> str:
    """The image as part of the page."""
    return _image(paths, heading) or '<p class="small">The files of this figure are not there.</p>'


def _image(paths: Sequence[Path], heading: str) -> str:
    """As an image of its own, for the names inside several SVG files would meet in one page."""
    there = [Path(path) for path in paths if Path(path).suffix in _TYPES and Path(path).is_file()]
    small = [path for path in there if path.suffix == ".svg" and path.stat().st_size <= LARGEST_SVG]
    chosen = next(iter(small + [path for path in there if path.suffix == ".png"] + there), None)
    if chosen is None:
        return ""
    data = b64encode(chosen.read_bytes()).decode("ascii")
    return f'<img alt="{text(heading)}" src="data:{_TYPES[chosen.suffix]};base64,{data}">'

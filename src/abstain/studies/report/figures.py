"""Figures inside the page."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from ..figures import StudyCurves

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


class Figure(NamedTuple):
    """A figure of the page."""

    key: str
    """Its anchor; none of those that are not the paper's."""
    alt: str
    title: str
    caption: str
    image: str
    """The image itself, as an address; nothing if its files are not there."""


class Curves(NamedTuple):
    """The figures of a study."""

    study: str
    title: str
    figures: list[Figure]


def figures(pictures: Sequence[Picture]) -> list[Figure]:
    """The paper's figures by their numbers."""
    found = []
    for picture in sorted(pictures, key=lambda picture: picture.number):
        title = f"Figure {picture.number}. {picture.title}"
        found.append(Figure(f"figure-{picture.number}", title, f"{title}.", picture.caption, image(picture.paths)))
    return found


def curves(drawn: Sequence[StudyCurves], titles: Mapping[str, str]) -> list[Curves]:
    """The figures of each study under its title."""
    found = {one.study: Curves(one.study, titles.get(one.study) or one.study, []) for one in drawn}
    for one in drawn:
        title = f"{one.title[0].upper()}{one.title[1:]}."
        shown = Figure("", f"{one.study}: {one.title}", title, one.caption, image(one.paths))
        found[one.study].figures.append(shown)
    return list(found.values())


def image(paths: Sequence[Path]) -> str:
    """An image of its own, for the names inside several SVG files would meet in one page."""
    there = [Path(path) for path in paths if Path(path).suffix in _TYPES and Path(path).is_file()]
    small = [path for path in there if path.suffix == ".svg" and path.stat().st_size <= LARGEST_SVG]
    chosen = next(iter(small + [path for path in there if path.suffix == ".png"] + there), None)
    if chosen is None:
        return ""
    return f"data:{_TYPES[chosen.suffix]};base64,{b64encode(chosen.read_bytes()).decode('ascii')}"

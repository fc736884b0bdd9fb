"""Tables of numbers as templates lay them out."""

from collections.abc import Sequence
from typing import NamedTuple


class Cell(NamedTuple):
    """A cell: a text, whether it is bold, and what follows it in small letters."""

    text: str
    strong: bool = False
    after: str = ""


class Grid(NamedTuple):
    """A table: the first column heads the rows, which stand together in bodies."""

    heads: Sequence[str]
    bodies: Sequence[Sequence[Sequence[Cell]]]

"""A table as LaTeX, for a paper: needs the package booktabs."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .cells import Strong
from .settings import settings

if TYPE_CHECKING:
    import polars as pl

_SPECIAL = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$",
    "β": r"$\beta$",
}  # fmt: skip

_WORDS = ("study", "set", "learner", "from")
"""Columns that are not numbers."""


def latex(name: str, title: str, finals: "pl.DataFrame", moves: bool) -> str:
    """The final numbers, a row a setting and learner."""
    heads, rows = settings(finals, moves)
    caption = f"{title or name}: average regret at the end, mean and standard error, and the paired difference."
    lines = [
        f"% study {name}, needs \\usepackage{{booktabs}}",
        r"\begin{table}",
        rf"\caption{{{text(caption)}}}",
        rf"\begin{{tabular}}{{{''.join('l' if head in _WORDS else 'r' for head in heads)}}}",
        r"\toprule",
        _line(heads),
        r"\midrule",
        *map(_line, _grouped(rows)),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _grouped(rows: Sequence[Sequence[str]]) -> Iterable[Sequence[str]]:
    """What a row has in common with the one above is not said again."""
    before: Sequence[str] = ()
    for row in rows:
        same = list(row[:4]) == list(before[:4])
        yield [*([""] * 4 if same else row[:4]), *row[4:]]
        before = row


def _line(cells: Iterable[str]) -> str:
    return (
        " & ".join(rf"\textbf{{{text(cell)}}}" if isinstance(cell, Strong) else text(cell) for cell in cells) + r" \\"
    )


def text(value: str) -> str:
    r"""A text that LaTeX prints as it is.

    >>> print(text("a_b & 5 %"))
    a\_b \& 5 \%
    """
    return "".join(_SPECIAL.get(character, character) for character in value)

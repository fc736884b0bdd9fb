"""Pieces of HTML. Everything that comes from outside goes through `text`."""

import re
from collections.abc import Iterable, Sequence
from html import escape

# Shapes, so that a verdict can be read without colour, also on paper.
_RING = '<circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="2"/>'
_SHAPES = {
    "holds": '<circle cx="8" cy="8" r="7" fill="currentColor"/>',
    "holds in part": _RING + '<path d="M8 2 A6 6 0 0 0 8 14 Z" fill="currentColor"/>',
    "fails": _RING,
    "not judged": '<path d="M3 8 H13" stroke="currentColor" stroke-width="2"/>',
}


def text(value: object) -> str:
    """``value`` as text that cannot be taken for markup."""
    return escape(str(value), quote=True)


def prose(value: object) -> str:
    """A sentence as text, what it has between backquotes as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", text(value))


def verdict(word: str, label: str | None = None) -> str:
    """A verdict's shape with its word, or with another label."""
    kind = word.replace(" ", "-")
    shape = f'<svg class="mark" viewBox="0 0 16 16" aria-hidden="true">{_SHAPES[word]}</svg>'
    return f'<span class="verdict {kind}">{shape} {text(word if label is None else label)}</span>'


def shape(word: str) -> str:
    """A verdict's shape alone; its word is read aloud and shown on pointing."""
    return (
        f'<svg class="mark {word.replace(" ", "-")}" viewBox="0 0 16 16" role="img"><title>{text(word)}</title>'
        f"{_SHAPES[word]}</svg>"
    )


def table(heads: Sequence[str], bodies: Iterable[Iterable[Sequence[str]]], kind: str = "") -> str:
    """A table of ready cells, a body for each group of rows; the first column heads the rows."""
    top = "".join(f'<th scope="col">{text(head)}</th>' for head in heads)
    groups = []
    for rows in bodies:
        lines = (f'<tr><th scope="row">{row[0]}</th>{"".join(f"<td>{c}</td>" for c in row[1:])}</tr>' for row in rows)
        groups.append(f"<tbody>\n{chr(10).join(lines)}\n</tbody>")
    return (
        f'<div class="wide"><table class="{kind}"><thead><tr>{top}</tr></thead>\n{chr(10).join(groups)}\n</table></div>'
    )

"""Examples in docstrings as blocks of code: they are written without fences, for doctest."""

from typing import Any

import griffe


def fenced(text: str) -> str:
    """The text with a fence around every example, from its first prompt to the next empty line."""
    lines, inside = [], False
    for line in [*text.split("\n"), ""]:
        if line.startswith(">>>") and not inside:
            lines.append("```python")
            inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    return "\n".join(lines[:-1])


class Fences(griffe.Extension):
    """Applied to every docstring as it is read."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Put fences around the examples of an object's docstring."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)

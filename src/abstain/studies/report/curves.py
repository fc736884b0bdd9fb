"""The curves of studies inside the page."""

from collections.abc import Mapping, Sequence

from ..figures import StudyCurves
from .figures import embedded
from .markup import text


def curves(drawn: Sequence[StudyCurves], titles: Mapping[str, str]) -> str:
    """The figures of each study under its title."""
    parts = []
    for name in dict.fromkeys(one.study for one in drawn):
        parts.append(f"<h3>{text(titles.get(name) or name)} <code>{text(name)}</code></h3>")
        for one in drawn:
            if one.study == name:
                heading = f"{one.title[0].upper()}{one.title[1:]}."
                image = embedded(one.paths, f"{name}: {one.title}")
                caption = f"<strong>{text(heading)}</strong> {text(one.caption)}"
                parts.append(f"<figure>\n{image}\n<figcaption>{caption}</figcaption>\n</figure>")
    return "\n".join(parts)

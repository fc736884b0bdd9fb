"""The site works without a network: a page that would load anything from elsewhere fails the build."""

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

LOADED = re.compile(
    r"""<(?:script|img|iframe|source|embed)\b[^>]*?\bsrc(?:set)?=["'](?:https?:)?//[^"']+
    |<link\b(?![^>]*\brel=["'](?:canonical|author|license)["'])[^>]*?\bhref=["'](?:https?:)?//[^"']+
    |url\(\s*["']?(?:https?:)?//[^)]+
    |@import\s+["'](?:https?:)?//[^"']+""",
    re.VERBOSE,
)


def loaded_from_elsewhere(text: str) -> list[str]:
    """What a page or a style sheet would load from other sites; links that one may follow are no such thing."""
    return LOADED.findall(text)


def check(app: Sphinx, error: Exception | None) -> None:
    """Called by Sphinx when all is written."""
    if error is not None or app.builder.format != "html":
        return
    for path in sorted(Path(app.outdir).rglob("*")):
        if path.suffix in (".html", ".css"):
            for found in loaded_from_elsewhere(path.read_text(encoding="utf-8")):
                raise ExtensionError(f"{path.name}: expected nothing from elsewhere, got {found}")


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("build-finished", check, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The menu: a page's entries are in conf.py, so that the page itself is plain Markdown on any forge."""

from pathlib import Path

from sphinx.application import Sphinx

TOGGLE = '<summary{}><span class="toctree-toggle"'
"""What opens a part of the menu: an icon, which needs a name."""


def with_menu(source: str, entries: list[str]) -> str:
    """The page, and after it a hidden table of contents."""
    return "\n".join([source.rstrip("\n"), "", "```{toctree}", ":hidden:", "", *entries, "```", ""])


def append(app: Sphinx, page: str, source: list[str]) -> None:
    """Called by Sphinx when a page has been read."""
    if page in app.config.pages:
        entries = [
            entry if "<self>" in entry else entry.replace("<", "</") if "<" in entry else f"/{entry}"
            for entry in app.config.pages[page]
        ]  # from the root of the site, wherever the page lies
        source[0] = with_menu(source[0], entries)


def with_names(page: str) -> str:
    """Name what opens a part of the menu, for those who hear the page."""
    return page.replace(TOGGLE.format(""), TOGGLE.format(' aria-label="More pages"'))


def name_toggles(app: Sphinx, error: Exception | None) -> None:
    """Called by Sphinx when all is written."""
    if error is None and app.builder.format == "html":
        for path in Path(app.outdir).rglob("*.html"):
            path.write_text(with_names(path.read_text(encoding="utf-8")), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_config_value("pages", {}, "env")
    app.connect("source-read", append)
    app.connect("build-finished", name_toggles)
    return {"parallel_read_safe": True}

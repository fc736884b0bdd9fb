"""The menu: a page's entries are in conf.py, so that the page itself is plain Markdown on any forge."""

from sphinx.application import Sphinx


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


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_config_value("pages", {}, "env")
    app.connect("source-read", append)
    return {"parallel_read_safe": True}

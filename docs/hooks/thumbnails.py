"""Thumbnails of the gallery have words, and links on them a name: the title of the script whose figure they show."""

import html
import re

from docutils import nodes
from sphinx.application import Sphinx

THUMBNAIL = re.compile(r'alt=""(?P<rest>[^>]*sphx_glr_(?P<script>\w+)_thumb\.\w+")')

LINK = re.compile(
    r'<a class="reference internal"(?P<rest> href="plot_\w+\.html"><span class="doc">(?P<title>[^<]+)</span>)'
)


def name(app: Sphinx, page: str, template: str, context: dict[str, str], doctree: nodes.document | None) -> None:
    """Called by Sphinx for every page that is written."""

    def words(found: re.Match[str]) -> str:
        title = app.env.titles[f"gallery/{found['script']}"].astext()
        return f'alt="The figure of: {html.escape(title)}"{found["rest"]}'

    if "body" in context:
        context["body"] = THUMBNAIL.sub(words, context["body"])
    if page == "gallery/index":  # the style hides the words of the links, also from those who hear the page
        context["body"] = LINK.sub(r'<a class="reference internal" aria-label="\g<title>"\g<rest>', context["body"])


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("html-page-context", name)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

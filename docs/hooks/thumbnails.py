"""Thumbnails of the gallery have words: the title of the script whose figure they show."""

import html
import re

from docutils import nodes
from sphinx.application import Sphinx

THUMBNAIL = re.compile(r'alt=""(?P<rest>[^>]*sphx_glr_(?P<script>\w+)_thumb\.\w+")')


def name(app: Sphinx, page: str, template: str, context: dict[str, str], doctree: nodes.document | None) -> None:
    """Called by Sphinx for every page that is written."""

    def words(found: re.Match[str]) -> str:
        title = app.env.titles[f"gallery/{found['script']}"].astext()
        return f'alt="The figure of: {html.escape(title)}"{found["rest"]}'

    if "body" in context:
        context["body"] = THUMBNAIL.sub(words, context["body"])


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("html-page-context", name)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

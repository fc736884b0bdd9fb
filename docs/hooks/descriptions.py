"""What search engines and previews show of a page: its first paragraph, and a picture."""

import html
import re

from docutils import nodes
from sphinx.application import Sphinx

LONGEST = 200


def first_words(doctree: nodes.document) -> str:
    """Return the first paragraph of a page, cut after a word."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = re.sub(r"\s+", " ", paragraph.astext()).strip()
        if len(text) > 40:
            return text if len(text) <= LONGEST else text[:LONGEST].rsplit(" ", 1)[0].rstrip(",;:") + " ..."
    return ""


def describe(app: Sphinx, page: str, template: str, context: dict[str, str], doctree: nodes.document | None) -> None:
    """Called by Sphinx for every page that is written."""
    words = (first_words(doctree) if doctree is not None else "") or app.config.description
    title = re.sub(r"<[^>]+>", "", context.get("title", "")) or app.config.html_title
    root = app.config.html_baseurl
    picture = f"{root}_static/social.png" if root else context["pathto"]("_static/social.png", resource=True)
    tags = {
        "og:type": "website",
        "og:site_name": "abstain",
        "og:title": title,
        "og:description": words,
        "og:image": picture,
    }
    context["metatags"] = context.get("metatags", "") + "".join(
        [f'<meta name="description" content="{html.escape(words)}" />\n']
        + [
            f'<meta property="{name}" content="{html.escape(html.unescape(value))}" />\n'
            for name, value in tags.items()
        ]
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_config_value("description", "", "html")
    app.connect("html-page-context", describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

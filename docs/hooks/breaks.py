"""Code on narrow screens: where it may be broken in a line, and blocks that can be scrolled by keyboard.

Code in a line is broken after a bracket or a sign, not within a word. Narrow tables need it, and titles such as
abstain.adapters.sklearn.GateClassifier.
"""

import re

from docutils import nodes
from sphinx.application import Sphinx

CODE = re.compile(r'<code class="[^"]*\bliteral\b[^"]*">.*?</code>', re.DOTALL)
TITLE = re.compile(r"(?<=<h1>)[\w.]+(?=<)")  # the name of a class
WORD = re.compile(r'(?<=<span class="pre">)[^<]+')
AFTER = re.compile(r"(?<=[A-Za-z]\w)[(=_./:](?=[\w&])")  # of names: neither 0.5 nor d/(d+2)


def breakable(body: str) -> str:
    """A page with places to break its code; what is copied from it stays the same."""

    def word(found: re.Match[str]) -> str:
        return AFTER.sub(r"\g<0><wbr>", found[0])

    return CODE.sub(lambda code: WORD.sub(word, code[0]), TITLE.sub(word, body))


def scrollable(body: str) -> str:
    """A page whose blocks of code can be reached by keyboard."""
    return body.replace('<div class="highlight"><pre>', '<div class="highlight"><pre tabindex="0">')


def change(app: Sphinx, page: str, template: str, context: dict[str, str], doctree: nodes.document | None) -> None:
    """Called by Sphinx for every page that is written."""
    if "body" in context:
        context["body"] = scrollable(breakable(context["body"]))


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("html-page-context", change)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

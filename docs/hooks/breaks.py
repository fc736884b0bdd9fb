"""Lines on narrow screens: where code may be broken, numbers that stay whole, and blocks scrolled by keyboard.

Code in a line is broken after a bracket or a sign, not within a word. Narrow tables need it, and titles such as
abstain.adapters.sklearn.GateClassifier.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

CODE = re.compile(r'<code class="[^"]*\bliteral\b[^"]*">.*?</code>', re.DOTALL)
TITLE = re.compile(r"(?<=<h1>)[\w.]+(?=<)")  # the name of a class
DOT = re.compile(r"(?<=[a-z])\.(?=\w)")  # of a class in its package
WORD = re.compile(r'(?<=<span class="pre">)[^<]+')
AFTER = re.compile(  # of names: neither 0.5 nor d/(d+2), no dot of a file's ending, nothing within __init__
    r"(?<=[A-Za-z]\w)(?:[(=/:](?=[\w&])|_(?=[A-Za-z0-9&])|\.(?=[\w&])(?!(?:py|md|toml|csv|json|html|db|svg)\b))"
)
PICTURE = re.compile(r"<p>(?=<img [^>]*\b(?:case|terminal|experts|bias)\.svg)")  # as in site.css
FLAG = re.compile(r"--\w+")
NUMBER = re.compile(r"<(?P<kind>pre|code)\b.*?</(?P=kind)>|(?<=\d) %|(?<=\d) ± (?=\d)", re.DOTALL)
FORMULA = re.compile(r'(<span class="formula">(?:(?!</span>).)*</span>)([,.;:)]+)', re.DOTALL)


def breakable(body: str) -> str:
    """A page with places to break its code; what is copied from it stays the same."""

    def word(found: re.Match[str]) -> str:
        return FLAG.sub(r'<span class="whole">\g<0></span>', AFTER.sub(r"\g<0><wbr>", found[0]))

    return CODE.sub(lambda code: WORD.sub(word, code[0]), TITLE.sub(word, body))


def whole(body: str) -> str:
    """A page that breaks no line before a per cent sign, at plus or minus, or between a formula and its comma.

    Code stays as it is.
    """
    body = FORMULA.sub(r'<span class="whole">\1\2</span>', body)
    return NUMBER.sub(lambda found: found[0] if found["kind"] else found[0].replace(" ", "&#160;"), body)


def scrollable(body: str) -> str:
    """A page whose blocks of code, and pictures that scroll on a phone, can be reached by keyboard."""
    body = PICTURE.sub(r'<p tabindex="0">', body)
    return body.replace('<div class="highlight"><pre>', '<div class="highlight"><pre tabindex="0">')


def change(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Called by Sphinx for every page that is written."""
    if "body" in context:
        context["body"] = scrollable(breakable(whole(context["body"])))
    for way in ("prev", "next"):
        if context.get(way):
            context[way] = {**context[way], "title": DOT.sub(".<wbr>", context[way]["title"])}


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("html-page-context", change)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

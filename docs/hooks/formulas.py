"""Formulas as MathML, which every browser draws: KaTeX, from its Python package, translates them on the page."""

from pathlib import Path

from docutils.nodes import Element, SkipNode
from sphinx.application import Sphinx
from sphinx.util.fileutil import copy_asset_file
from sphinx.writers.html5 import HTML5Translator
from sphinxcontrib import katex

TRANSLATE = """document.addEventListener("DOMContentLoaded", () => {
  for (const formula of document.querySelectorAll(".formula"))
    katex.render(formula.textContent, formula, {output: "mathml", displayMode: formula.tagName === "DIV"});
});"""


def inline(self: HTML5Translator, node: Element) -> None:
    """A formula in a line."""
    self.body.append(f'<span class="formula">{self.encode(node.astext())}</span>')
    raise SkipNode


def block(self: HTML5Translator, node: Element) -> None:
    """A formula that stands by itself."""
    self.body.append(f'<div class="formula">{self.encode(node.astext())}</div>\n')
    raise SkipNode


def scripts(app: Sphinx, page: str, template: str, context: dict[str, object], doctree: Element | None) -> None:
    """Only pages with formulas load what translates them."""
    if doctree is not None and any(node.tagname in ("math", "math_block") for node in doctree.findall(Element)):
        app.add_js_file("katex.min.js")
        app.add_js_file(None, body=TRANSLATE)


def copy(app: Sphinx, error: Exception | None) -> None:
    """Put KaTeX beside the pages."""
    if error is None:
        copy_asset_file(Path(katex.__file__).with_name("katex.min.js"), app.outdir / "_static")


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_html_math_renderer("formulas", (inline, None), (block, None))
    app.connect("html-page-context", scripts)
    app.connect("build-finished", copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

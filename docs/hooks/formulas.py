"""Formulas as pictures that are part of the page: they need neither scripts nor a font for mathematics."""

import html

from docutils.nodes import Element, SkipNode
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import text_to_path
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

EM = 100
FONT = FontProperties(size=EM, math_fontfamily="stix")
LETTERS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}


def picture(formula: str) -> str:
    """A formula as SVG, in the size and the colour of the text around it, with its source for those who hear it."""
    text = f"${' '.join(formula.split())}$"
    width, height, depth = text_to_path.get_text_width_height_descent(text, FONT, ismath=True)
    vertices, codes = text_to_path.get_text_path(FONT, text, ismath=True)
    curves = []
    for points, code in Path(vertices, codes).iter_segments(simplify=False):
        pairs = zip(points[::2], points[1::2], strict=True)
        curves.append(
            LETTERS[code] + " ".join(f"{x:.1f},{-y:.1f}" for x, y in pairs if code != Path.CLOSEPOLY)
        )  # upwards is positive there, downwards here
    return (
        f'<svg role="img" aria-label="{html.escape(formula.strip())}" '
        f'viewBox="0 {depth - height:g} {width:g} {height:g}" '
        f'style="width: {width / EM:g}em; height: {height / EM:g}em; vertical-align: {-depth / EM:g}em">'
        f'<path d="{"".join(curves)}"/></svg>'
    )


def inline(self: HTML5Translator, node: Element) -> None:
    """A formula in a line."""
    self.body.append(f'<span class="formula">{picture(node.astext())}</span>')
    raise SkipNode


def block(self: HTML5Translator, node: Element) -> None:
    """A formula that stands by itself: its fractions have room."""
    formula = node.astext().replace(r"\frac", r"\dfrac")
    self.body.append(f'<div class="formula">{picture(formula)}</div>\n')
    raise SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_html_math_renderer("formulas", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

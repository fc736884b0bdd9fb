"""Examples end with an empty line, which doctest needs and readers do not."""

from docutils import nodes
from sphinx.application import Sphinx


def trim(app: Sphinx, doctree: nodes.document) -> None:
    """Called by Sphinx when a page has been read."""
    for block in doctree.findall(nodes.literal_block):
        if block.rawsource == block.astext():  # else it is already coloured
            block.rawsource = block.rawsource.rstrip()
            block[:] = [nodes.Text(block.rawsource)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("doctree-read", trim)
    return {"parallel_read_safe": True}

"""What the library's pages and figures have in common: templates, style sheet and colours.

The templates in `_core/templates` are ``base.html``, a page that needs nothing beside it (its blocks: ``title``,
``policy``, ``head``, ``body``), and ``base.css``, which ``base.html`` includes before the report's own ``report.css``.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

BLUE, VERMILION, GREEN, ORANGE = "#0072B2", "#D55E00", "#009E73", "#E69F00"
PURPLE, SKY, BLACK = "#CC79A7", "#56B4E9", "#000000"
"""Okabe and Ito's colours, which colour-blind people tell apart, without the yellow, which is lost on white."""


def environment(package: str) -> "Environment":
    """Make a Jinja2 environment that escapes whatever is put into a page; a name that is not given is an error.

    The folder ``templates`` of the package is searched first, then the common templates.

    >>> environment("abstain.replay.report").from_string("{{ name }}").render(name="<script>")
    '&lt;script&gt;'
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader(__package__)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

"""What the library's HTML pages have in common: Jinja2, which escapes whatever comes from outside."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


def environment(package: str) -> "Environment":
    """The templates in the folder ``templates`` of a package; a name that is not given is an error.

    >>> environment("abstain.experiments.report").from_string("{{ name }}").render(name="<script>")
    '&lt;script&gt;'
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader(package), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )

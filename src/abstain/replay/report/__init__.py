"""The report of a replay: one page for somebody's boss, which needs nothing beside it.

It is some 5 MB large, for it has Plotly's JavaScript inside, taken from the installed package.
"""

from .page import page, write

__all__ = ["page", "write"]

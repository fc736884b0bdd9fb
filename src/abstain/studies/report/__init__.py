"""The report: one HTML page with the claims, the figures, the numbers and how they were made."""

from .facts import Facts, versions
from .page import page, write

__all__ = ["Facts", "page", "versions", "write"]

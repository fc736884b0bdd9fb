"""The report: one HTML page with the claims, the figures, the numbers and how they were made."""

from .page import Facts, page, versions, write

__all__ = ["Facts", "page", "versions", "write"]

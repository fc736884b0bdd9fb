"""The report: one HTML page with the claims, the figures, the numbers and how they were made."""

from .page import DataFile, Facts, data_files, page, versions, write
from .sections import Cell, HtmlTable, Section, render, show_sections

__all__ = [
    "Cell", "DataFile", "Facts", "HtmlTable", "Section", "data_files", "page", "render", "show_sections", "versions",
    "write",
]  # fmt: skip

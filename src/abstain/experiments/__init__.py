# ruff: noqa: E402 (first of all, whether the extra is there)
"""Experiments: studies, the jobs they are played in, claims about their results, figures and a report.

These names are for people who write studies, claims, figures or sections of the report; `abstain.paper` uses no others.
"""

from .._core.extras import need

need("pydantic", "abstain.experiments", "studies")

from .._core.files import file_name, make_folder
from .._core.files import write_bytes as write
from .._core.pages import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY
from . import seeds
from .claims import (
    IN_ALL,
    PART,
    Claim,
    Failure,
    Finding,
    Verdict,
    Word,
    all_claims,
    by_share,
    judge,
    not_judged,
    verdict,
)
from .curves import (
    LINEAR,
    QUANTITIES,
    START,
    Curve,
    Marks,
    Panel,
    PanelGrid,
    Place,
    describe_bands,
    draw_panels,
    panel_grid,
)
from .evidence import Results, Run, Setting, Trajectory
from .figures import Figure, all_figures
from .formats import Strong, TextTable, factor, markdown_table, number
from .jobs import PUBLISHED, Job, Record
from .model import Count, Items, Keyed, Model, counting, listing, word_of
from .registry import CLAIMS, FIGURES, SECTIONS, STUDIES, register, registered
from .report import Cell, HtmlTable, Section, render
from .sets import GAPPED, INSTANCES, LEAD, LEADING, PROPOSITION_1, MissingDataError, fingerprint
from .specs import ExpertsSpec, LearnerSpec, SetSpec
from .study import Columns, Description, LearnerStudy, Study, with_curves
from .style import GREY, OTHERS, RED, STYLES, Style, look, new_figure, plain, rendered, styles, trying, write_figure
from .toml import StudyFile, of_packages, read, select

__all__ = [
    "BLACK", "BLUE", "CLAIMS", "FIGURES", "GAPPED", "GREEN", "GREY", "INSTANCES", "IN_ALL", "LEAD", "LEADING", "LINEAR",
    "ORANGE", "OTHERS", "PART", "PROPOSITION_1", "PUBLISHED", "PURPLE", "QUANTITIES", "RED", "SECTIONS", "SKY",
    "START", "STUDIES", "STYLES", "Cell", "Claim", "Columns", "Count", "Curve", "Description", "ExpertsSpec",
    "Failure", "Figure", "Finding", "HtmlTable", "Items", "Job", "Keyed", "LearnerSpec", "LearnerStudy", "Marks",
    "MissingDataError", "Model", "Panel", "PanelGrid", "Place", "Record", "Results", "Run", "Section", "SetSpec",
    "Setting", "Strong", "Study", "StudyFile", "Style", "TextTable", "Trajectory", "Verdict", "Word", "all_claims",
    "all_figures", "by_share", "counting", "describe_bands", "draw_panels", "factor", "file_name", "fingerprint",
    "judge", "listing", "look", "make_folder", "markdown_table", "new_figure", "not_judged", "number", "of_packages",
    "panel_grid", "plain", "read", "register", "registered", "render", "rendered", "seeds", "select", "styles",
    "trying", "verdict", "with_curves", "word_of", "write", "write_figure",
]  # fmt: skip

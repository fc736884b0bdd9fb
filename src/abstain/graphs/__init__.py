"""Feedback graphs: self-loops, complete, subset, the instance's own, estimated, any fixed one, and your own.

>>> get("subset")
Subset()
"""

from .base import FeedbackGraph, Moment
from .builtin import (
    abstention,
    complete,
    draw,
    estimated,
    fixed,
    from_parameters,
    get,
    kernel_of,
    self_loops,
    spec,
    subset,
)

__all__ = [
    "FeedbackGraph",
    "Moment",
    "abstention",
    "complete",
    "draw",
    "estimated",
    "fixed",
    "from_parameters",
    "get",
    "kernel_of",
    "self_loops",
    "spec",
    "subset",
]

"""Which labels come back to a gate."""

from typing import Any

from ..engine.feedback import Chances, as_feedback, chances_of
from ..errors import DecisionError, InputError, shown
from .case import ANSWER, REVIEW

NAMES = {"answered": "predicted", "reviewed": "abstained", "both": "both"}
"""The gate's names for the learners' feedback."""
FLOOR, REVIEWED_FLOOR = 0.005, 0.02
"""The least probability of seeing a label; larger where only reviews bring them."""
SOURCES = ("review", "outcome", "audit")


def as_labels(labels: Any) -> tuple[Any, Any]:
    """What was given, by its name if it has one, and the learners' feedback."""
    if isinstance(labels, str):
        if labels not in NAMES:
            raise InputError(f"labels: expected one of {', '.join(NAMES)}, or two probabilities, got {shown(labels)}")
        return labels, NAMES[labels]
    try:
        feedback = as_feedback(labels)
    except InputError:
        expected = f"{', '.join(NAMES)}, or two probabilities (after answering, after a review), not both 0"
        raise InputError(f"labels: expected {expected}, got {shown(labels)}") from None
    return next((name for name, known in NAMES.items() if known == feedback), feedback), feedback


def floor(chances: Chances) -> float:
    """Of the probability that a label is seen."""
    return min(max(chances), FLOOR if chances.predicted > 0.0 else REVIEWED_FLOOR)


def check_source(source: Any, action: str, labels: tuple[Any, Any]) -> None:
    """Raise an error unless a label may come from there, for a case with that action."""
    if source is not None and (not isinstance(source, str) or source not in SOURCES):
        raise InputError(f"source: expected one of {', '.join(SOURCES)}, got {shown(source)}")
    if (source == "review" and action != REVIEW) or (source == "audit" and action != ANSWER):
        raise DecisionError(f"source: the case's action is {action!r}, so its label is not from {source}")
    chances = chances_of(labels[1])
    if chances[int(action == REVIEW)] == 0.0:
        what, other = ("reviewed", "answered") if action == REVIEW else ("answered", "reviewed")
        raise DecisionError(
            f"label: the gate was made with labels={labels[0]!r}, so it learns from cases that were {other} alone, got "
            f'one that was {what}; labels="both" learns from either'
        )

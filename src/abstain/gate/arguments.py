"""The names of models, and of the columns they have in frames."""

import math
from datetime import datetime
from typing import Any

import numpy as np

from .._core.validation import MOST, as_count
from ..capacity import Capacity
from ..engine.feedback import Chances, as_feedback, chances_of
from ..errors import DecisionError, InputError, shown
from ..experts.columns import ALWAYS_ANSWER, ALWAYS_REVIEW, as_thresholds, spaced
from ..typing import Floats
from .answers import Task
from .case import ANSWER, REVIEW

COLUMNS = LABEL, STAKE, TIME = "label", "stake", "time"
ENDS = SURE, ERROR = "_confidence", "_error"
"""What the names of a model's second column end with."""


def as_names(models: Any) -> list[str]:
    """One or more different names of models."""
    names = list(models) if isinstance(models, (list, tuple)) else []
    if not names or not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        raise InputError(f"models: expected a list of different names, got {shown(models)}")
    taken = {*COLUMNS, *(f"{name}{end}" for name in names for end in ENDS)}
    if taken & set(names):
        raise InputError(f"models: {shown(min(taken & set(names)))} is the name of another column of frames")
    return names


def as_time(time: Any, last: int | None, capacity: Capacity | None) -> int | None:
    """Microseconds, of a datetime or of seconds, not before the last case's; None where no time is needed or given."""
    if time is None:
        if capacity is not None and capacity.per_day is not None:
            raise InputError("time: expected one for every case, as the capacity is a number a day, got none")
        return None
    try:
        seconds = time.timestamp() if isinstance(time, datetime) else float(time)
        now = round(seconds * 1e6)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"time: expected a datetime or seconds, got {shown(time)}") from None
    if last is not None and now < last:
        raise InputError(f"time: expected one not before the last case's, got {shown(time)}")
    return now


QUANTILES = 48
LEAST = 0.1
"""Where more than two answers are possible, thresholds begin here; else at a half, below which nobody is."""


def as_levels(thresholds: Any, n_models: int, task: Task) -> Floats | None:
    """The thresholds (P, L) of all models; None for "quantiles", which come from a log."""
    if isinstance(thresholds, str):
        if thresholds != "quantiles":
            raise InputError(f'thresholds: expected a number of them, a list, or "quantiles", got {shown(thresholds)}')
        return None
    if isinstance(thresholds, (int, np.integer)):
        n = as_count(thresholds, "thresholds", least=2, most=MOST // n_models)
        row = spaced(n, 0.5 if task.two else LEAST)
    else:
        given = as_thresholds(thresholds)
        if ((given < 0.0) | (given > 1.0)).any():
            raise InputError(f"thresholds: expected numbers in [0, 1], got {shown(thresholds)}")
        row = np.unique([ALWAYS_ANSWER, *given, ALWAYS_REVIEW])
    return np.tile(row, (n_models, 1))


def as_text(threshold: float, digits: int = 2) -> str:
    """A threshold for people; one near 1 has as many digits as tell it from 1.

    >>> as_text(0.8512), as_text(0.0423), as_text(0.9982), as_text(0.8512, 3)
    ('0.85', '0.042', '0.9982', '0.851')
    """
    if threshold < 0.5:
        return f"{threshold:.{digits}g}"
    near = 1.0 - threshold
    return f"{threshold:.{max(digits, 1 - math.floor(math.log10(near))) if 0.0 < near < 0.05 else digits}f}"


def quantiles(confidence: Floats) -> Floats:
    """Thresholds (P, 48) that divide the confidences (n, P) of a log evenly."""
    levels = np.empty((confidence.shape[1], QUANTILES))
    for m, column in enumerate(confidence.T):
        known = column[~np.isnan(column)]
        if len(known) == 0:
            raise InputError(f"log: expected answers of every model, got none of model {m}")
        levels[m] = np.quantile(known, np.linspace(0.0, 1.0, QUANTILES), method="lower")
    levels[:, 0], levels[:, -1] = ALWAYS_ANSWER, ALWAYS_REVIEW
    return levels


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

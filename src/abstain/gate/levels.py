"""The thresholds of a gate's models."""

import math
from typing import Any

import numpy as np

from ..errors import InputError, shown
from ..experts.levels import ALWAYS_ANSWER, ALWAYS_REVIEW, spaced
from ..experts.thresholds import as_thresholds
from ..tables import MOST, as_count
from ..typing import Floats
from .answers import Task

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

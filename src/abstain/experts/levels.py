"""Thresholds on the confidence of a model that need no data."""

import numpy as np

from ..typing import Floats

ALWAYS_ANSWER, ALWAYS_REVIEW = -1.0, 1.0
"""Every confidence is above the first, none is above the second."""
LARGEST = 0.9995
"""The largest threshold but for the one that never answers."""


def spaced(n: int, least: float) -> Floats:
    """As many thresholds as n says, equally spaced in the logit of the confidence, but for the first and the last.

    >>> spaced(48, 0.5)[[0, 1, 2, -2, -1]].round(3)
    array([-1.   ,  0.54 ,  0.58 ,  0.999,  1.   ])
    """
    low, high = (np.log(p / (1.0 - p)) for p in (least, LARGEST))
    levels = 1.0 / (1.0 + np.exp(-np.linspace(low, high, n)))
    levels[0], levels[-1] = ALWAYS_ANSWER, ALWAYS_REVIEW
    return np.asarray(levels)

"""Whether differences are more than chance: paired tests over expert sets."""

import warnings
from collections.abc import Sequence

import numpy as np

from ...typing import Floats
from .settings import Setting

LEVEL = 0.05
"""Differences are called significant at this level, corrected for the number of settings."""


def p_value(one: Floats, other: Floats) -> float:
    """Of the two-sided paired t test. Differences that are all the same are certain, or none at all."""
    from scipy.stats import ttest_rel

    gaps = one - other
    if np.ptp(gaps) <= 1e-12 * np.abs(gaps).max():
        return 0.0 if gaps.any() else 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # nearly equal differences
        return float(ttest_rel(one, other).pvalue)


def holm(p_values: Sequence[float]) -> Floats:
    """P-values corrected for their number (Holm 1979), in their order.

    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    given = np.asarray(p_values, np.float64)
    order = np.argsort(given)
    stepped = np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1))
    corrected = np.empty_like(given)
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected


def tested(settings: Sequence[Setting], better: str, worse: str) -> str:
    """In how many settings the first has significantly less regret than the second, in words."""
    pairs = [(setting.lines[better].of_sets, setting.lines[worse].of_sets) for setting in settings]
    pairs = [(one, other) for one, other in pairs if len(one) == len(other) > 1]
    if not pairs:
        return "with one expert set there is nothing to test"
    corrected = holm([p_value(one, other) for one, other in pairs])
    n = sum(p <= LEVEL and one.mean() < other.mean() for p, (one, other) in zip(corrected, pairs, strict=True))
    sets = " or ".join(str(size) for size in sorted({len(one) for one, _ in pairs}))
    how = f"paired t tests over {sets} expert sets, {LEVEL:.0%}, Holm's correction"
    return f"significantly so on {n} of {len(pairs)} ({how})"

"""How sure a difference is: blocks of rows, drawn again and again."""

import numpy as np

from ...typing import Floats, Ints

RESAMPLES = 2_000
_AT_A_TIME = 100


def intervals(differences: Floats, sizes: Ints, seed: int) -> tuple[Floats, Floats]:
    """The 95 % intervals of mean differences a row, from their sums in blocks (policies, blocks) of so many rows.

    Blocks are drawn with replacement, as many as there are, 2,000 times; the interval has the middle 95 % of the means.
    Rows that follow each other are alike, so that single rows would promise too much; a block keeps them together. What
    lasts longer than a block, as a drift does, is not in the interval.
    """
    rng = np.random.default_rng([seed, 0xB007])
    n = len(sizes)
    means = np.empty((RESAMPLES, len(differences)))
    for begin in range(0, RESAMPLES, _AT_A_TIME):
        drawn = rng.multinomial(n, np.full(n, 1.0 / n), size=_AT_A_TIME).astype(np.float64)
        means[begin : begin + _AT_A_TIME] = (drawn @ differences.T) / (drawn @ sizes.astype(np.float64))[:, np.newaxis]
    low, high = np.percentile(means, [2.5, 97.5], axis=0)
    return low, high

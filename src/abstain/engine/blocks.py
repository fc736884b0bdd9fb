"""Tables are played and summed in blocks of rows."""

from collections.abc import Iterator

from ..experts import ExpertSet

BLOCK_BYTES = 1 << 20
"""Predictions and abstentions held at once: a block of rounds should stay in the processor's cache ..."""
BLOCK_ROWS = 256
"""... but have no fewer rounds than this, to be worth its overhead."""


def blocks(n: int, experts: ExpertSet) -> Iterator[slice]:
    """The rows 0, ..., n - 1 in blocks of a size that suits the number of predictors and rules."""
    rows = max(BLOCK_ROWS, BLOCK_BYTES // experts.row_bytes)
    for first in range(0, n, rows):
        yield slice(first, min(n, first + rows))

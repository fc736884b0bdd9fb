"""Tables are played and summed in blocks of rows."""

from collections.abc import Iterator

BLOCK_BYTES = 1 << 20
"""Predictions and abstentions held at once: a block of rounds should stay in the processor's cache ..."""
BLOCK_ROWS = 256
"""... but have no fewer rounds than this, to be worth its overhead."""


def blocks(first: int, last: int, row_bytes: int) -> Iterator[slice]:
    """The rows first, ..., last - 1 in blocks of a size that suits what the advice on a row takes."""
    rows = max(BLOCK_ROWS, BLOCK_BYTES // row_bytes)
    for start in range(first, last, rows):
        yield slice(start, min(last, start + rows))

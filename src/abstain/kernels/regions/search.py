"""Regions by the pattern of which rules abstain: patterns are kept as bits and found by a hash."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...typing import Bools, Ints
from ..hashing import mix
from ..jit import inline, kernel

WORD = 64
"""Rules in a word."""


class Patterns(NamedTuple):
    """The patterns of the regions, and how to find them; the first row that is free holds that of the round."""

    n_regions: Ints  # (1,)
    bits: NDArray[np.uint64]  # (capacity, W) bit b of word w is rule 64 w + b
    heads: Ints  # (a power of 2,) the last region of a place of the hash, or -1
    chain: Ints  # (capacity,) the one before it in that place, or -1


@inline
def pack(abstains: Bools, row: Any) -> None:
    """A pattern as bits."""
    for w in range(np.uint64(row.size)):
        word, first = np.uint64(0), w * np.uint64(WORD)
        for b in range(min(np.uint64(WORD), np.uint64(abstains.size) - first)):
            word |= np.uint64(abstains[first + b]) << b
        row[w] = word


@inline
def unpack(row: Any, abstains: Bools) -> None:
    """A pattern from its bits."""
    for a in range(np.uint64(abstains.size)):
        abstains[a] = (row[a // np.uint64(WORD)] >> (a % np.uint64(WORD))) & np.uint64(1) != np.uint64(0)


@inline
def _place(region: int, patterns: Patterns) -> Any:
    """Where a pattern is in the table of the hash."""
    key = np.uint64(0)
    for w in range(patterns.bits.shape[1]):
        key = mix(key, patterns.bits[region, w])
    return key & np.uint64(patterns.heads.size - 1)


@kernel
def find(abstains: Bools, patterns: Patterns) -> int:
    """The region of a pattern; ``n_regions`` if it is new. The pattern is put where a new one's belongs."""
    free = patterns.n_regions[0]
    pack(abstains, patterns.bits[free])
    region = patterns.heads[_place(free, patterns)]
    while region >= 0:
        differ = np.uint64(0)
        for w in range(patterns.bits.shape[1]):
            differ |= patterns.bits[region, w] ^ patterns.bits[free, w]
        if differ == np.uint64(0):
            return int(region)
        region = patterns.chain[region]
    return int(free)


@kernel
def enter(patterns: Patterns) -> None:
    """Make the pattern of the round a region."""
    region = patterns.n_regions[0]
    place = _place(region, patterns)
    patterns.chain[region] = patterns.heads[place]
    patterns.heads[place] = region
    patterns.n_regions[0] = region + 1

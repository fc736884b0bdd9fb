"""A hash of several words, for tables in which things are found by what they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from .jit import inline


@inline
def mix(key: Any, word: Any) -> Any:
    """A step of the hash: the key of the words so far, and the next word."""
    key = (key ^ np.uint64(word)) * np.uint64(0x9E3779B97F4A7C15)
    return key ^ (key >> np.uint64(29))

"""A bucket of tokens, of which a review takes one, and the price of a review, which rises as the bucket gets empty."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...capacity import Capacity
from ...kernels.compiling import inline
from ...typing import Floats, Ints

UNITS, OVERDRAFT = 0, 1
"""Places in `Bucket.tokens`: units in the bucket, and reviews for which there was no token."""
LIMITS = 2
"""What a carry ends with: how much passed since the case before (a case, or microseconds), and the price."""


class Terms(NamedTuple):
    """What a capacity says, in whole units, so that tokens are exact."""

    timed: bool  # whether microseconds earn, not cases
    earn: int  # units that a case, or a microsecond, earns
    review: int  # units that a review takes: a token
    most: int  # units that the bucket holds
    step: float  # what a review adds to the price


class Bucket(NamedTuple):
    """What is left."""

    terms: Terms
    tokens: Ints  # (2,) see the places above
    price: Floats  # (1,) lambda


def bucket(capacity: Capacity) -> Bucket:
    """A full bucket, and no price."""
    earn, review = capacity.units
    most, step = int(capacity.burst or 1) * review, float(capacity.step or 0.0)
    return Bucket(Terms(capacity.share is None, earn, review, most, step), np.array([most, 0]), np.zeros(1))


@inline
def _filled(passed: float, b: Bucket) -> int:
    """Units in the bucket once what was earned is in it; ``passed`` may be long: nothing overflows."""
    units, terms = b.tokens[UNITS], b.terms
    if terms.earn > 0:
        if passed > (terms.most - units) // terms.earn:
            return terms.most
        units += terms.earn * np.int64(passed)
    return int(units)


@inline
def is_empty(x: Floats, carry: Floats, b: Bucket) -> bool:
    """Whether there is less than a token for the coming case; what `take` and `priced` need is carried."""
    passed = x[x.size - 1] if b.terms.timed else 1.0
    carry[carry.size - 2], carry[carry.size - 1] = passed, b.price[0]
    return bool(_filled(passed, b) < b.terms.review)


@inline
def take(reviewed: bool, carry: Floats, b: Bucket) -> None:
    """Earn, and take a token for a review if there is one; the price follows.

    A review without a token is one that nobody could have answered: it is counted, but neither owed nor priced.
    """
    terms, passed = b.terms, carry[carry.size - 2]
    units = _filled(passed, b)
    earned = min(float(terms.most), terms.earn * passed) / terms.review
    taken = 0.0
    if reviewed and units >= terms.review:
        units -= terms.review
        taken = 1.0
    elif reviewed:
        b.tokens[OVERDRAFT] += 1
    b.tokens[UNITS] = units
    b.price[0] = max(0.0, b.price[0] + terms.step * (taken - earned))


@inline
def priced(cost: float, carry: Floats) -> float:
    """What abstaining costs with the price at the time of the decision: ``min(1, c + lambda)``."""
    return min(1.0, cost + float(carry[carry.size - 1]))


LONGEST = 2.0**53
"""Microseconds up to here are whole numbers."""

"""A bucket of tokens, of which a review takes one, and the price of a review, which rises as the bucket gets empty."""

from __future__ import annotations

import math
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from ...capacity import Capacity
from ...engine import KernelLearner, Kernels
from ...engine.kernel_learner import Calls
from ...errors import InputError
from ...experts import Advice
from ...kernels.compiling import inline
from ...typing import Array, Floats, Ints

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


def bucket(terms: Terms) -> Bucket:
    """A full bucket, and no price."""
    return Bucket(terms, np.array([terms.most, 0]), np.zeros(1))


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


class LimitedLearner(KernelLearner):
    """A learner that may have a capacity; its state then has a bucket beside all else."""

    capacity: Capacity | None = None
    limited: ClassVar[Kernels | None] = None
    """The kernels with a capacity, on a state with a bucket."""

    @cached_property
    def _call(self) -> Calls:
        return Calls(self.kernels if self.capacity is None or self.limited is None else self.limited)

    def _new_bucket(self, capacity: Capacity) -> Bucket:
        earn, review = capacity.units
        timed = capacity.share is None
        return bucket(Terms(timed, earn, review, int(capacity.burst or 1) * review, float(capacity.step or 0.0)))

    def _passed(self, X: Floats | None) -> Floats | None:
        """Where the capacity goes by time, the microseconds since the case before (n, 1): the last column of X."""
        if self.capacity is None or self.capacity.per_day is None:
            return None
        if X is None:
            raise InputError("x: a capacity a day needs x, whose last column is a time, but only advice was given")
        passed = X[:, -1:]
        wrong = ~((passed >= 0.0) & (passed <= LONGEST) & (passed == np.floor(passed)))
        if wrong.any():
            raise InputError(
                f"x: expected whole microseconds since the case before, from 0 on, in the last column, got "
                f"{passed[wrong][0]}"
            )
        return passed

    def see(self, X: Floats | None, advice: Advice, costs: Floats) -> Floats:
        self._passed(X)
        return super().see(X, advice, costs)

    @property
    def tokens(self) -> float:
        """How many cases may be abstained on at once; no end without a capacity."""
        with self.lock:
            if self.capacity is None:
                return math.inf
            return float(self.state.bucket.tokens[UNITS] / self.state.bucket.terms.review)

    @property
    def price(self) -> float:
        """What abstaining costs besides, in what is learnt, as it uses up the capacity: lambda."""
        with self.lock:
            return 0.0 if self.capacity is None else float(self.state.bucket.price[0])

    @property
    def overdraft(self) -> int:
        """In how many cases all experts abstained, and the capacity was used up."""
        with self.lock:
            return 0 if self.capacity is None else int(self.state.bucket.tokens[OVERDRAFT])

    def _carry_with(self, own: int) -> Floats:
        """Room for what a learner carries, and what a capacity does."""
        return np.zeros(own + (0 if self.capacity is None else LIMITS))

    def _own_part(self, carry: Array) -> Array:
        return carry if self.capacity is None else carry[:-LIMITS]

    def _can_be_price(self, price: float) -> bool:
        """It is never more than ``step`` times what is missing in the bucket, but for rounding."""
        terms = self.state.bucket.terms
        return bool(0.0 <= price <= terms.step * (terms.most / terms.review) * (1.0 + 1e-6) + 1e-6)

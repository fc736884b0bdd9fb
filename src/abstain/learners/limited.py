"""Learners that may abstain on so many cases only: a bucket of tokens, and a price."""

import math
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..capacity import Capacity
from ..engine import KernelLearner, Kernels
from ..engine.calls import Calls
from ..errors import InputError
from ..experts import Advice
from ..kernels.exp3.bucket import LIMITS, OVERDRAFT, UNITS, Bucket, Terms, bucket
from ..typing import Array, Floats

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

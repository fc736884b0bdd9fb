"""The cost of abstaining, c(x) in [0, 1]: a constant, one value a round, or a known function of the input.

>>> get(0.2).of(None, first_round=1, n=3)
array([0.2, 0.2, 0.2])
>>> get([0.1, 0.2, 0.3]).of(None, first_round=2, n=2)
array([0.2, 0.3])
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError
from .tables import plain

Floats: TypeAlias = NDArray[np.float64]


class Cost(ABC):
    """What abstaining costs in each round."""

    constant: bool = False
    largest: float = 1.0
    """No cost is above this."""

    @abstractmethod
    def values_of(self, X: Floats | None, first_round: int, n: int) -> ArrayLike:
        """The costs (n,) of the rounds from ``first_round`` (1-based) on, whose inputs are X (n, d)."""

    def of(self, X: Floats | None, first_round: int, n: int) -> Floats:
        """`values_of`, checked to be n numbers in [0, 1] unless they were when the cost was made."""
        if isinstance(self, (Constant, PerRound)):
            return np.asarray(self.values_of(X, first_round, n))
        costs = _checked(self.values_of(X, first_round, n))
        if costs.shape != (n,):
            raise InputError(f"cost: expected {n} values for {n} inputs, got shape {costs.shape}")
        return costs


CostLike: TypeAlias = float | ArrayLike | Callable[[Floats], ArrayLike] | Cost


def _checked(values: ArrayLike) -> Floats:
    array = plain(values, "cost")
    if array.dtype.kind not in "fiu":
        raise InputError(f"cost: expected numbers in [0, 1], got {values!r}")
    costs = np.array(array, np.float64)
    wrong = ~((costs >= 0.0) & (costs <= 1.0))
    if wrong.any():
        raise InputError(f"cost: expected values in [0, 1], got {costs[wrong].flat[0]}")
    return costs


@dataclass(frozen=True)
class Constant(Cost):
    """The same cost in every round."""

    value: float
    constant = True

    @property
    def largest(self) -> float:  # type: ignore[override]
        return self.value

    def values_of(self, X: Floats | None, first_round: int, n: int) -> ArrayLike:
        return np.full(n, self.value)


@dataclass(frozen=True, eq=False)
class PerRound(Cost):
    """A cost for each round, known beforehand."""

    values: Floats

    @property
    def largest(self) -> float:  # type: ignore[override]
        return float(self.values.max())

    def values_of(self, X: Floats | None, first_round: int, n: int) -> ArrayLike:
        if first_round + n - 1 > len(self.values):
            raise InputError(f"cost: expected a value for round {first_round + n - 1}, got {len(self.values)} values")
        return self.values[first_round - 1 : first_round - 1 + n]


@dataclass(frozen=True)
class OfInput(Cost):
    """A function from inputs (n, d) to costs (n,)."""

    function: Callable[[Floats], ArrayLike]

    def values_of(self, X: Floats | None, first_round: int, n: int) -> ArrayLike:
        if X is None:
            raise InputError("cost: a function of x needs x, but only advice was given")
        return self.function(X)


def get(cost: CostLike) -> Cost:
    """The cost for a number, a sequence with one value a round, or a function of the inputs."""
    if isinstance(cost, Cost):
        return cost
    if callable(cost):
        return OfInput(cost)
    values: Any = _checked(cost)
    if values.ndim == 0:
        return Constant(float(values))
    if values.ndim == 1 and len(values) > 0:
        values.flags.writeable = False
        return PerRound(values)
    raise InputError(f"cost: expected a number or one value a round, got shape {values.shape}")

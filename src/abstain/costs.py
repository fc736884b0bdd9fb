"""The cost of abstaining, c(x) in [0, 1]: a constant, one value per round, or a known function of the input.

>>> get(0.2).of(None, first_round=1, n=3)
array([0.2, 0.2, 0.2])
>>> get([0.1, 0.2, 0.3]).of(None, first_round=2, n=2)
array([0.2, 0.3])
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ._core.validation import as_floats, is_number, is_trusted, plain, trusted
from .errors import InputError, shown
from .typing import Floats


class Cost(ABC):
    """What abstaining costs in each round.

    To write your own, define `values_of`; the library checks what it returns. A learner's file does not include your
    cost: give it to `abstain.load` again.

    >>> class Rising(Cost):
    ...     '''Abstaining becomes more expensive with time.'''
    ...     def values_of(self, X, first_round, n):
    ...         return 1.0 - 1.0 / np.arange(first_round + 1, first_round + 1 + n)
    >>> Rising().of(None, first_round=1, n=3)
    array([0.5       , 0.66666667, 0.75      ])
    """

    constant: bool = False
    """Whether the cost is the same in every round."""
    largest: float = 1.0
    """An upper bound on the cost."""

    @abstractmethod
    def values_of(self, X: Floats | None, first_round: int, n: int) -> ArrayLike:
        """Return the costs of some rounds in a row: the extension point behind `of`.

        Args:
            X: The inputs of these rounds (n, d), or None if the learner was given advice instead of inputs.
            first_round: The first of these rounds, counted from 1.
            n: The number of rounds.

        Returns:
            The costs (n,), in [0, 1].
        """

    def of(self, X: Floats | None, first_round: int, n: int) -> Floats:
        """Return `values_of`, checked unless the method is the library's own.

        Args:
            X: The inputs of these rounds (n, d), or None.
            first_round: The first of these rounds, counted from 1.
            n: The number of rounds.

        Returns:
            The costs (n,).

        Raises:
            InputError: `values_of` did not return n numbers in [0, 1].
        """
        if is_trusted(self.values_of):
            return np.asarray(self.values_of(X, first_round, n))
        costs = _checked(self.values_of(X, first_round, n))
        if costs.shape != (n,):
            raise InputError(f"cost: expected {n} values for {n} inputs, got shape {costs.shape}")
        return costs


CostLike: TypeAlias = float | ArrayLike | Callable[[Floats], ArrayLike] | Cost


def _checked(values: ArrayLike) -> Floats:
    array = plain(values, "cost")
    if array.dtype.kind not in "fiu":
        raise InputError(f"cost: expected numbers in [0, 1], got {shown(values)}")
    costs = np.array(as_floats(array, "cost"))
    wrong = ~((costs >= 0.0) & (costs <= 1.0))
    if wrong.any():
        raise InputError(f"cost: expected values in [0, 1], got {costs[wrong].flat[0]}")
    return costs


@dataclass(frozen=True)
class Constant(Cost):
    """The same cost in every round."""

    value: float
    """The cost, in [0, 1]."""

    def __post_init__(self) -> None:
        value = _checked(self.value)
        if value.ndim != 0:
            raise InputError(f"cost: expected one number in [0, 1], got shape {value.shape}")
        object.__setattr__(self, "value", float(value))

    @property
    def constant(self) -> bool:  # type: ignore[override]
        return is_trusted(self.values_of)

    @property
    def largest(self) -> float:  # type: ignore[override]
        return self.value if self.constant else 1.0

    @trusted
    def values_of(self, X: Floats | None, first_round: int, n: int) -> ArrayLike:
        return np.full(n, self.value)


@dataclass(frozen=True, eq=False)
class PerRound(Cost):
    """A cost for each round, known in advance."""

    values: Floats
    """The costs (T,), in [0, 1]."""

    def __post_init__(self) -> None:
        values = _checked(self.values)
        if values.ndim != 1 or len(values) == 0:
            raise InputError(f"cost: expected a number or one value per round, got shape {values.shape}")
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    @property
    def largest(self) -> float:  # type: ignore[override]
        return float(self.values.max()) if is_trusted(self.values_of) else 1.0

    @trusted
    def values_of(self, X: Floats | None, first_round: int, n: int) -> ArrayLike:
        if first_round + n - 1 > len(self.values):
            raise InputError(f"cost: expected a value for round {first_round + n - 1}, got {len(self.values)} values")
        return self.values[first_round - 1 : first_round - 1 + n]


@dataclass(frozen=True)
class OfInput(Cost):
    """A cost that is a function of the input."""

    function: Callable[[Floats], ArrayLike]
    """Maps inputs (n, d) to costs (n,)."""

    def values_of(self, X: Floats | None, first_round: int, n: int) -> ArrayLike:
        if X is None:
            raise InputError("cost: a function of x needs x, but only advice was given")
        return self.function(X)


def get(cost: CostLike) -> Cost:
    """Return a cost for what users give.

    Args:
        cost: A number in [0, 1], a sequence with one value per round, a function from inputs (n, d) to costs (n,), or
            a `Cost`, which is returned as it is.

    Returns:
        The cost.

    Raises:
        InputError: A value is not a number in [0, 1].
    """
    if isinstance(cost, Cost):
        return cost
    if callable(cost):
        return OfInput(cost)
    if is_number(cost):
        return Constant(cost)
    values = _checked(cost)
    return Constant(float(values)) if values.ndim == 0 else PerRound(values)

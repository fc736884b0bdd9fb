"""Experts that are pairs of Python functions."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, shown
from ..tables import as_floats, plain
from ..typing import Bools, Floats
from .base import Advice, ExpertSet, as_subset

Predictor: TypeAlias = Callable[[Floats], Any]
Rule: TypeAlias = Callable[[Floats], float]


class Functions(ExpertSet):
    """Pairs of functions of one input; see `from_functions`."""

    kind = "functions"
    portable = False

    def __init__(self, pairs: Sequence[tuple[Predictor, Rule]], rule_subset: ArrayLike | None) -> None:
        if not isinstance(pairs, Sequence) or not pairs:
            raise InputError(f"pairs: expected at least one (h, r), got {shown(pairs)}")
        for pair in pairs:
            if not (isinstance(pair, Sequence) and len(pair) == 2 and all(callable(part) for part in pair)):
                raise InputError(f"pairs: expected pairs of functions (h, r), got {shown(pair)}")
        self._predictors, predictor_of = _distinct([h for h, _ in pairs])
        self._rules, rule_of = _distinct([r for _, r in pairs])
        super().__init__(len(self._predictors), len(self._rules), None, np.column_stack([predictor_of, rule_of]))
        self._subset = as_subset(rule_subset, self.n_rules)

    def _advise(self, X: Floats, out: Floats | None = None) -> Advice:
        predictions = plain([[h(x) for h in self._predictors] for x in X], "predictors")
        return Advice(predictions, _finite([[r(x) for r in self._rules] for x in X], "rules") <= 0.0)

    def _find_subset(self) -> Bools | None:
        return self._subset

    def parameters(self) -> dict[str, Any]:
        return {"rule_subset": self._subset}


def _distinct(functions: list[Any]) -> tuple[list[Any], list[int]]:
    """The functions without repetition, and where each is among them."""
    unique = {id(function): function for function in functions}
    place = {key: k for k, key in enumerate(unique)}
    return list(unique.values()), [place[id(function)] for function in functions]


def _finite(values: ArrayLike, name: str) -> Floats:
    numbers = as_floats(values, name)
    if not np.isfinite(numbers).all():
        raise InputError(f"{name}: expected finite numbers, got {numbers[~np.isfinite(numbers)][0]}")
    return numbers


def from_functions(pairs: Sequence[tuple[Predictor, Rule]], rule_subset: ArrayLike | None = None) -> Functions:
    """Experts ``(h, r)``: each function takes one input (d,); h gives a score or a class, r <= 0 abstains.

    A function that occurs in several pairs is one predictor or one rule. Rules are numbered as they first occur.

    >>> h, confident, always = (lambda x: x[0]), (lambda x: abs(x[0]) - 0.5), (lambda x: 1.0)
    >>> from_functions([(h, confident), (h, always)])
    <functions: 2 experts, 1 predictors, 2 rules>
    """
    return Functions(pairs, rule_subset)

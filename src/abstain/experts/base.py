"""Experts as pairs of a predictor and an abstention rule."""

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .._core.registry import Registry
from .._core.validation import MOST, as_count, as_table, is_trusted, plain, trusted
from ..errors import InputError, shown
from ..kernels.passes import all_within
from ..typing import Array, Bools, Floats, Ints

_MOST_RELATED = 2**16
"""The relation between so many rules takes 4 GiB."""


@dataclass(frozen=True, eq=False)
class Advice:
    """What the experts say on n inputs: predictions (n, P) and whether each rule abstains (n, A)."""

    predictions: Array
    abstains: Bools

    def __post_init__(self) -> None:
        predictions, abstains = plain(self.predictions, "predictions"), plain(self.abstains, "abstentions")
        if predictions.dtype.kind == "O" and _all_strings(predictions):
            predictions = plain(predictions.tolist())
        if predictions.ndim != 2 or abstains.ndim != 2 or len(predictions) != len(abstains):
            raise InputError(
                "advice: expected predictions (n, P) and abstentions (n, A), "
                f"got shapes {predictions.shape} and {abstains.shape}"
            )
        if abstains.dtype != np.bool_:
            raise InputError(f"advice: expected abstentions as bool, got {abstains.dtype}")
        object.__setattr__(self, "predictions", predictions)
        object.__setattr__(self, "abstains", np.ascontiguousarray(abstains))

    def __len__(self) -> int:
        return len(self.predictions)

    def outcomes(self, loss: Any) -> Array | None:
        """What each prediction loses (n, P, 2) if the label is -1, and if it is +1; None where labels are others."""
        both: Array | None = loss.outcomes(self.predictions)
        return both


def _all_strings(array: Array) -> bool:
    return all(isinstance(one, str) for one in array.flat)


def check_advice(advice: Advice, n: int, n_predictors: int, n_rules: int) -> None:
    """Raise an error unless the advice is of these sizes and its predictions are finite numbers or strings."""
    if advice.predictions.shape != (n, n_predictors) or advice.abstains.shape != (n, n_rules):
        raise InputError(
            f"advice: expected predictions {(n, n_predictors)} and abstentions {(n, n_rules)}, "
            f"got {advice.predictions.shape} and {advice.abstains.shape}"
        )
    kind = advice.predictions.dtype.kind
    wrong = kind not in "fiubU" and not (kind == "O" and _all_strings(advice.predictions))
    if wrong or (kind == "f" and not np.isfinite(advice.predictions).all()):
        raise InputError(f"advice: expected finite numbers or strings as predictions, got {shown(advice.predictions)}")


def pair_arrays(pairs: "str | ArrayLike", n_predictors: int, n_rules: int) -> tuple[Ints, Ints]:
    """The (predictor, rule) of each expert: all pairs, predictor-major; one rule a predictor; or as given."""
    if isinstance(pairs, str):
        if pairs == "product":
            if n_predictors * n_rules > MOST:
                raise InputError(
                    f"expected at most {MOST} experts, got {n_predictors} predictors times {n_rules} rules"
                )
            return np.repeat(np.arange(n_predictors), n_rules), np.tile(np.arange(n_rules), n_predictors)
        if pairs == "aligned":
            if n_predictors != n_rules:
                raise InputError(
                    f"pairs: 'aligned' needs as many rules as predictors, got {n_rules} and {n_predictors}"
                )
            return np.arange(n_predictors), np.arange(n_rules)
        raise InputError(f"pairs: expected 'product', 'aligned' or an array of pairs, got {shown(pairs)}")
    array = plain(pairs, "pairs")
    if array.ndim != 2 or array.shape[0] == 0 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise InputError(f"pairs: expected integers of shape (K, 2), K > 0, got {array.dtype} of shape {array.shape}")
    if array.min() < 0 or array[:, 0].max() >= n_predictors or array[:, 1].max() >= n_rules:
        raise InputError(f"pairs: expected predictors below {n_predictors} and rules below {n_rules}, got others")
    return array[:, 0].astype(np.int64), array[:, 1].astype(np.int64)


def as_subset(rule_subset: ArrayLike | None, n_rules: int) -> Bools | None:
    """A given subset relation, checked: ``[i, j]`` says that rule j abstains wherever rule i does."""
    if rule_subset is None:
        return None
    relation = plain(rule_subset, "rule_subset")
    if relation.shape != (n_rules, n_rules) or relation.dtype != np.bool_:
        raise InputError(
            f"rule_subset: expected bool of shape ({n_rules}, {n_rules}), got {relation.dtype} {relation.shape}"
        )
    if not relation.diagonal().all():
        raise InputError("rule_subset: expected every rule to be a subset of itself, got False on the diagonal")
    return relation.copy()


class ExpertSet(ABC):
    """Pairs of a predictor and a rule. Expert ``p * n_rules + a`` is the pair (p, a) where all pairs are experts.

    To write your own, define `_advise`, which is checked, and `parameters`. What it says of a row must not depend on
    the other rows, to the last bit.
    """

    kind: ClassVar[str]
    """The name in its representation and fingerprint: the class's, unless it is defined."""
    portable: ClassVar[bool] = True
    """Whether `parameters` are enough to make the set again."""
    largest_input: float = np.inf
    """Inputs beyond this, or below its negative, are refused: scores could overflow."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "kind" not in vars(cls):
            cls.kind = cls.__name__
        kinds.add(cls)

    def __init__(
        self, n_predictors: int, n_rules: int, n_features: int | None, pairs: "str | ArrayLike" = "product"
    ) -> None:
        self.n_predictors = as_count(n_predictors, "n_predictors", most=MOST)
        self.n_rules = as_count(n_rules, "n_rules", most=MOST)
        self.n_features = None if n_features is None else as_count(n_features, "n_features")
        self.predictor_of, self.rule_of = pair_arrays(pairs, self.n_predictors, self.n_rules)
        self.predictor_of.flags.writeable = self.rule_of.flags.writeable = False

    @property
    def n_experts(self) -> int:
        """K, the number of pairs."""
        return len(self.rule_of)

    @property
    def row_bytes(self) -> int:
        """What the advice for one input takes: predictions as floats, and a byte for each rule."""
        return 8 * self.n_predictors + self.n_rules

    @abstractmethod
    def _advise(self, X: Floats, out: Floats | None = None) -> Advice:
        """The advice for a checked table; ``out`` (at least n, P) may be used for the predictions."""

    @trusted
    def check_inputs(self, X: Floats) -> None:
        """Raise an error if these are finite numbers, but not such as the experts are for."""
        if self.largest_input < np.inf:
            check_size(X, self.largest_input)

    def advise(self, X: ArrayLike) -> Advice:
        """What all predictors and rules say on a table of finite numbers (n, n_features)."""
        table = as_table(X, self.n_features)
        self.check_inputs(table)
        return self.advise_block(table)

    def advise_block(self, X: Floats, out: Floats | None = None) -> Advice:
        """`advise` on a table that was checked before. What the set returns is checked, unless `_advise` and what it
        relies on are the library's own methods.
        """
        advice = self._advise(X, out)
        if not (is_trusted(self._advise) and is_trusted(self.check_inputs)):
            if not isinstance(advice, Advice):
                raise InputError(f"advice: expected an Advice, got {shown(advice)}")
            check_advice(advice, len(X), self.n_predictors, self.n_rules)
        return advice

    @cached_property
    def rule_subset(self) -> Bools | None:
        """``[i, j]``: rule j abstains wherever rule i does (A, A); None where that is not known."""
        relation = self._find_subset()
        if relation is not None:
            relation.flags.writeable = False
        return relation

    def _find_subset(self) -> Bools | None:
        return None

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """What makes the set again: the constructor's arguments, as arrays and plain values."""

    @property
    def fingerprint(self) -> str:
        """Equal for sets of the same kind with the same pairs and parameters."""
        digest = hashlib.sha256(f"{self.kind} {self.n_predictors} {self.n_rules} {self.n_features}".encode())
        parts = {"predictor_of": self.predictor_of, "rule_of": self.rule_of, **self.parameters()}
        for name in sorted(parts):
            value = parts[name]
            digest.update(name.encode())
            digest.update(value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode())
        return digest.hexdigest()

    def __repr__(self) -> str:
        return f"<{self.kind}: {self.n_experts} experts, {self.n_predictors} predictors, {self.n_rules} rules>"


kinds: Registry[ExpertSet] = Registry("experts")
"""All sets there are, users' own among them."""


def nested(low: Floats, high: Floats, where: Ints) -> Bools:
    """The subset relation of intervals ``[low, high]`` of the coordinate ``where``; an empty one is in every other."""
    if len(low) > _MOST_RELATED:
        raise InputError(f"rule_subset: expected at most {_MOST_RELATED} rules to relate, got {len(low)}")
    inside = (low[np.newaxis] <= low[:, np.newaxis]) & (high[:, np.newaxis] <= high[np.newaxis])
    return np.asarray(((where[:, np.newaxis] == where[np.newaxis]) & inside) | (low > high)[:, np.newaxis])


def check_size(X: Floats, largest: float) -> None:
    """Raise an error unless all inputs are at most so large."""
    if not all_within(X, largest):
        i, k = np.argwhere(np.abs(X) > largest)[0]
        raise InputError(
            f"x: expected inputs from {-largest:.3g} to {largest:.3g}, whose scores are finite, "
            f"got {X[i, k]} in row {i}, column {k}"
        )

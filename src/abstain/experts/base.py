"""The base class of experts, the advice they give, and the checks on both."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
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
"""The subset relation between this many rules takes 4 GiB."""


@dataclass(frozen=True, eq=False)
class Advice:
    """What the experts say about n inputs.

    Raises:
        InputError: The two tables do not have the same number of rows, or `abstains` is not boolean.
    """

    predictions: Array
    """The prediction of each predictor (n, P): scores, or classes."""
    abstains: Bools
    """Whether each rule abstains (n, A)."""

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
        """Compute what each prediction loses under either label.

        Args:
            loss: The loss that judges the predictions.

        Returns:
            The losses (n, P, 2) if the label is -1 and if it is +1, or None if the loss has other labels.
        """
        own = is_trusted(loss.outcomes)
        both: Array | None = (loss.outcomes if own else loss._outcomes)(self.predictions)
        return both


def _all_strings(array: Array) -> bool:
    return all(isinstance(one, str) for one in array.flat)


def check_advice(advice: Advice, n: int, n_predictors: int, n_rules: int) -> None:
    """Raise `InputError` unless the advice has these sizes and its predictions are finite numbers or strings."""
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
    """Return the predictor and the rule of each expert: all pairs (predictor-major), one rule per predictor, or the
    pairs given.
    """
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
    wrong = ((array < 0) | (array >= (n_predictors, n_rules))).any(axis=1)
    if wrong.any():
        first = tuple(array[wrong][0].tolist())
        raise InputError(f"pairs: expected predictors below {n_predictors} and rules below {n_rules}, got {first}")
    return array[:, 0].astype(np.int64), array[:, 1].astype(np.int64)


def as_subset(rule_subset: ArrayLike | None, n_rules: int, *, copy: bool = True) -> Bools | None:
    """Check a subset relation: ``[i, j]`` means that rule j abstains wherever rule i does."""
    if rule_subset is None:
        return None
    relation = plain(rule_subset, "rule_subset")
    if relation.shape != (n_rules, n_rules) or relation.dtype != np.bool_:
        raise InputError(
            f"rule_subset: expected bool of shape ({n_rules}, {n_rules}), got {relation.dtype} {relation.shape}"
        )
    if not relation.diagonal().all():
        raise InputError("rule_subset: expected every rule to be a subset of itself, got False on the diagonal")
    return relation.copy() if copy else relation


class ExpertSet(ABC):
    """Experts: pairs of a predictor and a rule that says when to abstain.

    If all pairs are experts, expert ``p * n_rules + a`` is the pair (p, a).

    To write your own, call ``super().__init__`` and define `advise_rows` and `parameters`; define `find_subset` if you
    know which rules abstain wherever others do, and `check_inputs` if some finite inputs make no sense. The library
    checks what your methods return.

    Args:
        n_predictors: The number of predictors, P.
        n_rules: The number of rules, A.
        n_features: The number of columns of an input, or None if any number will do.
        pairs: "product" (each predictor with each rule), "aligned" (predictor k with rule k) or an array of
            (predictor, rule).

    Raises:
        InputError: A number is not a positive integer, or the pairs do not fit.

    >>> class FirstFeature(ExpertSet):
    ...     '''One predictor, the sign of the first feature; it abstains if that is at most `width` from 0.'''
    ...
    ...     def __init__(self, widths):
    ...         super().__init__(n_predictors=1, n_rules=len(widths), n_features=None)
    ...         self.widths = np.array(widths)
    ...
    ...     def advise_rows(self, X, out=None):
    ...         return Advice(np.sign(X[:, :1]), np.abs(X[:, :1]) <= self.widths)
    ...
    ...     def find_subset(self):
    ...         return self.widths[:, np.newaxis] <= self.widths
    ...
    ...     def parameters(self):
    ...         return {"widths": self.widths}
    >>> FirstFeature([0.1, 0.5]).advise([[0.3, 7.0]]).abstains
    array([[False,  True]])
    """

    kind: ClassVar[str]
    """The name in the representation and the fingerprint; the name of the class unless you set it."""
    portable: ClassVar[bool] = True
    """Whether `parameters` are enough to make the set again; if not, give the experts to `abstain.load`."""
    largest_input: float = np.inf
    """Inputs with a larger absolute value are refused, because scores could overflow."""

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
        """The bytes that the advice for one input takes: predictions as floats and one byte for each rule."""
        return 8 * self.n_predictors + self.n_rules

    @abstractmethod
    def advise_rows(self, X: Floats, out: Floats | None = None) -> Advice:
        """Return the advice for a table that was checked: the extension point behind `advise`.

        The advice for a row must not depend on the other rows, to the last bit.

        Args:
            X: Finite inputs (n, n_features) that passed `check_inputs`.
            out: A table of at least (n, P) floats that the predictions may be written to; you may ignore it.

        Returns:
            Predictions (n, P) and abstentions (n, A).
        """

    def find_subset(self) -> Bools | None:
        """Return which rules abstain wherever others do: the extension point behind `rule_subset`.

        The subset graph (`abstain.graphs.subset`) needs it. It is called once.

        Returns:
            ``[i, j]`` is true if rule j abstains wherever rule i does (A, A); None if that is not known.
        """
        return None

    @trusted
    def check_inputs(self, X: Floats) -> None:
        """Refuse finite inputs that the experts are not made for: an extension point.

        Args:
            X: Finite inputs (n, n_features).

        Raises:
            InputError: An input is larger than `largest_input`.
        """
        if self.largest_input < np.inf:
            check_size(X, self.largest_input)

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Return the constructor's arguments that make the set again: an extension point.

        Returns:
            Names and values; the values are arrays and plain values, so that a file can hold them.
        """

    def advise(self, X: ArrayLike) -> Advice:
        """Ask all predictors and rules.

        Args:
            X: Finite inputs (n, n_features).

        Returns:
            Predictions (n, P) and abstentions (n, A).

        Raises:
            InputError: The inputs are not a table of finite numbers with `n_features` columns, or `advise_rows`
                returned something else than advice on n inputs.
        """
        table = as_table(X, self.n_features)
        self.check_inputs(table)
        return self.advise_block(table)

    def advise_block(self, X: Floats, out: Floats | None = None) -> Advice:
        """Run `advise_rows` on a table that was checked before, and check the result unless the methods that made it
        are the library's own.

        Args:
            X: Finite inputs (n, n_features) that passed `check_inputs`.
            out: A table of at least (n, P) floats that the predictions may be written to.

        Returns:
            Predictions (n, P) and abstentions (n, A).
        """
        advice = self.advise_rows(X, out)
        if not (is_trusted(self.advise_rows) and is_trusted(self.check_inputs)):
            if not isinstance(advice, Advice):
                raise InputError(f"advice: expected an Advice, got {shown(advice)}")
            check_advice(advice, len(X), self.n_predictors, self.n_rules)
        return advice

    @cached_property
    def rule_subset(self) -> Bools | None:
        """``[i, j]``: whether rule j abstains wherever rule i does (A, A); None if that is not known."""
        relation = as_subset(self.find_subset(), self.n_rules, copy=False)
        if relation is not None:
            relation.flags.writeable = False
        return relation

    @property
    def fingerprint(self) -> str:
        """A digest that is equal for sets of the same kind with the same pairs and parameters."""
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
"""All classes of experts, including those that users define."""


def from_parameters(kind: str, parameters: Mapping[str, Any]) -> ExpertSet:
    """Make the experts that `ExpertSet.parameters` described.

    Args:
        kind: The name of the class in files; its module must have been imported.
        parameters: The arguments of its constructor.

    Returns:
        The experts.

    Raises:
        UnknownKindError: No module imported so far defines the class.
        InputError: The class cannot be made from these parameters.
    """
    if not isinstance(kind, str) or not isinstance(parameters, Mapping):
        raise InputError(f"experts: expected a kind and its parameters, got {shown(kind)} and {shown(parameters)}")
    return kinds.make(kind, parameters)


def nested(low: Floats, high: Floats, where: Ints) -> Bools:
    """Return the subset relation of intervals ``[low, high]`` of the coordinate ``where``; an empty interval lies in
    every other.
    """
    if len(low) > _MOST_RELATED:
        raise InputError(f"rule_subset: expected at most {_MOST_RELATED} rules to relate, got {len(low)}")
    inside = (low[np.newaxis] <= low[:, np.newaxis]) & (high[:, np.newaxis] <= high[np.newaxis])
    return np.asarray(((where[:, np.newaxis] == where[np.newaxis]) & inside) | (low > high)[:, np.newaxis])


def check_size(X: Floats, largest: float) -> None:
    """Raise `InputError` if an input is larger than ``largest`` or below its negative."""
    if not all_within(X, largest):
        i, k = np.argwhere(np.abs(X) > largest)[0]
        raise InputError(
            f"x: expected inputs from {-largest:.3g} to {largest:.3g}, so that scores are finite, "
            f"got {X[i, k]} in row {i}, column {k}"
        )

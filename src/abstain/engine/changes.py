"""Experts that come and go while decisions are open: how the experts of today see such a decision."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .._core.validation import plain
from ..errors import DecisionError, InputError, shown
from ..experts import ExpertSet
from ..typing import Array, Ints
from .decision import Decision, frozen


class Change(NamedTuple):
    """A change from one set of experts to another. In earlier rounds newcomers abstain, and who left has no part."""

    last: int
    """The last round of the set before."""
    n_predictors: int
    """The number of predictors in the set before."""
    n_rules: int
    """The number of rules in the set before."""
    predictors: Ints
    """Index of each predictor in the set before (P,), or -1 for a new one."""
    rules: Ints
    """Index of each rule in the set before (A,), or -1 for a new one."""

    def after(self, earlier: "Change") -> "Change":
        """Combine an earlier change and this one."""
        predictors = gathered(earlier.predictors, self.predictors, -1)
        return earlier._replace(predictors=predictors, rules=gathered(earlier.rules, self.rules, -1))


def gathered(values: Array, origin: Ints, came: Any) -> Array:
    """Rearrange values.

    Args:
        values: The values before (..., n).
        origin: The index of each one before (m,), or -1 for a new one.
        came: The value of new ones.

    Returns:
        The values now (..., m).
    """
    found = values[..., origin]
    found[..., origin < 0] = came
    return found


def as_origin(values: Any, name: str, n_now: int, n_before: int) -> Ints:
    """Check indices into a previous set: index of each one there, or -1. No duplicates.

    Args:
        values: The indices.
        name: Their name, for messages.
        n_now: How many there are now.
        n_before: How many there were.

    Returns:
        The indices (n_now,).

    Raises:
        InputError: If they are not such indices.
    """
    array = plain(values, name)
    if array.shape != (n_now,) or array.dtype.kind not in "iu":
        raise InputError(f"{name}: expected {n_now} whole numbers, got {array.dtype} of shape {array.shape}")
    if array.min() < -1 or array.max() >= n_before:
        raise InputError(f"{name}: expected numbers below {n_before}, or -1 for newcomers, got {shown(values)}")
    stay = array[array >= 0]
    if len(np.unique(stay)) < len(stay):
        raise InputError(f"{name}: expected no duplicates, got {shown(values)}")
    return array.astype(np.int64)


def as_change(
    before: ExpertSet, now: ExpertSet, predictor_from: Any, expert_from: Any, last: int
) -> tuple[Change, Ints]:  # fmt: skip
    """Check a change of experts.

    Args:
        before: The experts before.
        now: The experts from now on.
        predictor_from: The index of each predictor in the set before, or -1 (P,).
        expert_from: The index of each expert in the set before, or -1 (K,).
        last: The last round of the set before.

    Returns:
        The change, and ``expert_from`` as an array.

    Raises:
        InputError: If an expert that stays has another predictor, or rules that were one are two.
    """
    if not isinstance(now, ExpertSet):
        raise InputError(f"experts: expected an ExpertSet, got {type(now).__name__}")
    predictors = as_origin(predictor_from, "predictor_from", now.n_predictors, before.n_predictors)
    experts = as_origin(expert_from, "expert_from", now.n_experts, before.n_experts)
    stay = experts >= 0
    moved = predictors[now.predictor_of[stay]] != before.predictor_of[experts[stay]]
    if moved.any():
        raise InputError(
            "expert_from: expected experts that stay to keep their predictor, got another one for expert "
            f"{experts[stay][moved][0]}"
        )
    rules = np.full(now.n_rules, -1)
    rules[now.rule_of[stay]] = before.rule_of[experts[stay]]
    parted = rules[now.rule_of[stay]] != before.rule_of[experts[stay]]
    if parted.any():
        raise InputError(
            "expert_from: expected experts that share a rule to have shared one before, got another one for expert "
            f"{experts[stay][parted][0]}"
        )
    return Change(last, before.n_predictors, before.n_rules, predictors, rules), experts


def since(changes: Iterable[Change], t: int) -> Change | None:
    """Combine all changes since round ``t`` was decided; None if there were none."""
    whole: Change | None = None
    for change in changes:
        if change.last >= t:
            whole = change if whole is None else change.after(whole)
    return whole


def needed(changes: tuple[Change, ...], open_rounds: Iterable[int]) -> tuple[Change, ...]:
    """Select the changes after the first open round; and the newest, which tells that experts came or went."""
    first = min(open_rounds, default=None)
    return tuple(c for c in changes if c is changes[-1] or (first is not None and c.last >= first))


def as_of_now(decision: Decision, change: Change, carry: Array, experts: ExpertSet) -> Decision:
    """Translate a decision to the experts of today, for learning only.

    The expert that it followed may have left: the first one stands for it.

    Args:
        decision: The decision.
        change: All that changed since.
        carry: What it carries, translated.
        experts: The experts of today.

    Returns:
        The decision as the experts of today see it.
    """
    abstains = gathered(decision.abstains, change.rules, True)
    return replace(
        decision,
        expert=0,
        abstained=bool(abstains[experts.rule_of[0]]),
        predictions=frozen(decision.predictions[np.maximum(change.predictors, 0)]),  # any: who came abstains
        abstains=frozen(abstains),
        carry=frozen(carry),
    )


def check_sizes(decision: Decision, change: Change) -> None:
    """Raise a `DecisionError` unless a decision can be one of the experts before a change."""
    if decision.predictions.shape != (change.n_predictors,) or decision.abstains.shape != (change.n_rules,):
        raise DecisionError(f"decision: round {decision.round} does not fit the experts of its time: it was changed")


def to_file(changes: tuple[Change, ...]) -> tuple[list[list[int]], dict[str, Array]]:
    """Describe changes as plain values and arrays."""
    arrays: dict[str, Array] = {}
    for i, change in enumerate(changes):
        arrays |= {f"changes.{i}.predictors": change.predictors, f"changes.{i}.rules": change.rules}
    return [[c.last, c.n_predictors, c.n_rules] for c in changes], arrays


def from_file(values: Any, arrays: Mapping[str, Array], experts: ExpertSet, last: int) -> tuple[Change, ...]:
    """Read what `to_file` wrote and check it; a `ValueError` says what is wrong.

    Args:
        values: The plain values.
        arrays: The arrays.
        experts: The experts that the changes led to.
        last: The number of rounds decided.

    Returns:
        The changes, in their order.
    """
    changes: list[Change] = []
    sizes = experts.n_predictors, experts.n_rules
    for i, (t, n_predictors, n_rules) in reversed(list(enumerate(values))):
        if not all(type(n) is int for n in (t, n_predictors, n_rules)) or not 0 <= t <= last:
            raise ValueError(f"a change of experts is {values[i]!r:.100}")
        predictors = as_origin(arrays[f"changes.{i}.predictors"], "predictors", sizes[0], n_predictors)
        rules = arrays[f"changes.{i}.rules"]
        if rules.shape != (sizes[1],) or rules.dtype != np.int64 or rules.min() < -1 or rules.max() >= n_rules:
            raise ValueError("rules that stay are not among those before")
        changes.insert(0, Change(t, n_predictors, n_rules, predictors, rules))
        sizes, last = (n_predictors, n_rules), t
    return tuple(changes)

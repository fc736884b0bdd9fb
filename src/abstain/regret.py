"""The best expert, or pair of functions, in hindsight: what regret is measured against."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from . import costs, losses
from ._core.validation import as_flag, as_floats, as_table
from .engine.play import Prepared
from .errors import InputError, shown
from .experts import ExpertSet
from .kernels import passes
from .losses import surrogate as surrogate_loss
from .simulate import Best, as_labels
from .typing import Floats

Pair: TypeAlias = tuple[float | Callable[[Floats], ArrayLike], float | Callable[[Floats], ArrayLike]]


def best_in_hindsight(
    experts: ExpertSet, X: ArrayLike, y: ArrayLike, *, cost: costs.CostLike, loss: Any = "zero_one"
) -> Best:
    """Find the expert with the least total loss on a table.

    Args:
        experts: The experts to compare.
        X: The inputs (T, d).
        y: All labels (T,).
        cost: The cost of abstaining: a number in [0, 1], one value per round, or a function of x.
        loss: The loss of a prediction, as for learners.

    Returns:
        The best expert, its loss in each round and the total loss of every expert.

    Raises:
        InputError: The inputs, the cost or the loss do not fit.
        LabelError: The loss cannot judge a label.

    >>> import abstain as ab
    >>> X, y = ab.datasets.load("synthetic", n=1000, seed=0)
    >>> experts = ab.experts.hyperplanes(dim=2, n_predictors=10, seed=0)
    >>> best = ab.best_in_hindsight(experts, X, y, cost=0.2)
    >>> bool(best.total[best.expert] == best.total.min()), best.loss.shape
    (True, (1000,))
    """
    if not isinstance(experts, ExpertSet):
        raise InputError(f"experts: expected an ExpertSet, got {type(experts).__name__}")
    table = as_table(X, experts.n_features)
    experts.check_inputs(table)
    judge, price = losses.get(loss), costs.get(cost)
    labels = as_labels(y, len(table), judge)
    paid = np.ascontiguousarray(price.of(table, 1, len(table)))
    rounds = Prepared(experts, table, labels, judge, keep=False)
    # With a constant cost, count first and multiply then, as the learners do, so that rounding is the same.
    erred, silent = sums_of_all(rounds, np.ones_like(paid) if price.constant else paid)
    total = erred + (silent * paid[0] if price.constant else silent)
    expert = int(np.argmin(total))
    return Best(expert, losses_of(expert, rounds, paid), total)


def sums_of_all(
    rounds: Prepared, paid: Floats, first: int = 0, last: int | None = None
) -> tuple[Floats, Floats]:  # fmt: skip
    """Return what each expert loses when it predicts and pays when it abstains (K,), in all rounds or some in a row."""
    experts = rounds.experts
    rule, predictor = experts.rule_of, experts.predictor_of
    product = experts.n_experts == experts.n_rules * experts.n_predictors  # then sums over tables are faster
    table, single = np.zeros((experts.n_rules, experts.n_predictors) if product else (0, 0)), np.zeros(len(rule))
    silent = np.zeros(experts.n_rules)
    for rows in rounds.blocks(first, last):
        advice = rounds.advice(rows)
        errors = rounds.losses(rows, advice)
        if product:
            passes.add_losses(advice.abstains, errors, table)
        else:
            passes.add_losses_of(advice.abstains, errors, rule, predictor, single)
        passes.add_costs(advice.abstains, paid[rows], silent)
    return table[rule, predictor] if product else single, silent[rule]


def losses_of(expert: int, rounds: Prepared, paid: Floats) -> Floats:
    """Return the loss L of one expert in each round."""
    rule, predictor = rounds.experts.rule_of[expert], int(rounds.experts.predictor_of[expert])
    own = np.empty(len(rounds))
    for rows in rounds.blocks():
        advice = rounds.advice(rows)
        errors = rounds.losses_of(predictor, rows, advice)
        own[rows] = np.where(advice.abstains[:, rule], paid[rows], errors)
    return own


def best_pair(
    X: ArrayLike,
    y: ArrayLike,
    *,
    cost: costs.CostLike,
    gamma: float | None = None,
    pairs: Sequence[Pair] = (),
    surrogate: bool = False,
) -> Best:
    """Find the best pair (h, r) in hindsight: what ContEXP3-ABS competes with.

    It compares "always predict +1", "always predict -1" and "always abstain", numbered 0 to 2 (no other constant pair
    is better than the best of these), and then the pairs given.

    Args:
        X: The inputs (T, d).
        y: All labels (T,), -1 and +1.
        cost: The cost of abstaining: a number in [0, 1], one value per round, or a function of x.
        gamma: The width of the ramp ``f_gamma(-y h)`` that judges predictions; None means the 0/1 loss.
        pairs: More pairs (h, r), each part a number or a function from inputs (T, d) to values in [-1, 1] (T,).
        surrogate: Whether to use the surrogate loss L~, which needs ``gamma``, instead of L.

    Returns:
        The best pair, its loss in each round and the total loss of every pair.

    Raises:
        InputError: An argument has the wrong shape or range.
        LabelError: A label is not -1 or +1.

    >>> import abstain as ab
    >>> X, y = ab.datasets.load("synthetic", n=1000, seed=0)
    >>> best = ab.best_pair(X, y, cost=0.2, gamma=0.1, pairs=[(lambda X: X.mean(axis=1), 1.0)], surrogate=True)
    >>> best.expert, (best.total / 1000).round(2)
    (3, array([0.5 , 0.5 , 0.2 , 0.06]))
    """
    table = as_table(X, None)
    labels = as_labels(y, len(table), losses.get("zero_one"))
    paid = costs.get(cost).of(table, 1, len(table))
    surrogate = as_flag(surrogate, "surrogate")
    if surrogate and gamma is None:
        raise InputError("gamma: the surrogate loss needs a number in (0, 1), got None")
    judge = losses.get("zero_one") if gamma is None else losses.ramp(gamma)
    if not isinstance(pairs, Sequence):
        raise InputError(f"pairs: expected a list of (h, r), got {shown(pairs)}")
    own = []
    constants: tuple[Pair, ...] = ((1.0, 1.0), (-1.0, 1.0), (1.0, -1.0))
    for k, pair in enumerate((*constants, *pairs)):
        h, r = _values(pair, table, k - len(constants))
        if surrogate and gamma is not None:
            own.append(surrogate_loss(h, r, labels, paid, gamma))
        else:
            own.append(np.where(r <= 0.0, paid, judge(h[:, np.newaxis], labels)[:, 0]))
    total = np.array([loss.sum() for loss in own])
    expert = int(np.argmin(total))
    return Best(expert, own[expert], total, gamma=gamma if surrogate else None)


def _values(pair: Pair, X: Floats, k: int) -> tuple[Floats, Floats]:
    """Return the values of a pair on all inputs."""
    if not isinstance(pair, Sequence) or len(pair) != 2:
        raise InputError(f"pairs: expected (h, r), each a number or a function, got {shown(pair)}")
    values = [as_floats(part(X) if callable(part) else part, "pairs") for part in pair]
    try:
        h, r = (np.broadcast_to(part, (len(X),)) for part in values)
    except ValueError as error:
        raise InputError(f"pairs: expected (h, r), each a number or a function to {len(X)} values ({error})") from None
    for part in (h, r):
        wrong = ~(np.abs(part) <= 1.0)
        if wrong.any():
            raise InputError(f"pairs: expected values in [-1, 1], got {part[wrong][0]} from pair {k}")
    return h, r

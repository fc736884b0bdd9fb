"""Theorem 1: exponential weights against any sequence; and what EXP3 promises, which sees its own loss only."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._core.validation import as_floats, as_number, as_share
from ..errors import InputError, shown
from ..learners.cover.cont_exp3_abs import radius
from ..typing import Floats
from .arguments import LARGEST, LEAST, as_rate, as_size, as_stochastic, in_graph, unlikely
from .coverings import as_covering, cheapest_covering, price


def exp3_abs_bound(T: int, K: int, cost: float, eta: float | str | None = None) -> float:
    """Theorem 1: the expected regret of EXP3-ABS on any sequence is at most this.

    ``log K / eta + eta T (c^2 + 1) / 2`` for a number; ``sqrt(2 (c^2 + 1) T log K)`` for the tuned rate (None or
    "tuned"); ``2 sqrt((c^2 + 1) T log K)`` for "anytime"; for "adaptive", with ``S = 1 + (c^2 + 1) T``,
    ``(2^(1/8) + (1 + sqrt(2)) / 2) sqrt(S log K) + 2^(1/8) log K + (1 + c) log2 S`` (proved in the documentation).

    It is an expectation: single runs can have many times as much (`exp3_abs_tail_bound`).

    >>> round(exp3_abs_bound(10_000, 2000, 0.2), 1)
    397.6
    """
    rounds, log_experts, cost = as_size(T, "T"), math.log(as_size(K, "K")), as_share(cost, "cost")
    rate, squares = as_rate(eta), (cost**2 + 1.0) * rounds
    if rate == "adaptive":
        return adaptive_on_estimates(squares, log_experts, cost)
    return _by_squares(squares, log_experts, rate)


def exp3_bound(T: int, K: int, eta: float | str | None = None) -> float:
    """The expected regret of `abstain.Exp3`, which sees the loss of the expert it follows alone, is at most this.

    Theorem 1's proof with ``P_t(j) = q_t(j)``, so that K stands for c^2 + 1: ``log K / eta + eta T K / 2``;
    ``sqrt(2 T K log K)`` if tuned, ``2 sqrt(T K log K)`` for "anytime".

    >>> round(exp3_bound(10_000, 2000) / exp3_abs_bound(10_000, 2000, 0.2), 1)
    43.9
    """
    rounds, experts, rate = as_size(T, "T"), as_size(K, "K"), as_rate(eta, ("tuned", "anytime"))
    return _by_squares(experts * rounds, math.log(experts), rate)


def _by_squares(squares: float, log_experts: float, rate: float | str) -> float:
    """``squares`` bounds the expected sum over rounds of ``sum_j q(j) Lhat(j)^2``."""
    if isinstance(rate, float):
        return log_experts / rate + rate * squares / 2.0
    return math.sqrt((2.0 if rate == "tuned" else 4.0) * squares * log_experts)


def adaptive_on_estimates(squares: float, log_experts: float, cost: float) -> float:
    """The adaptive rate's regret on the estimates, if V is at most ``squares`` in the end."""
    rounded, summed = 2.0**0.125, (1.0 + math.sqrt(2.0)) / 2.0
    doublings = (1.0 + cost) * math.log2(1.0 + squares)
    return float((rounded + summed) * math.sqrt((1.0 + squares) * log_experts) + rounded * log_experts + doublings)


def cont_exp3_abs_epsilon(T: int, d: int, gamma: float = 1.0) -> float:
    """The radius of theorem 2, ``T^(-1/(2+d)) gamma^(2/(2+d))``, its hidden constant taken as 1."""
    return radius(*_as_cover(T, d, gamma))


def cont_exp3_abs_rate(T: int, d: int, gamma: float = 1.0) -> float:
    """The rate of theorem 2, ``T^((d+1)/(d+2)) gamma^(-d/(d+2))``, without constants, logarithms and M*_T(gamma)."""
    rounds, dim, width = _as_cover(T, d, gamma)
    return float(rounds ** ((dim + 1) / (dim + 2)) * width ** (-dim / (dim + 2)))


def cont_exp3_abs_bound(
    T: int,
    n_balls: int,
    epsilon: float,
    gamma: float,
    *,
    lipschitz: float = 1.0,
    n_actions: int = 3,
    close: int = 0,
) -> float:
    """Theorem 2 with its proof's constants; ContEXP3-ABS's expected regret against any pair of functions with this
    ``lipschitz`` constant, and M*_T(gamma) = ``close`` of its own (`close_calls`), is at most this.

    ``2 sqrt(T N log K) + (3 L / 2 + sqrt(5) / 2) epsilon T / gamma + M*``, for at most ``n_balls`` N balls, the rate
    ``eta = sqrt(N log K / T)`` and a grid of ``n_actions`` K = ``learner.experts.n_experts`` pairs. For the three
    actions (K = 3) the ``sqrt(5) / 2``, what a grid misses, is 0. It is at most T. The documentation says where the
    printed proof has other constants.

    >>> round(cont_exp3_abs_bound(10**6, 100, epsilon=0.02, gamma=0.5))
    80963
    """
    rounds, balls = as_size(T, "T"), as_size(n_balls, "n_balls")
    _, actions, width = _as_cover(1, n_actions, gamma)
    size = as_number(epsilon, "epsilon", f"a number from {LEAST:g} to {LARGEST:g}", lambda e: LEAST <= e <= LARGEST)
    slope = as_number(lipschitz, "lipschitz", f"a number from 0 to {LARGEST:g}", lambda one: 0.0 <= one <= LARGEST)
    missed = as_number(close, "close", f"a number from 0 to {LARGEST:g}", lambda n: 0.0 <= n <= LARGEST)
    change = 1.5 * slope + (math.sqrt(5.0) / 2.0 if actions > 3.0 else 0.0)
    learning = 2.0 * math.sqrt(rounds) * math.sqrt(balls * math.log(actions))
    return float(min(rounds, learning + change * size / width * rounds + missed))


def _as_cover(T: int, d: int, gamma: float) -> tuple[Any, Any, float]:
    width = as_number(gamma, "gamma", f"a number in (0, 1], at least {LEAST:g}", lambda g: LEAST <= g <= 1.0)
    return as_size(T, "T"), as_size(d, "d"), width


def close_calls(margins: ArrayLike, gamma: float) -> int:
    """M*_T(gamma) of theorem 2: in how many rounds ``|r*(x_t)| <= gamma``, given the margins r*(x_t) (T,)."""
    width = as_number(gamma, "gamma", "a number that is not negative", lambda g: g >= 0.0)
    values = as_floats(margins, "margins")
    if values.ndim != 1 or np.isnan(values).any():
        raise InputError(f"margins: expected one number a round, got {shown(margins)}")
    return int((np.abs(values) <= width).sum())


def ucb_nt_bound(
    deltas: ArrayLike,
    covering: Sequence[Sequence[int]] | str,
    T: int,
    beta: float = 2.5,
    *,
    graph: ArrayLike | None = None,
) -> float:
    """Theorem 3: UCB-NT's expected regret is at most ``sum_C max Delta / min Delta^2 8 beta log T + K beta / (beta -
    2)``, and at most ``T max Delta``, which it never says more than.

    ``covering`` must be admissible for the graph of every round; for UCB it is every expert by itself. "best" is the
    theorem's minimum over the coverings of ``graph`` (K, K), the edges that all rounds share (`best_covering`: exact up
    to `MOST_EXACT` experts with a gap). Experts with Delta = 0 leave their sets first: following them costs nothing.

    For beta from 2 down to (not including) 1/2 the last term is ``K 2 beta / (2 beta - 1)``, by Hoeffding's inequality
    for losses in [0, 1]; the documentation has the proof.

    >>> round(ucb_nt_bound([0.0, 0.5, 0.5], [[0, 1, 2]], 1000))
    291
    >>> graph = [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    >>> round(ucb_nt_bound([0.0, 0.5, 0.5], "best", 1000, beta=0.625, graph=graph))
    84
    """
    gaps, log_rounds, beta = as_stochastic(deltas, T, beta)
    with np.errstate(divide="ignore", invalid="ignore"):
        looks = 8.0 * beta * log_rounds / gaps / gaps
    return by_covering(gaps, looks, covering, graph, as_size(T, "T"), unlikely(len(gaps), beta))


def by_covering(
    gaps: Floats, looks: Floats, covering: object, graph: ArrayLike | None, rounds: float, rest: float
) -> float:
    """``sum_C max gap * max looks + rest`` for a covering, or the best one of the graph; at most ``T max gap``."""
    edges = None if graph is None else in_graph(gaps, graph)
    if isinstance(covering, str):
        if covering != "best" or edges is None:
            missing = " without a graph" if covering == "best" else ""
            raise InputError(f"covering: expected sets, or 'best' and a graph, got {shown(covering)}{missing}")
        groups = cheapest_covering(gaps, looks, edges & edges.T)
    else:
        groups = as_covering(covering, len(gaps))
        if edges is not None and not all(edges[np.ix_(group, group)].all() for group in groups):
            raise InputError(f"covering: expected sets in which everybody updates everybody, got {shown(covering)}")
    return min(rounds * float(gaps.max()), price(groups, gaps, looks) + rest)


def ucb_gt_bound(
    deltas: ArrayLike,
    covering: Sequence[Sequence[int]] | str,
    T: int,
    beta: float = 2.5,
    *,
    graph: ArrayLike | None = None,
) -> float:
    """Theorem 4 with all its terms: UCB-GT's expected regret is at most ``sum_C max Delta max s + K beta / (beta -
    2)``, and at most ``T max Delta``.

    ``s`` is how often an expert has to be updated until ``3 sqrt(2 beta log T / s) + (K - 1) / s = Delta``; it is at
    most ``18 beta log T / Delta^2 + 2 (K - 1) / Delta``. The paper's O() has neither of these: its proof bounds the
    optimistic step's error by ``C S`` for "some constant C", but what it shows is ``S + (K - 1) / Q``, and this K - 1
    counts for every set. So what is hidden is of the order ``(K - 1) sum_C max Delta / min Delta``: K^2, not K, for
    every expert by itself.

    ``covering`` and ``graph`` are as in `ucb_nt_bound`; UCB-GT's graphs always hold G^SUB, so that coverings of that
    one can be given before the game. The last term for beta of 2 and less is the same, too.

    >>> round(ucb_gt_bound([0.0, 0.5, 0.5], "best", 10_000, graph=np.ones((3, 3))))
    848
    """
    gaps, log_rounds, beta = as_stochastic(deltas, T, beta)
    widths, others = 9.0 * 2.0 * beta * log_rounds, len(gaps) - 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        roots = (np.sqrt(widths) + np.sqrt(widths + 4.0 * gaps * others)) / 2.0 / gaps
        looks = np.where(gaps > 0.0, roots * roots, np.inf)
    return by_covering(gaps, looks, covering, graph, as_size(T, "T"), unlikely(len(gaps), beta))


def exp3_abs_tail_bound(
    T: int, K: int, cost: float, ix: float, delta: float = 0.01, eta: float | str | None = "adaptive"
) -> float:
    """With probability ``1 - delta`` the regret of ``Exp3Abs(eta=eta, ix=ix)`` is at most this, on any sequence and
    against every expert at once; at most T.

    With ``D = log((K + 2) / delta)`` and ``Z = T + D / (2 ix)`` it is the regret on the estimates, plus ``ix Z + D / (2
    ix) + (1 + c) sqrt(T D / 2)``. The first is ``log K / eta + eta (c^2 T + Z) / 2`` for a number (or the "tuned" one
    of theorem 1); for "anytime" and "adaptive" see the documentation, which has the proof. It is least for an ``ix`` of
    about ``sqrt(D / (2 T))``. Without ``ix`` there is no such bound: the regret of single runs has a heavy tail.

    >>> round(exp3_abs_tail_bound(10_000, 20, 0.2, ix=0.02))
    1060
    """
    rounds, experts, cost = as_size(T, "T"), as_size(K, "K"), as_share(cost, "cost")
    ix = as_number(ix, "ix", f"a positive number ({LEAST:g} to {LARGEST:g})", lambda x: LEAST <= x <= LARGEST)
    delta = as_number(delta, "delta", f"a number in (0, 1), at least {LEAST:g}", lambda share: LEAST <= share < 1.0)
    log_experts, doubt = math.log(experts), math.log((experts + 2.0) / delta)
    seen = rounds + doubt / (2.0 * ix)
    squares = cost**2 * rounds + seen
    rate, spread = as_rate(eta), cost**2 + 1.0
    if rate == "adaptive":
        on_estimates = adaptive_on_estimates(squares, log_experts, cost)
    elif rate == "anytime":
        on_estimates = 2.0 * math.sqrt(spread * rounds * log_experts)
        on_estimates += math.sqrt(log_experts / spread) * doubt / (4.0 * ix)
    else:
        number = rate if isinstance(rate, float) else math.sqrt(2.0 * log_experts / (spread * rounds))
        on_estimates = (log_experts / number if log_experts > 0.0 else 0.0) + number * squares / 2.0
    of_runs = ix * seen + doubt / (2.0 * ix) + (1.0 + cost) * math.sqrt(rounds * doubt / 2.0)
    return min(rounds, on_estimates + of_runs)

"""Bounds on regret: theorems 1 to 4 with their constants, EXP3's bound, and a bound with high probability."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._core.validation import as_count, as_floats, as_number, as_share, is_number
from ..errors import InputError, shown
from ..learners.cover.cont_exp3_abs import radius
from ..learners.fast_rates import fast_rate
from ..typing import Floats
from .coverings import (
    LARGEST,
    LEAST,
    as_covering,
    as_size,
    as_stochastic,
    cheapest_covering,
    in_graph,
    price,
    unlikely,
)


def as_rate(eta: Any, words: tuple[str, ...] = ("tuned", "anytime", "adaptive")) -> float | str:
    """Check a rate of exponential weights: a number, or one of the words; None means "tuned"."""
    if is_number(eta) and LEAST <= eta <= LARGEST:
        return float(eta)
    word = eta if isinstance(eta, str) else "tuned" if eta is None else ""
    if word in words:
        return word
    expected = f"{', '.join(map(repr, words))} or a positive number ({LEAST:g} to {LARGEST:g})"
    raise InputError(f"eta: expected {expected}, got {shown(eta)}")


def exp3_abs_bound(
    T: int, K: int, cost: float, eta: float | str | None = None, delay: int = 0, gap: float | None = None
) -> float:
    """Bound the expected regret of EXP3-ABS on any sequence: theorem 1.

    The bound is ``log K / eta + eta T (c^2 + 1) / 2`` for a number; ``sqrt(2 (c^2 + 1) T log K)`` for the tuned rate;
    ``2 sqrt((c^2 + 1) T log K)`` for "anytime"; for "adaptive", with ``S = 1 + (c^2 + 1) T``,
    ``(2^(1/8) + (1 + sqrt(2)) / 2) sqrt(S log K) + 2^(1/8) log K + (1 + c) log2 S`` (proved in the documentation).

    If every round is learnt ``delay`` = d rounds late, ``eta d T`` is added, for a number and for "tuned" (proved in
    the documentation); ``eta = sqrt(log K / (T ((c^2 + 1) / 2 + d)))`` then is the best rate.

    For "both" it is of the order ``sqrt((c^2 + 1) T log K log T)``, and of the order ``(c^2 + 1) log T log(K T) / gap``
    for i.i.d. rounds if the ``gap`` is given. The documentation has the constants, which are large; it is at most T.

    It bounds an expectation: the regret of single runs can be many times larger (`exp3_abs_tail_bound`).

    Args:
        T: The number of rounds.
        K: The number of experts.
        cost: The cost of abstaining, in [0, 1].
        eta: The rate: a positive number, "tuned" (or None), "anytime", "adaptive" or "both".
        delay: How many rounds late every round is learnt, as in `abstain.simulate`.
        gap: For "both" and i.i.d. rounds: by how much the best expert's mean loss is below that of every other; None:
            any sequence.

    Returns:
        The bound.

    Raises:
        InputError: An argument is out of range, or there is a delay at a rate that is not the same in all rounds.

    >>> round(exp3_abs_bound(10_000, 2000, 0.2), 1)
    397.6
    >>> round(exp3_abs_bound(10_000, 2000, 0.2, eta=0.01, delay=10), 1)
    1812.1
    >>> [round(exp3_abs_bound(T, 2, 0.3, "both") / T, 2) for T in (10**6, 10**8, 10**10)]
    [0.46, 0.05, 0.01]
    """
    rounds, log_experts, cost = as_size(T, "T"), math.log(as_size(K, "K")), as_share(cost, "cost")
    rate, squares = as_rate(eta, ("tuned", "anytime", "adaptive", "both")), (cost**2 + 1.0) * rounds
    late = as_count(delay, "delay", least=0)
    if gap is not None:
        gap = as_number(gap, "gap", f"a number in (0, 1], at least {LEAST:g}", lambda gap: LEAST <= gap <= 1.0)
        if rate != "both":
            raise InputError(f"gap: expected None unless the rate is 'both', got {gap:g} and {shown(eta)}")
    if late > 0:
        if rate == "tuned":
            rate = math.sqrt(2.0 * log_experts / squares)
        if isinstance(rate, str):
            raise InputError(f"delay: expected 0 at the rate {rate!r}, got {late}")
        return _by_squares(squares, log_experts, rate) + rate * late * rounds if log_experts > 0.0 else 0.0
    if rate == "adaptive":
        return adaptive_on_estimates(squares, log_experts, cost)
    if rate == "both":
        return _by_matching(rounds, log_experts, cost, gap)
    return _by_squares(squares, log_experts, rate)


def _by_matching(rounds: float, log_experts: float, cost: float, gap: float | None) -> float:
    """Bound the regret of the rate "both", at most T."""
    if log_experts == 0.0:
        return 0.0  # the only expert is always followed
    step, spread, least = 1.0 / (24.0 + 2.0 * log_experts), cost**2 + 1.0, 1e-9
    changes = 1.0 + (0.5 / step + 0.25) * math.log(1.0 + spread * rounds / (2.0 * step * least))
    rest, weight = log_experts + (1.0 + cost) * changes, 121.0 * math.sqrt(step * (changes + 1.0) * spread)
    bound = min(rounds, rest + weight * math.sqrt(rounds) * math.sqrt(log_experts))
    if gap is not None:
        logs = 1.0 + log_experts + math.log(rounds)
        bound = min(bound, weight**2 * logs / gap + 2.0 * rest + 2.0 * weight * math.sqrt(logs + least * rounds))
    return bound


def exp3_abs_tracking_rate(T: int, K: int, cost: float, switches: int) -> float:
    """Compute the rate for `abstain.Exp3Abs` with ``memory="share"`` if T and the number of switches are known.

    It is ``sqrt(2 (s + 1) log(K T) / ((c^2 + 1) T))``, after EXP3.S of Auer, Cesa-Bianchi, Freund and Schapire (2002,
    corollary 8.2).

    Args:
        T: The number of rounds.
        K: The number of experts, 2 or more.
        cost: The cost of abstaining, in [0, 1].
        switches: s, how often the best expert changes, 0 or more.

    Returns:
        The rate.

    Raises:
        InputError: An argument is out of range.

    >>> round(exp3_abs_tracking_rate(10_000, 50, 0.2, switches=4), 3)
    0.112
    """
    rounds, experts, cost = as_size(T, "T"), as_count(K, "K", least=2), as_share(cost, "cost")
    pieces = as_count(switches, "switches", least=0) + 1.0
    return math.sqrt(2.0 * pieces * (math.log(experts) + math.log(rounds)) / ((cost**2 + 1.0) * rounds))


def exp3_abs_tracking_bound(T: int, K: int, cost: float, switches: int, eta: float | str | None = None) -> float:
    """Bound the expected regret of `abstain.Exp3Abs` with ``memory="share"`` to any sequence of experts with so many
    switches.

    The bound is ``(s + 1) log(K T) / eta + eta T (c^2 + 1) / 2`` for a number and ``sqrt(2 (s + 1) (c^2 + 1) T log(K
    T))`` for the tuned one, after theorem 8.1 of Auer, Cesa-Bianchi, Freund and Schapire (2002), *The nonstochastic
    multiarmed bandit problem*. For "adaptive", which does not know s, it is of the order ``(s / 2 + 4) sqrt((c^2 + 1) T
    log(K T))``. The documentation has proofs and constants. It is at most T.

    Args:
        T: The number of rounds.
        K: The number of experts, 2 or more.
        cost: The cost of abstaining, in [0, 1].
        switches: s, how often the sequence of experts changes, 0 or more.
        eta: The rate: a positive number, "tuned" (or None), which is `exp3_abs_tracking_rate`, or "adaptive".

    Returns:
        The bound.

    Raises:
        InputError: An argument is out of range.

    >>> [round(exp3_abs_tracking_bound(10_000, 50, 0.2, switches=s)) for s in (0, 1, 4)]
    [522, 739, 1168]
    """
    tuned, rate = exp3_abs_tracking_rate(T, K, cost, switches), as_rate(eta, ("tuned", "adaptive"))
    rounds, spread, pieces = float(T), float(cost) ** 2 + 1.0, switches + 1.0
    if rate == "adaptive":
        logs, squares = math.log(K) + math.log(rounds + 1.0), 1.0 + spread * rounds
        root = (pieces / 2.0 + 2.0 + math.sqrt(2.0)) * math.sqrt(logs) - math.sqrt(math.log(K))
        bound = pieces * logs + root * math.sqrt(squares) + (1.0 + cost) * math.log2(squares)
    else:
        eta = tuned if isinstance(rate, str) else rate
        bound = pieces * (math.log(K) + math.log(rounds)) / eta + eta * spread * rounds / 2.0
    return min(rounds, bound)


def doubly_robust_bound(T: int, K: int) -> float:
    """Bound the expected regret of `abstain.DoublyRobust` on any sequence, if labels come at once.

    The bound is theorem A of the page "Doubly robust": ``18.9 sqrt((1 + 1.4 T) log K) + 1.05 sqrt(T log K log2(1 + 1.4
    T)) + 0.8 log^2 K sqrt(T) + 1.1 log K + 97``, for the paper's feedback or "both", without memory, floor, guard and
    capacity, and for rules such as rings, balls and thresholds in order. It excludes regret that grows as T; what is
    measured is far smaller.

    Args:
        T: The number of rounds.
        K: The number of experts, 2 or more.

    Returns:
        The bound.

    Raises:
        InputError: An argument is out of range.

    >>> [round(doubly_robust_bound(T, 2) / T, 3) for T in (10_000, 1_000_000)]
    [0.232, 0.023]
    """
    rounds, log_experts = as_size(T, "T"), math.log(as_count(K, "K", least=2))
    squares = 1.0 + 1.4 * rounds
    return (
        18.9 * math.sqrt(squares * log_experts)
        + 1.05 * math.sqrt(rounds * log_experts * math.log2(squares))
        + 0.8 * log_experts**2 * math.sqrt(rounds)
        + 1.1 * log_experts
        + 97.0
    )


def fast_rates_bound(T: int, N: int, cost: float, eta: float | None = None) -> float:
    """Bound the expected regret of `abstain.FastRates` to the best of N predictors, on any sequence.

    The bound is ``log N / eta`` if ``(e^eta - 1) / eta <= 2 (1 - c)``, whatever T is (Neu and Zhivotovskiy 2020,
    theorems 1 and 12; they state it up to ``eta = 2 (1 - 2 c)``, where it is false). For a larger eta and c up to
    1/2 it is ``log N / eta + eta T / 8`` (the proof of their corollary 2).

    Args:
        T: The number of rounds.
        N: The number of predictors.
        cost: The cost of abstaining, in [0, 1/2].
        eta: The rate, a positive number; by default the learner's own, for costs below 1/2.

    Returns:
        The bound.

    Raises:
        InputError: An argument is out of range.

    >>> [round(fast_rates_bound(T, 100, 0.4), 2) for T in (1000, 1_000_000)]
    [13.0, 13.0]
    """
    rounds, log_predictors = as_size(T, "T"), math.log(as_size(N, "N"))
    cost = as_number(cost, "cost", "a number in [0, 1/2]", lambda cost: 0.0 <= cost <= 0.5)
    if eta is None and cost >= 0.5:
        raise InputError(f"cost: expected less than 1/2 unless you give eta, got {cost:g}")
    fast = fast_rate(cost) if cost < 0.5 else 0.0
    if eta is not None:
        eta = as_number(eta, "eta", "a positive number", lambda eta: LEAST <= eta <= LARGEST)
    rate = fast if eta is None else eta
    return log_predictors / rate + (0.0 if rate <= fast else rate * rounds / 8.0)


def exp3_bound(T: int, K: int, eta: float | str | None = None) -> float:
    """Bound the expected regret of `abstain.Exp3`, which sees only the loss of the expert it follows.

    Theorem 1's proof with ``P_t(j) = q_t(j)`` puts K in the place of c^2 + 1: ``log K / eta + eta T K / 2``,
    ``sqrt(2 T K log K)`` if tuned, ``2 sqrt(T K log K)`` for "anytime".

    Args:
        T: The number of rounds.
        K: The number of experts.
        eta: The rate: a positive number, "tuned" (or None) or "anytime".

    Returns:
        The bound.

    Raises:
        InputError: An argument is out of range.

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
    """Bound the adaptive rate's regret on the estimates if V is at most ``squares`` in the end."""
    rounded, summed = 2.0**0.125, (1.0 + math.sqrt(2.0)) / 2.0
    doublings = (1.0 + cost) * math.log2(1.0 + squares)
    return float((rounded + summed) * math.sqrt((1.0 + squares) * log_experts) + rounded * log_experts + doublings)


def cont_exp3_abs_epsilon(T: int, d: int, gamma: float = 1.0) -> float:
    """Compute the radius of theorem 2, ``T^(-1/(2+d)) gamma^(2/(2+d))``, with 1 for its hidden constant.

    Args:
        T: The number of rounds.
        d: The number of features.
        gamma: The width of the ramp, in (0, 1].

    Returns:
        The radius.

    Raises:
        InputError: An argument is out of range.
    """
    return radius(*_as_cover(T, d, gamma))


def cont_exp3_abs_rate(T: int, d: int, gamma: float = 1.0) -> float:
    """Compute the rate of theorem 2, ``T^((d+1)/(d+2)) gamma^(-d/(d+2))``: no constants, logarithms or M*_T(gamma).

    Args:
        T: The number of rounds.
        d: The number of features.
        gamma: The width of the ramp, in (0, 1].

    Returns:
        The rate.

    Raises:
        InputError: An argument is out of range.
    """
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
    """Bound ContEXP3-ABS's expected regret against any Lipschitz pair of functions: theorem 2 with the constants of its
    proof.

    The bound is ``2 sqrt(T N log K) + (3 L / 2 + sqrt(5) / 2) epsilon T / gamma + M*``, and at most T. With three
    actions (K = 3) the ``sqrt(5) / 2``, which is what a grid misses, is 0. The documentation shows where the printed
    proof has other constants.

    Args:
        T: The number of rounds.
        n_balls: N, the largest number of balls; the rate is ``eta = sqrt(N log K / T)``.
        epsilon: The radius of the balls.
        gamma: The width of the ramp, in (0, 1].
        lipschitz: L, the Lipschitz constant of the pair.
        n_actions: K, the number of pairs in the grid, ``learner.experts.n_experts``.
        close: M*_T(gamma) of the pair, see `close_calls`.

    Returns:
        The bound.

    Raises:
        InputError: An argument is out of range.

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
    """Count the rounds with ``|r*(x_t)| <= gamma``: M*_T(gamma) of theorem 2.

    Args:
        margins: The margins r*(x_t) (T,).
        gamma: The width, not negative.

    Returns:
        The number of rounds.

    Raises:
        InputError: The margins are not one number per round, or ``gamma`` is negative.
    """
    width = as_number(gamma, "gamma", "a number that is not negative", lambda g: g >= 0.0)
    values = as_floats(margins, "margins")
    if values.ndim != 1 or np.isnan(values).any():
        raise InputError(f"margins: expected one number per round, got {shown(margins)}")
    return int((np.abs(values) <= width).sum())


def ucb_nt_bound(
    deltas: ArrayLike,
    covering: Sequence[Sequence[int]] | str,
    T: int,
    beta: float = 2.5,
    *,
    graph: ArrayLike | None = None,
) -> float:
    """Bound UCB-NT's expected regret: theorem 3.

    The bound is ``sum_C max Delta / min Delta^2 8 beta log T + K beta / (beta - 2)``, and at most ``T max Delta``.
    Experts with Delta = 0 leave their sets first, because following them costs nothing. For beta of 2 and less, but
    above 1/2, the last term is ``K 2 beta / (2 beta - 1)``, by Hoeffding's inequality for losses in [0, 1]; the
    documentation has the proof.

    Args:
        deltas: The gap of each expert (K,).
        covering: Sets of experts that are admissible for the graph of every round; for UCB, each expert alone. "best"
            means the theorem's minimum over the coverings of ``graph``, see `best_covering`.
        T: The number of rounds.
        beta: The width of the confidence bounds, above 1/2.
        graph: The edges that all rounds share (K, K).

    Returns:
        The bound.

    Raises:
        InputError: An argument is out of range, or the covering does not fit the experts or the graph.

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
    """Return ``sum_C max gap * max looks + rest`` for a covering, or the graph's best one; at most ``T max gap``."""
    edges = None if graph is None else in_graph(gaps, graph)
    if isinstance(covering, str):
        if covering != "best" or edges is None:
            missing = " without a graph" if covering == "best" else ""
            raise InputError(f"covering: expected sets, or 'best' and a graph, got {shown(covering)}{missing}")
        groups = cheapest_covering(gaps, looks, edges & edges.T)
    else:
        groups = as_covering(covering, len(gaps))
        if edges is not None and not all(edges[np.ix_(group, group)].all() for group in groups):
            raise InputError(f"covering: expected sets in which all experts update each other, got {shown(covering)}")
    return min(rounds * float(gaps.max()), price(groups, gaps, looks) + rest)


def ucb_gt_bound(
    deltas: ArrayLike,
    covering: Sequence[Sequence[int]] | str,
    T: int,
    beta: float = 2.5,
    *,
    graph: ArrayLike | None = None,
) -> float:
    """Bound UCB-GT's expected regret: theorem 4 with all its terms.

    The bound is ``sum_C max Delta max s + K beta / (beta - 2)``, and at most ``T max Delta``. Here ``s`` is how often
    an expert has to be updated until ``3 sqrt(2 beta log T / s) + (K - 1) / s = Delta``; it is at most
    ``18 beta log T / Delta^2 + 2 (K - 1) / Delta``. The paper's O() hides the second term: its proof bounds the
    optimistic step's error by ``C S`` for "some constant C", but it shows ``S + (K - 1) / Q``, and this K - 1 counts
    for every set. The hidden part is of the order ``(K - 1) sum_C max Delta / min Delta``: K^2, not K, if every expert
    is a set alone.

    Args:
        deltas: The gap of each expert (K,).
        covering: Sets of experts, or "best", as in `ucb_nt_bound`. UCB-GT's graphs always contain G^SUB, so a covering
            of G^SUB is known before the game.
        T: The number of rounds.
        beta: The width of the confidence bounds, above 1/2; for 2 and less the last term is that of `ucb_nt_bound`.
        graph: The edges that all rounds share (K, K).

    Returns:
        The bound.

    Raises:
        InputError: An argument is out of range, or the covering does not fit the experts or the graph.

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
    T: int, K: int, cost: float, ix: float | str, delta: float = 0.01, eta: float | str | None = "adaptive"
) -> float:
    """Bound the regret of ``Exp3Abs(eta=eta, ix=ix)`` with high probability, on any sequence and against all experts
    at once.

    With ``D = log((K + 2) / delta)`` and ``Z = T + D / (2 ix)`` it is the regret on the estimates plus ``ix Z + D / (2
    ix) + (1 + c) sqrt(T D / 2)``. The former is ``log K / eta + eta (c^2 T + Z) / 2`` for a number (or the "tuned" one
    of theorem 1); for "anytime" and "adaptive" see the documentation, which has the proof. K + 2 events may go wrong;
    at the anytime rate there is one more, and ``D = log((K + 3) / delta)``. The bound is at most T, and smallest for
    an ``ix`` of about ``sqrt(D / (2 T))``. Without ``ix`` there is no such bound: the regret of single runs has a heavy
    tail.

    A constant ``ix`` lets regret grow as T. For ``ix="anytime"`` and the anytime rate, with ``D = log((K + 2) /
    delta)``, the bound is ``(2 sqrt((c^2 + 1) log K) + sqrt(log K / (c^2 + 1)) + D sqrt((c^2 + 1) / log K) + (1 + c)
    sqrt(D / 2)) sqrt(T) + D / 2``; at the adaptive rate it is of the order ``sqrt(T log K log T) + D sqrt(T / log K)``,
    with constants in the documentation. A rate that stays the same is half that for ``ix``.

    Args:
        T: The number of rounds.
        K: The number of experts.
        cost: The cost of abstaining, in [0, 1].
        ix: The learner's ``ix``, a positive number or "anytime".
        delta: The probability that the regret is larger.
        eta: The rate: a positive number, "tuned" (or None), "anytime" or "adaptive".

    Returns:
        The bound, which holds with probability ``1 - delta``.

    Raises:
        InputError: An argument is out of range.

    >>> round(exp3_abs_tail_bound(10_000, 20, 0.2, ix=0.02))
    1060
    >>> [round(exp3_abs_tail_bound(T, 20, 0.2, ix="anytime", eta="anytime") / T, 3) for T in (10_000, 1_000_000)]
    [0.122, 0.012]
    """
    rounds, experts, cost = as_size(T, "T"), as_size(K, "K"), as_share(cost, "cost")
    falls = isinstance(ix, str) and ix == "anytime"
    if not falls:
        wanted = f"'anytime' or a positive number ({LEAST:g} to {LARGEST:g})"
        ix = as_number(ix, "ix", wanted, lambda x: LEAST <= x <= LARGEST)
    delta = as_number(delta, "delta", f"a number in (0, 1), at least {LEAST:g}", lambda share: LEAST <= share < 1.0)
    rate, spread, log_experts = as_rate(eta), cost**2 + 1.0, math.log(experts)
    if falls and log_experts == 0.0:
        return 0.0  # the only expert is always followed
    if rate == "tuned":
        rate = math.sqrt(2.0 * log_experts / (spread * rounds))
    if falls and isinstance(rate, float):
        falls, ix = False, rate / 2.0
    # what may go wrong, each with probability delta / events
    events = experts + (3.0 if rate == ("adaptive" if falls else "anytime") else 2.0)
    doubt = math.log(events / delta)
    of_draws = (1.0 + cost) * math.sqrt(rounds * doubt / 2.0)
    if falls:
        return float(min(rounds, _by_falling_ix(rounds, log_experts, cost, doubt, rate == "adaptive") + of_draws))
    seen = rounds + doubt / (2.0 * float(ix))
    squares = cost**2 * rounds + seen
    if rate == "adaptive":
        on_estimates = adaptive_on_estimates(squares, log_experts, cost)
    elif rate == "anytime":
        on_estimates = 2.0 * math.sqrt(spread * rounds * log_experts)
        on_estimates += math.sqrt(log_experts / spread) * doubt / (4.0 * float(ix))
    else:
        on_estimates = (log_experts / float(rate) if log_experts > 0.0 else 0.0) + float(rate) * squares / 2.0
    return float(min(rounds, on_estimates + float(ix) * seen + doubt / (2.0 * float(ix)) + of_draws))


def _by_falling_ix(rounds: float, log_experts: float, cost: float, doubt: float, adaptive: bool) -> float:
    """Bound what half the rate of each round, added to P, leaves: regret on the estimates and their errors."""
    spread = cost**2 + 1.0
    if not adaptive:
        first = math.sqrt(log_experts / spread)
        on_estimates = 2.0 * math.sqrt(spread * rounds * log_experts) + doubt / 2.0
        return on_estimates + (first + doubt / first) * math.sqrt(rounds)
    scaled = log_experts / 2.0**0.25
    least = 2.0 * scaled / (doubt + math.sqrt(doubt**2 + 4.0 * (1.0 + spread * rounds) * scaled))
    least = min(least, 2.0**-0.125)  # no rate is below
    squares = spread * rounds + doubt / least
    doublings = max(log_experts, 0.5) * math.log2(1.0 + squares)
    bias = math.sqrt(rounds * (doublings + doubt) / (8.0 * (1.0 - math.exp(-0.5))))
    return float(adaptive_on_estimates(squares, log_experts, cost) + doubt / least + bias)

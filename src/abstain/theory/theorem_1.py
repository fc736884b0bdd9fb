"""Theorem 1: exponential weights against any sequence; and what EXP3 promises, which sees its own loss only."""

import math

from ..tables import as_share
from .arguments import as_rate, as_size


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

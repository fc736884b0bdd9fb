"""What the bounds are given: sizes, rates, gaps, graphs."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._core.validation import as_floats, as_number, is_number
from ..errors import InputError, shown
from ..graphs.base import as_edges
from ..typing import Bools, Floats

MOST_EXACT = 16
"""The largest number of experts for which the exact searches are meant: their time grows exponentially."""

LEAST, LARGEST = 1e-100, 1e100
"""Numbers beyond any use, and so far from overflow that every bound is finite."""


def as_size(value: Any, name: str) -> float:
    """A number of rounds, experts or features."""
    return as_number(value, name, f"a number from 1 to {LARGEST:g}", lambda size: 1.0 <= size <= LARGEST)


def as_rate(eta: Any, words: tuple[str, ...] = ("tuned", "anytime", "adaptive")) -> float | str:
    """A rate of exponential weights: a number, or one of the words; None is "tuned"."""
    if is_number(eta) and LEAST <= eta <= LARGEST:
        return float(eta)
    word = eta if isinstance(eta, str) else "tuned" if eta is None else ""
    if word in words:
        return word
    expected = f"{', '.join(map(repr, words))} or a positive number ({LEAST:g} to {LARGEST:g})"
    raise InputError(f"eta: expected {expected}, got {shown(eta)}")


def as_graph(matrix: ArrayLike) -> Bools:
    """A graph in which everybody updates themselves."""
    edges = as_edges(matrix)
    if not edges.diagonal().all():
        raise InputError("matrix: expected every expert to update itself, got 0 on the diagonal")
    return edges


def as_shared_graph(matrices: Iterable[ArrayLike]) -> Bools:
    """The edges that all these graphs share."""
    if not isinstance(matrices, Iterable):
        raise InputError(f"matrices: expected graphs, got {shown(matrices)}")
    graphs = [as_graph(matrix) for matrix in matrices]
    if len({len(graph) for graph in graphs}) != 1:
        sizes = [len(graph) for graph in graphs]
        raise InputError(f"matrices: expected at least one graph, all of as many experts, got {shown(sizes)}")
    return np.asarray(np.logical_and.reduce(graphs))


def as_gaps(deltas: ArrayLike) -> Floats:
    """The gaps of the experts, of which some may be 0."""
    gaps = as_floats(deltas, "deltas")
    if gaps.ndim != 1 or len(gaps) == 0 or not ((gaps == 0.0) | ((gaps >= LEAST) & (gaps <= 1.0))).all():
        raise InputError(f"deltas: expected gaps, each 0 or a number from {LEAST:g} to 1, got {shown(deltas)}")
    return gaps


def as_stochastic(deltas: ArrayLike, T: int, beta: float) -> tuple[Floats, float, float]:
    """The gaps, log T and beta of a bound for the stochastic game."""
    width = as_number(
        beta, "beta", f"a number above 1/2, at most {LARGEST:g}", lambda b: 0.5 < b <= LARGEST and 2.0 * b > 1.0
    )
    return as_gaps(deltas), math.log(as_size(T, "T")), width


def in_graph(gaps: Floats, matrix: ArrayLike) -> Bools:
    """The graph of the experts with these gaps."""
    edges = as_graph(matrix)
    if len(gaps) != len(edges):
        raise InputError(f"matrix: expected {len(gaps)} experts, as many as gaps, got {len(edges)}")
    return edges


def unlikely(n_experts: int, beta: float) -> float:
    """What rounds in which an estimate is further off than its width cost all experts together.

    ``K beta / (beta - 2)`` as in the paper's proof, for beta > 2; below, ``K 2 beta / (2 beta - 1)`` by Hoeffding's
    inequality for losses in [0, 1], as the documentation proves.
    """
    return n_experts * (beta / (beta - 2.0) if beta > 2.0 else 2.0 * beta / (2.0 * beta - 1.0))

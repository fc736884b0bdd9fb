"""Random games, the odd ones included, as hypothesis strategies."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

import abstain as ab

SHAPES = ("random", "nested", "everyone", "nobody", "one", "same")


LONG = settings.default is settings.get_profile("long")
"""Whether pytest was called with ``--hypothesis-profile long``, as `make test-long` does."""


def games(n: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a test of random games: n of them in `make test-long`, a tenth of that in `make test`."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        decorated = settings(max_examples=n if LONG else n // 10)(test)
        decorated.is_longer = LONG
        return decorated

    return decorate


@dataclass
class Table:
    """Experts, a cost, a loss, and rounds for them."""

    experts: ab.experts.ExpertSet
    cost: object
    loss: object
    X: np.ndarray
    y: np.ndarray


def margins(rng, shape, T, A):
    """Where rules abstain (<= 0): at random, nested, everywhere, nowhere, in one place, all alike."""
    if shape == "nested":
        return rng.uniform(0, 1, (T, 1)) - np.sort(rng.uniform(0, 1, A))
    if shape == "everyone":
        return np.full((T, A), -1.0)
    if shape == "nobody":
        return np.full((T, A), 1.0)
    if shape == "one":
        return np.where(rng.integers(0, A + 1, (T, 1)) == np.arange(A), -1.0, 1.0)
    if shape == "same":
        return np.repeat(rng.uniform(-1, 1, (T, 1)), A, axis=1)
    return rng.uniform(-1, 1, (T, A)) + rng.uniform(-1, 1, A)


def subset_in(table):
    """The subset relation between rules that a table of margins shows."""
    silent = table <= 0
    return (silent[:, :, None] <= silent[:, None]).all(axis=0)


@st.composite
def tables(draw, max_rounds=60, losses=("zero_one", "ramp", "grid")):
    """A game on `from_columns` experts; a rule or predictor may be used by nobody."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    P, A = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    T = draw(st.integers(1, max_rounds))
    pairs = draw(st.sampled_from(["product", "aligned", "any"]))
    if pairs == "aligned":
        A = P
    if pairs == "any":
        pairs = np.column_stack([rng.integers(0, P, size := draw(st.integers(1, 8))), rng.integers(0, A, size)])
    rules = margins(rng, draw(st.sampled_from(SHAPES)), T, A)
    loss = draw(st.sampled_from(losses))
    if loss == "zero_one":
        scores = rng.choice([-1.0, 0.0, 1.0], (T, P), p=[0.45, 0.1, 0.45])
        if draw(st.booleans()):
            scores[:] = scores[:, :1]  # all tied
    elif loss == "grid":
        scores, loss = rng.integers(-3, 4, (T, P)) / 4.0, ab.losses.ramp(0.5)
    else:
        scores, loss = rng.uniform(-1, 1, (T, P)), ab.losses.ramp(0.5)
    y = rng.choice([-1, 1], T)
    cost = draw(st.sampled_from([0.0, 1.0, 0.5, 0.1, 0.3, "round", "input"]))
    if cost == "round":
        cost = rng.uniform(0, 1, T)
    elif cost == "input":
        cost = half_first_score
    experts = ab.experts.from_columns(P, A, pairs, rule_subset=subset_in(rules))
    return Table(experts, cost, loss, np.column_stack([scores, rules]), y)


def half_first_score(X):
    """A cost that depends on the input."""
    return np.abs(X[:, 0]) / 2.0


betas = st.sampled_from([0.0, 0.1, 0.625, 2.5, 40.0])
delays = st.sampled_from([0, 0, 1, 2, 7, 100])

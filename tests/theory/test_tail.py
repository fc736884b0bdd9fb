"""Single runs of EXP3-ABS: a heavy tail without ``ix``, a bound for nearly every run with it."""

import math

import numpy as np
import pytest

import abstain as ab
from abstain import theory

BLOOM = ab.instances.late_bloomer()
T = 2000


def runs(stream, n, count, X=None, **options):
    """Return the regret of each run on one sequence, and its final estimates."""
    X, y = stream.draw(n, seed=0)
    best = ab.best_in_hindsight(stream.experts, X, y, cost=stream.cost).total.min()
    regrets, estimates = np.empty(count), np.empty((count, stream.experts.n_experts))
    for seed in range(count):
        learner = ab.Exp3Abs(stream.experts, cost=stream.cost, horizon=n, seed=seed, **options)
        regrets[seed] = ab.simulate(learner, X, y).loss.sum() - best
        estimates[seed] = learner.estimates * n
    return regrets, estimates


@pytest.mark.long
def test_ix_removes_the_heavy_tail():
    """The mean is below its bound; of 3,000 runs one in a hundred is far above it, and none with ix."""
    plain, _ = runs(BLOOM, T, 3000)
    assert plain.mean() + 5 * plain.std() / math.sqrt(len(plain)) < theory.exp3_abs_bound(T, 2, 0.5, "adaptive")
    assert np.quantile(plain, 0.99) > 2.5 * theory.exp3_abs_bound(T, 2, 0.5, "adaptive")
    assert plain.max() > 600
    ix = math.sqrt(math.log(4 / 0.01) / (2 * T))
    tamed, _ = runs(BLOOM, T, 3000, ix=ix)
    assert np.quantile(tamed, 0.99) < 30
    assert tamed.max() < 100
    assert tamed.mean() < plain.mean()


@pytest.mark.long
def test_the_bound_breaks_without_ix():
    """The bound can fail: with ix one run in a thousand may exceed it; without, five times as many do."""
    ix, delta = 0.04, 0.001
    bound = theory.exp3_abs_tail_bound(T, 2, 0.5, ix, delta)
    assert (runs(BLOOM, T, 3000)[0] > bound).mean() > 5 * delta
    assert (runs(BLOOM, T, 3000, ix=ix)[0] > bound).mean() <= delta


STREAMS = {"bloom": BLOOM, "trap": ab.instances.trap(length=200), "switching": ab.instances.switching()}


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("eta", ["adaptive", "anytime", "tuned", 0.03])
def test_quantiles_below_the_bound(name, eta):
    """Of 300 runs at most a share of delta exceeds the bound, for three deltas, if the bound is below T."""
    stream, ix = STREAMS[name], 0.04
    regrets, _ = runs(stream, T, 300, ix=ix, eta=eta)
    for delta in (0.3, 0.05, 0.01):
        bound = theory.exp3_abs_tail_bound(T, stream.experts.n_experts, stream.cost, ix, delta, eta)
        assert bound < 0.4 * T
        assert np.quantile(regrets, 1 - delta) < bound


@pytest.mark.long
@pytest.mark.parametrize("ix", [0.01, 0.05])
def test_estimates_are_rarely_much_too_large(ix):
    """The step of the proof that ``ix`` is for: the share of runs in which an estimate is more than ``log(1 / delta) /
    (2 ix)`` above the truth is at most delta, by five standard errors of 2,000 runs; without ix it is more.
    """
    _, estimates = runs(BLOOM, T, 2000, ix=ix)
    above = estimates[:, 0] - 200.0
    for delta in (0.5, 0.2, 0.05):
        share = (above > math.log(1 / delta) / (2 * ix)).mean()
        assert share <= delta + 5 * math.sqrt(delta * (1 - delta) / len(above))
    _, without = runs(BLOOM, T, 2000)
    assert (without[:, 0] - 200.0).max() > 3 * above.max()


def test_the_tail_bound_by_its_formula():
    """By hand for a number as rate; smallest near the advised ix; at most T, and never negative."""
    D, ix, eta = math.log(22 / 0.1), 0.02, 0.01
    Z = 10_000 + D / (2 * ix)
    expected = math.log(20) / eta + eta * (0.09 * 10_000 + Z) / 2 + ix * Z + D / (2 * ix)
    expected += 1.3 * math.sqrt(10_000 * D / 2)
    assert theory.exp3_abs_tail_bound(10_000, 20, 0.3, ix, 0.1, eta) == pytest.approx(expected)
    advised = math.sqrt(D / (2 * 10_000))
    least = min(theory.exp3_abs_tail_bound(10_000, 20, 0.3, advised * 2**k, 0.1) for k in np.linspace(-4, 4, 81))
    assert theory.exp3_abs_tail_bound(10_000, 20, 0.3, advised, 0.1) < 1.01 * least
    for rounds in (1, 50, 1e100):
        for rate in ("adaptive", "anytime", "tuned", None, 1e-100, 1e100):
            for small in (1e-100, 0.5, 1e100):
                assert 0.0 < theory.exp3_abs_tail_bound(rounds, 1, 1.0, small, 1e-100, rate) <= rounds
                assert 0.0 < theory.exp3_abs_tail_bound(rounds, 1e100, 0.0, small, 0.9, rate) <= rounds


@pytest.mark.long
def test_the_numbers_of_the_documentation():
    """The numbers of the documentation: ``pytest -s -m long tests/theory/test_tail.py`` prints them."""
    found = {}
    print("\n    ix  mean  99 %  99.9 %  largest  bound, 99 %")
    for ix in (0.0, 0.005, 0.01, 0.02, 0.04, 0.08):
        regrets, _ = runs(BLOOM, T, 20_000, ix=ix)
        found[ix] = regrets
        bound = theory.exp3_abs_tail_bound(T, 2, 0.5, ix, 0.01) if ix > 0 else math.inf
        high = np.quantile(regrets, [0.99, 0.999])
        print(f"{ix:6g} {regrets.mean():5.1f} {high[0]:5.0f} {high[1]:7.0f} {regrets.max():8.0f} {bound:8.0f}")
        assert (regrets > bound).mean() <= 0.01
    assert found[0.0].mean() == pytest.approx(4.6, abs=3)
    assert np.quantile(found[0.0], 0.99) == pytest.approx(412, abs=40)
    assert found[0.0].max() > 750
    assert found[0.04].max() < 100

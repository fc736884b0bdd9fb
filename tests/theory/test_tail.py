"""Single runs of EXP3-ABS: a heavy tail without ``ix``, a bound for nearly every run with it."""

import math

import numpy as np
import pytest

import abstain as ab
from abstain import theory
from abstain.errors import InputError

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
@pytest.mark.sample(4)
def test_quantiles_below_the_bound(name, eta):
    """Of 300 runs at most a share of delta exceeds the bound, for three deltas, if the bound is below T."""
    stream, ix = STREAMS[name], 0.04
    regrets, _ = runs(stream, T, 300, ix=ix, eta=eta)
    for delta in (0.3, 0.05, 0.01):
        bound = theory.exp3_abs_tail_bound(T, stream.experts.n_experts, stream.cost, ix, delta, eta)
        assert bound < 0.4 * T
        assert np.quantile(regrets, 1 - delta) < bound


def random_game(n):
    """Return experts of five predictors and four rules, with random scores, margins and labels."""
    rng = np.random.default_rng(11)
    y = rng.choice([-1.0, 1.0], n)
    scores = np.where(rng.random((n, 5)) < np.linspace(0.2, 0.5, 5), -y[:, None], y[:, None])
    return ab.experts.from_columns(5, 4), np.column_stack([scores, rng.random((n, 1)) - np.linspace(0, 0.9, 4)]), y


def tails_of_falling_ix(eta, count):
    """Return the regrets of many runs with ``ix="anytime"`` on two sequences, and their bounds for three deltas."""
    for experts, X, y, cost in ((BLOOM.experts, *BLOOM.draw(T, seed=0), 0.5), (*random_game(T), 0.3)):
        best = ab.best_in_hindsight(experts, X, y, cost=cost).total.min()
        options = {"cost": cost, "eta": eta, "horizon": T, "ix": "anytime"}
        learners = (ab.Exp3Abs(experts, seed=seed, **options) for seed in range(count))
        regrets = np.array([ab.simulate(learner, X, y).loss.sum() for learner in learners]) - best
        bounds = {
            d: theory.exp3_abs_tail_bound(T, experts.n_experts, cost, "anytime", d, eta) for d in (0.3, 0.05, 0.01)
        }
        yield regrets, bounds


@pytest.mark.parametrize("eta", ["adaptive", "anytime", "tuned"])
@pytest.mark.long
def test_quantiles_below_the_bound_if_ix_falls_with_the_rate(eta):
    """Of 200 runs on the late bloomer and on a random game at most a share of delta exceeds a bound below T."""
    for regrets, bounds in tails_of_falling_ix(eta, 200):
        for delta, bound in bounds.items():
            assert bound < 0.4 * T
            assert np.quantile(regrets, 1 - delta) < bound


@pytest.mark.long
@pytest.mark.parametrize("eta", ["adaptive", "anytime"])
def test_a_falling_ix_removes_the_heavy_tail(eta):
    """On the late bloomer the 99 % quantile is far below that without ix; numbers of the documentation."""
    for regrets, bounds in tails_of_falling_ix(eta, 5000):
        middle, high, higher = np.quantile(regrets, [0.5, 0.99, 0.999])
        print(
            f"\n{eta}: {regrets.mean():.1f} {middle:.0f} {high:.0f} {higher:.0f} {regrets.max():.0f} {bounds[0.01]:.0f}"
        )
        for delta, bound in bounds.items():
            assert (regrets > bound).mean() <= delta
        assert high < 100
        assert regrets.max() < 300


@pytest.mark.long
@pytest.mark.parametrize("n", [100_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_a_constant_ix_has_linear_regret_and_a_falling_one_has_not(n):
    """One model errs on 35 % of the cases, abstaining costs 0.3: with ix = 0.02 the learner goes on predicting on some
    12 % of them, at 0.05 each, which is 0.3 ix a case. Numbers of the documentation.
    """
    experts = ab.experts.thresholds(n_models=1, thresholds=[0.0, 2.0])
    total, late = {}, {}
    for ix in (0.0, 0.02, "anytime"):
        extra = []
        for seed in range(3):
            y = np.where(np.random.default_rng(seed).random(n) < 0.35, -1, 1)
            trace = ab.simulate(ab.Exp3Abs(experts, cost=0.3, ix=ix, seed=seed), np.ones((n, 1)), y)
            extra.append(0.05 * ~trace.abstained)
        total[ix], late[ix] = np.sum(extra) / 3, np.mean(extra, axis=0)[n // 2 :].mean()
    print(f"\n{n}: " + ", ".join(f"ix={ix} {total[ix]:.0f} ({late[ix]:.5f} a round in the end)" for ix in total))
    assert 0.8 < late[0.02] / (0.02 * 0.3) < 1.2
    assert late["anytime"] < 0.6 * math.sqrt(100_000 / n) * late[0.02]
    assert total["anytime"] < 0.6 * math.sqrt(100_000 / n) * total[0.02]


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


@pytest.mark.parametrize("K", [2, 20])
def test_the_tail_bound_by_its_formulas_if_ix_falls_with_the_rate(K):
    """By the steps of the proof; a rate that stays the same is a constant ix; at most T, and never negative."""
    n, c, delta = 10**7, 0.3, 0.05
    logs, spread = math.log(K), 1 + c**2

    def bound(rate):
        return theory.exp3_abs_tail_bound(n, K, c, "anytime", delta, rate)

    assert bound(0.01) == theory.exp3_abs_tail_bound(n, K, c, 0.005, delta, 0.01)
    D, eta = math.log((K + 2) / delta), math.sqrt(logs / (spread * n))
    sums = 2 * eta * n  # at least the sum of the rates
    expected = logs / eta + (spread * sums + D) / 2 + D / eta + sums / 2 + (1 + c) * math.sqrt(n * D / 2)
    assert bound("anytime") == pytest.approx(expected)
    D = math.log((K + 3) / delta)
    low = bound("adaptive")
    for least in np.geomspace(1e-7, 1, 2000):  # a rate is possible only if V reaches it
        V = spread * n + D / least
        if least <= 2**-0.125 * min(1.0, math.sqrt(logs / (1 + V))):
            expected = (2**0.125 + (1 + math.sqrt(2)) / 2) * math.sqrt((1 + V) * logs) + 2**0.125 * logs
            expected += (1 + c) * math.log2(1 + V) + D / least + (1 + c) * math.sqrt(n * D / 2)
            expected += math.sqrt(n * (logs * math.log2(1 + V) + D) / (2 * (1 - math.exp(-0.5)))) / 2
            assert low <= expected * (1 + 1e-12)
            last = expected
    assert low == pytest.approx(last, rel=0.02)
    for rounds in (1, 50, 1e100):
        for rate in ("adaptive", "anytime", "tuned", None, 1e-100, 1e100):
            assert theory.exp3_abs_tail_bound(rounds, 1, 1.0, "anytime", 1e-100, rate) == 0.0
            assert 0.0 < theory.exp3_abs_tail_bound(rounds, 1e100, 0.0, "anytime", 0.9, rate) <= rounds
    with pytest.raises(InputError, match="^ix"):
        theory.exp3_abs_tail_bound(10, 2, 0.1, "slow")


def test_what_is_hidden_by_a_falling_ix_shows_in_v():
    """``kappa sum_t E y_t`` exceeds ``sum_t y_t + D`` in at most a share of exp(-D), for the y of the proof and a Q
    that reacts to what was seen; of 20,000 runs, by five standard errors.
    """
    rng, n, count = np.random.default_rng(3), 200, 20_000
    kappa, above, V = 2 * (1 - math.exp(-0.5)), np.zeros(count), np.zeros(count)
    Q = np.full(count, 0.1)
    for _ in range(n):
        eta = np.minimum(1.0, np.sqrt(math.log(2) / (1 + V)))
        seen, m = rng.random(count) < Q, 0.6
        y = eta**2 * seen * Q * m**2 / (Q + eta / 2) ** 2
        assert y.max() <= 0.5
        above += kappa * eta**2 * (Q * m / (Q + eta / 2)) ** 2 - y
        V += seen * Q * m**2 / (Q + eta / 2) ** 2
        Q = np.clip(np.where(seen, Q / 2, Q * 1.1), 1e-3, 0.5)
    for delta in (0.5, 0.2, 0.05, 0.01):
        share = (above > math.log(1 / delta)).mean()
        assert share <= delta + 5 * math.sqrt(delta * (1 - delta) / count)
    assert above.max() > 0.0


@pytest.mark.parametrize(("eta", "events"), [("adaptive", 2), ("anytime", 3), ("tuned", 2), (0.01, 2)])
@pytest.mark.parametrize("K", [1, 2, 20])
def test_every_event_of_the_proof_has_its_share_of_delta(eta, events, K):
    """By the formulas, with K + 2 events for all rates but the anytime one, which has K + 3."""
    n, c, ix, delta = 10**8, 0.3, 0.02, 0.1

    def bound(share):
        return theory.exp3_abs_tail_bound(n, K, c, ix, share, eta)

    spread, logs = 1 + c**2, math.log(K)

    def expected(share, count):
        D = math.log((K + count) / share)
        Z = n + D / (2 * ix)
        V = c**2 * n + Z
        if eta == "adaptive":
            regret = (2**0.125 + (1 + math.sqrt(2)) / 2) * math.sqrt((1 + V) * logs) + 2**0.125 * logs
            regret += (1 + c) * math.log2(1 + V)
        elif eta == "anytime":
            regret = 2 * math.sqrt(spread * n * logs) + math.sqrt(logs / spread) * D / (4 * ix)
        else:
            rate = math.sqrt(2 * logs / (spread * n)) if eta == "tuned" else eta
            regret = (logs / rate if logs else 0.0) + rate * V / 2
        return regret + ix * Z + D / (2 * ix) + (1 + c) * math.sqrt(n * D / 2)

    for share in (delta, delta / 7):
        assert bound(share) == pytest.approx(expected(share, events), rel=1e-12)
        assert bound(share) != pytest.approx(expected(share, 5 - events), rel=1e-9)


def test_the_third_event_of_the_anytime_rate():
    """``sum_t eta_t o_t / (Q_t + g)`` is above ``sum_t eta_t + eta_1 D / (2 g)`` in at most a share of exp(-D), of
    20,000 runs of a Q that reacts to what was seen; by five standard errors.
    """
    rng, n, g = np.random.default_rng(0), 400, 0.05
    eta = 1 / np.sqrt(np.arange(1, n + 1))
    total, Q = np.zeros(20_000), np.full(20_000, 0.5)
    for rate in eta:
        seen = rng.random(len(Q)) < Q
        total += rate * seen / (Q + g)
        Q = np.where(seen, 0.02, np.minimum(1.0, 1.3 * Q))
    above = (total - eta.sum()) * 2 * g / eta[0]
    for delta in (0.5, 0.2, 0.05, 0.01):
        share = (above > math.log(1 / delta)).mean()
        assert share <= delta + 5 * math.sqrt(delta * (1 - delta) / len(above))
    assert above.max() > 0.0


@pytest.mark.long
def test_the_tail_of_the_guard():
    """The guard is an EXP3-ABS without ``ix``, but the row beside it has no such tail. Numbers of the page."""
    X, y = BLOOM.draw(T, seed=0)
    best = ab.best_in_hindsight(BLOOM.experts, X, y, cost=0.5).total.min()
    print("\nguard   mean median  90 %  99 %  largest")
    for guard in (1 / 16, 1 / 4):
        learners = (ab.DoublyRobust(BLOOM.experts, cost=0.5, guard=guard, seed=seed) for seed in range(2000))
        found = np.array([ab.simulate(learner, X, y).loss.sum() for learner in learners]) - best
        middle, high, higher = np.quantile(found, [0.5, 0.9, 0.99])
        print(f"{guard:6g} {found.mean():5.0f} {middle:6.0f} {high:5.0f} {higher:5.0f} {found.max():8.0f}")
        assert found.mean() + 5 * found.std() / math.sqrt(len(found)) < theory.exp3_abs_bound(T, 2, 0.5, "adaptive")
        assert higher < theory.exp3_abs_bound(T, 2, 0.5, "adaptive")

"""The regret of `FastRates` to the best predictor stays below its bound, which does not grow with the rounds."""

import numpy as np
import pytest

import abstain as ab
from abstain.errors import InputError
from abstain.learners.fast_rates import fast_rate

ALWAYS_OR_NEVER = [1.0, -1.0]
"""Margins of a rule that never abstains, and of one that always does."""


def coins(rng, n, N):
    return rng.choice([-1.0, 1.0], (n, N)), rng.choice([-1.0, 1.0], n)


def opposed(rng, n, N):
    """One half says +1 and the other -1, and labels come in blocks: the worst for those who follow."""
    return np.tile(np.where(np.arange(N) % 2, 1.0, -1.0), (n, 1)), np.where(np.arange(n) // 7 % 2, 1.0, -1.0)


def one_good(rng, n, N):
    scores, y = coins(rng, n, N)
    scores[:, N // 2] = np.where(rng.random(n) < 0.1, -y, y)
    return scores, y


def test_the_theorem_of_the_paper_fails_at_its_rate():
    """Only predictor t mod N is right in round t: at c = 0 and eta = 2 regret grows by 0.277 in a cycle of 10."""
    weights = 1.0 / (10 + np.arange(10) * np.expm1(2.0))
    growth = 1.0 - 2.0 * weights.sum()
    assert growth == pytest.approx(0.277, abs=1e-3)
    experts = ab.experts.from_columns(10, 2)
    y = np.ones(300)
    X = np.column_stack(
        [np.where(np.arange(300)[:, np.newaxis] % 10 == np.arange(10), 1.0, -1.0), np.tile(ALWAYS_OR_NEVER, (300, 1))]
    )
    best = 270.0  # every predictor is wrong nine times in ten rounds
    lost = [ab.simulate(ab.FastRates(experts, cost=0.0, eta=2.0, seed=s), X, y).loss.sum() - best for s in range(200)]
    assert np.mean(lost) == pytest.approx(30 * growth, abs=1.0)
    assert np.mean(lost) > 5 * np.log(10) / 2.0  # what the paper's theorem allows, five times over


@pytest.mark.parametrize("stream", [coins, opposed, one_good])
@pytest.mark.parametrize("cost", [0.05, 0.25, 0.45])
@pytest.mark.parametrize("n", [200, 5000])
def test_below_the_bound(stream, cost, n):
    """The bound is on the mean over the learner's draws: here 40 of them, with three standard errors."""
    N = 8
    scores, y = stream(np.random.default_rng(3), n, N)
    X = np.column_stack([scores, np.tile(ALWAYS_OR_NEVER, (n, 1))])
    experts = ab.experts.from_columns(N, 2)
    rounds = ab.prepare(experts, X, y)
    best = (scores != y[:, np.newaxis]).sum(axis=0).min()
    regrets = [ab.simulate(ab.FastRates(experts, cost=cost, seed=k), rounds).loss.sum() - best for k in range(40)]
    error = np.std(regrets) / np.sqrt(len(regrets))
    assert np.mean(regrets) <= ab.theory.fast_rates_bound(n, N, cost) + 3 * error


def excess(shares, cost, eta):
    """By how much the mean loss of a round is above its mix loss, at most, over the labels that may be right."""
    alpha = min(2 * (1 - shares.max()), 1)
    wrong = np.arange(len(shares)) != shares.argmax()
    mix = -np.log(1 + (1 - shares) * np.expm1(-eta)) / eta
    return (alpha * cost + (1 - alpha) * wrong - mix).max()


@pytest.mark.parametrize("cost", [0.0, 0.2, 0.45, 0.49])
def test_the_mean_loss_of_a_round_is_below_the_mix_loss(cost):
    """Lemma 4, which carries the proof, for two and for several labels; not with a rate that is a little larger."""
    rng = np.random.default_rng(0)
    drawn = [rng.dirichlet(np.full(rng.integers(2, 5), 0.5)) for _ in range(5000)]
    sure = [np.array([1 - p, p]) for p in np.geomspace(1e-6, 0.5, 200)]
    eta = fast_rate(cost)
    assert 1 - 2 * cost <= eta <= 2 * (1 - 2 * cost)
    assert max(excess(shares, cost, eta) for shares in drawn + sure) < 1e-12
    assert max(excess(shares, cost, 1.05 * eta) for shares in sure) > 1e-10


def test_the_rate_of_the_paper_is_too_large_for_its_lemma():
    """At c = 0 and eta = 2 (1 - 2 c) = 2 a round may lose more than its mix loss."""
    assert excess(np.array([0.96, 0.04]), 0.0, 2.0) > 0.02


def test_the_rate_of_the_slow_regime():
    """Near c = 1/2 the bound with ``eta = sqrt(8 log N / T)`` is ``sqrt(T log N / 2)``."""
    T, N = 10_000, 50
    eta = np.sqrt(8 * np.log(N) / T)
    assert ab.theory.fast_rates_bound(T, N, 0.5, eta) == pytest.approx(np.sqrt(T * np.log(N) / 2))
    assert ab.theory.fast_rates_bound(T, N, 0.4, 0.1) == pytest.approx(np.log(N) / 0.1)
    assert ab.theory.fast_rates_bound(T, N, 0.4, 0.4) == pytest.approx(np.log(N) / 0.4 + 0.4 * T / 8)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((0, 2, 0.1), "T"),
        ((10, 0, 0.1), "N"),
        ((10, 2, 0.6), "cost: expected a number in"),
        ((10, 2, 0.5), "cost: expected less than 1/2"),
        ((10, 2, 0.1, 0.0), "eta: expected a positive number"),
    ],
)
def test_wrong_arguments(arguments, match):
    with pytest.raises(InputError, match=match):
        ab.theory.fast_rates_bound(*arguments)


def test_no_learner_can_have_it_against_experts_that_abstain():
    """One expert always abstains, one always predicts and is wrong with probability c: the regret grows as sqrt(T)."""
    experts = ab.experts.from_columns(1, 2)
    cost, growth = 0.3, []
    for n in (1000, 16_000):
        best = []
        for seed in range(200):
            wrong = np.random.default_rng(seed).random(n) < cost
            best.append(cost * n - min(cost * n, wrong.sum()))  # any learner has the mean loss c in every round
        growth.append(np.mean(best))
    assert 3.0 < growth[1] / growth[0] < 5.5
    X = np.column_stack([np.ones(1000), np.tile(ALWAYS_OR_NEVER, (1000, 1))])
    y = np.where(np.random.default_rng(0).random(1000) < cost, -1, 1)
    loss = ab.simulate(ab.FastRates(experts, cost=cost, seed=0), X, y).loss.mean()
    assert loss == pytest.approx(cost, abs=0.05)

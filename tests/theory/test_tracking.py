"""Fixed share: the steps of the proof, and regret to sequences of experts below the bound."""

import math

import numpy as np
import pytest

import abstain as ab
from abstain import theory
from abstain.errors import InputError

from ..reference.robust import Shared

COST = 0.3


def game(n, K, rng):
    """Losses and who abstains (n, K), and a sequence of experts (n,) that is best in each of five blocks."""
    block = np.arange(n) * 5 // n
    best = rng.integers(0, K, 5)[block]
    abstains = rng.random((n, K)) < np.linspace(0.0, 0.8, K)
    wrong = rng.random((n, K)) < np.where(np.arange(K) == best[:, None], 0.05, 0.5)
    return np.where(abstains, COST, wrong), abstains, best


@pytest.mark.parametrize("rate", [None, 0.1])
def test_the_steps_of_the_proof(rate):
    """In single runs: the regret on the estimates to a sequence is at most gaps, switches and shares."""
    n, K, rng = 2000, 12, np.random.default_rng(0)
    loss, abstains, best = game(n, K, rng)
    twin, s = Shared(K, rate), int((np.diff(best) != 0).sum())
    regret = gaps = squares = rounds = 0.0
    for t in range(1, n + 1):
        q, eta = twin.w, twin.eta(0)
        assert q.min() >= (1 - 1e-9) / (K * t)
        Q = float(q[~abstains[t - 1]].sum())
        seen = rng.random() < Q
        estimate = np.where(abstains[t - 1], COST, loss[t - 1] / Q if seen else 0.0)
        mean, z = float(q @ estimate), float(q @ estimate**2)
        gap = mean + math.log(float(q @ np.exp(-eta * estimate))) / eta
        assert gap <= min(eta * z / 2, 1 + COST) + 1e-9
        regret, gaps, squares = regret + mean - estimate[best[t - 1]], gaps + gap, squares + z
        rounds += eta * z / 2
        twin.learn(estimate[np.newaxis])
    if rate is not None:
        assert regret <= gaps + (s + 1) * math.log(K * n) / rate + 1e-6
        assert gaps <= rounds
        return
    logs, root = math.log(K * (n + 1)), math.sqrt(1 + squares)
    assert gaps <= (1 + math.sqrt(2)) * math.sqrt(logs) * root + (1 + COST) * math.log2(1 + squares)
    moved = (s + 1) * (logs + math.sqrt(logs) * root / 2) + root * (math.sqrt(logs) - math.sqrt(math.log(K)))
    assert regret <= gaps + moved


def turns(n):
    """Two models that take turns in being right, five times, and the losses of the one that is."""
    right = np.where(np.arange(n) * 5 // n % 2 == 0, 1.0, -1.0)
    return ab.experts.thresholds(2, [0.0, 0.5]), 0.9 * np.column_stack([right, -right]), np.ones(n), np.zeros(n)


@pytest.mark.long
@pytest.mark.parametrize("eta", ["tuned", "adaptive"])
def test_regret_to_a_sequence_is_below_the_bound(eta):
    """And that of a learner without shares is above it."""
    n, s = 20_000, 4
    experts, X, y, best = turns(n)
    rate = theory.exp3_abs_tracking_rate(n, 4, COST, s) if eta == "tuned" else eta
    bound = theory.exp3_abs_tracking_bound(n, 4, COST, s, eta)
    regret = {
        memory: [
            (ab.simulate(ab.Exp3Abs(experts, cost=COST, eta=rate, memory=memory, seed=seed), X, y).loss - best).sum()
            for seed in range(10)
        ]
        for memory in ("share", None)
    }
    assert max(regret["share"]) < bound < min(regret[None])


@pytest.mark.long
@pytest.mark.parametrize("name", ["switching", "blocks", "rotating"])
@pytest.mark.parametrize("eta", ["tuned", "adaptive"])
def test_regret_on_streams_that_move(name, eta):
    """The mean over runs, with five standard errors, to the best expert of each regime."""
    n = 5_000
    stream = ab.instances.alternating(500) if name == "blocks" else getattr(ab.instances, name)()
    regime, K = stream.regime(n), stream.experts.n_experts
    risk = stream.errs[:, stream.experts.predictor_of] * (1 - stream.abstains[:, stream.experts.rule_of])
    risk = risk + stream.cost * stream.abstains[:, stream.experts.rule_of]
    best = risk.argmin(axis=1)[regime]
    s = int((np.diff(best) != 0).sum())
    rate = theory.exp3_abs_tracking_rate(n, K, stream.cost, s) if eta == "tuned" else eta
    regrets = []
    for seed in range(40):
        X, y = stream.draw(n, seed)
        learner = ab.Exp3Abs(stream.experts, cost=stream.cost, eta=rate, memory="share", seed=seed)
        trace = ab.simulate(learner, X, y)
        regrets.append((risk[regime, trace.expert] - risk[regime, best]).sum())
    error = np.std(regrets) / math.sqrt(len(regrets))
    assert np.mean(regrets) + 5 * error < theory.exp3_abs_tracking_bound(n, K, stream.cost, s, eta)


def test_the_bound():
    tracking = theory.exp3_abs_tracking_bound
    assert tracking(1000, 2, 1.0, 999) == 1000.0  # never more than T
    assert tracking(10**6, 50, 0.2, 3) == pytest.approx(math.sqrt(2 * 4 * 1.04 * 10**6 * math.log(50 * 10**6)))
    rate = theory.exp3_abs_tracking_rate(10**6, 50, 0.2, 3)
    assert tracking(10**6, 50, 0.2, 3, rate) == pytest.approx(tracking(10**6, 50, 0.2, 3))
    for other in (rate / 2, rate * 2):
        assert tracking(10**6, 50, 0.2, 3, other) > tracking(10**6, 50, 0.2, 3)
    assert tracking(10**6, 50, 0.2, 3) < tracking(10**6, 50, 0.2, 3, "adaptive")
    for wrong, match in (({"switches": -1}, "switches"), ({"K": 1}, "K"), ({"eta": "anytime"}, "eta"), ({"T": 0}, "T")):
        with pytest.raises(InputError, match=f"^{match}: "):
            tracking(**({"T": 100, "K": 2, "cost": 0.2, "switches": 1} | wrong))

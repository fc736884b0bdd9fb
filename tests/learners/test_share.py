"""Fixed share: the rules, what is refused, large rates, own learners. The twin is in `test_weighted`."""

import numpy as np
import pytest

import abstain as ab
from abstain.checks import check_learner
from abstain.errors import InputError
from abstain.extend import WeightedLearner, WeightKernels, kernel

RINGS = ab.experts.hyperplanes(2, 4, 5, seed=0)


@pytest.mark.long
@pytest.mark.parametrize(
    "experts", [RINGS, ab.experts.thresholds(2, np.linspace(0.0, 1.0, 5))], ids=["cells", "singles"]
)
def test_rules_all_learners_obey(experts):
    check_learner(lambda: ab.Exp3Abs(experts, cost=0.3, memory="share", seed=1))


@pytest.mark.long
def test_nobody_falls_below_a_share():
    """After n rounds learnt every expert has a probability of 1 / (K (n + 1)) at least, and all sum to 1."""
    X, y = ab.datasets.load("synthetic", n=3000, seed=0)
    learner = ab.Exp3Abs(RINGS, cost=0.1, eta=0.5, memory="share", seed=0)
    for n in range(0, 3000, 500):
        ab.simulate(learner, X[n : n + 500], y[n : n + 500])
        assert learner.weights.min() >= (1 - 1e-9) / (RINGS.n_experts * (n + 501))
        assert learner._weights.weight.sum() == pytest.approx(RINGS.n_experts, rel=1e-9)
    assert learner.memory_weights == {None: 1.0}


@pytest.mark.long
def test_estimates_are_those_of_all_rounds():
    """The sums of estimates do not depend on shares: with all labels they are what every expert lost."""
    X, y = ab.datasets.load("synthetic", n=400, seed=0)
    learner = ab.Exp3Abs(RINGS, cost=0.1, memory="share", feedback="both", seed=0)
    ab.simulate(learner, X, y)
    np.testing.assert_allclose(learner.estimates, ab.best_in_hindsight(RINGS, X, y, cost=0.1).total / 400)


@pytest.mark.parametrize("eta", [1e-6, 1.0, 1e3, 1e9])
@pytest.mark.parametrize(
    "experts", [ab.experts.from_columns(3, 2), ab.experts.thresholds(3, [0.0, 5.0])], ids=["cells", "singles"]
)
@pytest.mark.long
def test_nothing_overflows_and_nothing_vanishes(eta, experts):
    """Everybody errs or pays for long, also with estimates of 1,000: at large rates no weight would be left."""
    T, rng = 4000, np.random.default_rng(0)
    first = np.where(np.arange(T) < T // 2, 1.0, -1.0)
    scores = np.column_stack([first, -first, -np.ones(T)])
    margins = np.column_stack([np.ones(T), rng.choice([-1.0, 1.0], T)])
    X = np.column_stack([scores, margins])[:, : experts.n_features]
    for feedback in ("predicted", (0.001, 0.001)):
        learner = ab.Exp3Abs(experts, cost=1.0, eta=eta, memory="share", feedback=feedback, seed=0)
        trace = ab.simulate(learner, X, np.ones(T))
        assert np.isfinite(learner.weights).all()
        assert learner.weights.sum() == pytest.approx(1.0)
        assert np.isin(trace.expert, np.arange(experts.n_experts)).all()
    if eta == 1.0:
        learner = ab.Exp3Abs(experts, cost=1.0, eta=eta, memory="share", seed=0)
        loss = ab.simulate(learner, X, np.ones(T)).loss
        assert loss[T // 4 : T // 2].mean() < 0.05
        assert loss[3 * T // 4 :].mean() < 0.05


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: ab.DoublyRobust(RINGS, cost=0.2, memory="share"), "memory: 'share' needs estimates .* DoublyRobust"),
        (lambda: ab.Exp3Abs(RINGS, cost=0.2, memory="shares"), "memory: expected None, 'adaptive', 'share' or"),
        (lambda: ab.Exp3Abs(RINGS, cost=0.2, memory="share", eta="both"), "eta: .* expected 'adaptive' or a number"),
        (lambda: ab.Exp3Abs(RINGS, cost=0.2, memory="share", eta="anytime"), "memory: 'share' needs a rate"),
    ],
)
def test_what_is_refused(make, match):
    with pytest.raises(InputError, match=match):
        make()


@kernel
def falling(t, j, s):
    s.memories.numbers[j, 0] = 1.0 / np.sqrt(t)
    return True


class Falling(WeightedLearner):
    """A rate that follows the number of the round."""

    weight_kernels = WeightKernels(pace=falling)


class Plain(WeightedLearner):
    """EXP3-ABS with the adaptive rate."""

    weight_kernels = WeightKernels()


@pytest.mark.long
def test_own_learners_may_give_shares():
    X, y = ab.datasets.load("synthetic", n=500, seed=0)
    own, ours = (kind(RINGS, cost=0.3, memory="share", seed=1) for kind in (Plain, ab.Exp3Abs))
    np.testing.assert_array_equal(ab.simulate(own, X, y).expert, ab.simulate(ours, X, y).expert)
    np.testing.assert_array_equal(own.weights, ours.weights)
    with pytest.raises(InputError, match="memory: 'share' needs a rate that neither follows the number"):
        Falling(RINGS, cost=0.3, memory="share")

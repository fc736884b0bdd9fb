"""A cost that is set on the way holds from the coming round on."""

import numpy as np
import pytest

import abstain as ab
from abstain.errors import InputError

pytestmark = pytest.mark.long

X, Y = ab.datasets.load("synthetic", n=600, seed=0)
RINGS = ab.experts.hyperplanes(2, 5, 6, seed=0)
# Sums of these are exact, so that it does not matter in which order they are taken.
COSTS = np.repeat([0.25, 0.125, 0.5], 200)
MAKE = {
    "UCB": lambda cost, **k: ab.UCB(RINGS, cost=cost, seed=1),
    "UCBNT": lambda cost, **k: ab.UCBNT(RINGS, cost=cost, seed=1),
    "UCBGT": lambda cost, **k: ab.UCBGT(RINGS, cost=cost, seed=1),
    "UCBDSG": lambda cost, **k: ab.UCBDSG(RINGS, cost=cost, seed=1),
    "FastRates": lambda cost, **k: ab.FastRates(RINGS, cost=cost, seed=1, eta=0.5),
    "FS": lambda cost, **k: ab.FullSupervision(RINGS, cost=cost, seed=1),
    "Exp3": lambda cost, **k: ab.Exp3(RINGS, cost=cost, seed=1),
    "Exp3Abs": lambda cost, **k: ab.Exp3Abs(RINGS, cost=cost, seed=1),
    "fixed": lambda cost, **k: ab.Exp3Abs(RINGS, cost=cost, seed=1, eta=0.05),
    "memories": lambda cost, **k: ab.Exp3Abs(
        RINGS, cost=cost, seed=1, memory="adaptive", feedback=(0.8, 0.4), min_observe=0.5
    ),
    "DoublyRobust": lambda cost, **k: ab.DoublyRobust(RINGS, cost=cost, seed=1),
    "guard": lambda cost, **k: ab.DoublyRobust(RINGS, cost=cost, seed=1, guard=0.1, feedback="both"),
    "Stacked": lambda cost, **k: ab.Stacked(RINGS, cost=cost, seed=1),
    "UCBAbs": lambda cost, **k: ab.UCBAbs(RINGS, cost=cost, seed=1),
    "ContExp3Abs": lambda cost, **k: ab.ContExp3Abs(2, cost=cost, epsilon=0.5, seed=1),
}


@pytest.mark.parametrize("name", MAKE)
def test_it_is_as_if_costs_had_been_given_round_by_round(name):
    learner, twin = MAKE[name](0.25), MAKE[name](COSTS)
    expected = ab.simulate(twin, X, Y)
    losses, experts = [], []
    for k, cost in enumerate((0.25, 0.125, 0.5)):
        learner.cost = cost
        trace = ab.simulate(learner, X[200 * k : 200 * k + 200], Y[200 * k : 200 * k + 200])
        losses += trace.loss.tolist()
        experts += trace.expert.tolist()
    np.testing.assert_allclose(losses, expected.loss)
    assert experts == expected.expert.tolist()


@pytest.mark.parametrize("name", MAKE)
def test_decisions_keep_their_own(name, tmp_path):
    learner = MAKE[name](0.3)
    ab.simulate(learner, X[:100], Y[:100])
    before = next(d for d in map(learner.decide, X) if d.round in learner.pending)
    learner.cost = 0.2
    after = learner.decide(X[0])
    assert (before.cost, after.cost, learner.cost.value) == (0.3, 0.2, 0.2)
    learner.learn(before, 1)
    learner.save(tmp_path / "x")
    again = ab.load(tmp_path / "x")
    np.testing.assert_array_equal(ab.simulate(learner, X, Y).expert, ab.simulate(again, X, Y).expert)
    assert learner.clone().cost.value == 0.2


@pytest.mark.parametrize("name", MAKE)
def test_setting_the_same_changes_nothing(name):
    learner, twin = MAKE[name](0.3), MAKE[name](0.3)
    ab.simulate(learner, X[:300], Y[:300])
    ab.simulate(twin, X[:300], Y[:300])
    learner.cost = 0.3
    np.testing.assert_array_equal(ab.simulate(learner, X, Y).expert, ab.simulate(twin, X, Y).expert)


def test_an_exception_undoes_nothing_else():
    learner = MAKE["UCBGT"](0.3)
    ab.simulate(learner, X[:50], Y[:50])
    learner.cost = 0.2
    means = learner.means

    def stop(done):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        ab.simulate(learner, X, Y, progress=stop)
    np.testing.assert_array_equal(learner.means, means)


@pytest.mark.parametrize("cost", [1.5, -0.1, np.nan, "much", None, [0.1, 0.2], lambda X: X[:, 0], 10**400])
def test_what_makes_no_sense(cost):
    learner = MAKE["UCBGT"](0.3)
    with pytest.raises(InputError, match="^cost"):
        learner.cost = cost
    assert learner.cost.value == 0.3


@pytest.mark.parametrize("cost", [COSTS, lambda X: np.abs(X[:, 0])])
def test_costs_that_vary_stay(cost):
    learner = ab.UCBGT(RINGS, cost=cost)
    with pytest.raises(InputError, match="number"):
        learner.cost = 0.2

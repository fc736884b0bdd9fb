"""Learning from a table with all labels before the first round: as full information."""

import numpy as np
import pytest

import abstain as ab
from abstain.checks import state_of
from abstain.errors import AbstainError, InputError

from .test_stacked import twin_of as twin_of_stacked
from .test_weighted import SETS, assert_plays_like_its_twin, twin_of

pytestmark = pytest.mark.long

RNG = np.random.default_rng(0)
X, Y = RNG.uniform(-1.0, 1.0, (120, 3)), RNG.choice([-1, 1], 120)
RINGS = SETS["rings"]
OPTIONS = {
    "Exp3Abs": (ab.Exp3Abs, {}),
    "Exp3Abs-memories": (ab.Exp3Abs, {"memory": "adaptive", "feedback": "abstained", "min_observe": 0.1}),
    "Exp3Abs-anytime": (ab.Exp3Abs, {"eta": "anytime"}),
    "DoublyRobust": (ab.DoublyRobust, {}),
    "DoublyRobust-memory": (ab.DoublyRobust, {"memory": 30, "feedback": (0.3, 0.7)}),
    "DoublyRobust-adaptive": (ab.DoublyRobust, {"memory": "adaptive"}),
    "DoublyRobust-guard": (ab.DoublyRobust, {"guard": 0.1, "min_observe": 0.2}),
    "Stacked": (ab.Stacked, {}),
}
each = pytest.mark.parametrize("name", OPTIONS)


def make(name, cost=0.3, **more):
    kind, options = OPTIONS[name]
    return kind(RINGS, cost=cost, seed=1, **options, **more)


@pytest.mark.parametrize("name", [name for name in OPTIONS if name != "Exp3Abs-anytime"])
@pytest.mark.parametrize("cost", [0.3, np.linspace(0.0, 1.0, 200)], ids=["same", "varies"])
def test_it_is_learning_labels_that_were_sure_to_be_seen(name, cost):
    learner = make(name, cost)
    twin = (twin_of_stacked if name == "Stacked" else twin_of)(learner, X, Y)
    learner.warm_start(X, Y)
    for t in range(1, len(X) + 1):
        twin.learn(t, 1.0, twin.before(t, 1.0), True)
    np.testing.assert_allclose(learner.weights, twin.weights(), rtol=1e-8, atol=1e-11)
    if isinstance(learner, ab.DoublyRobust):
        g = learner.state.guesses
        for found, expected in ((g.support, twin.n), (g.suffered, twin.l), (g.unseen, twin.u), (g.visits, twin.a)):
            seen = expected.T[::2]  # what is hidden is guessed as what was seen
            np.testing.assert_allclose(found, np.repeat(seen, 2, axis=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(learner._weights.mix, twin.memories.mix, rtol=1e-9, atol=1e-12)
    assert (learner.round, learner.pending) == (0, ())


def test_the_sums_of_exp3_abs_are_the_losses():
    for eta in ("anytime", "adaptive", 0.1):
        learner = ab.Exp3Abs(RINGS, cost=0.3, eta=eta, seed=0)
        learner.warm_start(X, Y)
        s = learner.state.memories
        total = np.empty(RINGS.n_experts)
        total[s.layout.expert] = s.losses[0] + np.repeat(s.paid[0], np.diff(s.start))
        np.testing.assert_allclose(total, ab.best_in_hindsight(RINGS, X, Y, cost=0.3).total)
    q = np.exp(-0.1 * (total - total.min()))
    np.testing.assert_allclose(learner.weights, q / q.sum())


@each
def test_parts_are_the_whole(name):
    whole, parts = make(name), make(name)
    whole.warm_start(X, Y)
    for rows in (slice(0, 1), slice(1, 100), slice(100, None)):
        parts.warm_start(X[rows], Y[rows])
    np.testing.assert_allclose(whole.weights, parts.weights, rtol=1e-12)  # but for rounding, where guesses cancel


@each
def test_it_helps_and_is_saved(name, tmp_path):
    learner = make(name)
    learner.warm_start(X, Y)
    learner.save(tmp_path / "x")
    again = ab.load(tmp_path / "x")
    assert not np.allclose(learner.weights, make(name).weights)
    np.testing.assert_array_equal(learner.weights, again.weights)
    one, other = ab.simulate(learner, X, Y), ab.simulate(again, X, Y)
    np.testing.assert_array_equal(one.expert, other.expert)
    assert not np.allclose(learner.clone().weights, again.weights)


@each
def test_before_the_first_round_only(name):
    learner = make(name)
    learner.decide(X[0])
    before = state_of(learner)
    with pytest.raises(InputError, match="^warm_start: expected a learner before its first round, got one after 1"):
        learner.warm_start(X, Y)
    after = state_of(learner)
    assert all(np.array_equal(before[part], after[part]) for part in before)


@each
@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        (X, Y[:-1]),
        (X, np.where(np.arange(120) < 119, Y, 5)),
        (np.where(np.arange(120)[:, None] < 119, X, np.nan), Y),
        (X[:, :2], Y),
        (X[0], Y[:1]),
        (X, None),
    ],
)
def test_what_makes_no_sense_changes_nothing(name, rows, labels):
    learner = make(name)
    learner.warm_start(X[:50], Y[:50])
    before = state_of(learner)
    with pytest.raises(AbstainError):
        learner.warm_start(rows, labels)
    after = state_of(learner)
    assert all(np.array_equal(before[part], after[part]) for part in before)


def test_an_error_half_way_is_undone():
    """A user's loss that breaks in the second block."""
    calls = []

    def breaking(h, y):
        calls.append(len(h))
        if len(calls) > 1:
            raise RuntimeError("no")
        return (h * y[:, None] <= 0) / 2.0

    learner = ab.DoublyRobust(RINGS, cost=0.3, loss=breaking, seed=0)
    before = state_of(learner)
    n = 300_000
    with pytest.raises(RuntimeError, match="no"):
        learner.warm_start(np.resize(X, (n, 3)), np.resize(Y, n))
    after = state_of(learner)
    assert len(calls) == 2
    assert all(np.array_equal(before[part], after[part]) for part in before)


@pytest.mark.parametrize("kind", [ab.UCB, ab.UCBNT, ab.UCBGT, ab.FullSupervision, ab.UCBAbs, ab.Exp3])
def test_who_cannot(kind):
    learner = kind(RINGS, cost=0.3)
    with pytest.raises(InputError, match=f"^warm_start: {kind.__name__} learns from rounds that it decided on alone"):
        learner.warm_start(X, Y)


@pytest.mark.parametrize("name", [name for name in OPTIONS if name.startswith("DoublyRobust")])
def test_what_is_supposed_is_a_guess_like_others(name):
    """Of the patterns of the first rows, in which it counts as 64 labels."""
    learner = make(name)
    twin = twin_of(learner, X, Y)
    abstains = RINGS.advise(X[:40]).abstains
    losses = RNG.random((40, RINGS.n_predictors))
    learner.suppose(abstains, losses)
    for t in range(1, 41):
        for o in (0.0, 1.0):
            cell, _ = twin.look(t, o)
            twin.n[cell] = twin.a[cell] = 64.0
            twin.g[cell], twin.l[cell] = 32.0, 64.0 * losses[t - 1]
    g = learner.state.guesses
    for found, expected in ((g.support, twin.n), (g.expected, twin.g), (g.suffered, twin.l), (g.visits, twin.a)):
        np.testing.assert_allclose(found, expected.T, rtol=1e-12)
    assert_plays_like_its_twin(learner, X, Y, 5, twin)


def test_what_cannot_be_supposed():
    learner = make("DoublyRobust")
    silent, losses = np.zeros((2, RINGS.n_rules), bool), np.zeros((2, RINGS.n_predictors))
    for wrong in ((silent[:, 1:], losses), (silent, losses[:1]), (silent.astype(int), losses), (silent, 0.5)):
        with pytest.raises(InputError, match="abstains, losses: expected bools"):
            learner.suppose(*wrong)
    for number in (-0.1, 1.1, np.nan):
        with pytest.raises(InputError, match="losses: expected numbers in"):
            learner.suppose(silent, losses + number)
    learner.decide(X[0])
    with pytest.raises(InputError, match="before its first round, got one after 1"):
        learner.suppose(silent, losses)


def test_nothing_is_supposed_of_a_predictor_without_experts():
    class Idle(ab.experts.ExpertSet):
        kind = "idle"

        def __init__(self):
            super().__init__(2, 2, 1, [[0, 0], [0, 1]])

        def advise_rows(self, X, out=None):
            return ab.experts.Advice(np.ones((len(X), 2)), X[:, [0]] > [0.0, 0.5])

        def parameters(self):
            return {}

    learner = ab.DoublyRobust(Idle(), cost=0.2, seed=0)
    learner.suppose([[False, True]], [[0.3, 0.3]])
    assert learner.state.guesses.suffered.sum(axis=0).tolist() == [2 * 64.0 * 0.3, 0.0]

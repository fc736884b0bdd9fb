"""Exponential weights with every option obey the rules, on every kind of experts, cost and loss."""

import numpy as np
import pytest

import abstain as ab
from abstain.checks import CHECKS, check_hidden_labels, check_learner

from .test_learners import COSTS, EXPERTS, RINGS

pytestmark = pytest.mark.long

OPTIONS = {
    "plain": {},
    "abstained": {"feedback": "abstained"},
    "abstained, floor": {"feedback": "abstained", "min_observe": 0.2},
    "both": {"feedback": "both"},
    "some": {"feedback": (0.4, 0.7), "min_observe": 0.5},
    "audits": {"feedback": (0.1, 1.0)},
    "audits alone": {"feedback": (0.3, 0.0), "min_observe": 0.1},
    "floor": {"min_observe": 0.1},
    "memory": {"memory": 50},
    "short memory": {"memory": 2},
    "adaptive": {"memory": "adaptive", "min_observe": 0.05, "feedback": (0.9, 0.3)},
    "capacity": {"capacity": 0.1},
    "small bucket": {"capacity": ab.Capacity(share=0.2, burst=2), "feedback": "both", "memory": "adaptive"},
    "capacity, abstained": {"capacity": ab.Capacity(share=0.2, burst=5), "feedback": "abstained", "min_observe": 0.2},
    "capacity, audits": {"capacity": ab.Capacity(share=0.3, burst=3, step=0.01), "feedback": (0.1, 1.0)},
    "capacity, floor": {"capacity": ab.Capacity(share=0.3, burst=3), "min_observe": 0.1, "memory": 50},
}
GUARDS = {
    "guard": {"guard": 0.05},
    "guard, abstained": {"guard": 0.5, "feedback": "abstained", "min_observe": 0.2},
    "guard, capacity": {"guard": 0.1, "capacity": ab.Capacity(share=0.3, burst=3)},
    "guard, some": {"guard": 0.1, "feedback": (0.4, 0.7)},
}
RATES = {
    "both": {"eta": "both", "min_observe": 0.1},
    "both, capacity": {"eta": "both", "capacity": 0.1, "ix": "anytime"},
    "share": {"memory": "share", "feedback": (0.9, 0.3), "min_observe": 0.05},
    "share, a rate": {"memory": "share", "eta": 0.2},
    "share, capacity": {"memory": "share", "capacity": ab.Capacity(share=0.3, burst=3), "ix": "anytime"},
    "exploration by the rate": {"ix": "anytime", "memory": "adaptive", "feedback": (0.4, 0.7)},
}
CASES = [(ab.Exp3Abs, name, options) for name, options in (OPTIONS | RATES).items()]
CASES += [(ab.DoublyRobust, name, options) for name, options in (OPTIONS | GUARDS).items()] + [(ab.Stacked, "", {})]
PLAYERS = [
    lambda e, **k: ab.Exp3Abs(e, memory="adaptive", feedback=(0.8, 0.3), min_observe=0.4, **k),
    lambda e, **k: ab.Exp3Abs(e, memory="share", **k),
    lambda e, **k: ab.DoublyRobust(e, **k),
    lambda e, **k: ab.DoublyRobust(e, guard=0.1, feedback="both", **k),
    lambda e, **k: ab.DoublyRobust(e, memory="adaptive", feedback="abstained", min_observe=0.1, **k),
    lambda e, **k: ab.Stacked(e, **k),
]
each_case = pytest.mark.parametrize(("kind", "options"), [(k, o) for k, _, o in CASES], ids=[
    f"{kind.__name__} {name}" for kind, name, _ in CASES
])  # fmt: skip
each_player = pytest.mark.parametrize(
    "make", PLAYERS, ids=["Exp3Abs", "share", "plain", "guard", "abstained", "Stacked"]
)


@each_case
def test_every_option(kind, options):
    check_learner(lambda: kind(RINGS, cost=0.3, seed=1, **options))


@each_case
def test_hidden_labels_are_never_used(kind, options):
    """Longer games; and there are labels to hide, unless all are shown."""
    X, y = ab.datasets.load("synthetic", n=2000, seed=0)
    check_hidden_labels(lambda: kind(RINGS, cost=0.3, seed=1, **options), X, y)
    learner = kind(RINGS, cost=0.3, seed=1, **options)
    comes = learner.comes(1, len(X))
    trace = ab.simulate(learner, X, y)
    hidden = ~np.where(trace.abstained, comes[:, 1], comes[:, 0])
    assert hidden.any() == (options.get("feedback") != "both")
    assert not hidden.all()


@each_case
def test_shown_labels_are_used(kind, options):
    """The test above can fail: flipping labels that are shown changes the game."""
    X, y = ab.datasets.load("synthetic", n=500, seed=0)
    learner, other = (kind(RINGS, cost=0.3, seed=1, **options) for _ in range(2))
    ab.simulate(learner, X, y)
    ab.simulate(other, X, -y)
    assert not np.allclose(learner.weights, other.weights, atol=1e-6)


@each_player
@pytest.mark.parametrize("name", EXPERTS)
def test_every_kind_of_experts(name, make):
    check_learner(lambda: make(EXPERTS[name], cost=0.3, seed=1))


@each_player
@pytest.mark.parametrize("name", COSTS)
def test_every_cost(name, make):
    check_learner(lambda: make(RINGS, cost=COSTS[name], seed=1))


@pytest.mark.parametrize("kind", [ab.Exp3Abs, ab.DoublyRobust, ab.Stacked])
@pytest.mark.parametrize("name", COSTS)
@pytest.mark.parametrize("loss", ["ramp", "hinge"])
def test_every_loss(name, kind, loss):
    check_learner(lambda: kind(RINGS, cost=COSTS[name], loss=loss, seed=1))


@pytest.mark.parametrize("make", PLAYERS[:-1], ids=["Exp3Abs", "share", "plain", "guard", "abstained"])
def test_other_labels(make):
    rng = np.random.default_rng(0)
    experts = ab.experts.from_columns(2, 2)
    classes = np.column_stack([rng.integers(0, 3, (150, 2)), rng.normal(size=(150, 2))])
    check_learner(lambda: make(experts, cost=0.3, loss="multiclass", seed=1), classes, rng.integers(0, 3, 150))
    numbers = rng.normal(size=(150, 4))
    for loss in ("squared", "absolute"):
        check_learner(lambda loss=loss: make(experts, cost=0.3, loss=loss, seed=1), numbers, rng.normal(size=150))


def half_wrong(h, y):
    return (h * y[:, None] <= 0) / 2.0


@pytest.mark.parametrize("kind", [ab.Exp3Abs, ab.DoublyRobust])
def test_a_users_loss(kind):
    """A Python function of scores and labels."""
    experts = ab.experts.from_columns(2, 2)
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1.0, 1.0, (150, 4)), rng.choice([-1, 1], 150)
    for check in CHECKS:
        if check.__name__ != "check_bad_input":  # what the function raises for labels that are none is the user's
            check(lambda: kind(experts, cost=0.3, loss=half_wrong, seed=1, feedback=(0.5, 0.8)), X, y)

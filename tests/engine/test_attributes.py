"""Attributes of learners: what cannot be set raises, and what a learner sets itself it may set."""

import copy
import inspect
import pickle

import numpy as np
import pytest

import abstain as ab
from abstain.errors import ReadOnlyError
from abstain.extend import Choice, Learner

EXPERTS = ab.experts.hyperplanes(dim=2, n_predictors=3, n_rings=4, seed=0)


class Counting(Learner):
    """Counts in public attributes, one of which its constructor sets after that of the base class."""

    options = ("step",)

    def __init__(self, experts, *, cost, loss="zero_one", seed=None, step=1):
        self.step = step
        super().__init__(experts, cost=cost, loss=loss, seed=seed)
        self.learnt = 0

    def choose(self, advice, cost):
        return Choice(0, 1.0, np.zeros(0))

    def commit(self, decision):
        self.last = decision.round

    def absorb(self, decision, losses):
        self.learnt += self.step

    def arrays(self):
        return {"learnt": np.array([self.learnt])}

    def set_arrays(self, arrays):
        self.learnt = int(arrays["learnt"][0])


class Recounting(Counting):
    """A subclass with a constructor and a property that can be set."""

    def __init__(self, experts, **arguments):
        super().__init__(experts, **arguments)
        self.more = 1

    @property
    def half(self):
        return self.learnt / 2

    @half.setter
    def half(self, value):
        with self.lock:
            self.learnt = int(2 * value)


def learners():
    return [
        ab.UCBGT(EXPERTS, cost=0.3, seed=0),
        ab.DoublyRobust(EXPERTS, cost=0.3, seed=0),
        ab.ContExp3Abs(dim=1, cost=0.3, horizon=100, seed=0),
        Recounting(EXPERTS, cost=0.3),
    ]


@pytest.mark.parametrize("learner", learners(), ids=lambda learner: type(learner).__name__)
def test_what_cannot_be_set_raises(learner):
    for twin in (learner, learner.clone(), copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))):
        before = vars(twin).copy()
        for name in ("nonsense", "seed", "round", "lock", "weights", "decide", *twin.options):
            with pytest.raises(ReadOnlyError, match=f"^{name}: cannot be set, got 3"):
                setattr(twin, name, 3)
        assert vars(twin) == before
        twin.cost = 0.2
        assert twin.cost.value == 0.2


def test_the_message_says_what_to_do():
    learner = ab.UCBGT(EXPERTS, cost=0.3)
    with pytest.raises(AttributeError, match=r"make another learner with beta=\.\.\."):
        learner.beta = 3.0
    with pytest.raises(AttributeError, match="UCBGT has no such attribute"):
        learner.bta = 3.0
    with pytest.raises(AttributeError, match="holding its lock"):
        learner.round = 3


def test_nobody_else_sets_the_state():
    """A state that is set by hand is refused, and the learner plays on; its own methods hold the lock."""
    learner = ab.Exp3Abs(EXPERTS, cost=0.3, seed=0)
    state = learner.state
    with pytest.raises(ReadOnlyError, match="^state: cannot be set, got 1; only the learner's own methods"):
        learner.state = 1
    assert learner.state is state
    learner.cost = 0.2
    learner.decide([0.1, 0.2])


def test_a_learner_changes_its_own_attributes():
    learner = Recounting(EXPERTS, cost=0.3, step=2)
    kept = learner.snapshot()
    learner.learn(learner.decide([0.9, 0.9]), 1)
    assert (learner.round, learner.learnt, learner.last, learner.more) == (1, 2, 1, 1)
    learner.half = 5.0
    assert learner.learnt == 10
    learner.restore(kept)
    assert (learner.round, learner.learnt) == (0, 0)
    with learner.lock:
        learner.learnt = 7
    assert copy.copy(learner).learnt == 7


def test_constructors_keep_their_signatures():
    assert list(inspect.signature(Counting).parameters) == ["experts", "cost", "loss", "seed", "step"]
    assert "beta" in inspect.signature(ab.UCBGT).parameters
    with pytest.raises(TypeError, match=r"UCBGT.*nonsense"):
        ab.UCBGT(EXPERTS, cost=0.3, nonsense=1)


def test_no_public_attribute_can_be_deleted():
    learner = ab.UCB(EXPERTS, cost=0.2)
    with pytest.raises(ReadOnlyError, match=r"^beta: cannot be deleted"):
        del learner.beta
    assert learner.beta == ab.UCB(EXPERTS, cost=0.2).beta

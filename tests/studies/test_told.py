"""Advice worked out once: learners see what they would see without, to the last bit."""

import numpy as np
import pytest

import abstain as ab
from abstain import losses
from abstain.regret import losses_of, sums_of_all
from abstain.studies.told import Told, tell

RINGS = ab.experts.hyperplanes(dim=2, n_predictors=7, n_rings=4, seed=0)
PLANES = ab.experts.axis_planes(2, 6, [0.0, 0.1, 0.4])
X, Y = ab.datasets.load("synthetic", n=700, seed=1)
SCORES = X.mean(axis=1)
ALL = np.zeros(len(X), np.int64)  # one regime


class Count(ab.experts.ExpertSet):
    """Predicts classes 0, 1, 2; abstains where x is small."""

    def __init__(self):
        super().__init__(3, 1, 2)

    def parameters(self):
        return {}

    def _advise(self, X, out=None):
        places = np.floor(X[:, :1] * 10).astype(np.int64) % 3
        return ab.experts.Advice((places + np.arange(3)) % 3 * 1.0, np.abs(X[:, :1]) < 0.2)


@pytest.mark.parametrize("experts", [RINGS, PLANES])
def test_losses_and_outcomes(experts):
    loss = losses.get("zero_one")
    table = tell(experts, X, Y, loss, ALL, 1 << 28)
    assert isinstance(table.experts, Told)
    shown, told = experts.advise(X), table.experts.advise_block(table.X)
    assert told.predictions.dtype == np.uint8
    assert table.n_bytes == len(X) * (experts.n_predictors + experts.n_rules)
    np.testing.assert_array_equal(table.loss(told.predictions, table.y), loss(shown.predictions, loss.labels(Y)))
    either = table.loss.outcomes(told.predictions)
    assert either.dtype == np.uint8
    np.testing.assert_array_equal(either, loss.outcomes(shown.predictions))
    np.testing.assert_array_equal(told.abstains, shown.abstains)


def test_a_score_of_zero_errs_either_way():
    experts = ab.experts.from_columns(2, 1)
    rows = np.array([[0.0, 1.0, 1.0], [-1.0, 0.0, 1.0]])
    table = tell(experts, rows, [1, -1], losses.get("zero_one"), ALL, 1 << 20)
    told = table.experts.advise_block(table.X).predictions
    np.testing.assert_array_equal(told, [[3, 1], [2, 3]])
    np.testing.assert_array_equal(table.loss(told, table.y), [[1, 0], [0, 1]])


@pytest.mark.parametrize(
    ("experts", "loss", "y", "is_told"),
    [
        (RINGS, losses.get("zero_one"), Y, True),
        (PLANES, losses.get("zero_one"), Y, True),
        (RINGS, losses.ramp(0.3), Y, False),  # a byte does not hold two of these
        (Count(), losses.multiclass([0, 1, 2]), (Y + 1).astype(int), True),
        (RINGS, losses.get("absolute"), SCORES, True),
    ],
)
@pytest.mark.parametrize("kind", [ab.UCBGT, ab.UCB, ab.Exp3Abs, ab.FullSupervision])
def test_learners_play_the_same(experts, loss, y, is_told, kind):
    table = tell(experts, X, y, loss, ALL, 1 << 28)
    assert isinstance(table.experts, Told) == is_told
    assert (table.loss.outcomes(table.experts.advise_block(table.X[:5]).predictions) is None) == (
        loss.outcomes(experts.advise(X[:5]).predictions) is None
    )
    told, shown = (kind(set_, cost=0.2, loss=by, seed=3) for set_, by in ((table.experts, table.loss), (experts, loss)))
    one = ab.simulate(told, table.X, table.y, checkpoints=[1, 50, 700])
    other = ab.simulate(shown, X, y, checkpoints=[1, 50, 700])
    for name in ("expert", "abstained", "loss", "edges"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_comparators_are_the_same():
    loss, paid = losses.get("zero_one"), np.full(len(X), 0.2)
    table = tell(RINGS, X, Y, loss, ALL, 1 << 28)
    for one, other in zip(
        sums_of_all(table.experts, table.X, table.y, table.loss, paid),
        sums_of_all(RINGS, X, loss.labels(Y), loss, paid),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(
        losses_of(9, table.experts, table.X, table.y, table.loss, paid),
        losses_of(9, RINGS, X, loss.labels(Y), loss, paid),
    )


class Guessing(ab.Learner):
    """Follows the expert whose loss is the least if both labels are equally likely, and remembers all it saw."""

    def __init__(self, experts, *, cost, loss="zero_one", seed=None):
        super().__init__(experts, cost=cost, loss=loss, seed=seed)
        self.seen = []

    def _choose(self, advice, cost):
        both = self.loss.outcomes(advice.predictions)
        self.seen.append(both.copy())
        guess = both[0].mean(axis=1)[self.experts.predictor_of]
        silent = advice.abstains[0, self.experts.rule_of]
        expert = int(np.argmin(np.where(silent, 0.5, guess)))
        return ab.Choice(expert, 0.0 if silent[expert] else 1.0, np.zeros(0))

    def _commit(self, decision):
        pass

    def _absorb(self, decision, losses):
        self.seen.append(losses.copy())

    def _arrays(self):
        return {}

    def _set_arrays(self, arrays):
        pass


def test_a_learner_that_asks_for_both_labels():
    table = tell(RINGS, X[:50], Y[:50], losses.get("zero_one"), ALL, 1 << 28)
    told, shown = Guessing(table.experts, cost=0.2, loss=table.loss), Guessing(RINGS, cost=0.2)
    one, other = ab.simulate(told, table.X, table.y), ab.simulate(shown, X[:50], Y[:50])
    np.testing.assert_array_equal(one.expert, other.expert)
    assert len(told.seen) == len(shown.seen) > 50
    for a, b in zip(told.seen, shown.seen, strict=True):
        np.testing.assert_array_equal(a, b)

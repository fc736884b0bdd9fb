"""Rounds prepared for many learners: they see what they would see without, to the last bit."""

import numpy as np
import pytest

import abstain as ab
from abstain import losses
from abstain.engine.play import Prepared
from abstain.errors import InputError
from abstain.regret import losses_of, sums_of_all

RINGS = ab.experts.hyperplanes(dim=2, n_predictors=7, n_rings=4, seed=0)
PLANES = ab.experts.axis_planes(2, 6, [0.0, 0.1, 0.4])
X, Y = ab.datasets.load("synthetic", n=700, seed=1)
SCORES = X.mean(axis=1)


class Count(ab.experts.ExpertSet):
    """Predicts classes 0, 1, 2; abstains where x is small."""

    def __init__(self):
        super().__init__(3, 1, 2)

    def parameters(self):
        return {}

    def advise_rows(self, X, out=None):
        places = np.floor(X[:, :1] * 10).astype(np.int64) % 3
        return ab.experts.Advice((places + np.arange(3)) % 3 * 1.0, np.abs(X[:, :1]) < 0.2)


def block(rounds, n=5):
    return rounds.advice(slice(0, n)), slice(0, n)


@pytest.mark.parametrize("experts", [RINGS, PLANES])
def test_losses_and_outcomes(experts):
    loss = losses.get("zero_one")
    rounds = ab.prepare(experts, X, Y)
    shown, rows = experts.advise(X), slice(0, len(X))
    known = rounds.advice(rows)
    assert rounds.kept
    assert rounds.n_bytes == X.nbytes + len(X) * (experts.n_predictors + experts.n_rules)
    np.testing.assert_array_equal(rounds.losses(rows, known), loss(shown.predictions, loss.labels(Y)))
    np.testing.assert_array_equal(known.outcomes(loss), loss.outcomes(shown.predictions))
    np.testing.assert_array_equal(known.abstains, shown.abstains)
    assert "predictions" not in vars(known)  # nobody has asked
    np.testing.assert_array_equal(known.predictions, shown.predictions)
    np.testing.assert_array_equal(known.outcomes(losses.ramp(0.3)), losses.ramp(0.3).outcomes(shown.predictions))


def test_a_score_of_zero_errs_either_way():
    experts = ab.experts.from_columns(2, 1)
    rows = np.array([[0.0, 1.0, 1.0], [-1.0, 0.0, 1.0]])
    advice, both = block(ab.prepare(experts, rows, [1, -1]), 2)
    np.testing.assert_array_equal(advice.outcomes(losses.get("zero_one")), [[[1, 1], [1, 0]], [[0, 1], [1, 1]]])
    np.testing.assert_array_equal(ab.prepare(experts, rows, [1, -1]).losses(both, advice), [[1, 0], [0, 1]])


@pytest.mark.parametrize(
    ("experts", "loss", "y", "kept"),
    [
        (RINGS, losses.get("zero_one"), Y, True),
        (PLANES, losses.get("zero_one"), Y, True),
        (RINGS, losses.ramp(0.3), Y, False),  # a byte does not hold two of these
        (Count(), losses.multiclass([0, 1, 2]), (Y + 1).astype(int), True),
        (RINGS, losses.get("absolute"), SCORES, True),
    ],
)
@pytest.mark.parametrize("kind", [ab.DoublyRobust, ab.Exp3Abs, ab.UCB, ab.FullSupervision, ab.UCBGT])
@pytest.mark.sample(3)
def test_learners_play_the_same(experts, loss, y, kept, kind):
    rounds = ab.prepare(experts, X, y, loss=loss)
    assert rounds.kept == kept
    for delay in (0, 7):
        one, other = (kind(experts, cost=0.2, loss=loss, seed=3) for _ in range(2))
        known = ab.simulate(one, rounds, checkpoints=[1, 50, 700], delay=delay)
        shown = ab.simulate(other, X, y, checkpoints=[1, 50, 700], delay=delay)
        for name in ("expert", "abstained", "loss", "edges"):
            np.testing.assert_array_equal(getattr(known, name), getattr(shown, name))
        assert one.round == 700


class Counting(ab.experts.ExpertSet):
    """Counts how often it is asked."""

    asked = 0

    def __init__(self):
        super().__init__(1, 2, 2)

    def parameters(self):
        return {}

    def advise_rows(self, X, out=None):
        self.asked += len(X)
        return ab.experts.Advice(X[:, :1], X > 0.5)


def test_the_advice_is_paid_for_once():
    experts = Counting()
    rounds = ab.prepare(experts, X, Y)
    asked = experts.asked
    assert asked == len(X) + 1
    for cost in (0.1, 0.2, 0.3):
        ab.simulate(ab.UCBGT(experts, cost=cost), rounds)
        ab.simulate(ab.FullSupervision(experts, cost=cost), rounds)
    assert experts.asked == asked


def test_the_table_may_change_afterwards():
    table, labels = X.copy(), Y.copy()
    rounds = ab.prepare(RINGS, table, labels)
    before = ab.simulate(ab.UCBGT(RINGS, cost=0.2), rounds).loss
    table[:], labels[:] = 0.0, 1
    np.testing.assert_array_equal(ab.simulate(ab.UCBGT(RINGS, cost=0.2), rounds).loss, before)


def test_rounds_of_others():
    rounds = ab.prepare(RINGS, X, Y)
    same = ab.experts.hyperplanes(dim=2, n_predictors=7, n_rings=4, seed=0)
    ab.simulate(ab.UCBGT(same, cost=0.2), rounds)
    with pytest.raises(InputError, match="rounds: expected those of the learner's experts, <axis_planes"):
        ab.simulate(ab.UCBGT(PLANES, cost=0.2), rounds)
    with pytest.raises(InputError, match="rounds: expected those of the learner's loss, Ramp"):
        ab.simulate(ab.UCBGT(RINGS, cost=0.2, loss=losses.ramp(0.5)), rounds)
    with pytest.raises(InputError, match="y: expected none"):
        ab.simulate(ab.UCBGT(RINGS, cost=0.2), rounds, Y)
    with pytest.raises(InputError, match="y: expected 700 labels, one for each row of X, got None"):
        ab.simulate(ab.UCBGT(RINGS, cost=0.2), X)
    with pytest.raises(InputError, match="X: expected 2 columns, got 1"):
        ab.prepare(RINGS, X[:, :1], Y)
    with pytest.raises(InputError, match="experts: expected an ExpertSet, got str"):
        ab.prepare("rings", X, Y)


def test_comparators_are_the_same():
    paid = np.full(len(X), 0.2)
    known, anew = ab.prepare(RINGS, X, Y), Prepared(RINGS, X, Y.astype(float), losses.get("zero_one"), keep=False)
    assert not anew.kept
    for span in ((0, None), (3, 600)):
        for one, other in zip(sums_of_all(known, paid, *span), sums_of_all(anew, paid, *span), strict=True):
            np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(losses_of(9, known, paid), losses_of(9, anew, paid))


class Guessing(ab.Learner):
    """Follows the expert whose loss is the least if both labels are equally likely, and remembers all it saw."""

    def __init__(self, experts, *, cost, loss="zero_one", seed=None):
        super().__init__(experts, cost=cost, loss=loss, seed=seed)
        self.seen = []

    def choose(self, advice, cost):
        both = self.loss.outcomes(advice.predictions)
        self.seen.append(both.copy())
        guess = both[0].mean(axis=1)[self.experts.predictor_of]
        silent = advice.abstains[0, self.experts.rule_of]
        expert = int(np.argmin(np.where(silent, 0.5, guess)))
        return ab.extend.Choice(expert, 0.0 if silent[expert] else 1.0, np.zeros(0))

    def absorb(self, decision, losses):
        self.seen.append(losses.copy())

    def arrays(self):
        return {}

    def set_arrays(self, arrays):
        pass


def test_a_learner_in_python_that_asks_for_both_labels():
    one, other = Guessing(RINGS, cost=0.2), Guessing(RINGS, cost=0.2)
    known, shown = ab.simulate(one, ab.prepare(RINGS, X[:50], Y[:50])), ab.simulate(other, X[:50], Y[:50])
    np.testing.assert_array_equal(known.expert, shown.expert)
    assert len(one.seen) == len(other.seen) > 50
    for a, b in zip(one.seen, other.seen, strict=True):
        np.testing.assert_array_equal(a, b)

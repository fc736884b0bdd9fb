"""Every set of experts obeys the rules, and the kit finds those that do not."""

import warnings

import numpy as np
import pytest

import abstain as ab
from abstain.checks import check_experts
from abstain.extend import Advice, ExpertSet

SETS = {
    "rings": ab.experts.hyperplanes(2, 3, 4, seed=0),
    "balls": ab.experts.hyperplanes(2, 3, 4, regions="balls", always_predict=True, seed=0),
    "axis": ab.experts.axis_planes(2, 6, [0.0, 0.2, 0.4]),
    "thresholds": ab.experts.thresholds(3, [-1.0, 0.1, 0.5]),
    "columns": ab.experts.from_columns(2, 3, [(0, 2), (1, 0)]),
    "functions": ab.experts.from_functions([(lambda x: x[0], lambda x: x[1]), (lambda x: -x[1], lambda x: 1.0)]),
    "constants": ab.ContExp3Abs(2, cost=0.3, epsilon=0.5).experts,
}


@pytest.mark.parametrize("name", SETS)
def test_every_set(name):
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (200, 2))
    X[::2] = np.random.default_rng(1).choice([-0.5, 0.0, 0.5], X[::2].shape)  # the planes, which theta = 0 abstains on
    check_experts(SETS[name], X if name == "axis" else None)


class Boxes(ExpertSet):
    """Each feature is a predictor; each rule abstains in a box around 0."""

    def __init__(self, dim, widths):
        super().__init__(n_predictors=dim, n_rules=len(widths), n_features=dim)
        self.widths = np.array(widths, float)

    def advise_rows(self, X, out=None):
        return Advice(X.copy(), np.abs(X).max(axis=1)[:, np.newaxis] <= self.widths)

    def find_subset(self):
        return self.widths[:, np.newaxis] <= self.widths

    def parameters(self):
        return {"dim": self.n_features, "widths": self.widths}


def test_an_own_set():
    check_experts(Boxes(2, [0.1, 0.4]))


class Looking(Boxes):
    """Looks at other rows."""

    def advise_rows(self, X, out=None):
        return Advice(X - X.mean(), np.abs(X).max(axis=1)[:, np.newaxis] <= self.widths)


class Writing(Boxes):
    """Writes to its inputs."""

    def advise_rows(self, X, out=None):
        X *= 0.5
        return super().advise_rows(X)


class Backwards(Boxes):
    """Has the relation the wrong way round."""

    def find_subset(self):
        return self.widths[:, np.newaxis] >= self.widths


class Forgetting(Boxes):
    """Comes back as another set."""

    def __init__(self, dim, widths=(0.3, 0.6)):
        super().__init__(dim, widths)

    def parameters(self):
        return {"dim": self.n_features}

    @property
    def fingerprint(self):
        return f"{self.widths}"


@pytest.mark.parametrize(
    ("kind", "rule"),
    [(Looking, "Predictions differ"), (Writing, "X was changed|differ"), (Backwards, "abstains alone"),
     (Forgetting, "The fingerprint of what its parameters make differs")],
)  # fmt: skip
def test_the_kit_finds_what_is_wrong(kind, rule):
    with pytest.raises(AssertionError, match=rule):
        check_experts(kind(2, [0.1, 0.4]))


class Inverted(Boxes):
    """Has one pair the wrong way round, and two that are right."""

    def find_subset(self):
        return np.array([[True, False, True], [True, True, True], [False, False, True]])


@pytest.mark.parametrize("widths", [[0.001, 0.002, 0.5], [0.0001, 0.1, 0.3], [30.0, 70.0, 100.0]])
def test_a_wrong_relation_between_small_or_far_regions_is_found(widths):
    """None of 200 rows in [-1, 1] tells the first two boxes apart."""
    with pytest.raises(AssertionError, match=r"Rules \(1, 0\) are related, but the first abstains alone"):
        check_experts(Inverted(2, widths))


def test_a_region_without_rows_is_a_warning():
    with pytest.warns(UserWarning, match="not tested for 4 of 18 rules, the first of them 0"):
        check_experts(SETS["axis"])


def test_a_rule_that_never_abstains_is_no_warning():
    """It lies in all others, and no row could tell."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_experts(Boxes(2, [-1.0, 0.1, 0.4]))


def test_something_else():
    with pytest.raises(AssertionError, match="Expected an ExpertSet, got int"):
        check_experts(3)

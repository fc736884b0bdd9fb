"""What learners report about their experts."""

import numpy as np
import pytest

import abstain as ab

from .learners import MAKE

WEIGHTS = {name for name in MAKE if name.startswith(("Exp3", "DoublyRobust", "Stacked"))}
ESTIMATES = {name for name in MAKE if name.startswith(("UCB", "FS", "Exp3Abs", "DoublyRobust", "Stacked"))} - {"UCBAbs"}


@pytest.mark.parametrize("name", MAKE)
def test_every_learner_reports_what_it_keeps(name):
    learner = MAKE[name]()
    X, y = ab.datasets.load("synthetic", n=200, seed=0)
    ab.simulate(learner, X, y)
    weights, estimates = learner.report()
    assert (weights is not None) == (name in WEIGHTS)
    assert (estimates is not None) == (name in ESTIMATES)
    if weights is not None:
        np.testing.assert_array_equal(weights, learner.weights)
    if estimates is not None:
        expected = learner.means if hasattr(learner, "means") else learner.estimates
        np.testing.assert_array_equal(estimates, expected)


def test_estimates_that_would_mislead_are_left_out():
    experts = ab.experts.hyperplanes(2, 3, 4, seed=0)
    report = ab.DoublyRobust(experts, seed=0, cost=lambda X: np.full(len(X), 0.3)).report()
    assert report.weights.shape == (12,)
    assert report.estimates is None

"""Where the instance's own graph misleads (section 4.1, proposition 1): by simulation, with margins for any seed."""

import numpy as np
import pytest

import abstain as ab

pytestmark = pytest.mark.long
T, SEEDS = 100_000, 200


def trapped(instance, wrong, **learner):
    """Return the fraction of runs that follow the wrong expert in over 90 % of their second half."""
    kind = learner.pop("kind", ab.UCBNT)
    runs = 0
    for seed in range(SEEDS):
        X, y = instance.draw(T, seed)
        trace = ab.simulate(kind(instance.experts, cost=instance.cost, loss=instance.loss, **learner), X, y)
        runs += (trace.expert[T // 2 :] == wrong).mean() > 0.9
    return runs / SEEDS


def test_the_bias_problem_traps_ucb_nt_on_its_own_graph():
    instance = ab.instances.bias_problem()
    assert trapped(instance, 0, graph="abstention") > 0.7
    assert trapped(instance, 0, graph="subset") < 0.05
    assert trapped(instance, 0, kind=ab.UCBGT) < 0.05


def test_proposition_1_traps_most_runs():
    """The construction traps more than half of the runs with p = 0.99, c = 0.9, hardly any with p = 0.9, c = 0.5."""
    assert trapped(ab.instances.proposition_1(), 1, graph="abstention") > 0.4
    assert trapped(ab.instances.proposition_1(), 1, graph="subset") < 0.05
    assert trapped(ab.instances.proposition_1(p=0.9, cost=0.5), 1, graph="abstention") < 0.05


def test_a_trapped_run_has_linear_regret():
    """A trapped run pays the gap in every round: doubling T doubles its regret."""
    instance = ab.instances.bias_problem()
    gap = instance.means[0] - instance.means[1]
    for seed in range(20):
        X, y = instance.draw(T, seed)
        learner = ab.UCBNT(instance.experts, cost=instance.cost, loss=instance.loss, graph="abstention")
        trace = ab.simulate(learner, X, y)
        if (trace.expert[T // 2 :] == 0).mean() > 0.99:
            pseudo = gap * np.cumsum(trace.expert == 0)
            assert pseudo[-1] > 1.8 * pseudo[T // 2 - 1]
            return
    pytest.fail("no run was trapped")

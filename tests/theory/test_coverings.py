"""Theorem 3's minimum over coverings: exact for few experts, never above what is trivial, and it holds when played."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain import theory
from abstain.errors import InputError
from abstain.theory.coverings import _feasible, price

CHOICES = [0.0, 0.05, 0.1, 0.11, 0.3, 0.5, 1.0]


def random_problem(rng, n):
    """Gaps, some of them alike or 0, and a graph with few, some or many edges in both directions."""
    share = rng.uniform(0.3, 1.0)
    graph = rng.random((n, n)) < share
    graph |= (rng.random((n, n)) < share) & graph.T
    gaps = rng.choice(CHOICES, n) if rng.random() < 0.5 else rng.uniform(0.01, 1.0, n)
    return gaps, graph | np.eye(n, dtype=bool)


def partitions(experts):
    """All ways to put experts into sets."""
    if not experts:
        yield []
        return
    for rest in partitions(experts[1:]):
        yield [[experts[0]], *rest]
        for i, group in enumerate(rest):
            yield [*rest[:i], [experts[0], *group], *rest[i + 1 :]]


def by_brute_force(gaps, looks, graph):
    """The least sum of max gap * max looks over all coverings by sets of experts that update each other."""
    costly = [k for k in range(len(gaps)) if gaps[k] > 0.0]
    sums = [
        sum(max(gaps[group]) * max(looks[group]) for group in covering)
        for covering in partitions(costly)
        if all(graph[np.ix_(group, group)].all() for group in covering)
    ]
    return min(sums)


def test_the_best_covering_is_the_best_of_all():
    """60 random graphs of up to six experts: by trying all coverings, for both theorems."""
    rng, T, fewer, seen = np.random.default_rng(0), 10**9, 0, set()
    for _ in range(60):
        n = int(rng.integers(1, 7))
        gaps, graph = random_problem(rng, n)
        with np.errstate(divide="ignore"):
            squares = 1.0 / gaps**2
        least = by_brute_force(gaps, squares, graph)
        covering = theory.best_covering(gaps, graph)
        assert sorted(one for group in covering for one in group) == list(range(n))
        assert all(graph[np.ix_(group, group)].all() for group in covering)
        assert price(covering, gaps, squares) == pytest.approx(least)
        for beta, rest in ((2.5, 5.0), (0.625, 5.0), (1.0, 2.0)):
            expected = min(T * gaps.max(), least * 8 * beta * math.log(T) + rest * n)
            assert theory.ucb_nt_bound(gaps, "best", T, beta, graph=graph) == pytest.approx(expected)
            assert theory.ucb_nt_bound(gaps, covering, T, beta, graph=graph) == pytest.approx(expected)
        looks = np.array([updates_needed(gap, n, T, 2.5) if gap > 0 else np.inf for gap in gaps])
        expected = min(T * gaps.max(), by_brute_force(gaps, looks, graph) + 5.0 * n)
        assert theory.ucb_gt_bound(gaps, "best", T, graph=graph) == pytest.approx(expected)
        seen.add(n)
        fewest = theory.admissible_covering(graph, exact=True)
        fewer += price(fewest, gaps, squares) > 1.5 * least
    assert seen == set(range(1, 7))
    assert fewer > 5, "the covering with the fewest sets would often do"


def updates_needed(gap, n, T, beta):
    """How large Q has to be for 3 S + (K - 1) / Q to be gap at most, by bisection."""
    low, high = 0.0, 1e30
    for _ in range(300):
        middle = (low + high) / 2.0
        wide = 3.0 * math.sqrt(2.0 * beta * math.log(T) / middle) + (n - 1) / middle > gap
        low, high = (middle, high) if wide else (low, middle)
    return high


def test_many_experts_have_a_feasible_covering():
    """It is admissible, no more expensive than single experts or sets as large as possible, and blocks are found."""
    rng = np.random.default_rng(1)
    for n in (17, 40, 150):
        for _ in range(10):
            gaps, graph = random_problem(rng, n)
            covering = theory.best_covering(gaps, graph)
            assert sorted(one for group in covering for one in group) == list(range(n))
            assert all(graph[np.ix_(group, group)].all() for group in covering)
            with np.errstate(divide="ignore"):
                squares = 1.0 / gaps**2
            least = price(covering, gaps, squares)
            assert least <= price([[k] for k in range(n)], gaps, squares) * (1 + 1e-12)
    graph, gaps = np.kron(np.eye(5), np.ones((8, 8))), np.repeat([0.1, 0.2, 0.3, 0.4, 0.5], 8)
    assert theory.best_covering(gaps, graph) == [list(range(8 * k, 8 * k + 8)) for k in range(5)]


def test_quick_coverings_are_close_to_the_best():
    """Where both can be had, 16 experts: at most twice as expensive, a tenth more in the median."""
    rng, ratios = np.random.default_rng(2), []
    for _ in range(100):
        gaps, graph = random_problem(rng, 16)
        order = np.argsort(gaps, kind="stable")[(np.sort(gaps) == 0.0).sum() :]
        mutual = (graph & graph.T)[np.ix_(order, order)]
        looks = 1 / gaps[order] ** 2
        quick = min(price(groups, gaps[order], looks) for groups in _feasible(gaps[order], looks, mutual))
        with np.errstate(divide="ignore"):
            ratios.append(quick / price(theory.best_covering(gaps, graph), gaps, 1 / gaps**2))
    assert min(ratios) >= 1.0 - 1e-12
    assert max(ratios) < 2.0
    assert np.median(ratios) < 1.1


@given(st.integers(1, 40), st.integers(0, 999), st.floats(1, 1e9), st.floats(0.5, 100, exclude_min=True))
def test_bounds_are_never_above_the_trivial_one(n, seed, T, beta):
    gaps, graph = random_problem(np.random.default_rng(seed), n)
    for bound in (theory.ucb_nt_bound, theory.ucb_gt_bound):
        best = bound(gaps, "best", T, beta, graph=graph)
        single = bound(gaps, [[k] for k in range(n)], T, beta)
        assert 0.0 <= best <= single * (1 + 1e-12) <= T * gaps.max() * (1 + 1e-12)


def test_the_term_that_theorem_4_hides():
    """The term that its O() does not have is at most 2 (K - 1) max Delta / min Delta a set, and gets near half."""
    rng, T = np.random.default_rng(3), 10**12
    for n in (2, 10, 300):
        gaps = np.append(0.0, rng.uniform(0.05, 0.5, n - 1))
        singles = [[k] for k in range(n)]
        stated = sum(18 * 2.5 * math.log(T) / gap for gap in gaps[1:]) + 5 * n
        hidden = theory.ucb_gt_bound(gaps, singles, T) - stated
        assert (n - 1) ** 2 < hidden <= 2 * (n - 1) ** 2 + 1e-6 * stated


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: theory.ucb_nt_bound([0.0, 0.5], "best", 10),
        lambda: theory.ucb_nt_bound([0.0, 0.5], "least", 10, graph=np.eye(2)),
        lambda: theory.ucb_nt_bound([0.0, 0.5], [[0, 1]], 10, graph=np.eye(2)),
        lambda: theory.ucb_nt_bound([0.0, 0.5], "best", 10, graph=np.eye(3)),
    ],
)
def test_coverings_that_do_not_fit_the_graph_are_refused(wrong):
    with pytest.raises(InputError, match="expected"):
        wrong()


GRAPHS = {
    "groups": (np.kron(np.eye(3), np.ones((4, 4))), [0.0, 0.2, 0.2, 0.25] + [0.2, 0.25, 0.3, 0.35] * 2),
    "chain": (np.abs(np.subtract.outer(np.arange(9), np.arange(9))) <= 2, [0.0, 0.2, 0.3] * 3),
    "one way": (np.tri(6).T, [0.25, 0.25, 0.25, 0.0, 0.25, 0.4]),
    "complete": (np.ones((8, 8)), [0.0] + [0.3] * 7),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("beta", [0.625, 2.5])
def test_regret_of_ucb_nt_below_theorem_3(name, beta):
    """Where the bound is below the trivial one: mean over 10 seeds of 40,000 rounds, by five standard errors."""
    graph, gaps = GRAPHS[name][0].astype(bool), np.array(GRAPHS[name][1])
    K, n, regrets = len(gaps), 40_000, []
    experts = ab.experts.from_columns(K, 1, rule_subset=[[True]])
    for seed in range(10):
        rng = np.random.default_rng(seed)
        scores = np.where(rng.random((n, K)) < 0.2 + gaps, -1.0, 1.0)
        learner = ab.UCBNT(experts, cost=0.5, graph=ab.graphs.fixed(graph), beta=beta)
        trace = ab.simulate(learner, np.column_stack([scores, np.ones(n)]), np.ones(n))
        regrets.append(gaps[trace.expert].sum())
    bound = theory.ucb_nt_bound(gaps, "best", n, beta, graph=graph)
    assert bound < 0.8 * gaps.max() * n
    assert np.mean(regrets) + 5 * np.std(regrets) / math.sqrt(len(regrets)) < bound
    assert bound < theory.ucb_nt_bound(gaps, [[k] for k in range(K)], n, beta) or name == "one way"


def test_regret_of_ucb_gt_below_theorem_4():
    """Four predictors times three nested rules, 200,000 rounds: below the bound with coverings of G^SUB."""
    n, error, silent = 200_000, np.array([0.1, 0.5, 0.6, 0.7]), np.array([0.0, 0.4, 0.8])
    experts = ab.experts.from_columns(4, 3, rule_subset=np.triu(np.ones((3, 3), bool)))
    means = ((1 - silent) * error[:, np.newaxis] + 0.6 * silent).ravel()
    gaps = means - means.min()
    subset = np.triu(np.ones((3, 3), bool))[np.ix_(experts.rule_of, experts.rule_of)]
    for beta in (0.625, 2.5):
        bound, regrets = theory.ucb_gt_bound(gaps, "best", n, beta, graph=subset), []
        assert bound < 0.5 * n * gaps.max()
        for seed in range(4):
            rng = np.random.default_rng(seed)
            y = rng.choice([-1.0, 1.0], n)
            scores = np.where(rng.random((n, 4)) < error, -y[:, np.newaxis], y[:, np.newaxis])
            trace = ab.simulate(
                ab.UCBGT(experts, cost=0.6, beta=beta), np.column_stack([scores, rng.random((n, 1)) - silent]), y
            )
            regrets.append(gaps[trace.expert].sum())
        assert np.mean(regrets) + 5 * np.std(regrets) / 2 < bound

"""The bounds as functions, and EXP3-ABS below its own on sequences of every kind."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain import theory
from abstain.errors import InputError


def test_exp3_bounds_by_their_formulas():
    tuned = math.sqrt(2 * math.log(50) / (1.09 * 1000))
    assert theory.exp3_abs_bound(1000, 50, 0.3) == pytest.approx(theory.exp3_abs_bound(1000, 50, 0.3, tuned))
    assert theory.exp3_abs_bound(1000, 50, 0.3, "anytime") == pytest.approx(
        math.sqrt(2) * theory.exp3_abs_bound(1000, 50, 0.3, "tuned")
    )
    S = 1 + 1.09 * 1000
    assert theory.exp3_abs_bound(1000, 50, 0.3, "adaptive") == pytest.approx(
        2.2976143 * math.sqrt(S * math.log(50)) + 1.0905077 * math.log(50) + 1.3 * math.log2(S)
    )
    for wrong in ("slow", 0.0, -1, math.inf):
        with pytest.raises(InputError, match="^eta"):
            theory.exp3_abs_bound(1000, 50, 0.3, wrong)


def test_the_two_terms_of_theorem_2_have_its_rate():
    """At the radius of theorem 2 its two terms are of the rate's order, up to the power of gamma it drops."""
    for d in (1, 2, 5):
        T, gamma = 10**6, 0.3
        epsilon = theory.cont_exp3_abs_epsilon(T, d, gamma)
        rate = theory.cont_exp3_abs_rate(T, d, gamma)
        assert math.sqrt(T * epsilon**-d) == pytest.approx(rate)
        assert T * epsilon / gamma == pytest.approx(rate)


graphs = st.integers(1, 7).flatmap(
    lambda n: st.lists(st.booleans(), min_size=n * n, max_size=n * n).map(
        lambda bits: np.array(bits).reshape(n, n) | np.eye(n, dtype=bool)
    )
)


@given(graphs)
def test_coverings_are_admissible_and_exact_ones_no_larger(matrix):
    greedy, exact = theory.admissible_covering(matrix), theory.admissible_covering(matrix, exact=True)
    for covering in (greedy, exact):
        assert sorted(expert for group in covering for expert in group) == list(range(len(matrix)))
        for group in covering:
            assert matrix[np.ix_(group, group)].all()
    assert len(exact) <= len(greedy)
    mutual = matrix & matrix.T
    assert len(exact) >= theory.independence_number(mutual)


@given(graphs, st.integers(0, 99))
def test_a_shared_covering_is_admissible_in_all_graphs(matrix, seed):
    other = matrix & (np.random.default_rng(seed).random(matrix.shape) < 0.7) | np.eye(len(matrix), dtype=bool)
    for group in theory.shared_covering([matrix, other], exact=True):
        assert matrix[np.ix_(group, group)].all()
        assert other[np.ix_(group, group)].all()


def test_ucb_nt_bound_of_single_experts_is_ucbs():
    gaps = [0.0, 0.1, 0.3]
    expected = 20 * math.log(20_000) * (1 / 0.1 + 1 / 0.3) + 15
    assert theory.ucb_nt_bound(gaps, [[0], [1], [2]], 20_000) == pytest.approx(expected)
    for wrong in ([[0], [1]], [[0, 1, 2, 3]]):
        with pytest.raises(InputError, match="covering"):
            theory.ucb_nt_bound(gaps, wrong, 500)


@given(graphs, st.integers(0, 999))
def test_the_independence_bound_against_brute_force(matrix, seed):
    """Every independent set of a layer is within it, and some are equal to it; more edges never make it worse."""
    gaps = np.random.default_rng(seed).choice([0.0, 0.1, 0.2, 0.3, 0.5, 1.0], len(matrix))
    n, log_T = len(matrix), math.log(1000)
    worth = np.array([40 * log_T / gap + 2 * gap if gap > 0 else 0.0 for gap in gaps])
    expected = 5.0 * n
    for low, high in ((0.5, 1.0), (0.25, 0.5), (0.125, 0.25), (0.0625, 0.125)):
        layer = [k for k in range(n) if low < gaps[k] <= high]
        sums = [0.0]
        for size in range(1, len(layer) + 1):
            for group in itertools.combinations(layer, size):
                if all(not (matrix[i, j] and matrix[j, i]) for i, j in itertools.combinations(group, 2)):
                    sums.append(worth[list(group)].sum())
        expected += max(sums)
    assert theory.independence_bound(gaps, matrix, 1000) == pytest.approx(expected)
    assert theory.independence_bound(gaps, np.ones((n, n)), 1000) <= expected + 1e-9


def test_regret_of_ucb_nt_below_the_bound_by_independence():
    """Ten experts in two groups that show each other, T = 5,000, 20 seeds: below both bounds by five errors."""
    gaps = np.array([0.0, 0.3, 0.3, 0.4, 0.4, 0.3, 0.3, 0.4, 0.4, 0.4])
    graph = np.kron(np.eye(2), np.ones((5, 5))).astype(bool)
    experts = ab.experts.from_columns(10, 10, "aligned", rule_subset=np.eye(10, dtype=bool))
    n, regrets = 5000, []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        scores = np.where(rng.random((n, 10)) < 0.1 + gaps, -1.0, 1.0)
        X = np.column_stack([scores, np.ones((n, 10))])
        learner = ab.UCBNT(experts, cost=0.5, graph=ab.graphs.fixed(graph), seed=seed)
        trace = ab.simulate(learner, X, np.ones(n))
        regrets.append(gaps[trace.expert].sum())
    worst = np.mean(regrets) + 5 * np.std(regrets) / math.sqrt(len(regrets))
    assert worst < theory.independence_bound(gaps, graph, n)
    assert worst < theory.ucb_nt_bound(gaps, theory.admissible_covering(graph), n)


def most_apart(graph, among):
    """The size of the largest set of experts no two of which are linked."""
    if not among:
        return 0
    one = max(among, key=lambda k: graph[k, list(among)].sum())
    others = among - {one}
    if graph[one, list(among)].sum() == 1:
        return 1 + most_apart(graph, others)
    return max(most_apart(graph, others), 1 + most_apart(graph, others - set(np.flatnonzero(graph[one]))))


def test_the_independence_bound_for_many_experts():
    """Small parts of a layer are exact, whatever K; larger ones are bounded from above, not far off."""
    rng, n, log_T = np.random.default_rng(0), 60, math.log(1000)
    for _ in range(30):
        gaps = rng.choice([0.0, 0.1, 0.15, 0.3, 0.6], n)
        blocks = np.kron(np.eye(15), np.ones((4, 4))).astype(bool)
        chained = blocks & (rng.random((n, n)) < 0.7)
        chained = chained | chained.T | np.eye(n, dtype=bool)
        expected = 5.0 * n
        for low, high in ((0.5, 1.0), (0.25, 0.5), (0.125, 0.25), (0.0625, 0.125)):
            for block in range(15):  # no expert is linked with another block
                layer = [k for k in range(4 * block, 4 * block + 4) if low < gaps[k] <= high]
                expected += max(
                    sum(40 * log_T / gaps[k] + 2 * gaps[k] for k in group)
                    for size in range(len(layer) + 1)
                    for group in itertools.combinations(layer, size)
                    if not any(chained[i, j] for i, j in itertools.combinations(group, 2))
                )
        assert theory.independence_bound(gaps, chained, 1000) == pytest.approx(expected)
    for n in (17, 20):
        for _ in range(5):
            graph = rng.random((n, n)) < rng.uniform(0.3, 0.9)
            graph = graph | graph.T | np.eye(n, dtype=bool)
            largest = most_apart(graph, frozenset(range(n)))
            each = 80 * log_T + 1.0
            bound = theory.independence_bound(np.full(n, 0.5), graph, 1000) - 5 * n
            assert largest * each - 1e-6 <= bound <= 2 * largest * each


@pytest.mark.parametrize("actions", ["three", pytest.param("grid", marks=pytest.mark.long)])
def test_regret_below_theorem_2(actions):
    """Against a pair of Lipschitz functions that abstains where labels lean to no side, 100,000 rounds."""
    n, gamma, slope, cost = 100_000, 0.2, 3.0, 0.3
    problem = ab.instances.lipschitz(1, cost)
    epsilon = theory.cont_exp3_abs_epsilon(n, 1, gamma)
    regrets = []
    for seed in range(3):
        X, y = problem.draw(n, seed)
        h, r = np.clip(slope * X[:, 0], -1, 1), np.clip(slope * (np.abs(X[:, 0]) - 0.2), -1, 1)
        loss = np.where(r > 0, ab.losses.ramp(gamma)(h[:, np.newaxis], y)[:, 0], cost)
        options = {"gamma": gamma} if actions == "grid" else {}
        learner = ab.ContExp3Abs(
            1, cost=cost, epsilon=epsilon, horizon=n, eta="tuned", actions=actions, seed=seed, **options
        )
        regrets.append(ab.simulate(learner, X, y).loss.sum() - loss.sum())
        balls = math.ceil(2 / epsilon)
        assert learner.n_balls <= balls
        bound = theory.cont_exp3_abs_bound(
            n, balls, epsilon, gamma, lipschitz=slope, n_actions=learner.experts.n_experts,
            close=theory.close_calls(r, gamma),
        )  # fmt: skip
        assert bound < 0.7 * n
    assert max(regrets) < bound


def test_close_calls_count_small_margins():
    assert theory.close_calls([-0.5, 0.1, 0.2, -0.2], 0.2) == 3


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: theory.independence_bound([0, 0.5], np.zeros((2, 2)), 10),
        lambda: theory.exp3_abs_bound(10, 3, 0.2, 5e-324),
        lambda: theory.ucb_nt_bound([0, 5e-324], [[0], [1]], 10),
        lambda: theory.ucb_nt_bound([0, 0.5], [["0"], [1]], 10),
        lambda: theory.ucb_nt_bound([0, 0.5], [[0], [1], [2]], 10),
        lambda: theory.shared_covering([np.eye(2), np.eye(3)]),
        lambda: theory.shared_covering([]),
        lambda: theory.admissible_covering(np.eye(17), exact=True),
        lambda: theory.independence_number(np.eye(17)),
    ],
)
def test_arguments_that_do_not_fit_each_other_are_refused(wrong):
    with pytest.raises(InputError, match="expected"):
        wrong()


@given(
    st.floats(1, 1e100), st.floats(1, 1e100), st.floats(0, 1), st.floats(1e-100, 1e100), st.floats(1e-100, 1),
    st.floats(2, 1e100, exclude_min=True),
)  # fmt: skip
def test_bounds_are_finite(T, K, cost, eta, small, beta):
    """For all arguments that are accepted."""
    for rate in (eta, "tuned", "anytime", "adaptive"):
        assert 0.0 <= theory.exp3_abs_bound(T, K, cost, rate) < math.inf
    assert 0.0 < theory.cont_exp3_abs_rate(T, K, small) < math.inf
    assert 0.0 < theory.cont_exp3_abs_epsilon(T, K, small) <= 1.0
    assert 0.0 < theory.ucb_nt_bound([0.0, small, 1.0], [[0, 1, 2]], T, beta) < math.inf
    assert 0.0 < theory.independence_bound([0.0, small, 1.0], np.eye(3), T, beta) < math.inf


def test_a_gap_of_a_power_of_two_is_in_the_lower_layer():
    """A gap of 2^-k is in the layer below it, the next larger number in the one above."""
    for k in range(1, 40):
        gap = 2.0**-k
        apart = theory.independence_bound([0.0, gap, np.nextafter(gap, 1)], np.ones((3, 3)), 10)
        together = theory.independence_bound([0.0, gap, np.nextafter(gap, 0)], np.ones((3, 3)), 10)
        assert apart > 1.9 * together - 15


EXPERTS = ab.experts.from_columns(5, 4)
T = 3000


def stochastic(rng):
    y = rng.choice([-1.0, 1.0], T)
    scores = np.where(rng.random((T, 5)) < np.linspace(0.1, 0.5, 5), -y[:, None], y[:, None])
    return np.column_stack([scores, rng.random((T, 1)) - np.linspace(0, 0.9, 4)]), y


def switching(rng):
    X, y = stochastic(rng)
    X[T // 2 :, :5] = X[T // 2 :, 4::-1]
    X[T // 2 :, 5:] *= -1
    return X, y


@pytest.mark.parametrize("stream", [stochastic, switching])
@pytest.mark.parametrize("eta", ["tuned", "anytime", "adaptive", 0.1])
@pytest.mark.parametrize("cost", [0.1, 0.8])
def test_regret_below_theorem_1(stream, eta, cost):
    """Mean regret over 40 seeds against each expert of a fixed sequence, by five standard errors."""
    X, y = stream(np.random.default_rng(0))
    best = ab.best_in_hindsight(EXPERTS, X, y, cost=cost)
    regrets = []
    for seed in range(40):
        learner = ab.Exp3Abs(EXPERTS, cost=cost, eta=eta, horizon=T, seed=seed)
        regrets.append(ab.simulate(learner, X, y).regret(best)[-1])
    error = np.std(regrets) / math.sqrt(len(regrets))
    bound = theory.exp3_abs_bound(T, EXPERTS.n_experts, cost, eta)
    assert np.mean(regrets) + 5 * error < bound


@pytest.mark.parametrize("stream", [stochastic, switching])
@pytest.mark.parametrize("delay", [10, 100])
def test_regret_below_the_bound_for_late_labels(stream, delay):
    """Mean regret over 30 seeds, every round learnt late, at the rate that suits the delay: by five standard errors."""
    X, y = stream(np.random.default_rng(0))
    best, regrets, log_K = ab.best_in_hindsight(EXPERTS, X, y, cost=0.3), [], math.log(EXPERTS.n_experts)
    eta = math.sqrt(log_K / (T * (1.09 / 2 + delay)))
    for seed in range(30):
        learner = ab.Exp3Abs(EXPERTS, cost=0.3, eta=eta, seed=seed)
        regrets.append(ab.simulate(learner, X, y, delay=delay).regret(best)[-1])
    error = np.std(regrets) / math.sqrt(len(regrets))
    bound = theory.exp3_abs_bound(T, EXPERTS.n_experts, 0.3, eta, delay)
    assert np.mean(regrets) + 5 * error < bound < T
    assert bound == pytest.approx(2 * math.sqrt(T * log_K * (1.09 / 2 + delay)))


@pytest.mark.long
def test_late_labels_cost_what_the_bound_says():
    """Two experts err in turn for 2 d rounds, so that what is learnt is always out of date: regret is beyond the bound
    for labels at once, and below that for late ones.
    """
    n, delay, eta = 4000, 200, 0.05
    experts = ab.experts.from_columns(2, 2, "aligned", rule_subset=np.eye(2, dtype=bool))
    turn = ((np.arange(n) + delay) // (2 * delay)) % 2
    X = np.column_stack([np.where(turn == 0, -1.0, 1.0), np.where(turn == 1, -1.0, 1.0), np.ones((n, 2))])
    best = ab.best_in_hindsight(experts, X, np.ones(n), cost=0.5)
    regrets = {}
    for late in (0, delay):
        found = [
            ab.simulate(ab.Exp3Abs(experts, cost=0.5, eta=eta, seed=seed), X, np.ones(n), delay=late).regret(best)[-1]
            for seed in range(3)
        ]
        regrets[late] = np.mean(found)
    assert regrets[0] < theory.exp3_abs_bound(n, 2, 0.5, eta)
    assert theory.exp3_abs_bound(n, 2, 0.5, eta) < regrets[delay] < theory.exp3_abs_bound(n, 2, 0.5, eta, delay)


def test_the_bound_for_late_labels_by_its_formula():
    tuned = math.sqrt(2 * math.log(50) / (1.09 * 1000))
    for eta, rate in ((0.02, 0.02), ("tuned", tuned), (None, tuned)):
        at_once = theory.exp3_abs_bound(1000, 50, 0.3, eta)
        assert theory.exp3_abs_bound(1000, 50, 0.3, eta, delay=7) == pytest.approx(at_once + rate * 7 * 1000)
    for eta, delay in (("adaptive", 1), ("anytime", 5), (0.1, -1), (0.1, 0.5)):
        with pytest.raises(InputError, match="^delay"):
            theory.exp3_abs_bound(1000, 50, 0.3, eta, delay)


@pytest.mark.parametrize("eta", ["tuned", "anytime", "adaptive"])
def test_regret_below_theorem_1_against_an_adversary_that_sees_the_weights(eta):
    """Each round it lets the predictor with the most weight err, and the rule with the most weight abstain."""
    n, cost, regrets = 500, 0.5, []
    for seed in range(5):
        learner = ab.Exp3Abs(EXPERTS, cost=cost, eta=eta, horizon=n, seed=seed)
        rows, total = [], 0.0
        for _ in range(n):
            q = learner.weights.reshape(5, 4)
            scores, margins = np.ones(5), np.ones(4)
            scores[q.sum(axis=1).argmax()] = -1.0
            margins[q.sum(axis=0).argmax()] = -1.0
            x = np.concatenate([scores, margins])
            rows.append(x)
            decision = learner.decide(x)
            total += cost if decision.abstained else float(decision.prediction < 0)
            if not decision.abstained:
                learner.learn(decision, 1)
        regrets.append(total - ab.best_in_hindsight(EXPERTS, rows, np.ones(n), cost=cost).total.min())
    error = np.std(regrets) / math.sqrt(len(regrets))
    assert np.mean(regrets) + 5 * error < theory.exp3_abs_bound(n, EXPERTS.n_experts, cost, eta)

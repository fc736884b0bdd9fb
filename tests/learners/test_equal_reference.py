"""Each compiled learner equals its readable twin, choice by choice and bit by bit, on thousands of random games."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain._core.validation import own_stream

from ..instances import betas, delays, games, tables
from ..reference.algorithms import full_supervision, graph_of, ucb_gt, ucb_nt
from ..reference.game import written_out

pytestmark = pytest.mark.filterwarnings("ignore:beta. nothing is proved")
many = games(1000)
SEED = 7


def draws(ties, T):
    return np.random.default_rng(own_stream(SEED)).random(T) if ties == "random" else None


def assert_same(learner, table, delay, est, chosen, edges):
    """Simulate a learner and compare the choices, losses, edges and estimates."""
    game = written_out(learner, table.X, table.y)
    T = len(table.X)
    trace = ab.simulate(learner, table.X, table.y, checkpoints=np.arange(1, T + 1), delay=delay)
    np.testing.assert_array_equal(trace.expert, chosen)
    np.testing.assert_array_equal(trace.abstained, game.abstains[np.arange(T), chosen])
    np.testing.assert_array_equal(trace.loss, game.loss[np.arange(T), chosen])
    np.testing.assert_array_equal(trace.edges, edges)
    np.testing.assert_array_equal(learner.counts, est.Q)
    np.testing.assert_array_equal(learner.means, est.means())


@many
@given(tables(), betas, delays, st.sampled_from(["first", "random"]))
def test_ucb(table, beta, delay, ties):
    learner = ab.UCB(table.experts, cost=table.cost, loss=table.loss, seed=SEED, beta=beta, ties=ties)
    game = written_out(learner, table.X, table.y)
    twin = ucb_nt(game, graph_of("self_loops", game), beta, delay, draws(ties, len(table.X)))
    assert_same(learner, table, delay, *twin)


@many
@given(tables(), betas, delays, st.sampled_from(["first", "random"]))
def test_ucb_gt(table, beta, delay, ties):
    learner = ab.UCBGT(table.experts, cost=table.cost, loss=table.loss, seed=SEED, beta=beta, ties=ties)
    twin = ucb_gt(written_out(learner, table.X, table.y), beta, delay, draws(ties, len(table.X)))
    assert_same(learner, table, delay, *twin)


@many
@given(tables(), delays, st.sampled_from(["first", "random"]))
def test_full_supervision(table, delay, ties):
    learner = ab.FullSupervision(table.experts, cost=table.cost, loss=table.loss, seed=SEED, ties=ties)
    twin = full_supervision(written_out(learner, table.X, table.y), delay, draws(ties, len(table.X)))
    assert_same(learner, table, delay, *twin)


@many
@given(
    tables(),
    betas,
    delays,
    st.sampled_from(["first", "random"]),
    st.sampled_from(["self_loops", "complete", "abstention"]),
)
def test_ucb_nt_by_word(table, beta, delay, ties, word):
    learner = ab.UCBNT(table.experts, cost=table.cost, loss=table.loss, seed=SEED, graph=word, beta=beta, ties=ties)
    game = written_out(learner, table.X, table.y)
    twin = ucb_nt(game, graph_of(word, game), beta, delay, draws(ties, len(table.X)), supervised=learner.supervised)
    assert_same(learner, table, delay, *twin)


@many
@given(tables(), betas, delays, st.sampled_from(["first", "random"]))
def test_ucb_nt_subset(table, beta, delay, ties):
    learner = ab.UCBNT(table.experts, cost=table.cost, loss=table.loss, seed=SEED, beta=beta, ties=ties)
    game = written_out(learner, table.X, table.y)
    relation = table.experts.rule_subset[np.ix_(game.rule_of, game.rule_of)]
    twin = ucb_nt(game, graph_of("relation", game, relation), beta, delay, draws(ties, len(table.X)))
    assert_same(learner, table, delay, *twin)


class Given(ab.graphs.FeedbackGraph):
    """Any matrix, by the protocol for users' own graphs."""

    def __init__(self, matrix):
        self.edges = matrix

    def out_neighbours(self, expert, now):
        return self.edges[expert]


@many
@given(tables(max_rounds=30), betas, delays, st.integers(0, 2**32 - 1), st.booleans())
def test_ucb_nt_on_any_matrix(table, beta, delay, seed, own):
    """A fixed matrix, self-loops or not, and the same as a user's own graph."""
    rng = np.random.default_rng(seed)
    K = table.experts.n_experts
    matrix = rng.random((K, K)) < rng.random()
    graph = Given(matrix) if own else ab.graphs.fixed(matrix)
    learner = ab.UCBNT(table.experts, cost=table.cost, loss=table.loss, graph=graph, beta=beta)
    game = written_out(learner, table.X, table.y)
    assert_same(learner, table, delay, *ucb_nt(game, graph_of("relation", game, matrix), beta, delay))


@pytest.mark.parametrize("regions", ["rings", "balls", "accept_rings"])
@pytest.mark.parametrize("always", [False, True])
@pytest.mark.parametrize("kind", [ab.UCB, ab.UCBNT, ab.UCBGT, ab.FullSupervision])
def test_on_hyperplanes(kind, regions, always):
    """More rounds and experts than hypothesis tries, with ties throughout: small d, many empty rings."""
    experts = ab.experts.hyperplanes(3, 7, 6, always_predict=always, regions=regions, seed=1)
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (1500, 3)) ** 3
    y = np.where(X.sum(axis=1) > 0, 1, -1)
    check_long(kind, experts, X, y)


@pytest.mark.parametrize("kind", [ab.UCB, ab.UCBNT, ab.UCBGT, ab.FullSupervision])
def test_on_thresholds(kind):
    """Rules of their own for every expert, and more of them than fit one word of bits."""
    experts = ab.experts.thresholds(20, np.linspace(-0.1, 0.6, 8))
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 20)) * 0.3
    y = np.where(X[:, :3].sum(axis=1) > 0, 1, -1)
    check_long(kind, experts, X, y)


def check_long(kind, experts, X, y):
    learner = kind(experts, cost=0.2, seed=SEED)
    game = written_out(learner, X, y)
    game.count_edges = False
    relation = experts.rule_subset[np.ix_(game.rule_of, game.rule_of)]
    if kind is ab.FullSupervision:
        est, chosen, _ = full_supervision(game)
    elif kind is ab.UCBGT:
        est, chosen, _ = ucb_gt(game, 2.5)
    else:
        est, chosen, _ = ucb_nt(game, graph_of("self_loops" if kind is ab.UCB else "relation", game, relation), 2.5)
    trace = ab.simulate(learner, X, y)
    np.testing.assert_array_equal(trace.expert, chosen)
    np.testing.assert_array_equal(learner.counts, est.Q)
    np.testing.assert_array_equal(learner.means, est.means())

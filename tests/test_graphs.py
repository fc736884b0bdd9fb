import matplotlib.pyplot as plt
import numpy as np
import pytest

import abstain as ab
from abstain import graphs
from abstain.errors import InputError

# Figure 4: regions A, B, C, D of an interval; i predicts on A and B, j on A, k on D.
REGIONS = {"A": [1, 1, -1], "B": [1, -1, -1], "C": [-1, -1, -1], "D": [-1, -1, 1]}
SUBSET = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1]], bool)
FIGURE_4 = ab.experts.from_columns(3, 3, "aligned", rule_subset=SUBSET)


def edges_of(matrix):
    return {f"{'ijk'[a]}{'ijk'[b]}" for a, b in np.argwhere(matrix) if a != b}


@pytest.mark.parametrize(
    ("region", "edges"),
    [
        ("A", {"ij", "ji", "ik", "jk"}),
        ("B", {"ij", "ik", "jk", "kj"}),
        ("C", {"ij", "ji", "ik", "ki", "jk", "kj"}),
        ("D", {"ij", "ji", "ki", "kj"}),
    ],
)
def test_figure_4_graph_of_the_instance(region, edges):
    x = [1.0, 1.0, 1.0, *REGIONS[region]]
    learner = ab.UCBNT(FIGURE_4, cost=0.2, graph="abstention")
    matrix = learner.graph.matrix(learner.moment(x))
    assert edges_of(matrix) == edges
    assert matrix.diagonal().all()
    assert learner.n_edges(x) == matrix.sum() == len(edges) + 3


def test_figure_4_subset_graph():
    learner = ab.UCBNT(FIGURE_4, cost=0.2)
    x = np.ones(6)
    assert edges_of(learner.graph.matrix(learner.moment(x))) == {"ij"}
    assert learner.n_edges(x) == 4


def test_figure_4_estimated_graph_holds_the_subset_graph():
    """Claim 15, for three experts: at every round."""
    learner = ab.UCBGT(FIGURE_4, cost=0.2)
    rng = np.random.default_rng(0)
    for _ in range(200):
        x = [1.0, -1.0, 1.0, *REGIONS[rng.choice(list("ABCD"))]]
        matrix = learner.graph.matrix(learner.moment(x))
        assert (matrix >= SUBSET).all()
        assert matrix.sum() == learner.n_edges(x)
        decision = learner.decide(x)
        if not decision.abstained:
            learner.learn(decision, 1)


@pytest.mark.parametrize("word", ["self_loops", "complete", "subset", "abstention", "estimated"])
def test_graph_objects_agree_with_compiled_graphs(word):
    """What a graph object says is what the learner does: edges and out-neighbours, round by round."""
    experts = ab.experts.hyperplanes(2, 3, 4, always_predict=True, seed=0)
    learner = ab.UCBNT(experts, cost=0.3, graph=word)
    X, y = ab.datasets.load("synthetic", n=150, seed=0)
    for x, label in zip(X, y, strict=True):
        moment = learner.moment(x)
        assert learner.n_edges(x) == learner.graph.n_edges(moment) == learner.graph.matrix(moment).sum()
        decision = learner.decide(x)
        expected = learner.graph.out_neighbours(decision.expert, moment)
        if word == "self_loops":
            assert expected.nonzero()[0].tolist() == [decision.expert]
        else:
            np.testing.assert_array_equal(decision.carry[experts.rule_of], expected)
        if learner.supervised or not decision.abstained:
            learner.learn(decision, label)


@pytest.mark.parametrize("m", [0, 3, 12])
def test_edges_of_ucb_gt_with_empty_rings(m):
    """With m rings that no input falls into, UCB-GT ends with 10^4 (19 m + 20) edges."""
    experts = ab.experts.hyperplanes(2, 100, 20, seed=0)
    rng = np.random.default_rng(0)
    ring = rng.choice(np.arange(20 - m), 3000)
    angle = rng.uniform(0, 2 * np.pi, 3000)
    radius = (ring + rng.uniform(0.01, 0.99, 3000)) * np.sqrt(2) / 20
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    trace = ab.simulate(ab.UCBGT(experts, cost=0.2), X, np.where(X[:, 0] > 0, 1, -1), checkpoints=[1, 3000])
    assert trace.edges.tolist() == [2000**2, 10**4 * (19 * m + 20)]


def test_edges_of_the_other_learners():
    experts = ab.experts.hyperplanes(2, 100, 20, seed=0)
    X, y = ab.datasets.load("synthetic", n=50, seed=0)
    for learner, edges in ((ab.UCB, 2000), (ab.UCBNT, 20 * 100**2), (ab.FullSupervision, 2000**2)):
        assert ab.simulate(learner(experts, cost=0.2), X, y, checkpoints=[1, 50]).edges.tolist() == [edges, edges]


@pytest.mark.parametrize("graph", ["tree", None])
def test_an_unknown_graph_is_refused(graph):
    with pytest.raises(InputError, match=r"^graph: expected .* subset"):
        ab.UCBNT(FIGURE_4, cost=0.1, graph=graph)


def test_the_subset_graph_needs_a_relation():
    with pytest.raises(InputError, match="rule_subset="):
        ab.UCBNT(ab.experts.from_columns(2, 2), cost=0.1)


@pytest.mark.parametrize("matrix", [np.eye(2), np.ones((3, 2)), [[2]]])
def test_a_wrong_matrix_is_refused(matrix):
    with pytest.raises(InputError, match="^matrix: expected"):
        ab.UCBNT(FIGURE_4, cost=0.1, graph=ab.graphs.fixed(matrix))


def test_a_wrong_graph_of_a_user_changes_nothing():
    class Wrong(ab.graphs.FeedbackGraph):
        def out_neighbours(self, expert, now):
            return np.ones(2)

    learner = ab.UCBNT(FIGURE_4, cost=0.1, graph=Wrong(), ties="random", seed=0)
    with pytest.raises(InputError, match="out-neighbours"):
        learner.decide(np.ones(6))
    assert learner.round == 0
    assert learner._random.random() == learner.clone()._random.random()


class Stingy(ab.graphs.FeedbackGraph):
    """Counts its rounds, and updates only the chosen expert."""

    def __init__(self):
        self.rounds = 0

    def out_neighbours(self, expert, now):
        return np.arange(now.experts.n_experts) == expert

    def observe(self, now, expert):
        self.rounds += 1


def test_a_graph_with_a_memory_is_copied_and_restored():
    """A clone starts with a fresh graph; after an exception the graph is as before."""
    X, y = np.column_stack([np.ones((50, 3)), np.random.default_rng(0).normal(size=(50, 3))]), np.ones(50)
    learner = ab.UCBNT(FIGURE_4, cost=0.2, graph=Stingy())
    ab.simulate(learner, X, y)
    clone = learner.clone()
    assert (learner.graph.rounds, clone.graph.rounds) == (50, 0)

    def angry(done):
        raise RuntimeError

    with pytest.raises(RuntimeError):
        ab.simulate(learner, X, y, progress=angry)
    assert (learner.round, learner.graph.rounds) == (50, 50)


def test_out_neighbours_and_observe_see_the_same_round():
    class Diary(Stingy):
        def __init__(self):
            super().__init__()
            self.asked, self.told = [], []

        def out_neighbours(self, expert, now):
            self.asked.append(now.round)
            return super().out_neighbours(expert, now)

        def observe(self, now, expert):
            self.told.append(now.round)

    learner = ab.UCBNT(FIGURE_4, cost=0.2, graph=Diary())
    for _ in range(5):
        learner.decide(np.ones(6))
    assert learner.graph.asked == learner.graph.told == [1, 2, 3, 4, 5]


def test_a_subclass_of_a_built_in_graph_is_asked():
    class Shy(type(ab.graphs.complete())):
        def out_neighbours(self, expert, now):
            return np.arange(now.experts.n_experts) == expert

    learner = ab.UCBNT(FIGURE_4, cost=0.2, graph=Shy())
    assert not learner.supervised
    learner.decide(np.array([1.0, 1, 1, -1, -1, -1]))
    assert learner.counts.tolist() == [1, 0, 0]


def test_draw_shows_every_edge():
    axes = ab.graphs.draw(SUBSET, labels=["i", "j", "k"])
    assert sum(text.get_text() in "ijk" and text.get_text() != "" for text in axes.texts) == 3
    arrows = [text for text in axes.texts if text.arrow_patch is not None]
    assert len(arrows) == 1
    with pytest.raises(InputError, match="labels"):
        ab.graphs.draw(SUBSET, labels=["i"])
    plt.close("all")


def test_only_unchanged_graphs_are_compiled():
    """A subclass that changes nothing is compiled; one that defines what is compiled is asked instead."""
    complete, fixed = type(graphs.complete()), type(graphs.fixed([[1]]))

    class Same(complete):
        """Of another name."""

    class Edges(complete):
        def n_edges(self, now):
            return 5

    class Related(fixed):
        def relation(self, experts):
            return np.zeros((1, 1), bool)

    class Noting(complete):
        def __init__(self):
            self.told = []

        def observe(self, now, expert):
            self.told.append(expert)

    own = ab.graphs.FeedbackGraph.kernel
    assert graphs.kernel_of(Same()) == graphs.kernel_of(graphs.complete()) != own
    for graph in (Edges(), Related(np.eye(3)), Noting()):
        assert graphs.kernel_of(graph) == own
    learner = ab.UCBNT(FIGURE_4, cost=0.2, graph=Noting())
    decision = learner.decide(np.ones(6))
    assert learner.graph.told == [decision.expert]
    assert ab.UCBNT(FIGURE_4, cost=0.2, graph=Edges()).n_edges(np.ones(6)) == 5
    assert ab.UCBNT(FIGURE_4, cost=0.2, graph=Same()).supervised


@pytest.mark.parametrize("matrix", [np.eye(201), [["x"]], [[0.5]]])
def test_graphs_that_cannot_be_drawn_are_refused(matrix):
    with pytest.raises(InputError, match="^matrix: expected"):
        graphs.draw(matrix)

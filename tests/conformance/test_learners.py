"""Every learner obeys the rules, on every kind of experts, cost and loss; and the kit finds those that do not."""

import numpy as np
import pytest

import abstain as ab
from abstain.checks import CHECKS, check_learner

RINGS = ab.experts.hyperplanes(2, 4, 5, seed=0)
LEARNERS = {
    "UCB": ab.UCB,
    "UCBNT": ab.UCBNT,
    "UCBNT-abstention": lambda e, **k: ab.UCBNT(e, graph="abstention", **k),
    "UCBNT-self": lambda e, **k: ab.UCBNT(e, graph="self_loops", **k),
    "UCBNT-complete": lambda e, **k: ab.UCBNT(e, graph="complete", **k),
    "UCBNT-estimated": lambda e, **k: ab.UCBNT(e, graph="estimated", **k),
    "UCBNT-fixed": lambda e, **k: ab.UCBNT(e, graph=ab.graphs.fixed(np.tri(e.n_experts)), **k),
    "UCBGT": ab.UCBGT,
    "UCBDSG": ab.UCBDSG,
    "FS": ab.FullSupervision,
}


@pytest.mark.parametrize("ties", ["first", "random"])
@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.sample(5)
def test_every_learner(name, ties):
    check_learner(lambda: LEARNERS[name](RINGS, cost=0.3, seed=1, ties=ties))


EXPERTS = {
    "always": ab.experts.hyperplanes(2, 3, 4, always_predict=True, regions="balls", seed=0),
    "accept": ab.experts.hyperplanes(2, 3, 4, regions="accept_rings", seed=0),
    "axis": ab.experts.axis_planes(2, 6, [0.0, 0.2, 0.4]),
    "thresholds": ab.experts.thresholds(3, [-1.0, 0.1, 0.5]),
    "columns": ab.experts.from_columns(2, 3, rule_subset=np.eye(3, dtype=bool)),
    "pairs": ab.experts.from_columns(2, 4, [(0, 3), (1, 0), (0, 0)], rule_subset=np.eye(4, dtype=bool)),
    "one": ab.experts.from_columns(1, 1, rule_subset=[[True]]),
    "functions": ab.experts.from_functions(
        [(lambda x: x[0], lambda x: x[1]), (lambda x: -x[1], lambda x: 1.0)], rule_subset=np.eye(2, dtype=bool)
    ),
}


@pytest.mark.parametrize("learner", [ab.UCB, ab.UCBNT, ab.UCBGT, ab.FullSupervision])
@pytest.mark.parametrize("name", EXPERTS)
@pytest.mark.sample(5)
def test_every_kind_of_experts(name, learner):
    check_learner(lambda: learner(EXPERTS[name], cost=0.3))


def cost_of(X):
    return np.abs(X[:, 0])


COSTS = {"zero": 0.0, "one": 1.0, "round": np.linspace(0, 1, 1000), "input": cost_of}


@pytest.mark.long
@pytest.mark.parametrize("learner", [ab.UCB, ab.UCBNT, ab.UCBGT, ab.FullSupervision])
@pytest.mark.parametrize("name", COSTS)
@pytest.mark.parametrize("loss", ["zero_one", "ramp", "hinge"])
def test_every_cost_and_loss(name, learner, loss):
    check_learner(lambda: learner(RINGS, cost=COSTS[name], loss=loss))


@pytest.mark.parametrize("learner", [ab.UCB, ab.UCBNT, ab.UCBGT, ab.FullSupervision])
@pytest.mark.sample(2)
def test_other_labels(learner):
    rng = np.random.default_rng(0)
    experts = ab.experts.from_columns(2, 2, rule_subset=np.eye(2, dtype=bool))
    classes = np.column_stack([rng.integers(0, 3, (150, 2)), rng.normal(size=(150, 2))])
    check_learner(lambda: learner(experts, cost=0.3, loss="multiclass"), classes, rng.integers(0, 3, 150))
    check_learner(lambda: learner(experts, cost=0.3, loss="squared"), rng.normal(size=(150, 4)), rng.normal(size=150))


class OwnGraph(ab.graphs.FeedbackGraph):
    """A user's graph with a memory."""

    def __init__(self):
        self.rounds = 0

    def out_neighbours(self, expert, now):
        heard = now.updates <= self.rounds // 2
        heard[expert] = True
        return heard

    def observe(self, now, expert):
        self.rounds += 1


def test_a_learner_on_a_users_own_graph():
    X, y = ab.datasets.load("synthetic", n=60, seed=0)
    for check in CHECKS:
        if check.__name__ != "check_copies":  # `save` leaves the graph and its memory out
            check(lambda: ab.UCBNT(RINGS, cost=0.3, graph=OwnGraph()), X, y)


class Follower(ab.Learner):
    """A user's own learner in a few lines: follow the least mean loss seen."""

    def __init__(self, experts, *, cost, loss="zero_one", seed=None):
        super().__init__(experts, cost=cost, loss=loss, seed=seed)
        self.total = np.zeros(experts.n_experts)

    def choose(self, advice, cost):
        expert = int(np.argmin(self.total))
        silent = advice.abstains[0, self.experts.rule_of]
        return ab.extend.Choice(expert, float(not silent[expert]), np.zeros(0, bool))

    def miss(self, decision):
        self.total += np.where(decision.abstains[self.experts.rule_of], decision.cost, 0.0)

    def absorb(self, decision, losses):
        silent = decision.abstains[self.experts.rule_of]
        self.total += np.where(silent, decision.cost, losses[self.experts.predictor_of])

    def arrays(self):
        return {"total": self.total.copy()}

    def set_arrays(self, arrays):
        self.total = np.array(arrays["total"])


def test_a_users_own_learner():
    check_learner(lambda: Follower(RINGS, cost=0.3))


class Forgetful(Follower):
    """Saves nothing."""

    def arrays(self):
        return {}

    def set_arrays(self, arrays):
        pass


class Restless(Follower):
    """Changes when it is only asked."""

    def choose(self, advice, cost):
        self.total[0] += 0.5
        return super().choose(advice, cost)


class Moody(Follower):
    """Draws at random behind everybody's back."""

    def choose(self, advice, cost):
        choice = super().choose(advice, cost)
        return choice._replace(expert=int(np.random.default_rng().integers(self.experts.n_experts)))


class Sloppy(Follower):
    """Learns before it looks whether the label makes sense."""

    def learn(self, decision, y):
        self.total[0] += 1.0
        super().learn(decision, y)


class Drawing(Follower):
    """Draws an expert, and reports the right probability."""

    def choose(self, advice, cost):
        expert = int(self.random.integers(self.experts.n_experts))
        predicts = ~advice.abstains[0, self.experts.rule_of]
        return ab.extend.Choice(expert, self.says(expert, predicts), np.zeros(0, bool))

    def says(self, expert, predicts):
        return float(predicts.mean())


class Certain(Drawing):
    """Says that it is sure to predict, whatever it draws."""

    def says(self, expert, predicts):
        return 1.0


class Hindsight(Drawing):
    """Says what it drew, not how likely that was."""

    def says(self, expert, predicts):
        return float(predicts[expert])


class Unaware(Drawing):
    """Follows an expert that abstains seldom, and says that it never abstains."""

    def choose(self, advice, cost):
        return ab.extend.Choice(4, 1.0, np.zeros(0, bool))


class Biased(Drawing):
    """Says a probability that is not that of the draw."""

    def says(self, expert, predicts):
        return float(predicts.mean()) ** 8


def test_a_learner_that_draws():
    check_learner(lambda: Drawing(RINGS, cost=0.3, seed=1))


@pytest.mark.parametrize(
    ("learner", "rule"),
    [
        (Forgetful, "Copies, pickles and saved files .see `saved` and `arrays`."),
        (Restless, "Peeking"),
        (Moody, "differ"),
        (Sloppy, "changes nothing|each once"),
        (Certain, "It is 1.0, but .* of 200 draws predict"),
        (Hindsight, "It is 0.0 or 1.0, as the draw is"),
        (Unaware, "It is 1.0, but a draw does otherwise"),
        (Biased, "of 200 draws predict"),
    ],
)
@pytest.mark.sample(4)
def test_the_kit_finds_what_is_wrong(learner, rule):
    with pytest.raises(AssertionError, match=rule):
        check_learner(lambda: learner(RINGS, cost=0.3, seed=1))


class LosesAnArgument(ab.UCBGT):
    """A learner with an argument that is not among its options."""

    def __init__(self, experts, *, slack=1.0, **options):
        super().__init__(experts, **options)
        self.slack = slack


class Misreporting(ab.UCBGT):
    """A learner that reports three weights, however many experts there are."""

    def report(self):
        return ab.extend.Report(weights=np.ones(3))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LosesAnArgument(RINGS, cost=0.3, seed=1, slack=2.0), "slack is not among"),
        (lambda: LosesAnArgument(RINGS, cost=0.3, seed=1), "slack is not among"),  # even while it has its default
        (lambda: Misreporting(RINGS, cost=0.3, seed=1), r"weights has shape \(3,\)"),
    ],
)
def test_lost_arguments_and_wrong_reports_are_found(make, message):
    with pytest.raises(AssertionError, match=message):
        check_learner(make)

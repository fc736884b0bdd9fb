"""Which labels are learnt, how likely they are to be seen, and what is forced for their sake."""

import numpy as np
import pytest

import abstain as ab
from abstain.checks import state_of
from abstain.engine.feedback import arrivals, as_feedback, chances_of
from abstain.errors import DecisionError, InputError

X, Y = ab.datasets.load("synthetic", n=400, seed=0)
RINGS = ab.experts.hyperplanes(2, 4, 5, seed=0)
BALLS = ab.experts.hyperplanes(2, 4, 5, regions="balls", seed=0)  # near 0 nobody predicts
KINDS = [ab.Exp3Abs, ab.DoublyRobust]
FEEDBACKS = ["predicted", "abstained", "both", (0.3, 1.0), (0.6, 0.0), (0.0, 0.5), (0.5, 0.5), (0.2, 0.9)]
each_kind = pytest.mark.parametrize("kind", KINDS)
each_feedback = pytest.mark.parametrize("feedback", FEEDBACKS, ids=str)


def same(one, other):
    return all(np.array_equal(one[name], other[name]) for name in one)


@each_kind
@each_feedback
def test_exactly_the_labels_that_the_feedback_allows(kind, feedback):
    learner, n = kind(RINGS, cost=0.3, seed=1, feedback=feedback), {True: 0, False: 0}
    v_p, v_a = learner.chances
    for x, y in zip(X[:100], Y, strict=False):
        decision = learner.decide(x)
        n[decision.abstained] += 1
        if (v_a if decision.abstained else v_p) > 0:
            assert decision.round in learner.pending
            learner.learn(decision, y)
        else:
            assert decision.round not in learner.pending
            before, did = state_of(learner), "abstained" if decision.abstained else "predicted"
            for action in (lambda d=decision: learner.learn(d, 1), lambda d=decision: learner.forget(d)):
                with pytest.raises(DecisionError, match=f"{did}, so its label stays hidden"):
                    action()
            assert same(before, state_of(learner))
    assert min(n.values()) > 5


@each_kind
@each_feedback
def test_forgetting(kind, feedback):
    """Where a label may fail to come, that it did is learnt; where it always comes, the round is left out."""
    learner = kind(RINGS, cost=0.3, seed=1, feedback=feedback)
    ab.simulate(learner, X[:50], Y[:50])
    for x in X[50:150]:
        before = state_of(learner)
        decision = learner.decide(x)
        if decision.round not in learner.pending:
            continue
        assert same({k: v for k, v in before.items() if k not in ("round", "pending", "random")}, state_of(learner))
        learner.forget(decision)
        with pytest.raises(DecisionError, match="forgotten before"):
            learner.learn(decision, 1)
        after = state_of(learner)
        learnt = {name: after[name][:, 2] - before[name][:, 2] for name in ("numbers",)}["numbers"]
        assert learnt.tolist() == [1.0 if learner.chances[decision.abstained] < 1.0 else 0.0]
        if learner.chances[decision.abstained] == 1.0:
            unchanged = [name for name in before if name not in ("round", "pending", "random")]
            assert all(np.array_equal(before[name], after[name]) for name in unchanged)


@pytest.mark.long
def test_an_unseen_round_costs_who_abstains_and_nobody_else():
    """EXP3-ABS with labels for half of the rounds: forgotten, a round is estimated as one without a label."""
    experts = ab.experts.from_columns(1, 2)
    learner = ab.Exp3Abs(experts, cost=0.3, seed=0, feedback=(0.5, 0.5))
    decision = learner.decide([1.0, 1.0, -1.0])
    learner.forget(decision)
    assert (learner._weights.losses[0] + np.repeat(learner._weights.paid[0], 1)).tolist() == [0.0, 0.3]
    robust = ab.DoublyRobust(experts, cost=0.3, seed=0, feedback=(0.5, 0.5))
    robust.forget(robust.decide([1.0, 1.0, -1.0]))
    assert robust._weights.losses[0].tolist() == pytest.approx([-0.3, 0.0])  # the guess, 0, minus the cost


@pytest.mark.parametrize("kind", [ab.UCB, ab.UCBNT, ab.UCBGT])
def test_the_ucb_family_refuses_other_feedback(kind):
    assert kind(RINGS, cost=0.3, feedback="predicted").chances == (1.0, 0.0)
    kind(RINGS, cost=0.3, feedback=(1, 0))
    for feedback in FEEDBACKS[1:]:
        with pytest.raises(InputError, match=f"^feedback: {kind.__name__} learns from .* predicted alone") as caught:
            kind(RINGS, cost=0.3, feedback=feedback)
        assert ("FullSupervision" in str(caught.value)) == (feedback == "both")
        assert "DoublyRobust" in str(caught.value)
    with pytest.raises(InputError, match="^feedback: expected"):
        kind(RINGS, cost=0.3, feedback="some")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("both", "both"),
        ((1, 0), "predicted"),
        ([0, 1.0], "abstained"),
        ((np.float64(1.0), 1), "both"),
        ([0.05, 1], (0.05, 1.0)),
    ],
)
def test_how_a_feedback_is_kept(given, kept, tmp_path):
    assert as_feedback(given) == kept
    learner = ab.Exp3Abs(RINGS, cost=0.3, feedback=given, min_observe=0.01)
    learner.save(tmp_path / "x")
    again = ab.load(tmp_path / "x")
    assert (again.feedback, again.min_observe, again.chances) == (kept, 0.01, learner.chances)
    assert repr(again) == repr(learner)


@pytest.mark.parametrize("given", ["all", "", None, 1, (0, 0), (1,), (1, 1, 1), (0.5, 1.5), (-0.1, 1), (np.nan, 1), {}])
def test_what_is_no_feedback(given):
    with pytest.raises(InputError, match="^feedback: expected 'predicted', 'abstained', 'both' or two probabilities"):
        ab.DoublyRobust(RINGS, cost=0.3, feedback=given)


@each_kind
@pytest.mark.parametrize("floor", [-0.1, 0.31, 2, np.nan, "0.1", None])
def test_what_is_no_floor(kind, floor):
    with pytest.raises(InputError, match="^min_observe: expected a number from 0 to 0.3, got"):
        kind(RINGS, cost=0.3, feedback=(0.3, 0.1), min_observe=floor)


def test_arrivals():
    """They depend on the seed and the round alone, whatever the blocks; and come as often as they should."""
    chances = chances_of((0.3, 0.8))
    whole = arrivals(chances, 5, "a", 1, 20_000)
    pieces = [arrivals(chances, 5, "a", first, n) for first, n in ((1, 7), (8, 993), (1001, 19_000))]
    np.testing.assert_array_equal(whole, np.concatenate(pieces))
    np.testing.assert_allclose(whole.mean(axis=0), chances, atol=5 * np.sqrt(0.25 / 20_000))
    assert not np.array_equal(whole, arrivals(chances, 6, "a", 1, 20_000))
    np.testing.assert_array_equal(arrivals(chances_of("abstained"), None, "a", 3, 2), [[False, True]] * 2)


def learnt(kind, feedback, floor, experts, memory=None, guard=None):
    """A learner that was led to sit on the side from which labels do not come."""
    more, (v_p, v_a) = {} if guard is None else {"guard": guard}, chances_of(as_feedback(feedback))
    cost = 1.0 if v_a > v_p else 0.0
    learner = kind(experts, cost=cost, seed=3, feedback=feedback, min_observe=floor, memory=memory, **more)
    ab.simulate(learner, np.tile(X, (2, 1)), np.tile(Y, 2))
    return learner


@pytest.mark.long
@each_kind
@pytest.mark.parametrize("experts", [RINGS, BALLS], ids=["rings", "balls"])
@pytest.mark.parametrize(("feedback", "floor"), [
    ("predicted", 0.6), ("predicted", 1.0), ("abstained", 0.4), ("abstained", 1.0), ((0.3, 1.0), 0.9),
    ((0.3, 1.0), 1.0), ((0.6, 0.0), 0.6), ((0.9, 0.2), 0.7), ((0.2, 0.9), 0.9), ("both", 1.0), ((0.5, 0.5), 0.5),
])  # fmt: skip
@pytest.mark.parametrize("memory", [None, "adaptive"])
@pytest.mark.sample(16)
def test_the_label_is_seen_as_often_as_is_said(kind, experts, feedback, floor, memory):
    """By enumeration: the experts followed for numbers u evenly over the unit interval, each side of every edge."""
    learner = learnt(kind, feedback, floor, experts, memory)
    v_p, v_a = learner.chances
    n, n_forced, n_below = 300, 0, 0

    class Even:
        """Numbers from 0 to 1 instead of random ones."""

        bit_generator = learner._random.bit_generator

        def random(self):
            return next(self.numbers)

    learner._random = Even()
    for x in X[150:162]:
        learner._random.numbers = iter((np.arange(n) + 0.5) / n)
        decisions = [learner.peek(x) for _ in range(n)]
        assert len({(d.probability, d.observed) for d in decisions}) == 1
        predicted = np.mean([not d.abstained for d in decisions])
        o, Q = decisions[0].observed, decisions[0].probability
        assert predicted == pytest.approx(Q, abs=2 / n)
        assert v_p * predicted + v_a * (1 - predicted) == pytest.approx(o, abs=2 / n)
        abstains = decisions[0].abstains[experts.rule_of]
        q = learner.weights
        before = q[~abstains].sum()
        would = v_p * before + v_a * (1 - before)
        side = abstains if v_a > v_p else ~abstains
        if would >= floor - 1e-12 or not side.any() or v_p == v_a:  # nothing to force, or nobody to follow
            assert not any(d.explored for d in decisions)
            assert o == pytest.approx(would, abs=1e-9)
            n_below += would < floor - 1e-12
        else:
            assert o == floor
            forced = [d for d in decisions if d.explored]
            missing = (floor - would) / abs(v_p - v_a)
            assert len(forced) / n == pytest.approx(missing, abs=2 / n)
            heaviest = {d.expert for d in forced}
            assert all(side[k] and q[k] >= q[side].max() - 1e-12 for k in heaviest)
            n_forced += len(forced)
    if v_p != v_a:
        assert n_forced > 0
    if experts is BALLS and v_p > v_a:
        assert n_below > 0  # nobody predicts


@pytest.mark.long
@pytest.mark.parametrize("guard", [0.1, 0.5])
def test_a_floor_beside_a_guard(guard):
    learner = learnt(ab.DoublyRobust, "predicted", 0.6, RINGS, guard=guard)
    observed = [learner.peek(x).observed for x in X[:200]]
    assert min(observed) == 0.6


@each_kind
def test_the_largest_floor(kind):
    """The probability of predicting is then 0 or 1, and not less or more by rounding."""
    for feedback, floor in (("abstained", 1.0), ((0.3, 1.0), 1.0), ((0.2, 0.9), 0.9), ((1.0, 0.7), 1.0)):
        learner = kind(RINGS, cost=0.3, seed=1, feedback=feedback, min_observe=floor)
        for x, y in zip(X, Y, strict=True):
            decision = learner.decide(x)
            assert 0.0 <= decision.probability <= 1.0
            if decision.round in learner.pending:
                learner.close(ab.Decision.from_json(decision.to_json()), y)
        assert learner.weights.sum() == pytest.approx(1.0)


@each_kind
def test_forced_decisions_survive_a_restart(kind, tmp_path):
    learner = learnt(kind, "predicted", 0.6, RINGS)
    decision = next(d for d in map(learner.decide, np.tile(X, (3, 1))) if d.explored)
    assert not decision.abstained
    learner.save(tmp_path / "x")
    again, told = ab.load(tmp_path / "x"), ab.Decision.from_json(decision.to_json())
    assert (told.explored, told.observed) == (True, 0.6)
    again.learn(told, 1)
    learner.learn(decision, 1)
    assert same(state_of(learner), state_of(again))


def test_arrivals_without_a_seed_go_on_after_a_restart(tmp_path):
    X = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    y = np.where(X[:, 0] > 0, 1, -1)
    learner = ab.DoublyRobust(ab.experts.hyperplanes(2, 3, 4, seed=0), cost=0.3, feedback=(0.5, 0.5))
    ab.simulate(learner, X[:100], y[:100])
    learner.save(tmp_path / "x")
    twin = ab.load(tmp_path / "x")
    np.testing.assert_array_equal(learner.comes(101, 100), twin.comes(101, 100))
    first, second = (ab.simulate(one, X[100:], y[100:]) for one in (learner, twin))
    np.testing.assert_array_equal(first.expert, second.expert)


@pytest.mark.parametrize("eta", ["anytime", "tuned"])
def test_rates_that_fall_unlearn_with_a_memory(eta):
    with pytest.raises(InputError, match="unlearns with a memory"):
        ab.Exp3Abs(ab.experts.hyperplanes(2, 3, 4, seed=0), cost=0.3, eta=eta, horizon=100, memory=50)

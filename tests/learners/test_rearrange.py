"""Experts that come and go while a learner learns and labels are late."""

import copy
import json
import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain._core.files import write
from abstain.engine.feedback import chances_of
from abstain.errors import DecisionError, FileError, InputError

from ..engine.test_threads import in_threads
from ..instances import games
from ..reference.backlog import Backlog
from ..reference.game import written_out
from ..reference.robust import Player, Robust
from .test_weighted import feedbacks, floors, memories

pytestmark = pytest.mark.long

LEVELS = np.array([-1.0, 0.2, 0.5, 0.9])
MODELS = 5
LATE = [{}, {"memory": "adaptive", "min_observe": 0.05}, {"memory": 40, "feedback": "both"}]


def scores(T, rng, n_models=MODELS):
    """Models of different worth: their signed scores, and the labels."""
    y = rng.choice([-1, 1], T)
    right = rng.random((T, n_models)) < np.linspace(0.95, 0.3, n_models)
    return np.where(right, 1, -1) * y[:, None] * rng.uniform(0.0, 1.0, (T, n_models)), y


def maps(before, now):
    """``predictor_from`` and ``expert_from`` between two lists of models."""
    predictors = [before.index(model) if model in before else -1 for model in now]
    return predictors, [p * len(LEVELS) + k if p >= 0 else -1 for p in predictors for k in range(len(LEVELS))]


def experts(models):
    return ab.experts.thresholds(len(models), LEVELS)


def parts(learner, X, y, joined):
    """The game of these models, in which each abstains until it joined; its predictors' side."""
    game, advice = written_out(learner, X, y), learner.experts.advise(X)
    losses = learner.loss(advice.predictions, learner.loss.labels(y)).astype(float)
    outcomes, abstains = learner.loss.outcomes(advice.predictions), advice.abstains.copy()
    outcomes = None if outcomes is None else outcomes.astype(float)
    for p, last in enumerate(joined):
        mine = learner.experts.predictor_of == p
        abstains[:last, mine] = game.abstains[:last, mine] = True
        game.loss[:last, mine] = game.cost[:last, None]
        losses[:last, p] = 0.0
        if outcomes is not None:
            outcomes[:last, p] = 0.0
    return game, (learner.experts.predictor_of, losses, abstains, outcomes)


def reborn(learner, how, path):
    if how == "file":
        learner.save(path)
        return ab.load(path)
    return pickle.loads(pickle.dumps(learner)) if how == "pickle" else learner


def play_and_change(learner, X, y, rng, most_delay, path):
    """A game like its twin's, with models that come, go and change places, late labels, restarts."""
    models, joined, T = list(range(learner.experts.n_predictors)), {}, len(X)
    game, sides = parts(learner, X[:, models], y, [0] * len(models))
    options = {"holds": learner.memories, "chances": tuple(learner.chances), "floor": learner.min_observe}
    if isinstance(learner, ab.Exp3Abs):
        twin = Player(game, **options, shared=learner.memory == "share")
    else:
        twin = Robust(game, *sides, learner.state.guesses.constants, learner.guard, **options)
    random, waiting, backlog = copy.deepcopy(learner._random), {}, Backlog()

    def close(t):
        decision, fixed, seen, _ = waiting.pop(t)
        if rng.random() < 0.5:
            decision = ab.Decision.from_json(decision.to_json())
        learner.close(decision, y[t - 1])
        twin.learn(t, decision.observed, fixed, seen)
        backlog.learnt(t)

    def learn_without(t):
        decision, fixed, *_ = waiting.pop(t)
        twin.learn(t, decision.observed, fixed, False)

    for t in range(1, T + 1):
        if rng.random() < 0.15:
            outside = sorted(set(range(MODELS)) - set(models))
            now = [m for m in models if rng.random() < 0.7] + [m for m in outside if rng.random() < 0.4]
            now = list(rng.permutation(now or outside or models))
            predictors, of_experts = maps(models, now)
            joined = {m: joined.get(m, 0) if m in models else t - 1 for m in now}
            learner.rearrange(experts(now), predictors, of_experts)
            game, sides = parts(learner, X[:, now], y, [joined[m] for m in now])
            if isinstance(twin, Robust):
                twin.rearrange(game, of_experts, t - 1, predictors, *sides)
                twin.c = learner.state.guesses.constants  # they follow the number of experts
                for s, (decision, fixed, *rest) in waiting.items():
                    waiting[s] = decision, np.array([fixed[p] if p >= 0 else 0.0 for p in predictors]), *rest
            else:
                twin.rearrange(game, of_experts)
            models = now
        if rng.random() < 0.1:
            learner = reborn(learner, rng.choice(["file", "pickle"]), path)
        np.testing.assert_allclose(learner.weights, twin.weights(), rtol=1e-8, atol=1e-11)
        segments, predicts, o = twin.segments(t)
        fixed, u = twin.before(t, o), random.random()
        decision = learner.decide(X[t - 1, models])
        assert decision.probability == pytest.approx(predicts, abs=1e-10)
        assert decision.observed == pytest.approx(o, abs=1e-10)
        ends = np.cumsum([0.0] + [length for length, _, _ in segments])
        near = (ends[:-1] - 1e-9 <= u) & (u <= ends[1:] + 1e-9)
        if twin.floor > 0.0 and abs(twin.seen(t)[1] - twin.floor) < 1e-9:
            near[:] = True
        assert (decision.expert, decision.explored) in {segments[i][1:] for i in np.flatnonzero(near)}
        if fixed is not None:
            np.testing.assert_allclose(decision.carry[2 : 2 + len(models)], fixed, rtol=1e-9, atol=1e-12)
        if learner.chances[decision.abstained] == 0.0:
            waiting[t] = decision, fixed, False, T + 1
            backlog.decided(t, partial(learn_without, t))
        else:
            backlog.decided(t, None)
            if decision.observed <= 1e-6:
                return learner
            seen = bool(learner.comes(t, 1)[0, int(decision.abstained)])
            waiting[t] = decision, fixed, seen, t + int(rng.integers(0, most_delay + 1))
        for s in [s for s in waiting if waiting[s][3] <= t]:
            close(s)
    for s in sorted(backlog.open):
        close(s)
    np.testing.assert_allclose(learner.weights, twin.weights(), rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(learner._weights.mix, twin.memories.mix, rtol=1e-9, atol=1e-12)
    return learner


costs = st.sampled_from([0.0, 0.1, 0.3, 1.0, "round"])
kinds = st.sampled_from([ab.Exp3Abs, ab.DoublyRobust, ab.DoublyRobust])


@games(150)
@given(
    kinds, memories, feedbacks, floors, costs, st.sampled_from(["zero_one", "ramp", "absolute"]),
    st.sampled_from([0, 4, 40]), st.sampled_from([None, None, 0.1]), st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_a_game_in_which_models_come_and_go_equals_its_twin(
    tmp_path_factory, kind, memory, feedback, floor, cost, loss, most_delay, guard, seed
):
    rng = np.random.default_rng(seed)
    X, y = scores(50, rng)
    options = {"memory": memory}
    if guard is not None and kind is ab.DoublyRobust:
        options = {"guard": guard}
    learner = kind(
        experts(range(int(rng.integers(1, MODELS + 1)))), cost=rng.random(50) if cost == "round" else cost,
        loss=ab.losses.ramp(0.5) if loss == "ramp" else loss, seed=seed % 100, feedback=feedback,
        min_observe=min(floor, max(chances_of(feedback))), **options,
    )  # fmt: skip
    play_and_change(learner, X, y, rng, most_delay, tmp_path_factory.getbasetemp() / "learner")


@games(100)
@given(feedbacks, floors, costs, st.sampled_from([0, 4, 40]), st.integers(0, 2**32 - 1))
def test_models_come_and_go_where_shares_are_given(tmp_path_factory, feedback, floor, cost, most_delay, seed):
    rng = np.random.default_rng(seed)
    X, y = scores(50, rng)
    learner = ab.Exp3Abs(
        experts(range(int(rng.integers(1, MODELS + 1)))), cost=rng.random(50) if cost == "round" else cost,
        seed=seed % 100, memory="share", feedback=feedback, min_observe=min(floor, max(chances_of(feedback))),
    )  # fmt: skip
    play_and_change(learner, X, y, rng, most_delay, tmp_path_factory.getbasetemp() / "learner")


def played(kind, models, rounds=300, seed=0, **options):
    """A learner that has played, some labels still to come; they are returned, too."""
    X, y = scores(rounds, np.random.default_rng(seed))
    learner, waiting = kind(experts(models), cost=0.25, seed=seed, **options), []
    for t in range(rounds):
        decision = learner.decide(X[t, models])
        if decision.round in learner.pending:
            waiting.append((decision, y[t]))
            if len(waiting) > 30:
                learner.learn(*waiting.pop(0))
    return learner, waiting


@pytest.mark.parametrize("kind", [ab.Exp3Abs, ab.DoublyRobust])
@pytest.mark.parametrize("options", LATE)
def test_nothing_else_changes(kind, options):
    """Those who stay keep their weights, to each other; a newcomer has the mean of all; so do those after a leave."""
    learner, _ = played(kind, [0, 1, 2], **options)
    before, s = learner.weights, copy.deepcopy(learner._weights)
    predictors, of_experts = maps([0, 1, 2], [2, 3, 0])
    learner.rearrange(experts([2, 3, 0]), predictors, of_experts)
    after, stay = learner.weights, np.array(of_experts) >= 0
    now = learner._weights
    for j in range(len(s.mix)):
        old = np.empty(12)
        old[s.layout.expert] = np.exp(-s.numbers[j, 0] * (s.losses[j] - s.losses[j].min()))
        new = np.empty(12)
        new[now.layout.expert] = np.exp(-now.numbers[j, 0] * (now.losses[j] - s.losses[j].min()))
        np.testing.assert_array_equal(new[stay], old[np.array(of_experts)[stay]])
        np.testing.assert_allclose(new[~stay], old.mean(), rtol=1e-12)
    if len(s.mix) == 1:
        kept = before[np.array(of_experts)[stay]]
        np.testing.assert_allclose(after[stay] / after[stay].sum(), kept / kept.sum(), rtol=1e-12)
    assert (learner.round, len(learner.pending)) == (300, len(learner.pending))
    np.testing.assert_array_equal(now.numbers, s.numbers)
    np.testing.assert_array_equal(now.mix, s.mix)
    np.testing.assert_array_equal(now.scores, s.scores)
    assert now.rate.log_experts == pytest.approx(s.rate.log_experts)
    if kind is ab.DoublyRobust:
        g = learner.state.guesses
        assert (g.support.any(axis=0) == [True, False, True]).all()
        assert (g.belief[:3] != 0.0).tolist() == [True, False, True]


def test_the_one_that_held_all_weight_leaves():
    """The weights of the others had counted as 0; now they sum to 1."""
    X = np.column_stack([np.ones(4000), -np.ones(4000), np.tile([1.0, -1.0], 2000)])
    learner = ab.DoublyRobust(experts([0, 1, 2]), cost=0.0, feedback="both", seed=0)
    ab.simulate(learner, X, np.ones(4000))
    assert not learner.weights[4:].any()
    learner.rearrange(experts([1, 2]), *maps([0, 1, 2], [1, 2]))
    assert learner.weights.sum() == pytest.approx(1.0)
    assert learner.weights[4:].sum() > 0.9  # right in half of the rounds
    learner.rearrange(experts([1, 2, 0]), *maps([1, 2], [1, 2, 0]))
    assert learner.weights[8:] == pytest.approx(np.full(4, 1.0 / 12.0))


@pytest.mark.parametrize("kind", [ab.Exp3Abs, ab.DoublyRobust])
@pytest.mark.parametrize("options", LATE)
def test_files_and_json_in_between(kind, options, tmp_path):
    """A learner that is saved and loaded after each change, with decisions from JSON, goes on bit for bit."""
    X, y = scores(200, np.random.default_rng(5))
    one, waiting = played(kind, [0, 1], **options)
    one.save(tmp_path / "x")
    other = ab.load(tmp_path / "x")
    models = [0, 1]
    for now in ([0, 1, 2], [2, 1], [1], [4, 1, 0]):
        for learner in (one, other):
            learner.rearrange(experts(now), *maps(models, now))
        models = now
        other.save(tmp_path / "x")
        other = ab.load(tmp_path / "x")
        for t in range(50):
            decisions = [learner.decide(X[t, models]) for learner in (one, other)]
            assert decisions[0].expert == decisions[1].expert
            for learner, decision in zip((one, other), decisions, strict=True):
                if decision.round in learner.pending:
                    learner.learn(decision, y[t])
            if waiting and t % 8 == 0:
                decision, label = waiting.pop()
                one.learn(decision, label)
                other.learn(ab.Decision.from_json(decision.to_json()), label)
    np.testing.assert_array_equal(one.weights, other.weights)
    assert other.experts.fingerprint == experts(models).fingerprint
    assert len(one._changes) == len(other._changes) == 4  # of round 300 on, some are open
    for learner in (one, other):
        for decision, label in waiting:
            learner.learn(ab.Decision.from_json(decision.to_json()), label)
    np.testing.assert_array_equal(one.weights, other.weights)
    one.rearrange(experts([4]), *maps(models, [4]))
    assert len(one._changes) == 1


def test_an_old_decision_that_was_changed_is_refused():
    learner, waiting = played(ab.DoublyRobust, [0, 1])
    learner.rearrange(experts([1, 2]), *maps([0, 1], [1, 2]))
    decision, label = waiting[0]
    before = learner.weights
    for name, value in (("cost", 0.3), ("carry", [0.5] * 8), ("predictions", [1.0]), ("expert", 1)):
        changed = ab.Decision.from_json(json.dumps({**json.loads(decision.to_json()), name: value}))
        with pytest.raises(DecisionError, match="changed"):
            learner.learn(changed, label)
    np.testing.assert_array_equal(learner.weights, before)
    learner.forget(decision)
    with pytest.raises(DecisionError, match="forgotten"):
        learner.learn(decision, label)


def test_what_an_old_decision_carries_at_the_end_stays():
    learner, waiting = played(ab.DoublyRobust, [0, 1])
    learner.rearrange(experts([2, 1]), *maps([0, 1], [2, 1]))
    decision = waiting[0][0]
    o, forced, first, second, low, lower, high, higher = decision.carry
    now, _ = learner._check_open(decision)
    assert now.carry.tolist() == [o, forced, 0.0, second, 0.0, lower, 0.0, higher]
    assert now.abstains[:4].all()
    assert now.abstains[4:].tolist() == decision.abstains[4:].tolist()
    change = learner._changes[0]
    longer = copy.copy(decision)
    object.__setattr__(longer, "carry", np.append(decision.carry, [7.0, 8.0]))
    assert learner._carry_of_now(longer, change)[-2:].tolist() == [7.0, 8.0]
    assert (first, low, high) != (0.0, 0.0, 0.0)


BAD = {
    "no set": (None, [0, 1], range(8), "ExpertSet"),
    "too few": (experts([0, 1]), [0], range(8), "predictor_from: expected 2"),
    "too many": (experts([0, 1]), [0, 1], range(9), "expert_from: expected 8"),
    "fractions": (experts([0, 1]), [0.0, 1.0], range(8), "predictor_from: expected 2 whole"),
    "bits": (experts([0, 1]), [True, False], range(8), "predictor_from: expected 2 whole"),
    "beyond": (experts([0, 1]), [0, 3], range(8), "below 3"),
    "below": (experts([0, 1]), [0, -2], range(8), "below 3"),
    "twice": (experts([0, 1]), [1, 1], range(8), "no duplicates"),
    "experts twice": (experts([0, 1]), [0, 1], [0] * 8, "no duplicates"),
    "other predictor": (experts([0, 1]), [1, 0], range(8), "keep their predictor"),
    "newcomer": (experts([0, 1]), [0, -1], range(8), "keep their predictor"),
    "merged": (ab.experts.from_columns(2, 1), [0, 1], [0, 4], "shared"),
    "text": (experts([0, 1]), "ab", range(8), "predictor_from"),
    "nothing": (experts([0, 1]), None, range(8), "predictor_from"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("kind", [ab.Exp3Abs, ab.DoublyRobust])
def test_bad_maps_change_nothing(kind, case, tmp_path):
    learner, waiting = played(kind, [0, 1, 2], rounds=60)
    learner.save(tmp_path / "before")
    other, predictors, of_experts, says = BAD[case]
    with pytest.raises(InputError, match=says):
        learner.rearrange(other, predictors, list(of_experts))
    learner.save(tmp_path / "after")
    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()
    learner.learn(*waiting[0])


@pytest.mark.parametrize("make", [ab.UCBGT, ab.Stacked, ab.FullSupervision])
def test_learners_that_cannot(make):
    learner = make(experts([0, 1]), cost=0.2)
    with pytest.raises(InputError, match=f"{make.__name__} learns with the experts it was made with"):
        learner.rearrange(experts([0]), *maps([0, 1], [0]))
    assert learner.experts.n_predictors == 2


@pytest.mark.parametrize("eta", [0.1, "tuned", "anytime"])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_other_rates(eta, n, tmp_path):
    """They follow the number of experts at once; files stay readable, from one expert and to one."""
    X, y = scores(300, np.random.default_rng(0))
    one = ab.experts.thresholds(1, [0.2])
    learner = ab.Exp3Abs(one, cost=0.2, eta=eta, horizon=100, seed=0)
    for t in range(20):
        decision = learner.decide(X[t, :1])
        learner.forget(decision) if decision.round in learner.pending else None
    learner.rearrange(experts(range(n)), [0] + [-1] * (n - 1), [-1, 0] + [-1] * (4 * n - 2))
    assert learner.weights == pytest.approx(np.full(4 * n, 0.25 / n))
    ab.simulate(learner, X[:, :n], y)
    fresh = ab.Exp3Abs(experts(range(n)), cost=0.2, eta=eta, horizon=100, seed=0)
    assert learner._weights.rate == fresh._weights.rate
    if eta != "anytime":
        assert learner._weights.numbers[0, 0] == fresh._weights.numbers[0, 0]
    assert learner.weights.max() > 1.1 / (4 * n)
    learner.rearrange(one, [0], [1])
    learner.save(tmp_path / "x")
    again = ab.load(tmp_path / "x")
    assert again.weights.tolist() == [1.0]
    ab.simulate(again, X[:, :1], y)


@pytest.mark.parametrize("kind", [ab.Exp3Abs, ab.DoublyRobust])
def test_shared_rules(kind, tmp_path):
    """Predictors and rules of a product come and go; who stays keeps its weight, also where newcomers join its rule."""
    rng, T = np.random.default_rng(0), 200
    said, margins = rng.choice([-1.0, 1.0], (T, 4)), rng.normal(size=(T, 5)) + np.linspace(-1.0, 1.0, 5)
    y = np.where(rng.random(T) < 0.8, said[:, 0], -said[:, 0])

    def product(P, A):
        return ab.experts.from_columns(len(P), len(A)), np.column_stack([said[:, P], margins[:, A]])

    P, A = [0, 1, 2], [0, 1, 2]
    learner = kind(product(P, A)[0], cost=0.3, seed=0, memory=50)
    for P_now, A_now in (([2, 0], [0, 1, 2]), ([2, 0, 3], [0, 1, 2]), ([0, 3], [1, 4, 3]), ([1, 0, 3, 2], [4, 0, 3])):
        ab.simulate(learner, product(P, A)[1], y, delay=5)
        before, pairs = learner.weights, [(p, a) for p in P for a in A]
        predictors = [P.index(p) if p in P else -1 for p in P_now]
        of_experts = np.array([pairs.index((p, a)) if (p, a) in pairs else -1 for p in P_now for a in A_now])
        learner.rearrange(product(P_now, A_now)[0], predictors, of_experts)
        after, stay = learner.weights, of_experts >= 0
        kept = before[of_experts[stay]]
        np.testing.assert_allclose(after[stay] / after[stay].sum(), kept / kept.sum(), rtol=1e-11)
        if not stay.all():
            np.testing.assert_allclose(after[~stay] / after[stay].sum(), before.mean() / kept.sum(), rtol=1e-11)
        learner.save(tmp_path / "x")
        np.testing.assert_allclose(ab.load(tmp_path / "x").weights, after, rtol=1e-15)
        P, A = P_now, A_now
    X = product(P, A)[1]
    decision = next(d for d in map(learner.decide, X) if not d.abstained)
    with pytest.raises(InputError, match="newcomers that share a rule .* got 1"):
        learner.rearrange(ab.experts.from_columns(5, 3), [0, 1, 2, 3, -1], [*range(12), -1, -1, -1])
    learner.rearrange(ab.experts.from_columns(3, 3), [0, 1, 2], range(9))
    learner.learn(decision, 1)
    learner.rearrange(ab.experts.from_columns(4, 3), [0, 1, 2, -1], [*range(9), -1, -1, -1])


def test_a_predictor_with_other_thresholds_guesses_anew():
    learner, _ = played(ab.DoublyRobust, [0, 1])
    lost, belief = learner.state.guesses.lost.copy(), learner.state.guesses.belief.copy()
    fewer = ab.experts.from_columns(2, 7, np.column_stack([[0, 0, 0, 1, 1, 1, 1], np.arange(7)]))
    learner.rearrange(fewer, [0, 1], [0, 1, 3, 4, 5, 6, 7])
    g = learner.state.guesses
    assert g.support.any(axis=0).tolist() == [False, True]
    np.testing.assert_array_equal(g.lost, lost)
    np.testing.assert_array_equal(g.belief, belief)


@pytest.mark.parametrize("kind", [ab.Exp3Abs, ab.DoublyRobust])
def test_a_newcomer_that_never_answers(kind):
    """It abstains always, like "always review"; the learner goes on as well as without it."""
    rng, T = np.random.default_rng(3), 4000
    X, y = scores(T, rng, 2)
    silent = ab.experts.from_columns(2, 8, np.column_stack([np.repeat([0, 1], 4), np.arange(8)]))

    def columns(models):
        """All of the first model's thresholds, and the second's, which never predicts."""
        said = X[:, :1] if models == 1 else np.column_stack([X[:, 0], np.zeros(T)])
        margins = np.abs(X[:, :1]) - LEVELS
        return np.column_stack([said, margins] if models == 1 else [said, margins, np.full((T, 4), -1.0)])

    alone = ab.experts.from_columns(1, 4)
    learner, other = (kind(alone, cost=0.2, seed=1, memory="adaptive", min_observe=0.01) for _ in range(2))
    for one in (learner, other):
        ab.simulate(one, columns(1)[:1000], y[:1000])
    learner.rearrange(silent, [0, -1], [0, 1, 2, 3, -1, -1, -1, -1])
    with_silent = ab.simulate(learner, columns(2)[1000:], y[1000:]).loss.mean()
    without = ab.simulate(other, columns(1)[1000:], y[1000:]).loss.mean()
    assert with_silent < without + 0.02
    assert learner.weights[4:].sum() < 0.1


def test_a_better_newcomer_takes_over():
    X, y = scores(6000, np.random.default_rng(2))
    learner = ab.DoublyRobust(experts([3, 4]), cost=0.4, memory="adaptive", min_observe=0.005, seed=0)
    ab.simulate(learner, X[:3000, [3, 4]], y[:3000])
    learner.rearrange(experts([3, 4, 0]), *maps([3, 4], [3, 4, 0]))
    ab.simulate(learner, X[3000:, [3, 4, 0]], y[3000:])
    assert learner.weights[8:].sum() > 0.9


def test_copies_clones_and_snapshots(tmp_path):
    learner, waiting = played(ab.DoublyRobust, [0, 1])
    kept, weights = learner.snapshot(), learner.weights
    learner.rearrange(experts([0, 1, 2]), *maps([0, 1], [0, 1, 2]))
    clone = learner.clone()
    assert (clone.round, clone.experts.n_experts, clone._changes) == (0, 12, ())
    twin = copy.deepcopy(learner)
    for one in (twin, learner):
        one.learn(*waiting[0])
    np.testing.assert_array_equal(learner.weights, twin.weights)
    learner.restore(kept)
    assert (learner.experts.n_experts, learner._changes) == (8, ())
    np.testing.assert_array_equal(learner.weights, weights)
    for decision, label in waiting:
        learner.learn(decision, label)
    learner.decide(np.zeros(2))


def test_files_without_changes_say_nothing_of_them():
    learner, _ = played(ab.DoublyRobust, [0, 1])
    header, arrays = learner.contents()
    assert not header["changes"]
    assert not any(name.startswith("changes") for name in arrays)


WRONG = {
    "round": lambda header, arrays: header["changes"][0].__setitem__(0, 10**6),
    "text": lambda header, arrays: header["changes"][0].__setitem__(0, "1"),
    "no list": lambda header, arrays: header.__setitem__("changes", 3),
    "sizes": lambda header, arrays: header["changes"][0].__setitem__(1, 1),
    "rules": lambda header, arrays: header["changes"][0].__setitem__(2, 1),
    "missing": lambda header, arrays: arrays.pop("changes.0.rules"),
    "shape": lambda header, arrays: arrays.__setitem__("changes.0.rules", np.zeros(3, np.int64)),
    "type": lambda header, arrays: arrays.__setitem__("changes.0.predictors", np.zeros(3)),
    "twice": lambda header, arrays: arrays["changes.0.predictors"].__setitem__(slice(None), 0),
    "order": lambda header, arrays: header["changes"][0].__setitem__(0, header["round"]),
    "rate": lambda header, arrays: arrays["state.numbers"].__setitem__((0, 0), 3.0),
}


@pytest.mark.parametrize("name", WRONG)
def test_nonsense_of_changes_in_files(name, tmp_path):
    learner, _ = played(ab.DoublyRobust, [0, 1])
    learner.rearrange(experts([0, 1, 2]), *maps([0, 1], [0, 1, 2]))
    learner.decide(np.zeros(3))
    learner.rearrange(experts([2, 1, 0]), *maps([0, 1, 2], [2, 1, 0]))
    learner.decide(np.zeros(3))
    header, arrays = learner.contents()
    write(tmp_path / "x", header, arrays)
    ab.load(tmp_path / "x")
    header = json.loads(json.dumps(header))
    WRONG[name](header, arrays)
    write(tmp_path / "x", header, arrays)
    with pytest.raises(FileError, match="damaged"):
        ab.load(tmp_path / "x")


def test_threads():
    """While some decide and learn, one changes the experts: advice of the wrong width is refused, nothing else."""
    X, y = scores(400, np.random.default_rng(0))
    learner = ab.DoublyRobust(experts([0, 1]), cost=0.3, seed=0)

    def work(k):
        models = [0, 1]
        for t in range(400):
            if k == 0:
                now = [0, 1, 2] if len(models) == 2 else [0, 1]
                learner.rearrange(experts(now), *maps(models, now))
                models = now
                continue
            with learner.lock:
                decision = learner.decide(X[t, : learner.experts.n_predictors])
            if decision.round in learner.pending:
                learner.learn(decision, y[t])

    assert in_threads(work, 4) == []
    assert (learner.round, learner.pending) == (1200, ())
    assert learner.weights.sum() == pytest.approx(1.0)

"""How many cases are abstained on with a capacity, what is learnt meanwhile, and that all of it equals the twin."""

import copy
import json
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain._core.files import write
from abstain.capacity import as_capacity
from abstain.checks import check_learner, play_online
from abstain.engine.feedback import chances_of
from abstain.errors import FileError, InputError

from ..instances import games, tables
from ..reference.backlog import Backlog
from ..reference.capacity import Limited
from .test_weighted import carried, feedbacks, floors, memories, twin_of

pytestmark = pytest.mark.long

KINDS = [ab.DoublyRobust, ab.Exp3Abs]
each_kind = pytest.mark.parametrize("kind", KINDS)
RINGS = ab.experts.hyperplanes(2, 4, 5, seed=0)
HOUR = 3_600 * 10**6


def noisy(n, seed=0):
    """Models whose signs are often wrong: everybody would like to abstain."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], n)
    return 0.3 * y[:, None] + 0.5 * rng.normal(size=(n, 3)), y


MODELS = ab.experts.thresholds(3, [-1.0, 0.2, 0.5, 1.0])
capacities = st.one_of(
    st.builds(
        ab.Capacity,
        share=st.sampled_from([0.0, 0.08, 0.3, 0.5, 1 / 3, 1.0]),
        burst=st.integers(1, 4),
        step=st.sampled_from([None, 0.0, 0.05, 0.5]),
    ),
    st.builds(ab.Capacity, per_day=st.sampled_from([0, 1, 24, 100]), burst=st.integers(1, 4)),
)
gaps = st.sampled_from([0, 1, HOUR - 1, HOUR, 5 * HOUR, 2**53])


def with_times(table, passed):
    """A last column that no rule in use looks at: the times."""
    experts = table.experts
    pairs = np.column_stack([experts.predictor_of, experts.rule_of])
    n_rules = experts.n_rules + 1
    timed = ab.experts.from_columns(experts.n_predictors, n_rules, pairs, rule_subset=np.eye(n_rules, dtype=bool))
    return timed, np.column_stack([table.X, passed])


def limited_twin(learner, X, y):
    twin = twin_of(learner, X, y)
    twin.predictor_of = learner.experts.predictor_of
    timed = learner.capacity.share is None
    return Limited(twin, learner.capacity, X[:, -1] if timed else np.ones(len(X)))


def assert_plays_like_its_twin(learner, X, y, delay):
    twin, random, waiting = limited_twin(learner, X, y), copy.deepcopy(learner._random), {}
    backlog = Backlog()

    def close(t):
        decision, fixed, seen = waiting.pop(t)
        learner.close(decision, y[t - 1])
        twin.learn(t, decision.observed, fixed, seen)
        backlog.learnt(t)

    def same():
        np.testing.assert_allclose(learner.weights, twin.weights(), rtol=1e-8, atol=1e-11)
        assert learner.tokens == float(twin.tokens)
        assert learner.price == pytest.approx(twin.price, abs=1e-12)
        assert learner.overdraft == twin.overdraft

    for t in range(1, len(X) + 1):
        same()
        segments, predicts, o = twin.segments(t)
        fixed, u = twin.before(t, o), random.random()
        decision = learner.decide(X[t - 1])
        assert decision.probability == pytest.approx(predicts, abs=1e-10)
        assert decision.observed == pytest.approx(o, abs=1e-10)
        ends = np.cumsum([0.0] + [length for length, *_ in segments])
        near = (ends[:-1] - 1e-9 <= u) & (u <= ends[1:] + 1e-9)
        if twin.floor > 0.0 and not twin.empty[t] and abs(twin.seen(t)[1] - twin.floor) < 1e-9:
            near[:] = True
        told = decision.explored, decision.over_capacity
        assert any(decision.expert in segments[i][1] and told == segments[i][2:] for i in np.flatnonzero(near))
        if fixed is not None:
            np.testing.assert_allclose(carried(decision)[: len(fixed)], fixed, rtol=1e-9, atol=1e-12)
        assert decision.cost == learner.cost.of(X[t - 1 : t], t, 1)[0]  # what is paid, whatever the price
        twin.note(t, decision.abstained)
        if learner.chances[decision.abstained] == 0.0:
            backlog.decided(t, partial(twin.learn, t, decision.observed, fixed, False))
        else:
            backlog.decided(t, None)
            if decision.observed <= 1e-6:
                return  # from here on rounding is amplified by 1 / o in any implementation
            waiting[t] = decision, fixed, bool(learner.comes(t, 1)[0, int(decision.abstained)])
        if t - delay in waiting:
            close(t - delay)
    for t in sorted(waiting):
        close(t)
    same()


@games(300)
@given(
    tables(max_rounds=40), memories, feedbacks, floors, st.sampled_from([0, 0, 1, 5, 100]), st.integers(0, 99),
    capacities, st.sampled_from(KINDS), st.data(),
)  # fmt: skip
def test_equal_to_the_twin(table, memory, feedback, floor, delay, seed, capacity, kind, data):
    experts, X = table.experts, table.X
    if capacity.per_day is not None:
        experts, X = with_times(table, data.draw(st.lists(gaps, min_size=len(X), max_size=len(X))))
    learner = kind(
        experts, cost=table.cost, loss=table.loss, seed=seed, memory=memory, feedback=feedback,
        min_observe=min(floor, max(chances_of(feedback))), capacity=capacity,
    )  # fmt: skip
    assert_plays_like_its_twin(learner, X, table.y, delay)


# The bucket.


def assert_holds(learner, X, trace, passed):
    """Played again in exact fractions; then every run of cases has at most what it earned, and ``burst``."""
    silent = learner.experts.advise(X).abstains[:, learner.experts.rule_of].all(axis=1)
    capacity, rate = learner.capacity, Fraction(learner.capacity.per_day or 0, 24 * HOUR)
    if capacity.share is not None:
        share = Fraction(repr(capacity.share))
        rate = Fraction(*capacity.units)
        assert share - Fraction(1, 10**9) < rate <= share
    tokens = burst = Fraction(capacity.burst)
    overdraft, excess, worst = 0, Fraction(0), Fraction(0)  # of reviews over earnings: in a run that ends here, in any
    for reviewed, gap, nobody in zip(trace.abstained, passed, silent, strict=True):
        earned = rate * int(gap)
        tokens = min(burst, tokens + earned)
        taken = bool(reviewed) and not (nobody and tokens < 1)
        assert tokens >= taken
        tokens -= taken
        overdraft += bool(reviewed) and not taken
        excess = max(Fraction(0), excess) + taken - earned
        worst = max(worst, excess)
    assert worst <= burst
    assert learner.tokens == float(tokens)
    assert learner.overdraft == overdraft
    return worst


@games(200)
@given(
    tables(max_rounds=60, losses=("zero_one",)),
    st.one_of(st.floats(0, 1), st.integers(0, 1000).map(lambda n: n / 1000)),
    st.integers(1, 5), st.sampled_from(["predicted", "abstained", "both"]), st.sampled_from(KINDS), st.integers(0, 9),
)  # fmt: skip
def test_any_cases_in_a_row(table, share, burst, feedback, kind, seed):
    """The odd tables: all wrong, all abstaining, rules in turns; and costs of 0, where abstaining is free."""
    capacity = ab.Capacity(share, burst=burst)
    learner = kind(table.experts, cost=0.0, seed=seed, feedback=feedback, min_observe=0.3, capacity=capacity)
    trace = ab.simulate(learner, table.X, table.y)
    assert_holds(learner, table.X, trace, np.ones(len(table.X)))


@games(300)
@given(tables(max_rounds=40, losses=("zero_one",)), st.sampled_from([0, 1, 7, 24, 10**9]), st.integers(1, 5), st.data())
def test_any_time(table, per_day, burst, data):
    passed = data.draw(st.lists(gaps, min_size=len(table.X), max_size=len(table.X)))
    experts, X = with_times(table, passed)
    learner = ab.Exp3Abs(experts, cost=0.0, seed=0, capacity=ab.Capacity(per_day=per_day, burst=burst))
    assert_holds(learner, X, ab.simulate(learner, X, table.y), passed)


@each_kind
def test_the_bound_is_reached(kind):
    """It is no bound that would hold anyway: without a price, the first ``burst`` cases and each share are reviewed."""
    X, y = noisy(2_000)
    learner = kind(MODELS, cost=0.0, seed=0, capacity=ab.Capacity(share=0.08, burst=7, step=0.0))
    trace = ab.simulate(learner, X, y)
    worst = assert_holds(learner, X, trace, np.ones(len(X)))
    assert worst > 6
    assert 0.05 < trace.abstained.mean() <= 0.08 + 7 / 2_000
    free = kind(MODELS, cost=0.0, seed=0)
    assert ab.simulate(free, X, y).abstained.mean() > 0.5


@each_kind
def test_a_whole_share_changes_nothing(kind):
    X, y = noisy(600)
    learner, free = kind(MODELS, cost=0.1, seed=0, capacity=1), kind(MODELS, cost=0.1, seed=0)
    trace, other = ab.simulate(learner, X, y, delay=3), ab.simulate(free, X, y, delay=3)
    np.testing.assert_array_equal(trace.expert, other.expert)
    np.testing.assert_array_equal(learner.weights, free.weights)
    assert (learner.price, learner.overdraft, free.price, free.overdraft) == (0.0, 0, 0.0, 0)
    assert (learner.tokens, free.tokens) == (999 + (not trace.abstained[-1]), np.inf)


@each_kind
def test_no_share_at_all(kind):
    """What the bucket holds at first is all there ever is."""
    X, y = noisy(600)
    learner = kind(MODELS, cost=0.0, seed=0, capacity=0.0)
    assert ab.simulate(learner, X, y).abstained.sum() == 1
    assert learner.tokens == 0.0
    assert learner.price <= 1.0


@each_kind
def test_cases_that_nobody_answers(kind):
    """They take a token if there is one, and are counted if not; nothing is owed, and the price stays bounded."""
    experts = ab.experts.from_columns(2, 2)
    X = np.column_stack([np.ones((50, 2)), -np.ones((50, 2))])
    learner = kind(experts, cost=0.3, seed=0, capacity=ab.Capacity(share=0.25, burst=3))
    trace = ab.simulate(learner, X, np.ones(50))
    assert trace.abstained.all()
    assert learner.overdraft == 50 - 3 - 12  # what the first case earned found the bucket full, the others earned 12.25
    assert learner.tokens < 1.0
    assert 0.0 < learner.price <= 1.0
    decision = learner.decide(X[0])
    assert (decision.abstained, decision.probability, decision.over_capacity) == (True, 0.0, False)
    assert not learner.decide([1.0, 1.0, 1.0, 1.0]).abstained


# Whom it follows, and what it learns, while the bucket is empty.


def one_token(kind, experts, **options):
    """A learner whose bucket is empty from the second case on."""
    capacity = ab.Capacity(share=0.0, burst=1, step=0.25)
    learner = kind(experts, cost=0.3, seed=0, capacity=capacity, **options)
    silent = np.append(np.ones(experts.n_predictors), -np.ones(experts.n_rules))
    assert learner.decide(silent).abstained
    assert (learner.tokens, learner.price) == (0.0, 0.25)
    return learner


@each_kind
def test_who_answers_instead(kind):
    """Of the same predictor, the heaviest who predicts, ties to the lowest; or of the likeliest that has one."""
    pairs = [(1, 0), (0, 1), (1, 2), (0, 3), (1, 4), (2, 5)]
    experts = ab.experts.from_columns(3, 6, pairs)
    learner = one_token(kind, experts, feedback="both")
    seen = set()
    for _ in range(60):
        drawn = learner.decide([1, 1, 1, -1, -1, 1, 1, 1, -1])  # rules 2, 3, 4 predict: the experts 2, 3, 4
        assert drawn.probability == 1.0
        assert not drawn.abstained
        seen.add((drawn.expert, drawn.over_capacity))
    assert seen == {(2, True), (2, False), (3, True), (3, False), (4, False)}  # 5's predictor has none: 1 is likeliest
    seen = {learner.decide([1, 1, 1, -1, -1, -1, -1, 1, 1]).expert for _ in range(60)}  # 4 and 5 predict
    assert seen == {4, 5}


@each_kind
def test_nothing_is_learnt_where_no_label_can_come(kind):
    """With labels of reviewed cases only: what was answered for want of capacity enters no sum."""
    experts = ab.experts.from_columns(2, 2)
    learner = one_token(kind, experts, feedback="abstained", min_observe=0.2)
    before = learner.weights
    learnt = learner._weights.numbers.copy()
    told = [learner.decide([1.0, -1.0, 1.0, -1.0]) for _ in range(30)]
    assert {d.observed for d in told} == {0.0}
    assert {d.over_capacity for d in told} == {True, False}
    np.testing.assert_array_equal(learner.weights, before)
    np.testing.assert_array_equal(learner._weights.numbers, learnt)
    assert learner.pending == (1,)


@each_kind
def test_audits_of_answered_cases(kind):
    """With labels of one in twenty answered cases, that is how likely the label is while the bucket is empty."""
    learner = one_token(kind, ab.experts.from_columns(2, 2), feedback=(0.05, 1.0), min_observe=0.5)
    decision = learner.decide([1.0, -1.0, 1.0, -1.0])
    assert (decision.observed, decision.probability, decision.explored) == (0.05, 1.0, False)
    before = learner.weights
    learner.learn(ab.Decision.from_json(decision.to_json()), 1)
    assert not np.array_equal(before, learner.weights)


@each_kind
def test_a_warm_start_takes_no_tokens(kind):
    X, y = noisy(300)
    learner = kind(MODELS, cost=0.1, seed=0, capacity=0.08)
    learner.warm_start(X, y)
    assert (learner.tokens, learner.price) == (80.0, 0.0)
    free = kind(MODELS, cost=0.1, seed=0)
    free.warm_start(X, y)
    np.testing.assert_array_equal(learner.weights, free.weights)


# The rules of learners.


@each_kind
def test_conformance_by_time(kind):
    rng = np.random.default_rng(0)
    experts = ab.experts.from_columns(2, 3, [(0, 0), (0, 1), (1, 0), (1, 1)])
    X = np.column_stack([rng.uniform(-1, 1, (200, 4)), rng.choice([0, 10, HOUR], 200)])
    y = rng.choice([-1, 1], 200)
    check_learner(lambda: kind(experts, cost=0.2, seed=1, capacity=ab.Capacity(per_day=4, burst=2)), X, y)
    learner = kind(experts, cost=0.2, seed=1, capacity=ab.Capacity(per_day=4, burst=2))
    for wrong in (-1.0, 0.5, 2.0**54):
        with pytest.raises(InputError, match="^x: expected whole microseconds since the case before, from 0 on, in"):
            learner.decide([1, 1, 1, 1, wrong])
        with pytest.raises(InputError, match="^x: expected whole microseconds"):
            ab.simulate(learner, [[1, 1, 1, 1, wrong]], [1])
    with pytest.raises(InputError, match="^x: a capacity a day needs x"):
        learner.decide(experts.advise(X[:1]))
    assert learner.tokens == 2.0


@each_kind
def test_a_single_predictor_by_time(kind):
    """Labels without a model, and a carry that might be taken for that of one with."""
    experts = ab.experts.from_columns(1, 2, [(0, 0)])
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 3, 300), rng.uniform(-1, 1, 300), rng.choice([0, HOUR], 300)])
    y = rng.integers(0, 3, 300)
    learner = kind(experts, cost=0.2, loss="multiclass", seed=1, capacity=ab.Capacity(per_day=4, burst=2))
    assert_plays_like_its_twin(learner, X, y, 2)


@each_kind
def test_online_equals_simulated(kind):
    """On a longer game, in which the bucket gets empty again and again."""
    X, y = noisy(3_000, 4)
    online, simulated = (kind(MODELS, cost=0.0, seed=2, capacity=ab.Capacity(0.05, burst=3)) for _ in range(2))
    first, second = play_online(online, X, y, 20), ab.simulate(simulated, X, y, delay=20)
    np.testing.assert_array_equal(first.expert, second.expert)
    np.testing.assert_array_equal(first.loss, second.loss)
    np.testing.assert_array_equal(online.weights, simulated.weights)
    assert (online.tokens, online.price) == (simulated.tokens, simulated.price)


@each_kind
def test_peeking_takes_no_token(kind):
    learner = one_token(kind, ab.experts.from_columns(2, 2), feedback="both")
    for _ in range(5):
        told = learner.peek([1.0, -1.0, 1.0, -1.0])
        assert (told.probability, learner.tokens, learner.price) == (1.0, 0.0, 0.25)


def test_another_cost_on_the_way():
    X, y = noisy(200)
    learner = ab.Exp3Abs(MODELS, cost=0.3, seed=0, eta="anytime", capacity=ab.Capacity(0.1, burst=2))
    ab.simulate(learner, X[:100], y[:100])
    before = learner.tokens, learner.price
    learner.cost = 0.1
    assert (learner.tokens, learner.price) == before
    ab.simulate(learner, X[100:], y[100:])
    assert learner.tokens <= 2.0


# Files.


@each_kind
def test_files(kind, tmp_path):
    (X, y), capacity = noisy(500), ab.Capacity(0.05, burst=3, step=0.0)
    learner = kind(MODELS, cost=0.0, seed=0, capacity=capacity)
    ab.simulate(learner, X[:400], y[:400])
    decisions = [learner.decide(x) for x in X[400:]]
    learner.save(tmp_path / "x")
    again = ab.load(tmp_path / "x", capacity=capacity)
    assert repr(again) == repr(learner)
    assert again.capacity == learner.capacity
    assert (again.tokens, again.price, again.overdraft) == (learner.tokens, learner.price, learner.overdraft)
    held = next(d for d in decisions if d.over_capacity)
    told = ab.Decision.from_json(held.to_json())
    assert (told.over_capacity, told.explored, told.format) == (True, False, 1)
    again.learn(told, 1)
    learner.learn(held, 1)
    np.testing.assert_array_equal(again.weights, learner.weights)
    with pytest.raises(InputError, match="^capacity: expected"):
        ab.load(tmp_path / "x", capacity=0.06)


@each_kind
@pytest.mark.parametrize(
    ("name", "value"),
    [("tokens", [61, 0]), ("tokens", [-1, 0]), ("tokens", [0, -1]), ("tokens", [0.0, 0.0]), ("tokens", [0]),
     ("price", [1.1]), ("price", [-0.1]), ("price", [np.nan])],
)  # fmt: skip
def test_nonsense_in_files(kind, name, value, tmp_path):
    learner = kind(MODELS, cost=0.1, seed=0, capacity=ab.Capacity(0.05, burst=3))
    header, arrays = learner.contents()
    write(tmp_path / "x", header, arrays | {f"state.{name}": np.array(value)})
    with pytest.raises(FileError, match="do not fit together"):
        ab.load(tmp_path / "x")
    possible = {"state.tokens": np.array([60, 5]), "state.price": np.ones(1)}
    write(tmp_path / "x", header | {"round": 5}, arrays | possible)
    assert ab.load(tmp_path / "x").overdraft == 5


def test_a_decision_says_whether_it_was_over_capacity():
    told = json.loads(ab.DoublyRobust(MODELS, cost=0.9, seed=0).decide([0.5, 0.5, 0.5]).to_json())
    del told["over_capacity"]
    with pytest.raises(FileError, match="over_capacity"):
        ab.Decision.from_json(json.dumps(told))


# What a capacity is.


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (None, None),
        (0.08, ab.Capacity(share=0.08, burst=80, step=0.0125)),
        (1, ab.Capacity(share=1.0, burst=1000, step=0.001)),
        (np.float64(0.0), ab.Capacity(share=0.0, burst=1, step=1.0)),
        (ab.Capacity(per_day=500), ab.Capacity(per_day=500, burst=500, step=0.002)),
        ({"share": 0.5, "per_day": None, "burst": 3, "step": 0.1}, ab.Capacity(share=0.5, burst=3, step=0.1)),
    ],
)
def test_how_a_capacity_is_kept(given, kept):
    assert as_capacity(given) == kept
    assert ab.Exp3Abs(RINGS, cost=0.3, capacity=given).capacity == kept


def test_units():
    assert ab.Capacity(0.08).units == (2, 25)
    assert ab.Capacity(1.0).units == (1, 1)
    assert ab.Capacity(0).units == (0, 1)
    assert ab.Capacity(1 / 3).units == (333_333_333, 10**9)
    assert ab.Capacity(0.9999999999).units == (999_999_999, 10**9)  # never more than was asked for
    assert ab.Capacity(1e-12).units == (0, 1)


@pytest.mark.parametrize("given", [-0.1, 1.1, np.nan, "0.1", True, (0.1,), {"part": 0.1}, [0.1, 3]])
def test_what_is_no_capacity(given):
    with pytest.raises(InputError, match="^capacity: expected (None, )?a share in"):
        ab.DoublyRobust(RINGS, cost=0.3, capacity=given)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "capacity: expected either a share or a number per_day, got None and None"),
        ({"share": 0.1, "per_day": 5}, "capacity: expected either a share or a number per_day, got 0.1 and 5"),
        ({"share": 2}, r"share: expected a number in \[0, 1\], got 2"),
        ({"per_day": -1}, "per_day: expected a whole number"),
        ({"per_day": 0.5}, "per_day: expected a whole number"),
        ({"per_day": 10**10}, "per_day: expected at most"),
        ({"share": 0.1, "burst": 0}, "burst: expected a whole number, 1 or more|burst: expected a whole number"),
        ({"share": 0.1, "burst": 1.5}, "burst: expected a whole number"),
        ({"share": 0.1, "burst": 10**8}, "burst: expected at most"),
        ({"share": 0.1, "step": -1}, r"step: expected a number in \[0, 1\], got -1"),
    ],
)
def test_wrong_terms(options, message):
    with pytest.raises(InputError, match=f"^({message})"):
        ab.Capacity(**options)


def test_others_have_none():
    for kind in (ab.UCBGT, ab.UCB, ab.Stacked):
        with pytest.raises(TypeError, match="capacity"):
            kind(RINGS, cost=0.3, capacity=0.1)

"""How a gate is doing: numbers, sentences, alarms that need no labels, and what the gate does with them."""

import copy
import pickle
import re
import warnings

import numpy as np
import polars as pl
import pytest

import abstain as ab
from abstain.errors import FileError, InputError, LabelError, LabelWarning, ReadOnlyError
from abstain.gate.alarms import _LATCHED, ALARM, BOUND, FIRST, PROBE, QUIET, SETTLE, START, Watch, _pairs, _upper
from abstain.gate.combining import UNHEARD
from abstain.gate.frames import Block
from abstain.gate.health import Health, ModelHealth

NAMES = ["a", "b", "c"]


def stream(n, *, broken=None, seed=0, accuracy=0.85, classes=5, models=3):
    """Return confidences, answers and labels; in rows ``broken`` model 1 answers at random."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    said = np.where(rng.random((n, models)) < accuracy, y[:, np.newaxis], rng.integers(0, classes, (n, models)))
    if broken is not None:
        said[broken, 1] = rng.integers(0, classes, len(said[broken]))
    return rng.beta(5, 1, (n, models)).round(6), said.astype(float), y


def watched(sure, said, **options):
    """Return the detectors after some cases, and in which cases each model was in alarm."""
    watch = Watch(sure.shape[1], **options)
    alarms = []
    for first in range(0, len(sure), SETTLE):
        watch.add_all(np.ascontiguousarray(sure[first : first + SETTLE]), said[first : first + SETTLE])
        alarms.append(watch.models[:, ALARM].copy())
    return watch, np.array(alarms)


def answers_of(sure, said, i):
    return {
        name: None if np.isnan(sure[i, m]) else (int(said[i, m]), float(sure[i, m])) for m, name in enumerate(NAMES)
    }


def block_of(sure, said, y, **more):
    losses = np.where(np.isnan(sure), 0.0, said != y[:, np.newaxis])
    return Block(sure, losses, answer=said, **more)


def live(gate, sure, said, y, late=0):
    """Play cases one by one, with labels ``late`` cases late."""
    cases = []
    for i in range(len(sure)):
        if i > late:
            learn(gate, cases[i - late - 1], y[i - late - 1])
        cases.append(gate.decide(answers_of(sure, said, i)))
    if late == 0:
        learn(gate, cases[-1], y[-1])
    return cases


def learn(gate, case, label):
    if case.round in gate.pending:
        gate.learn(case, int(label))


# The test itself.


@pytest.mark.parametrize(
    ("before", "after", "most"), [(0.77, 0.11, 40), (0.9, 0.5, 120), (0.95, 0.7, 250), (1.0, 0.9, 250)]
)
def test_a_fall_of_agreement_is_noticed_in_few_cases(before, after, most):
    rng = np.random.default_rng(0)
    for _ in range(3):
        n, change = 4_600, 3_800
        differ = rng.random(n) >= np.where(np.arange(n) < change, before, after)
        watch, _ = watched(rng.beta(5, 1, (n, 2)), np.column_stack([np.zeros(n), differ]).astype(float))
        start = watch.models[:, START]
        assert (start > change).all()
        assert (start <= change + most).all()


def test_only_the_broken_one_of_three_models_is_in_alarm():
    sure, said, _ = stream(6_000, broken=slice(4_000, None))
    watch, alarms = watched(sure, said)
    assert watch.models[1, ALARM] > 0
    assert not alarms[:, [0, 2]].any()
    assert 4_000 < watch.models[1, START] <= 4_060


def test_two_models_that_part_are_both_in_alarm():
    sure, said, _ = stream(6_000, broken=slice(4_000, None), models=2)
    watch, _ = watched(sure, said)
    assert (watch.models[:, ALARM] > 0).all()


def test_a_model_that_stops_answering_is_in_alarm_and_says_so():
    sure, said, _ = stream(3_000)
    sure[2_000:, 2] = said[2_000:, 2] = np.nan
    gate = ab.Gate(NAMES, cost=0.2, thresholds=4, labels="both", seed=0)
    with gate._playing() as play:
        play(block_of(sure, said, np.zeros(3_000)))
    health = gate.health()
    assert health.alarms == ("c",)
    assert health.models[2].alarm == "answers less often"
    assert health.models[2].answers < 0.05
    assert health.models[2].answers_past == 1.0
    assert re.match(r"c answers less often since case 2,0\d\d \(answers 0\.0\d, 1\.00 before; ", str(health))


@pytest.mark.parametrize(("sure", "words"), [(0.999, "is more certain"), (0.3, "is less certain")])
def test_a_model_whose_confidence_changes_is_in_alarm(sure, words):
    known, said, _ = stream(3_000)
    known[2_000:, 0] = sure
    gate = ab.Gate(NAMES, cost=0.2, thresholds=4, labels="both", seed=0)
    with gate._playing(3_000) as play:
        play(block_of(known, said, np.zeros(3_000)))
    one = gate.health().models[0]
    assert one.alarm == words
    assert 2_000 < one.since < 2_100
    assert one.confidence == pytest.approx(sure, abs=0.05)
    assert one.confidence_past == pytest.approx(5 / 6, abs=0.02)


def test_numbers_disagree_by_their_difference():
    rng = np.random.default_rng(0)
    true = rng.normal(size=(3_000, 1))
    said = true + 0.1 * rng.normal(size=(3_000, 3))
    said[2_000:, 1] += 3.0
    watch, alarms = watched(rng.beta(5, 1, (3_000, 3)), said, scale=1.0)
    assert watch.models[1, ALARM] > 0
    assert not alarms[:, [0, 2]].any()
    assert watch.now_and_past(1)["agreement"][0] < 0.1


def test_the_alarm_ends_when_the_behaviour_is_back():
    sure, said, _ = stream(6_000, broken=slice(3_000, 4_000))
    watch, alarms = watched(sure, said)
    assert watch.models[1, ALARM] == 0
    on = np.flatnonzero(alarms[:, 1]) * SETTLE
    assert on.min() >= 2_900
    assert on.max() <= 4_400


def quiet_streams(n, seed):
    """Yield kinds of quiet cases: confidences and answers."""
    rng = np.random.default_rng(seed)
    sure = rng.beta(5, 1, (n, 3))
    for rate in (0.5, 0.8, 0.97):
        yield f"i.i.d., agreement about {rate}", sure, (rng.random((n, 3)) > rate).astype(float)
    yield "near-deterministic", np.full((n, 3), 0.99), (rng.random((n, 3)) < 0.0005).astype(float)
    yield "two classes", sure, rng.integers(0, 2, (n, 3)).astype(float)
    yield "many classes", sure, rng.integers(0, 50, (n, 3)).astype(float)
    shared = rng.random((n, 1)) < 0.7  # models that make the same mistakes
    same = np.where(shared, rng.integers(0, 5, (n, 1)), rng.integers(0, 5, (n, 3))).astype(float)
    yield "correlated models", np.where(shared, rng.beta(8, 1, (n, 1)), rng.beta(2, 1, (n, 3))), same
    gone = rng.random((n, 3)) < [0.0, 0.02, 0.6]
    yield "answers that are missing", np.where(gone, np.nan, sure), np.where(gone, np.nan, same)


def false_alarms(sure, said):
    """Count the alarms of detectors in quiet cases: each begins once."""
    watch, found = Watch(sure.shape[1]), 0
    before = np.zeros(len(watch.detectors))
    for first in range(0, len(sure), SETTLE):
        watch.add_all(np.ascontiguousarray(sure[first : first + SETTLE]), said[first : first + SETTLE])
        latched = watch.detectors[:, _LATCHED].copy()
        found += int((latched > before).sum())
        before = latched
    return found


def test_quiet_cases_raise_no_alarm():
    for kind, sure, said in quiet_streams(30_000, seed=1):
        assert false_alarms(sure, said) == 0, kind


@pytest.mark.long
def test_the_rate_of_false_alarms_is_kept_in_a_million_quiet_cases():
    """Promised are at most eight in eight kinds, on average; docs/health.md says that there is none."""
    found = {kind: false_alarms(sure, said) for kind, sure, said in quiet_streams(QUIET, seed=2)}
    assert len(found) == 8
    assert sum(found.values()) == 0, found


def test_the_bound_of_a_mean_fails_as_rarely_as_it_should():
    rng = np.random.default_rng(0)
    n, log = 250, np.log(20.0)
    for mean in (0.01, 0.3, 0.9):
        means = rng.binomial(n, mean, 500) / n
        bounds = np.array([_upper.py_func(one, float(n), log) for one in means])
        assert (bounds < mean).mean() <= 1 / 20 + 0.03
        assert (bounds >= means).all()


def test_a_fair_bet_grows_by_one_a_signal_at_most():
    """The sums are about bounds that hold: their mean after n signals is at most n."""
    rng = np.random.default_rng(0)
    ends = []
    for _ in range(200):
        watch = Watch(1)
        watch.detectors[0, [3, BOUND]] = 0.2
        watch.add_all(rng.beta(5, 1, (60, 1)), np.full((60, 1), np.nan))
        silent = np.where(rng.random((40, 1)) < 0.2, np.nan, 0.7)
        watch.add_all(silent, np.full((40, 1), np.nan))
        ends.append(watch.detectors[0, 5:8].mean())
    assert np.mean(ends) <= 100


# What the gate says.


def test_a_new_gate_says_that_nothing_was_decided():
    gate = ab.Gate(NAMES, cost=0.2, thresholds=4, seed=0)
    health = gate.health()
    assert str(health) == "No case was decided yet."
    assert health.price is None
    assert health.reviewed is None
    frame = health.frame()
    assert frame["model"].to_list() == NAMES
    assert frame["agreement"].is_null().all()
    assert frame.schema["since"] == pl.Int64
    assert health.false_alarms == 1e-6


@pytest.mark.long
def test_shares_labels_pending_and_price_are_those_of_the_cases():
    sure, said, y = stream(600)
    capacity = ab.Capacity(share=0.02, burst=5)
    gate = ab.Gate(NAMES, review_price=0.5, mistake_price=10.0, thresholds=4, capacity=capacity, seed=0)
    cases = live(gate, sure, said, y, late=30)
    health = gate.health()
    reviewed = np.array([case.action == "review" for case in cases])
    assert health.cases == 600
    assert health.reviewed == pytest.approx(reviewed.mean())
    assert health.over_capacity == pytest.approx(np.mean([case.over_capacity for case in cases]))
    assert health.explored == pytest.approx(np.mean([case.explored for case in cases]))
    assert health.pending == len(gate.pending)
    assert health.oldest == 600 - min(gate.pending)
    assert health.median_age == np.median(600 - np.array(gate.pending))
    assert health.delay == 30.0
    heard = [i for i in range(569) if not reviewed[i]]
    assert health.labels == len(heard)
    wrong = np.mean([cases[i].answer != y[i] for i in heard])
    assert health.price == pytest.approx(0.5 * reviewed.mean() + 10.0 * (1 - reviewed.mean()) * wrong)
    low, high = health.price_interval
    assert 0.0 < low < health.price < high
    text = str(health)
    assert text.startswith("No model is in alarm.\n")
    assert f"{len(heard):,} labels have come, 30 cases late on average; {health.pending} cases are open" in text
    assert "were answered because no capacity was left" in text
    assert health.memory == gate.learner.memory_weights


def test_the_interval_of_the_price_covers_the_truth():
    inside = 0
    for seed in range(20):
        sure, said, y = stream(800, seed=seed, accuracy=0.9, models=3)
        gate = ab.Gate(NAMES, cost=0.2, thresholds=[0.0], labels="both", seed=seed)
        with gate._playing() as play:
            play(block_of(sure, said, y))
        health = gate.health()
        low, high = health.price_interval
        share = health.reviewed
        truth = share * 0.2 + (1 - share) * 0.08  # right by chance in one of five
        inside += low <= truth <= high
    assert inside >= 17


def test_losses_of_models_are_counted_every_64_cases():
    sure, said, y = stream(640)
    gate = ab.Gate(NAMES, cost=0.2, thresholds=4, labels="both", seed=0)
    live(gate, sure, said, y)
    for m, one in enumerate(gate.health().models):
        assert one.labels == 639  # the last comes after the last case
        assert one.loss == pytest.approx((said[:-1, m] != y[:-1]).mean(), abs=1e-9)


def test_health_works_for_every_learner_and_without_agreement():
    for learner in (ab.UCB, ab.UCBAbs, ab.Exp3):
        gate = ab.Gate(["a"], cost=0.2, thresholds=4, learner=learner, seed=0)
        for _ in range(5):
            gate.decide({"a": ("x", 0.9)})
        health = gate.health()
        assert health.models[0].agreement is None
        assert "No label has come yet" in str(health)


def said_of(**values):
    """Return the sentences of a gate with these numbers."""
    one = ModelHealth("a", 1.0, 1.0, None, None, 0.9, 0.9, 0, None, None, None)
    plain = {"models": (one,), "cases": 2_000, "reviewed": 0.25, "explored": 0.0, "over_capacity": 0.0, "muted": 0}
    plain |= {"labels": 0, "delay": None, "pending": 0, "oldest": None, "median_age": None}
    return Health(**{**plain, "price": None, "price_interval": None, **values}).sentences


def test_every_sentence_is_there_when_it_should_be():
    assert said_of() == (
        "No model is in alarm.",
        "25 % of 2,000 cases were reviewed.",
        "No label has come yet; none is awaited.",
    )
    shares = said_of(explored=0.01, over_capacity=0.125)[1]
    assert shares == (
        "25 % of 2,000 cases were reviewed, 1 % were decided for the sake of the label, 12.5 % were answered because "
        "no capacity was left."
    )
    assert said_of(muted=1_234)[2] == "In 1,234 cases a model in alarm was left out."
    assert said_of(price=1.234, price_interval=(1.0, 1.5))[2] == "A case cost 1.23 on average (95 %: 1 to 1.5)."
    labels = said_of(labels=1_500, delay=0.0, pending=2, oldest=1_700, median_age=900.0)[-1]
    assert labels == (
        "1,500 labels have come, at once; 2 cases are open, the oldest of them for 1,700 cases, half of them for 900 "
        "or more."
    )
    assert said_of(labels=3, delay=1_234.4)[-1].startswith("3 labels have come, 1,234 cases late on average; none is")
    changed = said_of(memory={None: 0.2, 4_000: 0.1, 500: 0.7})[-1]
    assert changed == "The last 1,000 cases count for 70 % of what was learnt: something changed."
    assert said_of(memory={None: 0.8, 500: 0.2})[-1].startswith("No label")
    alarm = ModelHealth("b", 0.5, 0.9, 0.1, 0.8, None, None, 10, 0.2, "agrees less", 1_500)
    assert said_of(models=(alarm,))[0] == (
        "b agrees less since case 1,500 (answers 0.50, 0.90 before; agreement 0.10, 0.80 before)."
    )


# Labels that fit no answer.


def taught(answer, label, n, **options):
    gate = ab.Gate(["a", "b"], **{"cost": 0.2, "thresholds": 4, "labels": "both", "seed": 0, **options})
    for _ in range(n):
        gate.learn(gate.decide({"a": (answer, 0.9), "b": (answer, 0.8)}), label)
    return gate


@pytest.mark.parametrize(("answer", "label"), [("Spam", "spam"), (" spam", "spam")])
def test_labels_in_other_capitals_or_blanks_are_a_reason_to_warn_once(answer, label):
    taught(answer, label, 19)
    with pytest.warns(LabelWarning, match="they differ in type, capitals or blanks alone") as found:
        taught(answer, label, 200)
    assert len(found) == 1
    assert f"a says {answer!r} where the label is {label!r}, and the like, in 20 cases" in str(found[0].message)


def test_labels_that_no_answer_ever_equals_are_a_reason_to_warn():
    taught("x", "y", 49)
    with pytest.warns(LabelWarning, match="no model was ever right in 50 cases with a label: a last said 'x' where"):
        taught("x", "y", 60)
    with pytest.warns(LabelWarning, match="every answer is off by max_error or more"):
        taught(5.0, 90.0, 60, task="number", max_error=10.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        taught("x", "x", 100)


# Alarms that the gate obeys.


def test_a_wrong_option_is_refused_and_the_option_cannot_be_set():
    with pytest.raises(InputError, match="on_alarm: expected one of report, review, got 'stop'"):
        ab.Gate(NAMES, cost=0.2, on_alarm="stop")
    gate = ab.Gate(NAMES, cost=0.2, thresholds=4, on_alarm="review")
    assert gate.on_alarm == "review"
    with pytest.raises(ReadOnlyError, match="on_alarm: cannot be set"):
        gate.on_alarm = "report"


def broken_log(n=2_000):
    sure, said, y = stream(n, broken=slice(1_000, 1_600), accuracy=0.6, seed=3)
    good = np.random.default_rng(4).random(n) < 0.97
    good[1_000:1_600] = False
    said[:, 1] = np.where(good, y, said[:, 1])  # model 1 is the best until it breaks
    return sure, said, y


def played(on_alarm, late=200, log=None, **options):
    sure, said, y = broken_log() if log is None else log
    gate = ab.Gate(NAMES, **{"cost": 0.2, "thresholds": 4, "seed": 0, **options}, on_alarm=on_alarm)
    with gate._playing(late) as play:
        out = play(block_of(sure, said, y))
    return gate, out


def test_a_model_in_alarm_is_followed_in_one_of_twenty_cases():
    gate, out = played("review")
    one = gate.health()
    assert one.muted > 400
    since = int(gate._monitor.watch.models[1, START])
    assert 1_000 < since < 1_200
    alarm = slice(since, 1_600)
    followed = (out.model == 1) & ~out.reviewed
    assert followed[:1_000].mean() > 0.3
    assert followed[alarm].mean() <= 1 / PROBE


def test_obeying_alarms_saves_what_the_broken_model_costs_until_labels_come():
    broken = slice(1_000, 1_600)
    losses = {on_alarm: played(on_alarm)[1].loss for on_alarm in ("report", "review")}
    assert losses["review"][:1_000].tolist() == losses["report"][:1_000].tolist()
    assert losses["review"][broken].sum() < 0.8 * losses["report"][broken].sum()


@pytest.mark.parametrize(
    ("on_alarm", "late", "labels"),
    [("report", 100, "both"), ("review", 0, "both"), ("review", 100, "both"), ("review", 100, "answered")],
)
def test_single_cases_and_tables_agree_to_the_bit(on_alarm, late, labels):
    sure, said, y = log = broken_log()
    gate, out = played(on_alarm, late, log, labels=labels)
    other = ab.Gate(NAMES, cost=0.2, thresholds=4, seed=0, on_alarm=on_alarm, labels=labels)
    cases = live(other, sure, said, y, late)
    if late > 0:  # a table has learnt what comes before the case after the last
        learn(other, cases[-late - 1], y[-late - 1])
    if labels == "both":  # else cases without a label are learnt when their label would come, which nobody knows live
        assert [case.action == "review" for case in cases] == out.reviewed.tolist()
        assert [case.model for case in cases] == [NAMES[m] for m in out.model]
        assert other.health() == gate.health()
    ours, theirs = gate._monitor.watch, other._monitor.watch
    assert np.array_equal(ours.detectors, theirs.detectors, equal_nan=True)
    if labels == "both":
        assert np.array_equal(ours.models, theirs.models, equal_nan=True)
        assert vars(gate._monitor.totals) == vars(other._monitor.totals)


def test_blocks_of_any_size_give_the_same_bits():
    sure, said, y = broken_log()
    whole, _ = played("review", 50)
    gate = ab.Gate(NAMES, cost=0.2, thresholds=4, seed=0, on_alarm="review")
    with gate._playing(50) as play:
        for first in range(0, 2_000, 100):
            rows = slice(first, first + 100)
            play(block_of(sure[rows], said[rows], y[rows]))
    assert whole.health() == gate.health()
    assert np.array_equal(whole.learner.weights, gate.learner.weights)


def test_the_learner_sees_no_answer_of_a_model_in_alarm():
    """So the probability that the label is seen is the learner's own, and its estimates stay unbiased."""
    sure, said, y = broken_log(1_300)
    gate = ab.Gate(NAMES, cost=0.2, thresholds=4, seed=0, on_alarm="review", classes=list(range(5)))
    live(gate, sure, said, y, late=200)
    assert gate.health().alarms == ("b",)
    while not gate._monitor.watch.muted[1]:
        gate.decide(answers_of(sure, said, 0))
    peek, case = gate.peek(answers_of(sure, said, 5)), gate.decide(answers_of(sure, said, 5))
    assert (peek.action, peek.model, peek.probability) == (case.action, case.model, case.probability)
    assert case.decision.abstains.reshape(3, 4)[1].all()
    assert case.answers["b"] == said[5, 1]  # what it said is kept, for the label
    assert case.observed == pytest.approx(case.probability)


def test_labels_end_the_alarm_of_a_model_that_is_as_good_as_before():
    """The others get worse: one model agrees with nobody any more, but stays right."""
    n = 6_000
    sure, said, y = stream(n, accuracy=0.9, models=2)
    rng = np.random.default_rng(1)
    said[2_000:, 1] = rng.integers(0, 5, n - 2_000)
    gate = ab.Gate(["a", "b"], cost=0.2, thresholds=4, seed=0, on_alarm="review", labels="both")
    with gate._playing() as play:
        play(block_of(sure, said, y))
    assert gate.health().alarms == ("b",)
    assert gate.health().models[0].alarm is None


@pytest.mark.long
def test_a_capacity_is_kept_though_all_models_are_in_alarm():
    sure, said, y = stream(4_000, accuracy=0.9, models=2, broken=slice(2_000, None))
    gate = ab.Gate(["a", "b"], cost=0.2, thresholds=4, seed=0, on_alarm="review", capacity=0.1)
    with gate._playing(3_000) as play:
        out = play(block_of(sure, said, y))
    assert len(gate.health().alarms) == 2
    assert gate.learner.overdraft == 0
    assert out.reviewed.mean() <= 0.1 + 100 / 4_000
    again = ab.Gate(["a", "b"], cost=0.2, thresholds=4, seed=0, on_alarm="review", capacity=0.1)
    for i in range(2_500):
        again.decide({"a": (int(said[i, 0]), float(sure[i, 0])), "b": (int(said[i, 1]), float(sure[i, 1]))})
    assert again.learner.overdraft == 0


# Files, copies, models that come and go.


def test_a_gate_goes_on_from_its_file_to_the_bit(tmp_path):
    sure, said, y = broken_log(1_500)
    gate = ab.Gate(NAMES, cost=0.2, thresholds=4, seed=0, on_alarm="review", labels="both")
    live(gate, sure[:1_240], said[:1_240], y[:1_240])
    gate.save(tmp_path / "gate.abstain")
    others = [
        ab.load(tmp_path / "gate.abstain"),
        copy.deepcopy(gate),
        copy.copy(gate),
        pickle.loads(pickle.dumps(gate)),
    ]
    health = gate.health()
    assert health.alarms == ("b",)
    assert all(other.health() == health and other.on_alarm == "review" for other in others)
    live(gate, sure[1_240:], said[1_240:], y[1_240:])
    assert gate.health() != health
    for other in others:
        live(other, sure[1_240:], said[1_240:], y[1_240:])
        assert other.health() == gate.health()
        assert np.array_equal(other._monitor.watch.detectors, gate._monitor.watch.detectors, equal_nan=True)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("detectors", lambda one: one[:-1]),
        ("detectors", lambda one: -one),
        ("detectors", lambda one: one * 0.0),
        ("counts", lambda one: one.astype(np.float32)),
        ("models", lambda one: np.where(np.arange(16) == ALARM, 99.0, one)),
        ("heard", lambda one: one + 5.0),
        ("cases", lambda one: one.astype(float)),
    ],
)
def test_health_that_cannot_be_is_refused(tmp_path, name, change):
    sure, said, y = stream(70)
    gate = ab.Gate(NAMES, cost=0.2, thresholds=4, seed=0, labels="both")
    live(gate, sure, said, y)
    cases, arrays = gate._monitor.watch.to_file()
    with pytest.raises(InputError, match="health: expected"):
        Watch.from_file(3, 0.0, cases, {**arrays, name: change(arrays[name])})
    with pytest.raises(InputError, match="health: expected a number of cases"):
        Watch.from_file(3, 0.0, -1, arrays)


def test_a_file_without_health_is_refused(tmp_path):
    from abstain._core import files

    gate = ab.Gate(NAMES, cost=0.2, thresholds=4, seed=0)
    gate.save(tmp_path / "gate.abstain")
    header, arrays = files.read(tmp_path / "gate.abstain")
    header["gate"]["health"]["totals"]["reviewed"] = -1.0
    files.write(tmp_path / "other.abstain", header, arrays)
    with pytest.raises(FileError, match="damaged"):
        ab.load(tmp_path / "other.abstain")


def test_models_that_come_start_afresh_and_those_that_stay_keep_their_past():
    sure, said, y = stream(1_000)
    gate = ab.Gate(NAMES, cost=0.2, thresholds=4, seed=0, labels="both")
    live(gate, sure, said, y)
    before = {one.model: one for one in gate.health().models}
    gate.remove_model("b")
    gate.add_model("d")
    after = {one.model: one for one in gate.health().models}
    assert list(after) == ["a", "c", "d"]
    assert after["a"].answers_past == before["a"].answers_past
    assert after["a"].confidence == before["a"].confidence
    assert (after["d"].answers, after["d"].agreement, after["d"].labels) == (None, None, 0)
    pairs = _pairs(3)
    ours = gate._monitor.watch.detectors[9:]
    assert [not np.isnan(row[BOUND]) for row in ours] == [pair == (0, 1) for pair in pairs]
    for _ in range(FIRST):
        gate.decide({"a": (1, 0.9), "c": (1, 0.9), "d": (1, 0.9)})
    assert gate.health().models[2].agreement_past is None or gate.health().models[2].agreement == 1.0


def test_labels_of_cases_before_a_model_came_are_not_its_own():
    gate = ab.Gate(["a", "b"], cost=0.2, thresholds=4, seed=0, labels="both")
    old = [gate.decide({"a": ("x", 0.9), "b": ("x", 0.9)}) for _ in range(64)]
    gate.remove_model("b")
    gate.add_model("b")
    for case in old:
        gate.learn(case, "x")
    for _ in range(64):
        gate.decide({"a": ("x", 0.9)})
    assert [one.labels for one in gate.health().models] == [64, 0]


def test_a_log_to_start_from_is_the_past():
    sure, said, y = stream(1_000)
    frame = {"label": y.tolist()}
    for m, name in enumerate(NAMES):
        frame |= {name: said[:, m].astype(int).tolist(), f"{name}_confidence": sure[:, m].tolist()}
    gate = ab.Gate(NAMES, cost=0.2, thresholds=4, seed=0)
    gate.warm_start(frame)
    health = gate.health()
    assert health.cases == 0
    assert health.models[0].agreement_past == pytest.approx(np.mean(said[:, :1] == said[:, 1:]), abs=0.05)
    assert health.alarms == ()


def test_a_table_that_fails_leaves_everything_as_it_was():
    sure, said, y = stream(200)
    gate = ab.Gate(NAMES, cost=0.2, thresholds=4, seed=0, labels="both")
    live(gate, sure, said, y)
    before = gate.health()
    wrong = block_of(sure, said, y)
    wrong.losses[150] = 5.0
    with gate._playing() as play:
        play(block_of(sure, said, y))
    after = gate.health()
    assert after != before
    with pytest.raises(LabelError), gate._playing() as play:
        play(wrong)
    assert gate.health() == after


@pytest.mark.parametrize("late", [0, 100])
@pytest.mark.long
def test_a_combination_does_not_hear_a_model_in_alarm(late):
    """Single cases and tables agree, also in what is learnt."""
    sure, said, y = (part[:1_400] for part in broken_log())
    options = {"labels": "both", "combine": True}
    block = block_of(sure, said, y, truth=y)
    gate = ab.Gate(NAMES, cost=0.2, thresholds=4, seed=0, on_alarm="review", **options)
    with gate._playing(late) as play:
        out = play(block)
    other = ab.Gate(NAMES, cost=0.2, thresholds=4, seed=0, on_alarm="review", **options)
    cases = live(other, sure, said, y, late)
    if late > 0:
        learn(other, cases[-late - 1], y[-late - 1])
    assert [case.action == "review" for case in cases] == out.reviewed.tolist()
    assert [case.model for case in cases] == [[*NAMES, "combined"][m] for m in out.model]
    assert np.array_equal(other._combination.stacks.theta, gate._combination.stacks.theta)
    unheard = [case for case in cases if UNHEARD in case.lesson[:3]]
    assert gate.health().muted == other.health().muted == len(unheard) > 200
    assert all(case.lesson[1] == UNHEARD and case.lesson[0] >= 0.0 for case in unheard)
    assert all(case.answers["combined"] in (case.answers["a"], case.answers["c"]) for case in unheard)
    assert any(case.answers["combined"] != case.answers["a"] for case in unheard)
    assert any(case.model == "combined" and case.action == "answer" for case in unheard)


def test_a_combination_says_nothing_while_half_of_the_models_are_in_alarm():
    gate = ab.Gate(NAMES, cost=0.2, combine=True, on_alarm="review", seed=0)
    answers = {"a": ("x", 0.9), "b": ("y", 0.8), "c": ("y", 0.7)}
    gate._monitor.watch.any = True
    gate._monitor.watch.muted = [False, True, False]
    assert gate.peek(answers).answers["combined"] in ("x", "y")
    assert gate.peek({**answers, "c": None}).answers["combined"] == "x"
    gate._monitor.watch.muted = [False, True, True]
    case = gate.peek(answers)
    assert (case.answers["combined"], case.lesson) == (None, ())
    gate._monitor.watch.muted = [True, False, False]
    case = gate.peek({"a": ("z", 0.99), "b": ("x", 0.6), "c": ("y", 0.55)})
    assert case.answers["combined"] == "x"  # not z, which only the model in alarm says

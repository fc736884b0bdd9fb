"""The gate: cases, prices, labels, files."""

import copy
import json
import pickle
import threading
from dataclasses import fields, replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain.errors import AbstainError, DecisionError, FileError, InputError, LabelError
from abstain.gate.frames import Block

from ..instances import LONG, games

SAID = {"gbm": ("spam", 0.93), "logreg": ("ham", 0.61), "rules": None}


def three(**options):
    return ab.Gate(["gbm", "logreg", "rules"], **{"cost": 0.2, "seed": 0, **options})


def random_answers(rng, models, classes=("ham", "spam")):
    """Answers as people give them, and a truth."""
    said = {m: (str(rng.choice(classes)), float(rng.random())) if rng.random() < 0.8 else None for m in models}
    return said, str(rng.choice(classes))


def first(gate, action, said=SAID):
    """The first case of that kind."""
    for _ in range(500):
        case = gate.decide(said)
        if case.action == action:
            return case
    raise AssertionError(f"never {action}")


def test_case_says_what_the_model_said():
    gate = three()
    seen = set()
    for _ in range(300):
        case = gate.decide(SAID)
        seen.add(case.action)
        assert case.review_price == 0.2
        assert 0.0 <= case.probability <= 1.0
        assert case.answers == {"gbm": "spam", "logreg": "ham", "rules": None}
        if case.action == "answer":
            answer, confidence = SAID[case.model]
            assert (case.answer, case.confidence) == (answer, confidence)
            assert confidence > case.threshold
            gate.learn(case, "spam")
        else:
            assert case.answer is None
            said = SAID[case.model]
            assert said is None or case.threshold is None or said[1] <= case.threshold
    assert seen == {"answer", "review"}
    assert gate.round == 300
    assert gate.pending == ()


def test_thresholds_of_always_and_never():
    gate = three(thresholds=2)
    found = {(gate.decide(SAID).threshold) for _ in range(100)}
    assert found == {-1.0, None}
    assert gate.thresholds.tolist() == [[-1.0, 1.0]] * 3


def test_a_case_without_answers_goes_to_review():
    gate = three(thresholds=2)
    for said in ({}, dict.fromkeys(gate.models), {"gbm": float("nan"), "logreg": (None, 0.9), "rules": ("x", None)}):
        case = gate.decide(said)
        assert (case.action, case.answer, case.confidence, case.probability) == ("review", None, None, 0.0)


def test_certain_of_everything():
    gate = three(thresholds=2)
    case = first(gate, "answer", dict.fromkeys(gate.models, ("spam", 1.0)))
    assert case.threshold == -1.0


@pytest.mark.parametrize(
    ("task", "said", "why"),
    [
        ("classes", {"gbm": ("spam", 1.7)}, "gbm: expected a confidence in"),
        ("classes", {"gbm": ("spam", -0.1)}, "gbm: expected a confidence in"),
        ("classes", {"gbm": "spam"}, "gbm: expected an answer and a confidence"),
        ("classes", {"gbm": 0.7}, "gbm: expected an answer and a confidence"),
        ("classes", {"gbm": (["a"], 0.7)}, "gbm: expected a text or a whole number"),
        ("classes", {"gmb": ("spam", 0.7)}, "expected the models gbm"),
        ("classes", [("spam", 0.7)], "expected a dictionary"),
        ("binary", {"logreg": -2.3}, "logreg: expected the probability of 1, in"),
        ("binary", {"logreg": 1.01}, "logreg: expected the probability"),
        ("binary", {"logreg": (7, 0.6)}, "logreg: expected one of"),
        ("number", {"rules": (float("inf"), 0.6)}, "rules: expected a finite number"),
        ("number", {"rules": (1.0, -0.6)}, "rules: expected an expected error of 0 or more"),
        ("number", {"rules": 1.0}, "rules: expected an answer and its expected error"),
    ],
)
def test_answers_outside_their_range_are_refused_with_the_models_name(task, said, why):
    gate = three(task=task)
    before = gate.learner.contents()[0], gate._tally.counts.copy()
    with pytest.raises(InputError, match=why):
        gate.decide(said)
    assert gate.learner.contents()[0] == before[0]
    assert (gate._tally.counts == before[1]).all()


def test_probability_of_the_second_class():
    gate = ab.Gate(["m"], cost=0.2, task="binary", classes=("ham", "spam"), thresholds=2, seed=0)
    for p, answer, confidence in ((0.9, "spam", 0.9), (0.2, "ham", 0.8), (0.5, "spam", 0.5), (1, "spam", 1.0)):
        case = first(gate, "answer", {"m": p})
        assert (case.answer, case.confidence) == (answer, confidence)


def test_numbers_and_their_expected_errors():
    gate = ab.Gate(["m"], review_price=1.0, mistake_price=10.0, task="number", max_error=4.0, thresholds=2, seed=0)
    case = first(gate, "answer", {"m": (12.5, 1.0)})
    assert (case.answer, case.confidence, gate.unit) == (12.5, 0.75, 10.0)
    gate.learn(case, 14.5)
    with pytest.raises(LabelError, match="finite number"):
        gate.learn(first(gate, "answer", {"m": (12.5, 1.0)}), "14")


@pytest.mark.parametrize(
    ("answer", "label", "expected"), [("1", 1, "a text"), (1, "1", "a number"), ("a", True, "a text")]
)
def test_a_label_of_another_kind_than_all_answers_is_refused(answer, label, expected):
    gate = ab.Gate(["m"], cost=0.2, thresholds=2, seed=0)
    case = first(gate, "answer", {"m": (answer, 0.9)})
    with pytest.raises(LabelError, match=f"label: expected {expected}, as the answers are"):
        gate.learn(case, label)
    gate.learn(case, answer)
    with pytest.raises(LabelError, match=f"row 0: label: expected {expected}"):
        gate.warm_start(pl.DataFrame({"m": [answer, answer], "m_confidence": [0.9, 0.8], "label": [label, label]}))


def losses_told(gate, said, label, **options):
    """What the learner is told of each model."""
    told = []
    vars(gate.learner)["learn"] = lambda decision, losses: told.append(losses)
    gate.learn(first(gate, "answer", said) if not options else decided(gate, said, **options), label)
    return told[0]


def decided(gate, said, **options):
    while True:
        case = gate.decide(said, **options)
        if case.action == "answer":
            return case


def test_prices_of_mistakes():
    kinds = {("spam", "ham"): 9, "other": 1}
    assert losses_told(three(), SAID, "ham") == [1.0, 0.0, 0.0]
    gate = three(cost=None, review_price=0.5, mistake_price=kinds)
    assert (gate.unit, gate.review_price) == (9.0, 0.5)
    assert gate.learner.cost.value == pytest.approx(0.5 / 9)
    assert losses_told(gate, SAID, "ham") == [1.0, 0.0, 0.0]
    assert losses_told(three(cost=None, review_price=0.5, mistake_price=kinds), SAID, "spam") == [
        0.0,
        pytest.approx(1 / 9),
        0.0,
    ]
    assert losses_told(three(cost=None, review_price=0.5, mistake_price=kinds), SAID, "eggs") == [
        pytest.approx(1 / 9)
    ] * 2 + [0.0]


def test_prices_of_both_kinds_of_mistakes():
    """With two classes there are no others."""
    both = {("a", "b"): 80, ("b", "a"): 10}
    gate = ab.Gate(["m"], review_price=5.0, mistake_price=both, classes=["a", "b"], thresholds=2, seed=0)
    assert gate.unit == 80.0
    assert losses_told(gate, {"m": ("b", 0.9)}, "a") == [0.125]
    for classes, mistake in ((None, both), (["a", "b", "c"], both), (["a", "b"], {("a", "b"): 80})):
        with pytest.raises(InputError, match='a price for "other"'):
            ab.Gate(["m"], review_price=5.0, mistake_price=mistake, classes=classes)


def test_the_sentence_does_not_round_a_threshold_to_one(monkeypatch):
    for level, options, words in (
        (0.9982, {}, "above confidence 0.9982"),
        (0.36, {"task": "number", "max_error": 10.0}, "below an expected error of 6.4"),
    ):
        gate = ab.Gate(["m"], cost=0.2, thresholds=[level], labels="both", seed=0, **options)
        gate.learn(gate.decide({"m": (1, 0.9)}), 1)
        monkeypatch.setattr(type(gate.learner), "weights", np.array([0.0, 1.0, 0.0]))
        assert words in str(gate)


def test_stakes():
    gate = three(cost=None, review_price=20.0, max_stake=1000.0)
    assert gate.learner.cost.value == 0.02
    assert losses_told(gate, SAID, "ham", stake=120.0) == [0.12, 0.0, 0.0]
    for wrong in (None, -1.0, 1000.1, float("nan"), "much"):
        with pytest.raises(InputError, match="stake: expected a number from 0 to 1000"):
            gate.decide(SAID, stake=wrong)
    with pytest.raises(InputError, match="without max_stake"):
        three().decide(SAID, stake=1.0)


def test_the_threshold_follows_the_stake():
    gate = three(cost=None, review_price=20.0, max_stake=1000.0)
    for stake in (1000.0, 500.0, 30.0):
        for _ in range(100):
            case = gate.decide(SAID, stake=stake)
            if case.confidence is not None and case.threshold is not None:
                assert (case.confidence > case.threshold) == (case.action == "answer")
    answered = {s: np.mean([gate.peek(SAID, stake=s).probability]) for s in (1000.0, 30.0)}
    assert answered[30.0] > answered[1000.0]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"cost": None}, "either cost, or review_price"),
        ({"cost": 0.2, "review_price": 1.0}, "either cost, or review_price"),
        ({"cost": 0.2, "mistake_price": 2.0}, "expected review_price="),
        ({"cost": 1.2}, "cost: expected at most 1"),
        ({"cost": -0.1}, "cost: expected a price of 0 or more"),
        ({"cost": None, "review_price": 1.0, "mistake_price": 0.0}, "mistake_price: expected a price above 0"),
        ({"cost": None, "review_price": 1.0, "mistake_price": {("a", "b"): 2}}, 'a price for "other"'),
        ({"cost": None, "review_price": 1.0, "mistake_price": {"ab": 2, "other": 1}}, "expected pairs"),
        ({"cost": None, "review_price": 1.0, "mistake_price": {("a", "a"): 2, "other": 1}}, "expected pairs"),
        (
            {"cost": None, "review_price": 1.0, "mistake_price": {("a", "b"): 2, "other": 1}, "task": "number"},
            "one price",
        ),
        ({"labels": "all"}, "labels: expected one of answered, reviewed, both"),
        ({"labels": (0, 0)}, "labels: expected one of answered, reviewed, both, or two probabilities"),
        ({"learner": dict}, "learner: expected one that takes"),
        ({"learner": ab.UCBGT, "labels": "both"}, "labels: UCBGT takes no feedback but that of predictions"),
        ({"learner": ab.ContExp3Abs}, "learner: expected one that takes the gate's experts"),
        ({"learner": ab.FullSupervision}, "FullSupervision needs the labels of all cases"),
        ({"task": "other"}, "task: expected one of"),
        ({"classes": ["a"]}, "classes: expected two or more"),
        ({"task": "binary", "classes": ["a", "b", "c"]}, "classes: expected two"),
        ({"thresholds": 1}, "thresholds"),
        ({"thresholds": [1.5]}, "thresholds: expected numbers in"),
        ({"thresholds": "many"}, 'or "quantiles"'),
        ({"max_error": 0.0}, "max_error"),
        ({"learner": "UCB"}, "learner: expected a class of learner"),
        ({"learner": lambda *a, **k: None}, "learner: expected a class of learner"),
    ],
)
def test_bad_options_are_refused(options, why):
    with pytest.raises(InputError, match=why):
        three(**options)


@pytest.mark.parametrize("models", [[], "gbm", ["a", "a"], [""], [1], None])
def test_bad_names_are_refused(models):
    with pytest.raises(InputError, match="models: expected a list of different names"):
        ab.Gate(models, cost=0.2)


@pytest.mark.parametrize("models", [["label"], ["a", "stake"], ["time"], ["a", "a_confidence"], ["a_error", "a"]])
def test_names_of_other_columns_are_refused(models):
    with pytest.raises(InputError, match="is the name of another column of frames"):
        ab.Gate(models, cost=0.2)


def test_which_labels_come_back():
    for labels, taken in (("answered", {"answer"}), ("reviewed", {"review"}), ("both", {"answer", "review"})):
        gate = three(labels=labels)
        for action in ("answer", "review"):
            case = first(gate, action)
            if action in taken:
                gate.learn(case, "ham")
            else:
                with pytest.raises(DecisionError, match='labels="both" learns from either'):
                    gate.learn(case, "ham")


def test_sources_of_labels():
    gate = three(labels="both")
    gate.learn(first(gate, "answer"), "ham", source="outcome")
    gate.learn(first(gate, "answer"), "ham", source="audit")
    gate.learn(first(gate, "review"), "ham", source="review")
    gate.learn(first(gate, "review"), "ham", source="outcome")
    case = first(gate, "answer")
    for source, error in (("review", DecisionError), ("gossip", InputError), (3, InputError)):
        with pytest.raises(error, match="source"):
            gate.learn(case, "ham", source=source)
    with pytest.raises(DecisionError, match="source"):
        gate.learn(first(gate, "review"), "ham", source="audit")
    gate.learn(case, "ham")


def test_labels_by_chance_may_fail_to_come():
    gate = three(labels=(1.0, 0.1))
    gate.forget(first(gate, "review"))
    gate.learn(first(gate, "review"), "ham", source="review")


def test_a_label_is_learnt_once_and_late():
    gate = three()
    cases = [first(gate, "answer") for _ in range(5)]
    assert gate.pending == tuple(case.round for case in cases)
    for case in reversed(cases):
        gate.learn(case.to_json(), "ham")
    with pytest.raises(DecisionError, match="learnt before"):
        gate.learn(cases[0], "ham")
    with pytest.raises(DecisionError, match="expected a Case"):
        gate.learn({"id": cases[0].id}, "ham")
    with pytest.raises(FileError, match="case: expected JSON"):
        gate.learn("{}", "ham")


def test_a_case_stored_with_its_keys_in_another_order_teaches_the_same():
    gates = [ab.Gate(["gbm", "a"], cost=0.2, labels="both", seed=0) for _ in range(2)]
    for _ in range(50):
        for gate, ordered in zip(gates, (False, True), strict=True):
            case = gate.decide({"gbm": ("x", 0.9), "a": ("y", 0.9)})
            gate.learn(json.dumps(json.loads(case.to_json()), sort_keys=ordered), "x")
    assert gates[0].policy().equals(gates[1].policy())
    assert gates[0].policy().row(0)[0] == "gbm"


def test_a_case_cannot_be_changed():
    case = three().decide(SAID)
    with pytest.raises(TypeError):
        case.answers["gbm"] = "ham"
    with pytest.raises(AttributeError):
        case.answer = "ham"


def test_peek_changes_nothing_and_cannot_be_learnt():
    gate = three()
    peeked = gate.peek(SAID)
    assert gate.round == 0
    assert gate._tally.counts.sum() == 0
    case = gate.decide(SAID)
    assert (peeked.action, peeked.model, peeked.threshold) == (case.action, case.model, case.threshold)
    assert peeked.id is None
    with pytest.raises(DecisionError, match="got one of `peek`"):
        gate.learn(peeked, "ham")


def test_a_changed_case_is_refused():
    gate = three()
    case = first(gate, "answer")
    content = json.loads(case.to_json())
    changed = {
        "action": "review", "answer": "eggs", "model": "rules", "threshold": 0.123, "confidence": 0.5,
        "review_price": 0.1, "probability": 0.5, "stake": 3.0, "over_capacity": True, "explored": not case.explored,
        "answers": [["gbm", "ham"]], "confidences": [["gbm", 0.123]], "time": 5.0, "lesson": [0.5], "digest": "0" * 64,
    }  # fmt: skip
    assert changed.keys() | {"decision", "format"} == content.keys()
    for name, value in changed.items():
        with pytest.raises((DecisionError, FileError)):
            gate.learn(json.dumps({**content, name: value}), "ham")
    for name in content:
        with pytest.raises((DecisionError, FileError)):
            gate.learn(json.dumps({k: v for k, v in content.items() if k != name}), "ham")
    with pytest.raises(DecisionError, match="was changed"):
        gate.learn(replace(case, answer="ham"), "ham")
    other = first(gate, "answer")
    swapped = {**content, "decision": json.loads(other.to_json())["decision"]}
    with pytest.raises(DecisionError, match="was changed"):
        gate.learn(json.dumps(swapped), "ham")
    with pytest.raises(DecisionError, match="of another"):
        three().learn(case, "ham")
    gate.learn(case, "ham")
    assert {one.name for one in fields(case)} - {"_sign"} <= content.keys()


def play(gate, rng, n, log=None):
    done = []
    for _ in range(n):
        said, label = random_answers(rng, gate.models)
        case = gate.decide(said)
        done.append((case.action, case.answer, case.model, case.threshold, case.probability))
        if case.action == "answer":
            gate.learn(case, label)
    return done


@pytest.mark.parametrize("how", ["file", "pickle", "copy"])
def test_saved_gates_go_on_alike(tmp_path, how):
    gate = three(cost=None, review_price=1.0, mistake_price={("spam", "ham"): 9, "other": 2}, labels="answered")
    rng = np.random.default_rng(0)
    play(gate, rng, 50)
    late = first(gate, "answer")
    if how == "file":
        gate.save(tmp_path / "gate.abstain")
        twin = ab.load(tmp_path / "gate.abstain")
    else:
        twin = copy.deepcopy(gate) if how == "copy" else pickle.loads(pickle.dumps(gate))
    assert isinstance(twin, ab.Gate)
    assert (twin.models, twin.unit, twin.review_price, twin.labels) == (gate.models, 9.0, 1.0, gate.labels)
    twin.learn(late, "ham")  # a case that is still in memory
    gate.learn(late.to_json(), "ham")
    assert play(gate, np.random.default_rng(1), 50) == play(twin, np.random.default_rng(1), 50)
    assert gate.policy().equals(twin.policy())
    assert str(gate) == str(twin)


def test_a_damaged_file_of_a_gate(tmp_path):
    from abstain._core import files

    gate = three(labels="both")
    play(gate, np.random.default_rng(0), 5)
    gate.save(tmp_path / "a")
    header, arrays = files.read(tmp_path / "a")
    kept = header["gate"]
    bad = [
        {**kept, "models": ["gbm"]}, {**kept, "models": "gbm"}, {**kept, "task": "x"}, {**kept, "classes": ["a"]},
        {**kept, "max_error": 0}, {**kept, "prices": {}}, {**kept, "labels": "x"}, {**kept, "last_time": 0.5}, [], 3,
        {k: v for k, v in kept.items() if k != "labels"}, {**kept, "prices": {**kept["prices"], "review": 7.0}},
        {**kept, "prices": {**kept["prices"], "mistake": {"kinds": [["a"]], "other": 1}}},
        {**kept, "labels": "answered"}, {**kept, "time_kind": "days"}, {**kept, "time_kind": "seconds"},
        {**kept, "prices": {**kept["prices"], "review": 0.1}},
    ]  # fmt: skip
    for one in bad:
        files.write(tmp_path / "b", {**header, "gate": one}, arrays)
        with pytest.raises(FileError, match="damaged"):
            ab.load(tmp_path / "b")
    for counts in (None, -arrays["gate.counts"], arrays["gate.counts"][:1], arrays["gate.counts"].astype(float)):
        given = {k: v for k, v in arrays.items() if k != "gate.counts"}
        changed = {} if counts is None else {"gate.counts": counts - (counts == 0)}
        files.write(tmp_path / "b", header, {**given, **changed})
        with pytest.raises(FileError, match="damaged"):
            ab.load(tmp_path / "b")


def test_many_threads():
    gate = three(labels="both")
    ids, errors = [], []

    def work(seed):
        rng = np.random.default_rng(seed)
        try:
            for _ in range(200):
                said, label = random_answers(rng, gate.models)
                case = gate.decide(said)
                ids.append(case.id)
                gate.learn(case, label)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(set(ids)) == gate.round == 800
    assert gate.pending == ()
    assert gate._tally.counts.sum() == 800 * 3


def test_another_price_from_now_on():
    gate = three(cost=None, review_price=1.0, mistake_price=5.0)
    first(gate, "review")
    gate.review_price = 2.0
    assert gate.decide(SAID).review_price == gate.review_price == 2.0
    assert gate.learner.cost.value == 0.4
    with pytest.raises(InputError, match="at most 5"):
        gate.review_price = 6.0
    assert gate.review_price == 2.0


def test_sentence_and_policy():
    gate = three()
    assert str(gate) == "follows gbm, logreg, rules; has decided nothing yet"
    for _ in range(600):
        case = gate.decide({"gbm": ("spam", 0.93), "logreg": ("ham", 0.61), "rules": ("ham", 0.5)})
        if case.action == "answer":
            gate.learn(case, "spam")
    policy = gate.policy()
    assert policy.columns == ["model", "threshold", "weight", "price", "share"]
    assert policy["weight"].sum() == pytest.approx(1.0)
    best = policy.row(0, named=True)
    assert best["model"] == "gbm"
    assert best["threshold"] < 0.93
    assert best["share"] == 1.0
    assert policy.filter(pl.col("threshold").is_null())["share"].to_list() == [0.0] * 3
    assert str(gate).startswith("answers with gbm ")
    assert " 100 % of cases" in str(gate)


@pytest.mark.long
def test_any_learner():
    for kind in (ab.UCBGT, ab.Exp3Abs, lambda *a, **k: ab.UCBNT(*a, graph="subset", **k)):
        gate = three(learner=kind)
        play(gate, np.random.default_rng(0), 30)
        assert gate.policy().height == 144
        assert isinstance(str(gate), str)


def as_frame(rng, n, models=("gbm", "logreg")):
    table = {}
    for m in models:
        table[m] = rng.choice(["ham", "spam", None], n, p=[0.4, 0.4, 0.2]).tolist()
        table[f"{m}_confidence"] = rng.random(n).tolist()
    table["label"] = rng.choice(["ham", "spam"], n).tolist()
    return table


@pytest.mark.parametrize("kind", ["polars", "pandas", "dict"])
def test_many_at_once_are_the_same_as_one_by_one(kind):
    table = as_frame(np.random.default_rng(0), 60)
    frame = table
    if kind == "polars":
        frame = pl.DataFrame(table)
    elif kind == "pandas":
        frame = pytest.importorskip("pandas").DataFrame(table)
    one, many = (ab.Gate(["gbm", "logreg"], cost=0.2, seed=3) for _ in range(2))
    found = many.decide_many(frame)
    for i, row in enumerate(found.iter_rows(named=True)):
        said = {m: (table[m][i], table[f"{m}_confidence"][i]) for m in one.models}
        case = one.decide(said)
        for name in (
            "action",
            "answer",
            "model",
            "threshold",
            "confidence",
            "probability",
            "review_price",
            "over_capacity",
        ):
            assert row[name] == getattr(case, name), name
    answered = found.filter(action="answer").row(0, named=True)
    many.learn(answered["case"], "ham")
    assert answered["id"] == ab.Case.from_json(answered["case"]).id


def test_frames_of_decisions_can_be_stacked():
    for task, answers, kind in (
        ("classes", ["x"], pl.String),
        ("number", [1.0], pl.Float64),
        ("classes", [3], pl.Int64),
    ):
        gate = ab.Gate(["a"], cost=0.2, task=task, thresholds=2, seed=0)
        sure = "a_error" if task == "number" else "a_confidence"
        frames = [gate.decide_many({"a": answers * n, sure: [0.5] * n}) for n in (1, 20)]
        assert pl.concat(frames).height == 21
        assert frames[1].schema["answer"] == kind
    assert gate.decide_many({"a": [], "a_confidence": []}).height == 0


def test_a_bad_row_leaves_the_gate_as_it_was():
    gate = ab.Gate(["a"], cost=0.2, seed=0)
    with pytest.raises(InputError, match="row 1: a: expected a confidence"):
        gate.decide_many({"a": ["x", "y"], "a_confidence": [0.5, 1.5]})
    assert (gate.round, gate._tally.counts.sum()) == (0, 0)
    for frame, why in (({"a": ["x"]}, "a_confidence"), (3, "frame"), ({"a": ["x"], "a_confidence": []}, "one length")):
        with pytest.raises(InputError, match=why):
            gate.decide_many(frame)


def test_warm_start_learns_from_a_log():
    rng = np.random.default_rng(0)
    n = 2000
    confidence = rng.random(n)
    right = rng.random(n) < confidence
    log = {"a": np.where(right, "x", "y").tolist(), "a_confidence": confidence.tolist(), "label": ["x"] * n}
    gate = ab.Gate(["a"], cost=0.2, seed=0)
    gate.warm_start(log)
    assert 0.6 < gate.policy().row(0, named=True)["threshold"] < 0.95
    assert gate.round == 0
    assert str(gate).startswith("answers with a above confidence 0.")
    gate.decide({})
    with pytest.raises(InputError, match="before its first case, got one after 1"):
        gate.warm_start(log)
    with pytest.raises(LabelError, match="row 1: label"):
        ab.Gate(["a"], cost=0.2, classes=["x", "y"]).warm_start({**log, "label": ["x"] + ["z"] * (n - 1)})


def test_quantiles_come_from_the_log():
    rng = np.random.default_rng(0)
    log = as_frame(rng, 500)
    gate = ab.Gate(["gbm", "logreg"], cost=0.2, thresholds="quantiles", seed=0)
    for use in (lambda: gate.decide({}), gate.policy):
        with pytest.raises(InputError, match="expected warm_start first"):
            use()
    assert str(gate) == "follows gbm, logreg; has decided nothing yet"
    assert gate.round == 0
    gate.warm_start(log)
    known = [c for c, a in zip(log["gbm_confidence"], log["gbm"], strict=True) if a is not None]
    assert gate.thresholds[0, 1:-1].min() >= min(known)
    assert np.isin(gate.thresholds[0, 1:-1], known).all()
    play(gate, rng, 20)


@games(300)
@given(data=st.data())
@pytest.mark.long
def test_playing_blocks_is_deciding_and_learning(data):
    seed = data.draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    n, models = data.draw(st.integers(1, 40)), ["a", "b"]
    labels, delay = data.draw(st.sampled_from(["answered", "reviewed", "both"])), data.draw(st.integers(0, 5))
    later, two = data.draw(st.booleans()) and labels == "both", data.draw(st.booleans())
    classes = (0, 1) if two else ("x", "y", "z")
    options = {"max_stake": 10.0, "cost": None, "review_price": 2.0} if data.draw(st.booleans()) else {"cost": 0.2}
    options |= {"capacity": 0.3} if LONG and data.draw(st.booleans()) else {}
    options |= {"labels": labels, "seed": seed, "thresholds": 5, "task": "binary" if two else "classes"}
    options |= {} if later else {"maturity": delay or None}  # live, how late labels are is not known at first
    one, other = (ab.Gate(models, **options) for _ in range(2))
    answers = [[classes[i] for i in rng.integers(0, len(classes), 2)] for _ in range(n)]
    confidence = rng.random((n, 2)).round(1)
    confidence[rng.random((n, 2)) < 0.2] = np.nan
    truth = [classes[i] for i in rng.integers(0, len(classes), n)]
    stakes = rng.choice([1.0, 5.0, 10.0], n) if "max_stake" in options else None
    due = np.arange(n) + 1 + (rng.integers(0, 6, n) if later else delay)
    played = []
    wrong = np.array([[a != true for a in row] for row, true in zip(answers, truth, strict=True)])
    losses = np.where(np.isnan(confidence), 0.0, wrong * 1.0)
    said = np.array([[1.0 if a == classes[1] else -1.0 for a in row] for row in answers]) if two else None
    if stakes is not None:
        losses = losses * (stakes / 10.0)[:, np.newaxis]
    cut = data.draw(st.integers(0, n))
    with one._playing(delay, later) as play_block:
        for rows in (slice(0, cut), slice(cut, n)):
            if rows.stop > rows.start:
                at_stake = None if stakes is None else np.repeat(stakes[rows, np.newaxis], 2, axis=1) / 10.0
                signs, when = None if said is None else said[rows], due[rows] if later else None
                part = play_block(Block(confidence[rows], losses[rows], signs, at_stake, None, when))
                played += list(zip(*(part[k] for k in (0, 1, 3, 4, 5, 6)), strict=True))
    waiting = {}
    for i in range(n):
        for j in sorted((j for j in waiting if due[j] <= i), key=lambda j: (due[j], j)):
            other.learn(*waiting.pop(j))
        case = other.decide(
            {m: (a, None if np.isnan(c) else c) for m, a, c in zip(models, answers[i], confidence[i], strict=True)},
            stake=None if stakes is None else float(stakes[i]),
        )
        reviewed, model, threshold, loss, forced, explored = played[i]
        assert (case.over_capacity, case.explored) == (forced, explored)
        assert (case.action == "review") == reviewed
        assert case.model == models[model]
        assert (1.0 if case.threshold is None else case.threshold) == threshold
        assert loss == (other.learner.cost.value if reviewed else losses[i, model])
        if labels in ("both", "reviewed" if reviewed else "answered"):
            waiting[i] = case, truth[i]
    for j in sorted((j for j in waiting if due[j] <= n), key=lambda j: (due[j], j)):
        other.learn(*waiting.pop(j))
    assert one.pending == other.pending == tuple(j + 1 for j in sorted(waiting))
    assert one.learner._backlog.rounds() == other.learner._backlog.rounds()
    assert np.array_equal(one.learner.weights, other.learner.weights)
    assert np.array_equal(one._tally.counts, other._tally.counts)


def test_an_error_while_playing_changes_nothing():
    gate = three(thresholds=4)
    block = Block(np.full((10, 3), 0.5), np.zeros((10, 3)))
    before = gate.learner.contents()[0]["random"]
    with pytest.raises(LabelError, match="losses"), gate._playing() as play_block:  # noqa: PT012
        play_block(block)
        play_block(block._replace(losses=np.full((10, 3), 2.0)))
    assert (gate.round, gate._tally.counts.sum()) == (0, 0)
    assert gate.learner.contents()[0]["random"] == before


def weights_of(gate):
    """By model and threshold."""
    return {(row["model"], row["threshold"]): row["weight"] for row in gate.policy().iter_rows(named=True)}


def test_a_newcomer_starts_with_the_weight_of_the_average_and_nothing_else_changes():
    gate = three(learner=ab.Exp3Abs, labels="both")
    rng = np.random.default_rng(0)
    for _ in range(200):
        said, label = random_answers(rng, gate.models)
        gate.learn(gate.decide(said), "ham" if said["gbm"] is None else said["gbm"][0])
    late, before, price = first(gate, "answer"), weights_of(gate), gate.review_price
    gate.add_model("llm")
    after = weights_of(gate)
    assert gate.models == ["gbm", "logreg", "rules", "llm"]
    stay = {key: weight for key, weight in after.items() if key[0] != "llm"}
    come = [weight for key, weight in after.items() if key[0] == "llm"]
    assert np.allclose(come, 1.0 / 192, rtol=1e-9)
    assert all(weight / sum(stay.values()) == pytest.approx(before[key], rel=1e-9) for key, weight in stay.items())
    assert gate.review_price == price
    gate.learn(late, "ham")  # decided when there were three
    for _ in range(50):
        said, label = random_answers(rng, gate.models)
        gate.learn(gate.decide(said), label)
    assert gate._tally.counts[3].sum() == 50


def test_a_retired_model_is_followed_no_more(tmp_path):
    gate = three(learner=ab.Exp3Abs, labels="both")
    rng = np.random.default_rng(0)
    for _ in range(100):
        said, label = random_answers(rng, gate.models)
        gate.learn(gate.decide(said), label)
    case, before = first(gate, "answer"), weights_of(gate)
    gate.remove_model("gbm")
    after = weights_of(gate)
    left = sum(weight for (model, _), weight in before.items() if model != "gbm")
    assert after.keys() == {key for key in before if key[0] != "gbm"}
    assert all(weight == pytest.approx(before[key] / left, rel=1e-9) for key, weight in after.items())
    gate.save(tmp_path / "gate.abstain")
    for one in (gate, ab.load(tmp_path / "gate.abstain")):
        one.learn(case.to_json(), "ham")
        assert {one.decide({"logreg": ("ham", 0.9)}).model for _ in range(50)} == {"logreg", "rules"}
        with pytest.raises(InputError, match="expected the models logreg, rules"):
            one.decide(SAID)
    gate.add_model("gbm")
    assert gate.decide(SAID).answers.keys() == {"logreg", "rules", "gbm"}


def test_models_that_cannot_come_or_go():
    gate = three()
    for name, why in (
        ("gbm", "a new name"),
        ("", "different names"),
        (3, "different names"),
        ("time", "another column"),
    ):
        with pytest.raises(InputError, match=why):
            gate.add_model(name)
    with pytest.raises(InputError, match="expected one of gbm"):
        gate.remove_model("llm")
    alone = ab.Gate(["a"], cost=0.2)
    with pytest.raises(InputError, match="beside the last"):
        alone.remove_model("a")
    fixed = three(learner=ab.UCBGT)
    with pytest.raises(InputError, match="UCBGT"):
        fixed.add_model("llm")
    assert (gate.models, fixed.models) == (["gbm", "logreg", "rules"],) * 2


def refused_logs():
    """Logs from which a gate cannot start warm, and what to say of them."""
    sure, said = [0.1, 0.5, 0.9], ["x"] * 3
    good = {"a": said, "a_confidence": sure, "b": said, "b_confidence": sure, "label": said}
    return [
        (good, {"learner": ab.UCB}, "UCB learns from rounds that it decided on alone"),
        ({**good, "b": [None] * 3, "b_confidence": [None] * 3}, {"thresholds": "quantiles"}, "got none of 'b'"),
        (good, {"thresholds": "quantiles", "learner": ab.UCB}, "UCB learns from rounds that it decided on alone"),
        (good, {"thresholds": "quantiles", "learner": ab.UCB, "start": ("a", 0.5)}, "start: UCB has none"),
        ({name: [] for name in good}, {"thresholds": 8, "combine": True}, "one row a round"),
        ({**good, "label": ["x", "x", None]}, {"combine": True}, "row 2: label"),
    ]


@pytest.mark.parametrize(("log", "options", "why"), refused_logs())
def test_a_failed_warm_start_changes_nothing(log, options, why, tmp_path):
    gate = ab.Gate(["a", "b"], **{"cost": 0.2, "seed": 0, **options})
    fixed = options.get("thresholds") != "quantiles"
    if fixed:
        gate.save(tmp_path / "before")
    with pytest.raises(AbstainError, match=why):
        gate.warm_start(log)
    if fixed:
        gate.save(tmp_path / "after")
        assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()
        gate.decide({})
        return
    with pytest.raises(InputError, match="expected warm_start first"):
        gate.decide({})
    assert str(gate).endswith("has decided nothing yet")


def test_an_error_or_ctrl_c_in_the_middle_of_a_warm_start_changes_nothing(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    for stop in (InputError("no"), KeyboardInterrupt()):
        gate = ab.Gate(["gbm", "logreg"], cost=0.2, combine=True, seed=0)
        gate.warm_start(as_frame(rng, 50))
        gate.save(tmp_path / "before")
        with monkeypatch.context() as patch:
            patch.setattr(ab.DoublyRobust, "see", lambda *arguments, stop=stop: (_ for _ in ()).throw(stop))
            with pytest.raises(type(stop)):
                gate.warm_start(as_frame(rng, 50))
        gate.save(tmp_path / "after")
        assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()


def test_a_frame_that_is_refused_changes_nothing(tmp_path):
    gate = three()
    gate.decide(SAID)
    gate.save(tmp_path / "before")
    with pytest.raises(InputError, match="row 1: gbm: expected a confidence"):
        gate.decide_many({f"{m}{end}": [one] * 2 for m in gate.models for end, one in (("", "x"), ("_confidence", 0.5))}
                         | {"gbm_confidence": [0.5, 1.5]})  # fmt: skip
    gate.save(tmp_path / "after")
    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()

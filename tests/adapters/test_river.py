"""The gate as a river classifier."""

import copy
import datetime
import pickle
import random

import numpy as np
import pytest
from river import checks, compose, evaluate, linear_model, metrics, naive_bayes, preprocessing, tree

import abstain as ab
from abstain.adapters.river import GateClassifier
from abstain.errors import InputError


def two(**options):
    models = {"tree": tree.HoeffdingTreeClassifier(grace_period=20), "bayes": naive_bayes.GaussianNB()}
    return GateClassifier(models, **{"cost": 0.2, "seed": 0, **options})


def stream(n, seed=0):
    rng = random.Random(seed)
    start = datetime.datetime(2026, 1, 1)
    for i in range(n):
        x = {"a": rng.gauss(0, 1), "b": rng.gauss(0, 1), "when": start + datetime.timedelta(hours=i)}
        yield x, "yes" if x["a"] + rng.gauss(0, 0.5) > 0 else "no"


class Numbers(preprocessing.StandardScaler):
    """Leaves out what is no number."""

    def learn_one(self, x):
        super().learn_one({k: v for k, v in x.items() if isinstance(v, float)})

    def transform_one(self, x):
        return super().transform_one({k: v for k, v in x.items() if isinstance(v, float)})


def numbers(**options):
    return GateClassifier({"bayes": Numbers() | naive_bayes.GaussianNB()}, **{"cost": 0.2, "seed": 0, **options})


@pytest.mark.long
@pytest.mark.parametrize(
    "model",
    [
        GateClassifier([naive_bayes.GaussianNB(), naive_bayes.GaussianNB()], review_price=1.0, mistake_price=4.0),
        GateClassifier({"lr": linear_model.LogisticRegression(), "bayes": naive_bayes.GaussianNB()}, labels="answered"),
    ],
    ids=["several classes", "two classes"],
)
def test_rivers_checks(model):
    assert not model._unit_test_skips()
    checks.check_estimator(model)


def test_reviews_are_none_and_not_counted():
    model = two()
    metric, answered, reviewed = metrics.Accuracy(), 0, 0
    for x, y in ((x, y) for x, y in stream(800) if x.pop("when")):
        said = model.predict_one(x)
        assert said == model.predict_one(x)
        if said is None:
            reviewed += 1
        else:
            answered += 1
            metric.update(y, said)
            assert said == max(model.predict_proba_one(x), key=model.predict_proba_one(x).get)
        model.learn_one(x, y)
    assert model.gate.round == 800
    assert model.gate.pending == ()
    assert answered > 100
    assert reviewed > 100
    assert metric.get() > 0.85


def test_models_know_nothing_at_first():
    model = two()
    assert model.predict_one({"a": 1.0}) is None
    assert model.predict_proba_one({"a": 1.0}) == {}


def by_x(x, y):
    return datetime.timedelta(hours=abs(100 * x["b"]))


@pytest.mark.parametrize(
    "options",
    [{"delay": 30}, {"moment": "when", "delay": datetime.timedelta(days=2)}, {"moment": "when", "delay": by_x}],
    ids=["cases", "time", "out of order"],
)
@pytest.mark.parametrize("labels", ["both", "answered", "reviewed"])
def test_late_labels_find_their_decisions(options, labels):
    model = numbers(labels=labels)
    score = evaluate.progressive_val_score(stream(400), model, metrics.Accuracy(), **options)
    assert score.get() > 0.7
    assert model.gate.round == 400
    assert model.gate.pending == ()
    assert len(model._open) == 0


def test_the_label_is_learnt_for_the_decision_on_x(monkeypatch):
    model = numbers()
    told = []
    monkeypatch.setattr(ab.Gate, "learn", lambda gate, case, y: told.append((case.round, y)))
    rows = list(stream(20))
    for x, _ in rows:
        model.predict_one(x)
    for i in (7, 3, 19):
        model.learn_one(dict(reversed(rows[i][0].items())), i)
    assert told == [(8, 7), (4, 3), (20, 19)]


def test_probabilities_change_nothing():
    model = two()
    for x, y in stream(50):
        x.pop("when")
        model.learn_one(x, y)
    before = pickle.dumps(model)
    assert sum(model.predict_proba_one({"a": 0.3, "b": 0.1}).values()) == pytest.approx(1.0)
    assert pickle.dumps(model) == before


def test_without_a_question_it_is_decided_first():
    asked, unasked = numbers(), numbers()
    for x, y in stream(100):
        asked.predict_one(x)
        asked.learn_one(x, y)
        unasked.learn_one(x, y)
    assert (asked.gate.learner.weights == unasked.gate.learner.weights).all()
    assert unasked.gate.round == 100


def test_the_same_x_gets_the_same_decision_until_its_label_comes():
    model = numbers()
    x = {"a": 0.1}
    model.learn_one(x, "yes")
    assert {model.predict_one(x) for _ in range(20)} == {model.predict_one(x)}
    assert model.gate.round == 2
    model.learn_one(x, "yes")
    model.learn_one(x, "no")
    assert model.gate.round == 3
    assert model.gate.pending == ()


@pytest.mark.parametrize("labels", ["both", "answered"])
def test_only_so_many_wait(labels):
    model = numbers(most_open=10, labels=labels)
    rows = list(stream(100))
    for x, _ in rows:
        model.predict_one(x)
    assert len(model._open) == 10
    assert set(model.gate.pending) <= set(range(91, 101))
    model.learn_one(*rows[0])
    assert model.gate.round == 101


def test_values_that_cannot_be_hashed():
    model = GateClassifier([naive_bayes.MultinomialNB()], seed=0)
    model.learn_one({"a": 1, "b": 2}, "x")
    model._open.add({"a": [1]}, model._decide({"a": 1}))
    assert model._open.find({"a": [1]}) is not None
    assert model._open.find({"a": [2]}) is None


def test_copies_go_on_with_open_decisions():
    model = numbers()
    rows = list(stream(60))
    for x, y in rows[:40]:
        model.learn_one(x, y)
    for x, _ in rows[40:]:
        model.predict_one(x)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        for x, y in rows[40:]:
            again.learn_one(x, y)
        assert again.gate.pending == ()
    assert len(model.gate.pending) == 20
    fresh = model.clone()
    assert (fresh.gate.round, fresh.predict_proba_one(rows[0][0])) == (0, {})


def test_inside_a_pipeline_and_with_another_learner():
    select = compose.Select("a", "b")
    model = select | GateClassifier([naive_bayes.GaussianNB()], cost=0.1, labels="answered", learner=ab.UCBGT)
    assert evaluate.progressive_val_score(stream(300), model, metrics.Accuracy()).get() > 0.7
    assert model["GateClassifier"].gate.round == 300


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"models": {}}, "models: expected a dictionary"),
        ({"models": 3}, "models: expected a dictionary"),
        ({"models": [naive_bayes.GaussianNB]}, "expected river's classifiers"),
        ({"models": [linear_model.LinearRegression()]}, "expected river's classifiers"),
        ({"most_open": 0}, "most_open"),
        ({"cost": 1.5}, "cost: expected at most 1"),
    ],
)
def test_bad_options(options, why):
    with pytest.raises(InputError, match=why):
        GateClassifier(**{"models": [naive_bayes.GaussianNB()], **options})


def test_a_feature_may_be_nan():
    """The decision on x is found again, though NaN is not equal to itself."""
    model = GateClassifier({"bayes": naive_bayes.GaussianNB()}, cost=0.1, seed=0)
    for k in range(20):
        model.predict_one({"a": float("nan"), "b": float(k)})
        assert len(model._open) == 1
        model.learn_one({"b": float(k), "a": np.float64("nan")}, k % 2)
        assert len(model._open) == 0
    assert model.gate.round == 20

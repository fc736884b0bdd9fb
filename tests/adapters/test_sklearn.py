"""The gate as a scikit-learn classifier."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import abstain as ab
from abstain.adapters.sklearn import GateClassifier
from abstain.errors import DecisionError, InputError

X, y = load_breast_cancer(return_X_y=True)
TWO = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]


def two(**options):
    return GateClassifier(**{"estimators": TWO, "cost": 0.1, "random_state": 0, **options})


@pytest.mark.long
@parametrize_with_checks(
    [
        GateClassifier(),
        GateClassifier([GaussianNB()], review_price=1.0, mistake_price=4.0, labels="both"),
        GateClassifier(TWO, cost=0.0, thresholds="quantiles", holdout=0.5),
        GateClassifier(TWO, cost=0.3, learner=ab.Exp3Abs, capacity=0.1),
    ]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_estimators_and_gate_learn_from_different_rows():
    model = two(holdout=0.25).fit(X[:400], y[:400])
    held = np.concatenate([np.flatnonzero(y[:400] == k)[-round(0.25 * (y[:400] == k).sum()) :] for k in (0, 1)])
    fitted = np.setdiff1d(np.arange(400), held)
    again = two(prefit=True).set_params(estimators=[(n, clone(e).fit(X[fitted], y[fitted])) for n, e in TWO])
    again.fit(X[np.sort(held)], y[np.sort(held)])
    assert model.gate_.policy().equals(again.gate_.policy())
    assert (model.predict(X[400:]) == again.predict(X[400:])).all()


def test_predict_follows_the_heaviest_and_changes_nothing():
    model = two(abstain_label=-1).fit(X[:400], y[:400])
    before = pickle.dumps(model.gate_)
    said = model.predict(X[400:])
    best = model.gate_.policy().row(0, named=True)
    table = model.estimators_[model.gate_.models.index(best["model"])].predict_proba(X[400:])
    assert (model.predict_proba(X[400:]) == table).all()
    assert (said == np.where(table.max(axis=1) <= best["threshold"], -1, table.argmax(axis=1))).all()
    assert 0 < (said == -1).sum() < len(said)
    assert pickle.dumps(model.gate_) == before
    model.set_params(abstain_label=None)
    assert set(model.predict(X[400:])) == {0, 1}


def test_where_reviewing_costs_nothing_all_is_reviewed():
    noise = np.random.default_rng(0).normal(size=(300, 2))
    coin = np.random.default_rng(1).integers(0, 2, 300)
    model = GateClassifier([GaussianNB()], cost=0.0, thresholds=2, abstain_label="ask").fit(noise, coin)
    assert model.predict(noise).tolist() == ["ask"] * 300
    assert set(model.set_params(abstain_label=None).predict(noise)) <= {0, 1}


@pytest.mark.parametrize("label", ["?", -1, True])
def test_abstain_labels_leave_the_others_as_they_are(label):
    model = two(abstain_label=label).fit(X[:400], y[:400])
    said = model.predict(X)
    assert {type(one) for one in said.tolist() if one is not label} <= {int, type(label)}
    assert label in said.tolist()


def test_several_classes_as_strings_and_prices_by_kind():
    points, numbers = make_blobs(600, centers=3, cluster_std=3.0, random_state=0)
    names = np.array(["ham", "eggs", "spam"])[numbers]
    prices = {("spam", "ham"): 9.0, "other": 1.0}
    model = GateClassifier([GaussianNB()], review_price=0.5, mistake_price=prices, random_state=0).fit(points, names)
    assert model.classes_.tolist() == ["eggs", "ham", "spam"]
    assert model.gate_.unit == 9.0
    assert set(model.decide(points[:50])["answer"].drop_nulls()) <= set(names)


def test_decided_cases_are_learnt():
    model = two(labels="both").fit(X[:300], y[:300])
    decided = model.decide(X[300:400])
    assert isinstance(decided, pl.DataFrame)
    assert set(decided["action"]) == {"answer", "review"}
    assert model.gate_.round == 100
    assert len(model.gate_.pending) == 100
    model.learn(decided[:60], y[300:360]).learn(decided["case"][60:80], [None] * 10 + y[370:380].tolist())
    assert len(model.gate_.pending) == 30
    weights = model.gate_.learner.weights.copy()
    with pytest.raises(DecisionError, match="row 1: "):
        model.learn(decided[[95, 0]], [0, 1])
    assert len(model.gate_.pending) == 30
    assert (model.gate_.learner.weights == weights).all()
    model.learn(decided[95:], y[395:400])
    with pytest.raises(InputError, match="a label for each of 100 cases, got 2"):
        model.learn(decided, [0, 1])


def test_labels_that_do_not_come_back_are_refused():
    model = two().fit(X[:300], y[:300])
    decided = model.decide(X[300:])
    reviewed = decided.filter(pl.col("action") == "review")
    with pytest.raises(DecisionError, match='labels="both"'):
        model.learn(reviewed, [1] * len(reviewed), source="review")
    answered = (decided["action"] == "answer").to_numpy()
    model.learn(decided.filter(answered), y[300:][answered], source="outcome")
    assert model.gate_.pending == ()


def test_partial_fit_goes_on():
    model = two().fit(X[:300], y[:300])
    fitted = pickle.dumps(model.estimators_)
    model.partial_fit(X[300:400], y[300:400])
    assert model.gate_.round == 0
    whole = two(prefit=True).set_params(estimators=list(zip(["bayes", "tree"], model.estimators_, strict=True)))
    first = two(holdout=0.3).fit(X[:300], y[:300])
    assert not model.gate_.policy().equals(first.gate_.policy())
    model.decide(X[400:410])
    weights = model.gate_.learner.weights.copy()
    model.partial_fit(X[410:], y[410:])
    assert model.gate_.round == 10 + len(X[410:])
    assert (model.gate_.learner.weights != weights).any()
    assert pickle.dumps(model.estimators_) == fitted
    assert set(whole.partial_fit(X, y, classes=[0, 1, 2]).classes_) == {0, 1, 2}
    assert whole.predict_proba(X[:5]).shape == (5, 3)


def test_pipelines_and_searches():
    pipeline = make_pipeline(StandardScaler(), two())
    search = GridSearchCV(pipeline, {"gateclassifier__tree__max_depth": [1, 4], "gateclassifier__cost": [0.1]}, cv=3)
    search.fit(X, y)
    assert search.best_score_ > 0.9
    assert search.best_estimator_[-1].estimators_[1].max_depth in (1, 4)
    assert cross_val_score(pipeline, X, y, cv=3, scoring="neg_log_loss").shape == (3,)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames(frame):
    names = [f"f{k}" for k in range(X.shape[1])]
    table = frame(X, **({"columns": names} if frame is pd.DataFrame else {"schema": names}))
    models = [("lr", make_pipeline(StandardScaler().set_output(transform="pandas"), LogisticRegression()))]
    model = GateClassifier(models, cost=0.1, random_state=0).fit(table[:400], y[:400])
    assert model.feature_names_in_.tolist() == names
    rest = table[400:]
    assert (model.predict(rest) == GateClassifier(models, cost=0.1).fit(X[:400], y[:400]).predict(X[400:])).all()
    decided = model.decide(rest)
    assert isinstance(decided, frame)
    if frame is pd.DataFrame:
        assert decided.index.equals(rest.index)
        assert model.learn(decided[decided.action == "answer"], y[decided.index[decided.action == "answer"]])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(
            table[400:].rename(**({"columns": {"f1": "g"}} if frame is pd.DataFrame else {"mapping": {"f1": "g"}}))
        )


def test_copies_decide_alike():
    model = two().fit(X[:300], y[:300])
    copy = pickle.loads(pickle.dumps(model))
    hidden = ["id", "case"]
    assert model.decide(X[300:]).drop(hidden).equals(copy.decide(X[300:]).drop(hidden))
    assert not hasattr(clone(model), "gate_")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"estimators": []}, "estimators: expected a list"),
        ({"estimators": [GaussianNB]}, "expected classifiers with predict_proba"),
        ({"estimators": [RidgeClassifier()]}, "CalibratedClassifierCV"),
        ({"estimators": [("a", GaussianNB()), ("a", GaussianNB())]}, "not unique"),
        ({"estimators": [("cost", GaussianNB())]}, "conflict with constructor"),
        ({"holdout": 1.0}, "holdout: expected a share"),
        ({"review_price": 1.0}, "either cost, or review"),
        ({"capacity": 2.0}, "capacity"),
    ],
)
def test_bad_options(options, why):
    with pytest.raises(ValueError, match=why):
        two(**options).fit(X, y)


def test_before_fit():
    for method in ("predict", "predict_proba", "decide"):
        with pytest.raises(NotFittedError):
            getattr(two(), method)(X)


@pytest.mark.parametrize(("module", "package"), [("sklearn", "scikit-learn"), ("river", "river")])
def test_a_missing_package_is_named_and_nothing_is_imported_early(module, package):
    code = f"""
import sys, abstain, abstain.adapters
assert not {{"sklearn", "river"}} & set(sys.modules)
sys.modules["{module}"] = None
try:
    import abstain.adapters.{module}
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f'abstain.adapters.{module} needs {package}: pip install "abstain[{module}]"\n'


@pytest.mark.parametrize("label", [-1, None, 0.5, "ask"])
def test_classes_that_are_texts_and_another_kind_of_abstain_label(label):
    """-1 stays a number beside "no" and "yes"."""
    words = np.array(["no", "yes"])[y]
    model = two(abstain_label=label, cost=0.01).fit(X[:400], words[:400])
    found = set(model.predict(X[400:]).tolist())
    assert found <= {"no", "yes", label}
    if label is not None:
        assert label in found

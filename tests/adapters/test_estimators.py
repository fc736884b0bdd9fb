"""Experts of fitted classifiers."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import abstain as ab
from abstain.errors import AbstainError, InputError

X, y = load_breast_cancer(return_X_y=True)
signs = 2 * y - 1
MODELS = [GaussianNB().fit(X[:300], signs[:300]), DecisionTreeClassifier(max_depth=3).fit(X[:300], signs[:300])]


def test_advice_is_what_the_classifiers_say():
    experts = ab.experts.from_estimators(MODELS, [-1.0, 0.9, 1.0])
    assert (experts.n_experts, experts.n_features, experts.portable) == (6, 30, False)
    advice = experts.advise(X[300:])
    for m, model in enumerate(MODELS):
        assert (advice.predictions[:, m] == model.predict(X[300:])).all()
        sure = model.predict_proba(X[300:]).max(axis=1)
        assert (advice.abstains[:, 3 * m : 3 * m + 3] == (sure[:, np.newaxis] <= [-1.0, 0.9, 1.0])).all()
    relation = experts.rule_subset
    assert relation[0, 1]
    assert relation[1, 2]
    assert not relation[2, 1]
    assert not relation[1, 4]


def test_learners_play_with_them_and_files_need_them_again(tmp_path):
    experts = ab.experts.from_estimators(MODELS, [-1.0, 0.9, 0.999])
    learner = ab.UCBGT(experts, cost=0.1)
    trace = ab.simulate(learner, X[300:], signs[300:])
    assert trace.loss.mean() < 0.15
    learner.save(tmp_path / "learner.abstain")
    with pytest.raises(AbstainError, match="experts"):
        ab.load(tmp_path / "learner.abstain")
    again = ab.load(tmp_path / "learner.abstain", experts=ab.experts.from_estimators(MODELS, [-1.0, 0.9, 0.999]))
    assert again.decide(X[0]).expert == learner.decide(X[0]).expert
    with pytest.raises(AbstainError):
        ab.load(tmp_path / "learner.abstain", experts=ab.experts.from_estimators(MODELS, [-1.0, 0.8, 0.999]))


def test_classes_as_strings():
    names = np.array(["bad", "good"])[y]
    experts = ab.experts.from_estimators([GaussianNB().fit(X[:300], names[:300])], [-1.0, 0.9])
    learner = ab.UCBGT(experts, cost=0.1, loss="multiclass")
    assert ab.simulate(learner, X[300:], names[300:]).loss.mean() < 0.2


@pytest.mark.parametrize("models", [[], None, [GaussianNB()], [RidgeClassifier().fit(X, y)], [3]])
def test_bad_models(models):
    with pytest.raises(InputError, match="models: expected"):
        ab.experts.from_estimators(models, [0.5])


def test_what_is_no_probability_is_refused():
    class Wrong:
        classes_ = np.array([-1, 1])

        def predict_proba(self, X):
            return np.full((len(X), 2), 1.5)

    with pytest.raises(InputError, match="predict_proba"):
        ab.experts.from_estimators([Wrong()], [0.5]).advise(X[:3])

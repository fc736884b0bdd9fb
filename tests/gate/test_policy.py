"""What a gate says that it has learnt."""

import numpy as np
import polars as pl
import pytest

import abstain as ab
from abstain.engine import Report
from abstain.errors import InputError

SAID = {"gbm": ("spam", 0.93), "logreg": ("ham", 0.61), "rules": ("ham", 0.5)}


class Silent(ab.UCB):
    """Learns, but reports nothing."""

    def report(self):
        return Report()


class Priced(ab.UCB):
    """Has estimates, but no weights."""

    def report(self):
        return Report(estimates=np.linspace(1.0, 0.5, self.experts.n_experts))


def played(learner, n=50, **options):
    gate = ab.Gate(["gbm", "logreg", "rules"], **{"cost": 0.2, "seed": 0, "thresholds": 4, **options}, learner=learner)
    for _ in range(n):
        case = gate.decide(SAID)
        if case.action == "answer":
            gate.learn(case, "spam")
    return gate


@pytest.mark.parametrize("learner", [ab.UCBAbs, Silent])
def test_a_learner_that_reports_nothing(learner):
    gate = played(learner)
    policy = gate.policy()
    assert policy["model"].to_list() == ["gbm"] * 4 + ["logreg"] * 4 + ["rules"] * 4
    assert policy["weight"].is_null().all()
    assert policy["price"].is_null().all()
    assert policy["threshold"].to_list() == [None if t == 1.0 else t for t in gate.thresholds.ravel()]
    assert str(gate) == (
        f"follows gbm, logreg, rules; has decided 50 cases, {len(gate.pending)} of them open; "
        f"{learner.__name__} reports no weights or prices"
    )


def test_prices_without_weights_name_the_cheapest():
    gate = played(Priced, cost=None, review_price=1.0, mistake_price=10.0)
    policy = gate.policy()
    assert policy["model"].to_list() == ["rules"] * 4 + ["logreg"] * 4 + ["gbm"] * 4
    assert policy["weight"].is_null().all()
    assert policy["price"][0] == 5.0
    assert policy["price"][-1] == 10.0
    assert str(gate) == "sends every case to review; 5 per case"


def test_estimates_of_which_none_is_known_are_no_report(monkeypatch):
    gate = played(ab.UCB, n=0)
    gate.decide(SAID)
    monkeypatch.setattr(ab.UCB, "report", lambda learner: Report(estimates=np.full(12, np.nan)))
    assert str(gate).startswith("follows gbm, logreg, rules; has decided 1 case")
    assert gate.policy()["price"].is_null().all()


def test_a_report_of_another_size_is_refused(monkeypatch):
    gate = played(ab.UCB, n=1)
    monkeypatch.setattr(ab.UCB, "report", lambda learner: Report(weights=np.ones(5)))
    with pytest.raises(InputError, match=r"report: expected weights of shape \(12,\), got \(5,\)"):
        gate.policy()


@pytest.mark.parametrize("learner", [ab.DoublyRobust, ab.Exp3, ab.Exp3Abs, ab.Stacked, ab.UCB, ab.UCBGT, ab.UCBAbs])
def test_every_learner_has_a_policy_and_a_sentence(learner):
    gate = played(learner, n=30, classes=["ham", "spam"])  # Stacked needs two
    policy = gate.policy()
    assert policy.schema == {
        "model": pl.String, "threshold": pl.Float64, "weight": pl.Float64, "price": pl.Float64, "share": pl.Float64,
    }  # fmt: skip
    assert policy.height == 12
    assert isinstance(str(gate), str)

"""One threshold: the best there is, on all rounds asked for and on no others; again from the labels that came."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from abstain.alternatives import hindsight, retuned, stacked, tuned
from abstain.alternatives.renewed import Bucket, Retuning
from abstain.alternatives.stack import Stacking
from abstain.alternatives.thresholds import QUANTILES, Rounds, best
from abstain.capacity import Capacity
from abstain.errors import InputError


@st.composite
def logs(draw, most=40):
    """Values of eighths add up exactly, and there are many ties."""
    n, models, seed = draw(st.integers(1, most)), draw(st.integers(1, 3)), draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    confidence = rng.integers(0, draw(st.integers(1, 30)) + 1, (n, models)) / 8
    confidence[rng.random((n, models)) < draw(st.sampled_from([0.0, 0.2]))] = -np.inf
    losses = rng.integers(0, 9, (n, models)) / 8
    cost = draw(st.sampled_from([0.125, 0.25, 1.0])) if draw(st.booleans()) else rng.integers(0, 9, n) / 8
    return confidence, losses, cost


def paid(confidence, losses, cost, model, threshold):
    return np.where(confidence[:, model] <= threshold, cost, losses[:, model])


def all_pairs(confidence, losses, cost, rows):
    """Every model with every threshold that makes a difference on these rows, and its total there."""
    cost = np.broadcast_to(cost, len(confidence))
    for model in range(confidence.shape[1]):
        for threshold in sorted({-np.inf, *confidence[rows, model], np.inf}):
            total = paid(confidence[rows], losses[rows], cost[rows], model, threshold).sum()
            yield total, model, threshold


@given(logs(), st.data())
@settings(max_examples=200, deadline=None)
def test_the_best_of_all_pairs(log, data):
    n = len(log[0])
    first = data.draw(st.integers(1, n))
    begin = data.draw(st.integers(0, n - 1))
    for policy, rows in (
        (tuned(*log, first), slice(0, first)),
        (hindsight(*log, begin), slice(begin, n)),
        (hindsight(*log, 0, first), slice(0, first)),
    ):
        total, model, threshold = min(all_pairs(*log, rows))
        assert (policy.model, policy.threshold) == (model, threshold)
        assert policy.loss[rows].sum() == total
        assert (policy.loss == paid(*log, model, threshold)).all()
        assert (policy.abstained == (log[0][:, model] <= threshold)).all()


@given(logs(60), st.data())
@settings(max_examples=200, deadline=None)
def test_again_from_the_labels_there_are(log, data):
    n = len(log[0])
    first, delay, own = data.draw(st.integers(1, n)), data.draw(st.integers(0, n)), data.draw(st.booleans())
    every, window = data.draw(st.integers(1, 20)), data.draw(st.integers(1, 30))
    played = retuned(*log, first, every=every, window=window, delay=delay, own=own)
    confidence, losses, cost = log[0], log[1], np.broadcast_to(log[2], n)
    _, model, threshold = min(all_pairs(*log, slice(0, first)))
    for t in range(n):
        if t > first and (t - first) % every == 0:
            come = range(max(0, t - delay - window), max(0, t - delay))
            rows = [s for s in come if not own or s < first or not played.abstained[s]]
            if rows:
                better = min(all_pairs(*log, rows))
                if better[0] < paid(confidence[rows], losses[rows], cost[rows], model, threshold).sum():
                    _, model, threshold = better
        assert (played.model[t], played.threshold[t]) == (model, threshold)
        assert played.abstained[t] == (confidence[t, model] <= threshold)
        assert played.loss[t] == (cost[t] if played.abstained[t] else losses[t, model])


def test_labels_of_rounds_handed_over_change_nothing():
    rng = np.random.default_rng(1)
    confidence = rng.random((6_000, 2))
    losses = (rng.random((6_000, 2)) > confidence) * 1.0
    played = retuned(confidence, losses, 0.3, 600, every=200, window=1_000, delay=50)
    hidden = played.abstained & (np.arange(6_000) >= 600)
    assert 0.1 < hidden.mean() < 0.9
    others = np.where(hidden[:, np.newaxis], 1.0 - losses, losses)
    again = retuned(confidence, others, 0.3, 600, every=200, window=1_000, delay=50)
    assert (again.loss == played.loss).all()
    assert (again.threshold == played.threshold).all()
    all_seen = retuned(confidence, others, 0.3, 600, every=200, window=1_000, delay=50, own=False)
    assert (all_seen.threshold != played.threshold).any()


def test_many_rounds_try_quantiles_only():
    rng = np.random.default_rng(0)
    confidence, losses = rng.random((5_000, 3)), rng.random((5_000, 3))
    policy = hindsight(confidence, losses, 0.3)
    tried = np.sort(confidence[:, policy.model])[np.linspace(0, 4_999, QUANTILES).round().astype(int)]
    assert policy.threshold in (-np.inf, np.inf, *tried)
    least = min(
        paid(confidence, losses, 0.3, model, threshold).sum()
        for model in range(3)
        for threshold in (-np.inf, np.inf, *np.quantile(confidence[:, model], np.linspace(0, 1, QUANTILES)))
    )
    assert policy.loss.sum() <= least + 2.0


def test_what_no_log_is():
    good = np.full((4, 2), 0.5)
    for wrong in (
        (np.zeros(4), np.zeros(4), 0.2, 2),
        (np.zeros((0, 2)), np.zeros((0, 2)), 0.2, 1),
        (good, good[:3], 0.2, 2),
        (np.where(np.eye(4, 2), np.nan, good), good, 0.2, 2),
        (np.where(np.eye(4, 2), np.inf, good), good, 0.2, 2),
        (good, good + 1.0, 0.2, 2),
        (good, np.where(np.eye(4, 2), np.nan, good), 0.2, 2),
        (good, good, 1.5, 2),
        (good, good, [0.2, 0.2], 2),
        (good, good, np.full(5, 0.2), 2),
        (good, good, lambda X: X[:, 0], 2),
        (good, good, 0.2, 0),
        (good, good, 0.2, 5),
    ):
        for function in (tuned, retuned):
            with pytest.raises(InputError, match="expected"):
                function(*wrong)
    for first, last in ((2, 2), (0, 5), (-1, 2)):
        with pytest.raises(InputError, match="expected"):
            hindsight(good, good, 0.2, first, last)
    for option in ({"every": 0}, {"window": 0}, {"delay": -1}, {"own": "yes"}):
        with pytest.raises(InputError, match="expected"):
            retuned(good, good, 0.2, 2, **option)


def slow_stack(confidence, losses, answers, weights):
    """The penalised log likelihood, its inputs written out, and the probability of being right."""
    n, models = confidence.shape
    rows, targets = [], []
    for t in range(n):
        for m in range(models):
            if confidence[t, m] == -np.inf:
                continue
            x = np.zeros(4 * models + 1)
            x[-1] = 1.0
            for j in range(models):
                if confidence[t, j] > -np.inf:
                    at = 0 if answers[t, j] == answers[t, m] else 2 * models
                    sure = np.clip(confidence[t, j], 1e-9, 1 - 1e-9)
                    x[at + j], x[at + models + j] = 1.0, np.clip(np.log(sure / (1 - sure)), -7, 7)
            rows.append(x)
            targets.append(1.0 - losses[t, m])
    p = 1 / (1 + np.exp(-np.array(rows) @ weights))
    target = np.array(targets)
    return -(target * np.log(p) + (1 - target) * np.log(1 - p)).sum() + 0.5 * weights @ weights


@pytest.mark.long
def test_the_stack_is_the_best_logistic_regression():
    rng = np.random.default_rng(0)
    confidence = rng.uniform(0.3, 0.99, (80, 3))
    answers = rng.integers(0, 3, (80, 3)).astype(float)
    losses = (rng.random((80, 3)) > confidence) * 1.0
    confidence[rng.random((80, 3)) < 0.1] = -np.inf
    stack = Stacking(Rounds(confidence, losses, np.full(80, 0.2), answers))
    least = slow_stack(confidence, losses, answers, stack._weights)
    found = minimize(lambda w: slow_stack(confidence, losses, answers, w), np.zeros(13), method="BFGS")
    assert least == pytest.approx(found.fun, rel=1e-5)


def test_the_stack_uses_agreement():
    """Three models, right independently of each other: where two agree they are nearly always right."""
    rng = np.random.default_rng(1)
    right = rng.random((4_000, 3)) < 0.75
    answers = np.where(right, 0.0, rng.integers(1, 9, (4_000, 3)))
    sure = np.full((4_000, 3), 0.75)
    policy = stacked(sure, 1.0 - right, answers, 0.2, first=400)
    alone = tuned(sure, 1.0 - right, 0.2, 400)
    assert policy.loss[400:].mean() < 0.7 * alone.loss[400:].mean()
    assert np.isnan(policy.threshold).all()
    with pytest.raises(InputError, match="answers: expected the shape of confidence"):
        stacked(sure, 1.0 - right, answers[:, :2], 0.2, first=400)


def test_the_stack_knows_the_labels_of_its_own_answers_only():
    """What it handed over could be anything, and labels that are late could, too."""
    rng = np.random.default_rng(2)
    sure, answers = rng.uniform(0.4, 1.0, (3_000, 2)), rng.integers(0, 2, (3_000, 2)).astype(float)
    losses = (rng.random((3_000, 2)) > sure) * 1.0
    first = stacked(sure, losses, answers, 0.2, first=300, delay=100)
    others = losses.copy()
    hidden = first.abstained & (np.arange(3_000) >= 300)
    others[hidden] = 1.0 - others[hidden]
    second = stacked(sure, others, answers, 0.2, first=300, delay=100)
    assert hidden.sum() > 500
    assert (first.abstained == second.abstained).all()
    assert (first.model == second.model).all()


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_rivals_keep_a_capacity(share):
    """Of any rounds in a row no more are handed over than were earned, plus the bucket."""
    rng = np.random.default_rng(3)
    sure, answers = rng.uniform(0.2, 0.9, (3_000, 2)), rng.integers(0, 2, (3_000, 2)).astype(float)
    losses = (rng.random((3_000, 2)) > sure) * 1.0
    rounds, limit = Rounds(sure, losses, np.full(3_000, 0.2), answers), Capacity(share=share, burst=20)
    due = np.arange(1, 3_001)
    head = rounds.cut(slice(300))
    for policy in (Retuning(head, capacity=limit), Stacking(head, capacity=limit)):
        reviews = np.concatenate([[0], np.cumsum(policy.play(rounds, due).abstained)])
        earned = reviews - share * np.arange(3_001)
        lowest = np.minimum.accumulate(earned)
        assert (earned - lowest <= 20 + 1e-6).all()
        if share == 0.5:
            assert reviews[-1] > 900
    model, threshold, _ = best(head, share=share)
    assert (head.confidence[:, model] <= threshold).mean() <= share


def test_a_case_without_an_answer_is_reviewed_and_owed():
    bucket = Bucket(Capacity(share=0.5, burst=1))
    wanted, answerable = np.ones(7, np.bool_), np.array([True, False, False, True, True, True, True])
    assert bucket.hold(wanted, answerable).tolist() == [True, True, True, False, False, False, True]


def test_a_stack_weighs_what_is_at_stake():
    """The same doubt is answered where a mistake is cheap, and reviewed where it is expensive; large stakes do not
    change what is learnt of how likely mistakes are."""
    rng = np.random.default_rng(0)
    n = 4_000
    wrong, stake = rng.random((n, 1)) < 0.1, rng.choice([0.5, 40.0], (n, 1))
    rounds = Rounds(np.full((n, 1), 0.9), wrong * stake, np.full(n, 1.0), risk=stake)
    used = Stacking(rounds.cut(slice(400))).play(rounds, np.arange(n) + 1)
    assert (used.abstained == (stake[:, 0] == 40.0)).all()
    assert used.loss == pytest.approx(np.where(used.abstained, 1.0, rounds.losses[:, 0]))
    same = Rounds(rounds.confidence, wrong * 1.0, np.full(n, 0.5))
    plain = Stacking(same.cut(slice(400)))
    assert plain._weights == pytest.approx(Stacking(rounds.cut(slice(400)))._weights)

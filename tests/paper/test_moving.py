"""Streams that move: what they do, labels spoilt for a time, and the best sequence of experts."""

import numpy as np
import pytest

import abstain as ab
from abstain.errors import InputError
from abstain.experiments import jobs, seeds, sets
from abstain.experiments.jobs import shown_rounds
from abstain.experiments.results import collect
from abstain.experiments.runner import run
from abstain.experiments.sets import INSTANCES, fingerprint
from abstain.experiments.specs import ExpertsSpec, LearnerSpec

from ..experiments.small import small

OWN = ExpertsSpec("instance")


@pytest.mark.parametrize("name", ["switching", "rotating", "flipping", "blocks-500", "trap-300", "trap-1000"])
def test_a_regime_is_what_it_says(name):
    n, stream = 40_000, INSTANCES[name](0.2)
    X, y = stream.draw(n, seed=0)
    regime = stream.regime(n)
    assert regime.shape == (n,)
    assert regime.max() + 1 == len(stream.errs) == len(stream.abstains)
    for one in range(len(stream.errs)):
        rows = regime == one
        errs, silent = (X[rows, :10] != y[rows, np.newaxis]).mean(axis=0), (X[rows, 10:] < 0).mean(axis=0)
        limit = 4.5 * np.sqrt(0.25 / rows.sum())
        np.testing.assert_allclose(errs, stream.errs[one], atol=limit)
        np.testing.assert_allclose(silent, stream.abstains[one], atol=limit)


def test_when_regimes_change():
    def changes(name, n):
        return (np.flatnonzero(np.diff(INSTANCES[name](0.2).regime(n))) + 1).tolist()

    assert changes("trap-300", 5_000) == [300]
    assert changes("trap-1000", 5_000) == [1000]
    assert changes("blocks-500", 2_100) == [500, 1_000, 1_500, 2_000]
    assert changes("flipping", 1_000) == [200, 400, 600, 800]
    assert changes("switching", 1_000) == [500]
    assert changes("rotating", 1_000) == list(range(50, 1_000, 50))
    assert changes("bias-problem", 1_000) == []


def test_a_trap_traps():
    """While labels are inverted, abstaining always is best; then, and on the whole, predicting is."""
    stream = ab.instances.trap(300)
    X, y = stream.draw(10_000, seed=0)
    always = [k for k in range(50) if stream.experts.rule_of[k] == 4]
    early, whole = (
        ab.best_in_hindsight(stream.experts, X[rows], y[rows], cost=0.2) for rows in (slice(300), slice(None))
    )
    assert early.expert in always
    assert (stream.experts.predictor_of[whole.expert], stream.experts.rule_of[whole.expert]) == (0, 0)


@pytest.mark.parametrize("name", ["rotating", "blocks-500", "trap-300"])
def test_the_best_sequence(name):
    study = small(sets=(name,), costs=(0.2,), experts=OWN, expert_sets=1, rounds=1_200, draws=3)
    (group,) = study.comparators()
    (record,) = jobs.run_batch([group], None)
    stream, at = INSTANCES[name](0.2), shown_rounds(1_200, 8)
    draws = [stream.draw(1_200, seeds.of_data(0, name, 0, draw)) for draw in range(3)]
    regime = stream.regime(1_200)
    sequence = []
    for one in range(len(stream.errs)):
        total = sum(
            ab.best_in_hindsight(stream.experts, X[regime == one], y[regime == one], cost=0.2).total for X, y in draws
        )
        assert total[record["sequence"][one]] <= total.min() + 1e-9
        sequence.append(record["sequence"][one])
    for (X, y), curve, static in zip(draws, record["tracked"], record["best"], strict=True):
        advice = stream.experts.advise(X)
        expert = np.array(sequence)[regime]
        errs = (y[:, np.newaxis] * advice.predictions <= 0)[np.arange(1_200), stream.experts.predictor_of[expert]]
        silent = advice.abstains[np.arange(1_200), stream.experts.rule_of[expert]]
        np.testing.assert_allclose(curve, np.cumsum(np.where(silent, 0.2, errs))[at - 1])
        assert curve[-1] < static[-1]


def test_told_or_not_the_sequence_is_the_same(monkeypatch):
    study = small(sets=("flipping",), costs=(0.2,), experts=OWN, expert_sets=1, rounds=500)
    found = []
    for most in (jobs.MOST_BYTES, 0):
        monkeypatch.setattr(jobs, "MOST_BYTES", most)
        jobs._kept.draws.clear()
        found.append(jobs.run_batch(study.comparators(), None))
    jobs._kept.draws.clear()
    assert found[0] == found[1]


def test_results_have_both_comparators():
    study = small(sets=("flipping", "bias-problem"), costs=(0.3,), experts=OWN, expert_sets=1, draws=2)
    records = {record["key"]: record for record in jobs.run_batch([*study.draw_jobs(), *study.comparators()], None)}
    last = collect([study], records)["results"].filter(t=200)
    moving, still = last.filter(dataset="flipping"), last.filter(dataset="bias-problem")
    assert (moving["tracked"] < moving["best"]).all()
    assert still["tracked"].equals(still["best"].rename("tracked"))


def labels_of(name, n=2_000):
    study = small(sets=(name,), costs=(0.2,), expert_sets=1, draws=1, rounds=n)
    rounds, regime, _ = jobs._draw(study.draw_jobs()[0].stage, 0, 0.2, None)
    _, clean = ab.datasets.load("synthetic", n=n, seed=seeds.of_data(0, name, 0, 0))
    return rounds.y, clean, regime


def test_labels_are_spoilt_for_a_time():
    y, clean, regime = labels_of("late-clean-synthetic")
    assert regime.tolist() == [1] * 400 + [0] * 1_600
    np.testing.assert_array_equal(y[400:], clean[400:])
    assert 0.4 < (y[:400] == clean[:400]).mean() < 0.6
    again, _, _ = labels_of("late-clean-synthetic")
    np.testing.assert_array_equal(y, again)
    for name, wrong in (
        ("trap-300-synthetic", np.arange(2_000) < 300),
        ("trap-1000-synthetic", np.arange(2_000) < 1_000),
        ("flips-synthetic", np.arange(2_000) // 400 % 2 == 1),
    ):
        y, clean, regime = labels_of(name)
        np.testing.assert_array_equal(y != clean, wrong)
        np.testing.assert_array_equal(regime == 1, wrong)


def test_names_of_spoilt_sets(tmp_path, monkeypatch):
    assert sets.split("late-clean-cod-rna") == ("late-clean", "cod-rna")
    for name in ("late-clean", "late-clean-", "late-clean-moon", "late-clean-late-clean-skin", "trap-300-rotating"):
        with pytest.raises(InputError, match="set: expected one of .*late-clean-SET"):
            small(sets=(name,))
    monkeypatch.delenv("ABSTAIN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    study = small(sets=("late-clean-guide",), instead=(("late-clean-synthetic", 0.2),), draws=1, expert_sets=1)
    session = run([study], tmp_path / "out", jobs=1)
    assert list(session.missing) == ["guide"]
    assert study.here(None)[0].sets == ("late-clean-synthetic",)
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "guide.npz", X=rng.normal(size=(50, 4)), y=np.where(rng.random(50) < 0.5, 1, -1))
    assert fingerprint("late-clean-guide", str(tmp_path)) == fingerprint("guide", str(tmp_path))
    assert study.here(tmp_path) == (study, "")
    assert run([study], tmp_path / "out", data=tmp_path, jobs=1).failures == []
    (one,), (other,) = (
        {job.key for job in small(sets=("late-clean-synthetic",), costs=(0.1,), scale=scale, **few).draw_jobs()}
        for scale, few in (("maxabs", {"draws": 1, "expert_sets": 1}), ("minmax", {"draws": 1, "expert_sets": 1}))
    )
    assert one == other  # what is not scaled is not, spoilt or not


def test_a_learner_on_a_stream(tmp_path):
    learners = (LearnerSpec("EXP3-ABS", "Exp3Abs"), LearnerSpec("FS", "FullSupervision"))
    study = small(sets=("blocks-500",), costs=(0.2,), experts=OWN, expert_sets=1, rounds=3_000, learners=learners)
    last = run([study], tmp_path, jobs=1).curves.filter(t=3_000)
    assert (last["loss"] - last["tracked"] > 200).all()

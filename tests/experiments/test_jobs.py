"""Jobs: known by their content, played as the public functions play."""

from dataclasses import replace

import numpy as np
import pytest

import abstain as ab
from abstain.experiments import jobs, seeds
from abstain.experiments.jobs import DrawJob, batches, shown_rounds
from abstain.experiments.specs import ExpertsSpec, LearnerSpec

from .small import LEARNERS, small


def numbers(seed):
    return np.random.default_rng(seed).integers(0, 2**62, 4).tolist()


def test_keys_are_of_the_content():
    study = small()
    keys = [part.key for part in (*study.draw_jobs(), *study.comparators())]
    assert len(set(keys)) == len(keys) == 2 * 2 * 3 + 2 * 2
    assert [job.key for job in small(name="other", title="another").draw_jobs()] == keys[:12]
    changes = [
        {"rounds": 201}, {"seed": 1}, {"checkpoints": 9}, {"learners": LEARNERS[:2]}, {"costs": (0.2,)},
        {"experts": ExpertsSpec("hyperplanes", {"n_predictors": 3, "n_rings": 5})},
        {"learners": (LearnerSpec("UCB-GT", "UCBGT", {"beta": 1.0}), *LEARNERS[1:])},
    ]  # fmt: skip
    for change in changes:
        assert not set(keys) & {job.key for job in small(**change).draw_jobs()}
    assert {job.key for job in small(scale="minmax").draw_jobs()} == set(keys[:12])  # synthetic is not scaled
    # A key that changed by itself would make every log useless.
    assert LearnerSpec("a", "UCB").key == LearnerSpec("a", "UCB", {}).key == "68374028b7c92dee7c088f8f"
    parts = [
        replace(part, stage=replace(part.stage, version="1")) for part in (study.draw_jobs()[0], study.comparators()[0])
    ]
    assert [part.key for part in parts] == ["192d7fe4d922fb91c633beeb", "9c5a3698ae6336e9b1d22dd3"]


def test_compiling_is_no_part_of_the_time_of_a_run(monkeypatch):
    """In each process a learner plays two rounds on every set before its first run, which is timed."""
    played, simulate = [], jobs.simulate
    monkeypatch.setattr(jobs, "simulate", lambda learner, rounds, **k: (
        played.append((type(learner).__name__, len(rounds))), simulate(learner, rounds, **k)
    )[1])  # fmt: skip
    monkeypatch.setattr(jobs, "_compiled", set())
    study = small(sets=("synthetic",), costs=(0.2,), learners=LEARNERS[:1], draws=2, expert_sets=1)
    jobs.run_batch(study.draw_jobs(), None)
    assert [n for _, n in played] == [2, study.rounds, study.rounds]


def test_batches_share_draws():
    parts = [*small().draw_jobs(), *small().comparators()]
    found = batches([*parts, *parts])
    assert sorted(part.key for some in found for part in some) == sorted(part.key for part in parts)
    for some in found:
        assert len({(part.stage.key, getattr(part, "draw", None)) for part in some}) == 1
        assert {part.cost for part in some} == {0.1, 0.3}
    kinds = [isinstance(batch[0], DrawJob) for batch in found]
    assert kinds == [True, True, True, False] * 2


def test_seeds():
    assert numbers(seeds.of_data(0, "guide", 1, 2)) == numbers(seeds.of_data(0, "guide", 1, 2))
    different = [
        seeds.of_data(0, "guide", 1, 2), seeds.of_data(1, "guide", 1, 2), seeds.of_data(0, "skin", 1, 2),
        seeds.of_data(0, "guide", 0, 2), seeds.of_data(0, "guide", 1, 1), seeds.of_experts(0, "guide", 1),
        seeds.of_learner(0, "guide", 1, 2, "UCB"), seeds.of_learner(0, "guide", 1, 2, "FS"),
    ]  # fmt: skip
    assert len({tuple(numbers(seed)) for seed in different}) == len(different)
    assert seeds.of_experts(2018, "cod-rna", 0).generate_state(2).tolist() == [
        993424013,
        1146301171,
    ]  # the same in every process


def by_hand(study, cost, expert_set, draw):
    """Experts and data of a job, by the public functions only."""
    X, y = ab.datasets.load("synthetic", n=study.rounds, seed=seeds.of_data(study.seed, "synthetic", expert_set, draw))
    experts = ab.experts.hyperplanes(2, 3, 4, seed=seeds.of_experts(study.seed, "synthetic", expert_set))
    return experts, X, y


@pytest.mark.parametrize("most_bytes", [jobs.MOST_BYTES, 0])
def test_a_cell_is_what_simulate_says(monkeypatch, most_bytes):
    monkeypatch.setattr(jobs, "MOST_BYTES", most_bytes)
    jobs._kept.draws.clear()
    study = small()
    at = shown_rounds(200, 8)
    for job in study.draw_jobs()[::5]:
        (record,) = jobs.run_batch([job], None)
        experts, X, y = by_hand(study, job.cost, job.stage.expert_set, job.draw)
        for spec, run in zip(LEARNERS, record["runs"], strict=True):
            seed = seeds.of_learner(0, "synthetic", job.stage.expert_set, job.draw, spec.label)
            learner = getattr(ab, spec.kind)(experts, cost=job.cost, seed=seed)
            trace = ab.simulate(learner, X, y, checkpoints=at)
            assert run["loss"] == np.cumsum(trace.loss)[at - 1].tolist()
            assert run["abstained"] == np.cumsum(trace.abstained)[at - 1].tolist()
            assert run["edges"] == trace.edges.tolist()
            assert run["seconds_run"] > 0.0


def test_the_comparator_is_the_best_over_the_draws():
    study = small()
    at = shown_rounds(200, 8)
    for group in study.comparators():
        (record,) = jobs.run_batch([group], None)
        draws = [by_hand(study, group.cost, group.stage.expert_set, draw) for draw in range(3)]
        totals = [ab.best_in_hindsight(*draw, cost=group.cost).total for draw in draws]
        mean = np.mean(totals, axis=0)
        assert mean[record["expert"]] <= mean.min() + 1e-9
        assert not np.isclose(mean[: record["expert"]], mean.min()).any()  # the lowest number among equals
        for (experts, X, y), total, curve in zip(draws, totals, record["best"], strict=True):
            expert = record["expert"]
            advice = experts.advise(X)
            errs = y * advice.predictions[:, experts.predictor_of[expert]] <= 0
            losses = np.where(advice.abstains[:, experts.rule_of[expert]], group.cost, errs)
            np.testing.assert_allclose(curve, np.cumsum(losses)[at - 1])
            np.testing.assert_allclose(curve[-1], total[expert])


def test_the_comparator_of_experts_with_rules_of_their_own():
    study = small(experts=ExpertsSpec("axis_planes", {"n_predictors": 6, "thresholds": [0.0, 0.1, 0.4]}), expert_sets=1)
    for group in study.comparators():
        (record,) = jobs.run_batch([group], None)
        totals = 0.0
        for draw in range(3):
            _, X, y = by_hand(study, group.cost, 0, draw)
            experts = ab.experts.axis_planes(2, 6, [0.0, 0.1, 0.4])
            totals = totals + ab.best_in_hindsight(experts, X, y, cost=group.cost).total
        assert record["expert"] == np.argmin(totals)


def test_instances_bring_their_own():
    learners = (LearnerSpec("own", "UCBNT", {"graph": "abstention"}), LearnerSpec("UCB-GT", "UCBGT"))
    study = small(
        sets=(), costs=(), settings=(("bias-problem", 0.9), ("proposition-1", 0.9), ("proposition-1", 0.8)),
        experts=ExpertsSpec("instance"), learners=learners, expert_sets=1, draws=2, rounds=3_000,
    )  # fmt: skip
    for job in study.draw_jobs():
        (record,) = jobs.run_batch([job], None)
        make = ab.instances.bias_problem if job.stage.dataset == "bias-problem" else ab.instances.proposition_1
        instance = make(cost=job.cost)
        X, y = instance.draw(3_000, seeds.of_data(0, job.stage.dataset, 0, job.draw))
        trace = ab.simulate(ab.UCBGT(instance.experts, cost=instance.cost, loss=instance.loss), X, y)
        assert record["runs"][1]["loss"][-1] == np.cumsum(trace.loss)[-1]
    for group in study.comparators():
        (record,) = jobs.run_batch([group], None)
        assert record["expert"] == (1 if group.stage.dataset == "bias-problem" else 0)


def test_costs_and_scalings_share_experts_and_data(monkeypatch, tmp_path):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(90, 4)), np.where(random.random(90) < 0.5, 1, -1)
    np.savez(tmp_path / "guide.npz", X=X, y=y)
    seen = []
    real = jobs.Prepared
    monkeypatch.setattr(
        jobs, "Prepared", lambda experts, X, *rest: seen.append((experts, X)) or real(experts, X, *rest)
    )
    for scale in ("maxabs", "minmax"):
        for record in jobs.run_batch(
            small(sets=("guide",), scale=scale, draws=1, expert_sets=1).draw_jobs(), str(tmp_path)
        ):
            assert "runs" in record, record
    assert len(seen) == 2  # one table for both costs
    (first, a), (second, b) = seen
    np.testing.assert_array_equal(first.normals, second.normals)
    scaled = X / np.abs(X).max(axis=0)
    rows = [int(np.flatnonzero((np.abs(scaled - row) < 1e-12).all(axis=1))[0]) for row in a]
    assert len(a) == 200  # of 90 rows: drawn with replacement
    low, high = X.min(axis=0), X.max(axis=0)
    np.testing.assert_allclose(b, (2.0 * (X - low) / (high - low) - 1.0)[rows], atol=1e-9)

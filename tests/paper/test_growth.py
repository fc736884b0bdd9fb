"""How ContEXP3-ABS grows, as a study: read from TOML, run in parts, kept in the log."""

import numpy as np
import pytest

import abstain as ab
from abstain.errors import InputError
from abstain.experiments import seeds
from abstain.experiments.runner import run
from abstain.paper import growth, paper, read
from abstain.paper.growth import GrowthStudy


def rows_of(session):
    return growth.rows_of(session.frames["growth"])


def test_a_run_and_a_second(tmp_path):
    study = GrowthStudy("grow", dims=(1, 2), rounds=(100, 500), runs=2, cost=0.2, seed=3)
    session = run([study], tmp_path, jobs=1)
    assert [row[:5] for row in rows_of(session)] == [
        ("three", None, d, n, k) for d in (1, 2) for n in (100, 500) for k in (0, 1)
    ]
    assert (session.n_run, len(session.curves)) == (8, 0)
    again = run([study], tmp_path, jobs=2)
    assert (again.n_run, again.n_kept, rows_of(again)) == (0, 8, rows_of(session))
    assert len({row.regret for row in rows_of(session)}) == 8
    assert {(row.close, row.bound) for row in rows_of(session)} == {(None, None)}


def test_what_is_played():
    part = growth.Growth(2, 300, 1, 0.2, 3)
    problem = ab.instances.lipschitz(2, 0.2)
    X, y = problem.draw(300, seeds.of_data(3, "lipschitz 2 300", 0, 1))
    seed = seeds.of_learner(3, "lipschitz 2 300", 0, 1, "ContEXP3-ABS")
    trace = ab.simulate(ab.ContExp3Abs(2, cost=0.2, horizon=300, seed=seed), X, y)
    chance = (1 + np.sin(3 * X).mean(axis=1)) / 2
    expected = np.array([1 - chance, chance, np.full(300, 0.2)])
    paid = expected[trace.expert, np.arange(300)].sum() - expected.min(axis=0).sum()
    assert growth.play(part)["regret"] == pytest.approx(paid, abs=1e-9)


def test_the_grid(tmp_path):
    """What was followed costs c, or what its ramp loses on average over the labels; the bound is theorem 2's."""
    part = growth.Growth(1, 2_000, 0, 0.3, 3, gamma=0.2)
    problem = ab.instances.lipschitz(1, 0.3)
    X, y = problem.draw(2_000, seeds.of_data(3, "lipschitz 1 2000", 0, 0))
    seed = seeds.of_learner(3, "lipschitz 1 2000", 0, 0, "ContEXP3-ABS, grid, 0.2")
    options = {"actions": "grid", "gamma": 0.2, "eta": "tuned"}
    learner = ab.ContExp3Abs(1, cost=0.3, horizon=2_000, seed=seed, **options)
    trace = ab.simulate(learner, X, y)
    lean, paid = np.sin(3 * X[:, 0]), 0.0
    h, r = learner.experts.values
    for t, k in enumerate(trace.expert):
        wrong = [np.clip((0.2 - label * h[k]) / 0.4, 0, 1) for label in (1, -1)]
        paid += 0.3 if r[k] <= 0 else (1 + lean[t]) / 2 * wrong[0] + (1 - lean[t]) / 2 * wrong[1]
    best = np.minimum((1 - np.abs(lean)) / 2, 0.3).sum()
    found = growth.play(part)
    assert found["regret"] == pytest.approx(paid - best, abs=1e-9)
    assert found["close"] == ((np.abs(lean) >= 0.2) & (np.abs(lean) <= 0.6)).sum()
    assert 0 < found["bound"] <= 2_000
    assert np.ceil(2 / learner.epsilon) >= found["balls"]
    study = GrowthStudy("grow", dims=(1,), rounds=(50,), runs=1, actions="grid", gammas=(0.1, 0.2))
    rows = rows_of(run([study], tmp_path, jobs=1))
    assert [row[:5] for row in rows] == [("grid", 0.1, 1, 50, 0), ("grid", 0.2, 1, 50, 0)]
    assert all(row.close <= 50 and row.bound > 0 for row in rows)


def test_keys_of_the_three_actions_are_those_of_before():
    part = growth.Growth(2, 300, 1, 0.2, 3, version="1")
    assert part.key == "22724d0a502231c7320a7d3f"
    assert growth.Growth(2, 300, 1, 0.2, 3, version="1", gamma=0.1).key != part.key


def test_the_papers_and_a_users(tmp_path):
    study = paper()["adversarial-growth"]
    assert isinstance(study, GrowthStudy)
    assert max(study.quick().rounds) == 10_000
    path = tmp_path / "own.toml"
    path.write_text('[studies.g]\nkind = "growth"\nrounds = [10]\nruns = 1\n')
    assert read(path)["g"] == GrowthStudy("g", rounds=(10,), runs=1, seed=2018)
    path.write_text('[studies.g]\nkind = "growth"\nactions = "grid"\ngammas = [0.5]\n')
    assert read(path)["g"] == GrowthStudy("g", actions="grid", gammas=(0.5,), seed=2018)
    grid = ('actions = "grid"', 'actions = "grid"\ngammas = [1.0]', 'actions = "grid"\ngammas = 0.5', "gammas = [0.5]")
    for wrong in (
        *grid,
        'actions = "two"',
        "rounds = 5",
        "rounds = []",
        "dims = [0]",
        "runs = 0",
        "cost = 2.0",
        "costs = [0.1]",
    ):
        path.write_text(f'[studies.g]\nkind = "growth"\n{wrong}\n')
        with pytest.raises(InputError, match="g"):
            read(path)

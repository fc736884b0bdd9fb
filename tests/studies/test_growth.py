"""How ContEXP3-ABS grows, as a study: read from TOML, run in parts, kept in the log."""

import numpy as np
import pytest

import abstain as ab
from abstain.errors import InputError
from abstain.studies import growth
from abstain.studies.runner import run
from abstain.studies.spec import GrowthStudy, paper, read


def test_a_run_and_a_second(tmp_path):
    study = GrowthStudy("grow", dims=(1, 2), rounds=(100, 500), runs=2, cost=0.2, seed=3)
    session = run([study], tmp_path, jobs=1)
    assert [row[:3] for row in session.grown] == [(d, n, k) for d in (1, 2) for n in (100, 500) for k in (0, 1)]
    assert (session.n_run, len(session.curves)) == (8, 0)
    again = run([study], tmp_path, jobs=2)
    assert (again.n_run, again.n_kept, again.grown) == (0, 8, session.grown)
    assert len({row[3] for row in session.grown}) == 8


def test_what_is_played():
    part = growth.Growth(2, 300, 1, 0.2, 3)
    problem = ab.instances.lipschitz(2, 0.2)
    X, y = problem.draw(300, growth.seeds.of_data(3, "lipschitz 2 300", 0, 1))
    seed = growth.seeds.of_learner(3, "lipschitz 2 300", 0, 1, "ContEXP3-ABS")
    trace = ab.simulate(ab.ContExp3Abs(2, cost=0.2, horizon=300, seed=seed), X, y)
    chance = (1 + np.sin(3 * X).mean(axis=1)) / 2
    expected = np.array([1 - chance, chance, np.full(300, 0.2)])
    paid = expected[trace.expert, np.arange(300)].sum() - expected.min(axis=0).sum()
    assert growth.play(part)["regret"] == pytest.approx(paid, abs=1e-9)


def test_the_papers_and_a_users(tmp_path):
    study = paper()["adversarial-growth"]
    assert isinstance(study, GrowthStudy)
    assert max(study.quick().rounds) == 10_000
    path = tmp_path / "own.toml"
    path.write_text('[studies.g]\nkind = "growth"\nrounds = [10]\nruns = 1\n')
    assert read(path)["g"] == GrowthStudy("g", rounds=(10,), runs=1, seed=2018)
    for wrong in ("rounds = 5", "rounds = []", "dims = [0]", "runs = 0", "cost = 2.0", "costs = [0.1]"):
        path.write_text(f'[studies.g]\nkind = "growth"\n{wrong}\n')
        with pytest.raises(InputError, match="g"):
            read(path)

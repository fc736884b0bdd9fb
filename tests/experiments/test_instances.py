"""Problems with experts of their own in studies: their parameters, and pseudo-regret."""

import sys

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import abstain as ab
from abstain import paper
from abstain._core import parts
from abstain.cli import app
from abstain.errors import InputError
from abstain.experiments import Results, seeds
from abstain.experiments.curves import study_grids
from abstain.experiments.results import HIGH, LOW
from abstain.experiments.runner import run
from abstain.experiments.tables import finals

TOML = """
[sets]
wide = {{ instance = "regions", n_regions = 3, size = 2, gap = 0.4 }}
mixed = {{ instance = "simple_example", mixed = 0.5, pieces = 4 }}
moved = {{ instance = "alternating", length = 50 }}

[studies.mine]
sets = [{sets}]
costs = [0.3]
experts = {{ kind = "instance" }}
learners = ["UCB", "UCB-GT"]
rounds = 200
draws = 3
expert_sets = 1
"""


def read(tmp_path, sets='"wide", "mixed", "moved", "bias-problem"', **changes):
    text = TOML.format(sets=sets)
    for old, new in changes.values():
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "mine.toml").write_text(text)
    return paper.read(tmp_path / "mine.toml")["mine"]


def test_parameters_from_toml(tmp_path):
    study = read(tmp_path)
    curves = run([study], tmp_path / "out", jobs=1).curves
    problem = ab.instances.regions(3, 2, 0.4, cost=0.3)
    X, y = problem.draw(200, seeds.of_data(study.seed, "wide", 0, 1))
    trace = ab.simulate(ab.UCB(problem.experts, cost=0.3), X, y)
    here = curves.filter(dataset="wide", draw=1, learner="UCB", t=200).row(0, named=True)
    assert here["loss"] == pytest.approx(trace.loss.sum())
    gaps = np.array(problem.means) - min(problem.means)
    assert here["pseudo"] == pytest.approx(gaps[trace.expert].sum())
    assert here["edges"] == 3 * 2
    best = ab.best_in_hindsight(problem.experts, X, y, cost=0.3)
    assert here["best"] >= best.total.min() - 1e-9
    assert curves.filter(dataset="moved")["pseudo"].null_count() == len(curves.filter(dataset="moved"))  # means change
    known = curves.filter(pl.col("dataset").is_in(["wide", "mixed", "bias-problem"]))
    assert known["pseudo"].null_count() == 0
    table = finals(curves)
    assert table.filter(dataset="wide", learner="UCB")["pseudo"][0] == pytest.approx(
        curves.filter(dataset="wide", learner="UCB", t=200)["pseudo"].mean() / 200
    )
    grids = study_grids(curves, study)
    assert "pseudo" not in grids  # not known everywhere


def test_the_command_writes_a_report(tmp_path):
    read(tmp_path, sets='"wide"')
    out = tmp_path / "out"
    result = CliRunner().invoke(app, ["reproduce", str(tmp_path / "mine.toml"), "--out", str(out), "--jobs", "1"])
    assert result.exit_code == 0, result.output
    assert "wide" in (out / "report.html").read_text(encoding="utf-8")


def test_what_is_wrong_with_parameters(tmp_path):
    wrong = {
        ("n_regions = 3", "n_regions = 1"): "set wide: n_regions: expected",
        ("n_regions = 3", "regions = 3"): "set wide: option: expected one of",
        ('"regions"', '"region"'): "set wide: instance: expected one of",
        ("mixed = 0.5", "mixed = 0.3"): "set mixed: mixed: expected a multiple of 1/4",
        (", gap = 0.4", ""): "set wide: regions: cannot be made",
        ("gap = 0.4", "gap = 0.4, cost = 0.1"): "set wide: option: expected one of",
        ('experts = { kind = "instance" }', 'experts = { kind = "thresholds", thresholds = [0.1] }'): "needs experts",
    }
    for change, message in wrong.items():
        with pytest.raises(InputError, match=message):
            read(tmp_path, change=change)


def test_other_parameters_are_other_games(tmp_path):
    first = {job.key for job in read(tmp_path, '"wide"').jobs()}
    assert not first & {job.key for job in read(tmp_path, '"wide"', more=("gap = 0.4", "gap = 0.3")).jobs()}
    assert first == {job.key for job in read(tmp_path, '"wide"').jobs()}


def test_bands_over_draws_are_quantiles(tmp_path):
    study = read(tmp_path, '"wide"')
    curves = run([study], tmp_path / "out", jobs=1).curves
    grids = study_grids(curves, study)
    assert set(grids) == {"regret", "abstained", "edges", "loss", "pseudo"}
    (panel,) = grids["pseudo"].panels
    curve = panel.curves[0]
    ends = curves.filter(learner=curve.learner, t=200)["pseudo"] / 200
    low, high = panel.band(curve)
    assert low[-1] == pytest.approx(np.quantile(ends, LOW))
    assert high[-1] == pytest.approx(np.quantile(ends, HIGH))
    assert curve.mean[-1] == pytest.approx(ends.mean())
    course = Results(curves, [study]).settings("mine")[0].learners[curve.learner]
    np.testing.assert_allclose(course.expected, course.pseudo)
    without = Results(curves.drop("pseudo"), [study]).settings("mine")[0].learners[curve.learner]
    np.testing.assert_array_equal(without.expected, without.regret)


OWN = """
from dataclasses import dataclass
import numpy as np
import abstain as ab

@dataclass(frozen=True, eq=False)
class Coin(ab.instances.Problem):
    errs: float

    def draw(self, n, seed=None):
        random = np.random.default_rng(seed)
        y = random.choice([-1.0, 1.0], n)
        return np.column_stack([np.where(random.random(n) < self.errs, -y, y), np.tile([1.0, -1.0], (n, 1))]), y

def coin(errs, *, cost, means=None):
    experts = ab.experts.from_columns(1, 2, [(0, 0), (0, 1)])
    return Coin(experts, cost, ab.losses.get("zero_one"), (errs, cost) if means is None else means, errs)

def cheap(errs, *, cost):
    return coin(errs, cost=cost / 2)

def unpriced(errs):
    return coin(errs, cost=0.3)

def nothing(errs, *, cost):
    return None
"""


@pytest.fixture
def coins(tmp_path):
    (tmp_path / "coins_of_mine.py").write_text(OWN)
    yield lambda instance: read(
        tmp_path, sets='"wide"', own=('instance = "regions", n_regions = 3, size = 2, gap = 0.4', instance)
    )
    sys.modules.pop("coins_of_mine", None)


def test_a_problem_of_ones_own(coins, tmp_path):
    study = coins('instance = "coins_of_mine:coin", errs = 0.1')
    curves = run([study], tmp_path / "out", jobs=1).curves
    problem = parts.take("coins_of_mine:coin", str(tmp_path)).value(0.1, cost=0.3)
    X, y = problem.draw(200, seeds.of_data(study.seed, "wide", 0, 1))
    trace = ab.simulate(ab.UCB(problem.experts, cost=0.3), X, y)
    here = curves.filter(draw=1, learner="UCB", t=200).row(0, named=True)
    assert here["loss"] == pytest.approx(trace.loss.sum())
    assert here["pseudo"] == pytest.approx(0.2 * (trace.expert == 1).sum())
    (tmp_path / "coins_of_mine.py").write_text(OWN + "\n# changed\n")
    assert coins('instance = "coins_of_mine:coin", errs = 0.1').own[0].key != study.own[0].key


@pytest.mark.parametrize(
    ("instance", "match"),
    [
        ("coin", "instance: expected one of .*module:function"),
        ("coins_of_mine:coins", "has no coins"),
        ("coins_of_mine:nothing", "coins_of_mine:nothing: expected a Problem of abstain.instances, got None"),
        ("coins_of_mine:unpriced", "cannot be made .TypeError: .*'cost'"),
        ("coins_of_mine:cheap", "expected the cost of the setting, 0.5, got 0.25"),
        ('coins_of_mine:coin", means = [0.1], more = "', "cannot be made .TypeError: .*'more'"),
    ],
)
def test_what_is_wrong_with_a_problem_of_ones_own(coins, instance, match):
    with pytest.raises(InputError, match=f"set wide: .*{match}"):
        coins(f'instance = "{instance}", errs = 0.1')


def test_a_draw_that_is_too_short(coins, tmp_path):
    (tmp_path / "coins_of_mine.py").write_text(OWN.replace("(n, 1))]), y", "(n, 1))]), y[1:]"))
    sys.modules.pop("coins_of_mine", None)
    study = coins('instance = "coins_of_mine:coin", errs = 0.1')
    failures = run([study], tmp_path / "out", jobs=1).failures
    assert failures
    assert "wide: expected 200 rows and labels of draw, got 200 and 199" in str(failures[0])


@pytest.mark.parametrize("means", ["[0.1]", "[0.1, 0.2, 0.3]", "[0.1, nan]", "0.1"])
def test_means_are_one_for_each_expert(coins, means):
    with pytest.raises(InputError, match="means: expected a number for each of 2 experts"):
        coins(f'instance = "coins_of_mine:coin", errs = 0.1, means = {means}')

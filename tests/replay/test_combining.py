"""`abstain replay --combine`: the results name the combination, and the gate that is left goes on combining."""

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import abstain as ab
from abstain.cli import app
from abstain.errors import InputError
from abstain.gate.combining import COMBINED
from abstain.replay.options import Options, model_columns
from abstain.replay.run import replay

from .logs import NAMES, options, small_log

pytestmark = pytest.mark.usefixtures("no_page")
COST = 0.25


@pytest.mark.parametrize("classes", [("a", "b", "c"), ("no", "yes")])
def test_a_replay_does_what_single_cases_do(tmp_path, classes):
    log = small_log(600, classes=classes)
    log.write_csv(tmp_path / "log.csv")
    found = replay(tmp_path / "log.csv", options(combine=True, delay=7), tmp_path / "out")
    assert "--combine" in found.command
    assert found.models == list(NAMES)
    assert set(found.timeline.model) == {*NAMES, COMBINED}
    cases = pl.read_parquet(tmp_path / "out" / "cases.parquet")
    two = {"classes": classes} if len(classes) == 2 else {}
    gate, waiting = ab.Gate(list(NAMES), cost=COST, combine=True, seed=0, maturity=7, **two), []
    for i, row in enumerate(log.iter_rows(named=True)):
        if len(waiting) > 7:
            case, label = waiting.pop(0)
            if case.action == "answer":
                gate.learn(case, label)
        case = gate.decide({name: (row[name], row[f"{name}_confidence"]) for name in NAMES})
        waiting.append((case, row["label"]))
        assert (cases["action"][i], cases["model"][i]) == (case.action, case.model)
        assert cases["loss"][i] == (COST if case.action == "review" else float(case.answer != row["label"]))
    assert (cases["model"] == COMBINED).sum() > 0
    left = ab.load(tmp_path / "out" / "gate.abstain")
    assert left.combine
    assert left.decide({"gbm": (classes[0], 0.9)}).answers[COMBINED] is not None


def test_it_costs_less_where_models_err_independently(tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 8, 3_000)
    table = {"label": truth}
    for name in ("a", "b", "c"):
        right = rng.random(3_000) < 0.75
        table[name] = np.where(right, truth, rng.integers(0, 8, 3_000))
        table[f"{name}_confidence"] = rng.uniform(0.6, 0.9, 3_000)
    pl.DataFrame(table).write_parquet(tmp_path / "log.parquet")
    models = tuple(model_columns("class", f"{name}={name}:{name}_confidence") for name in ("a", "b", "c"))
    losses = []
    for combine in (False, True):
        given = Options(models=models, label="label", cost=0.2, combine=combine)
        found = replay(tmp_path / "log.parquet", given, tmp_path / "out")
        losses.append(next(one.loss for one in found.policies if one.kind == "gate"))
    assert losses[1] < 0.6 * losses[0]


def test_the_command_and_the_page_name_it(tmp_path, monkeypatch):
    monkeypatch.undo()  # with its page
    small_log(300).write_csv(tmp_path / "log.csv")
    done = CliRunner().invoke(app, ["replay", str(tmp_path / "log.csv"), "--combine", "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert COMBINED in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_numbers_are_not_combined():
    with pytest.raises(InputError, match="--combine: expected models that answer with classes"):
        Options(models=(model_columns("value", "a=x:e"),), label="y", max_error=1.0, combine=True)


@pytest.mark.parametrize("classes", [("a", "b", "c"), ("no", "yes")])
@pytest.mark.parametrize("staked", [False, True])
@pytest.mark.long
def test_prices_by_kind_are_those_of_single_cases(tmp_path, classes, staked):
    """A price for one kind of mistake, and for others one price or what is at stake."""
    log = small_log(400, classes=classes).with_columns(
        pl.Series("amount", np.random.default_rng(0).lognormal(2.0, 2.0, 400).round(2))
    )
    log.write_csv(tmp_path / "log.csv")
    rest = {"mistake_column": "amount"} if staked else {"mistake_price": 8.0}
    given = options(cost=None, review_price=1.0, fixed_prices=((classes[0], classes[1], 5.0),), combine=True, **rest)
    found = replay(tmp_path / "log.csv", given, tmp_path / "out")
    cases = pl.read_parquet(tmp_path / "out" / "cases.parquet")
    two = {"classes": classes} if len(classes) == 2 else {}
    kinds = {(classes[0], classes[1]): 5.0, "other": ab.PerStake(1.0) if staked else 8.0}
    most = {"max_stake": log["amount"].max()} if staked else {}
    gate = ab.Gate(list(NAMES), review_price=1.0, mistake_price=kinds, combine=True, seed=0, **two, **most)
    assert (found.price, found.cost) == (gate.unit, 1.0 / gate.unit)
    for i, row in enumerate(log.iter_rows(named=True)):
        stake = {"stake": row["amount"]} if staked else {}
        case = gate.decide({name: (row[name], row[f"{name}_confidence"]) for name in NAMES}, **stake)
        assert (cases["action"][i], cases["model"][i]) == (case.action, case.model)
        loss = gate._prices.cost
        if case.action == "answer":
            gate.learn(case, row["label"])
            loss = gate._prices.full(case.answer, row["label"], row["amount"] if staked else 1.0)
        assert cases["loss"][i] == pytest.approx(loss, rel=1e-12)
    assert (cases["model"] == COMBINED).sum() > 0

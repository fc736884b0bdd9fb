"""Logs of models and the study of them: made again by the seed, moving where they say so, run in parts."""

import io
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from rich.console import Console
from typer.testing import CliRunner

import abstain as ab
from abstain.alternatives import hindsight, retuned, tuned
from abstain.cli import app
from abstain.errors import InputError
from abstain.experiments.formats import Strong
from abstain.experiments.runner import run
from abstain.experiments.specs import LearnerSpec
from abstain.experts.columns import spaced
from abstain.paper import find, read
from abstain.paper.logs import recipes, report
from abstain.paper.logs import study as logged
from abstain.paper.logs.recipes import LOGS, RECIPES, SHIPPED, THRESHOLDS, Recipe, make
from abstain.paper.logs.study import Goal, LogJob, LogStudy, feedback_of

pytest.importorskip("sklearn")

UCBGT, EXP3 = LearnerSpec("UCB-GT", "UCBGT"), LearnerSpec("EXP3-ABS", "Exp3Abs")
FEW = ("breast-cancer", "diabetes, noise")


def small(**changes):
    values = {
        "name": "small", "logs": FEW, "learners": (UCBGT, EXP3), "delays": (0, 50), "repetitions": 2, "rounds": 400,
        "seed": 3,
    }  # fmt: skip
    return LogStudy(**(values | changes))


def from_set(drift, n=2_000, source="breast-cancer", **changes):
    return make(Recipe("test", source, 0.2, drift, 150, n, blur=0.5, **changes), n, 1, None)


@pytest.fixture(scope="module")
def still():
    return from_set(recipes.Still())


@pytest.mark.parametrize(
    "name", ["breast-cancer", "diabetes, noise", pytest.param("digits, outage", marks=pytest.mark.long)]
)
def test_a_log(name):
    log = make(RECIPES[name], 500, 7, None)
    again, other = make(RECIPES[name], 500, 7, None), make(RECIPES[name], 500, 8, None)
    for job, twin in zip((*log.answers, log.y, log.inputs), (*again.answers, again.y, again.inputs), strict=True):
        assert (job == twin).all()
    assert (log.answers.confidence != other.answers.confidence).mean() > 0.5
    assert log.answers.predictions.shape == log.answers.confidence.shape == log.losses.shape == (500, 3)
    assert ((log.answers.confidence >= 0.0) & (log.answers.confidence <= 1.0)).all()
    assert log.experts.n_experts == 3 * THRESHOLDS
    # What an expert loses is what its model loses where its confidence is above the threshold.
    advice = log.experts.advise(log.inputs)
    for model in range(3):
        rules = slice(model * THRESHOLDS, (model + 1) * THRESHOLDS)
        assert (advice.abstains[:, rules] == (log.answers.confidence[:, [model]] <= spaced(THRESHOLDS, 0.5))).all()
        assert not advice.abstains[:, model * THRESHOLDS].any()
        assert advice.abstains[:, (model + 1) * THRESHOLDS - 1].all()
    found = log.loss(advice.predictions, log.loss.labels(log.y))
    assert (found == log.losses).all()


def test_models_learn(still):
    errors = still.losses.mean(axis=0)
    assert (errors < 0.2).all()
    sure = still.answers.confidence > 0.9
    assert (still.losses[sure].mean(), still.losses[~sure].mean()) == pytest.approx((0.03, 0.3), abs=0.15)


def test_an_outage(still):
    log = from_set(recipes.Outage())
    out = np.zeros(2_000, bool)
    out[900:1_100] = True
    assert 0.4 < log.losses[out, 1].mean() < 0.6
    assert log.answers.confidence[out, 1].min() > 0.98
    assert (log.answers.confidence[~out] == still.answers.confidence[~out]).all()
    assert (log.losses[:, [0, 2]] == still.losses[:, [0, 2]]).all()


def test_a_switch():
    log = from_set(recipes.Switch(), source="digits")
    before, after = log.losses[:1_000].mean(axis=0), log.losses[1_000:].mean(axis=0)
    assert before.argmin() == 1
    assert after.argmin() != 1
    assert (abs(after - before) < 0.05)[[0, 2]].all()


def test_noise(still):
    log = from_set(recipes.Noise(0.8))
    assert (log.y[:200] == still.y[:200]).all()
    changed = log.y != still.y
    share = (still.y == 1).mean()
    assert changed[1_800:].mean() == pytest.approx(0.8 * 2 * share * (1 - share), abs=0.1)
    assert changed[200:600].mean() < changed[1_400:].mean() / 2


def test_a_population():
    X = np.random.default_rng(0).random((3_000, 2))
    fit, rows = recipes.Population(1).rows(np.random.default_rng(1), X, 500, 2_000)
    low = X[:, 1] <= np.median(X[:, 1])
    assert low[fit].all()
    assert low[rows[:200]].all()
    assert not low[rows[1_800:]].any()
    assert 0.4 < low[rows[900:1_100]].mean() < 0.6
    assert len(np.unique(rows)) == len(rows) > 0
    assert not set(fit) & set(rows)


def test_recorded_and_random_rows():
    X = np.zeros((100, 1))
    fit, rows = recipes.Recorded().rows(np.random.default_rng(0), X, 30, 500)
    assert (np.concatenate([fit, rows]) == np.arange(100)).all()
    fit, rows = recipes.Still().rows(np.random.default_rng(0), X, 30, 60)
    assert len({*fit, *rows}) == 90
    fit, rows = recipes.Still().rows(np.random.default_rng(0), X, 30, 500)
    assert len(rows) == 500
    assert not set(fit) & set(rows)


def test_recipes():
    assert {RECIPES[name].drift.moves for name in LOGS} == {True, False}
    assert all(0.15 <= RECIPES[name].cost <= 0.2 for name in RECIPES)
    assert len({RECIPES[name].key for name in RECIPES}) == len(RECIPES)
    assert recipes.Noise(0.5).key != recipes.Noise(0.6).key != recipes.Switch().key
    assert {RECIPES[name].dataset for name in SHIPPED} <= {"digits", "breast-cancer"}


def test_what_is_played():
    job = LogJob(RECIPES["breast-cancer"], 600, 4, 30, EXP3)
    log = make(job.recipe, 600, 4, None)
    (found,) = job.run(None)["runs"]
    seed = logged.seeds.of_learner(4, "breast-cancer", 0, 0, "EXP3-ABS, predicted")
    learner = ab.Exp3Abs(log.experts, cost=0.15, loss=log.loss, seed=seed)
    trace = ab.simulate(learner, log.inputs, log.y, delay=30)
    assert found["loss"] == trace.loss[60:].mean()
    assert found["abstained"] == trace.abstained[60:].mean()
    assert np.mean(found["pieces"]) == pytest.approx(trace.loss.mean())
    runs = {run["label"]: run["loss"] for run in replace(job, learner=None).run(None)["runs"]}
    rounds = log.answers.confidence, log.losses, 0.15, 60
    assert runs == {
        logged.TUNED: tuned(*rounds).loss[60:].mean(),
        logged.OWN: retuned(*rounds, delay=30).loss[60:].mean(),
        logged.ALL: retuned(*rounds, delay=30, own=False).loss[60:].mean(),
        logged.HINDSIGHT: hindsight(*rounds).loss[60:].mean(),
    }


@pytest.mark.long
def test_interrupted_and_resumed(tmp_path, monkeypatch):
    study = small()
    whole = run([study], tmp_path / "whole", jobs=1)
    assert (whole.n_run, whole.failures, whole.missing) == (2 * 2 * 2 * 3, [], {})
    made = []
    monkeypatch.setattr(logged, "make", lambda *how: made.append(how) or make(*how))
    logged._made.cache_clear()
    first = run([small(logs=FEW[:1])], tmp_path / "parts", jobs=1)
    assert first.n_run == 12
    assert len(made) == 2  # once for each seed, however many play
    lines = (tmp_path / "parts" / "jobs.jsonl").read_bytes()
    (tmp_path / "parts" / "jobs.jsonl").write_bytes(lines[: lines.rindex(b"\n", 0, -1) + 20])  # killed while writing
    again = run([study], tmp_path / "parts", jobs=1)
    assert (again.n_run, again.n_kept) == (13, 11)
    assert_frame_equal(*(one.frames["logs"].drop("seconds_run") for one in (again, whole)), check_exact=True)
    assert run([study], tmp_path / "parts", jobs=1).n_run == 0


def test_a_set_that_is_not_here(tmp_path, monkeypatch):
    monkeypatch.delenv("ABSTAIN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    session = run([small(logs=("breast-cancer", "elevation"), repetitions=1)], tmp_path / "out", jobs=1)
    assert (session.n_run, session.n_missing, session.failures) == (6, 6, [])
    assert list(session.missing) == ["covtype"]


def rows_by_hand(**percents):
    """Losses of a learner on three logs and two seeds, in per cent above 0.1."""
    found = []
    for seed in (0, 1):
        for log, moves in (("covtype", False), ("higgs", False), ("skin, noise", True)):
            for learner, feedback in (("tuned once", None), ("L", "predicted"), ("L", "both")):
                percent = 0.0 if feedback is None else percents[feedback][log] + (2 * seed - 1) * 1.0
                found.append({"study": "s", "log": log, "moves": moves, "cost": 0.2, "rounds": 100, "seed": seed,
                              "delay": 5, "feedback": feedback, "learner": learner, "loss": 0.1 * (1 + percent / 100),
                              "abstained": 0.5, "pieces": [0.1, 0.2], "seconds_run": 0.0, "host": "here",
                              "tuned": 0.1, "percent": percent})  # fmt: skip
    return pl.DataFrame(found)


def twins(label):
    return LearnerSpec(label, "DoublyRobust"), LearnerSpec(label, "DoublyRobust", {"feedback": "both"})


def test_the_tables_and_goals():
    rows = rows_by_hand(
        predicted={"covtype": 2.0, "higgs": 4.0, "skin, noise": -20.0},
        both={"covtype": 1.0, "higgs": 4.0, "skin, noise": -18.0},
    )
    found = logged.summary(rows)
    of = {row["log"]: row for row in found.filter(feedback="predicted").iter_rows(named=True)}
    assert (of[logged.STILL]["percent"], of[logged.MOVING]["percent"]) == pytest.approx((3.0, -20.0))
    assert of["higgs"]["error"] == pytest.approx(1.0)  # values 3 and 5
    assert (of[logged.WORST]["at"], of[logged.WORST]["percent"]) == ("higgs", pytest.approx(4.0))
    study = LogStudy(
        "s", logs=("covtype", "higgs", "skin, noise"), learners=twins("L"), delays=(5,),
        goals=(Goal("L", "predicted", 5, 4.5, -21.0), Goal("L", "both", 5, 3.0)),
    )  # fmt: skip
    lines = report.reached(study, found)
    assert [line[-1] for line in lines] == ["reached", "missed", "missed"]
    assert [isinstance(line[-1], Strong) for line in lines] == [False, True, True]
    shown = report.tables(study, found)
    assert [table.title for table in shown] == [
        "feedback predicted, labels 5 rounds late", "feedback both, labels 5 rounds late",
    ]  # fmt: skip
    assert shown[0].lines[1] == ("higgs", "0.1000", "+4.0 ± 1.0")
    assert shown[0].lines[-1] == ("worst log", "", "+4.0 ± 1.0 (higgs)")
    compared = report.more_labels(study, logged.more_labels(rows))
    assert compared.lines == (
        ("covtype", "-1.0 ± 0.0"), ("higgs", "+0.0 ± 0.0"), ("skin, noise", "+2.0 ± 0.0"),
    )  # fmt: skip
    assert [isinstance(line[1], Strong) for line in compared.lines] == [False, False, True]
    text = report.page(study, [*shown, compared], lines)
    assert "| higgs | 0.1000 | +4.0 ± 1.0 |" in text
    assert "| **missed** |" in text
    assert "| skin, noise | **+2.0 ± 0.0** |" in text
    (panel,) = report.over_time(study, rows)
    assert (panel.log, panel.middle.tolist()) == ("skin, noise", [25.0, 75.0])
    assert panel.losses["L"] == pytest.approx([0.1, 0.2])


def test_a_single_seed_has_no_error(tmp_path):
    session = run([small(logs=FEW[:1], repetitions=1, delays=(0,))], tmp_path, jobs=1)
    report.write(session.studies[0], session.frames["logs"], tmp_path, Console(quiet=True))
    text = (tmp_path / "tables" / "small.md").read_text(encoding="utf-8")
    assert "±" not in text
    assert "Of 1 seed, 3." in text
    assert "| breast-cancer |" in text
    assert not (tmp_path / "figures").exists()  # nothing moves there


def test_what_is_printed_and_where_files_are(tmp_path):
    rows = rows_by_hand(
        predicted={"covtype": -0.04, "higgs": 4.0, "skin, noise": -20.0},
        both={"covtype": 1.0, "higgs": 4.0, "skin, noise": -18.0},
    ).with_columns(study=pl.lit("../../x"), learner=pl.col("learner").replace({"L": "L | M"}))  # fmt: skip
    study = LogStudy("../../x", logs=("covtype", "higgs", "skin, noise"), learners=twins("L | M"), delays=(5,), goals=(
        Goal("L | M", "predicted", 5, 1.0),))  # fmt: skip
    console = Console(width=80, record=True, file=io.StringIO())
    (tmp_path / "a" / "out").mkdir(parents=True)
    report.write(study, rows, tmp_path / "a" / "out", console)
    printed = console.export_text()
    assert "**" not in printed
    assert "-0.0 " not in printed
    assert "+0.0 ± 1.0" in printed
    assert "missed" in printed
    assert all(file.is_relative_to(tmp_path / "a" / "out") for file in tmp_path.rglob("*") if file.is_file())
    text = (tmp_path / "a" / "out" / "tables" / "..-..-x.md").read_text(encoding="utf-8")
    assert "| log | tuned once (loss) | L &#124; M |" in text


def test_what_a_study_refuses():
    assert (small(delays=(5, 0, 5)).delays, small(logs=FEW + FEW).logs) == ((5, 0), FEW)
    assert [feedback_of(LearnerSpec("a", kind, options)) for kind, options in (
        ("FullSupervision", {}), ("UCBNT", {"graph": "complete"}), ("UCBNT", {}),
        ("DoublyRobust", {"feedback": "abstained"}),
    )] == ["both", "both", "predicted", "abstained"]  # fmt: skip
    with pytest.raises(InputError, match="study small: label: expected none of tuned once; .*, got 'best afterwards'"):
        small(learners=(LearnerSpec("best afterwards", "UCBGT"),))
    for goal, match in (
        (Goal("M", "predicted", 50, 1.0), r"goals: expected one of UCB-GT \(predicted\); .*, got M \(predicted\)"),
        (Goal("UCB-GT", "both", 50, 1.0), r"goals: expected one of .*, got UCB-GT \(both\)"),
        (Goal("UCB-GT", "predicted", 51, 1.0), "goals: expected a delay of 0, 50, got 51"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=match):
            small(goals=(goal,))
    assert small(goals=(Goal("UCB-GT", "predicted", 50, 1.0),)).quick().goals == ()


def test_the_studies_that_are_there():
    study, tuning = (one for name in ("logs", "tuning") for one in find(name))
    assert (study.seed, study.logs, study.delays) == (1_000, LOGS, (0, 100, 2_000))
    assert tuning.seed + tuning.repetitions <= 1_000
    assert {RECIPES[log].source for log in tuning.logs} == {"cod-rna", "cifar", "skin"}
    assert not {job.key for job in study.jobs()} & {job.key for job in tuning.jobs()}
    quick = study.quick()
    assert (quick.logs, quick.rounds, quick.repetitions) == (SHIPPED, 2_000, 2)


@pytest.mark.long
def test_a_users_file_and_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    path = tmp_path / "own.toml"
    path.write_text(
        '[studies.mine]\nkind = "logs"\nlogs = ["breast-cancer", "digits, outage"]\nlearners = ["UCB-GT"]\n'
        "delays = [20]\nrounds = 300\nrepetitions = 1\nseed = 9\n"
    )
    assert read(path)["mine"] == LogStudy(
        "mine", logs=("breast-cancer", "digits, outage"), learners=(UCBGT,), delays=(20,), rounds=300, repetitions=1,
        seed=9,
    )  # fmt: skip
    result = CliRunner().invoke(app, ["reproduce", str(path), "--out", str(tmp_path / "out"), "--jobs", "1"])
    assert result.exit_code == 0, result.output
    for words in ("digits, outage", "labels 20 rounds late", "re-tuned, own labels", "4 jobs run"):
        assert words in result.output
    names = {file.name for file in (tmp_path / "out").rglob("*") if file.is_file()}
    assert names == {"jobs.jsonl", "results.parquet", "logs.parquet", "mine.md", "mine.csv", "mine-over-time.svg",
                     "mine-over-time.png", "mine-over-time.pdf"}  # fmt: skip
    assert len(pl.read_parquet(tmp_path / "out" / "logs.parquet")) == 2 * 5
    for wrong in ('logs = ["nothing"]', "delays = []", "rounds = 5", "repetitions = 0", "seed = -1", "costs = [0.1]",
                  'learners = ["UCB-GT", "UCB-GT"]', "learners = []", "goals = [1]",
                  'goals = [{ learner = "a", feedback = "both", delay = 0, still = "x" }]'):  # fmt: skip
        lines = {"learners": 'learners = ["UCB-GT"]', wrong.split(" ")[0]: wrong}
        path.write_text('[studies.mine]\nkind = "logs"\n' + "\n".join(lines.values()))
        with pytest.raises(InputError, match="mine: .*expected"):
            read(path)

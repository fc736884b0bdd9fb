"""The commands of the service: gates, keys, backup, serve."""

import asyncio
import contextlib
import json
import logging
import os
import random
import re
import shlex
import sqlite3
import stat
import sys

import pytest
from typer.testing import CliRunner

pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")

import polars as pl

from abstain.cli import app
from abstain.service.bodies import DecisionBody, GateBody, LabelBody
from abstain.service.service import Service
from abstain.service.store import open_store

WRONG = {"ham": "spam", "spam": "ham"}


def made(n, seed=0):
    """Cases of two models, with their labels."""
    rng = random.Random(seed)
    for k in range(n):
        truth, sure = rng.choice(["ham", "spam"]), rng.uniform(0.5, 1.0)
        said = truth if rng.random() < sure else WRONG[truth]
        other = None if rng.random() < 0.3 else {"answer": rng.choice([truth, "ham"]), "confidence": rng.random()}
        yield f"m/{k}", truth, {"a": {"answer": said, "confidence": sure}, "b": other}


def fill(url, settings, rows, *, more=lambda service: None):
    """Decide and label cases in a store, as a server would; the last tenth has no labels."""

    async def run():
        store = open_store(url)
        service = Service(store)
        await service.start()
        try:
            await service.put_gate("g", GateBody(**{"models": ["a", "b"], "seed": 0, **settings}))
            for k, (case, label, answers, *rest) in enumerate(rows):
                await service.decide("g", DecisionBody(case=case, answers=answers, **(rest[0] if rest else {})))
                if k < 0.9 * len(rows):
                    await service.label("g", case, LabelBody(label=label))
            await (more(service) or asyncio.sleep(0))
        finally:
            await service.stop()
            store.close()

    asyncio.run(run())


def run(*words, code=0):
    root = logging.getLogger()
    handlers = list(root.handlers)
    result = CliRunner().invoke(app, list(map(str, words)), env={"COLUMNS": "200"})
    root.handlers[:] = handlers  # a server logs to the standard error of its time
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    url = f"sqlite:///{tmp_path_factory.mktemp('store') / 'gates.db'}"
    rows = list(made(200))

    async def correct(service):
        _, label, _ = rows[0]
        await service.label("g", rows[0][0], LabelBody(label=WRONG[label], correction=True))

    fill(url, {"cost": 0.2, "today": ["a", 0.8]}, rows, more=correct)
    return url, rows


def test_gates_are_listed_with_their_open_reviews(filled):
    shown = run("gates", "list", "--store", filled[0])
    assert re.search(r"g +│ live │ running │ +382 │ +200 │", shown), shown


def test_an_empty_store_says_how_to_make_a_gate(tmp_path):
    url = f"sqlite:///{tmp_path / 'new.db'}"
    run("keys", "add", "--store", url)
    assert "No gates yet" in run("gates", "list", "--store", url)


def test_inspect_shows_settings_cases_and_the_last_events(filled):
    shown = run("gates", "inspect", "g", "--store", filled[0])
    assert "g: live, running" in shown
    assert 'today: ["a", 0.8]' in shown
    assert "382 events, 0 of them decided otherwise" in shown
    assert "382 " in shown.split("last events:")[1]
    assert "corrected m/0" in shown


@pytest.mark.parametrize("command", ["inspect", "accept", "export"])
def test_an_unknown_gate_is_an_error_in_one_line(filled, command, tmp_path):
    words = ["--out", tmp_path / "x.csv"] if command == "export" else []
    shown = run("gates", command, "nobody", "--store", filled[0], *words, code=2)
    assert shown == "error: NAME: expected one of the store's gates (g), got 'nobody'\n"


@pytest.mark.parametrize(
    "words", [("gates", "list"), ("keys", "list"), ("keys", "revoke", "x"), ("backup", "--out", "b.db")]
)
def test_a_store_that_is_not_there_is_not_made(tmp_path, words, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = run(*words, "--store", "sqlite:///none.db", code=2)
    assert shown.startswith("error: --store: expected a store that exists")
    assert not list(tmp_path.iterdir())


def test_a_running_gate_needs_no_accepting(filled):
    assert run("gates", "accept", "g", "--store", filled[0]) == "g is running: nothing to accept.\n"


def test_a_gate_whose_journal_does_not_replay_is_accepted(tmp_path, monkeypatch):
    url = f"sqlite:///{tmp_path / 'gates.db'}"
    fill(url, {"cost": 0.2}, list(made(20)))
    with sqlite3.connect(tmp_path / "gates.db") as connection:  # as if another processor had decided
        ((seq, body),) = connection.execute(
            "select seq, body from events where kind = 'decided' and seq = 2"
        ).fetchall()
        changed = json.loads(body)
        changed["outcome"]["probability"] = 0.123
        connection.execute("update events set body = ? where seq = ?", (json.dumps(changed), seq))
        connection.execute("delete from snapshots")
    connection.close()
    assert "1 stopped" in run("serve", "--check", "--store", url, code=1)
    assert "g: live, stopped: " in run("gates", "inspect", "g", "--store", url)

    async def elsewhere(self, name):
        return "http://10.0.0.2:8000"

    with monkeypatch.context() as patch:
        patch.setattr(Service, "owner_of", elsewhere)
        shown = run("gates", "accept", "g", "--store", url, code=2)
        assert "got g, which http://10.0.0.2:8000 serves" in shown
    assert run("gates", "accept", "g", "--store", url) == "g is running.\n"
    assert "0 stopped" in run("serve", "--check", "--store", url)


def test_a_gate_whose_journal_is_damaged_cannot_be_accepted(tmp_path):
    url = f"sqlite:///{tmp_path / 'gates.db'}"
    fill(url, {"cost": 0.2}, list(made(5)))
    with contextlib.closing(sqlite3.connect(tmp_path / "gates.db")) as connection, connection:
        connection.execute("delete from snapshots")
        connection.execute("delete from events where seq = 3")
    shown = run("gates", "accept", "g", "--store", url, code=2)  # also if no server has noticed yet
    assert "stopped: the journal is damaged: event 3 is missing; restore a backup" in shown
    assert "g: stopped: the journal is damaged" in run("serve", "--check", "--store", url, code=1)


def test_the_log_has_what_came_and_what_was_decided(filled, tmp_path):
    url, rows = filled
    shown = run("gates", "export", "g", "--store", url, "--out", tmp_path / "log.parquet")
    assert "200 cases, 180 with a label" in shown
    log = pl.read_parquet(tmp_path / "log.parquet")
    assert log["case"].to_list() == [case for case, _, _ in rows]
    assert log["a"].to_list() == [answers["a"]["answer"] for _, _, answers in rows]
    assert log["b_confidence"].to_list() == [(answers["b"] or {}).get("confidence") for _, _, answers in rows]
    labels = [label for _, label, _ in rows]
    assert log["label"].to_list() == [WRONG[labels[0]], *labels[1:180], *[None] * 20]
    assert set(log["decided"]) <= {"a", "b", "review"}
    assert set(log["observed"]) == {1.0}
    assert log["time"].is_sorted()
    assert log["time"].n_unique() == 200
    assert (log["label_time"].drop_nulls() >= log["time"][:180]).all()


@pytest.mark.parametrize("end", ["parquet", "csv", "jsonl"])
def test_the_printed_command_replays_the_log(filled, tmp_path, end, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = run("gates", "export", "g", "--store", filled[0], "--out", f"log.{end}")
    command = shlex.split(shown.splitlines()[-1])
    assert command[:2] == ["abstain", "replay"]
    found = run(*command[1:], "--seeds", "1")
    assert "as it was decided" in found
    assert "today: a above 0.8" in found
    result = json.loads((tmp_path / "out" / "replay" / "replay.json").read_text(encoding="utf-8"))
    reviews = {policy["name"]: policy["reviewed"] for policy in result["policies"]}
    log = pl.read_parquet(tmp_path / "log.parquet") if end == "parquet" else None
    if log is not None:
        assert reviews["as it was decided"] == pytest.approx((log["decided"][20:] == "review").mean())


def test_the_log_is_read_as_it_is(filled, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("gates", "export", "g", "--store", filled[0], "--out", "log.csv")
    shown = run("replay", "log.csv", "--seeds", "1")
    assert "model b: b, b_confidence (class)" in shown


def test_numbers_and_stakes_have_their_columns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = random.Random(0)
    said = [(f"c{k}", rng.uniform(0, 10)) for k in range(60)]
    rows = [(case, x, {"a": {"answer": x + rng.gauss(0, 1), "error": 1.0}, "b": None}, {"stake": 2.0 + k})
            for k, (case, x) in enumerate(said)]  # fmt: skip
    settings = {"task": "number", "max_error": 4.0, "review_price": 1.0, "mistake_price": {"per_stake": 0.5}}
    fill("sqlite:///gates.db", settings, rows)
    shown = run("gates", "export", "g", "--out", "log.parquet")
    log = pl.read_parquet("log.parquet")
    assert log["a_error"].to_list() == pytest.approx([1.0] * 60)
    assert log["mistake_price"].to_list() == [1.0 + k / 2 for k in range(60)]
    assert "--value a=a:a_error" in shown
    assert "--max-error 4" in shown
    assert "--mistake-column mistake_price" in shown
    assert "try .parquet" in run("gates", "export", "g", "--out", "log.jsonl")


@pytest.mark.parametrize(
    ("price", "expected"),
    [
        (5.0, (5.0, ())),
        ({"per_stake": 2.0}, ({"per_stake": 2.0}, ())),
        ({"kinds": [{"said": "f", "true": "o", "price": 3}], "other": 9.0}, (9.0, (("f", "o", 3.0),))),
        ({"kinds": [{"said": "f", "true": "o", "price": 3}], "other": None}, (3.0, (("f", "o", 3.0),))),
        (
            {"kinds": [{"said": "f", "true": "o", "price": 3}, {"said": "o", "true": "f", "price": {"per_stake": 1.0}}],
             "other": None},
            ({"per_stake": 1.0}, (("f", "o", 3.0),)),
        ),
    ],
)  # fmt: skip
def test_prices_by_kind_become_fixed_prices(price, expected):
    from abstain.cli.gates import _of_mistakes

    assert _of_mistakes(price) == expected


def test_models_may_have_the_names_of_other_columns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("abstain.cli.gates.SLICE", 7)  # several slices
    rows = [(case, label, {"case": answers["a"], "review": answers["b"]}) for case, label, answers in made(130)]
    fill("sqlite:///gates.db", {"models": ["case", "review"], "cost": 0.2, "today": ["case", 0.8]}, rows)
    for end in ("parquet", "jsonl"):
        shown = run("gates", "export", "g", "--out", f"log.{end}")
        assert "as it was decided" in run(*shlex.split(shown.splitlines()[-1])[1:], "--seeds", "1")
    log = pl.read_parquet("log.parquet")
    assert log["case"].to_list() == [case for case, _, _ in rows]
    assert log["model_case"].to_list() == [answers["case"]["answer"] for _, _, answers in rows]
    assert set(log["decided"]) <= {"model_case", "model_review", "review"}


@pytest.mark.parametrize("end", ["parquet", "csv", "jsonl"])
def test_models_may_have_names_that_look_like_patterns(tmp_path, monkeypatch, end):
    monkeypatch.chdir(tmp_path)
    number = {"ham": 0, "spam": 1}
    rows = [(case, number[label], {"^.*$": {**answers["a"], "answer": number[answers["a"]["answer"]]}, "*": None})
            for case, label, answers in made(130)]  # fmt: skip
    fill("sqlite:///gates.db", {"models": ["^.*$", "*"], "cost": 0.2, "today": ["^.*$", 0.8]}, rows)
    shown = run("gates", "export", "g", "--out", f"log.{end}")
    found = run(*shlex.split(shown.splitlines()[-1])[1:], "--seeds", "1")
    assert "as it was decided" in found
    assert "today: ^.*$ above 0.8" in found


@pytest.mark.parametrize("end", ["parquet", "csv", "jsonl"])
def test_classes_may_be_empty_or_look_missing(tmp_path, monkeypatch, end):
    monkeypatch.chdir(tmp_path)
    named = {"ham": "", "spam": "NA"}
    rows = [(case, named[label], {"a": {**answers["a"], "answer": named[answers["a"]["answer"]]}, "b": None})
            for case, label, answers in made(130)]  # fmt: skip
    mistake = {"kinds": [{"said": "", "true": "NA", "price": 5.0}], "other": 4.0}

    async def label_all(service):
        for case, label, _ in rows:
            await service.label("g", case, LabelBody(label=label))

    fill("sqlite:///gates.db", {"review_price": 1.0, "mistake_price": mistake}, rows, more=label_all)
    shown = run("gates", "export", "g", "--out", f"log.{end}")
    assert "130 cases, 130 with a label" in shown
    asked = shlex.split(shown.splitlines()[-1])[1:]
    assert '"":"NA"=5' in asked
    run(*asked, "--seeds", "1")
    result = json.loads((tmp_path / "out" / "replay" / "replay.json").read_text(encoding="utf-8"))
    assert result["without_label"] == 0
    wrong = sum(answers["a"]["answer"] != label for _, label, answers in rows[13:])
    assert result["policies"][0]["mistakes"] == pytest.approx(wrong / 117)


def test_no_two_classes_get_the_same_text():
    from abstain.cli.gates import _text

    texts = ["", "NA", '""', '"NA"', '""NA""', " ", '"', "x", '"x"']
    assert len({_text(one) for one in texts}) == len(texts)
    assert [_text(one) for one in texts[-2:]] == texts[-2:]


def test_the_export_has_no_labels_that_were_not_drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    url = "sqlite:///gates.db"

    async def scenario():
        service = Service(open_store(url))
        await service.start()
        settings = {"models": ["a"], "cost": 0.9, "labels": [0.5, 1.0], "start": ["a", 0.1], "seed": 1}
        await service.put_gate("g", GateBody.model_validate(settings))
        answered = []
        for k in range(12):
            asked = {"case": f"c{k}", "answers": {"a": {"answer": "x", "confidence": 0.9}}}
            if (await service.decide("g", DecisionBody.model_validate(asked))).action == "answer":
                answered.append(f"c{k}")
        for name, source in zip(answered[:3], ("outcome", "audit", None), strict=True):
            await service.label("g", name, LabelBody(label="y", source=source))
        await service.stop()
        return answered

    outcome, audit, unsaid = asyncio.run(scenario())[:3]
    run("gates", "export", "g", "--store", url, "--out", "log.parquet")
    log = pl.read_parquet("log.parquet").filter(pl.col("label").is_not_null() | pl.col("label_time").is_not_null())
    assert log["case"].to_list() == [audit, unsaid]
    assert outcome not in log["case"]


def test_no_two_models_get_the_same_column():
    from abstain.cli.gates import OWN, _name

    names = ["case", "model_case", "model_model_case", "model_a", "a"]
    assert [_name(one) for one in names][3:] == ["model_a", "a"]
    assert len({_name(one) for one in names} - OWN) == len(names)


def test_whole_numbers_stay_numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [(f"c{k}", k % 3, {"a": {"answer": k % 2, "confidence": 0.8}, "b": None}) for k in range(30)]
    fill("sqlite:///gates.db", {"cost": 0.2}, rows)
    run("gates", "export", "g", "--out", "log.parquet")
    log = pl.read_parquet("log.parquet")
    assert log["a"].to_list() == [k % 2 for k in range(30)]
    assert log["label"].to_list()[:27] == [k % 3 for k in range(27)]


def test_another_kind_of_file_is_refused(filled, tmp_path):
    shown = run("gates", "export", "g", "--store", filled[0], "--out", tmp_path / "log.xlsx", code=2)
    assert "expected a file that ends with .parquet, .csv, .jsonl" in shown


def test_a_key_is_shown_once_and_revoked_once(tmp_path):
    url = f"sqlite:///{tmp_path / 'gates.db'}"
    words = ("--store", url, "--scope", "read", "--scope", "review", "--gate", "g", "--name", "Ada")
    key = run("keys", "add", *words).strip()
    found = re.fullmatch(r"abk_([0-9a-f]{12})_[A-Za-z0-9_-]{43}", key)
    assert found
    assert key.encode() not in (tmp_path / "gates.db").read_bytes()
    shown = run("keys", "list", "--store", url)
    assert re.search(rf"{found[1]} │ g +│ read review │ Ada", shown), shown
    assert run("keys", "revoke", found[1], "--store", url) == f"{found[1]} is revoked.\n"
    assert "not revoked" in run("keys", "revoke", found[1], "--store", url, code=2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--scope", "all"), "scopes"),
        (("--gate", "no gate"), "--gate: expected the name of a gate"),
        (("--name", "two\nlines"), "--name: expected at most 200 printable characters"),
    ],
)
def test_wrong_keys_are_refused(tmp_path, words, message):
    url = f"sqlite:///{tmp_path / 'gates.db'}"
    assert message in run("keys", "add", "--store", url, *words, code=2)
    assert "No keys" in run("keys", "list", "--store", url)


def test_a_backup_is_a_store_that_others_cannot_read(filled, tmp_path):
    out = tmp_path / "backup.db"
    run("backup", "--store", filled[0], "--out", out)
    assert run("gates", "list", "--store", f"sqlite:///{out}") == run("gates", "list", "--store", filled[0])
    if os.name == "posix":
        assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert "which exists" in run("backup", "--store", filled[0], "--out", out, code=2)


def test_a_backup_of_postgres_is_left_to_pg_dump(tmp_path, monkeypatch):
    from abstain.service import store

    class Postgres:
        path = None
        backup = store.SqlStore.backup

        def close(self):
            pass

    monkeypatch.setattr(store, "open_store", lambda url: Postgres())
    shown = run("backup", "--store", "postgresql://h/d", "--out", tmp_path / "x", code=2)
    assert "use pg_dump" in shown


@pytest.mark.parametrize("words", [("serve",), ("gates", "list"), ("keys", "list"), ("backup", "--out", "b.db")])
def test_a_missing_extra_is_one_line(monkeypatch, words):
    from abstain._core import extras

    here = extras.is_there
    monkeypatch.setattr(extras, "is_there", lambda name: name != "fastapi" and here(name))
    shown = run(*words, code=2)
    assert re.fullmatch(r"error: abstain .* needs fastapi: pip install 'abstain\[service\]'\n", shown), shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--store", "nothing"), "store: expected sqlite:///FILE or postgresql://"),
        (("--store", "sqlite:///nowhere/x/gates.db"), "a folder that exists"),
        (("--log-level", "loud"), "log_level"),
        (("--port", "70000"), "port"),
        (("--host", "0.0.0.0"), "keys add"),
    ],
)
def test_a_server_that_cannot_start_says_why(tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    shown = run("serve", *words, code=2)
    assert shown.startswith("error: ")
    assert message in shown
    assert shown.count("\n") == 1


@pytest.mark.parametrize(
    "path", [("serve",), ("gates", "list"), ("gates", "inspect"), ("gates", "export"), ("gates", "accept"),
             ("keys", "add"), ("keys", "list"), ("keys", "revoke"), ("backup",)], ids=" ".join
)  # fmt: skip
def test_every_help_has_an_example_that_parses(path):
    import typer

    text = " ".join(run(*path, "--help").split())
    example = re.search(r"Example: (abstain .*?)(?: ╭| \[|$)", text)
    assert example, text
    words = shlex.split(example[1])
    assert words[1 : 1 + len(path)] == list(path)
    command = typer.main.get_command(app)
    for name in path:
        command = command.commands[name]
    command.make_context("abstain", words[1 + len(path) :])


def test_the_library_imports_nothing_of_the_service():
    import subprocess

    code = "import abstain, abstain.cli, sys; print({'fastapi', 'sqlalchemy', 'httpx', 'uvicorn'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"

"""Comparing with an earlier commit: when to stop, and errors for wrong commands. Logs with some of their models."""

from pathlib import Path

import numpy as np
import pytest

from abstain.gate.frames import Block
from benchmarks import capacity, naive
from benchmarks.__main__ import main
from benchmarks.before import FEWEST, MOST, settled

DOCS = Path(__file__).parents[2] / "docs"


def test_settled_when_three_processes_of_either_side_agree():
    close, apart = [(1.0, 2.0)] * 3, [(1.5, 2.0), (1.0, 2.0), (1.3, 2.0)]
    assert not settled(close[:2])
    assert not settled(close)
    assert settled(close + [(9.0, 9.0)] * FEWEST)
    assert not settled(apart + [(9.0, 9.0)] * FEWEST)
    assert settled(apart * MOST)


def test_help_names_the_sections(capsys):
    main(["--help"])
    assert {"floor,", "before", "rings,"} <= set(capsys.readouterr().out.split())


def test_wrong_commands(capfd):
    for words, message in [
        (["nothing"], "unknown section nothing; expected some of floor"),
        (["before"], "expected a commit"),
        (["before", "HEAD", "floor"], "unknown section floor; expected some of rings"),
        (["before", "no-such-commit", "rings"], "no-such-commit: expected a commit"),
    ]:
        with pytest.raises(SystemExit, match=message):
            main(words)
    capfd.readouterr()


def test_logs_keep_what_some_of_their_models_say():
    health = pytest.importorskip("benchmarks.health")
    block = Block(np.eye(3), 1.0 - np.eye(3), due=np.arange(3) + 1, answer=np.arange(9.0).reshape(3, 3))
    cut = health.some_models(health.Log(["a", "b", "c"], {}, block), [0, 2])
    assert cut.models == ["a", "c"]
    assert cut.block.answer.tolist() == [[0.0, 2.0], [3.0, 5.0], [6.0, 8.0]]
    assert cut.block.losses.shape == (3, 2)
    assert cut.block.said is None
    assert cut.block.due is block.due


def test_the_service_is_measured_in_full_if_no_section_is_named(monkeypatch):
    service, ran = pytest.importorskip("benchmarks.service"), []
    sections = {name: lambda size, folder, name=name: ran.append(name) for name in service.SECTIONS}
    monkeypatch.setattr(service, "SECTIONS", sections)
    service.main([])
    assert ran == list(sections)
    service.main(["--quick", "gates"])
    assert ran == [*sections, "gates"]


def test_goals_of_combining_are_judged_against_both_stacks(monkeypatch):
    logs = pytest.importorskip("benchmarks.logs")
    shown = []
    monkeypatch.setattr(logs, "show", lambda title, heads, rows: shown.extend(rows))
    bad = {logs.GATE: 1.0, logs.COMBINED: 0.9, logs.HINDSIGHT: 0.95, logs.STACK: 1.2, logs.TAUGHT: 0.85}
    logs.judge({("a log", 0): bad, ("a log", 1): bad | {logs.TAUGHT: 0.8}, ("another", 0): {}}, ["a log"])
    reached = {row[0]: row[2] for row in shown}
    assert reached["mean, points above that of the stack"] == "-30.0"
    assert reached["mean, points above that of the stack, taught"] == "+7.5"
    assert reached["worst, points above that of the stack, taught"] == "+5.0"


@pytest.mark.long
@pytest.mark.parametrize(("module", "page", "columns"), [(capacity, "capacity", 2), (naive, "doubly-robust", 3)])
def test_a_page_has_the_numbers_that_its_command_prints(module, page, columns, monkeypatch):
    """Where a learner's rule changes, so do these tables: no clock is in them."""
    rows, text = [], (DOCS / f"{page}.md").read_text(encoding="utf-8")
    monkeypatch.setattr(module, "show", lambda title, heads, more: rows.extend(more))
    module.main()
    assert rows
    for row in rows:
        numbers = [cell for cell in row if cell.startswith(("0.", "1."))]
        assert f"| {' | '.join(numbers[:columns])} |" in text, row

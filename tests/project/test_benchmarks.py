"""Comparing with an earlier commit: when to stop, and errors for wrong commands."""

import pytest

from benchmarks.__main__ import main
from benchmarks.before import FEWEST, MOST, settled


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

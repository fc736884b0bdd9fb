"""A page takes longer than the rest of a small replay, and has its own tests."""

import pytest

from abstain.replay.report import page


@pytest.fixture
def no_page(monkeypatch):
    """Something small instead."""
    monkeypatch.setattr(page, "write", lambda replay, path: path.write_text(replay.verdict))

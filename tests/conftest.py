"""Slow tests carry the marker ``long``; random games are longer with ``--hypothesis-profile long``."""

import pytest
from hypothesis import settings

settings.register_profile("patient", deadline=None)  # the first example may compile
settings.register_profile("long", deadline=None)
settings.load_profile("patient")  # pytest loads the one it is given later


def pytest_configure() -> None:
    try:
        import matplotlib
    except ImportError:  # the core is tested without it, too
        return
    matplotlib.use("Agg")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With the profile ``long``, random games are among the slow tests."""
    for item in items:
        if getattr(getattr(item, "function", None), "is_longer", False):
            item.add_marker("long")

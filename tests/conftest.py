"""Slow tests carry the marker ``long``; random games are longer with ``--hypothesis-profile long``."""

import re

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


RARE = re.compile("guard|singles|(exp3_abs|doubly_robust)_capacity")
"""Parameters that need kernels of their own, which take seconds to compile and are used by few."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Rare configurations are slow tests, and with the profile ``long`` random games are, too."""
    for item in items:
        callspec = getattr(item, "callspec", None)
        rare = callspec is not None and RARE.search(callspec.id)
        if rare or getattr(getattr(item, "function", None), "is_longer", False):
            item.add_marker("long")

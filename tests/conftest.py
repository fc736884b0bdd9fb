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


RARE = re.compile(
    "guard|singles|DoublyRobust-(abstained|memories|experts2)|[Ss]tacked|UCB-?DSG|ucb_dsg"
    "|(exp3_abs|doubly_robust)_capacity|doubly_robust_memories|exp3_abs_share|EXP3-ABS, shares"
)
"""Parameters that need kernels of their own, which take seconds to compile and are used by few."""
SLOW_PAGES = {
    "doubly-robust.md", "capacity.md", "which.md", "memory.md", "successors.md",
    "abstain.learners.ucb.dsg.UCBDSG", "abstain.learners.exp3.stacked.Stacked",
}  # fmt: skip
"""Pages and classes whose examples need kernels of their own."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Rare configurations are slow tests, and with the profile ``long`` random games are, too.

    Of a test with the marker ``sample(n)``, n sets of parameters, evenly spread, are quick; the others are slow.
    """
    sampled: dict[str, list[pytest.Item]] = {}
    for item in items:
        callspec = getattr(item, "callspec", None)
        rare = callspec is not None and RARE.search(callspec.id)
        if rare or item.name in SLOW_PAGES or getattr(getattr(item, "function", None), "is_longer", False):
            item.add_marker("long")
        elif item.get_closest_marker("sample") is not None:
            sampled.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for alike in sampled.values():
        marker = alike[0].get_closest_marker("sample")
        assert marker is not None
        n = min(marker.args[0], len(alike))
        quick = {round(i * (len(alike) - 1) / max(1, n - 1)) for i in range(n)}
        for i, item in enumerate(alike):
            if i not in quick:
                item.add_marker("long")

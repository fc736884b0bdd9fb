"""Compiling takes its time at the first example: no deadlines. And what is left to `make test-long`."""

import matplotlib
import pytest
from hypothesis import settings

matplotlib.use("Agg")
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

SLOW = (
    "adapters/test_river.py::test_rivers_checks",
    "adapters/test_sklearn.py::test_scikit_learns_checks",
    "conformance/test_weights.py",
    "engine/test_cost.py",
    "engine/test_nonsense_in_files.py::test_huge_numbers",
    "experiments/test_dask.py",
    "test_capacity.py",
    "test_rearrange.py",
    "test_stacked.py",
    "test_warm_start.py",
)
"""Kernels that nothing else in `make test` needs, and suites of others: compiling them alone takes minutes."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        of_capacity = "test_nonsense_in_files" in item.nodeid and "_capacity" in item.nodeid
        if of_capacity or any(f"tests/{name}" in item.nodeid for name in SLOW):
            item.add_marker("long")

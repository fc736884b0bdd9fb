"""Learners written as the page "Extend" shows them, against UCB-GT and EXP3-ABS on the same rounds."""

import importlib
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import abstain as ab

from .data import COST, Floats, problem, simulation
from .table import at_most, number, show
from .timing import Task, best

ROUNDS = 20_000
TARGET, TARGET_OF_WEIGHTS = 3.0, 1.3
PAGE = Path(__file__).parents[1] / "docs" / "extend.md"


def of_the_page(module: str, kind: str) -> Any:
    """A class that the page builds, in a module of its own."""
    source = re.search(rf"<!-- {module}.py -->\n```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert source is not None
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, f"{module}.py").write_text(source.group(1), encoding="utf-8")
        sys.path.insert(0, folder)
        try:
            return getattr(importlib.import_module(module), kind)
        finally:
            sys.path.remove(folder)


def playing(kind: Any, experts: ab.experts.ExpertSet, X: Floats, y: Floats) -> Task:
    """Play a table with a new learner."""

    def prepare() -> Callable[[], object]:
        learner = kind(experts, cost=COST, seed=0)
        return lambda: ab.simulate(learner, X, y)

    return prepare


def run() -> None:
    kind, levels = of_the_page("epsilon_greedy", "EpsilonGreedy"), np.linspace(0.0, 0.25, 20)
    cases: dict[str, tuple[ab.experts.ExpertSet, int]] = {
        "100 hyperplanes x 20 rings": (ab.experts.hyperplanes(dim=8, seed=0), 8),
        "100 models x 20 thresholds": (ab.experts.thresholds(100, levels), 100),
        "3 models x 20 thresholds": (ab.experts.thresholds(3, levels), 3),
    }
    weights, rows, of_weights = of_the_page("undecided", "Undecided"), [], []
    for name, (experts, dim) in cases.items():
        X, y = problem(ROUNDS, dim)
        times = best({"own": playing(kind, experts, X, y), "UCBGT": simulation("UCBGT", experts, X, y)}, 10)
        ratio = times["own"] / times["UCBGT"]
        rows.append([name, number(ratio), at_most(ratio, TARGET)])
        tasks = {"own": playing(weights, experts, X, y), "Exp3Abs": playing(ab.Exp3Abs, experts, X, y)}
        times = best(tasks, 10)
        ratio = times["own"] / times["Exp3Abs"]
        of_weights.append([name, number(ratio), at_most(ratio, TARGET_OF_WEIGHTS)])
    show(f"Epsilon-greedy of the page, in rounds of UCBGT (target {TARGET:g})", ["experts", "times", ""], rows)
    title = f"Weights of the page, in rounds of Exp3Abs (target {TARGET_OF_WEIGHTS:g})"
    show(title, ["experts", "times", ""], of_weights)

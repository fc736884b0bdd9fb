"""Doubly robust weights against EXP3-ABS at the adaptive rate: whole tables, and rounds by hand."""

from functools import partial
from typing import Any

import numpy as np

import abstain as ab

from .data import COST, problem
from .floor import ROUNDS, UNIT, in_passes
from .online import WARM, a_round
from .own import playing
from .table import at_most, number, show
from .timing import best

DIM = 8
BY_HAND = 1_000
KINDS: dict[str, Any] = {
    "EXP3-ABS": ab.Exp3Abs,
    "DoublyRobust": ab.DoublyRobust,
    "... guarded": partial(ab.DoublyRobust, guard=1 / 16),
    "... memory=5000": partial(ab.DoublyRobust, memory=5_000),
    "... memory='adaptive'": partial(ab.DoublyRobust, memory="adaptive"),
    "Stacked": ab.Stacked,
    "UCB-ABS": ab.UCBAbs,
    "UCB-DSG": partial(ab.UCBDSG, slack=0.001, loss_slack=0.1),
    "fast rates": ab.FastRates,
}
TARGETS = {  # who, in rounds of whom, at most
    "DoublyRobust": ("EXP3-ABS", 3.0),
    "... guarded": ("EXP3-ABS", 5.0),
    "... memory='adaptive'": ("... memory=5000", 4.0),
    "Stacked": ("DoublyRobust", 1.1),
}
TARGET_BY_HAND = 2.0


def run() -> None:
    X, y = problem(ROUNDS, DIM)
    experts = ab.experts.hyperplanes(dim=DIM, seed=0)
    tasks = UNIT | {name: playing(kind, experts, X, y) for name, kind in KINDS.items()}
    times = best(tasks, 8)
    rows = []
    for name in KINDS:
        other, target = TARGETS.get(name, ("EXP3-ABS", float("inf")))
        ratio = times[name] / times[other]
        verdict = at_most(ratio, target) if name in TARGETS else ""
        rows.append([name, in_passes(times, name)[0], f"{number(ratio)} x {other}", verdict])
    show("Doubly robust weights, 2,000 experts on rings", ["", "passes a round", "ratio", ""], rows)
    _by_hand()


def _by_hand() -> None:
    """The median round of decide + learn with three models x 20 thresholds, learners in turns."""
    experts = ab.experts.thresholds(3, np.linspace(-0.01, 0.9, 20))
    X, y = problem(WARM + BY_HAND, 3)
    learners = {name: kind(experts, cost=COST, seed=0) for name, kind in KINDS.items()}
    times = {name: np.empty(len(X)) for name in learners}
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        advice = experts.advise(x[np.newaxis])
        for name, learner in learners.items():
            times[name][i] = a_round(learner, advice, label)
    medians = {name: float(np.median(of[WARM:])) for name, of in times.items()}
    rows = []
    for name, median in medians.items():
        ratio = median / medians["EXP3-ABS"]
        rows.append([name, number(ratio), at_most(ratio, TARGET_BY_HAND) if name != "EXP3-ABS" else ""])
    show(f"decide + learn, 60 experts (target {TARGET_BY_HAND:g})", ["", "in rounds of EXP3-ABS", ""], rows)

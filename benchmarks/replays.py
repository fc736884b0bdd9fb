"""Ten logs of real models, each replayed by `abstain replay`: `python -m benchmarks.replays [seeds [log ...]]`.

Different sets and models, nothing that moves, slow drift, a switch, an outage; labels at once and 2,000 rows late; two
classes, ten classes, numbers. Nothing was chosen on these seeds. It prints the table of docs/logs.md; it needs the
data sets (`ABSTAIN_DATA`) and scikit-learn.
"""

import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import polars as pl

from abstain.instances.models import NUMBERS
from abstain.paper.logs.recipes import ModelLog, make, recipe
from abstain.replay.options import CLASS, VALUE, ModelColumns, Options
from abstain.replay.run import replay

from .table import console, show

NAMES = {False: ("logistic", "boosting", "bayes"), True: ("ridge", "boosting", "neighbours")}
"""Of the models, by whether they answer numbers."""
STILL = ("covtype", "ijcnn", "digits", "elevation")
MOVING = (
    "covtype, population",
    "skin, noise",
    "higgs, switch",
    "cifar, switch",
    "cod-rna, outage",
    "elevation, outage",
)
FIRST_SEED, SEEDS = 2_000, 3
DELAYS = (0, 2_000)
LABELS = ("answered", "both")
OTHERS = ("retuned-own", "retuned-all", "hindsight")
GOALS = {"answered": (3.0, -12.0), "both": (0.5, -15.0)}
"""Per cent above `tuned` at most, in the mean: where nothing moves, and where something does."""
ABOVE_OWN = 1.0
"""Per cent above `retuned-own` at most, everywhere."""


def write(log: ModelLog, path: Path) -> tuple[ModelColumns, ...]:
    """The log as Parquet, as a team would have it; the columns of its models."""
    numbers = log.task == NUMBERS
    table = {"label": log.y}
    columns = []
    for m, name in enumerate(NAMES[numbers]):
        sure = log.answers.confidence[:, m]
        table[name], table[f"{name}_sure"] = log.answers.predictions[:, m], 1.0 - sure if numbers else sure
        columns.append(ModelColumns(name, VALUE if numbers else CLASS, name, f"{name}_sure"))
    pl.DataFrame(table).write_parquet(path)
    return tuple(columns)


def per_cent(names: Iterable[str], seeds: int) -> dict[tuple[str, str, int, str], list[float]]:
    """What each policy loses more than `tuned`, by log, labels, delay and policy; a number a seed."""
    found = defaultdict(list)
    for name in names:
        for seed in range(FIRST_SEED, FIRST_SEED + seeds):
            of = recipe(name)
            log = make(of, of.rounds, seed, os.environ.get("ABSTAIN_DATA"))
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "log.parquet")
                models = write(log, path)
                for delay in DELAYS:
                    for labels in LABELS:
                        options = Options(
                            models=models, label="label", cost=of.cost, labels=labels, delay=delay, seed=seed,
                            max_error=1.0 if log.task == NUMBERS else None,
                        )  # fmt: skip
                        result = replay(path, options, Path(folder, "out"))
                        loss = {policy.kind: policy.loss for policy in result.policies if policy.kind != "always"}
                        for kind in ("gate", *OTHERS):
                            found[name, labels, delay, kind].append(100.0 * (loss[kind] / loss["tuned"] - 1.0))
            console.print(f"{name}, seed {seed}", highlight=False)
    return found


def main(words: list[str]) -> None:
    seeds = int(words[0]) if words else SEEDS
    names = words[1:] or [*STILL, *MOVING]
    found = per_cent(names, seeds)
    mean = {key: float(np.mean(values)) for key, values in found.items()}
    for delay in DELAYS:
        rows = []
        for name in names:
            gates = [f"{mean[name, labels, delay, 'gate']:+.1f}" for labels in LABELS]
            rows.append([name, *gates, *(f"{mean[name, LABELS[0], delay, kind]:+.1f}" for kind in OTHERS)])
        heads = ["log", *(f"gate, {labels}" for labels in LABELS), *OTHERS]
        show(f"Per cent of `tuned`, labels {delay:,} rows late", heads, rows)
    rows = []
    for labels, goals in GOALS.items():
        for group, among, goal in (("nothing moves", STILL, goals[0]), ("something moves", MOVING, goals[1])):
            values = [mean[name, labels, delay, "gate"] for name in among if name in names for delay in DELAYS]
            if values:
                reached = float(np.mean(values))
                rows.append([labels, group, f"{goal:+g}", f"{reached:+.1f}", "met" if reached <= goal else "MISSED"])
        above = {}
        for name in names:
            for delay in DELAYS:
                gate, own = (100.0 + mean[name, labels, delay, kind] for kind in ("gate", "retuned-own"))
                above[name, delay] = 100.0 * (gate / own - 1.0)
        worst = max(above, key=lambda key: above[key])
        verdict = "met" if above[worst] <= ABOVE_OWN else "MISSED"
        where = f"{above[worst]:+.1f} ({worst[0]}, {worst[1]:,} late)"
        rows.append([labels, "above retuned-own, worst", f"{ABOVE_OWN:+g}", where, verdict])
    show("What was to be reached", ["labels", "", "at most", "reached", ""], rows)


if __name__ == "__main__":
    main(sys.argv[1:])

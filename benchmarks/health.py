"""What alarms save and what false alarms cost: `python -m benchmarks.health`.

Plays the demo's log and logs of the study `abstain reproduce logs`, with labels at once and 1,000 rows late, by a gate
that reports alarms and by one that does not follow models in alarm. The last table raises false alarms by hand, on logs
on which nothing changes, for the model that is followed most.
"""

import argparse
import tempfile
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import abstain as ab
from abstain.gate.alarms import _LATCHED, ALARM, APART, START, Watch, _pairs
from abstain.gate.answers import REVIEW
from abstain.gate.frames import Block
from abstain.gate.health import ON_ALARM
from abstain.instances.models import BINARY, NUMBERS
from abstain.paper.logs.recipes import ModelLog, make, recipe
from abstain.replay import demo
from abstain.typing import Floats

from .table import show

LATE = 1_000
MOVING = ("cod-rna, outage", "elevation, outage", "digits, outage", "higgs, switch", "cifar, switch")
DRIFTING = ("covtype, population", "skin, noise", "eye, recorded")
STILL = ("covtype", "ijcnn", "digits", "elevation")


class Log(NamedTuple):
    """What is played."""

    models: list[str]
    options: dict[str, Any]
    """Of the gate."""
    block: Block


def demo_log(seed: int) -> Log:
    """Return the demo's log, with labels a day and a half late."""
    import polars as pl

    with tempfile.TemporaryDirectory() as folder:
        demo.write(Path(folder) / "log.csv", seed=seed)
        frame = pl.read_csv(Path(folder) / "log.csv", try_parse_dates=True)
    sure = frame.select(pl.col(f"{name}_confidence").fill_null(np.nan) for name in demo.NAMES).to_numpy()
    said = frame.select(pl.col(name).cast(pl.Float64).fill_null(np.nan) for name in demo.NAMES).to_numpy()
    wrong = (said != frame["label"].to_numpy()[:, np.newaxis]) & ~np.isnan(sure)
    time, came = (frame[name].dt.timestamp("us").to_numpy() for name in ("time", "label_time"))
    n = len(time)
    due = np.maximum(np.searchsorted(time, came), np.arange(n) + 1)
    block = Block(sure, wrong.astype(np.float64), due=np.where(due == n, n + 1, due), came=came, answer=said)
    return Log(list(demo.NAMES), {"cost": 0.15}, block)


@lru_cache(maxsize=8)
def _made(name: str, rounds: int, seed: int) -> ModelLog:
    of = recipe(name)
    return make(of, min(rounds, of.rounds), seed, None)


def made_log(name: str, rounds: int, seed: int, late: int) -> Log:
    """Return a log of the study, of three models."""
    of, log = recipe(name), _made(name, rounds, seed)
    said, sure = log.answers
    options = {"cost": of.cost, "task": "number" if log.task == NUMBERS else log.task}
    signs = said.astype(np.float64) if log.task == BINARY else None
    due = np.arange(len(sure)) + late + 1
    block = Block(sure, log.losses, signs, due=due, answer=said.astype(np.float64))
    return Log(["one", "two", "three"], options, block)


def some_models(log: Log, columns: list[int]) -> Log:
    """Return a log with some of its models."""
    models, options, block = log
    tables: Any = {
        name: None if (of := getattr(block, name)) is None else np.ascontiguousarray(of[:, columns])
        for name in ("confidence", "losses", "said", "answer")
    }
    return Log([models[m] for m in columns], options, block._replace(**tables))


def play(log: Log, on_alarm: str, seed: int, forced: int | None = None) -> tuple[float, int]:
    """Play a log; return the loss per row, and the cases with a model left out; ``forced``: raise a false alarm."""
    gate = ab.Gate(log.models, on_alarm=on_alarm, seed=seed, **log.options)
    lost, followed, n = 0.0, np.zeros(len(log.models)), len(log.block.confidence)
    with gate._playing(0, True) as decide:
        for first in range(0, n, 64):
            if forced is not None and first >= forced:
                forced = None
                _raise_alarm(gate._monitor.watch, int(followed.argmax()), first)
            done = decide(Block(*(None if one is None else one[first : first + 64] for one in log.block)))  # type: ignore[arg-type]
            lost += float(done.loss.sum())
            followed += np.bincount(done.model, minlength=len(log.models))
    return lost / n, gate.health().muted


def _raise_alarm(watch: Watch, model: int, case: int) -> None:
    n = len(watch.models)
    for k, pair in enumerate(_pairs(n), 3 * n):
        watch.detectors[k, _LATCHED] = float(model in pair)
    watch.models[model, [ALARM, START]] = APART, case
    watch._look()


DROPS = ((0.77, 0.11), (0.9, 0.5), (0.9, 0.8), (0.95, 0.9), (0.99, 0.9), (1.0, 0.9), (0.7, 0.6))
"""Falls of agreement: from, to."""


def show_delays(draws: int = 40, change: int = 6_667, rest: int = 10_000) -> None:
    """Print how many cases it takes to notice that two models agree less."""
    rng, lines = np.random.default_rng(0), []
    for before, after in DROPS:
        waits = []
        for _ in range(draws):
            watch, n = Watch(2), change + rest
            apart = rng.random(n) >= np.where(np.arange(n) < change, before, after)
            said, sure = np.column_stack([np.zeros(n), apart]).astype(np.float64), rng.beta(5.0, 1.0, (n, 2))
            for first in range(0, n, 64):
                watch.add_all(sure[first : first + 64], said[first : first + 64])
                if watch.any:
                    break
            waits.append(watch.models[0, START] - change if watch.any else np.inf)
        median, most = np.median(waits), np.max(np.array(waits)[np.isfinite(waits)], initial=0.0)
        noticed = np.isfinite(waits).mean()
        lines.append([f"{before} to {after}", f"{median:,.0f}", f"{most:,.0f}", f"{100 * noticed:.0f} %"])
    show(f"Cases until an alarm, after {change:,} quiet ones", ["agreement", "median", "most", "noticed"], lines)


def show_demo(draws: int = 6) -> None:
    """Print how many cases it takes to notice the model that breaks in the demo's log, and whether others are named."""
    lines = []
    for seed in range(draws):
        models, _, block = demo_log(seed)
        assert block.answer is not None
        assert block.came is not None
        days = [np.datetime64(demo.START + timedelta(days=day) + demo.LATE, "us").astype(int) for day in demo.BROKEN]
        first, last = np.searchsorted(block.came, days)
        broken, watch = models.index("boosting"), Watch(len(models))
        for row in range(0, len(block.answer), 64):
            watch.add_all(block.confidence[row : row + 64], block.answer[row : row + 64])
            if watch.any:
                break
        same = (block.answer == block.answer[:, [broken]])[:, np.arange(len(models)) != broken].mean(axis=1)
        named = [name for name, state in zip(models, watch.models, strict=True) if state[ALARM]]
        wait = watch.models[broken, START] - first
        lines.append([f"{seed}", f"{same[:first].mean():.2f}", f"{same[first:last].mean():.2f}", f"{wait:.0f}", *named])
    head = ["draw of the demo", "agreement before", "then", "cases until the alarm", "in alarm"]
    show("The model that breaks in the demo", head, lines)


def main() -> None:
    """Play all logs and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20_000, help="rows of a log")
    parser.add_argument("--seeds", type=int, default=3, help="how many draws of each log")
    parser.add_argument("--first", type=int, default=0, help="the first draw")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    show_delays()
    show_demo()
    lines = []
    for name in ("demo", *MOVING, *DRIFTING, *STILL):
        for late in (None,) if name == "demo" else (0, LATE):
            logs = [
                demo_log(seed) if late is None else made_log(name, given.rounds, 1_000 + seed, late) for seed in seeds
            ]
            for columns in ([0, 1, 2],) if name in STILL else ([0, 1, 2], [0, 1], [1]):
                cut = [some_models(log, columns) for log in logs]
                found = np.array(
                    [[play(log, on_alarm, seed) for on_alarm in ON_ALARM] for seed, log in zip(seeds, cut, strict=True)]
                )
                lines.append(
                    [
                        name,
                        "1.5 days" if late is None else f"{late:,}",
                        f"{len(columns)}",
                        *(f"{mean:.4f}" for mean in found[:, :, 0].mean(axis=0)),
                        f"{_mean(100.0 * (1.0 - found[:, 1, 0] / found[:, 0, 0]))} %",
                        f"{100.0 * found[:, 1, 1].mean() / len(cut[0].block.confidence):.0f} %",
                    ]
                )
    head = ["log", "labels late", "models", "report", "review", "saved", "a model is out"]
    show("Loss per row: alarms reported, or obeyed", head, lines)
    lines = []
    for name in STILL:
        for late in (0, LATE):
            cost = []
            for seed in seeds:
                log = made_log(name, given.rounds, 1_000 + seed, late)
                n = len(log.block.confidence)
                usual, alarm = play(log, REVIEW, seed)[0], play(log, REVIEW, seed, n // 2)[0]
                cost.append((alarm - usual) * n / log.options["cost"])
            lines.append([name, f"{late:,}", _mean(np.array(cost))])
    show("What one false alarm costs, in reviews", ["log", "labels late", "reviews"], lines)


def _mean(values: Floats) -> str:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{values.mean():+.1f} ({error:.1f})"


if __name__ == "__main__":
    main()

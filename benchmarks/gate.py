"""The gate against its own learner, `abstain replay` against playing the gate; and the memory a long log takes.

`python -m benchmarks gate`; `python -m benchmarks.gate ROWS` replays a log of so many rows in a process of its own and
prints the most memory it had.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np
import polars as pl

import abstain as ab
from abstain.gate.frames import Block, inputs
from abstain.replay import play
from abstain.replay.options import Options
from abstain.replay.run import replay

from . import timing
from .table import at_most, number, show

MODELS = ["gbm", "logreg", "rules"]
THRESHOLDS = 20
ROWS, ROUNDS = 1_000_000, 4_000
PART = 100_000
PLAYING, COMMAND, BY_HAND = 1.5, 6.0, 2.0
COMBINED_PLAYING, COMBINED_BY_HAND = 2.5, 1.5
GIB = 1.0


def gate(combine: bool = False, labels: str = "answered") -> ab.Gate:
    return ab.Gate(MODELS, cost=0.2, thresholds=THRESHOLDS, combine=combine, labels=labels, seed=0)


def block(rng: np.random.Generator, n: int) -> Block:
    """Models that are right as often as they say."""
    confidence = rng.uniform(0.3, 1.0, (n, len(MODELS)))
    losses = np.asarray(rng.random(confidence.shape) > confidence, np.float64)
    return Block(confidence, losses, answer=losses.astype(np.int64), truth=np.zeros(n, np.int64))


def write(path: Path, n: int) -> None:
    """A log of three classes, in pieces."""
    parts = []
    for first in range(0, n, PART):
        rng = np.random.default_rng(first)
        cases = block(rng, min(PART, n - first))
        label = rng.integers(0, 3, len(cases.losses))
        table: dict[str, object] = {"label": label}
        for m, name in enumerate(MODELS):
            table[name] = (label + cases.losses[:, m].astype(int)) % 3
            table[f"{name}_confidence"] = cases.confidence[:, m]
        parts.append(path.with_suffix(f".{first}"))
        pl.DataFrame(table).write_parquet(parts[-1])
    pl.scan_parquet(parts).sink_parquet(path)
    for part in parts:
        part.unlink()


def playing(cases: Block) -> float:
    """Playing the gate, in learners' own time."""

    def by_gate() -> Callable[[], object]:
        one = gate()

        def run() -> None:
            with one._playing() as play:
                for first in range(0, len(cases.losses), PART):
                    rows = slice(first, first + PART)
                    play(Block(cases.confidence[rows], cases.losses[rows]))

        return run

    def by_learner() -> Callable[[], object]:
        one, X = gate().learner, inputs(cases, False, None)
        return partial(ab.simulate, one, X, cases.losses)

    taken = timing.best({"gate": by_gate, "learner": by_learner}, 3)
    return taken["gate"] / taken["learner"]


def command(folder: Path) -> float:
    """`abstain replay` in all, in times of playing its gate."""
    write(folder / "log.parquet", ROWS)
    cases = block(np.random.default_rng(0), ROWS)
    options = Options(cost=0.2)

    def whole() -> Callable[[], object]:
        return partial(replay, folder / "log.parquet", options, folder / "out")

    def alone() -> Callable[[], object]:
        one = gate()

        def run() -> None:
            with one._playing() as play:
                play(cases)

        return run

    with mock.patch.object(play, "Gate", partial(ab.Gate, thresholds=THRESHOLDS)):
        taken = timing.best({"whole": whole, "alone": alone}, 2)
    return taken["whole"] / taken["alone"]


def by_hand() -> float:
    """`decide` and `learn` of the gate, in the learner's own time."""
    cases = block(np.random.default_rng(0), ROUNDS)
    X = inputs(cases, False, None)
    said = [
        {name: ("a" if lost == 0.0 else "b", sure) for name, lost, sure in zip(MODELS, *row, strict=True)}
        for row in zip(cases.losses.tolist(), cases.confidence.tolist(), strict=True)
    ]

    def of_gate() -> Callable[[], object]:
        one = gate()

        def run() -> None:
            for answers in said:
                case = one.decide(answers)
                if case.action == "answer":
                    one.learn(case, "a")

        return run

    def of_learner() -> Callable[[], object]:
        one = gate().learner

        def run() -> None:
            for x, losses in zip(X, cases.losses, strict=True):
                decision = one.decide(x)
                if not decision.abstained:
                    one.learn(decision, losses)

        return run

    taken = timing.best({"gate": of_gate, "learner": of_learner}, 5)
    return taken["gate"] / taken["learner"]


def combining(cases: Block) -> tuple[float, float]:
    """A gate that combines its models, in times of one that does not: playing a table; `decide` and `learn`."""
    few = [
        {name: ("ab"[int(lost)], sure) for name, lost, sure in zip(MODELS, *row, strict=True)}
        for row in zip(cases.losses[:ROUNDS].tolist(), cases.confidence[:ROUNDS].tolist(), strict=True)
    ]

    def table(combine: bool) -> Callable[[], object]:
        one = gate(combine)

        def run() -> None:
            with one._playing() as play:
                play(cases)

        return run

    def by_hand(combine: bool) -> Callable[[], object]:
        """Every case is learnt: a gate that combines answers more of them, and would learn more often."""
        one = gate(combine, labels="both")

        def run() -> None:
            for answers in few:
                case = one.decide(answers)
                one.learn(case, "a", source="review" if case.action == "review" else "outcome")

        return run

    found = []
    for kind, times in ((table, 2), (by_hand, 5)):
        taken = timing.best({"plain": partial(kind, False), "combined": partial(kind, True)}, times)
        found.append(taken["combined"] / taken["plain"])
    return found[0], found[1]


def run() -> None:
    table, single = combining(block(np.random.default_rng(0), ROWS))
    with tempfile.TemporaryDirectory() as folder:
        ratios = {
            "playing the gate / simulate": (playing(block(np.random.default_rng(0), ROWS)), PLAYING),
            "abstain replay / playing the gate": (command(Path(folder)), COMMAND),
            "gate.decide + gate.learn / the learner's": (by_hand(), BY_HAND),
            "playing with combine=True / without": (table, COMBINED_PLAYING),
            "decide + learn with combine=True / without": (single, COMBINED_BY_HAND),
        }
    rows = [[name, number(ratio), f"{most:g}", at_most(ratio, most)] for name, (ratio, most) in ratios.items()]
    title = f"The gate: three models x {THRESHOLDS} thresholds, {ROWS:,} rows"
    show(title, ["", "ratio", "at most", ""], rows)


def memory(n: int) -> None:
    """Replay a long log in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder, "log.parquet"), n)
        start = time.perf_counter()
        arguments = ["replay", f"{folder}/log.parquet", "--cost", "0.2", "--out", f"{folder}/out"]
        subprocess.run([sys.executable, "-c", "from abstain.cli import run; run()", *arguments], check=True)
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
        rows = [[f"{n:,}", number(most), f"{GIB:g}", at_most(most, GIB), f"{time.perf_counter() - start:.0f}"]]
        show("The most memory of `abstain replay`", ["rows", "GiB", "at most", "", "seconds"], rows)


if __name__ == "__main__":
    memory(int(sys.argv[1]))

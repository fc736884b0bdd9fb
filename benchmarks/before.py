"""The working tree against an earlier commit: `python -m benchmarks before COMMIT [section ...]`.

Either library is played by processes that stay alive and do one repetition when told, strictly in turns: what else the
machine does hurts both alike. The best of each is compared.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeAlias

from .player import SECTIONS
from .table import at_most, number, show

Player: TypeAlias = Callable[[str], str]
"""Takes a line, gives the answer."""
Pair: TypeAlias = tuple[float, float]
"""Seconds before and now."""

ROOT = Path(__file__).parents[1]
FEWEST, MOST = 5, 12
"""Processes of each side for a task, one after the other: where one has its memory makes a difference of percents."""
CLOSE = 1.02
"""A task is settled when the best of three processes of either side lie within 2 %."""
TURNS, BUDGET = 3, 0.4
"""Repetitions by a process: as many as take so many seconds, and at least so many."""
TARGETS = dict.fromkeys(SECTIONS, 1.05) | {"robust": 1.3}


@contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """The commit's files, in a folder of their own for a while."""

    def git(*words: str | Path) -> None:
        if subprocess.run(["git", "-C", ROOT, "worktree", *words]).returncode != 0:
            sys.exit(f"{commit}: expected a commit that git can check out")

    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git("add", "--quiet", "--detach", tree, commit)
        try:
            yield tree
        finally:
            git("remove", "--force", tree)


def environment(tree: Path, cache: Path) -> dict[str, str]:
    """The variables of a process with the library of a tree, and with compiled kernels of its own."""
    cache.mkdir(parents=True, exist_ok=True)  # the player writes its tables there, too
    return os.environ | {"PYTHONPATH": str(tree / "src"), "NUMBA_CACHE_DIR": str(cache)}


@contextmanager
def started(tree: Path, cache: Path, names: Sequence[str]) -> Iterator[Player]:
    """A process with the library of a tree, and with compiled kernels of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.player", *names],
        cwd=ROOT,
        env=environment(tree, cache),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    with process as running:
        assert running.stdin is not None
        assert running.stdout is not None
        stdin, stdout = running.stdin, running.stdout

        def ask(line: str) -> str:
            stdin.write(line)
            stdin.flush()
            answer = stdout.readline()
            if not answer:
                sys.exit(f"{tree}: its process has ended")
            return answer

        try:
            yield ask
        finally:
            running.kill()


def in_turns(players: Sequence[Player], task: str) -> Pair:
    """The best of several repetitions by either side, each being the first every other time."""
    least, turn, start = [math.inf, math.inf], 0, time.perf_counter()
    while turn < TURNS or time.perf_counter() - start < 2.0 * BUDGET:
        for side in (0, 1) if turn % 2 == 0 else (1, 0):
            least[side] = min(least[side], float(players[side](f"{task}\n")))
        turn += 1
    return least[0], least[1]


def settled(pairs: Sequence[Pair]) -> bool:
    """Whether another pair of processes would hardly change the best of either side."""
    if len(pairs) < FEWEST:
        return False
    return len(pairs) >= MOST or all(sorted(side)[2] <= CLOSE * min(side) for side in zip(*pairs, strict=True))


def compare(trees: Sequence[Path], names: Sequence[str]) -> dict[str, list[Pair]]:
    """The best times of either tree, process by process, for every task."""
    found: dict[str, list[Pair]] = {}
    left = list(names)
    with tempfile.TemporaryDirectory() as caches:
        while left:
            with ExitStack() as stack:
                players = [
                    stack.enter_context(started(tree, Path(caches, str(i)), left)) for i, tree in enumerate(trees)
                ]
                for player, tree in zip(players, trees, strict=True):
                    where, *tasks = json.loads(player(""))
                    if not Path(where).is_relative_to(tree):
                        sys.exit(f"expected the library of {tree}, got that in {where}")
                for task in tasks:
                    if not settled(found.setdefault(task, [])):
                        found[task].append(in_turns(players, task))
            left = [name for name in left if any(section(t) == name and not settled(found[t]) for t in found)]
    return found


def section(task: str) -> str:
    return task.partition(":")[0]


def main(commit: str, names: Sequence[str]) -> None:
    with checkout(commit) as tree:
        found = compare((tree, ROOT), names)
    rows = []
    for task, pairs in found.items():
        before, now = map(min, zip(*pairs, strict=True))
        target = TARGETS[section(task)]
        times = [number(time * 1e3) for time in (before, now)]
        rows.append([task, *times, f"{now / before:.3f}", f"{target:g}", at_most(now / before, target)])
    show(f"Now against {commit}: the best of each", ["", "before, ms", "now, ms", "ratio", "at most", ""], rows)

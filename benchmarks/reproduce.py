"""The whole computing of a study, figures aside, against the floor pass over the same number of rounds."""

import math
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import abstain as ab
from abstain.datasets import loading
from abstain.experiments import jobs as playing
from abstain.experiments import runner
from abstain.experiments.study import LearnerStudy
from abstain.paper import paper

from .floor import ROUNDS, UNIT
from .table import at_most, number, show
from .timing import best

FOUR = ("UCB", "UCB-NT", "UCB-GT", "FS")
TARGET, GOAL, MOST_MEMORY = 6.0, 3.0, 2.0
REPETITIONS = 3
PARTS = {"simulate": "playing", "Prepared": "advice, worked out once a draw", "compare": "the best expert's sums"}


def study() -> LearnerStudy:
    """The paper's four learners on all its sets that are here, at three costs; one of the five expert sets."""
    whole = paper()["regret"]
    assert isinstance(whole, LearnerStudy)
    here = tuple(name for name in whole.sets if ab.datasets.info(name).found is not None)
    learners = tuple(learner for learner in whole.learners if learner.label in FOUR)
    return whole.replace(sets=here, settings=(), learners=learners, expert_sets=1)


def computing(what: LearnerStudy, jobs: int) -> float:
    """The seconds it takes in a new folder, data files read anew."""
    loading._whole.cache_clear()
    playing._kept.draws.clear()
    with tempfile.TemporaryDirectory() as folder:
        session = runner.run([what], Path(folder), jobs=jobs)
    if session.failures:
        raise RuntimeError(session.failures[0]["traceback"])
    return session.seconds


@contextmanager
def clocked() -> Iterator[dict[str, float]]:
    """The seconds inside the functions that do the work."""
    taken = dict.fromkeys(PARTS, 0.0)
    plain = {name: getattr(playing, name) for name in PARTS}

    def timed(name: str) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            start = time.perf_counter()
            result = plain[name](*arguments, **options)
            taken[name] += time.perf_counter() - start
            return result

        return call

    for name in PARTS:
        setattr(playing, name, timed(name))
    try:
        yield taken
    finally:
        for name, function in plain.items():
            setattr(playing, name, function)


def run() -> None:
    what = study()
    n_runs = len(what.settings) * what.draws * len(what.learners)
    computing(what.quick(), 1)  # compiles what is not
    computing(what.quick(), 2)  # starts the workers
    least, floor, two, shares = math.inf, math.inf, math.inf, dict.fromkeys(PARTS, 0.0)
    for _ in range(REPETITIONS):
        floor = min(floor, best(UNIT, 10)["pass"] / ROUNDS * what.rounds * n_runs)
        with clocked() as taken:
            one = computing(what, 1)
        if one < least:
            least, shares = one, {name: part / one for name, part in taken.items()}
        two = min(two, computing(what, 2))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    rows = [
        ["one worker, in passes a round", number(least / floor), at_most(least / floor, TARGET, GOAL)],
        *([f"share of {text}", f"{shares[name]:.0%}", ""] for name, text in PARTS.items()),
        ["share outside", f"{1.0 - sum(shares.values()):.0%}", ""],
        ["two workers that have read the data before, times faster", number(least / two), ""],
        ["peak memory, GiB", number(memory), at_most(memory, MOST_MEMORY)],
    ]
    title = f"A study: {len(what.sets)} sets x 3 costs x {what.draws} draws x 4 learners, {least:.1f} s in this run"
    show(title, ["", "", f"target {TARGET:g}, goal {GOAL:g}; {MOST_MEMORY:g} GiB"], rows)

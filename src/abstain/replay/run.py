"""The folder of results: written beside its place, and put there when it is whole."""

import json
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

import numpy as np

from .._core.signals import held_back
from ..errors import FileError, InputError
from ..typing import Array, Floats, Ints
from . import play, report
from .cases import Cases, Progress, Rows, check_enough, largest, prepare
from .classes import Classes, Judge, oriented
from .columns import complete, dropped, unused
from .log import Log, Slices, is_date
from .options import VALUE, Options, check_there
from .play import Game
from .result import ALL, GATE, HINDSIGHT, OWN, TUNED, Curve, Outcome, Policy, Replay, Timeline
from .wording import Setting, beside, doubts, kind_of, name_of, notes, unknown, verdict

if sys.platform != "win32":
    import fcntl

_START = ".abstain-replay-"
RESULTS, SCRATCH = "results", "scratch"


@contextmanager
def made_beside(out: Path) -> Iterator[tuple[Path, Path]]:
    """A folder for results and one for scratch. At the end the results are moved to ``out``; after an error, or Ctrl-C,
    nothing is left, the folders that had to be made for it included.

    Files that ``out`` already has are replaced, each in one piece; others stay. What a killed replay left is removed
    by the next.
    """
    out = Path(os.path.realpath(out))
    if out.exists() and not out.is_dir():
        raise FileError(f"{out}: expected a folder, got a file")
    made = [folder for folder in (out.parent, *out.parent.parents) if not folder.exists()]
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(out.parent)
        place = out.parent / f"{_START}{secrets.token_hex(8)}"
        place.mkdir()
    except OSError as error:
        raise FileError(f"{out}: cannot be written ({error.strerror or error})") from None
    try:
        lock = _locked(place)
        try:
            for name in (RESULTS, SCRATCH):
                (place / name).mkdir()
            yield place / RESULTS, place / SCRATCH
            with held_back():
                _put(place / RESULTS, out)
                made = []
        finally:
            os.close(lock)
    finally:
        shutil.rmtree(place, ignore_errors=True)
        for folder in made:
            with suppress(OSError):
                folder.rmdir()


def _put(results: Path, out: Path) -> None:
    try:
        if not out.exists():
            results.rename(out)
            return
        found = sorted(results.iterdir())
        for path in found:
            if (out / path.name).is_dir():
                raise FileError(f"{out / path.name}: expected a file to be replaced, got a folder")
        for path in found:
            path.replace(out / path.name)
    except OSError as error:
        raise FileError(f"{out}: cannot be written ({error.strerror or error})") from None


def _locked(place: Path) -> int:
    """Lock a folder for as long as its writer lives."""
    descriptor = os.open(place / "lock", os.O_RDWR | os.O_CREAT)
    if sys.platform != "win32":
        with suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def _remove_leftovers(folder: Path) -> None:
    if sys.platform == "win32":  # nothing tells the living from the dead
        return
    for place in folder.glob(f"{_START}*"):
        with suppress(OSError), (place / "lock").open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its writer lives
            shutil.rmtree(place, ignore_errors=True)


RESAMPLES = 2_000
_AT_A_TIME = 100


def intervals(differences: Floats, sizes: Ints, seed: int) -> tuple[Floats, Floats]:
    """The 95 % intervals of mean differences a row, from their sums in blocks (policies, blocks) of so many rows.

    Blocks are drawn with replacement, as many as there are, 2,000 times; the interval has the middle 95 % of the means.
    Rows that follow each other are alike, so that single rows would promise too much; a block keeps them together. What
    lasts longer than a block, as a drift does, is not in the interval.
    """
    rng = np.random.default_rng([seed, 0xB007])
    n = len(sizes)
    means = np.empty((RESAMPLES, len(differences)))
    for begin in range(0, RESAMPLES, _AT_A_TIME):
        drawn = rng.multinomial(n, np.full(n, 1.0 / n), size=_AT_A_TIME).astype(np.float64)
        means[begin : begin + _AT_A_TIME] = (drawn @ differences.T) / (drawn @ sizes.astype(np.float64))[:, np.newaxis]
    low, high = np.percentile(means, [2.5, 97.5], axis=0)
    return low, high


SHOWN_OVER_TIME = (GATE, TUNED, OWN, ALL, HINDSIGHT)


def policies(out: Outcome, models: list[str], seed: int, max_error: float | None = None) -> list[Policy]:
    """The table; differences are from tuned. With ``max_error`` thresholds are told as errors, too."""
    keys = list(out.policies)
    tuned = out.policies[TUNED]
    differences = np.array([out.policies[key].blocks - tuned.blocks for key in keys])
    low, high = intervals(differences, out.scored.sizes, seed)
    table = []
    for k, key in enumerate(keys):
        loss, reviewed, mistakes = out.policies[key].means
        name = name_of(key, models, out.tuned, out.hindsight, max_error)
        difference = float(differences[k].sum() / out.scored.sizes.sum())
        span = (None, None, None) if key == TUNED else (difference, float(low[k]), float(high[k]))
        table.append(Policy(kind_of(key), name, loss, reviewed, mistakes, *span))
    return table


def timeline(out: Outcome, rows: Rows, models: list[str], time_is_date: bool) -> Timeline:
    """What happened when. Where the gate was only taught, it has NaN."""
    sizes = out.over_time.sizes
    played = np.maximum(0, out.over_time.edges[1:] - np.maximum(out.over_time.edges[:-1], out.origin)).astype(
        np.float64
    )
    played[played == 0.0] = np.nan
    starts = out.over_time.edges[:-1].tolist()
    shares = {key: played if key == GATE else sizes for key in SHOWN_OVER_TIME}
    times = None
    if rows.has("time"):
        times = [_as_text(rows.read(start, start + 1).records["time"], time_is_date) for start in starts]
    return Timeline(
        [start + 1 for start in starts],
        times,
        {key: (out.policies[key].loss / size).tolist() for key, size in shares.items()},
        {key: (out.policies[key].reviewed / size).tolist() for key, size in shares.items()},
        {name: (out.followed[k] / played).tolist() for k, name in enumerate(models)},
        out.threshold.tolist(),
        {name: (out.answered[k] / sizes).tolist() for k, name in enumerate(models)},
    )


def days(out: Outcome, rows: Rows) -> float | None:
    """Between the first and the last scored row; None without times."""
    if not rows.has("time"):
        return None
    first, last = (int(rows.read(row, row + 1).records["time"][0]) for row in (out.first, rows.n - 1))
    return (last - first) / 86_400e6


def _as_text(time: Array, is_date: bool) -> str:
    if is_date:
        return str(time.astype("datetime64[us]").astype("datetime64[s]")[0]).replace("T", " ")
    return f"{time[0] / 1e6:.12g}"


def curves(out: Outcome, models: list[str]) -> list[Curve]:
    """For each model, the surest answers first: the share of rows answered, and the mean loss among them."""
    n = int(out.scored.sizes.sum())
    found = []
    for model, name in enumerate(models):
        count, lost = out.totals.answered(model)
        count, at = np.unique(count, return_index=True)
        risk: Floats = lost[at][count > 0] / count[count > 0]
        found.append(Curve(name, (count[count > 0] / n).tolist(), risk.tolist()))
    return found


def operating(out: Outcome, cost: float) -> tuple[float, float]:
    """The share of scored rows that the gate answered, and its mean loss among them."""
    loss, reviewed, _ = out.policies[GATE].means
    coverage = 1.0 - reviewed
    return coverage, max(0.0, loss - cost * reviewed) / coverage if coverage > 0.0 else 0.0


FILES = ("replay.json", "cases.parquet", "gate.abstain", "report.html")


def replay(
    path: Path,
    options: Options,
    out: Path,
    *,
    progress: Progress = lambda step, done, total: None,
    tell: Callable[[Options, list[str], list[str]], None] = lambda options, dropped, unused: None,
) -> Replay:
    """Play a log and write what comes out to the folder ``out``, all of it or nothing.

    ``tell`` is called with the options once columns that were not named are found, with a line for each that was
    nearly taken, and with all that are not used.
    """
    if Path(path).resolve() in {(Path(out) / name).resolve() for name in FILES}:
        raise InputError(f"--out: expected another folder, got {out}, where the results would replace the log")
    log = Log(Path(path))
    for option, column in options.columns():
        check_there(column, option, log.columns)
    sample = log.sample()
    if sample.is_empty():
        raise FileError(f"{log.path}: expected rows, got a header alone")
    options = complete(options, sample)
    tell(options, dropped(options, sample), unused(options, sample))
    with made_beside(Path(out)) as (results, scratch):
        progress("reading", 0, 1)
        slices = log.slices([column for _, column in options.columns()], scratch / "columns.parquet")
        check_enough(slices.rows, str(log.path))
        return _play(log, slices, options, results, scratch, str(out), progress)


def _play(
    log: Log, slices: Slices, options: Options, results: Path, scratch: Path, out: str, progress: Progress
) -> Replay:
    task, models = options.found_task, [model.name for model in options.models]
    assert options.label is not None
    classes = pair = None
    whose: list[str] = []
    if task != "number":
        answers = [model.answer for model in options.models if model.sure is not None and model.kind != VALUE]
        classes = Classes(slices, options.label, answers, typed=log.is_parquet)
        pair = classes.pair(asked=task == "binary")
        if pair is not None:
            pair, whose = oriented(pair, options)
    max_stake = 1.0
    if options.mistake_column is not None:
        max_stake = options.mistake_price or largest(slices, options.mistake_column)
    gate = play.make_gate(options, pair, max_stake)
    rows = Rows(scratch / "rows", len(models), said=pair is not None, stake=options.mistake_column is not None,
                time=options.time is not None, due=options.label_time is not None)  # fmt: skip
    facts = prepare(slices, options, Judge(options, classes, pair), max_stake, rows, progress)
    check_enough(rows.n, str(log.path))
    slices.path.unlink()
    rows.cost = gate.cost / gate.unit
    cases = Cases(scratch / "cases", models, gate.levels.shape[1])
    warm = int(options.warm_start * rows.n)
    n_classes = 1 if classes is None else len(classes.told_apart)
    mistake = rows.cost if task == "number" else 0.0
    game = Game(rows, gate, warm=warm, mistake=mistake, n_classes=n_classes, cases=cases)
    played = game.play(min(options.delay, rows.n), progress)
    progress("writing", 0, 1)
    scored = rows.n - played.first
    stakes = options.mistake_column is not None
    table = policies(played, models, options.seed, None if stakes else options.max_error)
    delay = play.how_late(options, facts.late)
    late = rows.mean_wait(options.delay) >= rows.n / 10
    setting = Setting(
        rows.n, scored, options.labels, options.capacity, late, gate.unit, options.unit, rows.cost, stakes
    )
    first = beside(table, setting)
    found = Replay(
        log=log.path.name, command=options.command(str(log.path), out), rows=rows.n, scored_rows=scored,
        first=played.first, task=task, labels=options.labels, delay=delay, models=models, cost=rows.cost,
        unit=options.unit, price=gate.unit, capacity=play.how_much(gate, options), share=options.capacity,
        policies=table,
        timeline=timeline(played, rows, models, is_date(log.sample(), options.time)),
        curves=curves(played, models), operating=operating(played, rows.cost),
        mistakes=[] if classes is None else [
            (name, *counts) for name, counts in zip(classes.told_apart, played.by_class.tolist(), strict=True)
        ],
        verdict=verdict(table, setting),
        notes=first + whose + play.prices(options, max_stake) + notes(options, facts, classes, rows.n),
        unknown=unknown(options, played, rows.n - warm, delay),
        warnings=doubts(options, facts, classes, pair, rows.n), beside=first, left_out=facts.unlabelled,
        days=days(played, rows), stakes=stakes, max_error=options.max_error,
    )  # fmt: skip
    cases.write(results / "cases.parquet")
    gate.save(results / "gate.abstain")
    (results / "replay.json").write_text(json.dumps(as_json(found), indent=1) + "\n", encoding="utf-8")
    report.write(found, results / "report.html")
    return found


def as_json(found: Replay) -> dict[str, object]:
    """What ``replay.json`` says."""
    return {"rows": found.rows, "scored_rows": found.scored_rows, "cost": found.cost, "unit": found.unit,
            "policies": [asdict(policy) for policy in found.policies]}  # fmt: skip

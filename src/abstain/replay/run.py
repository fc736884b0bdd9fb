"""`replay`: read a log, play it, write the folder of results."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from .._core.files import replacing_folder
from ..errors import FileError, InputError
from .classes import Classes, Judge, oriented
from .log import Log, Slices, is_date
from .options import VALUE, Options, check_there, complete, dropped, unused
from .play import Cases, Game, make_gate
from .policies import Replay, curves, days, operating, policies, timeline
from .report import page
from .rows import Progress, Rows, check_enough, largest, prepare
from .wording import Setting, beside, doubts, how_late, how_much, notes, prices, unknown, verdict

FILES = ("replay.json", "cases.parquet", "gate.abstain", "report.html")


def replay(
    path: Path,
    options: Options,
    out: Path,
    *,
    progress: Progress = lambda step, done, total: None,
    tell: Callable[[Options, list[str], list[str]], None] = lambda options, dropped, unused: None,
) -> Replay:
    """Replay a log and write the results to a folder, all of them or nothing.

    Args:
        path: A CSV file with a header, or a Parquet file: one row per case, in time order.
        options: What to replay, and how; columns that are not named are found.
        out: The folder of results.
        progress: Called with a step, how much of it is done, and of how much.
        tell: Called with the completed options, one line for each column that was almost used, and the unused columns.

    Returns:
        What the report shows.

    Raises:
        InputError: If an option or a value in the log is wrong.
        FileError: If the log cannot be read, or the results cannot be written.
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
    with replacing_folder(out) as (results, scratch):
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
    gate = make_gate(options, pair, max_stake, classes)
    rows = Rows(scratch / "rows", len(models), said=pair is not None, risk=options.mistake_column is not None,
                time=options.time is not None, due=options.by_time)  # fmt: skip
    facts = prepare(slices, options, Judge(options, classes, pair, gate._prices), rows, progress)
    check_enough(rows.n, str(log.path))
    slices.path.unlink()
    rows.cost = gate.review_price / gate.unit
    cases = Cases(scratch / "cases", models, gate.thresholds.shape[1])
    warm = int(options.warm_start * rows.n)
    n_classes = 1 if classes is None else len(classes.told_apart)
    mistake = rows.cost if task == "number" else 0.0
    game = Game(rows, gate, warm=warm, mistake=mistake, n_classes=n_classes, cases=cases)
    played = game.play(min(options.late, rows.n), progress)
    progress("writing", 0, 1)
    scored = rows.n - played.first
    stakes = options.mistake_column is not None
    table = policies(played, models, options.seed, None if stakes else options.max_error)
    delay = how_late(options, facts.late)
    late = rows.mean_wait(options.late) >= rows.n / 10
    setting = Setting(rows.n, scored, options.labels, options.capacity, late, gate.unit, options.unit)
    first = beside(table, setting)
    found = Replay(
        log=log.path.name, command=options.command(str(log.path), out), rows=rows.n, scored_rows=scored,
        first=played.first, task=task, labels=options.labels, delay=delay, models=models, cost=rows.cost,
        unit=options.unit, price=gate.unit, capacity=how_much(gate, options), share=options.capacity,
        policies=table,
        timeline=timeline(played, rows, models, is_date(log.sample(), options.time)),
        curves=curves(played, models), operating=operating(played, rows.cost),
        mistakes=[] if classes is None else [
            (name, *counts) for name, counts in zip(classes.told_apart, played.by_class.tolist(), strict=True)
        ],
        verdict=verdict(table, setting),
        notes=first + whose + prices(options, max_stake) + notes(options, facts, classes, rows.n),
        unknown=unknown(options, played, rows.n - warm, delay),
        warnings=doubts(options, facts, classes, pair, rows.n), beside=first, left_out=facts.unlabelled,
        days=days(played, rows), stakes=stakes, max_error=options.max_error,
    )  # fmt: skip
    cases.write(results / "cases.parquet")
    gate.save(results / "gate.abstain")
    (results / "replay.json").write_text(json.dumps(as_json(found), indent=1) + "\n", encoding="utf-8")
    page.write(found, results / "report.html")
    return found


def as_json(found: Replay) -> dict[str, object]:
    """The contents of ``replay.json``."""
    return {"rows": found.rows, "scored_rows": found.scored_rows, "cost": found.cost, "unit": found.unit,
            "policies": [asdict(policy) for policy in found.policies]}  # fmt: skip

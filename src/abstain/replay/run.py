"""`replay`: read a log, play it, write the folder of results."""

import json
import math
import tempfile
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from .._core.files import replacing_folder
from ..errors import FileError, InputError
from ..gate.combining import COMBINED
from .cases import as_given, as_log, is_cases
from .classes import Classes, Judge, in_per_cent, oriented
from .kinds import Kinds
from .log import Log, Slices, is_date
from .options import CLASS, OPTIONS, Options, as_in, check_there, complete, dropped, unused
from .play import Cases, Game, capacity_share, make_gate
from .policies import Replay, curves, days, operating, period, policies, rivals, timeline, where_from
from .report import page
from .rows import Progress, Rows, check_enough, largest, prepare, without_label
from .wording import (
    GATE_FILE,
    Setting,
    against_rivals,
    doubts,
    how_late,
    how_much,
    misread,
    next_steps,
    notes,
    per_year,
    prices,
    unknown,
    unpriced,
    verdict,
)

FILES = ("replay.json", "cases.parquet", GATE_FILE, "report.html")


def replay(
    path: Path,
    options: Options,
    out: Path,
    *,
    progress: Progress = lambda step, done, total: None,
    tell: Callable[[Options, list[str], list[str]], None] = lambda options, dropped, unused: None,
    truth: Path | None = None,
) -> Replay:
    """Replay a log and write the results to a folder, all of them or nothing.

    Args:
        path: A CSV file with a header, or a Parquet file: one row per case, in time order. Or a gate's own cases, one
            JSON of `Case.to_json` per line.
        options: What to replay, and how; columns that are not named are found.
        out: The folder of results.
        progress: Called with a step, how much of it is done, and of how much.
        tell: Called with the completed options, one line for each column that was almost used, and the unused columns.
        truth: For a file of cases: a file with the columns ``id`` and ``label``, and perhaps ``label_time``.

    Returns:
        What the report shows.

    Raises:
        InputError: If an option or a value in the log is wrong.
        FileError: If the log cannot be read, or the results cannot be written.
    """
    if Path(path).resolve() in {(Path(out) / name).resolve() for name in FILES}:
        raise InputError(f"--out: expected another folder, got {out}, where the results would replace the log")
    with tempfile.TemporaryDirectory(prefix="abstain-") as folder:
        if not is_cases(Path(path)):
            if truth is not None:
                raise InputError(f"{truth}: expected a file of labels only after a file of cases, got a table, {path}")
            return _replay(Log(Path(path)), options, None, [], out, progress, tell)
        log, options, known = as_log(Path(path), truth, options, Path(folder))
        command = as_given(options).command(f"{path}", str(out), str(truth))
        return _replay(log, options, command, known, out, progress, tell)


def _replay(
    log: Log,
    options: Options,
    command: str | None,
    known: list[str],
    out: Path,
    progress: Progress,
    tell: Callable[[Options, list[str], list[str]], None],
) -> Replay:
    options = replace(options, models=tuple(as_in(model, log.columns) for model in options.models))
    for option, column in options.columns():
        check_there(column, option, log.columns)
    sample = log.sample()
    if sample.is_empty():
        raise FileError(f"{log.shown}: expected rows, got a header alone")
    options = complete(options, sample)
    for model in options.models:
        if options.label in model.columns:
            raise InputError(
                f"{OPTIONS[model.kind]}: expected columns of what {model.name} said, got {options.label}, the column "
                "of labels: it would always be right"
            )
    tell(options, dropped(options, sample), unused(options, sample))
    with replacing_folder(out) as (results, scratch):
        progress("reading", 0, 1)
        commas = log.decimal_commas(options.numbers())
        if commas:
            known = [*known, f"Numbers with a decimal comma, as 0,9 for 0.9: {', '.join(commas)}."]
        slices = log.slices([column for _, column in options.columns()], scratch / "columns.parquet", commas)
        check_enough(slices.rows, str(log.shown))
        command = command or options.command(str(log.path), str(out))
        return _play(log, slices, options, results, scratch, command, known, progress)


def _play(
    log: Log, slices: Slices, options: Options, results: Path, scratch: Path, command: str, known: list[str],
    progress: Progress,
) -> Replay:  # fmt: skip
    task, models = options.found_task, [model.name for model in options.models]
    assert options.label is not None
    classes = pair = None
    whose: list[str] = []
    if task != "number":
        answers = [model.answer for model in options.models if model.kind == CLASS]
        classes = Classes(slices, options.label, answers, typed=log.typed, fold_case=options.fold_case)
        pair = classes.pair(asked=task == "binary")
        if pair is not None:
            pair, whose = oriented(pair, options)
    max_stake = 1.0
    if options.mistake_column is not None:
        max_stake = options.mistake_price or largest(slices, options.mistake_column)
    gates = [make_gate(options, pair, max_stake, classes, k) for k in range(options.seeds)]
    gate, staked = gates[0], options.mistake_column is not None
    unlabelled = without_label(slices, options.label)
    check_enough(slices.rows - unlabelled, str(log.shown))
    kinds = (2 if pair is not None else len(models)) if gate.combine and options.fixed_prices else 0
    by_kind = None
    if unlabelled and classes is not None and gate._prices.by_kind:
        by_kind = Kinds.of(gate._prices, classes, pair)
    rows = Rows(scratch / "rows", len(models), said=pair is not None, risk=staked,
                time=options.time is not None, due=options.by_time or unlabelled > 0,
                truth=gate.combine, kinds=kinds if staked or pair is None else 0, partly=unlabelled > 0,
                by_kind=by_kind,
                decided=options.decided is not None, observed=options.observed is not None,
                passed=options.capacity_per_day is not None)  # fmt: skip
    shares = in_per_cent(slices, options)
    facts = prepare(slices, options, Judge(options, classes, pair, gate._prices, shares), rows, progress)
    slices.path.unlink()
    rows.cost = gate.review_price / gate.unit
    followed = [*models, COMBINED] if gate.combine else models
    cases = Cases(scratch / "cases", followed, gate.thresholds.shape[1])
    warm = int(options.warm_start * rows.n)
    n_classes = 1 if classes is None else len(classes.told_apart)
    mistake = rows.cost if task == "number" else 0.0
    game = Game(rows, gates, options, warm=warm, mistake=mistake, n_classes=n_classes, cases=cases, scratch=scratch)
    played = game.play(min(options.late, rows.n), progress)
    progress("writing", 0, 1)
    scored = rows.n - played.first
    as_error = None if staked else options.max_error
    table = policies(played, models, options.seed, as_error)
    versus = rivals(played, models, options.seed, as_error)
    delay = how_late(options, facts.late)
    dates, spent = is_date(log.sample(), options.time), days(played, rows)
    stretch, saved = where_from(played, rows, dates)
    if played.noise and not all(one.known for one in table if one.kind in (played.lead, played.base)):
        stretch, saved = None, []  # they would be sums of estimates, of which the verdict counts some by bounds
    share = capacity_share(rows, gate.capacity)
    setting = Setting(
        rows.n, scored, options.labels, share, rows.mean_wait(options.late) / rows.n, gate.unit,
        options.unit, played.base, played.lead, facts.unlabelled / rows.n, options.observed is not None, stretch, spent,
    )  # fmt: skip
    lead = next(one for one in table if one.kind == played.lead)
    first = per_year(table, setting) + against_rivals(versus, setting)
    found = Replay(
        log=log.shown.name, command=command, rows=rows.n, scored_rows=scored,
        first=played.first, task=task, labels=options.labels_text or "", delay=delay, models=models, cost=rows.cost,
        unit=options.unit, price=gate.unit, capacity=how_much(gate), share=share,
        policies=table,
        timeline=timeline(played, rows, followed, dates),
        curves=curves(played, models), operating=operating(played, rows.cost),
        mistakes=[] if classes is None else in_order([
            (name, *counts) for name, counts in zip(classes.told_apart, played.by_class.tolist(), strict=True)
        ]),
        verdict=verdict(table, setting),
        notes=first + whose + known + prices(options, max_stake) + notes(options, facts, classes, rows.n, shares),
        unknown=unknown(options, played, rows.n - warm, delay),
        warnings=log.repeated(column for _, column in options.columns()) + doubts(
            options, facts, classes, pair, rows.n
        ),
        beside=first, left_out=facts.unlabelled,
        days=spent, stakes=staked, max_error=options.max_error, baseline=played.base, lead=played.lead,
        rivals=versus, runs=len(gates), stretch=stretch, saved=saved,
        effective=facts.effective if rows.has("observed") else None, period=period(rows, dates),
        next=next_steps(lead, versus, setting, task != "number" and len(models) > 1 and not gate.combine,
                        misread(options, facts, pair, rows.n)) + unpriced(options),
    )  # fmt: skip
    cases.write(results / "cases.parquet")
    gate.save(results / GATE_FILE)
    (results / "replay.json").write_text(json.dumps(as_json(found), indent=1) + "\n", encoding="utf-8")
    page.write(found, results / "report.html")
    return found


def in_order(mistakes: list[tuple[str, int, int, int]]) -> list[tuple[str, int, int, int]]:
    """Classes by number, if they are numbers, else by name; "other" comes last.

    >>> [name for name, *_ in in_order([("10", 1, 0, 0), ("9", 5, 0, 0), ("other", 2, 0, 0)])]
    ['9', '10', 'other']
    """

    def place(one: tuple[str, int, int, int]) -> tuple[bool, float, str]:
        try:
            return False, float(one[0]), ""
        except ValueError:
            return one[0] == "other", math.inf, one[0].casefold()

    return sorted(mistakes, key=place)


def as_json(found: Replay) -> dict[str, object]:
    """The contents of ``replay.json``."""
    return {"rows": found.rows, "scored_rows": found.scored_rows, "without_label": found.left_out, "cost": found.cost,
            "unit": found.unit, "price": found.price, "baseline": found.baseline, "about": found.lead,
            "runs": found.runs, "effective_labels": found.effective, "verdict": found.verdict,
            "policies": [asdict(policy) for policy in found.policies],
            "rivals": [asdict(rival) for rival in found.rivals],
            "saved": [asdict(part) for part in found.saved],
            "stretch": None if found.stretch is None else asdict(found.stretch)}  # fmt: skip

"""A gate's own cases as a log: one JSON of `Case.to_json` per line, and a file of labels beside it."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import FileError, InputError
from ..gate.case import Case
from .log import NEVER, Log, Times, month_first, reading
from .options import CLASS, LABEL_NAMES, VALUE, ModelColumns, Options

if TYPE_CHECKING:
    import polars as pl

BATCH = 2**15
IDS = ("id", "case", "case_id")
LABEL_TIMES = ("label_time", "time", "seen", "at")
DECIDED, OBSERVED, TIME, LABEL_TIME, STAKE, LABEL = "decided", "observed", "time", "label_time", "stake", "label"


def is_cases(path: Path) -> bool:
    """Whether a file is one of cases rather than a table: its first line is an object of JSON."""
    if not path.is_file():  # a pipe, say, which nobody may ever write to
        return False
    try:
        with path.open("rb") as stream:
            return stream.read(64).lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{")
    except OSError:
        return False


def as_log(path: Path, truth: Path | None, options: Options, folder: Path) -> tuple[Log, Options, list[str]]:
    """Write cases and their labels as a table.

    Args:
        path: The cases, one JSON per line, in the order of the decisions.
        truth: The labels: a CSV or Parquet file with the columns ``id`` and ``label``, and perhaps ``label_time``.
        options: What was asked for.
        folder: Where to write.

    Returns:
        The log, the options with its columns and the prices of the last case, and notes.

    Raises:
        FileError: If a line is not a case.
        InputError: If labels do not fit the cases.
    """
    import polars as pl

    if truth is None:
        raise InputError(
            f"{path}: expected a file of labels after a file of cases: abstain replay cases.jsonl labels.csv"
        )
    frames, last, prices, chances = [], None, set(), Chances()
    for cases in _batches(path):
        frames.append(_frame(cases, options))
        last = cases[-1]
        chances.add(cases)
        prices |= {(case.review_price, case.decision.cost) for case in cases}
    if last is None:
        raise FileError(f"{path}: expected cases, got none")
    table = pl.concat(frames, how="diagonal_relaxed")
    if table["id"].null_count() or table["id"].n_unique() < len(table):
        raise InputError(f"{path}: expected every case once, with its id, got one twice, or one of `peek`")
    labels = _labels(truth, table["id"])
    table = table.join(labels, on="id", how="left", maintain_order="left")
    notes = []
    if options.labels is None:
        options = replace(options, labels=chances.labels())
    table, young = _old_enough(table, str(options.labels))
    if young:
        notes.append(f"The last {young:,} cases are left out: their labels may still be on their way.")
    models = list(dict.fromkeys(name for frame in frames for name in frame.columns if f"{name}_sure" in frame.columns))
    kind = VALUE if options.max_error is not None else CLASS
    found: dict[str, Any] = {
        "models": tuple(ModelColumns(name, kind, name, f"{name}_sure") for name in models),
        "label": LABEL, "decided": DECIDED, "observed": OBSERVED,
    }  # fmt: skip
    if table[TIME].null_count() == 0 and bool((table[TIME][1:] >= table[TIME][:-1]).all()):
        found["time"] = TIME
        if LABEL_TIME in table.columns and not options.delay:
            found["label_time"] = LABEL_TIME
    elif table[TIME].null_count() < len(table):
        notes.append("Times of cases are not used: some have none, or are before the one above.")
    staked = table[STAKE].null_count() < len(table)
    if staked:
        found["mistake_column"] = STAKE
        if not options.fixed_prices:
            notes.append(
                "A mistake is taken to cost what was at stake; cases tell no other prices. If kinds have some, "
                f"say --review-price {last.review_price:.12g} --mistake-column {STAKE} --fixed-price SAID:TRUE=PRICE."
            )
    if options.cost is None and options.review_price is None:
        cost = last.decision.cost
        price = last.review_price / cost if cost > 0.0 else 1.0
        most = max(price, float(table[STAKE].max())) if staked else price  # type: ignore[arg-type]
        found |= {"review_price": last.review_price, "mistake_price": most}
        each = "" if staked else f": a review costs {last.review_price:.12g}, and every mistake {price:.12g}"
        changed = "; they changed in this log" if len(prices) > 1 else ""
        notes.append(f"Prices are those of the last case{each}{changed}.")
    table.write_parquet(folder / "cases.parquet")
    return Log(folder / "cases.parquet", shown=path, typed=False), replace(options, **found), notes


class Chances:
    """Which labels come back, by what cases tell: the probability of seeing the label is v p + w (1 - p), if that of
    an answer is p, v the share of answers, and w that of reviews, whose labels come.
    """

    def __init__(self) -> None:
        self._products, self._sums = np.zeros((2, 2)), np.zeros(2)

    def add(self, cases: list[Case]) -> None:
        """Look at cases."""
        answer = np.array([case.probability for case in cases])
        both = np.column_stack([answer, 1.0 - answer])
        self._products += both.T @ both
        self._sums += both.T @ np.array([case.observed for case in cases])

    def labels(self) -> str | tuple[float, float]:
        """What `abstain.Gate` was given as ``labels``; "answered", if cases do not tell."""
        if np.linalg.cond(self._products) > 1e9:
            return "answered"
        found = tuple(np.round(np.linalg.solve(self._products, self._sums), 6).tolist())
        named = {(1.0, 0.0): "answered", (0.0, 1.0): "reviewed", (1.0, 1.0): "both"}.get(found)
        if named is not None:
            return named
        return (found[0], found[1]) if all(0.0 <= one <= 1.0 for one in found) and any(found) else "answered"


LATE = 0.99
"""The share of the labels that have to be there."""


def _old_enough(table: "pl.DataFrame", labels: str) -> "tuple[pl.DataFrame, int]":
    """Leave out the last cases, if their labels cannot be there yet; return how many that are.

    With times of labels, these are cases younger than most labels take; without, those after the last one with a label.
    """
    labelled = table[LABEL].is_not_null()
    last = int(labelled.arg_true()[-1]) if labelled.any() else len(table) - 1
    if LABEL_TIME in table.columns and table[TIME].null_count() == 0:
        try:
            clock = Times(month_first([table], [LABEL_TIME]))
            cases, came = (clock.read(table[name].rename(name), 0, may_miss=True) for name in (TIME, LABEL_TIME))
        except InputError:
            return table, 0  # the replay says what is wrong
        there = came != NEVER
        if there.any():
            end = max(int(cases.max()), int(came[there].max()))
            wait = float(np.quantile((came - cases)[there], LATE))
            last = int(np.flatnonzero(cases <= end - wait)[-1]) if (cases <= end - wait).any() else last
    reviewed = table[DECIDED] == "review"
    to_come = ~labelled & {"answered": ~reviewed, "reviewed": reviewed}.get(labels, ~labelled)
    young = table.height - 1 - last
    return (table.head(last + 1), young) if young > 0 and to_come.tail(young).any() else (table, 0)


def as_given(options: Options) -> Options:
    """The options that the command needs: columns of cases are known by themselves."""
    column = options.mistake_column if options.mistake_price is None else None
    return replace(options, models=(), label=None, decided=None, observed=None, time=None, label_time=None,
                   mistake_column=column)  # fmt: skip


def _batches(path: Path) -> Iterator[list[Case]]:
    with path.open(encoding="utf-8-sig") as stream:
        batch: list[Case] = []
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                batch.append(Case.from_json(line))
            except FileError as error:
                raise FileError(f"{path}, line {number:,}: {error}") from None
            if len(batch) == BATCH:
                yield batch
                batch = []
        if batch:
            yield batch


def _frame(cases: list[Case], options: Options) -> "pl.DataFrame":
    import polars as pl

    columns = {
        "id": pl.Series([case.id for case in cases], dtype=pl.String),
        DECIDED: pl.Series([case.model if case.action == "answer" else "review" for case in cases], dtype=pl.String),
        OBSERVED: pl.Series([case.observed for case in cases], dtype=pl.Float64),
        STAKE: pl.Series([case.stake for case in cases], dtype=pl.Float64),
        TIME: pl.Series([_time(case.time) for case in cases], strict=False),
    }
    for model in dict.fromkeys(name for case in cases for name in case.answers):
        if model in (*columns, LABEL, LABEL_TIME):
            raise InputError(f"model {model}: expected another name, for a replay has a column of that name")
        said = [case.answers.get(model) for case in cases]
        sure = [case.confidences.get(model) for case in cases]
        columns[model] = pl.Series([None if one is None else str(one) for one in said], dtype=pl.String)
        if options.max_error is not None:
            sure = [None if one is None else (1.0 - one) * options.max_error for one in sure]
        columns[f"{model}_sure"] = pl.Series(sure, dtype=pl.Float64)
    return pl.DataFrame(columns)


def _time(time: str | float | None) -> datetime | float | None:
    """A time of a case; those with a time zone are in UTC, as a column has one zone."""
    if not isinstance(time, str):
        return time
    made = datetime.fromisoformat(time)
    return made if made.tzinfo is None else made.astimezone(UTC)


def _labels(truth: Path, ids: "pl.Series") -> "pl.DataFrame":
    """The labels by id, as text."""
    import polars as pl

    log = Log(truth)
    lower = {column.strip().lower(): column for column in reversed(log.columns)}
    key, label = (next((lower[name] for name in names if name in lower), None) for names in (IDS, LABEL_NAMES))
    if key is None or label is None:
        there = ", ".join(log.columns[:20])
        raise InputError(f"{truth}: expected the columns id (of the case) and label, got {there}")
    columns = [pl.col(key).cast(pl.String).alias("id"), pl.col(label).cast(pl.String).alias(LABEL)]
    time = next((lower[name] for name in LABEL_TIMES if name in lower and lower[name] not in (key, label)), None)
    if time is not None:
        columns.append(pl.col(time).alias(LABEL_TIME))
    with reading(truth, log.is_parquet):
        found = log.scan().select(columns).collect()
    found = found.filter(pl.col("id").is_in(ids.implode()))
    if found.is_empty():
        raise InputError(f"{truth}: expected labels of these cases, got none with an id of theirs")
    if found["id"].n_unique() < len(found):
        twice = found["id"].filter(found["id"].is_duplicated())[0]
        raise InputError(f"{truth}: expected one label for each case, got two for {twice}")
    return found

"""`abstain gates`: list, inspect, export and accept the gates of a store."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._core.terminal import say
from ..errors import InputError, shown
from .console import command
from .serve import STORE, Store, opened

if TYPE_CHECKING:
    import polars as pl

    from ..replay.options import Options
    from ..service.store import CaseRecord, GateRecord, SqlStore

app = typer.Typer(
    help="List, inspect, export and accept the gates of a store.\n\nExample: abstain gates list", no_args_is_help=True
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The gate's name.")]

FORMATS = (".parquet", ".csv", ".jsonl")
LAST = 5
"""Events that `inspect` shows."""
PAGE = 1_000
CASE, DECIDED, OBSERVED, TIME, LABEL, LABEL_TIME, SOURCE, STAKE, PRICE = (
    "case", "decided", "observed", "time", "label", "label_time", "label_source", "stake", "mistake_price"
)  # fmt: skip
OWN = frozenset({CASE, DECIDED, OBSERVED, TIME, LABEL, LABEL_TIME, SOURCE, STAKE, PRICE, "review"})
PREFIX = "model_"
"""What the names of models begin with that are those of other columns."""
SURE, ERROR = "_confidence", "_error"
SLICE = 2**15
"""Cases that are held as Python objects at a time."""
FORMAT = "%Y-%m-%d %H:%M:%S%.6f"


@app.command("list")
def listing(store: Store = STORE) -> None:
    """List all gates: mode, state, events, open reviews.

    Example: abstain gates list --store sqlite:///gates.db
    """
    with command("gates list", "service") as console, opened(store) as source:
        from rich.table import Table

        table = Table("gate", "mode", "state")
        for column in ("events", "cases", "open reviews", "oldest"):
            table.add_column(column, justify="right")
        found = source.gates()
        for gate in found:
            counts = _counts(source, gate.name)
            oldest = source.count(gate.name, state="open", action="review")[1]
            table.add_row(
                gate.name,
                gate.mode,
                gate.state.partition(":")[0],
                f"{gate.next_seq - 1:,}",
                f"{sum(counts.values()):,}",
                f"{counts['review', 'open']:,}",
                "" if oldest is None else moment(oldest),
            )
        console.print(table, markup=False)
        if not found:
            say(console, "No gates yet. PUT /v1/gates/NAME makes one.")


@app.command()
def inspect(name: Name, store: Store = STORE) -> None:
    """Show one gate: settings, state, cases, snapshots, the last events.

    Example: abstain gates inspect spam --store sqlite:///gates.db
    """
    with command("gates inspect", "service") as console, opened(store) as source:
        gate = _gate(source, name)
        say(
            console,
            f"{gate.name}: {gate.mode}, {gate.state}",
            f"created {moment(gate.created)}",
            f"{gate.next_seq - 1:,} events, {gate.mismatches:,} of them decided otherwise when they were replayed",
            "settings:",
        )
        for key, value in json.loads(gate.settings).items():
            say(console, f"  {key}: {json.dumps(value, ensure_ascii=False)}")
        say(console, "cases:")
        for (action, state), count in _counts(source, name).items():
            say(console, f"  {action}, {state}: {count:,}")
        say(console, "snapshots:")
        for snapshot in source.snapshots(name):
            size = f"{len(snapshot.file):,} bytes, version {snapshot.version}"
            say(console, f"  after event {snapshot.seq:,}, {moment(snapshot.at)}: {size}")
        say(console, "last events:")
        for event in source.events(name, after=max(0, gate.next_seq - 1 - LAST), limit=LAST):
            case = "" if event.case is None else f" {event.case}"
            say(console, f"  {event.seq:,} {moment(event.at)} {event.kind}{case}")


@app.command()
def accept(name: Name, store: Store = STORE) -> None:
    """Resume a gate that is stopped because its journal did not replay exactly. Stop the server first.

    The journalled decisions stay: the gate learns from those that differ as from decisions that somebody else made.

    Example: abstain gates accept spam --store sqlite:///gates.db
    """
    with command("gates accept", "service") as console, opened(store) as source:
        import asyncio

        from ..service.problems import ServiceError
        from ..service.service import Service

        _gate(source, name)

        async def resume() -> str:
            service = Service(source)
            await service.start()  # which shows whether the journal replays
            try:
                owner = await service.owner_of(name)
                if owner is not None:
                    raise InputError(f"NAME: expected a gate that no server uses, got {name}, which {owner} serves")
                if (await service.gate(name)).state == "running":
                    return "running: nothing to accept"
                return (await service.accept(name)).state
            finally:
                await service.stop()

        try:
            state = asyncio.run(resume())
        except ServiceError as error:
            raise InputError(str(error)) from None
        say(console, f"{name} is {state}.")


@app.command()
def export(
    name: Name,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file to write: .parquet, .csv or .jsonl.")],
    store: Store = STORE,
) -> None:
    """Write a gate's cases with their labels as a log for abstain replay, even while the server runs.

    A .jsonl file has the gate's cases, and a file of labels is written beside it.

    A class that looks like a missing value, such as NA or the empty text, is written in quotation marks.

    Example: abstain gates export spam --out log.parquet
    """
    with command("gates export", "service") as console, opened(store) as source:
        if out.suffix.lower() not in FORMATS:
            raise InputError(f"--out: expected a file that ends with {', '.join(FORMATS)}, got {shown(str(out))}")
        gate = _gate(source, name)
        table, options = log_of(gate, _cases(source, name))
        if table.is_empty():
            raise InputError(f"{name}: expected decided cases, got none")
        truth = None
        if out.suffix.lower() == ".parquet":
            table.write_parquet(out)
        elif out.suffix.lower() == ".csv":
            table.write_csv(out, datetime_format=FORMAT)
        else:
            truth = out.with_suffix(".labels.csv")
            write_cases(out, truth, gate, table)
        labelled = len(table) - table[LABEL].null_count()
        say(console, f"{out}: {len(table):,} cases, {labelled:,} with a label")
        if labelled and truth is not None and options is not None:
            from ..replay.cases import as_given

            # Where stakes set the prices, such a file has no column for them.
            options = as_given(options) if options.mistake_column is None else None
        if labelled and options is not None:
            asked = options.command(str(out), "out/replay", None if truth is None else str(truth))
            say(console, "To see what it saved:", f"  {asked}")
        elif labelled:
            say(console, "A replay of this file does not take prices of these kinds: give it others, or try .parquet.")


def _gate(source: "SqlStore", name: str) -> "GateRecord":
    gate = source.gate(name)
    if gate is None:
        there = ", ".join(one.name for one in source.gates()[:20]) or "none"
        raise InputError(f"NAME: expected one of the store's gates ({there}), got {shown(name)}")
    return gate


def _counts(source: "SqlStore", name: str) -> dict[tuple[str, str], int]:
    return {
        (action, state): source.count(name, state=state, action=action)[0]
        for action in ("answer", "review")
        for state in ("open", "closed", "expired")
    }


def _cases(source: "SqlStore", name: str) -> "Iterator[CaseRecord]":
    """All cases in the order of their decisions, a page of the journal at a time."""
    after = 0
    while page := source.events(name, after=after, limit=PAGE):
        known, _ = source.find(name, list(dict.fromkeys(event.case for event in page if event.case is not None)))
        for event in page:
            if event.case is not None and event.case in known and known[event.case].seq == event.seq:
                yield known[event.case]
        after = page[-1].seq


def _name(model: str) -> str:
    """The name of a model in the log; other columns keep theirs, and no two models get the same."""
    bare = model
    while bare.startswith(PREFIX):
        bare = bare.removeprefix(PREFIX)
    return f"{PREFIX}{model}" if bare in OWN else model


def _text(value: Any) -> str:
    """A class in the log: in quotation marks if a replay would read it as missing; no two classes get the same."""
    from ..replay.log import MISSING

    text = str(value)
    return f'"{text}"' if text.strip().strip('"').strip() in MISSING else text


def _source(case: "CaseRecord") -> str | None:
    """Where a label came from, if somebody said so."""
    from ..service.hosted import ASSUMED

    return None if case.label_source == ASSUMED else case.label_source


def _utc(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)


def moment(seconds: float) -> str:
    """A time in UTC, to the second."""
    return _utc(seconds).strftime("%Y-%m-%d %H:%M:%S")


def log_of(gate: "GateRecord", cases: "Iterator[CaseRecord]") -> "tuple[pl.DataFrame, Options | None]":
    """Make a gate's cases a table that `abstain replay` reads, and the options to read it with.

    Args:
        gate: The gate.
        cases: Its cases, in their order.

    Returns:
        One row per case: the models' answers and confidences, the label (the corrected one, if there is one), what was
        decided, and times in UTC by the server's clock; and the options, or None if a replay does not take the
        gate's prices.
    """
    import polars as pl

    from ..gate.answers import ANSWER, NUMBER, REVIEW, Labels, Task
    from ..replay.log import named
    from ..service.bodies import Answer

    settings = json.loads(gate.settings)
    task = Task(settings["task"], settings["classes"], settings["max_error"])
    drawn = Labels(settings["labels"])
    chance = drawn.after
    end = ERROR if task.kind == NUMBER else SURE
    names = list(map(_name, settings["models"]))
    kinds: set[type] = set()
    rows: list[dict[str, Any]] = []
    frames: list[pl.DataFrame] = []
    last = datetime.min

    def flush() -> None:
        schema: dict[str, Any] = {CASE: pl.String, TIME: pl.Datetime("us")}
        for name in names:
            schema |= {name: pl.String, f"{name}{end}": pl.Float64}
        schema |= {
            LABEL: pl.String, LABEL_TIME: pl.Datetime("us"), SOURCE: pl.String, DECIDED: pl.String,
            OBSERVED: pl.Float64, STAKE: pl.Float64,
        }  # fmt: skip
        frames.append(pl.DataFrame(rows, schema=schema, orient="row"))
        rows.clear()

    for case in cases:
        request, reply = json.loads(case.request), json.loads(case.reply)
        last = max(_utc(case.at), last + timedelta(microseconds=1))  # replays want every case after the one before
        label = case.correction if case.correction is not None else case.label
        if 0.0 < chance[case.action] < 1.0 and not drawn.counts(_source(case), case.action):
            label = None  # as if it had not come: the draw, whose probability the log has, did not bring it
        row: dict[str, Any] = {
            CASE: case.case,
            TIME: last,
            LABEL_TIME: None if label is None or case.label_at is None else max(_utc(case.label_at), last),
            SOURCE: None if label is None else case.label_source,
            DECIDED: _name(reply["model"]) if case.action == ANSWER else REVIEW,
            OBSERVED: chance[ANSWER] * reply["probability"] + chance[REVIEW] * (1.0 - reply["probability"]),
            STAKE: request.get("stake"),
        }
        plain = {LABEL: None if label is None else json.loads(label)}
        for model, given in request["answers"].items():
            name = _name(model)
            if name not in names:  # removed since
                names.append(name)
            said = None if given is None else task.read(model, Answer.model_validate(given).as_given())
            if said is not None:
                plain[name] = said.answer
                row[f"{name}{end}"] = (
                    said.confidence if task.kind != NUMBER else (1.0 - said.confidence) * task.max_error
                )
        kinds |= {type(value) for value in plain.values() if value is not None}
        rows.append(row | {key: None if value is None else _text(value) for key, value in plain.items()})
        if len(rows) == SLICE:
            flush()
    flush()
    table = pl.concat(frames, how="diagonal")
    if task.kind == NUMBER or kinds == {int}:  # else texts
        kind = pl.Float64 if task.kind == NUMBER else pl.Int64
        table = table.with_columns(named(name).cast(kind) for name in (LABEL, *names))
    if table[STAKE].null_count() == len(table):
        table = table.drop(STAKE)
    return _with_options(settings, table, names, end)


def _with_options(
    settings: dict[str, Any], table: "pl.DataFrame", names: list[str], end: str
) -> "tuple[pl.DataFrame, Options | None]":
    """The table, with a column of prices where stakes set them, and the options of the replay."""
    import polars as pl

    from ..gate.answers import REVIEW
    from ..replay.options import CLASS, VALUE, ModelColumns, Options

    kind = VALUE if end == ERROR else CLASS
    there = [name for name in names if table[name].null_count() < len(table)]
    missing = table[LABEL].null_count() > 0
    own = set(table[DECIDED].unique()) <= {*there, REVIEW}  # a combination of models is no column
    asked: dict[str, Any] = {
        "models": tuple(ModelColumns(name, kind, name, f"{name}{end}") for name in there),
        "label": LABEL, "time": TIME, "label_time": LABEL_TIME, "decided": DECIDED if own else None,
        "observed": OBSERVED if own and missing else None, "combine": settings["combine"],
        "max_error": settings["max_error"] if kind == VALUE else None,
    }  # fmt: skip
    asked["labels"] = settings["labels"] if isinstance(settings["labels"], str) else tuple(settings["labels"])
    if isinstance(settings["capacity"], dict):
        asked["capacity"] = settings["capacity"].get("share")
    else:
        asked["capacity"] = settings["capacity"]
    today = settings["today"]
    if today is not None and _name(today[0]) in there and today[1] is not None and 0.0 <= today[1] <= 1.0:
        asked["today"] = f"{_name(today[0])}:{today[1]:g}"
    try:
        if settings["cost"] is not None:
            return table, Options(**asked, cost=settings["cost"])
        mistake, fixed = _of_mistakes(settings["mistake_price"])
        if isinstance(mistake, dict) and STAKE in table.columns:
            table = table.with_columns((pl.col(STAKE) * mistake["per_stake"]).alias(PRICE))
            asked["mistake_column"] = PRICE
        else:
            asked["mistake_price"] = mistake
        return table, Options(**asked, review_price=settings["review_price"], fixed_prices=fixed)
    except InputError:  # prices that a replay does not take
        return table, None


def _of_mistakes(price: Any) -> tuple[Any, tuple[tuple[str, str, float], ...]]:
    """The price of mistakes, and the prices of kinds that differ from it."""
    if not isinstance(price, dict) or "kinds" not in price:
        return price, ()
    fixed = [(_text(one["said"]), _text(one["true"]), one["price"]) for one in price["kinds"]]
    rest = [one for _, _, one in fixed if isinstance(one, dict)]
    rest += [] if price["other"] is None else [price["other"]]
    if any(one != rest[0] for one in rest):
        raise InputError("mistake_price: expected one price beside fixed ones, got several")
    numbers = tuple((said, true, float(one)) for said, true, one in fixed if not isinstance(one, dict))
    return rest[0] if rest else max(one for _, _, one in numbers), numbers


def write_cases(path: Path, truth: Path, gate: "GateRecord", table: "pl.DataFrame") -> None:
    """Write cases as one JSON per line, as `Case.to_json` does, and their labels as a CSV file beside them.

    The ids are the callers' own. The cases are for replays: no gate learns from them.

    Args:
        path: The file of cases.
        truth: The file of labels.
        gate: The gate.
        table: What `log_of` returns.
    """
    import numpy as np
    import polars as pl

    from ..engine.decision import Decision
    from ..gate.answers import ANSWER, REVIEW
    from ..gate.case import Case

    settings = json.loads(gate.settings)
    end = ERROR if settings["task"] == "number" else SURE
    models = [name for name in table.columns if f"{name}{end}" in table.columns]
    review = settings["review_price"] if settings["cost"] is None else settings["cost"]
    mistake = settings["mistake_price"] if settings["cost"] is None else 1.0
    highest = mistake if isinstance(mistake, (int, float)) else 1.0
    empty, none = np.zeros(0), np.zeros(0, np.bool_)
    with path.open("w", encoding="utf-8") as stream:
        for number, row in enumerate(table.iter_rows(named=True), 1):
            reviewed = row[DECIDED] == REVIEW
            decision = Decision(
                round=number, expert=0, abstained=reviewed, prediction=None, probability=0.0 if reviewed else 1.0,
                cost=min(1.0, review / highest), predictions=empty, abstains=none, carry=empty, id=row[CASE],
                learner="", life="", observed=row[OBSERVED], explored=False, over_capacity=False,
            )  # fmt: skip
            sure = {name: row[f"{name}{end}"] for name in models}
            if end == ERROR:
                most = settings["max_error"]
                sure = {name: None if error is None else 1.0 - min(1.0, error / most) for name, error in sure.items()}
            case = Case(
                action=REVIEW if reviewed else ANSWER, answer=None if reviewed else row[row[DECIDED]],
                model=models[0] if reviewed else row[DECIDED], threshold=None, confidence=None,
                probability=decision.probability, review_price=review, stake=row.get(STAKE), over_capacity=False,
                explored=False, answers={name: row[name] for name in models}, confidences=sure,
                time=row[TIME].isoformat(), decision=decision,
            )  # fmt: skip
            stream.write(f"{case.to_json()}\n")
    known = table.filter(pl.col(LABEL).is_not_null())
    known.select(pl.col(CASE).alias("id"), LABEL, LABEL_TIME).write_csv(truth, datetime_format=FORMAT)

"""Frames of cases: in and out."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import AbstainError, InputError, LabelError
from .answers import BINARY, NUMBER
from .case import Case
from .names import ERROR, LABEL, STAKE, SURE, TIME
from .playing import Block

if TYPE_CHECKING:
    import polars as pl

    from .gate import Gate

TYPES = {
    "id": "String", "action": "String", "model": "String", "threshold": "Float64", "confidence": "Float64",
    "probability": "Float64", "cost": "Float64", "forced": "Boolean", "explored": "Boolean", "case": "String",
}  # fmt: skip


def columns_of(gate: "Gate", name: str) -> tuple[str, str]:
    """The columns of a model: its answer, and how certain it is (not needed where answers are probabilities)."""
    return name, f"{name}{ERROR if gate.task.kind == NUMBER else SURE}"


def read(gate: "Gate", frame: Any, further: tuple[str, ...] = ()) -> dict[str, list[Any]]:
    """The columns of a frame (Polars, pandas, a dictionary of columns) that a gate knows."""
    try:
        names = list(frame.keys() if isinstance(frame, dict) else frame.columns)
    except (AttributeError, TypeError):
        raise InputError(f"frame: expected a frame or a dictionary of columns, got {type(frame).__name__}") from None
    found: dict[str, list[Any]] = {}
    for model in gate.models:
        answer, sure = columns_of(gate, model)
        needed = [answer] if gate.task.kind == BINARY and sure not in names else [answer, sure]
        for column in needed:
            if column not in names:
                raise InputError(f"frame: expected a column {column!r}, got {', '.join(map(str, names))}")
            found[column] = _listed(frame[column])
    for column in (*further, *(extra for extra in (STAKE, TIME) if extra in names)):
        if column not in names:
            raise InputError(f"frame: expected a column {column!r}, got {', '.join(map(str, names))}")
        found[column] = _listed(frame[column])
    if len({len(values) for values in found.values()}) > 1:
        raise InputError("frame: expected columns of one length, got others")
    return found


def _listed(column: Any) -> list[Any]:
    values = column.to_list() if hasattr(column, "to_list") else list(column)
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def answers_of(gate: "Gate", columns: dict[str, list[Any]], row: int) -> dict[str, Any]:
    """What the models say in a row."""
    answers = {}
    for model in gate.models:
        answer, sure = columns_of(gate, model)
        answers[model] = (columns[answer][row], columns[sure][row]) if sure in columns else columns[answer][row]
    return answers


def decide_many(gate: "Gate", frame: Any) -> "pl.DataFrame":
    """See `Gate.decide_many`."""
    import polars as pl

    columns = read(gate, frame)
    n = len(columns[gate.models[0]])
    with gate.learner.lock:
        before = gate.learner.snapshot(), gate.counts.copy(), gate.last_time
        cases = []
        for i in range(n):
            stake, time = (columns[name][i] if name in columns else None for name in (STAKE, TIME))
            try:
                cases.append(gate.decide(answers_of(gate, columns, i), stake=stake, time=time))
            except AbstainError as error:
                gate.learner.restore(before[0])
                gate.counts, gate.last_time = before[1:]
                raise type(error)(f"row {i}: {error}") from None
    shown = ("id", "action", "answer", "model", "threshold", "confidence", "probability", "cost", "forced", "explored")
    table: dict[str, Any] = {name: [getattr(case, name) for case in cases] for name in shown}
    table["case"] = [case.to_json() for case in cases]
    types = {name: getattr(pl, kind) for name, kind in TYPES.items()} | {"answer": _type_of(gate, cases)}
    return pl.DataFrame(table, schema_overrides=types)


def _type_of(gate: "Gate", cases: list[Case]) -> Any:
    """The type of the column of answers: that of all answers there are, and of the classes."""
    import polars as pl

    if gate.task.kind == NUMBER:
        return pl.Float64
    kinds = {type(one) for case in cases for one in case.answers.values() if one is not None}
    kinds |= {type(one) for one in gate.task.classes or ()}
    known = {str: pl.String, bool: pl.Boolean, int: pl.Int64, float: pl.Float64}
    return known[kinds.pop()] if len(kinds) == 1 else pl.Object if kinds else pl.String


def as_block(gate: "Gate", log: Any) -> Block:
    """A log with all its labels."""
    columns = read(gate, log, (LABEL,))
    n = len(columns[LABEL])
    confidence, losses, signs = (np.zeros((n, len(gate.models))) for _ in range(3))
    stakes = np.ones(n)
    for i in range(n):
        try:
            true, answers = gate.task.label(columns[LABEL][i]), answers_of(gate, columns, i)
            stakes[i] = gate.prices.as_stake(columns[STAKE][i] if STAKE in columns else None)
            for m, model in enumerate(gate.models):
                said = gate.task.read(model, answers[model])
                confidence[i, m] = np.nan if said is None else said.confidence
                losses[i, m] = 0.0 if said is None else gate.prices.of(said.answer, true, stakes[i])
                signs[i, m] = gate.task.sign(said)
        except (InputError, LabelError) as error:
            raise type(error)(f"row {i}: {error}") from None
    return Block(confidence, losses, signs, stakes if STAKE in columns else None)

"""Frames of cases: in and out."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import AbstainError, InputError, LabelError
from .answers import BINARY, NUMBER
from .playing import Block

if TYPE_CHECKING:
    import polars as pl

    from .gate import Gate

LABEL, STAKE, TIME = "label", "stake", "time"


def columns_of(gate: "Gate", name: str) -> tuple[str, str]:
    """The columns of a model: its answer, and how certain it is (not needed where answers are probabilities)."""
    return name, f"{name}_error" if gate.task.kind == NUMBER else f"{name}_confidence"


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
    return pl.DataFrame({**table, "case": [case.to_json() for case in cases]}, strict=False)


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

"""Many cases at once, as arrays: what a log is replayed in."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from .._core.validation import as_count
from ..engine.loop import room_for
from ..engine.play import NO_EDGES, Table
from ..errors import AbstainError, InputError, LabelError
from ..learners.exp3.drawing import FOR_CAPACITY, FOR_LABEL
from ..learners.exp3.weighted import WeightedLearner
from ..typing import Bools, Floats, Ints
from .answers import BINARY, NUMBER
from .arguments import ERROR, LABEL, STAKE, SURE, TIME
from .case import Case
from .experts import NO_ANSWER
from .prices import threshold_at, weighed

if TYPE_CHECKING:
    import polars as pl

    from .gate import Gate


class Block(NamedTuple):
    """Cases of a log, a row a case."""

    confidence: Floats
    """(n, P), in [0, 1]; NaN: no answer."""
    losses: Floats
    """(n, P) of each model's answer, in [0, 1]; 0 where there is none."""
    said: Floats | None = None
    """(n, P) with two classes: -1.0 or +1.0."""
    stake: Floats | None = None
    """(n,) relative to the most stake, in (0, 1]."""
    time: Ints | None = None
    """(n,) microseconds since some origin, not decreasing."""
    due: Ints | None = None
    """(n,) the number of the case, from 0, before which the label is learnt; above its own."""


class PlayedCases(NamedTuple):
    """What the gate did (n,)."""

    reviewed: Bools
    model: Ints
    level: Ints
    """The number of the threshold."""
    threshold: Floats
    """What the confidence had to exceed in the case."""
    loss: Floats
    """Relative to the unit; the cost of a review where it was one."""
    over_capacity: Bools
    """Whether it was answered as there was no capacity left."""
    explored: Bools
    """Whether it was answered, or reviewed, just to see the label."""


Player: TypeAlias = Callable[[Block], PlayedCases]


def inputs(block: Block, two: bool, last_time: int | None) -> Floats:
    """What the gate's experts are shown (n, 2 P + 1)."""
    n, models = block.confidence.shape
    X = np.zeros((n, 2 * models + 1))
    stake = np.ones((1, 1)) if block.stake is None else block.stake[:, np.newaxis]
    missing = np.isnan(block.confidence)
    X[:, :models] = np.where(missing, NO_ANSWER, weighed(block.confidence, stake))
    if two and block.said is not None:
        X[:, models:-1] = np.where(missing, 0.0, block.said * stake)
    if block.time is not None:
        X[:, -1] = np.diff(block.time, prepend=block.time[0] if last_time is None else last_time)
    return X


@contextmanager
def playing(gate: "Gate", delay: int, later: bool) -> Iterator[Player]:
    """Play blocks of cases, one after the other, with labels ``delay`` cases late, or (``later``) when blocks say.

    It does what `decide` and `learn` would, bit for bit. After an exception the gate is as before; Ctrl-C leaves it
    after the cases played, with their labels learnt.
    """
    learner = gate.learner
    with learner.lock:
        before = learner.snapshot(), gate.counts.copy(), gate.last_time
        game = learner.playing(as_count(delay, "delay", least=0), later)

        def play(block: Block) -> PlayedCases:
            X = inputs(block, gate.task.two, gate.last_time)
            n, n_levels = len(X), gate.levels.shape[1]
            out = room_for(n, 2 if isinstance(learner, WeightedLearner) and learner.new_carry().size > 1 else 0)
            costs = learner.cost.of(X, learner.round + 1, n)
            game.play(Table(X, learner.loss.labels(block.losses), costs, block.due), NO_EDGES, _no_progress, out)
            gate.count(X)
            if block.time is not None and n > 0:
                gate.last_time = int(block.time[-1])
            model, level = np.divmod(out.expert, n_levels)
            stake = 1.0 if block.stake is None else block.stake
            threshold = threshold_at(gate.levels[model, level], stake)
            why = out.kept[:, 1] if out.kept.size > 0 else np.zeros(n)
            return PlayedCases(
                out.abstained, model, level, threshold, out.loss, why == FOR_CAPACITY, why == FOR_LABEL
            )  # fmt: skip

        try:
            yield play
        except Exception:
            learner.restore(before[0])
            gate.counts, gate.last_time = before[1:]
            raise
        except BaseException:
            game.finish()
            raise
        game.finish()


def _no_progress(done: int) -> None:
    """A block is short."""


TYPES = {
    "id": "String", "action": "String", "model": "String", "threshold": "Float64", "confidence": "Float64",
    "probability": "Float64", "cost": "Float64", "over_capacity": "Boolean", "explored": "Boolean", "case": "String",
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
    shown = (
        "id",
        "action",
        "answer",
        "model",
        "threshold",
        "confidence",
        "probability",
        "cost",
        "over_capacity",
        "explored",
    )
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

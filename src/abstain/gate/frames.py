"""Many cases at once: frames with one row per case, and blocks of arrays, in which logs are replayed."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ..engine.loop import Played
from ..errors import AbstainError, InputError, shown
from ..learners.exp3.drawing import FOR_CAPACITY, FOR_LABEL
from ..typing import Bools, Floats, Ints
from .answers import BINARY, ERROR, LABEL, NUMBER, STAKE, SURE, TIME, Said, Task, is_text
from .case import Case
from .experts import NO_ANSWER
from .prices import Prices, threshold_at, weighed

if TYPE_CHECKING:
    import polars as pl


class Block(NamedTuple):
    """Cases of a log, one row per case."""

    confidence: Floats
    """(n, P), in [0, 1]; NaN: no answer."""
    losses: Floats
    """(n, P) of each model's answer, relative to the unit, in full: with stakes some may be above 1. 0 without an
    answer."""
    said: Floats | None = None
    """(n, P) with two classes: -1.0 or +1.0."""
    risk: Floats | None = None
    """(n, P) with stakes: what a mistake would lose, relative to the unit, in full."""
    time: Ints | None = None
    """(n,) microseconds since some origin, not decreasing."""
    due: Ints | None = None
    """(n,) the number of the case, from 0, before which the label is learnt; above its own."""
    came: Ints | None = None
    """(n,) with ``due``: of labels that are learnt before the same case, the lowest number goes first."""
    answer: Floats | None = None
    """(n, P) what each model said, as a number: equal for equal answers; of classes, below 0: no answer. Two classes
    need ``said`` only."""
    truth: Ints | None = None
    """(n,) the number of the true answer; with two classes 0 or 1. For gates that combine models."""
    kinds: Floats | None = None
    """(n, C, C + 1) if prices depend on the kind of mistake, and there are stakes or more than two classes: what the
    i-th different answer of a row loses, in full, if the j-th is true, or (the last) if none of them is; C is 2 or the
    number of models."""

    @property
    def learnt(self) -> Floats:
        """The losses as they are learnt: with stakes, none is above 1."""
        return self.losses if self.risk is None else np.minimum(1.0, self.losses)


class PlayedCases(NamedTuple):
    """What the gate did (n,)."""

    reviewed: Bools
    model: Ints
    level: Ints
    """The number of the threshold."""
    threshold: Floats
    """What the confidence had to exceed in the case."""
    loss: Floats
    """Relative to the unit, in full; the cost of a review if it was one."""
    over_capacity: Bools
    """Whether it was answered because no capacity was left."""
    explored: Bools
    """Whether it was answered, or reviewed, only to see the label."""
    combined: Floats | None = None
    """What the combination said, as a number of `Block.answer`, or as `Block.said`; None for a gate without one."""


Player: TypeAlias = Callable[[Block], PlayedCases]


def inputs(block: Block, two: bool, last_time: int | None) -> Floats:
    """Return what the gate's experts see of a block (n, 2 P + 1)."""
    n, models = block.confidence.shape
    X = np.zeros((n, 2 * models + 1))
    missing = np.isnan(block.confidence)
    sure = block.confidence if block.risk is None else weighed(block.confidence, block.risk)
    X[:, :models] = np.where(missing, NO_ANSWER, sure)
    if two and block.said is not None:
        signs = block.said if block.risk is None else block.said * np.minimum(1.0, block.risk)
        X[:, models:-1] = np.where(missing, 0.0, signs)
    if block.time is not None and n > 0:
        X[:, -1] = np.diff(block.time, prepend=block.time[0] if last_time is None else last_time)
    return X


def with_combined(
    block: Block,
    sure: Floats | None = None,
    said: Floats | None = None,
    lost: Floats | None = None,
    risk: Floats | None = None,
) -> Block:
    """Return a block with one more model: the combination, with these confidences, answers, losses and risks (n,).

    By default it has no answers.
    """
    n = len(block.confidence)

    def add(column: Floats | None, values: Floats, missing: float) -> Floats:
        return np.column_stack([values, np.full(n, missing) if column is None else column])

    return block._replace(
        confidence=add(sure, block.confidence, np.nan),
        losses=add(lost, block.losses, 0.0),
        said=None if block.said is None else add(said, block.said, 0.0),
        risk=None if block.risk is None else add(risk, block.risk, 0.0),
    )


def played_cases(out: Played, thresholds: Floats, block: Block, begin: int = 0) -> PlayedCases:
    """Return what the learner did as what the gate did; its first case is row ``begin`` of the block."""
    model, level = np.divmod(out.expert, thresholds.shape[1])
    threshold, loss, rows = thresholds[model, level], out.loss, np.arange(begin, begin + len(model))
    if block.risk is not None:
        threshold = threshold_at(threshold, block.risk[rows, model])
        loss = np.where(out.abstained, loss, block.losses[rows, model])
    why = out.kept[:, 1] if out.kept.shape[1] > 1 else np.zeros(len(model))
    return PlayedCases(out.abstained, model, level, threshold, loss, why == FOR_CAPACITY, why == FOR_LABEL)


class Columns:
    """The columns of a frame (Polars, pandas, a dictionary of columns) that a gate knows."""

    def __init__(self, frame: Any, models: Sequence[str], task: Task, *, labels: bool = False) -> None:
        try:
            names = list(frame.keys() if isinstance(frame, dict) else frame.columns)
        except (AttributeError, TypeError):
            raise InputError(f"frame: expected a frame or a dictionary of columns, got {shown(frame)}") from None
        self._pairs, needed = [], []
        for model in models:
            sure = f"{model}{ERROR if task.kind == NUMBER else SURE}"
            alone = task.kind == BINARY and sure not in names  # a probability says how certain it is
            self._pairs.append((model, None if alone else sure))
            needed += [model] if alone else [model, sure]
        needed += [LABEL] if labels else []
        self._columns: dict[str, list[Any]] = {}
        for column in (*needed, *(extra for extra in (STAKE, TIME) if extra in names)):
            if column not in names:
                raise InputError(f"frame: expected a column {column!r}, got {', '.join(map(str, names))}")
            self._columns[column] = _listed(frame[column])
        lengths = {column: len(values) for column, values in self._columns.items()}
        if len(set(lengths.values())) > 1:
            raise InputError(f"frame: expected columns of one length, got {shown(lengths)}")
        self.n = lengths[models[0]]

    def has(self, column: str) -> bool:
        """Return whether there is a column of that name."""
        return column in self._columns

    def value(self, column: str, row: int) -> Any:
        """Return what a column has in a row; None if there is no such column."""
        return self._columns[column][row] if column in self._columns else None

    def answers(self, row: int) -> dict[str, Any]:
        """Return what the models say in a row."""
        known = self._columns
        return {
            model: known[model][row] if sure is None else (known[model][row], known[sure][row])
            for model, sure in self._pairs
        }


def _listed(column: Any) -> list[Any]:
    values = column.to_list() if hasattr(column, "to_list") else list(column)
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def as_block(log: Any, models: Sequence[str], task: Task, prices: Prices) -> Block:
    """Return a frame with all its labels as a block."""
    columns = Columns(log, models, task, labels=True)
    n = columns.n
    confidence, losses, signs, risk = (np.zeros((n, len(models))) for _ in range(4))
    answer, truth, kinds = np.full((n, len(models)), -1.0), np.full(n, -1), None
    size = 2 if task.two else len(models)
    if prices.by_kind and (prices.staked or not task.two):
        kinds = np.zeros((n, size, size + 1))
    for i in range(n):
        try:
            row = task.read_all(columns.answers(i), models)
            true = task.label(columns.value(LABEL, i), (None if said is None else said.answer for said in row))
            stake = prices.as_stake(columns.value(STAKE, i))
            if task.kind != NUMBER:
                found = {one: k for k, one in enumerate(task.classes or ())} if task.two else {}
                answer[i] = [-1 if said is None else found.setdefault(said.answer, len(found)) for said in row]
                truth[i] = found.get(true, -1)
                if kinds is not None:
                    kinds[i] = prices.between(list(found), size, stake)
            for m, said in enumerate(row):
                confidence[i, m] = np.nan if said is None else said.confidence
                losses[i, m] = 0.0 if said is None else prices.full(said.answer, true, stake)
                risk[i, m] = prices.risk(None if said is None else said.answer, stake)
                signs[i, m] = task.sign(said)
                if said is not None and task.kind == NUMBER:
                    answer[i, m] = float(said.answer)
        except AbstainError as error:
            raise type(error)(f"row {i}: {error}") from None
    return Block(confidence, losses, signs, risk if prices.staked else None, answer=answer, truth=truth, kinds=kinds)


SHOWN = (
    "id", "action", "answer", "model", "threshold", "confidence", "probability", "review_price", "over_capacity",
    "explored",
)  # fmt: skip
"""The columns of a frame of decisions, but for the last, ``case``, which has their JSON."""


def check_column(model: str, said: Said | None) -> None:
    """Raise an error if no column of a frame can hold an answer."""
    if said is None:
        return
    if isinstance(said.answer, int) and not -(2**63) <= said.answer < 2**63:
        raise InputError(f"{model}: expected a whole number of at most 64 bits in a frame, got {shown(said.answer)}")
    if isinstance(said.answer, str) and not is_text(said.answer):
        raise InputError(f"{model}: expected a text that UTF-8 can encode in a frame, got {shown(said.answer)}")


def table_of(cases: Iterable[Case]) -> dict[str, list[Any]]:
    """Return cases as columns."""
    listed = list(cases)
    table = {name: [getattr(case, name) for case in listed] for name in SHOWN}
    return {**table, "case": [case.to_json() for case in listed]}


def frame_of(cases: list[Case], task: Task) -> "pl.DataFrame":
    """Return cases as a frame whose types do not depend on what was decided."""
    import polars as pl

    kinds = {type(one) for case in cases for one in case.answers.values() if one is not None}
    kinds |= {type(one) for one in task.classes or ()}
    known = {str: pl.String, bool: pl.Boolean, int: pl.Int64, float: pl.Float64}
    answer = known[kinds.pop()] if len(kinds) == 1 else pl.Object if kinds else pl.String
    types: dict[str, Any] = dict.fromkeys(("id", "action", "model", "case"), pl.String)
    types |= dict.fromkeys(("threshold", "confidence", "probability", "review_price"), pl.Float64)
    types |= dict.fromkeys(("over_capacity", "explored"), pl.Boolean)
    types["answer"] = pl.Float64 if task.kind == NUMBER else answer
    return pl.DataFrame(table_of(cases), schema_overrides=types)

"""Which columns of a log are what."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from ...errors import InputError, shown

CLASS, PROBABILITY, VALUE = "class", "probability", "value"
OPTIONS = {CLASS: "--model", PROBABILITY: "--probability", VALUE: "--value"}


@dataclass(frozen=True)
class ModelColumns:
    """Where the answers of a model are."""

    name: str
    kind: str
    answer: str
    """A class, a probability of one of two classes, or a number."""
    sure: str | None
    """The column of its confidence, or of its expected error; None for a probability, which is both."""

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns read."""
        return (self.answer,) if self.sure is None else (self.answer, self.sure)

    @property
    def arguments(self) -> tuple[str, str]:
        """The option of the command that says this."""
        return OPTIONS[self.kind], f"{self.name}={':'.join(self.columns)}"


def model_columns(kind: str, text: str) -> ModelColumns:
    """What ``NAME=ANSWER:CONFIDENCE``, ``NAME=PROBABILITY`` or ``NAME=NUMBER:ERROR`` says.

    >>> model_columns("class", "gbm=said:sure")
    ModelColumns(name='gbm', kind='class', answer='said', sure='sure')
    """
    name, equals, columns = text.partition("=")
    if kind == PROBABILITY:
        if not (name and equals and columns):
            raise InputError(f"--probability: expected NAME=COLUMN, got {shown(text)}")
        return ModelColumns(name, kind, columns, None)
    answer, colon, sure = columns.rpartition(":")
    if not (name and equals and answer and colon and sure):
        second = "CONFIDENCE" if kind == CLASS else "ERROR"
        raise InputError(f"{OPTIONS[kind]}: expected NAME=ANSWER:{second}, two columns, got {shown(text)}")
    return ModelColumns(name, kind, answer, sure)


def check_there(wanted: str, option: str, columns: Sequence[str]) -> None:
    """Refuse a column that is not in the log, and say which is meant, perhaps."""
    if wanted in columns:
        return
    alike = {column.strip().lower(): column for column in columns}
    near = get_close_matches(wanted.strip().lower(), alike, 1, 0.5)
    hint = f"; did you mean {shown(alike[near[0]])}?" if near else f"; there are {', '.join(columns[:20])}"
    raise InputError(f"{option}: no column {shown(wanted)} in the log{hint}")

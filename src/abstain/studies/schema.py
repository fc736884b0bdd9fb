"""What a file of studies may say, as pydantic models: its tables, the keys of each, and their types.

The models are made of the fields of the studies, so that a field is said once. What a number or a word may be is
checked where a study is made, for those made in Python, too. Only reading a file imports this module, for pydantic
takes a while.
"""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import partial
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Discriminator, Field, PlainValidator, Tag, ValidationError, create_model

from .._core.validation import as_count
from ..errors import InputError
from .expert_specs import ExpertsSpec
from .growth import GrowthStudy
from .ingredients import LearnerSpec
from .logs.study import Goal, LogStudy
from .schema_errors import sentence
from .study import SetAndCost, Study, as_pair


class Table(BaseModel):
    """A table with these keys and no others; nothing is turned into what it is not."""

    model_config = ConfigDict(extra="forbid", strict=True)


class OptionsTable(BaseModel):
    """A table with these keys, and the options of its kind, which the kind itself checks."""

    model_config = ConfigDict(extra="allow", strict=True)


class ExpertsTable(OptionsTable):
    """``experts = { kind = "hyperplanes", n_rings = 20 }``."""

    kind: str = "hyperplanes"


class LearnerTable(OptionsTable):
    """``[learners]``: ``"bold" = { kind = "UCBGT", beta = 0.5 }``."""

    kind: str


class LabelledTable(LearnerTable):
    """The same among the learners of a study, where it says its label."""

    label: str


class SetTable(OptionsTable):
    """``[sets]``: ``mine = { path = "mine.csv" }`` or ``mine = { kind = "module:function" }``."""

    path: str = ""
    label: str = ""
    positive: Any = None
    kind: str = ""


def _form(learner: Any) -> str:
    return "known" if isinstance(learner, str) else "table"


_IN_FILES: dict[Any, Any] = {
    ExpertsSpec: ExpertsTable,
    LearnerSpec: Annotated[Annotated[str, Tag("known")] | Annotated[LabelledTable, Tag("table")], Discriminator(_form)],
}
"""What stands in a file for a type of Python's."""


def _in_files(name: str, hint: Any, least: int | None) -> Any:
    """The type of a field in a file: lists for tuples, tables for what is made of them."""
    if least is not None:
        return Annotated[Any, PlainValidator(partial(as_count, name=name, least=least))]
    if hint == SetAndCost:
        return Annotated[Any, PlainValidator(partial(as_pair, name=name))]
    if get_origin(hint) is tuple:
        return list[_in_files(name, get_args(hint)[0], None)]  # type: ignore[misc]
    return _IN_FILES.get(hint, hint)


def _table(of: type, has_kind: bool = False) -> type[Table]:
    """The table of a dataclass: its fields, but the name, which heads the table, and the sets, which have their own."""
    hints = get_type_hints(of)
    keys: dict[str, Any] = {"kind": (str, ...)} if has_kind else {}
    for one in fields(of):
        if one.name not in ("name", "own"):
            must = one.default is MISSING and one.default_factory is MISSING
            keys[one.name] = _in_files(one.name, hints[one.name], one.metadata.get("least")), ... if must else None
    return create_model(f"{of.__name__}Table", __base__=Table, **keys)


GoalTable = _IN_FILES[Goal] = _table(Goal)
"""``goals = [...]`` of a study of logs."""
StudyTable = _table(Study)
"""``[defaults]``, and ``[studies.NAME]``; no key must be given."""
GrowthTable = _table(GrowthStudy, has_kind=True)
"""``[studies.NAME]`` with ``kind = "growth"``."""
LogTable = _table(LogStudy, has_kind=True)
"""``[studies.NAME]`` with ``kind = "logs"``."""


def _kind(study: Any) -> str:
    return str(study.get("kind", "played")) if isinstance(study, Mapping) else "played"


class File(Table):
    """A whole file."""

    defaults: StudyTable = Field(default_factory=StudyTable)  # type: ignore[valid-type]
    learners: dict[str, LearnerTable] = Field(default_factory=dict)
    sets: dict[str, SetTable] = Field(default_factory=dict)
    studies: dict[
        str,
        Annotated[
            Annotated[StudyTable, Tag("played")]  # type: ignore[valid-type]
            | Annotated[GrowthTable, Tag("growth")]  # type: ignore[valid-type]
            | Annotated[LogTable, Tag("logs")],  # type: ignore[valid-type]
            Discriminator(_kind),
        ],
    ] = Field(min_length=1)


def check(tables: Mapping[str, Any]) -> None:
    """Raise one error that says all that is wrong with the tables of a file."""
    try:
        File.model_validate(tables)
    except ValidationError as error:
        models: dict[str, type[Table]] = {
            "played": StudyTable, "growth": GrowthTable, "logs": LogTable, "goals": GoalTable,
            "defaults": StudyTable, "": File,
        }  # fmt: skip
        keys = {name: list(model.model_fields) for name, model in models.items()}
        raise InputError("; ".join(sentence(one, keys) for one in error.errors())) from None

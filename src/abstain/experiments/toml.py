"""Studies in TOML files: their form, what is wrong with one, and reading them."""

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Discriminator, Field, PlainValidator, Tag, ValidationError, create_model

from .._core.validation import as_count
from ..errors import FileError, InputError, shown
from ..paper.growth import GrowthStudy
from ..paper.logs.study import Goal, LogStudy
from .specs import ExpertsSpec, LearnerSpec, SetSpec
from .study import LearnerStudy, SetAndCost, as_pair

_HEADS = {"studies": "study", "sets": "set", "learners": "learner"}
"""What the entries of a table of the file are called."""
_TAGS = ("known", "table")
"""Behind the place of a learner in a list: as what it was read."""
_EXPECTED = {
    "int_type": "a whole number", "int_from_float": "a whole number", "float_type": "a number", "string_type": "a text",
    "bool_type": "true or false", "list_type": "a list", "dict_type": "a table", "model_type": "a table",
}  # fmt: skip


def sentence(error: Mapping[str, Any], keys: Mapping[str, Sequence[str]]) -> str:
    """One error; ``keys`` are those of each kind of study, of the defaults and (under no name) of the file."""
    kind, place, value = error["type"], list(error["loc"]), error["input"]
    where = _where(place)
    if kind == "value_error":  # a check of the library's own, which names the key itself
        return ": ".join([*where[:1], str(error["ctx"]["error"])])
    if kind == "extra_forbidden":
        known = keys[_table_of_key(place)]
        return ": ".join([*where[:-1], f"expected some of {', '.join(known)}, got {place[-1]}"])
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return ": ".join([*where, f"kind: expected growth, logs or none, got {shown(value.get('kind'))}"])
    if kind in ("missing", "too_short"):
        expected = "a table [studies.NAME]" if place == ["studies"] else "a value"
        return ": ".join([*where, f"expected {expected}, got none"])
    return ": ".join([*where, f"expected {_EXPECTED.get(kind, error['msg'])}, got {shown(value)}"])


def _table_of_key(place: Sequence[str | int]) -> str:
    """Whose key it is: that of a kind of study, of the defaults, of a goal of a study of logs, or of the file."""
    if "goals" in place[:-1]:
        return "goals"
    if place[0] == "studies" and len(place) > 2:
        return str(place[2])
    return str(place[0]) if len(place) > 1 else ""


def _where(place: Sequence[str | int]) -> list[str]:
    """The way there in words: "study mine", "rounds"."""
    words, names = list(place), []
    if len(words) > 1 and words[0] in _HEADS:
        names = [f"{_HEADS[str(words[0])]} {words[1]}"]
        words = words[3 if words[0] == "studies" else 2 :]  # behind a study's name is its kind
    before: str | int = ""
    for word in words:
        is_tag = isinstance(before, int) and word in _TAGS
        names += [] if isinstance(word, int) or is_tag else [word]
        before = word
    return names


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
StudyTable = _table(LearnerStudy)
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


__all__ = [
    "AnyStudy",
    "ExpertsSpec",
    "GrowthStudy",
    "LearnerSpec",
    "LearnerStudy",
    "LogStudy",
    "SetSpec",
    "paper",
    "read",
    "select",
    "shipped",
]

AnyStudy: TypeAlias = LearnerStudy | GrowthStudy | LogStudy


def paper() -> dict[str, AnyStudy]:
    """The paper's studies by name."""
    return _studies(_tables("paper.toml"), {}, {})


def shipped() -> dict[str, AnyStudy]:
    """The paper's studies and those beyond it, by name."""
    own = _tables("paper.toml")
    beyond = _studies(_tables("beyond.toml"), own["defaults"], own["learners"])
    logs = _studies(_tables("logs.toml"), {"seed": own["defaults"]["seed"]}, own["learners"])
    return paper() | beyond | logs


def read(path: str | os.PathLike[str]) -> dict[str, AnyStudy]:
    """The studies of a TOML file; what it leaves out, and learners it does not define, are the paper's.

    Learners, experts and streams of one's own, ``kind = "module:name"``, and files of the table ``[sets]`` may lie
    beside it.

    The least such file::

        [studies.mine]
        sets = ["synthetic"]
        costs = [0.05]
    """
    try:
        tables = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: expected TOML ({error})") from None
    own = _tables("paper.toml")
    try:
        return _studies(tables, own["defaults"], own["learners"], str(Path(path).absolute().parent))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def select(studies: Mapping[str, AnyStudy], name: str) -> list[AnyStudy]:
    """The study of that name and those whose name goes on after it (``moving-...``); "all" but other readings.

    With readings comes our own, `regret`, to compare them with.
    """
    if name == "all":
        return [study for study in studies.values() if study.role != "reading"]
    chosen = [study for key, study in studies.items() if key == name or key.startswith(f"{name}-")]
    if any(study.role == "reading" for study in chosen) and "regret" in studies:
        chosen.insert(0, studies["regret"])
    if not chosen:
        known = ", ".join(dict.fromkeys(key.partition("-")[0] for key in studies))
        raise InputError(f"study: expected one of {known}, all, or the path of a .toml file, got {name!r}")
    return chosen


def _tables(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files("abstain.paper").joinpath(name).read_text(encoding="utf-8"))


def _studies(
    tables: Mapping[str, Any], defaults: Mapping[str, Any], known: Mapping[str, Any], folder: str | None = None
) -> dict[str, AnyStudy]:

    check(tables)
    defaults = {**defaults, **tables.get("defaults", {})}
    known = {**known, **tables.get("learners", {})}
    own = tuple(_set(name, table, folder) for name, table in tables.get("sets", {}).items())
    studies = {}
    for name, table in tables["studies"].items():
        try:
            studies[name] = _study(name, table, defaults, known, own, folder)
        except InputError as error:  # studies say their names, what they are made of does not
            head = f"study {name}: "
            raise InputError(head + str(error).removeprefix(head)) from None
    return studies


def _study(
    name: str,
    table: Mapping[str, Any],
    defaults: Mapping[str, Any],
    known: Mapping[str, Any],
    own: tuple[SetSpec, ...],
    folder: str | None,
) -> AnyStudy:
    kind = table.get("kind")
    if kind is None:
        return _played(name, table, defaults, known, own, folder)
    values = {"seed": defaults.get("seed", 0), **table}  # the rest of the defaults is not for these
    del values["kind"]
    if kind == "growth":
        return GrowthStudy(name=name, **values)
    values["learners"] = _learners(values.get("learners", ()), known, folder)
    values["goals"] = tuple(Goal(**goal) for goal in values.get("goals", ()))
    return LogStudy(name=name, **values)


def _played(
    name: str,
    table: Mapping[str, Any],
    defaults: Mapping[str, Any],
    known: Mapping[str, Any],
    own: tuple[SetSpec, ...],
    folder: str | None,
) -> LearnerStudy:
    if "settings" in table and ("sets" in table or "costs" in table):
        raise InputError("expected settings, or sets and costs, got both")
    values: dict[str, Any] = {**defaults, **table}
    for key in ("sets", "costs") if "settings" in table else ("settings",):
        values.pop(key, None)
    options = dict(values.get("experts", {}))
    values["experts"] = ExpertsSpec(options.pop("kind", "hyperplanes"), options, folder)
    values["learners"] = _learners(values.get("learners", ()), known, folder)
    return LearnerStudy(name=name, own=own, **values)


def _set(name: str, table: Mapping[str, Any], folder: str | None) -> SetSpec:
    options = dict(table)
    given = {key: options.pop(key) for key in ("path", "label", "positive", "kind") if key in options}
    return SetSpec(name, **given, options=options, folder=folder)


def _learners(
    entries: Sequence[str | Mapping[str, Any]], known: Mapping[str, Any], folder: str | None
) -> tuple[LearnerSpec, ...]:
    """Labels of the table [learners], or tables with a label."""
    found = []
    for entry in entries:
        if isinstance(entry, str) and entry not in known:
            raise InputError(f"learner: expected one of {'; '.join(known)}, got {entry!r}")
        options = {"label": entry, **known[entry]} if isinstance(entry, str) else dict(entry)
        found.append(LearnerSpec(options.pop("label"), options.pop("kind"), options, folder))
    return tuple(found)

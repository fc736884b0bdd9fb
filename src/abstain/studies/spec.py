"""Studies read from TOML: the paper's, those beyond it, and those of a user's file of the same form."""

import os
import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, TypeAlias

from ..errors import FileError, InputError
from .expert_specs import ExpertsSpec
from .growth import GrowthStudy
from .ingredients import LearnerSpec
from .logs.study import LogStudy
from .set_specs import SetSpec
from .study import Study

__all__ = [
    "AnyStudy",
    "ExpertsSpec",
    "GrowthStudy",
    "LearnerSpec",
    "LogStudy",
    "SetSpec",
    "Study",
    "paper",
    "read",
    "select",
    "shipped",
]

AnyStudy: TypeAlias = Study | GrowthStudy | LogStudy
_FIELDS = tuple(name for name in Study.__dataclass_fields__ if name not in ("name", "own"))
_GROWTH_FIELDS = tuple(name for name in GrowthStudy.__dataclass_fields__ if name != "name")
_LOG_FIELDS = tuple(name for name in LogStudy.__dataclass_fields__ if name != "name")


def paper() -> dict[str, AnyStudy]:
    """The paper's studies by name."""
    return _studies(_tables("paper.toml"), {}, {})


def shipped() -> dict[str, AnyStudy]:
    """The paper's studies and those beyond it, by name."""
    own = _tables("paper.toml")
    beyond = _studies(_tables("beyond.toml"), own["defaults"], own["learners"])
    logs = _studies(_tables("logs/logs.toml"), {"seed": own["defaults"]["seed"]}, own["learners"])
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
    return tomllib.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))


def _studies(
    tables: Mapping[str, Any], defaults: Mapping[str, Any], known: Mapping[str, Any], folder: str | None = None
) -> dict[str, AnyStudy]:
    for key, value in tables.items():
        if key not in ("defaults", "learners", "sets", "studies") or not isinstance(value, dict):
            raise InputError(f"expected the tables defaults, learners, sets and studies, got {key}")
    defaults = {**defaults, **tables.get("defaults", {})}
    known = {**known, **tables.get("learners", {})}
    own = tuple(_set(name, table, folder) for name, table in tables.get("sets", {}).items())
    studies = {
        name: _study(name, table, defaults, known, own, folder) for name, table in tables.get("studies", {}).items()
    }
    if not studies:
        raise InputError("studies: expected a table [studies.NAME], got none")
    return studies


def _study(
    name: str,
    table: Any,
    defaults: Mapping[str, Any],
    known: Mapping[str, Any],
    own: tuple[SetSpec, ...],
    folder: str | None,
) -> AnyStudy:
    if not isinstance(table, dict):
        raise InputError(f"studies: expected a table [studies.{name}], got {table!r}")
    if table.get("kind") == "growth":
        return _growth(name, table, defaults)
    if table.get("kind") == "logs":
        return _logs(name, table, defaults, known, folder)
    values: dict[str, Any] = {**defaults, **table}
    for key in values:
        if key not in _FIELDS:
            raise InputError(f"study {name}: expected some of {', '.join(_FIELDS)}, got {key}")
    if "settings" in table and ("sets" in table or "costs" in table):
        raise InputError(f"study {name}: expected settings, or sets and costs, got both")
    for key in ("sets", "costs") if "settings" in table else ("settings",):
        values.pop(key, None)
    try:
        values["experts"] = _experts(values.get("experts", {}), folder)
        values["learners"] = _learners(values.get("learners", ()), known, folder)
    except InputError as error:
        raise InputError(f"study {name}: {error}") from None
    return Study(name=name, own=own, **values)


def _growth(name: str, table: Mapping[str, Any], defaults: Mapping[str, Any]) -> GrowthStudy:
    values = {"seed": defaults.get("seed", 0), **table}
    del values["kind"]
    for key in values:
        if key not in _GROWTH_FIELDS:
            raise InputError(f"study {name}: expected some of {', '.join(_GROWTH_FIELDS)}, got {key}")
    return GrowthStudy(name=name, **values)


def _logs(
    name: str, table: Mapping[str, Any], defaults: Mapping[str, Any], known: Mapping[str, Any], folder: str | None
) -> LogStudy:  # fmt: skip
    values = {"seed": defaults.get("seed", 0), **table}
    del values["kind"]
    for key in values:
        if key not in _LOG_FIELDS:
            raise InputError(f"study {name}: expected some of {', '.join(_LOG_FIELDS)}, got {key}")
    try:
        values["learners"] = _learners(values.get("learners", ()), known, folder)
    except InputError as error:
        raise InputError(f"study {name}: {error}") from None
    return LogStudy(name=name, **values)


def _set(name: str, table: Any, folder: str | None) -> SetSpec:
    if not isinstance(table, dict):
        raise InputError(f'set {name}: expected a table such as {{ path = "mine.csv" }}, got {table!r}')
    options = dict(table)
    given = {key: options.pop(key) for key in ("path", "label", "positive", "kind") if key in options}
    return SetSpec(name, **given, options=options, folder=folder)


def _experts(table: Any, folder: str | None) -> ExpertsSpec:
    if not isinstance(table, dict):
        raise InputError(f'experts: expected a table such as {{ kind = "hyperplanes" }}, got {table!r}')
    options = dict(table)
    return ExpertsSpec(options.pop("kind", "hyperplanes"), options, folder)


def _learners(entries: Any, known: Mapping[str, Any], folder: str | None) -> tuple[LearnerSpec, ...]:
    """Labels of the table [learners], or tables with a label."""
    if isinstance(entries, str) or not isinstance(entries, Sequence):
        raise InputError(f"learners: expected a list of labels, got {entries!r}")
    return tuple(_learner(entry, known, folder) for entry in entries)


def _learner(entry: Any, known: Mapping[str, Any], folder: str | None) -> LearnerSpec:
    if isinstance(entry, str):
        if entry not in known:
            raise InputError(f"learner: expected one of {'; '.join(known)}, got {entry!r}")
        entry = {"label": entry, **known[entry]} if isinstance(known[entry], dict) else known[entry]
    if not isinstance(entry, dict) or not {"label", "kind"} <= entry.keys():
        raise InputError(f"learner: expected a table with a label and a kind, got {entry!r}")
    options = dict(entry)
    return LearnerSpec(options.pop("label"), options.pop("kind"), options, folder)

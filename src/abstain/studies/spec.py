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
from .logs.study import Goal, LogStudy
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
    from .schema import check

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
) -> Study:
    if "settings" in table and ("sets" in table or "costs" in table):
        raise InputError("expected settings, or sets and costs, got both")
    values: dict[str, Any] = {**defaults, **table}
    for key in ("sets", "costs") if "settings" in table else ("settings",):
        values.pop(key, None)
    options = dict(values.get("experts", {}))
    values["experts"] = ExpertsSpec(options.pop("kind", "hyperplanes"), options, folder)
    values["learners"] = _learners(values.get("learners", ()), known, folder)
    return Study(name=name, own=own, **values)


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

"""Studies in TOML files: each is made when it is asked for, and an error says all that is wrong with it.

A file has the tables ``[studies.NAME]``, ``[defaults]`` for studies of learners on data sets, ``[learners]`` by label,
and ``[sets]``, own sets by name. The least such file::

    [studies.mine]
    sets = ["synthetic"]
    costs = [0.05]
"""

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from .._core import parts
from ..errors import FileError, InputError, shown
from .claims import Claim
from .figures import Figure
from .model import SpecError
from .registry import STUDIES, N, entries, inside, registered, unloaded
from .specs import ExpertsSpec, LearnerSpec, SetSpec, learner_kinds
from .study import LearnerStudy, Study

TABLES = ("defaults", "learners", "sets", "studies")
_HEADS = {"learners": "learner", "sets": "set", "studies": "study"}
"""What an entry of a table is called."""


class StudyFile(Mapping[str, Study]):
    """The studies of a file by name, in its order.

    Args:
        tables: What the file says.
        base: The file whose defaults and learners hold where this one has none.
        folder: Where files and modules of own parts are looked for first.

    Raises:
        InputError: If the tables have another form.
    """

    def __init__(self, tables: Mapping[str, Any], base: "StudyFile | None" = None, folder: str | None = None) -> None:
        _check_form(tables)
        self.folder = folder
        self.studies: dict[str, Any] = tables["studies"]
        self.defaults: dict[str, Any] = {**(base.defaults if base else {}), **tables.get("defaults", {})}
        self.known_learners: dict[str, Any] = {**(base.known_learners if base else {}), **tables.get("learners", {})}
        self._own_defaults = set(tables.get("defaults", {}))
        self._sets = tables.get("sets", {})
        self._made: dict[str, Study] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self.studies)

    def __len__(self) -> int:
        return len(self.studies)

    def __getitem__(self, name: str) -> Study:
        if name not in self._made:
            try:
                self._made[name] = self._make(name)
            except InputError as error:
                raise InputError("; ".join(self._sentences(name, error))) from None
        return self._made[name]

    def role(self, name: str) -> str:
        """The role of a study, which need not be made for it."""
        return str(self.studies[name].get("role", ""))

    def make_all(self) -> dict[str, Study]:
        """All studies by name, or an `InputError` with all that is wrong with any of them."""
        made, wrong = {}, []
        for name in self:
            try:
                made[name] = self[name]
            except InputError as error:
                wrong.append(str(error))
        if wrong:
            raise InputError("; ".join(dict.fromkeys(wrong)))
        return made

    def _make(self, name: str) -> Study:
        table = self.studies[name]
        return kind_of(table.get("kind"), self.folder).from_table(name, table, self)

    def _sentences(self, name: str, error: InputError) -> Iterator[str]:
        """All that is wrong with a study, each with its place: a default is wrong in its own table."""
        head = f"study {name}: "
        for field, text in error.problems if isinstance(error, SpecError) else (("", str(error)),):
            text = text.removeprefix(head)
            is_default = field in self._own_defaults and field not in self.studies[name]
            yield (
                text
                if text.startswith(("set ", "sets: expected a name"))
                else (f"defaults: {text}" if is_default else f"{head}{text}")
            )

    @cached_property
    def own_sets(self) -> tuple[SetSpec, ...]:
        """The sets of the table [sets]."""
        return tuple(self._own_set(name, table) for name, table in self._sets.items())

    def _own_set(self, name: str, table: Mapping[str, Any]) -> SetSpec:
        options = dict(table)
        given = {key: options.pop(key) for key in ("path", "label", "positive", "kind", "instance") if key in options}
        return SetSpec(name=name, **given, options=options, folder=self.folder)

    def experts(self, table: Any) -> ExpertsSpec:
        """``experts = { kind = "hyperplanes", n_rings = 20 }``."""
        options = dict(_a_table(table, "experts"))
        kind = options.pop("kind", "hyperplanes")
        return ExpertsSpec(kind=_a_text(kind, "experts: kind"), options=options, folder=self.folder)

    def claims(self, paths: Any) -> tuple[Claim, ...]:
        """``claims = ["module:NAME"]``: claims, or lists of them."""
        return self._loaded("claims", paths, Claim)

    def figures(self, paths: Any) -> tuple[Figure[Any], ...]:
        """``figures = ["module:NAME"]``: figures, or lists of them."""
        return self._loaded("figures", paths, Figure)

    def _loaded(self, key: str, paths: Any, kind: type[N]) -> tuple[N, ...]:
        if not isinstance(paths, list) or not all(parts.is_path(path) for path in paths):
            raise InputError(f'{key}: expected a list of paths "module:NAME", got {shown(paths)}')
        try:
            found = tuple(one for path in paths for one in inside(parts.take(path, self.folder).value, kind))
        except InputError as error:
            raise InputError(f"{key}: {str(error).removeprefix('kind: ')}") from None
        if not found and paths:
            raise InputError(f"{key}: expected a {kind.__name__} in {', '.join(paths)}, got none")
        return found

    def learners(self, entries: Any) -> tuple[LearnerSpec, ...]:
        """Labels of the table [learners], or tables with one: ``{ label = "bold", kind = "UCBGT", beta = 0.5 }``."""
        if not isinstance(entries, list):
            raise InputError(f"learners: expected a list, got {shown(entries)}")
        return tuple(self._learner(entry) for entry in entries)

    def _learner(self, entry: Any) -> LearnerSpec:
        known = self.known_learners
        if isinstance(entry, str) and entry not in known:
            how = f'; a class gets its label in [learners]: {entry} = {{ kind = "{entry}" }}'
            how = how if entry in learner_kinds() else ""
            raise InputError(f"learner: expected one of {'; '.join(known)}, got {entry!r}{how}")
        options = {"label": entry, **known[entry]} if isinstance(entry, str) else dict(_a_table(entry, "learners"))
        label, kind = (_a_text(options.pop(key, None), f"learners: {key}") for key in ("label", "kind"))
        return LearnerSpec(label=label, kind=kind, options=options, folder=self.folder)


def kind_of(kind: Any, folder: str | None) -> type[Study]:
    """The class of studies that ``kind`` in a file means; without one, learners on data sets."""
    if kind is None:
        return LearnerStudy
    known = registered(STUDIES)
    found = None
    if parts.is_path(kind):
        found = parts.take(kind, folder).value
    elif isinstance(kind, str) and kind in known:
        values = [entry.value for entry in entries(STUDIES) if entry.name == kind]
        if len(values) > 1 and known[kind].dist is not None:  # what `register` names has the name
            raise InputError(f"kind: expected a name that one package uses, got {kind!r} of {', '.join(values)}")
        try:
            found = known[kind].load()
        except (Exception, SystemExit) as error:  # another package may raise anything
            raise InputError(f"kind: {unloaded(known[kind], error)}") from None
    if not isinstance(found, type) or not issubclass(found, Study):
        names = ", ".join(known)
        raise InputError(f"kind: expected {names}{', ' if names else ''}module:Class or none, got {shown(kind)}")
    return found


def of_packages() -> tuple[list[Mapping[str, Study]], list[str]]:
    """The studies that packages register, and one sentence for each entry that cannot be used.

    An entry of `STUDIES` is a class of studies, for ``kind`` in a file; or a mapping of studies by name, or a function
    without arguments that returns one.
    """
    found: list[Mapping[str, Study]] = []
    wrong = []
    named = registered(STUDIES)
    for entry in entries(STUDIES):
        try:
            loaded = entry.load()
            if isinstance(loaded, type):
                if named[entry.name] != entry:
                    wrong.append(
                        f"{STUDIES}: {entry.name} ({entry.value}): the name is taken ({named[entry.name].value})."
                    )
                continue
            loaded = loaded() if callable(loaded) else loaded
            if not isinstance(loaded, Mapping) or not all(isinstance(name, str) for name in loaded):
                raise InputError(f"expected a mapping of studies by name, got {shown(loaded)}")
        except (Exception, SystemExit) as error:  # another package may raise anything
            wrong.append(unloaded(entry, error))
        else:
            found.append(loaded)
    return found, wrong


def _a_table(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{name}: expected a table, got {shown(value)}")
    return value


def _a_text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{name}: expected a {'value, got none' if value is None else f'text, got {shown(value)}'}")
    return value


def _check_form(tables: Mapping[str, Any]) -> None:
    """Raise an error unless all tables are tables."""
    wrong = [f"expected some of {', '.join(TABLES)}, got {key}" for key in tables if key not in TABLES]
    for key in TABLES:
        table = tables.get(key, {})
        if not isinstance(table, Mapping):
            wrong.append(f"{key}: expected a table, got {shown(table)}")
            continue
        if key == "studies" and not table:
            wrong.append("studies: expected a table [studies.NAME], got none")
        for name, entry in table.items() if key in _HEADS else ():
            place = f"{_HEADS[key]} {name}"
            if not isinstance(entry, Mapping):
                wrong.append(f"{place}: expected a table, got {shown(entry)}")
            elif key == "learners" and "kind" not in entry:
                wrong.append(f"{place}: kind: expected a value, got none")
    if wrong:
        raise InputError("; ".join(wrong))


def read(path: str | os.PathLike[str], base: StudyFile | None = None) -> dict[str, Study]:
    """The studies of a TOML file, by name.

    Args:
        path: The file. Modules of own parts, ``kind = "module:name"``, and files of own sets may lie beside it.
        base: The file whose defaults and learners hold where this one has none.

    Returns:
        The studies in their order.

    Raises:
        FileError: If the file cannot be read, or is no TOML.
        InputError: With all that is wrong with the studies.
    """
    try:
        tables = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: expected TOML ({error})") from None
    try:
        return StudyFile(tables, base, str(Path(path).absolute().parent)).make_all()
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def select(files: Sequence[Mapping[str, Study]], name: str, broken: Sequence[str] = ()) -> list[Study]:
    """The study of that name, and those whose name goes on after it (``moving-...``).

    Args:
        files: Studies by name.
        name: The name that is asked for.
        broken: Sentences of `of_packages`; who asks for a study that is not there is told.

    Raises:
        InputError: If there is no such study, or what has the name is none.
    """
    chosen = [file[key] for file in files for key in file if key == name or key.startswith(f"{name}-")]
    if not chosen:
        known = ", ".join(dict.fromkeys(key.partition("-")[0] for file in files for key in file))
        why = "".join(f"; {sentence}" for sentence in broken)
        raise InputError(f"study: expected one of {known}, all, or the path of a .toml file, got {name!r}{why}")
    for one in chosen:
        if not isinstance(one, Study):
            raise InputError(f"study {name}: expected a Study, got {shown(one)}")
    return chosen

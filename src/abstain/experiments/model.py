"""Frozen models that are validated once, and keys by content: what specs, studies and jobs share."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainValidator, ValidationError, ValidationInfo

from .._core.validation import as_count
from ..errors import InputError, shown


class Keyed:
    """Something known by its content."""

    tag: ClassVar[str] = ""
    """What keys call it; the name of its class, if not given. Keys stay when a class gets another name."""

    @cached_property
    def key(self) -> str:
        """A hash of its tag and fields: equal for equal content, in every process."""
        content = json.dumps([self.tag or type(self).__name__, *map(_as_key, self._content())], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:24]

    def _content(self) -> list[Any]:
        return [getattr(self, one.name) for one in fields(self)]  # type: ignore[arg-type]


def _as_key(value: Any) -> Any:
    """Parts that have a key stand by it: it is made once, however many wholes they are part of."""
    if isinstance(value, tuple):
        return [_as_key(part) for part in value]
    return value.key if isinstance(value, Keyed) else value


_EXPECTED = {
    "int_type": "a whole number", "int_from_float": "a whole number", "float_type": "a number", "string_type": "a text",
    "string_too_short": "a text", "bool_type": "true or false", "too_short": "a list of some values",
}  # fmt: skip


class SpecError(InputError):
    """All that is wrong with a model: pairs of a field (or nothing) and a sentence."""

    def __init__(self, problems: Sequence[tuple[str, str]]) -> None:
        super().__init__("; ".join(text for _, text in problems))
        self.problems = problems


class Model(BaseModel):
    """A frozen model whose errors are the library's: an `InputError` says all that is wrong, each with its place."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, arbitrary_types_allowed=True)
    positional: ClassVar[tuple[str, ...]] = ()
    """The fields that may be given without their names."""
    derived: ClassVar[tuple[str, ...]] = ()
    """Properties that `described` has, too."""

    def __init__(self, *values: Any, **named: Any) -> None:
        given = dict(zip(self.positional, values, strict=False)) | named
        try:
            super().__init__(**given)
        except ValidationError as error:
            where = self.place(given)
            problems = [(str((*one["loc"], "")[0]), f"{where}{self._sentence(one)}") for one in error.errors()]
            raise SpecError(problems) from None

    @classmethod
    def place(cls, given: Mapping[str, Any]) -> str:
        """What errors begin with, from the values that were given."""
        return ""

    @classmethod
    def known(cls) -> list[str]:
        """The fields that may be given."""
        return list(cls.model_fields)

    @classmethod
    def _sentence(cls, error: Mapping[str, Any]) -> str:
        kind, where = error["type"], "".join(f"{word}: " for word in error["loc"] if isinstance(word, str))
        if kind == "value_error":  # one of the library's own, which names the field itself
            return str(error["ctx"]["error"])
        if kind == "extra_forbidden":
            return f"expected some of {', '.join(cls.known())}, got {error['loc'][-1]}"
        if kind == "model_type":
            return f"{where}expected {error['ctx']['class_name']}, got {shown(error['input'])}"
        if kind == "missing":
            return f"{where}expected a value, got none"
        return f"{where}expected {_EXPECTED.get(kind, error['msg'])}, got {shown(error['input'])}"

    def replace(self, **changes: Any) -> Self:
        """The same with other values, which are checked."""
        return type(self)(**({name: getattr(self, name) for name in type(self).model_fields} | changes))

    def described(self) -> dict[str, Any]:
        """All that was asked for, as plain values: without what only says where something lies on this machine."""
        here = {name for name, one in type(self).model_fields.items() if one.exclude}
        names = [name for name in (*type(self).model_fields, *self.derived) if name not in here]
        return {name: _plain(getattr(self, name)) for name in names}


def _plain(value: Any) -> Any:
    if isinstance(value, Model):
        return value.described()
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, (tuple, list)) else value


def as_items(value: Any, info: ValidationInfo) -> tuple[Any, ...]:
    """A list or tuple as a tuple."""
    if not isinstance(value, (tuple, list)):
        raise InputError(f"{info.field_name}: expected a list, got {shown(value)}")
    return tuple(value)


def _as_seed(value: Any, info: ValidationInfo) -> int:
    try:
        return as_count(value, "seed", least=0)
    except InputError:
        raise InputError(f"seed: expected a whole number that is not negative, got {shown(value)}") from None


def listing(kind: type) -> Any:
    """The validator of a list of objects of a class."""

    def check(value: Any, info: ValidationInfo) -> Any:
        for one in as_items(value, info):
            if not isinstance(one, kind):
                raise InputError(f"{info.field_name}: expected {kind.__name__}s, got {shown(one)}")
        return tuple(value)

    return PlainValidator(check)


def counting(least: int = 1) -> Any:
    """The validator of a whole number that is not less than this."""
    return PlainValidator(lambda value, info: as_count(value, info.field_name, least))


def one_of(value: Any, known: Any, name: str) -> None:
    """Raise an error unless the value is one of the known words."""
    if not isinstance(value, str) or value not in known:
        raise InputError(f"{name}: expected one of {', '.join(filter(None, known))}, got {shown(value)}")


def word_of(*known: str) -> Any:
    """The validator of one of these words."""

    def check(value: Any, info: ValidationInfo) -> Any:
        one_of(value, known, str(info.field_name))
        return value

    return PlainValidator(check)


Items = BeforeValidator(as_items)
"""A list or tuple, in files and in Python."""
Seed = Annotated[int, PlainValidator(_as_seed)]
Count = Annotated[int, counting()]

"""Decisions that wait for their label, found by what they were about."""

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

from ...gate import Case


class Open(NamedTuple):
    """A decision, and what the model that was followed held probable."""

    case: Case
    probabilities: dict[Any, float]


def key_of(x: Mapping[Any, Any]) -> Hashable:
    """Equal for equal features, in whatever order.

    >>> key_of({"a": 1, "b": [2]}) == key_of({"b": [2], "a": 1.0})
    True
    """
    try:
        return frozenset(x.items())
    except TypeError:  # a value that cannot be hashed
        return frozenset((name, _frozen(value)) for name, value in x.items())


def _frozen(value: Any) -> Hashable:
    return value if isinstance(value, Hashable) else repr(value)


class OpenCases:
    """At most so many, the oldest first."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._by_key: OrderedDict[Hashable, Open] = OrderedDict()

    def __len__(self) -> int:
        return len(self._by_key)

    def find(self, x: Mapping[Any, Any]) -> Open | None:
        """The decision that was made on x."""
        return self._by_key.get(key_of(x))

    def take(self, x: Mapping[Any, Any]) -> Open | None:
        """The same, and it is open no longer."""
        return self._by_key.pop(key_of(x), None)

    def add(self, x: Mapping[Any, Any], case: Open) -> Open | None:
        """Keep one; the oldest makes room for it, if there are too many, and is returned."""
        self._by_key[key_of(x)] = case
        return self._by_key.popitem(last=False)[1] if len(self) > self.most else None

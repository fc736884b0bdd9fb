"""What pydantic finds, in the words of the library: where, what was expected, what came."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import shown

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
        known = keys[_table(place)]
        return ": ".join([*where[:-1], f"expected some of {', '.join(known)}, got {place[-1]}"])
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return ": ".join([*where, f"kind: expected growth, logs or none, got {shown(value.get('kind'))}"])
    if kind in ("missing", "too_short"):
        expected = "a table [studies.NAME]" if place == ["studies"] else "a value"
        return ": ".join([*where, f"expected {expected}, got none"])
    return ": ".join([*where, f"expected {_EXPECTED.get(kind, error['msg'])}, got {shown(value)}"])


def _table(place: Sequence[str | int]) -> str:
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

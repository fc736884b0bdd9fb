"""A study in plain values: for the log, and for the metadata of results."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from .spec import AnyStudy

_ABOUT_HERE = ("folder", "file", "table")
"""Fields that say where something lies on this machine, or are the data itself, whose digest is in ``code``."""


def described(study: AnyStudy) -> dict[str, Any]:
    """All that was asked for: the fields of the study, and of what it is made of.

    >>> from .spec import LearnerSpec, Study
    >>> study = Study("mine", sets=("synthetic",), costs=(0.1,), learners=(LearnerSpec("low", "UCBGT", {"beta": 1}),))
    >>> described(study)["learners"][0]["options"], described(study)["settings"]
    ({'beta': 1}, [['synthetic', 0.1]])
    """
    plain: dict[str, Any] = _plain(study)
    return plain


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        given = [one.name for one in fields(value)]
        names = [name for name in given if not ("code" in given and name in _ABOUT_HERE)]
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, (tuple, list)) else value

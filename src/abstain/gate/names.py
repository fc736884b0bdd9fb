"""The names of models, and of the columns they have in frames."""

from typing import Any

from ..errors import InputError, shown

COLUMNS = LABEL, STAKE, TIME = "label", "stake", "time"
ENDS = SURE, ERROR = "_confidence", "_error"
"""What the names of a model's second column end with."""


def as_names(models: Any) -> list[str]:
    """One or more different names of models."""
    names = list(models) if isinstance(models, (list, tuple)) else []
    if not names or not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        raise InputError(f"models: expected a list of different names, got {shown(models)}")
    taken = {*COLUMNS, *(f"{name}{end}" for name in names for end in ENDS)}
    if taken & set(names):
        raise InputError(f"models: {shown(min(taken & set(names)))} is the name of another column of frames")
    return names

"""Load a learner or a gate from a file."""

import os
from typing import Any

from . import costs
from ._core import files
from .engine.files import checked, read_learner
from .errors import InputError
from .experts import ExpertSet
from .gate import Gate


def load(
    path: str | os.PathLike[str],
    *,
    experts: ExpertSet | None = None,
    cost: costs.CostLike | None = None,
    loss: Any = None,
    **options: Any,
) -> Any:
    """Load a learner or a gate that was saved; it continues bit for bit, as a copy with a new identity.

    A learner's file holds no Python functions and no graphs with a memory: give those again. Import the modules of
    your own learners, experts, losses and graphs first; nothing is imported here.

    Args:
        path: The file.
        experts: The experts, if the file does not hold them; a fingerprint of their kind, pairs and parameters must
            agree.
        cost: The cost, if it is a function.
        loss: The loss, if the file does not hold it.
        options: Other options of the learner that the file does not hold, such as ``graph=`` or ``metric=``.

    Returns:
        The learner or the gate.

    Raises:
        FileError: The file is damaged, of another kind, or of a newer version.
        InputError: Something must be given, or does not agree with the file.
        UnknownKindError: The file names a class of a module that was not imported.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(f"path: expected the path of a file, got {type(path).__name__}")
    header, arrays = files.read(path)
    kept = header.get("gate")
    learner = read_learner(path, header, arrays, experts=experts, cost=cost, loss=loss, **options)
    if kept is None:
        return learner
    with checked(path):
        return Gate._of_file(learner, kept, arrays)

"""Reading what was saved."""

import os
from typing import Any

from . import costs
from ._core import files
from .engine.files import checked, read_learner
from .errors import InputError
from .experts import ExpertSet
from .gate import Gate
from .gate.gate import COUNTS


def load(
    path: str | os.PathLike[str],
    *,
    experts: ExpertSet | None = None,
    cost: costs.CostLike | None = None,
    loss: Any = None,
    **options: Any,
) -> Any:
    """The learner, or the gate, that was saved; it goes on bit for bit, as a copy with a life of its own.

    Python functions, and graphs that remember, cannot be in the file of a learner: give them again, also those that are
    options of the learner (``graph=``, ``metric=``). The experts are checked by a fingerprint of their kind, pairs and
    parameters. Learners, experts, losses and graphs of classes of your own are found once their module was imported;
    nothing is imported here.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(f"path: expected the path of a file, got {type(path).__name__}")
    header, arrays = files.read(path)
    kept, counts = header.get("gate"), arrays.get(COUNTS)
    learner = read_learner(path, header, arrays, experts=experts, cost=cost, loss=loss, **options)
    if kept is None:
        return learner
    with checked(path):
        return Gate._of_file(learner, kept, counts)

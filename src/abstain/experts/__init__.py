"""Experts: pairs of a predictor h and an abstention rule r (section 2).

No array here has as many columns as there are experts: advice is predictions (n, P) and abstentions (n, A).
"""

from collections.abc import Mapping
from typing import Any

from .._core.registry import name_of
from ..errors import InputError, shown
from .base import Advice, ExpertSet, kinds
from .columns import Columns, Constants, Thresholds, from_columns, thresholds
from .functions import from_estimators, from_functions
from .planes import AxisPlanes, Hyperplanes, axis_planes, hyperplanes

_WORDS = {kind.kind: name_of(kind) for kind in (Hyperplanes, AxisPlanes, Columns, Thresholds, Constants)}
"""What the first files call them."""


def from_parameters(kind: str, parameters: Mapping[str, Any]) -> ExpertSet:
    """The set that `ExpertSet.parameters` described; ``kind`` is the name of its class, which must have been imported,
    as module:Class.
    """
    if not isinstance(kind, str) or not isinstance(parameters, Mapping):
        raise InputError(f"experts: expected a kind and its parameters, got {shown(kind)} and {shown(parameters)}")
    return kinds.make(_WORDS.get(kind, kind), parameters)


__all__ = [
    "Advice",
    "Constants",
    "ExpertSet",
    "axis_planes",
    "from_columns",
    "from_estimators",
    "from_functions",
    "from_parameters",
    "hyperplanes",
    "thresholds",
]

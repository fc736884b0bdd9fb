"""Experts: pairs of a predictor h and an abstention rule r (section 2).

No array here has as many columns as there are experts: advice is predictions (n, P) and abstentions (n, A).
"""

from typing import Any

from .axis_planes import AxisPlanes, axis_planes
from .base import Advice, ExpertSet
from .columns import Columns, from_columns
from .constants import Constants
from .functions import from_functions
from .hyperplanes import Hyperplanes, hyperplanes
from .thresholds import Thresholds, thresholds

_PORTABLE: dict[str, type[Any]] = {
    kind.kind: kind for kind in (Hyperplanes, AxisPlanes, Columns, Thresholds, Constants)
}


def from_parameters(kind: str, parameters: dict[str, Any]) -> ExpertSet:
    """The set that `ExpertSet.parameters` described."""
    from ..registry import name_of

    k = {**_PORTABLE, **{name_of(v): v for v in _PORTABLE.values()}}
    experts: ExpertSet = k[kind](**parameters)
    return experts


__all__ = [
    "Advice",
    "Constants",
    "ExpertSet",
    "axis_planes",
    "from_columns",
    "from_functions",
    "from_parameters",
    "hyperplanes",
    "thresholds",
]

"""Experts: pairs of a predictor h and an abstention rule r (section 2).

No array here has one column per expert: advice is predictions (n, P) and abstentions (n, A).
"""

from .base import Advice, ExpertSet, from_parameters
from .columns import Constants, from_columns, thresholds
from .functions import from_estimators, from_functions
from .planes import axis_planes, hyperplanes

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

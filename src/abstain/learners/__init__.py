"""Learners, one algorithm a file."""

from .base import Choice, Learner
from .exp3_abs import Exp3Abs
from .full_supervision import FullSupervision
from .load import load
from .ucb import UCB
from .ucb_gt import UCBGT
from .ucb_nt import UCBNT

__all__ = ["UCB", "UCBGT", "UCBNT", "Choice", "Exp3Abs", "FullSupervision", "Learner", "load"]

"""Learners, one algorithm a file."""

from .base import Choice, Learner
from .cont_exp3_abs import ContExp3Abs
from .exp3_abs import Exp3Abs
from .full_supervision import FullSupervision
from .load import load
from .ucb import UCB
from .ucb_gt import UCBGT
from .ucb_nt import UCBNT

__all__ = ["UCB", "UCBGT", "UCBNT", "Choice", "ContExp3Abs", "Exp3Abs", "FullSupervision", "Learner", "load"]

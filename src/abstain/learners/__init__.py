"""Learners, one algorithm a file."""

from ..engine import Choice, KernelLearner, Kernels, Learner
from .cont_exp3_abs import ContExp3Abs
from .doubly_robust import DoublyRobust
from .exp3 import Exp3
from .exp3_abs import Exp3Abs
from .full_supervision import FullSupervision
from .stacked import Stacked
from .ucb import UCB
from .ucb_abs import UCBABS
from .ucb_gt import UCBGT
from .ucb_nt import UCBNT

__all__ = [
    "UCB",
    "UCBABS",
    "UCBGT",
    "UCBNT",
    "Choice",
    "ContExp3Abs",
    "DoublyRobust",
    "Exp3",
    "Exp3Abs",
    "FullSupervision",
    "KernelLearner",
    "Kernels",
    "Learner",
    "Stacked",
]

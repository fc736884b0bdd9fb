"""The learners, one folder per family."""

from ..engine import KernelLearner, Learner
from .cover.cont_exp3_abs import ContExp3Abs
from .exp3.doubly_robust import DoublyRobust
from .exp3.exp3 import Exp3
from .exp3.exp3_abs import Exp3Abs
from .exp3.stacked import Stacked
from .fast_rates import FastRates
from .ucb.dsg import UCBDSG
from .ucb.learners import UCB, UCBGT, UCBNT, FullSupervision
from .ucb_abs import UCBAbs

__all__ = [
    "UCB",
    "UCBDSG",
    "UCBGT",
    "UCBNT",
    "ContExp3Abs",
    "DoublyRobust",
    "Exp3",
    "Exp3Abs",
    "FastRates",
    "FullSupervision",
    "KernelLearner",
    "Learner",
    "Stacked",
    "UCBAbs",
]

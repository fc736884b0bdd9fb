"""Everything you need to extend the library: base classes, compiled functions, and checks of the rules.

The page "Extend" of the documentation has a whole example of each.
"""

from .checks import check_experts, check_learner
from .costs import Cost
from .engine import Choice, Decision, KernelLearner, Kernels, Learner, Report
from .experts import Advice, ExpertSet
from .graphs import FeedbackGraph, Moment
from .kernels.compiling import kernel
from .learners.exp3.mixture import entropy
from .learners.exp3.state import rounded
from .learners.exp3.weight_kernels import WeightKernels
from .learners.exp3.weighted import WeightedLearner
from .losses import Loss

__all__ = [
    "Advice",
    "Choice",
    "Cost",
    "Decision",
    "ExpertSet",
    "FeedbackGraph",
    "KernelLearner",
    "Kernels",
    "Learner",
    "Loss",
    "Moment",
    "Report",
    "WeightKernels",
    "WeightedLearner",
    "check_experts",
    "check_learner",
    "entropy",
    "kernel",
    "rounded",
]

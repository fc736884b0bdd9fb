"""What learners stand on: the protocol, the loop over rounds, late labels, identity of decisions, files.

A learner is an algorithm, nothing else; everything that all of them need is here, once.
"""

from .choice import Choice
from .decision import Decision
from .defined import Seed
from .kernel_learner import KernelLearner
from .learner import Learner
from .loop import Kernels
from .state import check_arrays

__all__ = ["Choice", "Decision", "KernelLearner", "Kernels", "Learner", "Seed", "check_arrays"]

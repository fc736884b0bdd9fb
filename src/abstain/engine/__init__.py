"""What learners stand on: the protocol, the loop over rounds, late labels, identity of decisions, files.

A learner is an algorithm, nothing else; everything that all of them need is here, once.
"""

from .decision import Choice, Decision
from .kernel_learner import KernelLearner, check_arrays
from .learner import Learner, Report, Seed
from .loop import Kernels

__all__ = ["Choice", "Decision", "KernelLearner", "Kernels", "Learner", "Report", "Seed", "check_arrays"]

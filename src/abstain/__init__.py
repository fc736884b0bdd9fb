"""Online learning with the option to say "I don't know".

An implementation of *Online Learning with Abstention* (Cortes, DeSalvo, Gentile, Mohri and Yang, ICML 2018).
"""

from . import alternatives, datasets, experts, extend, graphs, instances, losses, theory
from .capacity import Capacity
from .engine import Decision, Learner
from .errors import AbstainError
from .gate import Case, Gate, PerStake
from .learners import (
    UCB,
    UCBDSG,
    UCBGT,
    UCBNT,
    ContExp3Abs,
    DoublyRobust,
    Exp3,
    Exp3Abs,
    FastRates,
    FullSupervision,
    Stacked,
    UCBAbs,
)
from .loading import load
from .regret import best_in_hindsight, best_pair
from .simulate import Best, Trace, prepare, simulate
from .warmup import warmup

__version__ = "1.0.0rc1"

__all__ = [
    "UCB",
    "UCBDSG",
    "UCBGT",
    "UCBNT",
    "AbstainError",
    "Best",
    "Capacity",
    "Case",
    "ContExp3Abs",
    "Decision",
    "DoublyRobust",
    "Exp3",
    "Exp3Abs",
    "FastRates",
    "FullSupervision",
    "Gate",
    "Learner",
    "PerStake",
    "Stacked",
    "Trace",
    "UCBAbs",
    "alternatives",
    "best_in_hindsight",
    "best_pair",
    "datasets",
    "experts",
    "extend",
    "graphs",
    "instances",
    "load",
    "losses",
    "prepare",
    "simulate",
    "theory",
    "warmup",
]

"""What each learner did in each setting, as the claims need it."""

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .roles import Role

Floats: TypeAlias = NDArray[np.float64]

MAIN = ("regret", "abstention", "main")
"""The order in which the paper's studies with the role "main" are looked at: of a setting that is in several, the first
counts, and their runs are the same."""
PAPER = ("UCB", "UCB-NT", "UCB-GT", "FS")
"""The paper's four learners."""


@dataclass(frozen=True, eq=False)
class Line:
    """A learner in a setting, at each checkpoint t: means over draws, then over expert sets."""

    t: NDArray[np.int64]
    regret: Floats
    """R_t / t."""
    regret_sd: Floats
    abstained: Floats
    """The fraction of the rounds so far."""
    edges: Floats
    of_sets: Floats = field(default_factory=lambda: np.zeros(0))
    """R_T / T of each expert set, in their order."""


@dataclass(frozen=True, eq=False)
class Setting:
    """A data set with a cost, in a study."""

    study: str
    dataset: str
    cost: float
    expert_sets: int
    lines: dict[str, Line] = field(repr=False)
    role: Role
    """Of the study."""

    def regret(self, learner: str) -> float:
        """R_T / T."""
        return float(self.lines[learner].regret[-1])

    def has(self, *learners: str) -> bool:
        """Whether all of them were run to the end."""
        return all(learner in self.lines for learner in learners)


@dataclass(frozen=True, eq=False)
class Run:
    """One learner on one draw."""

    study: str
    dataset: str
    cost: float
    t: NDArray[np.int64]
    regret: Floats
    """R_t."""
    edges: NDArray[np.int64]

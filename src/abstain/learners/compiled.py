"""Learners whose rounds are compiled: `simulate` hands them whole blocks."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..experts import Advice
from ..kernels.play import Late, Played
from .base import Learner


class CompiledLearner(Learner):
    """A learner that plays blocks of rounds; the same compiled functions serve single rounds."""

    _used: NDArray[np.int64] | None
    """The rules that experts use; None if all are."""

    def _of_used(self, abstains: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Abstentions (..., A) of the rules in use."""
        return abstains if self._used is None else np.ascontiguousarray(abstains[..., self._used])

    @property
    def compiled(self) -> bool:
        """Whether it can, as it was made."""
        return True

    @abstractmethod
    def _new_late(self, delay: int) -> Late:
        """An empty ring for labels that come ``delay`` rounds late."""

    @abstractmethod
    def _play(
        self, X: NDArray[np.float64], advice: Advice, losses: NDArray[Any], costs: NDArray[np.float64],
        at: NDArray[np.int64], edges: NDArray[np.int64], late: Late | None, out: Played,
    ) -> None:  # fmt: skip
        """Play a block of inputs X from the coming round on; ``at`` are the rows before which to count the edges."""

    @abstractmethod
    def _learn_late(self, k: int, late: Late) -> None:
        """Learn what waits at place k of the ring, if anything does."""

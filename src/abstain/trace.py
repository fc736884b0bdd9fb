"""What happened in a simulated game, and how it compares with the best expert."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .errors import InputError

if TYPE_CHECKING:
    import polars

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Best:
    """The best expert in hindsight; see `best_in_hindsight` and `best_pair`."""

    expert: int
    """The one with the least total loss, the lowest number among equals."""
    loss: Floats
    """Its loss in each round (T,)."""
    total: Floats
    """The total loss of every expert (K,)."""
    gamma: float | None = None
    """If all this is L~, not L, its gamma; see `best_pair`."""


@dataclass(frozen=True, eq=False)
class Trace:
    """A game of T rounds."""

    expert: Ints
    """The expert followed in each round (T,)."""
    abstained: NDArray[np.bool_]
    """Whether it abstained (T,)."""
    loss: Floats
    """What the round cost: the cost if it abstained, else the loss of the prediction (T,)."""
    checkpoints: Ints
    """The 1-based rounds at which the edges were counted."""
    edges: Ints
    """The size of the graph in use at each checkpoint, before the round's update."""
    surrogate: Floats | None = None
    """L~ of each round (T,), for learners that play it (ContEXP3-ABS) ..."""
    gamma: float | None = None
    """... and its gamma; None where L~ is L, whatever gamma."""

    def __len__(self) -> int:
        return len(self.expert)

    def regret(self, best: Best) -> Floats:
        """The cumulative regret R_t against an expert, for t = 1, ..., T; on L~ if the expert's losses are that."""
        if not isinstance(best, Best):
            raise InputError(f"best: expected what best_in_hindsight returns, got {type(best).__name__}")
        if len(best.loss) != len(self):
            raise InputError(f"best: expected losses of {len(self)} rounds, got {len(best.loss)}")
        if best.gamma is None:
            return np.cumsum(self.loss - best.loss)
        if self.surrogate is None or self.gamma not in (None, best.gamma):
            played = "on L" if self.surrogate is None else f"with gamma = {self.gamma}"
            raise InputError(f"best: expected the loss of the game, played {played}, got L~ with gamma = {best.gamma}")
        return np.cumsum(self.surrogate - best.loss)

    def to_frame(self) -> "polars.DataFrame":
        """A Polars data frame with a row a round; ``edges`` is null but at checkpoints."""
        import polars

        rounds = np.arange(1, len(self) + 1)
        edges = polars.DataFrame({"round": self.checkpoints, "edges": self.edges})
        columns = {"round": rounds, "expert": self.expert, "abstained": self.abstained, "loss": self.loss}
        if self.surrogate is not None:
            columns["surrogate"] = self.surrogate
        return polars.DataFrame(columns).join(edges, on="round", how="left", maintain_order="left")

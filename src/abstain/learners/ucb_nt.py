"""UCB-NT: UCB with a feedback graph that may change over time (algorithm 1)."""

import copy
from typing import Any

from .. import costs, graphs
from ..engine import Seed
from ..experts import ExpertSet
from .index import IndexLearner


class UCBNT(IndexLearner):
    """UCB-NT (algorithm 1): choose the least ``mu_{j,t-1} - S_{j,t-1}``, update all out-neighbours N_t(I_t).

    ``S_{j,t} = sqrt(2 beta log(t) / Q_{j,t})`` with Q the number of updates and mu the mean of the losses seen in them;
    an expert never updated comes first, ties go to the lowest number (or to one of the tied, ``ties="random"``). With
    ``beta=2.5`` it is the paper's; the proofs ask for beta > 2, and for losses in [0, 1] beta = 0.625 would do.

    An edge to a loss that stays hidden updates nothing.

    Args:
        graph: "subset" (safe), "abstention" (the instance's own; biased, section 4.1), "self_loops" (UCB), "complete"
            (full information: a *supervised* learner, outside the protocol), "estimated" (UCB-GT's, without its
            optimistic step), or any `FeedbackGraph`.

    >>> import abstain as ab
    >>> X, y = ab.datasets.load("synthetic", n=2000, seed=0)
    >>> experts = ab.experts.hyperplanes(dim=2, n_predictors=10, seed=0)
    >>> UCBNT(experts, cost=0.2).n_edges(X[0])  # 20 rings, 10 x 10 edges in each
    2000
    """

    options = ("graph", "beta", "ties")

    def __init__(
        self,
        experts: ExpertSet,
        *,
        cost: costs.CostLike,
        loss: Any = "zero_one",
        seed: Seed = None,
        graph: str | graphs.FeedbackGraph = "subset",
        beta: float = 2.5,
        ties: str = "first",
        feedback: str | tuple[float, float] = "predicted",
    ) -> None:
        super().__init__(
            experts, cost=cost, loss=loss, seed=seed, graph=graphs.get(graph), beta=beta, ties=ties, feedback=feedback
        )  # fmt: skip

    def _fresh_options(self) -> dict[str, Any]:
        return {**self._options(), "graph": copy.deepcopy(self._as_given)}

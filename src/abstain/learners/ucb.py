"""UCB: bandit feedback only."""

from typing import Any

from .. import costs, graphs
from ..engine import Seed
from ..experts import ExpertSet
from .index import IndexLearner


class UCB(IndexLearner):
    """UCB of Auer, Cesa-Bianchi and Fischer (2002): only the chosen expert is updated.

    It is `UCBNT` with self-loops as its graph; see there for the formulas.

    >>> import abstain as ab
    >>> X, y = ab.datasets.load("synthetic", n=2000, seed=0)
    >>> learner = UCB(ab.experts.hyperplanes(dim=2, n_predictors=10, seed=0), cost=0.2)
    >>> trace = ab.simulate(learner, X, y)
    >>> int(learner.counts.sum())
    2000
    """

    options = ("beta", "ties")

    def __init__(
        self,
        experts: ExpertSet,
        *,
        cost: costs.CostLike,
        loss: Any = "zero_one",
        seed: Seed = None,
        beta: float = 2.5,
        ties: str = "first",
        feedback: str | tuple[float, float] = "predicted",
    ) -> None:
        super().__init__(
            experts, cost=cost, loss=loss, seed=seed, graph=graphs.self_loops(), beta=beta, ties=ties, feedback=feedback
        )  # fmt: skip

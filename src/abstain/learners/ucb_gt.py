"""UCB-GT: UCB with an estimated feedback graph (algorithm 2)."""

from typing import Any

from .. import costs, graphs
from ..engine import Seed
from ..experts import ExpertSet
from .index import IndexLearner


class UCBGT(IndexLearner):
    """UCB-GT (algorithm 2): UCB-NT on a graph estimated from the abstentions seen so far.

    After choosing j at round t it updates every i with ``phat_{j,i}^{t-1} <= gamma_{i,t-1}``: the fraction of the
    rounds before t in which j abstained and i predicted is at most ``sqrt(2 beta Q_{i,t-1} log t) / ((K-1)(t-1))``.
    If j abstains and i predicts, i's loss is hidden and 0 is taken for it, step (*); else its loss is what it is.

    >>> import abstain as ab
    >>> X, y = ab.datasets.load("synthetic", n=2000, seed=0)
    >>> learner = UCBGT(ab.experts.hyperplanes(dim=2, n_predictors=10, seed=0), cost=0.2)
    >>> learner.n_edges(X[0])  # complete in the first round
    40000
    >>> decision = learner.decide(X[0])
    >>> learner.learn(decision, y[0])
    >>> int(learner.counts.min())
    1
    """

    options = ("beta", "ties")
    _optimistic = True

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
            experts, cost=cost, loss=loss, seed=seed, graph=graphs.estimated(), beta=beta, ties=ties, feedback=feedback
        )  # fmt: skip

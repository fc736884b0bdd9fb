"""FS: follow the leader with all labels, the upper limit of section 5."""

from typing import Any

from .. import costs, graphs
from ..engine import Seed
from ..experts import ExpertSet
from .index import IndexLearner


class FullSupervision(IndexLearner):
    """FS: follow the expert with the least total loss so far, every label being seen.

    It stands outside the protocol (``supervised``): it learns nothing in `decide` and needs `learn` for every round,
    also for those that abstained.

    >>> import abstain as ab
    >>> X, y = ab.datasets.load("synthetic", n=2000, seed=0)
    >>> learner = FullSupervision(ab.experts.hyperplanes(dim=2, n_predictors=10, seed=0), cost=0.2)
    >>> trace = ab.simulate(learner, X, y)
    >>> int(learner.counts.min()), int(learner.counts.max())
    (2000, 2000)
    """

    options = ("ties",)
    _sums = True

    def __init__(
        self,
        experts: ExpertSet,
        *,
        cost: costs.CostLike,
        loss: Any = "zero_one",
        seed: Seed = None,
        ties: str = "first",
    ) -> None:
        super().__init__(experts, cost=cost, loss=loss, seed=seed, graph=graphs.complete(), ties=ties)

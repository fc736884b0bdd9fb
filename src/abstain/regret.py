"""The best expert in hindsight."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import costs, losses
from .errors import InputError
from .experts import ExpertSet
from .kernels import passes
from .simulate import as_labels, blocks
from .tables import as_table
from .trace import Best


def best_in_hindsight(
    experts: ExpertSet, X: ArrayLike, y: ArrayLike, *, cost: costs.CostLike, loss: Any = "zero_one"
) -> Best:
    """The expert with the least total loss on a table, and the totals of all.

    >>> import abstain as ab
    >>> X, y = ab.datasets.load("synthetic", n=1000, seed=0)
    >>> experts = ab.experts.hyperplanes(dim=2, n_predictors=10, seed=0)
    >>> best = ab.best_in_hindsight(experts, X, y, cost=0.2)
    >>> bool(best.total[best.expert] == best.total.min()), best.loss.shape
    (True, (1000,))
    """
    if not isinstance(experts, ExpertSet):
        raise InputError(f"experts: expected an ExpertSet, got {type(experts).__name__}")
    table = as_table(X, experts.n_features)
    judge, price = losses.get(loss), costs.get(cost)
    labels = as_labels(y, len(table), judge)
    paid = np.ascontiguousarray(price.of(table, 1, len(table)))
    sums = np.zeros((experts.n_rules, experts.n_predictors))
    abstentions = np.zeros(experts.n_rules)
    for rows in blocks(len(table), experts):
        advice = experts.advise_block(table[rows])
        passes.add_losses(advice.abstains, judge(advice.predictions, labels[rows]), sums)
        # A constant cost counts first and multiplies then, as the learners do; rounding is the same.
        passes.add_costs(advice.abstains, np.ones_like(paid[rows]) if price.constant else paid[rows], abstentions)
    of_rules = abstentions * paid[0] if price.constant else abstentions
    total = sums[experts.rule_of, experts.predictor_of] + of_rules[experts.rule_of]
    expert = int(np.argmin(total))
    rule, predictor = experts.rule_of[expert], experts.predictor_of[expert]
    own = np.empty(len(table))
    for rows in blocks(len(table), experts):
        advice = experts.advise_block(table[rows])
        errors = judge(advice.predictions[:, [predictor]], labels[rows])[:, 0]
        own[rows] = np.where(advice.abstains[:, rule], paid[rows], errors)
    return Best(expert, own, total)

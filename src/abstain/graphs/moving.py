"""Graphs that change from round to round."""

import numpy as np

from ..errors import InputError
from ..kernels.ucb import graph as kernels
from ..trust import trusted
from ..typing import Bools
from .base import FeedbackGraph, Moment


class Abstention(FeedbackGraph):
    """G^ABS_t (section 2), the instance's own: a predicting expert shows all losses, an abstaining one the cost.

    It depends on x_t, so that estimates made with it are biased (section 4.1).
    """

    kernel = kernels.ABSTENTION
    by_rule = True

    @trusted
    def out_neighbours(self, expert: int, now: Moment) -> Bools:
        abstains = now.abstains[now.experts.rule_of]
        return abstains if abstains[expert] else np.ones_like(abstains)


class Estimated(FeedbackGraph):
    """UCB-GT's graph (section 4.4): j -> i where j has hardly ever abstained when i predicted.

    The edge is there iff ``phat_{j,i}^{t-1} <= gamma_{i,t-1}``, with ``phat`` the fraction of the rounds before t in
    which j abstained and i predicted and ``gamma_{i,t-1} = sqrt(2 beta Q_{i,t-1} log t) / ((K-1)(t-1))``.
    """

    kernel = kernels.ESTIMATED
    by_rule = True

    @trusted
    def out_neighbours(self, expert: int, now: Moment) -> Bools:
        if now.disagreements is None:
            raise InputError("now: the estimated graph needs the counts of disagreements, got none")
        rule_of, others = now.experts.rule_of, now.experts.n_experts - 1
        times = now.disagreements[rule_of[expert], rule_of]
        return np.asarray(others * times <= np.sqrt(2.0 * now.beta * now.updates * np.log(now.round)))

"""How lines came about, in words: how often was played, with how many experts, by which learners."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ... import datasets
from ..claims.settings import PAPER
from ..problems import INSTANCES
from ..spoilt import source
from ..study import Study

OTHERS = {
    "UCB-GT, β = 0.625": "UCB-GT with β = 0.625 (the paper's β is 2.5)",
    "EXP3-ABS": "EXP3-ABS (the paper's, but with an adaptive rate, and not in its experiments)",
}


class Played(NamedTuple):
    """How the lines of a panel came about."""

    expert_sets: int
    draws: int
    n_experts: int | None = None
    """K; None if it is not known."""


def n_experts(study: Study | None, dataset: str, cost: float) -> int | None:
    """K of a setting; None where the study is not known, its data are not there any more, or it cannot be told."""
    if study is None:
        return None
    if study.experts.kind == "instance":
        return INSTANCES[dataset](cost).experts.n_experts
    seed, own = np.random.SeedSequence(0), study.own_set(dataset)
    try:
        dim = datasets.info(source(dataset)).features if own is None else own.draw(1, seed, "none")[0].shape[1]
        return study.experts.make(dim, seed).n_experts
    except Exception:  # whatever somebody's stream does when asked for a single round
        return None


def repetitions(played: Sequence[Played], over_draws: bool = False) -> str:
    """What lines and bands are, and K; with ``over_draws`` bands are over draws where there is one expert set."""
    sets, draws = max(one.expert_sets for one in played), max(one.draws for one in played)
    most = "up to " if len({one[:2] for one in played}) > 1 else ""
    if sets > 1:
        each = f", each the mean of {most}{draws} draws of the data" if draws > 1 else ""
        text = f"Lines are means and bands one standard deviation over {most}{sets} expert sets{each}"
    elif draws > 1 and over_draws:
        text = f"Lines are means and bands one standard deviation over {most}{draws} draws of the data"
    elif draws > 1:
        text = f"Lines are means over {most}{draws} draws of the data for one expert set, so without a band"
    else:
        text = "Lines are single runs, so without a band"
    sizes = sorted({one.n_experts for one in played if one.n_experts is not None})
    if not sizes:
        return f"{text}."
    between = f"{sizes[0]:,} to {sizes[-1]:,}, by set" if len(sizes) > 1 else f"{sizes[0]:,}"
    return f"{text}; K = {between}."


def not_the_papers(learners: Iterable[str]) -> str:
    """Which of them the paper's experiments do not have; nothing if they have all."""
    others = [OTHERS.get(label, label) for label in learners if label not in PAPER]
    return f"Not among the paper's learners: {'; '.join(others)}." if others else ""

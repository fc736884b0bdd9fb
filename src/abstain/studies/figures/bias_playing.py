"""Short runs for figure 3, where there are no results."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ... import instances
from ...learners import UCBGT, UCBNT
from ...simulate import simulate

if TYPE_CHECKING:
    import polars

RUNS = 25


def play(instance: instances.Instance, rounds: int) -> "polars.DataFrame":
    """The curves of short runs of the three learners, against the better expert."""
    import polars

    at = np.unique(np.geomspace(1, rounds, 60).round().astype(np.int64))
    better = int(np.argmin(instance.means))
    frames = []
    for seed in range(RUNS):
        X, y = instance.draw(rounds, seed)
        advice = instance.experts.advise(X)
        errors = instance.loss(advice.predictions, instance.loss.labels(y))[:, better]
        best = np.cumsum(np.where(advice.abstains[:, better], instance.cost, errors))[at - 1]
        game: dict[str, Any] = {"cost": instance.cost, "loss": instance.loss}
        learners = {
            "UCB-NT, own graph": UCBNT(instance.experts, graph="abstention", **game),
            "UCB-NT": UCBNT(instance.experts, **game),
            "UCB-GT": UCBGT(instance.experts, **game),
        }
        for label, learner in learners.items():
            loss = np.cumsum(simulate(learner, X, y).loss)[at - 1]
            frames.append(
                polars.DataFrame({"t": at, "loss": loss, "best": best}).with_columns(
                    expert_set=polars.lit(0), draw=polars.lit(seed), learner=polars.lit(label)
                )
            )
    return polars.concat(frames)

"""A threshold that is chosen again now and then, from the labels of a window."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..tables import as_count, as_flag
from ..typing import Floats, Ints
from .retuning import Retuning
from .rounds import Played, Rounds, as_rounds


@dataclass(frozen=True, eq=False)
class Retuned(Played):
    """The model and the threshold in use in each round."""

    model: Ints
    threshold: Floats


def retuned(
    confidence: ArrayLike,
    losses: ArrayLike,
    cost: float | ArrayLike,
    first: int,
    *,
    every: int = 500,
    window: int = 4_000,
    delay: int = 0,
    own: bool = True,
) -> Retuned:
    """`tuned` on the ``first`` rounds, then tuned again after every ``every`` rounds on the last ``window`` rounds
    whose labels have come: those of round t are known from round t + ``delay`` + 1 on.

    With ``own`` only answers bring labels (and the ``first`` rounds, which were labelled to begin with), as in
    production. It does what is usually done: it tunes on the rounds that have a label as if they were all there are.
    So an estimate of a pair of model and threshold is its mean loss on those, the cost where it would hand over. That
    is biased: rounds handed over are the uncertain ones, and nothing stands for them. A threshold that rose once shows
    no label below it, so no evidence that it should fall; where no pair is strictly better than the one in use, that
    one stays. Without ``own`` every round has its label.

    >>> rng = np.random.default_rng(0)
    >>> confidence = rng.random((1000, 2))
    >>> losses = (rng.random((1000, 2)) > confidence) * 1.0
    >>> policy = retuned(confidence, losses, 0.2, first=100, every=100, own=False)
    >>> policy.threshold[[0, -1]].round(1)
    array([0.8, 0.7])
    """
    rounds = as_rounds(confidence, losses, cost)
    n = len(rounds.cost)
    start = as_count(first, "first", most=n)
    step, width, late = as_count(every, "every"), as_count(window, "window"), as_count(delay, "delay", least=0)
    policy = Retuning(Rounds(*(part[:start] for part in rounds)), step, width, as_flag(own, "own"))
    # A label that comes later than the last round is not needed.
    return Retuned(*policy.play(rounds, np.minimum(np.arange(1, n + 1) + min(late, n), n)))

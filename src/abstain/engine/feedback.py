"""Which labels come back: of rounds that predicted (as in the paper), of rounds that abstained, of both, of some."""

import hashlib
from typing import Any, NamedTuple

import numpy as np

from .._core.validation import is_number, own_stream
from ..errors import InputError, shown
from ..typing import Bools


class Chances(NamedTuple):
    """The probabilities that a label comes after predicting and after abstaining."""

    predicted: float
    """v_p, after predicting."""
    abstained: float
    """v_a, after abstaining."""

    @property
    def sure(self) -> bool:
        """Whether chance plays no part: both are 0 or 1."""
        return {self.predicted, self.abstained} <= {0.0, 1.0}


NAMED = {"predicted": Chances(1.0, 0.0), "abstained": Chances(0.0, 1.0), "both": Chances(1.0, 1.0)}


def as_feedback(feedback: Any) -> str | tuple[float, float]:
    """Check a feedback.

    Args:
        feedback: "predicted", "abstained", "both", or two probabilities (after predicting, after abstaining).

    Returns:
        A name, or a pair of probabilities that has no name.

    Raises:
        InputError: If it is neither.

    >>> as_feedback((1, 0)), as_feedback([0.05, 1])
    ('predicted', (0.05, 1.0))
    """
    if isinstance(feedback, str) and feedback in NAMED:
        return feedback
    if isinstance(feedback, (tuple, list)) and len(feedback) == 2 and all(map(is_number, feedback)):
        pair = float(feedback[0]), float(feedback[1])
        if all(0.0 <= chance <= 1.0 for chance in pair) and any(pair):
            return next((name for name, chances in NAMED.items() if chances == pair), pair)
    raise InputError(
        f"feedback: expected {', '.join(map(repr, NAMED))} or two probabilities (after predicting, after abstaining), "
        f"not both 0, got {shown(feedback)}"
    )


def check_predicted(feedback: Any, name: str) -> None:
    """Raise an `InputError` unless the feedback is the paper's, for learners that know no other.

    Args:
        feedback: The feedback as the user gave it.
        name: The learner's name, for the message.
    """
    kept = as_feedback(feedback)
    if kept != "predicted":
        instead = "FullSupervision follows the best with all labels; " if kept == "both" else ""
        raise InputError(
            f"feedback: {name} learns from the labels of rounds that predicted alone ('predicted'), got "
            f"{shown(feedback)}; {instead}Exp3Abs and DoublyRobust take any feedback"
        )


def chances_of(feedback: str | tuple[float, float]) -> Chances:
    """Return the probabilities of a feedback that `as_feedback` returned."""
    return NAMED[feedback] if isinstance(feedback, str) else Chances(*feedback)


def arrivals(chances: Chances, seed: int | np.random.SeedSequence | None, learner: str, first: int, n: int) -> Bools:
    """Draw which labels come in a simulated game.

    A draw depends only on the round and the seed; without a seed, on the learner's id, which its files have.

    Args:
        chances: The probabilities.
        seed: The learner's seed.
        learner: The learner's id.
        first: The first round.
        n: The number of rounds.

    Returns:
        Whether each label comes after predicting and after abstaining (n, 2).
    """
    if chances.sure:
        return np.tile(np.array(chances) == 1.0, (n, 1))
    of_id = int.from_bytes(hashlib.sha256(learner.encode()).digest()[:16])
    stream = own_stream(of_id if seed is None else seed)
    key = np.random.SeedSequence(stream.entropy, spawn_key=(*stream.spawn_key, 1)).generate_state(2, np.uint64)
    # A counter yields four numbers, of which a round takes the first.
    draws = np.random.Generator(np.random.Philox(counter=first, key=key)).random((n, 4))[:, :1]
    return np.asarray(draws < np.array(chances))

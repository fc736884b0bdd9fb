"""Whom to follow in a round, as a learner says it."""

from typing import NamedTuple

from ..typing import Array


class Choice(NamedTuple):
    """Whom to follow in a round."""

    expert: int
    """Its number."""
    probability: float
    """Of predicting."""
    carry: Array
    """What has to be known of the round when its label comes: bits or floats (n,)."""
    observed: float | None = None
    """The probability that the label is seen; unless given, it follows from that of predicting."""
    forced: bool = False
    """Whether this expert was followed for the sake of the label."""
    over_capacity: bool = False
    """Whether it was followed as one that was drawn would have abstained, and nobody may."""

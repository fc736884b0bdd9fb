"""What a study may name as a set: data sets, and problems of the paper that bring their own experts and loss."""

from collections.abc import Callable

from .. import datasets
from ..instances import Instance, Stream, bias_problem, proposition_1, rotating, switching

INSTANCES: dict[str, Callable[[float], Instance | Stream]] = {
    "bias-problem": lambda cost: bias_problem(cost=cost),
    "proposition-1": lambda cost: proposition_1(cost=cost),
    "switching": switching,
    "rotating": rotating,
}
"""Problems by their cost: anything with ``experts``, ``loss`` and ``draw(n, seed)``."""
UNSCALED = ("synthetic", *INSTANCES)
"""Sets that are drawn in their range: scaling means nothing to them."""


def names() -> tuple[str, ...]:
    """The sets a study may name."""
    return (*datasets.names, *INSTANCES)

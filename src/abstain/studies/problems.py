"""What a study may name as a set: data sets, whole or with labels spoilt for a time, and problems that bring their own
experts and loss.
"""

from collections.abc import Callable
from functools import partial

from .. import datasets
from ..errors import InputError
from ..instances import (
    Cliques,
    Instance,
    Regions,
    Stream,
    alternating,
    bias_problem,
    cliques,
    flipping,
    proposition_1,
    regions,
    rotating,
    switching,
    trap,
)
from .spoilt import SPOILERS, source

PROPOSITION_1 = {f"proposition-1-p{p:g}": p for p in (0.9, 0.99, 0.999, 0.9999)}
"""Proposition 1's construction for several p: its proof takes p towards 1."""

GAPPED = {"regions-2": (2, 5, 0.4), "regions-3": (3, 5, 0.45)}
"""`instances.regions` with gaps so large that the bounds of theorems 3 and 4 are below T max Delta in some 100,000
rounds: regions, predictors, gap."""
PREDICTING = {f"predicting-{K}": K for K in (4, 16, 64, 256)}
"""K experts that always predict, one of which errs less by ``sqrt(K / T)``, for games of T = 20,000 rounds: about the
lead at which it matters most that EXP3 sees one loss a round."""
PREDICTING_ROUNDS = 20_000


def _regions(n_regions: int, size: int, gap: float, cost: float) -> Regions:
    return regions(n_regions, size, gap, cost=cost)


def _predicting(n_experts: int, cost: float) -> Cliques:  # they never abstain, whatever it costs
    return cliques(n_experts, 1, (n_experts / PREDICTING_ROUNDS) ** 0.5)


INSTANCES: dict[str, Callable[[float], Instance | Stream | Regions | Cliques]] = {
    "bias-problem": lambda cost: bias_problem(cost=cost),
    "proposition-1": lambda cost: proposition_1(cost=cost),
    **{name: partial(proposition_1, p) for name, p in PROPOSITION_1.items()},
    **{name: partial(_regions, *sizes) for name, sizes in GAPPED.items()},
    **{name: partial(_predicting, K) for name, K in PREDICTING.items()},
    "switching": switching,
    "rotating": rotating,
    "flipping": flipping,
    "blocks-500": lambda cost: alternating(500, cost),
    "trap-300": lambda cost: trap(300, cost),
    "trap-1000": lambda cost: trap(1000, cost),
}
"""Problems by their cost: anything with ``experts``, ``loss``, ``draw(n, seed)`` and ``regime(n)``."""
UNSCALED = ("synthetic", *INSTANCES)
"""Sets that are drawn in their range: scaling means nothing to them."""


def is_known(dataset: object) -> bool:
    """Whether it is a set of the library's."""
    return isinstance(dataset, str) and (dataset in INSTANCES or source(dataset) in datasets.names)


def check(dataset: object) -> None:
    """Raise an error unless it is a set of the library's."""
    if not is_known(dataset):
        names = (*datasets.names, *INSTANCES, *(f"{how}-SET" for how in SPOILERS))
        raise InputError(f"set: expected one of {', '.join(names)}, got {dataset!r}")


def is_scaled(dataset: str) -> bool:
    """Whether scaling means something to a set."""
    return source(dataset) not in UNSCALED

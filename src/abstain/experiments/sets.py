"""What a study may name as a set: data sets, whole or with spoilt labels, and problems with their own experts."""

import zlib
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .. import datasets
from ..errors import FileError, InputError
from ..instances import (
    Cliques,
    Problem,
    Regions,
    Stream,
    alternating,
    bias_problem,
    cliques,
    flipping,
    late_bloomer,
    one_model,
    proposition_1,
    regions,
    rotating,
    simple_example,
    specialists,
    switching,
    trap,
    two_models,
)
from ..typing import Array, Ints


class Spoiler(NamedTuple):
    """When labels are spoilt, and how."""

    regime: Callable[[Ints, int], Ints]
    """Of rounds, counted from 0, out of n: 1 where they are spoilt, else 0."""
    random: bool
    """Whether they are then drawn at random, or else inverted."""


SPOILERS = {
    "late-clean": Spoiler(lambda t, n: (5 * t < n).astype(np.int64), True),
    "flips": Spoiler(lambda t, n: 5 * t // n % 2, False),
    "trap-300": Spoiler(lambda t, n: (t < 300).astype(np.int64), False),
    "trap-1000": Spoiler(lambda t, n: (t < 1000).astype(np.int64), False),
}
"""Random in the first fifth of the game; inverted in its second and fourth fifth, or in its first rounds."""


def split(dataset: str) -> tuple[str | None, str]:
    """How a set is spoilt (None: it is not), and the name of what it is made of.

    >>> split("late-clean-skin"), split("skin")
    (('late-clean', 'skin'), (None, 'skin'))
    """
    for how in SPOILERS:
        if dataset.startswith(f"{how}-") and dataset.removeprefix(f"{how}-") in datasets.names:
            return how, dataset.removeprefix(f"{how}-")
    return None, dataset


def source(dataset: str) -> str:
    """The data set whose rows are played."""
    return split(dataset)[1]


def spoil(dataset: str, y: Array, seed: np.random.SeedSequence) -> tuple[Array, Ints]:
    """The labels as they are played, and the regime of each round."""
    how, _ = split(dataset)
    if how is None:
        return y, np.zeros(len(y), np.int64)
    regime = SPOILERS[how].regime(np.arange(len(y)), len(y))
    other = np.random.default_rng(seed).choice(np.array([-1, 1], y.dtype), len(y)) if SPOILERS[how].random else -y
    return np.where(regime == 1, other, y), regime


PROPOSITION_1 = {f"proposition-1-p{p:g}": p for p in (0.9, 0.99, 0.999, 0.9999)}
"""Proposition 1's construction for several p: its proof takes p towards 1."""

GAPPED = {"regions-2": (2, 5, 0.4), "regions-3": (3, 5, 0.45)}
"""`instances.regions` with gaps so large that the bounds of theorems 3 and 4 are below T max Delta in some 100,000
rounds: regions, predictors, gap."""
LEADING = {f"leading-{K}": K for K in (4, 8, 16, 32, 64)}
"""K experts that always predict, one of which errs less by `LEAD`."""
LEAD = 0.25
"""So large that in 20,000 rounds EXP3's bound is below the regret of drawing uniformly, ``LEAD T (1 - 1/K)``, for all
of these K."""


def _regions(n_regions: int, size: int, gap: float, cost: float) -> Regions:
    return regions(n_regions, size, gap, cost=cost)


def _leading(n_experts: int, cost: float) -> Cliques:  # they never abstain, whatever it costs
    return cliques(n_experts, 1, LEAD)


Playable: TypeAlias = Problem | Stream
"""A problem with experts: anything with ``experts``, ``loss``, ``draw(n, seed)`` and ``regime(n)``."""
PROBLEMS: dict[str, Callable[..., Playable]] = {
    make.__name__: make
    for make in (
        alternating, bias_problem, cliques, flipping, late_bloomer, one_model, proposition_1, regions, rotating,
        simple_example, specialists, switching, trap, two_models,
    )
}  # fmt: skip
"""What makes problems by its name: own sets give its arguments."""
INSTANCES: dict[str, Callable[[float], Playable]] = {
    "bias-problem": lambda cost: bias_problem(cost=cost),
    "proposition-1": lambda cost: proposition_1(cost=cost),
    **{name: partial(proposition_1, p) for name, p in PROPOSITION_1.items()},
    **{name: partial(_regions, *sizes) for name, sizes in GAPPED.items()},
    **{name: partial(_leading, K) for name, K in LEADING.items()},
    "simple-example": lambda cost: simple_example(cost=cost),
    "switching": switching,
    "rotating": rotating,
    "flipping": flipping,
    "blocks-500": lambda cost: alternating(500, cost),
    "trap-300": lambda cost: trap(300, cost),
    "trap-1000": lambda cost: trap(1000, cost),
    "specialists": lambda cost: specialists(cost=cost),
    "specialists-spoilt": lambda cost: specialists(2, 0.8, cost, spoilt=100),
    "specialists-20": lambda cost: specialists(20, cost=cost),
    "two-models": lambda cost: two_models(2, cost),
    "two-models-10": lambda cost: two_models(10, cost),
    "two-models-10-spoilt": lambda cost: two_models(10, cost, spoilt=100),
    "one-model": lambda cost: one_model(20, cost),
    "one-model-spoilt": lambda cost: one_model(20, cost, spoilt=100),
}
"""Problems by their cost."""
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


END_BYTES = 1 << 20


class MissingDataError(Exception):
    """A data set that is not here."""

    def __init__(self, dataset: str, why: str) -> None:
        super().__init__(why)
        self.dataset = dataset


def fingerprint(dataset: str, data: str | None) -> str | None:
    """What tells a data file from another: its size and a checksum of its two ends. None if the set is not here."""
    found = "computed" if dataset in INSTANCES else datasets.info(source(dataset), data=data).found
    if found is None or found in ("computed", "scikit-learn"):
        return found
    status = Path(found).stat()
    return _of_file(found, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=32)
def _of_file(path: str, size: int, changed: int) -> str:
    with Path(path).open("rb") as stream:
        checksum = zlib.crc32(stream.read(END_BYTES))
        stream.seek(max(0, size - END_BYTES))
        checksum = zlib.crc32(stream.read(), checksum)
    return f"{size} bytes, {checksum:08x}"


def check_same(known: Iterable[tuple[str, Mapping[str, Any]]], data: str | None, folder: Path) -> None:
    """Raise an error if records (each with its data set) are of other data than what is here, or of several."""
    seen: dict[str, str] = {}
    for dataset, record in known:
        if dataset not in seen:
            seen[dataset] = fingerprint(dataset, data) or record["data"]
        if record["data"] != seen[dataset]:
            raise FileError(
                f"{folder}: the results there are of another file of {dataset} ({record['data']}) than the one here "
                f"({seen[dataset]}); use another folder for these"
            )

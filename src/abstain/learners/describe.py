"""What a learner's file says."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import costs, graphs
from ..registry import name_of

if TYPE_CHECKING:
    from .base import Learner


def describe(learner: "Learner") -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays of a learner's file."""
    arrays = {f"state.{name}": array for name, array in learner._arrays().items()}

    def plain(prefix: str, values: Mapping[str, Any]) -> dict[str, Any]:
        arrays.update({f"{prefix}.{k}": v for k, v in values.items() if isinstance(v, np.ndarray)})
        return {k: v for k, v in values.items() if not isinstance(v, np.ndarray)}

    cost: Any = None
    if isinstance(learner.cost, costs.Constant):
        cost = learner.cost.value
    elif isinstance(learner.cost, costs.PerRound):
        arrays["cost.values"] = learner.cost.values
        cost = "per round"
    seed = learner.seed
    header = {
        "learner": type(learner).__name__,
        "id": learner.id,
        "round": learner.round,
        "pending": list(learner.pending),
        "random": learner._random.bit_generator.state,
        "seed": {"entropy": seed.entropy, "spawn_key": list(seed.spawn_key)}
        if isinstance(seed, np.random.SeedSequence)
        else (None if seed is None else int(seed)),
        "experts": {
            "kind": name_of(type(learner.experts)),
            "fingerprint": learner.experts.fingerprint,
            "parameters": plain("experts", learner.experts.parameters()) if learner.experts.portable else None,
        },
        "cost": cost,
        "loss": learner.loss.spec(),
        "binary": learner.loss.binary,
        "options": {
            name: (None if (spec := graphs.spec(value)) is None else plain(name, spec))
            if isinstance(value, graphs.FeedbackGraph)
            else (None if callable(value) else value)
            for name, value in learner._options().items()
        },
    }
    return header, arrays

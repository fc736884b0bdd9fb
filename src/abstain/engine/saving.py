"""What a learner's file says."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import costs, graphs
from ..registry import as_plain, name_of
from ..typing import Array
from .changes import needed, to_file

if TYPE_CHECKING:
    from .learner import Learner


def contents(learner: "Learner") -> tuple[dict[str, Any], dict[str, Array]]:
    """The header and the arrays of a learner's file; ``again`` are the options that `load` has to be given again."""
    arrays = {f"state.{name}": array for name, array in learner._arrays().items()}

    def plain(prefix: str, values: Mapping[str, Any]) -> dict[str, Any]:
        arrays.update({f"{prefix}.{k}": v for k, v in values.items() if isinstance(v, np.ndarray)})
        return {k: v for k, v in values.items() if not isinstance(v, np.ndarray)}

    options, again = {}, []
    for name, value in learner._options().items():
        spec = graphs.spec(value) if isinstance(value, graphs.FeedbackGraph) else None
        if spec is not None:
            options[name] = {"graph": plain(f"options.{name}", spec)}
        elif isinstance(value, np.ndarray) and value.dtype != object:
            arrays[f"options.{name}"] = value
        elif callable(value) or isinstance(value, graphs.FeedbackGraph):
            again.append(name)
        else:
            options[name] = as_plain(value)
    cost: Any = None
    if type(learner.cost) is costs.Constant:
        cost = learner.cost.value
    elif type(learner.cost) is costs.PerRound:
        arrays["cost.values"] = learner.cost.values
        cost = "per round"
    seed, experts = learner.seed, learner.experts
    header = {
        "learner": name_of(type(learner)),
        **learner._identity.header(),
        "round": learner.round,
        "random": learner._random.bit_generator.state,
        "seed": {"entropy": seed.entropy, "spawn_key": list(seed.spawn_key)}
        if isinstance(seed, np.random.SeedSequence)
        else (None if seed is None else int(seed)),
        "experts": {
            "kind": name_of(type(experts)),
            "fingerprint": experts.fingerprint,
            "parameters": plain("experts", experts.parameters()) if experts.portable else None,
        },
        "cost": cost,
        "loss": learner.loss.spec(),
        "binary": learner.loss.binary,
        "options": options,
        "again": again,
    }
    if learner._changes:
        header["changes"], of_changes = to_file(needed(learner._changes, learner.pending))
        arrays |= of_changes
    return header, arrays

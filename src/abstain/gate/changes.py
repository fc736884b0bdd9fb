"""Models that come and go."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError, shown
from .experts import ModelThresholds
from .names import as_names

if TYPE_CHECKING:
    from .gate import Gate


def add_model(gate: "Gate", name: str) -> None:
    """See `Gate.add_model`. Its thresholds are the first model's."""
    if name in gate.models:
        raise InputError(f"models: expected a new name, got {shown(name)}")
    _rearrange(gate, [*range(len(gate.models)), -1], as_names([*gate.models, name]))


def retire(gate: "Gate", name: str) -> None:
    """See `Gate.retire`."""
    if name not in gate.models:
        raise InputError(f"model: expected one of {', '.join(gate.models)}, got {shown(name)}")
    if len(gate.models) == 1:
        raise InputError(f"model: expected another one beside the last, got {shown(name)} to retire")
    stays = [m for m, other in enumerate(gate.models) if other != name]
    _rearrange(gate, stays, [gate.models[m] for m in stays])


def _rearrange(gate: "Gate", model_from: Sequence[int], models: list[str]) -> None:
    """Go on with other models, by the numbers they had; -1 for a newcomer."""
    learner = gate.learner
    with learner.lock:
        n_levels = gate.levels.shape[1]
        models_before = np.array(model_from)
        experts_before = models_before[:, np.newaxis] * n_levels + np.arange(n_levels)
        experts_before[models_before < 0] = -1
        counts = np.where((models_before < 0)[:, np.newaxis], 0, gate.counts[models_before])
        levels = gate.levels[np.maximum(models_before, 0)]
        learner.rearrange(ModelThresholds(levels), models_before, experts_before.ravel())
        gate.models = models
        gate._hold(learner, counts)

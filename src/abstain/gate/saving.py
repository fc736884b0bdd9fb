"""What a gate's file says: what its learner's does, and more."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine import Learner
from ..errors import InputError
from ..typing import Array
from .answers import Task
from .experts import ModelThresholds
from .feedback import as_labels
from .names import as_names
from .prices import OTHER, Prices

if TYPE_CHECKING:
    from .gate import Gate

COUNTS = "gate.counts"


def contents(gate: "Gate") -> tuple[dict[str, Any], dict[str, Array]]:
    """The header and the arrays of a gate's file."""
    header, arrays = gate.learner.contents()
    task = gate.task
    kept = {
        "models": gate.models,
        "task": task.kind,
        "classes": None if task.classes is None else list(task.classes),
        "most_error": task.most_error,
        "prices": gate.prices.kept(),
        "labels": gate.labels[0],
        "last_time": gate.last_time,
    }
    return {**header, "gate": kept}, {**arrays, COUNTS: gate.counts}


def restore(gate: "Gate", learner: Learner, kept: Mapping[str, Any], counts: Any) -> None:
    """Fill in a gate by what a file says; a `ValueError` says what is wrong with it."""
    gate.models = as_names(kept["models"])
    gate.task = Task(kept["task"], kept["classes"], kept["most_error"])
    prices = kept["prices"]
    kinds: dict[Any, Any] = {(said, true): price for said, true, price in prices["kinds"]}
    mistake = {**kinds, OTHER: prices["other"]} if kinds else prices["other"]
    gate.prices = Prices(gate.task, prices["review"], mistake, prices["most_stake"])
    labels = kept["labels"]
    gate.labels = as_labels(tuple(labels) if isinstance(labels, list) else labels)
    gate.capacity, gate.seed = getattr(learner, "capacity", None), learner.seed
    gate._kind = type(learner)
    last = kept["last_time"]
    if last is not None and type(last) is not int:
        raise InputError(f"last_time: expected microseconds, got {last!r:.50}")
    gate.last_time = last
    same_price = getattr(learner.cost, "value", None) == gate.prices.cost
    if not same_price or getattr(learner, "feedback", "predicted") != gate.labels[1]:
        raise InputError("gate: the prices, the labels and the learner do not fit together")
    experts = learner.experts
    if not isinstance(experts, ModelThresholds) or len(experts.levels) != len(gate.models):
        raise InputError("gate: the models and the experts do not fit together")
    shape = len(gate.models), experts.levels.shape[1] + 1
    fits = isinstance(counts, np.ndarray) and counts.shape == shape and counts.dtype == np.int64
    if not fits or (counts < 0).any():
        raise InputError("gate: the counts do not fit the models")
    gate._hold(learner, counts.copy())

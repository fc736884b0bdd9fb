"""The learner of a gate."""

from collections.abc import Callable
from typing import Any

from ..capacity import Capacity
from ..engine import Learner, Seed
from ..engine.feedback import chances_of
from ..errors import InputError, shown
from ..learners import DoublyRobust
from ..typing import Floats
from .experts import ModelLosses, ModelThresholds
from .feedback import floor
from .prices import Prices


def learner(
    kind: Callable[..., Learner], levels: Floats, prices: Prices, feedback: Any, capacity: Capacity | None, seed: Seed
) -> Learner:
    """A learner of this kind that has learnt nothing, on models with these thresholds."""
    options: dict[str, Any] = {} if feedback == "predicted" else {"feedback": feedback}
    if kind is DoublyRobust:
        options |= {"memory": "adaptive", "min_observe": floor(chances_of(feedback))}
    if capacity is not None:
        if "capacity" not in getattr(kind, "options", ("capacity",)):
            name = getattr(kind, "__name__", "this learner")
            raise InputError(f"capacity: {name} knows of none; DoublyRobust and Exp3Abs do")
        options["capacity"] = capacity
    options["loss"] = ModelLosses(prices.plain, prices.of_signs)
    try:
        return kind(ModelThresholds(levels), cost=prices.cost, seed=seed, **options)
    except TypeError as error:
        raise InputError(f"learner: expected one that takes the gate's experts and options ({error})") from None


def experts_of(learner: Learner) -> ModelThresholds:
    """The experts of a learner that a gate can go on with."""
    if not isinstance(learner, Learner) or not isinstance(learner.experts, ModelThresholds):
        raise InputError(f"learner: expected a class of learner that takes the gate's experts, got {shown(learner)}")
    if learner.supervised:
        raise InputError(f"learner: {type(learner).__name__} needs the labels of all cases, which no gate has")
    return learner.experts

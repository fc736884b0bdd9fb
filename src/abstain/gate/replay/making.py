"""The gate that plays a log, and its setting as people say it."""

import inspect
from typing import Any

from ... import learners
from ...errors import InputError, shown
from ..gate import Gate
from .naming import money, per_cent, span
from .options import COST, Options


def make_gate(options: Options, pair: tuple[Any, Any] | None, most_stake: float) -> Gate:
    """The gate that the options ask for; ``pair`` are the classes, if they are two."""
    settings: dict[str, Any] = {"task": options.found_task, "labels": options.labels, "seed": options.seed}
    if options.review_price is None:
        settings["cost"] = COST if options.cost is None else options.cost
    else:
        settings["review"] = options.review_price
        if options.mistake_column is None:
            settings["mistake"] = options.mistake_price
        else:
            settings["most_stake"] = most_stake
            if options.review_price > most_stake:
                raise InputError(
                    f"--review-price: expected at most {most_stake:g}, the largest price in column "
                    f"{options.mistake_column}, got {options.review_price:g}: everything should be answered"
                )
    if pair is not None:
        settings["classes"] = pair
    if options.most_error is not None:
        settings["most_error"] = options.most_error
    if options.capacity is not None:
        settings["capacity"] = options.capacity
    if options.learner is not None:
        settings["learner"] = _learner(options.learner)
    try:
        return Gate([model.name for model in options.models], **settings)
    except TypeError as error:  # an option of the gate that the learner does not have
        raise InputError(f"--learner: {options.learner} cannot do what is asked for ({error})") from None


def _learner(name: str) -> Any:
    """A learner by the name of its class. One that is shown labels nobody would have is none for a gate."""
    known = {
        one: kind
        for one in learners.__all__
        if inspect.isclass(kind := getattr(learners, one))
        and issubclass(kind, learners.KernelLearner)
        and not inspect.isabstract(kind)
        and not kind.supervised
    }
    for one, kind in known.items():
        if one.lower() == name.lower():
            return kind
    raise InputError(f"--learner: expected one of {', '.join(known)}, got {shown(name)}")


def how_late(options: Options, seconds: float) -> str:
    """When labels come: so many seconds late in the mean, where the log has times."""
    if options.label_time is not None:
        return f"when the column {options.label_time} says, {span(seconds)} after the case in the mean"
    return f"{options.delay:,} rows late" if options.delay else "at once"


def how_much(gate: Gate, options: Options) -> str | None:
    """The capacity."""
    if options.capacity is None:
        return None
    burst = getattr(gate.capacity, "burst", None)
    return f"{per_cent(options.capacity)} of cases" + ("" if burst is None else f", bursts of {burst:,}")


def prices(options: Options, most_stake: float) -> list[str]:
    """What was taken for prices without being told."""
    if options.mistake_column is not None and options.mistake_price is None:
        most = money(most_stake, 1.0, options.unit)
        return [f"A mistake costs what {options.mistake_column} says, at most {most}, its largest value."]
    if options.cost is None and options.review_price is None:
        return [f"Nothing was said of prices: a review costs {COST:g} of a mistake (--cost)."]
    return []

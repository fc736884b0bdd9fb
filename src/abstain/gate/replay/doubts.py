"""What is nearly surely not as it was meant: said loudly, and played all the same."""

from typing import Any

from .classes import Classes
from .columns import CLASS, PROBABILITY
from .naming import per_cent
from .options import Options
from .preparing import Facts


def doubts(
    options: Options, facts: Facts, classes: Classes | None, pair: tuple[Any, Any] | None, rows: int
) -> list[str]:
    """Models that are never right, or so often wrong that their probabilities must be of the other class."""
    found = []
    for k, model in enumerate(options.models):
        answers = rows - facts.missing[k]
        wrong = answers - facts.right[k]
        if model.kind == PROBABILITY and pair is not None and wrong > rows / 2:
            found.append(
                f"{model.name} is wrong in {per_cent(wrong / rows)} of the rows with a label: is --positive the other "
                f"class? Its probabilities are taken to be of {pair[1]!r}; --positive {pair[0]} says otherwise."
            )
        elif answers > 0 and wrong == answers and classes is None:
            found.append(f"{model.name} is never right: each of its answers is off by --most-error or more.")
        elif answers > 0 and wrong == answers:
            assert classes is not None
            why = f"it says {classes.some(model.answer)}; labels are {classes.some(classes.label)}."
            if classes.apart(model.answer):
                why = f"none of its classes is among the labels; {why}"
            found.append(f"{model.name} is never right: {why}")
        nearly = classes.nearly(model.answer) if classes is not None and model.kind == CLASS else None
        if nearly is not None:
            answer, label, count = nearly
            found.append(
                f"{model.name} says {answer!r} where labels say {label!r}, and the like, in {count:,} rows: they "
                "differ in capitals or blanks alone, and count as mistakes. Write both alike."
            )
    return found

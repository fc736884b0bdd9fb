"""Which of two classes probabilities are of."""

import re
from typing import Any

from ...errors import InputError, shown
from .classes import as_text
from .columns import PROBABILITY
from .options import Options


def oriented(pair: tuple[Any, Any], options: Options) -> tuple[tuple[Any, Any], list[str]]:
    """The classes with the one that probabilities are of second, and a note on it, if there are any.

    It is the class that the options name; else that whose name is in the columns of probabilities, as fraud in
    ``xgb_fraud_prob``, if the other's is in none; else the later in order.
    """
    columns = [model.answer for model in options.models if model.kind == PROBABILITY]
    if not columns:
        return pair, []
    how = "as --positive says"
    if options.positive is not None:
        place = [k for k, one in enumerate(pair) if options.positive in _ways(one)]
        if not place:
            both = " or ".join(as_text(one) for one in pair)
            raise InputError(f"--positive: expected {both}, got {shown(options.positive)}")
        second = place[0]
    else:
        named = [k for k, one in enumerate(pair) if any(_names(column, one) for column in columns)]
        second = named[0] if len(named) == 1 else 1
        how = "the later in order; --positive says otherwise"
        if len(named) == 1:
            where = next(column for column in columns if _names(column, pair[second]))
            how = f"as its name is in {where}; --positive says otherwise"
    pair = pair[1 - second], pair[second]
    return pair, [f"Probabilities are taken to be of {pair[1]!r} ({how}); the other class is {pair[0]!r}."]


def _ways(one: Any) -> tuple[str, ...]:
    """How people write a class; truth values are 0 and 1 here."""
    truth = ("True", "true") if one == 1 else ("False", "false") if one == 0 else ()
    return (as_text(one), str(one), *truth)


def _names(column: str, one: Any) -> bool:
    """Whether a class that is a text is a word of a column's name."""
    word = re.escape(one.lower()) if isinstance(one, str) else ""
    return word != "" and re.search(rf"(?<![^\W_]){word}(?![^\W_])", column.lower()) is not None

"""What is said of the claims together; each says the rest itself."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..claims import Verdict

RINGS = 1
"""The claim that rests on how we read the rings: the lead of UCB-GT over UCB-NT."""
_WORDS = (("holds", "hold"), ("holds in part", "hold in part"), ("fails", "fail"), ("not judged", "not judged"))


class Count(NamedTuple):
    """How many claims have a verdict."""

    word: str
    label: str


def tally(verdicts: Sequence[Verdict]) -> list[Count]:
    """How many hold, hold in part, fail, were not judged."""
    counts = ((word, label, sum(verdict.verdict == word for verdict in verdicts)) for word, label in _WORDS)
    return [Count(word, f"{count} {label}") for word, label, count in counts if count]


def pieces(sentence: object) -> list[str]:
    """A sentence in pieces, every second of which is code, that is, between backquotes.

    >>> pieces("Run `abstain demo` first.")
    ['Run ', 'abstain demo', ' first.']
    """
    return re.split("`([^`]+)`", str(sentence))

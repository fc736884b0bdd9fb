"""A claim of the paper: its words, what decides it, and how it is judged, in one object."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..._core.validation import as_count
from ...errors import InputError
from .verdict import Finding

if TYPE_CHECKING:
    from .results import Results


@dataclass(frozen=True)
class Claim:
    """A claim, refused where one of its parts is missing: at import, not after hours of computing.

    A module of this package that has one at its top level is all that it takes to be among the verdicts.
    """

    number: int
    text: str
    """What is claimed, in a sentence."""
    rule: str
    """What decides the verdict, in words, from the words of the claim."""
    judge: "Callable[[Results], Finding]"
    of_readings: bool = False
    """Whether it is asked of other readings, too, which play the settings of figures 7 and 8."""

    def __post_init__(self) -> None:
        as_count(self.number, "claim: number")
        for name in ("text", "rule"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value.strip():
                raise InputError(f"claim {self.number}: {name}: expected a sentence, got {value!r}")
        if not callable(self.judge):
            raise InputError(f"claim {self.number}: judge: expected a function of the results, got {self.judge!r}")

"""What a gate decided on a case, with all that it needs to learn from the label later."""

import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, NamedTuple

from ..engine import Decision
from ..errors import FileError
from .answers import ANSWER, Plain, Said
from .clock import Clock

FORMAT = 1
_BY_MODEL = ("answers", "confidences")


class Asked(NamedTuple):
    """A case that was checked and is to be decided."""

    said: list[Said | None]
    stake: float | None
    """As it was given ..."""
    at_stake: float
    """... and as a number; 1 for a gate without stakes."""
    clock: Clock
    """The clock after the case."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Case:
    """A case that a gate decided on. It never changes; `to_json` and `from_json` carry it over a restart.

    Two cases are equal if their ids are.
    """

    action: str
    """ "answer" or "review"."""
    answer: Plain | None
    """What to answer; None for a review."""
    model: str
    """The model that was followed."""
    threshold: float | None
    """What the model's confidence has to exceed in this case. -1: the model always answers. None: never."""
    confidence: float | None
    """The model's confidence in this case; None if it had no answer."""
    probability: float
    """The probability of answering this case, before the draw."""
    review_price: float
    """The price of a review at the time, in the user's money."""
    stake: float | None
    """What is at stake, if that was given."""
    over_capacity: bool
    """Whether the case was answered only because no capacity for reviews was left."""
    explored: bool
    """Whether the case was answered, or reviewed, only to see the label."""
    answers: Mapping[str, Plain | None]
    """What every model said; None for a model without an answer."""
    confidences: Mapping[str, float | None]
    """How sure every model was; None for a model without an answer. For numbers, 1 minus the error's share."""
    time: str | float | None
    """When the case came, if that was given: a date and time as text, or seconds."""
    decision: Decision
    """What the learner decided."""
    lesson: tuple[float, ...] = ()
    """What a gate that combines models needs to learn: their confidences, and what the combination was made of."""
    digest: str | None = None
    """For a case read from JSON: a proof, made with the gate's own key, that nothing in it was changed."""
    _sign: Callable[[dict[str, Any]], str] | None = field(default=None, init=False)
    """For a case that the gate has just decided: the function that signs it."""

    @property
    def id(self) -> str | None:
        """The random id; None for what `peek` shows, which cannot be learnt."""
        return self.decision.id

    @property
    def round(self) -> int:
        """The number of the case; 1 for the gate's first."""
        return self.decision.round

    @property
    def observed(self) -> float:
        """The probability that the label would be seen, at the moment of the decision."""
        return self.decision.observed

    def signed_by(self, sign: Callable[[dict[str, Any]], str]) -> bool:
        """Return whether the gate with this signing function decided the case, and nothing in it was changed."""
        if self._sign == sign:
            return True
        digest = self.digest if self._sign is None else self._sign(self._content())
        return digest is not None and hmac.compare_digest(digest, sign(self._content()))

    def _content(self) -> dict[str, Any]:
        """Return all but the digest, as plain values."""
        content = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in ("digest", "_sign")}
        # In the models' order, which objects of JSON may lose.
        listed = {name: list(map(list, getattr(self, name).items())) for name in _BY_MODEL}
        return {**content, **listed, "format": FORMAT, "decision": self.decision.to_json()}

    def to_json(self) -> str:
        """Return the case as JSON, signed."""
        content = self._content()
        return json.dumps({**content, "digest": self.digest if self._sign is None else self._sign(content)})

    @classmethod
    def from_json(cls, text: str) -> "Case":
        """Return the case that `to_json` wrote.

        Args:
            text: The JSON.

        Raises:
            FileError: If the text is something else. Whether anything was changed is checked by the gate, in `learn`.
        """
        try:
            content = json.loads(text)
            if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
                raise ValueError("it is something else")
            listed = all(isinstance(content[name], list) for name in _BY_MODEL)
            if not listed or not isinstance(content["digest"], (str, type(None))):
                raise ValueError("answers, confidences or digest are of another type")
            for name in _BY_MODEL:
                content[name] = MappingProxyType({str(model): value for model, value in content[name]})
            lesson = tuple(map(float, content["lesson"]))
            return cls(**{**content, "lesson": lesson, "decision": Decision.from_json(content["decision"])})
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise FileError(f"case: expected JSON written by to_json, got something else ({error})") from None

    def __reduce__(self) -> tuple[Any, ...]:
        return Case.from_json, (self.to_json(),)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Case) and self.id is not None and self.id == other.id)

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        what = f"answer {self.answer!r} of {self.model}" if self.action == ANSWER else "review"
        return f"<{'Case' if self.id is not None else 'Peek'} {self.round}: {what}>"

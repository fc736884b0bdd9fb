"""What a gate decided on a case, with all it needs to learn from the label later."""

import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from ..engine import Decision
from ..errors import FileError
from .answers import Plain

FORMAT = 1
ANSWER, REVIEW = "answer", "review"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Case:
    """A case; it never changes, and `to_json` and `from_json` carry it over a restart.

    Two cases are equal if they are the same one: if their ids are.
    """

    action: str
    """ "answer" or "review"."""
    answer: Plain | None
    """What to answer; None if a person is to look at it."""
    model: str
    """The model that was followed ..."""
    threshold: float | None
    """... and what its confidence has to exceed in this case: -1 answers always, None reviews always."""
    confidence: float | None
    """Of that model in this case; None if it had no answer."""
    probability: float
    """Of answering this case."""
    cost: float
    """Of a review, in the user's money."""
    stake: float | None
    """What is at stake, if that was given."""
    over_capacity: bool
    """Whether the threshold would have sent it to review, and there was no capacity left."""
    explored: bool
    """Whether it was answered, or reviewed, just to see the label."""
    answers: Mapping[str, Plain | None]
    """What every model said; None where it had no answer."""
    decision: Decision
    """What the learner decided."""
    digest: str | None = None
    """Of a case that was read: proof, by a key that only the gate has, that nothing in it was changed."""
    _sign: Callable[[dict[str, Any]], str] | None = field(default=None, init=False)
    """Of a case that the gate has just decided: what signs it."""

    @property
    def id(self) -> str | None:
        """Its own, random; None for what `peek` shows, which cannot be learnt."""
        return self.decision.id

    @property
    def round(self) -> int:
        """1 for the gate's first case."""
        return self.decision.round

    def signed_by(self, sign: Callable[[dict[str, Any]], str]) -> bool:
        """Whether this is what the gate decided, with nothing changed."""
        if self._sign == sign:
            return True
        digest = self.digest if self._sign is None else self._sign(self._content())
        return digest is not None and hmac.compare_digest(digest, sign(self._content()))

    def _content(self) -> dict[str, Any]:
        """All but the digest, as plain values."""
        content = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in ("digest", "_sign")}
        answers = list(map(list, self.answers.items()))  # in their order, which objects of JSON may lose
        return {**content, "format": FORMAT, "answers": answers, "decision": self.decision.to_json()}

    def to_json(self) -> str:
        """The case as JSON."""
        content = self._content()
        return json.dumps({**content, "digest": self.digest if self._sign is None else self._sign(content)})

    @classmethod
    def from_json(cls, text: str) -> "Case":
        """The case that `to_json` wrote."""
        try:
            content = json.loads(text)
            if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
                raise ValueError("it is something else")
            if not isinstance(content["answers"], list) or not isinstance(content["digest"], (str, type(None))):
                raise ValueError("answers or digest are of another type")
            answers = MappingProxyType({str(model): answer for model, answer in content["answers"]})
            return cls(**{**content, "answers": answers, "decision": Decision.from_json(content["decision"])})
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

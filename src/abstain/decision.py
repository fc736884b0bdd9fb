"""What a learner decided in a round, with all it needs to learn from the label later."""

import json
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .errors import FileError

Bools: TypeAlias = NDArray[np.bool_]


_TYPES = {
    "round": int,
    "expert": int,
    "abstained": bool,
    "learner": str,
    "cost": float,
    "probability": float,
    "place": int,
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Decision:
    """A decision; it never changes, and `to_json` and `from_json` carry it over a restart."""

    round: int
    """1 for the learner's first."""
    expert: int
    """Who was followed."""
    abstained: bool
    """Whether that expert abstained: then the cost is paid and the label stays hidden."""
    prediction: Any
    """h(x) of that expert (for binary scores, its sign is the predicted label); None if it abstained."""
    probability: float
    """The probability of predicting on this input: 1.0 or 0.0 for learners that do not draw at random."""
    cost: float
    """c(x) of this round."""
    learner: str
    """The id of the learner that decided."""
    predictions: NDArray[Any]
    """h(x) of each predictor (P,)."""
    abstains: Bools
    """Whether each rule abstains on x (A,)."""
    neighbours: Bools
    """Who is to be updated from this round, as the learner groups its experts; empty for the expert itself."""
    place: int = 0
    """Where in the learner this round is learnt, for one that keeps several states: ContEXP3-ABS's ball."""

    def to_json(self) -> str:
        """The decision as JSON; floats are written so that they are read back exactly."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        for name in ("abstains", "neighbours"):
            fields[name] = "".join("01"[int(bit)] for bit in fields[name])
        fields["predictions"] = self.predictions.tolist()
        return json.dumps(fields)

    @classmethod
    def from_json(cls, text: str) -> "Decision":
        """The decision that `to_json` wrote."""
        try:
            fields = json.loads(text)
            for name in ("abstains", "neighbours"):
                if set(fields[name]) - set("01"):
                    raise ValueError(f"{name} is not made of 0 and 1")
                fields[name] = frozen(np.array([bit == "1" for bit in fields[name]], np.bool_))
            fields["predictions"] = frozen(np.array(fields["predictions"]))
            fields.setdefault("place", 0)  # as written by version 0.1
            for name, kind in _TYPES.items():
                if type(fields[name]) is not kind:
                    raise ValueError(f"{name} is not of type {kind.__name__}")
            return cls(**fields)
        except (KeyError, TypeError, ValueError) as error:
            raise FileError(f"decision: expected JSON written by to_json, got something else ({error})") from None

    def __reduce__(self) -> tuple[Any, ...]:
        return Decision.from_json, (self.to_json(),)  # copies and pickles stay read-only

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Decision) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.learner, self.round))

    def __repr__(self) -> str:
        what = "abstained" if self.abstained else f"predicted {self.prediction!r}"
        return f"<Decision: round {self.round}, expert {self.expert} {what}>"


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The array itself, made read-only."""
    array.flags.writeable = False
    return array

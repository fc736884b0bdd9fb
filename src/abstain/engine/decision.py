"""What a learner decided in a round, with all it needs to learn from the label later."""

import hashlib
import hmac
import json
import os
import re
import secrets
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from ..errors import DecisionError, FileError
from ..typing import Array, Bools

FORMAT = 4
FORMAT_3 = 3
"""Knew of no capacity."""
FORMAT_2 = 2
"""Did not say how likely the label was to be seen."""
FORMAT_1 = "format 1"
"""The life of decisions of format 1, which knew of none."""
MOST_ROUNDS = 2**53
"""Rounds up to here are counted exactly, in floats, too."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Decision:
    """A decision; it never changes, and `to_json` and `from_json` carry it over a restart.

    Two decisions are equal if they are the same one: if their ids are.
    """

    round: int
    """1 for the learner's first."""
    expert: int
    """Who was followed."""
    abstained: bool
    """Whether that expert abstained: then the cost is paid, and in the paper's protocol the label stays hidden."""
    prediction: Any
    """h(x) of that expert (for binary scores, its sign is the predicted label); None if it abstained."""
    probability: float
    """The probability of predicting on this input: 1.0 or 0.0 for learners that do not draw at random."""
    cost: float
    """c(x) of this round."""
    predictions: Array
    """h(x) of each predictor (P,)."""
    abstains: Bools
    """Whether each rule abstains on x (A,)."""
    carry: Array
    """What the learner wants to know of this round when it learns: its out-neighbours, the ball of x, ..."""
    id: str | None
    """Its own, random; None for what `peek` shows, which cannot be learnt."""
    learner: str
    """The id of the learner that decided ..."""
    life: str
    """... and of its life: a new one begins with every copy and every `load`."""
    observed: float
    """The probability that the label of this round is seen, before it was drawn whom to follow."""
    explored: bool
    """Whether the expert was followed for the sake of the label, instead of the one that was drawn."""
    over_capacity: bool
    """Whether it was followed because the capacity was used up, and the one that was drawn abstained."""
    format: int = FORMAT
    """Of the JSON it was read from."""
    digest: str | None = None
    """Of a decision that was read: proof, by a key that only the learner has, that nothing in it was changed."""
    _key: bytes | None = field(default=None, init=False)
    """Of a decision the learner has just made: that key."""

    def signed_by(self, key: bytes) -> bool:
        """Whether this is what the learner with that key decided, with nothing changed."""
        if self._key is not None:
            return self._key == key
        return self.digest is not None and hmac.compare_digest(self.digest, sign(key, self._content()))

    def _content(self) -> dict[str, Any]:
        """All but the digest, as plain values."""
        content = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in ("digest", "_key")}
        for name in ("abstains", "carry"):
            content[name] = _plain(content[name])
        if self.format < FORMAT:  # what was signed then
            del content["over_capacity"]
        if self.format == FORMAT_2:
            del content["observed"], content["explored"]
        return {**content, "predictions": self.predictions.tolist(), "dtype": self.predictions.dtype.str}

    def to_json(self) -> str:
        """The decision as JSON; floats are written so that they are read back exactly."""
        content = self._content()
        return json.dumps({**content, "digest": self.digest if self._key is None else sign(self._key, content)})

    @classmethod
    def from_json(cls, text: str) -> "Decision":
        """The decision that `to_json` wrote; also one of format 1, which had neither id nor digest."""
        try:
            content = json.loads(text)
            if not isinstance(content, dict):
                raise ValueError(f"it is a {type(content).__name__}")
            version = content.get("format")
            if version is None:
                content = _from_format_1(content)
            elif type(version) is not int or version not in (FORMAT_2, FORMAT_3, FORMAT):
                raise ValueError(f"its format is {version!r}, not {FORMAT}")
            if version in (None, FORMAT_2):
                content |= {"observed": content["probability"], "explored": False}
            if version != FORMAT:
                content["over_capacity"] = False
            _check_types(content)
            for name in ("abstains", "carry"):
                content[name] = frozen(_array(content[name], name))
            content["predictions"] = frozen(np.array(content["predictions"], _dtype(content.pop("dtype"))))
            return cls(**content)
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise FileError(f"decision: expected JSON written by to_json, got something else ({error})") from None

    def __reduce__(self) -> tuple[Any, ...]:
        return Decision.from_json, (self.to_json(),)  # copies and pickles stay read-only

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Decision) and self.id is not None and self.id == other.id)

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        what = "abstained" if self.abstained else f"predicted {self.prediction!r}"
        name = "Decision" if self.id is not None else "Peek"
        return f"<{name}: round {self.round}, expert {self.expert} {what}>"


def frozen(array: Array) -> Array:
    """The array itself, made read-only."""
    array.flags.writeable = False
    return array


def sign(key: bytes, content: dict[str, Any]) -> str:
    """The digest of plain values by a key."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _plain(array: Array) -> Any:
    """Bits as a text of 0 and 1, numbers as a list."""
    return (array + np.uint8(48)).tobytes().decode() if array.dtype == np.bool_ else array.tolist()


def _dtype(name: Any) -> Any:
    """The type of predictions: numbers, or strings (objects if they end with NUL)."""
    if type(name) is not str or not re.fullmatch(r"[<>|][fiub][1248]|[<>]U[0-9]{1,7}|\|O", name):
        raise ValueError(f"dtype is {name!r:.20}")
    return np.dtype(name)


def _array(value: Any, name: str) -> Array:
    """What `_plain` made of an array."""
    if isinstance(value, str):
        if set(value) - set("01"):
            raise ValueError(f"{name} is not made of 0 and 1")
        return np.asarray(np.frombuffer(value.encode(), np.uint8) == 49)
    if not isinstance(value, list) or not all(type(number) is float for number in value):
        raise ValueError(f"{name} is not a list of numbers")
    return np.array(value, np.float64)


_TYPES = {
    "round": int,
    "expert": int,
    "abstained": bool,
    "cost": float,
    "probability": float,
    "observed": float,
    "explored": bool,
    "over_capacity": bool,
    "abstains": str,
    "predictions": list,
    "learner": str,
    "life": str,
}


def _check_types(content: dict[str, Any]) -> None:
    for name, kind in _TYPES.items():
        if type(content[name]) is not kind:
            raise ValueError(f"{name} is not of type {kind.__name__}")
    if content["id"] is not None and type(content["id"]) is not str:
        raise ValueError("id is not a text")
    if content["digest"] is not None and not re.fullmatch("[0-9a-f]{64}", content["digest"]):
        raise ValueError("digest is not a digest")
    if content["dtype"] == "|O" and not all(type(one) is str for one in content["predictions"]):
        raise ValueError("predictions are not texts")
    if not 1 <= content["round"] <= MOST_ROUNDS or not 0 <= content["expert"] <= MOST_ROUNDS:
        raise ValueError("round and expert are out of range")


def id_of_format_1(learner: str, t: int) -> str:
    """Decisions of format 1 were known by their round."""
    return f"{FORMAT_1}, {learner}, round {t}"


def _from_format_1(content: dict[str, Any]) -> dict[str, Any]:
    """Out-neighbours were an array of their own, and the ball of ContEXP3-ABS a place."""
    neighbours, place = content.pop("neighbours"), content.pop("place", 0)
    if not isinstance(neighbours, str) or type(place) is not int or not 0 <= place <= MOST_ROUNDS:
        raise ValueError("neighbours or place are of another type")
    probability, name = float(content["probability"]), id_of_format_1(str(content["learner"]), content["round"])
    carry = neighbours if neighbours else [float(place), probability]
    dtype = np.array(content["predictions"]).dtype.str
    return {**content, "carry": carry, "id": name, "life": FORMAT_1, "digest": None, "dtype": dtype}


_REMEMBERED = 10_000
"""So many forgotten decisions are known as such, and so many earlier lives; older ones are refused all the same."""


class Identity:
    """The ids of a learner, of its life and of its open decisions, and the key that signs them.

    Every copy of a learner begins a life of its own: a decision made in another one, of whose round this learner knows
    nothing, is never taken for one of its own. The decisions that were open when it was copied are open in either.
    """

    def __init__(self) -> None:
        self.learner = secrets.token_hex(16)
        self.key = secrets.token_bytes(32)
        self.life = secrets.token_hex(8)
        self.lives: dict[str, int] = {}
        """How far each earlier life was lived when this one began."""
        self.open: dict[str, tuple[int, int]] = {}
        """The round and the expert of each decision whose label may still be learnt."""
        self.forgotten: dict[str, None] = {}

    def begin_life(self, t: int) -> None:
        """After ``t`` rounds this is a copy."""
        self.lives[self.life] = t
        self.life = secrets.token_hex(8)
        _shorten(self.lives)

    @staticmethod
    def new_id() -> str:
        """128 random bits."""
        return os.urandom(16).hex()

    def forget(self, decision: Decision) -> None:
        """Close a decision whose label will never come."""
        del self.open[str(decision.id)]
        self.forgotten[str(decision.id)] = None
        _shorten(self.forgotten)

    def check(self, decision: Any, expects: tuple[bool, bool], accept_unsigned: bool) -> None:
        """Raise an error unless the label of a decision can be learnt; ``expects`` says whether those of rounds that
        predicted, and of rounds that abstained, may come.
        """
        if not isinstance(decision, Decision):
            raise DecisionError(f"decision: expected a Decision, got {type(decision).__name__}")
        if decision.id is None:
            raise DecisionError("decision: it was only peeked at; `decide` makes decisions that can be learnt")
        if decision.learner != self.learner:
            raise DecisionError(f"decision: expected one of learner {self.learner}, got one of {decision.learner}")
        if not decision.signed_by(self.key):
            if decision.digest is not None or decision._key is not None:
                raise DecisionError(f"decision: round {decision.round} was changed since it was decided")
            if not accept_unsigned or decision.life != FORMAT_1:
                raise DecisionError(
                    f"decision: round {decision.round} carries no digest, so it may have been changed; if it is of "
                    "format 1, which had none, and you trust where it comes from, set learner.accept_unsigned = True"
                )
        if self.open.get(decision.id, (0, 0))[0] != decision.round:
            raise DecisionError(f"decision: round {decision.round} {self._why(decision, expects)}")

    def _why(self, decision: Decision, expects: tuple[bool, bool]) -> str:
        if not expects[decision.abstained]:
            return f"{'abstained' if decision.abstained else 'predicted'}, so its label stays hidden"
        if decision.id in self.forgotten:
            return "is not open: it was forgotten before"
        if decision.life == self.life and len(self.forgotten) < _REMEMBERED:
            return "is not open: it was learnt before"
        if decision.round <= self.lives.get(decision.life, MOST_ROUNDS if decision.life == self.life else 0):
            return "is not open: it was learnt or forgotten before"
        return (
            "is from before a restart, or of another copy of this learner: it was decided after the state that this "
            "learner goes on from was saved, which knows nothing of it"
        )

    def header(self) -> dict[str, Any]:
        """What a file says of it."""
        return {
            "id": self.learner,
            "key": self.key.hex(),
            "life": self.life,
            "lives": self.lives,
            "pending": [[name, t, expert] for name, (t, expert) in self.open.items()],
        }

    @classmethod
    def from_header(cls, header: dict[str, Any], version: int) -> "Identity":
        """What a file of that version says, checked; a `ValueError` says what is wrong."""
        self = cls()
        self.learner, last = _text(header["id"]), header["round"]
        pending = header["pending"]
        if version == 1:
            pending = [[id_of_format_1(self.learner, t), t, -1] for t in _list(pending)]
        else:
            self.key, self.life = bytes.fromhex(_text(header["key"])), _text(header["life"])
            self.lives = {_text(life): _round(t, last, 0) for life, t in dict(header["lives"]).items()}
            if len(self.key) != 32:
                raise ValueError("the key is not of 32 bytes")
        for name, t, expert in _list(pending):
            self.open[_text(name)] = _round(t, last, 1), _round(expert, MOST_ROUNDS, -1)
        if len({t for t, _ in self.open.values()}) < len(pending):
            raise ValueError("a round is pending twice")
        return self


def _shorten(known: dict[str, Any]) -> None:
    """Drop the oldest, if there are too many."""
    if len(known) > _REMEMBERED:
        del known[next(iter(known))]


def _text(value: Any) -> str:
    if type(value) is not str or not 0 < len(value) <= 1000:
        raise ValueError(f"expected a text, got {value!r:.100}")
    return value


def _list(value: Any) -> list[Any]:
    if type(value) is not list:
        raise ValueError(f"expected a list, got {value!r:.100}")
    return value


def _round(value: Any, last: int, least: int) -> int:
    if type(value) is not int or not least <= value <= last:
        raise ValueError(f"expected a number up to {last}, got {value!r:.100}")
    return value


class Choice(NamedTuple):
    """Whom to follow in a round."""

    expert: int
    """Its number."""
    probability: float
    """Of predicting."""
    carry: Array
    """What has to be known of the round when its label comes: bits or floats (n,)."""
    observed: float | None = None
    """The probability that the label is seen; unless given, it follows from that of predicting."""
    explored: bool = False
    """Whether this expert was followed for the sake of the label."""
    over_capacity: bool = False
    """Whether it was followed as one that was drawn would have abstained, and nobody may."""

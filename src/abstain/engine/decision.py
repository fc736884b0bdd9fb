"""Decisions: what a learner decided in a round, how a decision travels as JSON, and whose it is."""

import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from ..errors import DecisionError, FileError
from ..typing import Array, Bools

FORMAT = 1
"""The version of a decision's JSON."""
MOST_ROUNDS = 2**53
"""Rounds up to here are counted exactly, also in floats."""
_ID_BYTES = 16


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Decision:
    """What a learner decided in one round. It never changes.

    `to_json` and `from_json` carry a decision over a restart. Two decisions are equal if their ids are.
    """

    round: int
    """The learner's round, from 1 on."""
    expert: int
    """The index of the expert that was followed."""
    abstained: bool
    """Whether that expert abstained: then the cost is paid and, in the paper's protocol, the label stays hidden."""
    prediction: Any
    """h(x) of that expert (the sign of a binary score is the predicted label); None if it abstained."""
    probability: float
    """The probability of predicting on this input: 1.0 or 0.0 for learners that do not draw at random."""
    cost: float
    """c(x) of this round."""
    predictions: Array
    """h(x) of each predictor (P,)."""
    abstains: Bools
    """Whether each rule abstains on x (A,)."""
    carry: Array
    """What the learner needs of this round when its label comes: its out-neighbours, the ball of x, ..."""
    id: str | None
    """A random id; None for what `peek` shows, which cannot be learnt."""
    learner: str
    """The id of the learner that decided."""
    life: str
    """The learner's life at the time: a new one begins with every copy and every `load`."""
    observed: float
    """The probability that the label of this round is seen, before the expert was drawn."""
    explored: bool
    """Whether this expert replaced the drawn one to see the label."""
    over_capacity: bool
    """Whether this expert replaced a drawn one that abstained, because the capacity was exhausted."""
    format: int = FORMAT
    """The version of the JSON it was read from."""
    digest: str | None = None
    """Of a decision that was read: a digest by the learner's key, which shows whether anything was changed."""
    _key: bytes | None = field(default=None, init=False)
    """Of a decision the learner has just made: the learner's key."""

    def signed_by(self, key: bytes) -> bool:
        """Say whether the learner with this key made this decision and nothing in it was changed."""
        if self._key is not None:
            return self._key == key
        return self.digest is not None and hmac.compare_digest(self.digest, sign(key, self._content()))

    def _content(self) -> dict[str, Any]:
        """All but the digest, as plain values."""
        content = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in ("digest", "_key")}
        for name in ("abstains", "carry"):
            content[name] = _plain(content[name])
        return {**content, "predictions": self.predictions.tolist(), "dtype": self.predictions.dtype.str}

    def to_json(self) -> str:
        """Write the decision as JSON. Floats are read back exactly.

        Returns:
            One line of JSON, signed by the learner's key.
        """
        content = self._content()
        return json.dumps({**content, "digest": self.digest if self._key is None else sign(self._key, content)})

    @classmethod
    def from_json(cls, text: str) -> "Decision":
        """Read a decision that `to_json` wrote.

        Args:
            text: The JSON.

        Returns:
            The decision. Whether anything was changed shows when its label is learnt.

        Raises:
            FileError: If it is not such a JSON.
        """
        try:
            content = json.loads(text)
            if not isinstance(content, dict):
                raise ValueError(f"it is a {type(content).__name__}")
            if type(content.get("format")) is not int or content["format"] != FORMAT:
                raise ValueError(f"its format is {content.get('format')!r:.50}, not {FORMAT}")
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
    """Make an array read-only and return it."""
    array.flags.writeable = False
    return array


def sign(key: bytes, content: dict[str, Any]) -> str:
    """Compute the digest of plain values by a key."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _plain(array: Array) -> Any:
    """Write bits as a text of 0 and 1, numbers as a list."""
    return (array + np.uint8(48)).tobytes().decode() if array.dtype == np.bool_ else array.tolist()


def _dtype(name: Any) -> Any:
    """Read the type of predictions: numbers, or strings (objects if they end with NUL)."""
    if type(name) is not str or not re.fullmatch(r"[<>|][fiub][1248]|[<>]U[0-9]{1,7}|\|O", name):
        raise ValueError(f"dtype is {name!r:.20}")
    return np.dtype(name)


def _array(value: Any, name: str) -> Array:
    """Read what `_plain` wrote."""
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


_REMEMBERED = 10_000
"""How many forgotten decisions, and how many earlier lives, are told apart; older ones are refused all the same."""


class Identity:
    """The ids of a learner, of its life and of its open decisions, and the key that signs decisions.

    Every copy of a learner begins its own life, so that it never takes another copy's decision for its own. Decisions
    that were open at the time of the copy are open in both.
    """

    def __init__(self) -> None:
        self.learner = secrets.token_hex(16)
        self.key = secrets.token_bytes(32)
        self.life = secrets.token_hex(8)
        self.lives: dict[str, int] = {}
        """The last round of each earlier life."""
        self.open: dict[str, tuple[int, int]] = {}
        """The round and the expert of each decision whose label may still be learnt."""
        self.forgotten: dict[str, None] = {}

    def begin_life(self, t: int) -> None:
        """Become a copy after ``t`` rounds."""
        self.lives[self.life] = t
        self.life = secrets.token_hex(8)
        _shorten(self.lives)

    @staticmethod
    def new_id() -> str:
        """Draw 128 random bits."""
        return os.urandom(_ID_BYTES).hex()

    def forget(self, name: str) -> None:
        """Close a decision whose label will never come, by its id."""
        del self.open[name]
        self.forgotten[name] = None
        _shorten(self.forgotten)

    def check(self, decision: Any, chances: tuple[float, float]) -> None:
        """Raise an error unless the label of a decision can be learnt.

        Args:
            decision: Whatever the user gave.
            chances: The probabilities that a label comes after predicting and after abstaining.
        """
        if not isinstance(decision, Decision):
            raise DecisionError(f"decision: expected a Decision, got {type(decision).__name__}")
        if decision.id is None:
            raise DecisionError("decision: it was only peeked at; `decide` makes decisions that can be learnt")
        if decision.learner != self.learner:
            raise DecisionError(f"decision: expected one of learner {self.learner}, got one of {decision.learner}")
        if not decision.signed_by(self.key):
            raise DecisionError(f"decision: round {decision.round} was changed since it was decided")
        if self.open.get(decision.id, (0, 0))[0] != decision.round:
            raise DecisionError(f"decision: round {decision.round} {self._why_closed(decision, chances)}")

    def _why_closed(self, decision: Decision, chances: tuple[float, float]) -> str:
        if chances[decision.abstained] == 0.0:
            return f"{'abstained' if decision.abstained else 'predicted'}, so its label stays hidden"
        if decision.id in self.forgotten:
            return "is not open: it was forgotten before"
        if decision.life == self.life and len(self.forgotten) < _REMEMBERED:
            return "is not open: it was learnt before"
        if decision.round <= self.lives.get(decision.life, MOST_ROUNDS if decision.life == self.life else 0):
            return "is not open: it was learnt or forgotten before"
        return (
            "is from before a restart, or of another copy of this learner: it was decided after the state that this "
            "learner goes on from was saved"
        )

    def to_file(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Describe the identity as a header of plain values and arrays."""
        header = {"id": self.learner, "key": self.key.hex(), "life": self.life, "lives": dict(self.lives)}
        names = b"".join(bytes.fromhex(name) for name in self.open)
        return header, {
            "pending.ids": np.frombuffer(names, np.uint8).reshape(-1, _ID_BYTES),
            "pending.rounds": np.array([t for t, _ in self.open.values()], np.int64),
            "pending.experts": np.array([expert for _, expert in self.open.values()], np.int64),
        }

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Mapping[str, Array], last: int) -> "Identity":
        """Read what `to_file` wrote and check it; a `ValueError` says what is wrong.

        Args:
            header: The file's header.
            arrays: The file's arrays.
            last: The number of rounds decided.
        """
        self = cls()
        self.learner, self.life = _text(header["id"]), _text(header["life"])
        self.key = bytes.fromhex(_text(header["key"]))
        if len(self.key) != 32:
            raise ValueError(f"the key has {len(self.key)} bytes, not 32")
        for life, t in dict(header["lives"]).items():
            if type(t) is not int or not 0 <= t <= last:
                raise ValueError(f"a life ended in round {t!r:.100} of {last}")
            self.lives[_text(life)] = t
        names, rounds, experts = (arrays[f"pending.{part}"] for part in ("ids", "rounds", "experts"))
        n = len(rounds)
        expected = (np.uint8, (n, _ID_BYTES)), (np.int64, (n,)), (np.int64, (n,))
        for array, (dtype, shape) in zip((names, rounds, experts), expected, strict=True):
            if array.dtype != dtype or array.shape != shape:
                raise ValueError(f"pending decisions are {array.dtype} {array.shape}")
        if n > 0 and (rounds.min() < 1 or rounds.max() > last or experts.min() < 0):
            raise ValueError(f"pending decisions are not of the rounds 1 to {last}, or of experts below 0")
        entries = zip(names, rounds.tolist(), experts.tolist(), strict=True)
        self.open = {name.tobytes().hex(): (t, expert) for name, t, expert in entries}
        if len(self.open) < n or len(np.unique(rounds)) < n:
            raise ValueError("a decision is pending twice")
        return self


def _shorten(known: dict[str, Any]) -> None:
    """Drop the oldest if there are too many."""
    if len(known) > _REMEMBERED:
        del known[next(iter(known))]


def _text(value: Any) -> str:
    if type(value) is not str or not 0 < len(value) <= 1000:
        raise ValueError(f"expected a text, got {value!r:.100}")
    return value


class Choice(NamedTuple):
    """The expert that a learner follows in a round; see `Learner.choose`."""

    expert: int
    """The index of the expert."""
    probability: float
    """The probability of predicting, before the expert was drawn."""
    carry: Array
    """What the learner needs of the round when its label comes: bits or floats (n,)."""
    observed: float | None = None
    """The probability that the label is seen; by default it follows from the probability of predicting."""
    explored: bool = False
    """Whether this expert replaced the drawn one to see the label."""
    over_capacity: bool = False
    """Whether this expert replaced a drawn one that abstained, because the capacity was exhausted."""

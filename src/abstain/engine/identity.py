"""Whose a decision is, and whether its label can still be learnt."""

import os
import secrets
from typing import Any

from ..errors import DecisionError
from .decision import FORMAT_1, MOST_ROUNDS, Decision, id_of_format_1

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

"""What models answer, and which true labels come back."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._core.validation import as_number, is_number
from ..engine.feedback import as_feedback, chances_of
from ..errors import DecisionError, InputError, LabelError, shown

Plain: TypeAlias = str | int | float | bool
"""A class or a number, as JSON keeps it."""

CLASSES, BINARY, NUMBER = "classes", "binary", "number"
TASKS = (CLASSES, BINARY, NUMBER)
ANSWER, REVIEW = "answer", "review"

COLUMNS = LABEL, STAKE, TIME = "label", "stake", "time"
ENDS = SURE, ERROR = "_confidence", "_error"
"""The endings of the name of a model's second column in a frame."""


def as_names(models: Any) -> list[str]:
    """Return the names of models as a list.

    Raises:
        InputError: Unless these are one or more different texts that no other column of a frame has for a name, and
            that UTF-8 can encode.
    """
    names = list(models) if isinstance(models, (list, tuple)) else []
    if not names or not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        raise InputError(f"models: expected a list of different names, got {shown(models)}")
    for name in names:
        if not is_text(name):
            raise InputError(f"models: expected names that UTF-8 can encode, got {shown(name)}")
    taken = {*COLUMNS, *(f"{name}{end}" for name in names for end in ENDS)}
    if taken & set(names):
        raise InputError(f"models: {shown(min(taken & set(names)))} is the name of another column of frames")
    return names


def is_text(value: str) -> bool:
    """Return whether UTF-8 can encode a text: half of a surrogate pair is no character."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


class Said(NamedTuple):
    """What a model said in a case."""

    answer: Plain
    confidence: float


_NOT_NAMED = object()
_AS_THEY_ARE = frozenset({str, bool, int})
"""Types of answers that need no look inside."""


class Task:
    """How to read answers: classes with a confidence, probabilities of one of two classes, or numbers with an error."""

    def __init__(self, task: str, classes: Sequence[Any] | None, max_error: float) -> None:
        if not isinstance(task, str) or task not in TASKS:
            raise InputError(f"task: expected one of {', '.join(TASKS)}, got {shown(task)}")
        known: tuple[Any, ...] | None
        if classes is None:
            known = (0, 1) if task == BINARY else None
        else:
            listed = isinstance(classes, (list, tuple, np.ndarray))
            known = tuple(_plain(one) for one in classes) if listed else ()
            if len(set(known)) != len(known) or len(known) < 2 or any(one is None for one in known):
                raise InputError(f"classes: expected two or more different ones, got {shown(classes)}")
            if task == NUMBER or (task == BINARY and len(known) != 2):
                number = "two" if task == BINARY else "none"
                raise InputError(f"classes: expected {number} for {task}, got {shown(classes)}")
        self.kind = task
        self.classes = known
        self._known = frozenset(known or ())
        self.two = task != NUMBER and known is not None and len(known) == 2
        """Whether there are two classes. The second is the positive one."""
        self.max_error = as_number(max_error, "max_error", "a number above 0", lambda most: 0.0 < most < math.inf)

    def read_all(self, answers: Any, models: Sequence[str]) -> list[Said | None]:
        """Return what each model said; None for a model without an answer.

        Args:
            answers: A dictionary from names of models to what they said. A model that it does not name has no answer.
            models: The names of all models.

        Raises:
            InputError: If a name is unknown, or an answer is out of range.
        """
        if not isinstance(answers, Mapping):
            raise InputError(
                f"answers: expected a dictionary from models to what they say, got {type(answers).__name__}"
            )
        said, found = [], 0
        for model in models:
            given = answers.get(model, _NOT_NAMED)
            if given is not _NOT_NAMED:
                found += 1
            said.append(None if given is None or given is _NOT_NAMED else self.read(model, given))
        if found < len(answers):
            unknown = next(name for name in answers if name not in models)
            raise InputError(f"answers: expected the models {', '.join(models)}, got {shown(unknown)}")
        return said

    def read(self, model: str, given: Any) -> Said | None:
        """Return what a model said; None for None, NaN, or a pair with one of them."""
        if type(given) is tuple and len(given) == 2 and self.kind != NUMBER:  # what most callers give
            answer, sure = given
            known = type(answer) in _AS_THEY_ARE and (self.classes is None or answer in self._known)
            if known and type(sure) is float and 0.0 <= sure <= 1.0:
                return Said(answer, sure)
        if _missing(given):
            return None
        if is_number(given):
            if not self.two:
                raise InputError(f"{model}: expected an answer and {self._certainty}, got {shown(given)} alone")
            return self._of_probability(model, float(given))
        if not isinstance(given, (tuple, list)) or len(given) != 2:
            raise InputError(f"{model}: expected an answer and {self._certainty}, got {shown(given)}")
        answer, sure = given
        if _missing(answer) or _missing(sure):
            return None
        if self.kind == NUMBER:
            number = as_number(answer, model, "a finite number")
            error = as_number(sure, model, "an expected error of 0 or more", lambda error: 0.0 <= error < math.inf)
            return Said(number, 1.0 - min(1.0, error / self.max_error))
        said = _plain(answer)
        if said is None or (self.classes is not None and said not in self._known):
            raise InputError(f"{model}: expected {self._a_class}, got {shown(answer)}")
        return Said(said, as_number(sure, model, "a confidence in [0, 1]", lambda sure: 0.0 <= sure <= 1.0))

    def _of_probability(self, model: str, given: float) -> Said:
        assert self.classes is not None
        p = as_number(given, model, f"the probability of {self.classes[1]!r}, in [0, 1]", lambda p: 0.0 <= p <= 1.0)
        return Said(self.classes[int(p >= 0.5)], max(p, 1.0 - p))

    @property
    def _certainty(self) -> str:
        return "its expected error" if self.kind == NUMBER else "a confidence, as a pair"

    @property
    def _a_class(self) -> str:
        return "a text or a whole number" if self.classes is None else f"one of {shown(self.classes)}"

    def label(self, given: Any, answers: Iterable[Plain | None] = ()) -> Plain:
        """Return the true label of a case; raise a `LabelError` if it cannot be one.

        Args:
            given: The label.
            answers: What the models said. Without a list of classes, a number is no label of a case with texts for
                answers, nor a text of one with numbers: no answer would ever be right.
        """
        if self.kind == NUMBER:
            if not is_number(given) or not math.isfinite(given):
                raise LabelError(f"label: expected a finite number, got {shown(given)}")
            return float(given)
        label: Plain | None = given if type(given) is str else _plain(given)
        if label is None or (self.classes is not None and label not in self._known):
            raise LabelError(f"label: expected {self._a_class}, got {shown(given)}")
        if self.classes is None:
            said = [answer for answer in answers if answer is not None]
            if said and all(isinstance(answer, str) != isinstance(label, str) for answer in said):
                kind = "a text" if isinstance(said[0], str) else "a number"
                raise LabelError(
                    f"label: expected {kind}, as the answers are (such as {shown(said[0])}), got {shown(given)}"
                )
        return label

    def sign(self, said: Said | None) -> float:
        """Return, for two classes, +1 for the second and -1 for the first; else, and without an answer, 0."""
        if said is None or not self.two:
            return 0.0
        assert self.classes is not None
        return 1.0 if said.answer == self.classes[1] else -1.0


def _missing(given: Any) -> bool:
    return given is None or (isinstance(given, (float, np.floating)) and math.isnan(given))


def _plain(value: Any) -> Any:
    """Return a class as JSON keeps it; None if it cannot be one."""
    if isinstance(value, np.generic):
        value = value.item()
    whole = isinstance(value, float) and value.is_integer()
    return value if isinstance(value, (str, bool, int)) or whole else None


NAMES = {"answered": "predicted", "reviewed": "abstained", "both": "both"}
"""The gate's names for the learners' feedback."""
FLOOR, REVIEWED_FLOOR = 0.005, 0.02
"""The least probability of seeing a label; larger if only reviews bring labels."""
SOURCES = ("review", "outcome", "audit")


class Labels:
    """Which labels come back.

    >>> Labels("both").feedback, Labels((0.05, 1)).given, Labels((0, 1)).feedback
    ('both', (0.05, 1.0), 'abstained')
    """

    def __init__(self, labels: Any) -> None:
        expected = f"one of {', '.join(NAMES)}, or two probabilities (after answering, after a review), not both 0"
        if isinstance(labels, str):
            if labels not in NAMES:
                raise InputError(f"labels: expected {expected}, got {shown(labels)}")
            self.given: str | tuple[float, float] = labels
            self.feedback: Any = NAMES[labels]
        else:
            try:
                self.feedback = as_feedback(labels)
            except InputError:
                raise InputError(f"labels: expected {expected}, got {shown(labels)}") from None
            self.given = float(labels[0]), float(labels[1])
        answered, reviewed = chances_of(self.feedback)
        self.after = {ANSWER: answered, REVIEW: reviewed}
        """The probability that the label comes, for each action."""
        self._sources = set(SOURCES)
        """Where labels may come from: if some labels of answers come, it is by an audit, which chooses at random."""
        if answered == 0.0:
            self._sources = {"review"}
        elif reviewed == 0.0:
            self._sources = {"outcome", "audit"}
        if 0.0 < answered < 1.0:
            self._sources -= {"outcome"}
        self.floor = min(max(answered, reviewed), FLOOR if answered > 0.0 else REVIEWED_FLOOR)
        """The least probability of seeing a label that the gate keeps to."""

    def counts(self, source: str | None, action: str) -> bool:
        """Return whether a gate learns from labels of this source and action."""
        return self.after[action] > 0.0 and (source is None or source in self._sources)

    def check(self, source: Any, action: str) -> None:
        """Raise an error unless a label may come from ``source`` for a case with that action."""
        if source is not None:
            if not isinstance(source, str) or source not in SOURCES:
                raise InputError(f"source: expected one of {', '.join(SOURCES)}, got {shown(source)}")
            if (source == "review" and action != REVIEW) or (source == "audit" and action != ANSWER):
                raise DecisionError(f"source: the case's action is {action!r}, so its label cannot be from {source!r}")
        if self.after[action] == 0.0:
            what, other = ("reviewed", "answered") if action == REVIEW else ("answered", "reviewed")
            raise DecisionError(
                f"label: the gate was made with labels={self.given!r}, so it learns only from cases that were {other}, "
                f'got one that was {what}; labels="both" learns from either'
            )
        if source is not None and source not in self._sources:
            raise DecisionError(
                f"source: expected {' or '.join(sorted(self._sources))} with labels={self.given!r}, got {source!r}"
            )

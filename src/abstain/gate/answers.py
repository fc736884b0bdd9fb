"""What models say: an answer and how certain they are of it."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._core.validation import as_number, is_number
from ..errors import InputError, LabelError, shown

Plain: TypeAlias = str | int | float | bool
"""A class or a number, as JSON keeps it."""

CLASSES, BINARY, NUMBER = "classes", "binary", "number"
TASKS = (CLASSES, BINARY, NUMBER)


class Said(NamedTuple):
    """What a model said in a case."""

    answer: Plain
    confidence: float


class Task:
    """How answers are to be read: classes with a confidence, probabilities of one of two classes, numbers with the
    error that is expected of them.
    """

    def __init__(self, task: str, classes: Sequence[Any] | None, max_error: float) -> None:
        if not isinstance(task, str) or task not in TASKS:
            raise InputError(f"task: expected one of {', '.join(TASKS)}, got {shown(task)}")
        if classes is None:
            known = (0, 1) if task == BINARY else None
        else:
            listed = isinstance(classes, (list, tuple, np.ndarray))
            known = tuple(_plain(one) for one in classes) if listed else ()
            if len(set(known)) != len(known) or len(known) < 2 or any(one is None for one in known):
                raise InputError(f"classes: expected two or more different ones, got {shown(classes)}")
            if task == NUMBER or (task == BINARY and len(known) != 2):
                raise InputError(
                    f"classes: expected {'two' if task == BINARY else 'none'} for {task}, got {len(known)}"
                )
        self.classes: tuple[Any, ...] | None = known
        self._known = frozenset(known or ())
        self.two = task != NUMBER and known is not None and len(known) == 2
        """Whether there are two classes: the second is the positive one."""
        self.kind = task
        self.max_error = as_number(
            max_error, "max_error", "a number above 0", lambda most: 0.0 < most < math.inf
        )  # fmt: skip

    def read(self, model: str, given: Any) -> Said | None:
        """What a model said; None where it has no answer (None, NaN, or such a part of it)."""
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
            return Said(number, self.sureness(error))
        said = _plain(answer)
        if said is None or (self.classes is not None and said not in self._known):
            raise InputError(f"{model}: expected {self._a_class}, got {shown(answer)}")
        return Said(said, as_number(sure, model, "a confidence in [0, 1]", lambda sure: 0.0 <= sure <= 1.0))

    def _of_probability(self, model: str, given: float) -> Said:
        assert self.classes is not None
        p = as_number(given, model, f"the probability of {self.classes[1]!r}, in [0, 1]", lambda p: 0.0 <= p <= 1.0)
        return Said(self.classes[int(p >= 0.5)], max(p, 1.0 - p))

    def sureness(self, error: float) -> float:
        """The confidence in a number whose error is expected to be so large."""
        return 1.0 - min(1.0, error / self.max_error)

    @property
    def _certainty(self) -> str:
        return "its expected error" if self.kind == NUMBER else "a confidence, as a pair"

    @property
    def _a_class(self) -> str:
        return "a text or a whole number" if self.classes is None else f"one of {shown(self.classes)}"

    def label(self, given: Any) -> Plain:
        """The truth of a case."""
        if self.kind == NUMBER:
            if not is_number(given) or not math.isfinite(given):
                raise LabelError(f"label: expected a finite number, got {shown(given)}")
            return float(given)
        label: Plain | None = _plain(given)
        if label is None or (self.classes is not None and label not in self._known):
            raise LabelError(f"label: expected {self._a_class}, got {shown(given)}")
        return label

    def sign(self, said: Said | None) -> float:
        """With two classes: +1 for the second, -1 for the first; else, and without an answer, 0."""
        if said is None or not self.two:
            return 0.0
        assert self.classes is not None
        return 1.0 if said.answer == self.classes[1] else -1.0


def _missing(given: Any) -> bool:
    return given is None or (isinstance(given, (float, np.floating)) and math.isnan(given))


def _plain(value: Any) -> Any:
    """A class as JSON keeps it; None if it cannot be one."""
    if isinstance(value, np.generic):
        value = value.item()
    whole = isinstance(value, float) and value.is_integer()
    return value if isinstance(value, (str, bool, int)) or whole else None


def check_names(answers: Any, models: Sequence[str]) -> Mapping[str, Any]:
    """Answers by the names of models; a name that no model has is refused, a model that is not named has no answer."""
    if not isinstance(answers, Mapping):
        raise InputError(f"answers: expected a dictionary from models to what they say, got {type(answers).__name__}")
    if not answers.keys() <= set(models):
        unknown = next(name for name in answers if name not in models)
        raise InputError(f"answers: expected the models {', '.join(models)}, got {shown(unknown)}")
    return answers

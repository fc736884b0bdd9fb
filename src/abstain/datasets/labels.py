"""Two labels of any kind as -1 and +1."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError
from .known import KnownSet


def as_signs(labels: NDArray[Any], known: KnownSet, path: Path) -> NDArray[np.int8]:
    """-1 and +1 for the two values of ``labels``.

    +1 is the value that the registry names for this set; if it names neither, the greater of two numbers (so that -1
    and +1 always stay). Of two words that it does not know none is taken.
    """
    values, place = np.unique(labels, return_inverse=True)
    texts = [_text(value) for value in values]
    if len(values) != 2:
        shown = ", ".join(texts[:5]) + (", ..." if len(texts) > 5 else "")
        what = "one class only" if len(values) == 1 else f"{len(values)} classes"
        raise FileError(f"{path}: expected labels of two values, got {what}: {shown}")
    if (texts[0] in known.positive) != (texts[1] in known.positive):
        first = texts[0] in known.positive
    elif labels.dtype.kind in "fiub":
        first = False
    else:
        expected = " or ".join(known.positive)
        raise FileError(
            f"{path}: expected the label {expected} for +1 ({known.meaning}), got {texts[0]} and {texts[1]}"
        )
    return np.where((place.reshape(-1) == 0) == first, 1, -1).astype(np.int8)


def _text(value: Any) -> str:
    """Equal for 1, 1.0 and True."""
    return str(value).strip().lower() if isinstance(value, str) else f"{float(value):g}"

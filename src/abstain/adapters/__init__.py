"""The gate for people who work with scikit-learn or river. Each adapter is imported on its own.

``from abstain.adapters.sklearn import GateClassifier`` or ``from abstain.adapters.river import GateClassifier``.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

COST = 0.2
"""The price of a review, relative to a mistake, if no price is given."""


def named(models: Sequence[Any]) -> list[tuple[str, Any]]:
    """Name models by their class in lower case, with a number if several have the same class.

    >>> [name for name, _ in named([1.5, "x", 2.5])]
    ['float-1', 'str', 'float-2']
    """
    words = [type(model).__name__.lower() for model in models]
    several, seen, found = Counter(words), Counter[str](), []
    for word, model in zip(words, models, strict=True):
        seen[word] += 1
        found.append((word if several[word] == 1 else f"{word}-{seen[word]}", model))
    return found

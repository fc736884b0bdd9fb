"""Front doors to the gate for those who work with scikit-learn or river; each is imported by itself.

``from abstain.adapters.sklearn import GateClassifier`` or ``from abstain.adapters.river import GateClassifier``.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ..gate import Gate


def named(models: Sequence[Any]) -> list[tuple[str, Any]]:
    """Each with the name of its class in lower case, and a number where there are several of one.

    >>> [name for name, _ in named([1.5, "x", 2.5])]
    ['float-1', 'str', 'float-2']
    """
    words = [type(model).__name__.lower() for model in models]
    several, seen, found = Counter(words), Counter[str](), []
    for word, model in zip(words, models, strict=True):
        seen[word] += 1
        found.append((word if several[word] == 1 else f"{word}-{seen[word]}", model))
    return found


def heaviest(gate: Gate) -> tuple[str, float | None]:
    """The model and the threshold with the largest weight (with the least cost, where there are no weights); a
    threshold of None reviews always.

    >>> heaviest(Gate(["a", "b"], cost=0.2, thresholds=[0.5]))
    ('a', -1.0)
    """
    best = gate.policy().row(0, named=True)
    return best["model"], best["threshold"]


def answering(gate: Gate) -> Iterator[str]:
    """The models, by their heaviest threshold that is not "always review"."""
    policy = gate.policy()
    yield from policy.filter(policy["threshold"].is_not_null())["model"].unique(maintain_order=True)

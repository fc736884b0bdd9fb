"""Whom a gate follows most, without a draw."""

from collections.abc import Iterator

from ..gate import Gate


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

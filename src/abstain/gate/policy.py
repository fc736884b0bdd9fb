"""What a gate has learnt, for people."""

from typing import TYPE_CHECKING

import numpy as np

from ..experts.levels import ALWAYS_ANSWER, ALWAYS_REVIEW
from ..typing import Floats
from .answers import NUMBER
from .levels import as_text

if TYPE_CHECKING:
    import polars as pl

    from .gate import Gate


def shares(gate: "Gate") -> Floats:
    """The share of cases in which each model was more certain than each of its thresholds (P, L)."""
    above = np.cumsum(gate.counts[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(above[:, 1:] / np.maximum(above[:, :1], 1))


def frame(gate: "Gate") -> "pl.DataFrame":
    """See `Gate.policy`."""
    import polars as pl

    learner, n_levels = gate.learner, gate.levels.shape[1]
    with learner.lock:
        weights = getattr(learner, "weights", None)
        prices = getattr(learner, "estimates", getattr(learner, "means", None))
        table = pl.DataFrame(
            {
                "model": np.repeat(gate.models, n_levels),
                "threshold": gate.levels.ravel(),
                "weight": np.full(gate.levels.size, np.nan) if weights is None else weights,
                "cost": np.full(gate.levels.size, np.nan) if prices is None else np.clip(prices, 0.0, 1.0) * gate.unit,
                "share": shares(gate).ravel(),
            }
        )
    table = table.with_columns(
        pl.when(pl.col("threshold") < ALWAYS_REVIEW).then("threshold").alias("threshold"),
        pl.col("weight", "cost").fill_nan(None),
    )
    by = ["cost"] if weights is None else ["weight"]
    return table.sort(by, descending=weights is not None, nulls_last=True, maintain_order=True)


def sentence(gate: "Gate") -> str:
    """The heaviest model and threshold, in words."""
    if gate.counts.sum() == 0:
        return f"follows {', '.join(gate.models)}; has decided nothing yet"
    best = frame(gate).row(0, named=True)
    price = "" if best["cost"] is None else f"; {best['cost']:.3g} a case"
    if best["threshold"] is None:
        return f"sends every case to review{price}"
    return f"answers with {best['model']} {_when(gate, best['threshold'])}, {100 * best['share']:.0f} % of cases{price}"


def _when(gate: "Gate", threshold: float) -> str:
    if threshold == ALWAYS_ANSWER:
        return "always"
    if gate.task.kind == NUMBER and gate.prices.most_stake is None:  # in the user's own unit
        return f"from an expected error of {(1.0 - threshold) * gate.task.most_error:.3g} down"
    return f"from confidence {as_text(threshold)} on"

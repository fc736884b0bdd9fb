"""What a gate has learnt, as a table and as a sentence."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.extras import need
from ..engine import Report
from ..errors import InputError, shown
from ..experts.columns import ALWAYS_ANSWER, ALWAYS_REVIEW
from ..typing import Floats
from .answers import NUMBER
from .experts import threshold_text
from .prices import Prices

if TYPE_CHECKING:
    import polars as pl


class Row(NamedTuple):
    """A model with one of its thresholds."""

    model: str
    threshold: float | None
    """None: reviews every case."""
    weight: float | None
    """None if the learner reports none."""
    price: float | None
    """The estimated price per case; None if the learner reports none."""
    share: float
    """The share of cases that it would have answered."""


@dataclass(frozen=True)
class Policy:
    """What a gate had learnt at one moment."""

    models: tuple[str, ...]
    thresholds: Floats
    """(P, L)"""
    shares: Floats
    """The share of cases in which each model was more certain than each of its thresholds (P, L)."""
    report: Report
    """What the learner reports of its experts (P L)."""
    prices: Prices

    def __post_init__(self) -> None:
        if not isinstance(self.report, Report):
            raise InputError(f"learner: expected its report() to return a Report, got {shown(self.report)}")
        for name, values in self.report._asdict().items():
            if values is not None and np.shape(values) != (self.thresholds.size,):
                raise InputError(f"report: expected {name} of shape ({self.thresholds.size},), got {np.shape(values)}")

    @property
    def known(self) -> bool:
        """Whether the learner reports anything that tells models apart."""
        weights, estimates = self.report
        return weights is not None or (estimates is not None and not np.isnan(estimates).all())

    @property
    def unlabelled(self) -> bool:
        """Whether the learner estimates prices, and knows none yet."""
        return self.report.estimates is not None and bool(np.isnan(self.report.estimates).all())

    def rows(self) -> list[Row]:
        """Return all models and thresholds: the heaviest first, or the cheapest; in their order if neither is known."""
        weights, estimates = self.report
        order = np.arange(self.thresholds.size)
        if weights is not None:
            order = np.argsort(-weights, kind="stable")
        elif estimates is not None:
            order = np.argsort(np.clip(estimates, 0.0, 1.0), kind="stable")  # NaN last
        shares, thresholds, per_model = (
            self.shares.ravel().tolist(),
            self.thresholds.ravel().tolist(),
            self.shares.shape[1],
        )
        prices = None if estimates is None else np.clip(estimates, 0.0, 1.0) * self.prices.unit
        return [
            Row(
                self.models[k // per_model],
                thresholds[k] if thresholds[k] < ALWAYS_REVIEW else None,
                None if weights is None else float(weights[k]),
                None if prices is None or np.isnan(prices[k]) else float(prices[k]),
                shares[k],
            )
            for k in order.tolist()
        ]

    def answering(self) -> list[str]:
        """Return the models in the order of their heaviest threshold that answers at all."""
        return list(dict.fromkeys(row.model for row in self.rows() if row.threshold is not None))

    def frame(self) -> "pl.DataFrame":
        """Return the rows as a frame."""
        need("polars", "gate.policy", "cli")
        import polars as pl

        types: dict[str, Any] = {"model": pl.String} | dict.fromkeys(Row._fields[1:], pl.Float64)
        return pl.DataFrame(self.rows(), schema=types, orient="row")

    def sentence(self) -> str:
        """Return the first row in words; it must be known."""
        best = self.rows()[0]
        price = "" if best.price is None else f"; {best.price:.3g} per case"
        if best.threshold is None:
            return f"sends every case to review{price}"
        return (
            f"answers with {best.model} {when(best.threshold, self.prices)}, {100 * best.share:.0f} % of cases{price}"
        )


def when(threshold: float, prices: Prices) -> str:
    """Return in words when a model and its threshold answer."""
    task = prices.task
    if threshold == ALWAYS_ANSWER:
        return "always"
    if prices.staked:  # thresholds are limits on doubt times price
        return f"up to an expected loss of {(1.0 - threshold) * prices.unit:.3g}"
    if task.kind == NUMBER:  # in the user's own unit
        return f"below an expected error of {(1.0 - threshold) * task.max_error:.3g}"
    return f"above confidence {threshold_text(threshold)}"

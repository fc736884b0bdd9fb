"""Why a gate loses, where that is known."""

from dataclasses import dataclass

from .naming import money, per_cent
from .result import Policy

FEW = 5_000
"""Rows below which there is little to learn from."""
BETTER = 0.005
"""Of the loss: re-tuning helps if it saves so much."""
SMALL = 0.01
"""Of the largest stake: a review that costs less is lost beside it."""


@dataclass(frozen=True)
class Setting:
    """What the verdict depends on besides the losses."""

    rows: int
    scored_rows: int
    labels: str
    share: float | None
    late: bool
    """Whether most labels came after a tenth of the rows, or more."""
    price: float
    unit: str
    cost: float = 0.2
    """Of a review, relative to the largest mistake."""
    stakes: bool = False
    """Whether mistakes cost what a column says."""


def beyond(tuned: Policy, setting: Setting) -> str | None:
    """That the threshold needs more reviewers than there are."""
    if setting.share is None or not tuned.beyond(setting.share):
        return None
    return (
        f"that threshold sends {per_cent(tuned.reviewed)} to review, more than the {per_cent(setting.share)} there is "
        "capacity for, so it could not have been kept"
    )


def reasons(tuned: Policy, retuned: Policy, setting: Setting) -> list[str]:
    """What is known to make a gate lose; the surest first."""
    found = []
    if setting.stakes and setting.cost < SMALL:
        found.append(
            f"a few mistakes cost very much ({money(1.0, setting.price, setting.unit)}, a review only "
            f"{money(setting.cost, setting.price, setting.unit)}), and everything is learnt relative to the largest, "
            "so that learning is slow"
        )
    if setting.labels == "reviewed":
        found.append("labels come from reviews only, so that learning has to be paid for")
    if setting.rows < FEW:
        found.append(f"{setting.rows:,} rows are few to learn from")
    if not setting.late and retuned.loss > (1.0 - BETTER) * tuned.loss:
        found.append(
            "nothing drifts here (re-tuning with all labels does not help either), so that one threshold lasts"
        )
    if setting.late:
        found.append("labels come so late that most of the log is over before they do")
    return found

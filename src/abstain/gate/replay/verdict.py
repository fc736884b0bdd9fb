"""One sentence: what the gate saves or costs, and why, where that is known."""

from dataclasses import dataclass

from .naming import money, per_cent
from .outcome import ALL, GATE, TUNED
from .result import Policy

FEW = 5_000
"""Rows below which there is little to learn from."""
BETTER = 0.005
"""Of the loss: re-tuning helps if it saves so much."""


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


def verdict(policies: list[Policy], setting: Setting) -> str:
    """The gate against the threshold tuned once."""
    gate, tuned, retuned = (next(one for one in policies if one.kind == kind) for kind in (GATE, TUNED, ALL))
    assert gate.difference is not None
    assert gate.low is not None
    assert gate.high is not None
    costs = f"The gate costs {money(gate.loss, setting.price, setting.unit)} a case"
    against = f"the threshold tuned on the first tenth ({money(tuned.loss, setting.price, setting.unit)})"
    if gate.low <= 0.0 <= gate.high:
        sentence = f"{costs}, about as much as {against}: the difference of {_share(gate, tuned)} is within chance"
        reasons = _reasons(tuned, retuned, setting)
        return f"{sentence}{'; ' + reasons[0] if reasons else ''}."
    total = money(abs(gate.difference) * setting.scored_rows, setting.price, setting.unit)
    if setting.price == 1.0 and not setting.unit:
        total = f"what {total} mistakes cost"
    if gate.difference < 0.0:
        return (
            f"{costs}, {_share(gate, tuned)} less than {against}: it saves {total} on "
            f"{setting.scored_rows:,} cases{_interval(gate, tuned)}."
        )
    reasons = _reasons(tuned, retuned, setting)
    because = "; ".join(reasons) if reasons else "no reason for it is known"
    return f"{costs}, {_share(gate, tuned)} more than {against}{_interval(gate, tuned)}: {because}."


def _share(gate: Policy, tuned: Policy) -> str:
    assert gate.difference is not None
    return per_cent(abs(gate.difference) / tuned.loss) if tuned.loss > 0.0 else "any share"


def _interval(gate: Policy, tuned: Policy) -> str:
    assert gate.low is not None
    assert gate.high is not None
    if tuned.loss <= 0.0:
        return ""
    ends = sorted(abs(end) / tuned.loss for end in (gate.low, gate.high))
    return f" (95 % interval: {per_cent(ends[0])} to {per_cent(ends[1])})"


def _reasons(tuned: Policy, retuned: Policy, setting: Setting) -> list[str]:
    """What is known to make a gate lose; the surest first."""
    reasons = []
    if setting.share is not None and tuned.reviewed > setting.share:
        reasons.append(
            f"the capacity leaves it {per_cent(setting.share)} of cases to review, and the threshold takes "
            f"{per_cent(tuned.reviewed)}"
        )
    if setting.labels == "reviewed":
        reasons.append("labels come from reviews only, so that learning has to be paid for")
    if setting.rows < FEW:
        reasons.append(f"{setting.rows:,} rows are few to learn from")
    if retuned.loss > (1.0 - BETTER) * tuned.loss:
        reasons.append(
            "nothing drifts here (re-tuning with all labels does not help either), so that one threshold lasts"
        )
    if setting.late:
        reasons.append("labels come so late that most of the log is over before they do")
    return reasons

"""One sentence: what the gate saves or costs, and why, where that is known."""

from .naming import money, per_cent
from .outcome import ALL, GATE, OWN, TUNED
from .reasons import Setting, beyond, reasons
from .result import Policy


def verdict(policies: list[Policy], setting: Setting) -> str:
    """The gate against the threshold tuned once."""
    gate, tuned, retuned = (_of(policies, kind) for kind in (GATE, TUNED, ALL))
    assert gate.difference is not None
    assert gate.low is not None
    assert gate.high is not None
    costs = f"The gate costs {money(gate.loss, setting.price, setting.unit)} a case"
    against = (
        f"one threshold, set once on the first tenth of the log ({money(tuned.loss, setting.price, setting.unit)})"
    )
    too_much = beyond(tuned, setting)
    why = ([too_much] if too_much else []) + reasons(tuned, retuned, setting)
    if gate.low <= 0.0 <= gate.high:
        if gate.difference == 0.0:
            return f"{costs}, exactly as much as {against}."
        sentence = f"{costs}, about as much as {against}: the difference of {_share(gate, tuned)} is within chance"
        return f"{sentence}{'; ' + why[0] if why else ''}."
    total = money(abs(gate.difference) * setting.scored_rows, setting.price, setting.unit)
    if setting.price == 1.0 and not setting.unit:
        total = f"what {total} mistakes cost"
    if gate.difference < 0.0:
        return (
            f"{costs}, {_share(gate, tuned)} less{_interval(gate, tuned)} than {against}: it saves {total} on "
            f"{setting.scored_rows:,} cases{'; ' + too_much if too_much else ''}."
        )
    because = "; ".join(why) if why else "no reason for it is known"
    return f"{costs}, {_share(gate, tuned)} more{_interval(gate, tuned)} than {against}: {because}."


def beside(policies: list[Policy], setting: Setting) -> list[str]:
    """What belongs to the verdict: that tuning again and again is cheaper, where it is."""
    gate, own = _of(policies, GATE), _of(policies, OWN)
    if own.loss >= gate.loss:
        return []
    sentence = (
        "A threshold tuned again every 500 rows, on the labels of its own answers, costs "
        f"{money(own.loss, setting.price, setting.unit)} a case, {per_cent(1.0 - own.loss / gate.loss)} less than the "
        "gate"
    )
    if own.beyond(setting.share):
        sentence += f"; it sends {per_cent(own.reviewed)} to review, more than there is capacity for"
    return [f"{sentence}."]


def _of(policies: list[Policy], kind: str) -> Policy:
    return next(one for one in policies if one.kind == kind)


def _share(gate: Policy, tuned: Policy) -> str:
    assert gate.difference is not None
    return per_cent(abs(gate.difference) / tuned.loss) if tuned.loss > 0.0 else "any share"


def _interval(gate: Policy, tuned: Policy) -> str:
    """Of the share it stands beside."""
    assert gate.low is not None
    assert gate.high is not None
    if tuned.loss <= 0.0:
        return ""
    ends = sorted(abs(end) / tuned.loss for end in (gate.low, gate.high))
    return f" (95 % interval: {per_cent(ends[0])} to {per_cent(ends[1])})"

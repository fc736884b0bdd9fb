"""Numbers of a replay in words, in the user's unit."""

import math
from typing import NamedTuple

from ..result import Policy, Replay

CASES = 1_000
"""Savings are told for this many cases."""
MINUS = "\N{MINUS SIGN}"


class Money(NamedTuple):
    """The gate against the fixed threshold, a case and per `CASES`."""

    gate: str
    tuned: str
    title: str
    """What `amount` is: saved, or lost."""
    amount: str
    interval: str
    sentence: str


def number(value: float, scale: float | None = None, sign: bool = False) -> str:
    """``value`` with three digits, or with as many decimals as ``scale`` takes for that; a real minus.

    >>> number(0.13129), number(1234.5), number(2.0, scale=150.0), number(0.5, sign=True)
    ('0.131', '1,234', '2', '+0.500')
    """
    size = abs(value if scale is None else scale)
    decimals = min(max(2 - math.floor(math.log10(size)), 0), 9) if size > 0.0 else 0
    text = f"{value:{'+' if sign else ''},.{decimals}f}"
    if float(text.replace(",", "")) == 0.0:  # no "-0.00"
        text = text.lstrip("+-")
    return text.replace("-", MINUS)


def percent(share: float) -> str:
    """A share of cases.

    >>> percent(0.0814), percent(1.0), percent(0.0004)
    ('8.1 %', '100 %', '0.04 %')
    """
    value = 100.0 * share
    if 0.0 < value < 0.1:
        return f"{value:.2g} %"
    return f"{value:.1f} %" if round(value, 1) != round(value) else f"{value:.0f} %"


def amount(replay: Replay, value: float, scale: float | None = None) -> str:
    """A price with its unit."""
    return f"{number(value, scale)} {replay.unit}".strip()


def plain_price(replay: Replay, value: float) -> str:
    """A price the user gave, as it was given: 5 rather than 5.00."""
    return f"{value:,.6g} {replay.unit}".strip()


def scale(replay: Replay) -> float:
    """The price a case that fixes the decimals of all of them: that of the gate, or of the tuned threshold; where both
    are 0, the largest of all.
    """
    found = [policy.loss * replay.price for policy in replay.policies if policy.kind in ("gate", "tuned")]
    return max(found, default=0.0) or max((policy.loss * replay.price for policy in replay.policies), default=0.0)


def of_kind(replay: Replay, kind: str) -> Policy | None:
    """The first policy of this kind."""
    return next((policy for policy in replay.policies if policy.kind == kind), None)


def money(replay: Replay) -> Money | None:
    """What the gate saved or lost against the tuned threshold; None where they were not compared."""
    gate, tuned = of_kind(replay, "gate"), of_kind(replay, "tuned")
    if gate is None or tuned is None or gate.difference is None:
        return None
    each = CASES * replay.price
    saved = -gate.difference * each
    ends = None if gate.low is None or gate.high is None else (-gate.high * each, -gate.low * each)
    largest = max(abs(saved), *map(abs, ends or (0.0,)))
    lost = saved < 0.0
    size = amount(replay, abs(saved), largest)
    part = f", {percent(abs(gate.difference) / tuned.loss)} of what one threshold costs" if tuned.loss else ""
    if saved == 0.0:
        sentence = "The gate costs exactly as much as one threshold"
    elif lost:
        sentence = f"The gate loses: it costs {size} more than one threshold for every {CASES:,} cases{part}"
    else:
        sentence = f"The gate saves {size} for every {CASES:,} cases{part}"
    sentence += f". {_doubt(ends, lost)}" if ends is not None and saved != 0.0 else "."
    shown = "" if ends is None else _interval(ends, lost, largest)
    return Money(
        gate=amount(replay, gate.loss * replay.price, scale(replay)),
        tuned=amount(replay, tuned.loss * replay.price, scale(replay)),
        title=f"{'Lost' if lost else 'Saved'} per {CASES:,} cases",
        amount=size, interval=shown, sentence=sentence,
    )  # fmt: skip


def _interval(ends: tuple[float, float], lost: bool, largest: float) -> str:
    """In the direction of the title: a loss of 2 to 7, a saving of -1 to 4."""
    low, high = (-ends[1], -ends[0]) if lost else ends
    return f"{number(low, largest)} to {number(high, largest)}"


def _doubt(ends: tuple[float, float], lost: bool) -> str:
    """Whether the interval leaves the sign open."""
    if ends[0] <= 0.0 <= ends[1]:
        return "It may be luck: the 95 % interval of the difference goes from a loss to a saving; take them as equal."
    side = "loss" if lost else "saving"
    return f"Luck alone does not explain it: the whole 95 % interval of the difference is on the side of a {side}."

"""The table of policies as the report shows it."""

from typing import NamedTuple

from ..naming import against
from ..result import Policy, Replay
from .wording import MINUS, number, of_kind, percent, scale

MEANINGS = {
    "gate": "learns from the labels that came back, and changes model and threshold as it goes.",
    "tuned": "one model and one threshold, the best on the first {first:,} cases with all their labels, then left "
    "alone: what most people do today.",
    "retuned-own": "chosen again and again on recent cases, from the labels its own decisions brought: what people do "
    "next. It does not see what became of the cases it decided otherwise.",
    "retuned-all": "the same, but it sees the label of every case, which nobody does who hands cases over.",
    "hindsight": "the one model and threshold that was best for the counted cases, chosen after the end: a yardstick.",
    "review": "every case goes to a person.",
    "always": "this model answers every case it has an answer for.",
}


class Row(NamedTuple):
    """A policy's cells."""

    kind: str
    name: str
    price: str
    mistakes: str
    reviews: str
    difference: str
    """From tuned, in per cent of it; and the interval of that, and in money."""
    interval: str
    money: str
    beyond: bool
    """Whether it reviews more than there is capacity for."""


def rows(replay: Replay) -> list[Row]:
    """A row a policy, prices with the same decimals."""
    return [_row(replay, policy) for policy in replay.policies]


def _row(replay: Replay, policy: Policy) -> Row:
    size, price = scale(replay), replay.price
    share, interval = against(policy, of_kind(replay, "tuned") or policy)
    amount = "" if policy.difference is None else number(policy.difference * price, size, sign=True)
    return Row(policy.kind, policy.name, number(policy.loss * price, size), percent(policy.mistakes),
               percent(policy.reviewed), share.replace("-", MINUS), interval.replace("-", MINUS), amount,
               policy.beyond(replay.share))  # fmt: skip


def meanings(replay: Replay) -> list[tuple[str, str]]:
    """What each kind in the table is, by the name it has there."""
    found: dict[str, str] = {}
    for policy in replay.policies:
        if policy.kind in MEANINGS:
            found.setdefault(policy.kind, policy.name if policy.kind != "always" else "always ...")
    return [(name.partition(":")[0], MEANINGS[kind].format(first=replay.first)) for kind, name in found.items()]

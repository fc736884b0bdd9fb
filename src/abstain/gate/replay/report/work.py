"""Prices and reviewers' work in sentences."""

from ..naming import per_cent
from ..result import Replay
from .wording import of_kind, plain_price


def prices(replay: Replay) -> str:
    """What a review and a mistake cost. Only where mistakes differ, there is a dearest."""
    review, mistake = plain_price(replay, replay.cost * replay.price), plain_price(replay, replay.price)
    if replay.stakes:
        return f"A review costs {review}, a mistake what is at stake in the case, at most {mistake}"
    whole = "mistake" if replay.most_error is None else f"whole mistake, an error of {replay.most_error:g} or more,"
    if replay.price == 1.0 and not replay.unit:
        return f"A review costs {review} of a {whole.rstrip(',')}"
    return f"A review costs {review}, a {whole} {mistake}"


def reviews(replay: Replay) -> str | None:
    """How much reviewers see with the gate and without; a day, where the log has times and lasts that long."""
    gate, tuned = of_kind(replay, "gate"), of_kind(replay, "tuned")
    if gate is None or tuned is None:
        return None
    shares = tuple(per_cent(policy.reviewed).removesuffix(" %") for policy in (gate, tuned))
    if shares[0] == shares[1]:
        sentence = f"With the gate your reviewers see {shares[0]} of 100 cases, as many as with one threshold"
    else:
        sentence = f"With the gate your reviewers see {shares[0]} of 100 cases instead of {shares[1]}"
    if replay.days is None or replay.days < 1.0:
        return f"{sentence}."
    each = (policy.reviewed * replay.scored_rows / replay.days for policy in (gate, tuned))
    daily = [f"{n:,.0f}" if n >= 10.0 else f"{n:.1f}" for n in each]
    return f"{sentence}; that is {daily[0]} a day{'' if shares[0] == shares[1] else f' instead of {daily[1]}'}."

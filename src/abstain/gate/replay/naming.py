"""Numbers and policies as people say them."""

from ..levels import as_text
from .outcome import ALL, ALWAYS, GATE, HINDSIGHT, OWN, REVIEW, TUNED
from .result import Policy


def from_on(name: str, threshold: float, most_error: float | None = None) -> str:
    """A model and its threshold; for numbers, as an error in the log's own unit, too.

    >>> from_on("gbm", 0.8512), from_on("gbm", -1.0), from_on("gbm", 1.0), from_on("gbm", 0.99821)
    ('gbm from 0.851 on', 'gbm always', 'everything to review', 'gbm from 0.9982 on')
    >>> from_on("gbm", 0.36, 10.0)
    'gbm from an expected error of 6.4 down (0.36)'
    """
    if threshold >= 1.0:
        return "everything to review"
    if threshold < 0.0:
        return f"{name} always"
    level = as_text(threshold, 3)
    level = level.rstrip("0").rstrip(".") if "." in level else level
    if most_error is not None:
        return f"{name} from an expected error of {(1.0 - threshold) * most_error:.3g} down ({level})"
    return f"{name} from {level} on"


def kind_of(key: str) -> str:
    """The kind of a policy."""
    return ALWAYS if key.startswith(f"{ALWAYS} ") else key


def name_of(
    key: str, models: list[str], tuned: tuple[int, float], hindsight: tuple[int, float], most_error: float | None = None
) -> str:
    """A policy, for the table."""
    if key in (TUNED, HINDSIGHT):
        model, threshold = tuned if key == TUNED else hindsight
        return f"{key}: {from_on(models[model], threshold, most_error)}"
    plain = {GATE: "gate", OWN: "re-tuned, own labels", ALL: "re-tuned, all labels", REVIEW: "everything to review"}
    return plain.get(key, key)


def per_cent(share: float) -> str:
    """A share, with as many digits as say something.

    >>> per_cent(0.5), per_cent(0.0423), per_cent(0.0)
    ('50 %', '4.2 %', '0 %')
    """
    value = 100.0 * share
    return f"{value:.0f} %" if abs(value) >= 9.95 or value == 0.0 else f"{value:.1f} %"


def money(loss: float, price: float, unit: str) -> str:
    """A loss in the user's unit: three digits, without needless ones.

    >>> money(0.1234, 1.0, ""), money(0.1234, 5.0, "EUR"), money(0.5, 2_000.0, "EUR")
    ('0.123', '0.617 EUR', '1,000 EUR')
    """
    value = loss * price
    digits = 3 if abs(value) < 1.0 else 2 if abs(value) < 100.0 else 0
    return f"{value:,.{digits}f}{' ' if unit else ''}{unit}"


def against(policy: Policy, tuned: Policy) -> tuple[str, str]:
    """How much more than tuned a policy costs, in per cent of tuned, and the 95 % interval of that; "" for tuned.

    >>> tuned = Policy("tuned", "tuned", 0.2, 0.1, 0.1, None, None, None)
    >>> against(Policy("gate", "gate", 0.15, 0.1, 0.1, -0.05, -0.06, -0.035), tuned)
    ('-25.0 %', '-30.0 to -17.5')
    """
    if policy.difference is None or tuned.loss <= 0.0:
        return "", ""
    share, *ends = (
        f"{round(100.0 * one / tuned.loss, 1) + 0.0:+.1f}"  # no "-0.0"
        for one in (policy.difference, policy.low, policy.high)
        if one is not None
    )
    return f"{share} %", " to ".join(ends)


def span(seconds: float) -> str:
    """A time that passes.

    >>> span(5.0), span(5_400.0), span(129_600.0)
    ('5 seconds', '90 minutes', '36 hours')
    """
    for size, name in ((86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.3g} {name}"
    return f"{seconds:.3g} seconds"

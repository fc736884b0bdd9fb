"""Numbers and policies as people say them."""

from .outcome import ALL, ALWAYS, GATE, HINDSIGHT, OWN, REVIEW, TUNED


def from_on(name: str, threshold: float) -> str:
    """A model and its threshold.

    >>> from_on("gbm", 0.8512), from_on("gbm", -1.0), from_on("gbm", 1.0)
    ('gbm from 0.851 on', 'gbm always', 'everything to review')
    """
    if threshold >= 1.0:
        return "everything to review"
    return f"{name} always" if threshold < 0.0 else f"{name} from {threshold:.3g} on"


def kind_of(key: str) -> str:
    """The kind of a policy."""
    return ALWAYS if key.startswith(f"{ALWAYS} ") else key


def name_of(key: str, models: list[str], tuned: tuple[int, float], hindsight: tuple[int, float]) -> str:
    """A policy, for the table."""
    if key in (TUNED, HINDSIGHT):
        model, threshold = tuned if key == TUNED else hindsight
        return f"{key}: {from_on(models[model], threshold)}"
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

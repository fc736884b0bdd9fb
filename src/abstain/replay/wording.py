"""What a replay says in words: prices, shares, the verdict, notes and warnings."""

from dataclasses import dataclass
from typing import Any

from ..gate.gate import Gate
from .classes import Classes
from .options import CLASS, COST, PROBABILITY, Options
from .play import ALL, GATE, OWN, TUNED, Outcome
from .policies import Policy
from .rows import Facts


def per_cent(share: float) -> str:
    """A share in per cent, with a decimal only if it is small.

    >>> per_cent(0.5), per_cent(0.0423), per_cent(0.0)
    ('50 %', '4.2 %', '0 %')
    """
    value = 100.0 * share
    return f"{value:.0f} %" if abs(value) >= 9.95 or value == 0.0 else f"{value:.1f} %"


def money(loss: float, price: float, unit: str) -> str:
    """A loss in the user's unit, with about three digits.

    >>> money(0.1234, 1.0, ""), money(0.1234, 5.0, "EUR"), money(0.5, 2_000.0, "EUR")
    ('0.123', '0.617 EUR', '1,000 EUR')
    """
    value = loss * price
    digits = 3 if abs(value) < 1.0 else 2 if abs(value) < 100.0 else 0
    return f"{value:,.{digits}f}{' ' if unit else ''}{unit}"


def against(policy: Policy, tuned: Policy) -> tuple[str, str]:
    """The difference from tuned in per cent of tuned, and its 95 % interval; "" for tuned itself.

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
    """A duration in words.

    >>> span(5.0), span(5_400.0), span(129_600.0)
    ('5 seconds', '90 minutes', '36 hours')
    """
    for size, name in ((86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.3g} {name}"
    return f"{seconds:.3g} seconds"


def how_late(options: Options, seconds: float) -> str:
    """When labels arrive; ``seconds`` is their mean delay, if the log has times."""
    kept = ""
    if options.age is not None:
        age = options.maturity if options.age.span is not None else f"{options.age.cases:,} rows"
        kept = f", and were kept until their case was {age} old"
    if options.label_time is not None:
        return f"when the column {options.label_time} says, {span(seconds)} after the case on average{kept}"
    return (f"{options.delay:,} rows late" if options.delay else "at once") + kept


def how_much(gate: Gate, options: Options) -> str | None:
    """The capacity in words."""
    if options.capacity is None:
        return None
    burst = getattr(gate.capacity, "burst", None)
    return f"{per_cent(options.capacity)} of cases" + ("" if burst is None else f", bursts of {burst:,}")


def prices(options: Options, max_stake: float) -> list[str]:
    """Notes on prices that the user did not give."""
    if options.mistake_column is not None and options.mistake_price is None:
        most = money(max_stake, 1.0, options.unit)
        return [f"A mistake costs what {options.mistake_column} says, at most {most}, its largest value."]
    if options.cost is None and options.review_price is None:
        return [f"Nothing was said of prices: a review costs {COST:g} of a mistake (--cost)."]
    return []


FEW = 5_000
"""Rows below which there is little to learn from."""
BETTER = 0.005
"""Re-tuning helps if it saves this share of the loss."""


@dataclass(frozen=True)
class Setting:
    """What the verdict depends on besides the losses."""

    rows: int
    scored_rows: int
    labels: str
    share: float | None
    late: bool
    """Whether labels arrive after a tenth of the rows or more, on average."""
    price: float
    unit: str


def beyond(tuned: Policy, setting: Setting) -> str | None:
    """Say that the threshold needs more reviews than the capacity allows; None if it does not."""
    if setting.share is None or not tuned.beyond(setting.share):
        return None
    return (
        f"that threshold sends {per_cent(tuned.reviewed)} to review, more than the {per_cent(setting.share)} there is "
        "capacity for, so it could not have been kept"
    )


def reasons(tuned: Policy, retuned: Policy, setting: Setting) -> list[str]:
    """Known reasons for a gate to lose; the most certain first."""
    found = []
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


def verdict(policies: list[Policy], setting: Setting) -> str:
    """Compare the gate with the threshold tuned once, in one sentence."""
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
    """A note next to the verdict if re-tuning was cheaper than the gate."""
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
    """The 95 % interval of the share, in words."""
    assert gate.low is not None
    assert gate.high is not None
    if tuned.loss <= 0.0:
        return ""
    ends = sorted(abs(end) / tuned.loss for end in (gate.low, gate.high))
    return f" (95 % interval: {per_cent(ends[0])} to {per_cent(ends[1])})"


def notes(options: Options, facts: Facts, classes: Classes | None, rows: int) -> list[str]:
    """Notes on what may surprise: missing labels and answers, few rows, a single model."""
    found = []
    if facts.unlabelled:
        found.append(f"{facts.unlabelled:,} of {facts.rows:,} rows have no label and were left out.")
    if facts.never:
        found.append(f"{facts.never:,} labels have no time in {options.label_time}: they come after the last row.")
    if rows < FEW:
        found.append(f"{rows:,} rows are few: intervals are wide, and the gate has little to learn from.")
    if len(options.models) == 1:
        found.append("With a single model, only the threshold is learnt.")
    for k, model in enumerate(options.models):
        if facts.missing[k] == rows:
            found.append(f"{model.name} never has an answer.")
        elif facts.missing[k]:
            share = per_cent(facts.missing[k] / rows)
            found.append(
                f"{model.name} has no answer in {facts.missing[k]:,} rows ({share}): alone, it sends them to review."
            )
        if facts.least[k] == facts.most[k]:
            found.append(
                f"{model.name} is always equally sure ({facts.most[k]:g}): no threshold can tell its answers apart."
            )
    if classes is not None:
        n, times = classes.never_given()
        if n and not any(model.kind == PROBABILITY for model in options.models):
            what = "A label" if n == 1 else f"{n:,} labels"
            are = "is" if n == 1 else "are"
            found.append(f"{what} of {len(classes.labels):,} {are} never given by a model, in {times:,} rows.")
    if options.capacity is not None:
        found.append("The capacity holds for the gate only: the others review as much as they like, and are marked.")
    if options.time is not None and options.label_time is None:
        found.append(f"Times are those of {options.time}; labels come by the number of rows.")
    return found


def unknown(options: Options, out: Outcome, cases: int, delay: str) -> list[str]:
    """What the gate did not know."""
    unseen = {"answered": out.counts["reviewed"], "reviewed": cases - out.counts["reviewed"], "both": 0}[options.labels]
    found = []
    if unseen:
        whose = "reviewed" if options.labels == "answered" else "answered"
        found.append(
            f"{unseen:,} labels of {cases:,} ({per_cent(unseen / cases)}) were never seen: those of {whose} cases."
        )
    if delay != "at once":
        found.append(f"Labels came {delay}.")
    if out.counts["unanswered"]:
        found.append(f"No model had an answer in {out.counts['unanswered']:,} cases: all were sent to review.")
    if out.counts["over_capacity"]:
        found.append(f"{out.counts['over_capacity']:,} cases were answered because no review was left.")
    if out.counts["explored"]:
        found.append(
            f"{out.counts['explored']:,} cases were decided otherwise than the threshold says, just to see the label: "
            "that is how the gate learns what becomes of cases it would not decide so. Its price has what they cost."
        )
    return found


def doubts(
    options: Options, facts: Facts, classes: Classes | None, pair: tuple[Any, Any] | None, rows: int
) -> list[str]:
    """Warnings: models that are never right, or wrong so often that ``--positive`` must be the other class."""
    found = []
    for k, model in enumerate(options.models):
        answers = rows - facts.missing[k]
        wrong = answers - facts.right[k]
        if model.kind == PROBABILITY and pair is not None and wrong > rows / 2:
            found.append(
                f"{model.name} is wrong in {per_cent(wrong / rows)} of the rows with a label: is --positive the other "
                f"class? Its probabilities are taken to be of {pair[1]!r}; --positive {pair[0]} says otherwise."
            )
        elif answers > 0 and wrong == answers and classes is None:
            found.append(f"{model.name} is never right: each of its answers is off by --max-error or more.")
        elif answers > 0 and wrong == answers:
            assert classes is not None
            why = f"it says {classes.some(model.answer)}; labels are {classes.some(classes.label)}."
            if classes.apart(model.answer):
                why = f"none of its classes is among the labels; {why}"
            found.append(f"{model.name} is never right: {why}")
        nearly = classes.nearly(model.answer) if classes is not None and model.kind == CLASS else None
        if nearly is not None:
            answer, label, count = nearly
            found.append(
                f"{model.name} says {answer!r} where labels say {label!r}, and the like, in {count:,} rows: they "
                "differ in capitals or blanks alone, and count as mistakes. Write both alike."
            )
    return found

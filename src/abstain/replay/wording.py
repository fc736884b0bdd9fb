"""What a replay says in words: prices, shares, the verdict, notes and warnings."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..gate.gate import Gate
from .classes import Classes
from .options import CLASS, COST, PROBABILITY, VALUE, ModelColumns, Options
from .play import ALL, GATE, OWN, STACK, TO_COME, TODAY, TUNED, Outcome
from .policies import Policy, Stretch, Versus
from .rows import Facts


def per_cent(share: float) -> str:
    """A share in per cent, with a decimal only if it is small.

    >>> per_cent(0.5), per_cent(0.0423), per_cent(0.0)
    ('50 %', '4.2 %', '0 %')
    """
    value = 100.0 * share
    return f"{value:.0f} %" if abs(value) >= 9.95 or value == 0.0 else f"{value:.1f} %"


def column(shares: Sequence[float]) -> list[str]:
    """Shares below each other, all with the same decimals: as few as the smallest needs.

    >>> column([0.353, 0.038, 0.0]), column([0.353, 0.0038, 0.0])
    (['35 %', '4 %', '0 %'], ['35.3 %', '0.4 %', '0.0 %'])
    """
    return [f"{100.0 * share:.{digits(shares)}f} %" for share in shares]


def digits(shares: Sequence[float]) -> int:
    """The decimals of these shares in per cent."""
    least = min((abs(share) for share in shares if share), default=1.0)
    return 0 if least >= 0.00995 else 1 if least >= 0.000995 else 2


def counted(number: int, noun: str, verb: str = "") -> str:
    """A number of things, with "was" if wanted.

    >>> counted(1, "case", "was"), counted(1_200, "case", "was"), counted(2, "label")
    ('1 case was', '1,200 cases were', '2 labels')
    """
    one = number == 1
    return f"{number:,} {noun}{'' if one else 's'}" + (f" {'was' if one else 'were'}" if verb else "")


def mistakes(policies: Sequence[Policy]) -> list[str]:
    """The shares of mistakes below each other; from the least to the largest, if labels are missing.

    >>> mistakes([Policy("gate", "gate", 0.1, 0.1, 0.05, None, None, None, most_mistakes=0.2)])
    ['5 to 20 %']
    """
    shares = [(one.mistakes, one.mistakes if one.most_mistakes is None else one.most_mistakes) for one in policies]
    ends = column([end for share in shares for end in share])
    return [
        low if low == high else f"{low.removesuffix(' %')} to {high}"
        for low, high in zip(ends[::2], ends[1::2], strict=True)
    ]


def decimals(size: float) -> int:
    """How many decimals prices of this size have: none from 100 on, else two, or what two digits need.

    >>> decimals(1_234.5), decimals(0.81), decimals(0.0053), decimals(0.0)
    (0, 2, 4, 2)
    """
    if abs(size) >= 100.0:
        return 0
    if abs(size) >= 0.0995 or size == 0.0:
        return 2
    return min(1 - math.floor(math.log10(abs(size))), 9)


def money(loss: float, price: float, unit: str) -> str:
    """A loss in the user's unit.

    >>> money(0.1234, 1.0, ""), money(0.1234, 5.0, "EUR"), money(0.5, 2_000.0, "EUR")
    ('0.12', '0.62 EUR', '1,000 EUR')
    """
    value = loss * price
    return f"{value:,.{decimals(value)}f}{' ' if unit else ''}{unit}"


def unit_of(price: float, unit: str) -> str:
    """The unit of prices in words: without any prices, a loss of 1 is a mistake.

    >>> unit_of(5.0, "EUR"), unit_of(1.0, "")
    ('EUR', 'mistakes')
    """
    return unit or ("mistakes" if price == 1.0 else "")


def price_of(policy: Policy, price: float, unit: str) -> str:
    """The price of a policy per case; from the least to the largest, if labels are missing.

    >>> price_of(Policy("gate", "gate", 0.15, 0.1, 0.1, None, None, None, 0.1, 0.2), 5.0, "EUR")
    '0.50 to 1.00 EUR'
    """
    if policy.known:
        return money(policy.loss, price, unit)
    assert policy.lowest is not None
    assert policy.highest is not None
    return f"{money(policy.lowest, price, '')} to {money(policy.highest, price, unit)}"


def against(policy: "Policy | Versus") -> tuple[str, str]:
    """The difference from the baseline in per cent of it, and its 95 % interval; "" where there is none.

    >>> against(Policy("gate", "gate", 0.15, 0.1, 0.1, -0.05, -0.06, -0.035, 0.15, 0.15, -0.25, -0.3, -0.175))
    ('-25.0 %', '-30.0 to -17.5')
    >>> against(Policy("review", "everything to review", 4.0, 0.0, 1.0, 3.8, 3.0, 5.0, 4.0, 4.0, 18.1, 8.0, 61.447))
    ('+1,810.0 %', '+800.0 to +6,144.7')
    """
    if policy.share is None or policy.share_low is None or policy.share_high is None:
        return "", ""
    share, *ends = (
        f"{round(100.0 * one, 1) + 0.0:+,.1f}"  # no "-0.0"
        for one in (policy.share, policy.share_low, policy.share_high)
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
        return f"at the times in the column {options.label_time}, {span(seconds)} after the case on average{kept}"
    return (f"{options.delay:,} rows late" if options.delay else "at once") + kept


def how_much(gate: Gate) -> str | None:
    """The capacity in words."""
    limit = gate.capacity
    if limit is None:
        return None
    most = f"{limit.per_day:g} a day" if limit.share is None else f"{per_cent(limit.share)} of cases"
    return f"{most}, bursts of {limit.burst:,}"


def prices(options: Options, max_stake: float) -> list[str]:
    """Notes on prices that the user did not give."""
    if options.mistake_column is not None and options.mistake_price is None:
        most = money(max_stake, 1.0, options.unit)
        return [f"A mistake costs what {options.mistake_column} says, at most {most}, its largest value."]
    if options.review_price is not None and not options.unit:
        return ["Prices have no unit here; --unit names it."]
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
    labels: str | tuple[float, float] | None
    share: float | None
    late: float
    """How late labels arrive on average, as a share of the log."""
    price: float
    unit: str
    baseline: str = TUNED
    lead: str = GATE
    unlabelled: float = 0.0
    """The share of rows without a label."""
    probabilities: bool = False
    """Whether the log has the probabilities of seeing labels."""
    stretch: Stretch | None = None
    """The stretch that carries nearly all of the difference, if it is short."""
    days: float | None = None
    """How long the scored rows took, if times are known."""

    def money(self, loss: float) -> str:
        """A loss in the user's unit."""
        return money(loss, self.price, unit_of(self.price, self.unit))

    def total(self, loss: float) -> str:
        """A sum of losses in the user's unit, or in mistakes."""
        text = self.money(loss)
        return f"what {text} cost" if self.price == 1.0 and not self.unit else text

    @property
    def who(self) -> str:
        """The policy that the verdict is about, as a subject."""
        return "The gate" if self.lead == GATE else "What was decided"

    def verb(self, word: str) -> str:
        """A regular verb that ends in e, for the policy of the verdict: a replayed gate saves, or would have saved."""
        if self.lead != GATE:
            return f"{word}d"
        return f"{word}s" if self.stretch is None else f"would have {word}d"

    @property
    def it(self) -> str:
        """What the baseline is called further on."""
        return "today's threshold" if self.baseline == TODAY else "that threshold"


def beyond(base: Policy, setting: Setting) -> str | None:
    """Say that the threshold needs more reviews than the capacity allows; None if it does not."""
    if setting.share is None or not base.beyond(setting.share):
        return None
    return (
        f"{setting.it} sends {per_cent(base.reviewed)} to review, more than the {per_cent(setting.share)} there is "
        "capacity for, so it could not have been kept"
    )


LATE = 0.1
"""Labels that arrive after this share of the log, on average, are a reason to lose."""


def reasons(base: Policy, retuned: Policy, setting: Setting) -> list[str]:
    """Known reasons for a gate to lose; the most certain first."""
    found = []
    if setting.labels == "reviewed":
        found.append("labels come from reviews only, so that learning has to be paid for")
    if setting.rows < FEW:
        found.append(f"{setting.rows:,} rows are few to learn from")
    late = setting.late >= LATE
    if not late and retuned.loss > (1.0 - BETTER) * base.loss:
        found.append("nothing drifts here (re-tuning with all labels does not help either), so one threshold is enough")
    if late:
        found.append(f"labels come late, on average after {per_cent(setting.late)} of the log")
    return found


def the_baseline(base: Policy, setting: Setting) -> str:
    """The baseline in words, with its price."""
    price = price_of(base, setting.price, unit_of(setting.price, setting.unit))
    if base.kind == TODAY:
        return f"today's threshold, {base.name.partition(': ')[2]} ({price})"
    return f"one threshold, set once on the first tenth of the log ({price})"


def verdict(policies: list[Policy], setting: Setting) -> str:
    """Compare the gate, or what was decided, with the baseline."""
    lead, base, retuned = (_of(policies, kind) for kind in (setting.lead, setting.baseline, ALL))
    assert lead.difference is not None
    assert lead.low is not None
    assert lead.high is not None
    costs = f"{setting.who} costs {price_of(lead, setting.price, unit_of(setting.price, setting.unit))} per case"
    if not (lead.known and base.known):
        return _bounded(lead, base, costs, setting)
    other = the_baseline(base, setting)
    too_much = beyond(base, setting)
    why = ([too_much] if too_much else []) + (reasons(base, retuned, setting) if lead.kind == GATE else [])
    if lead.low <= 0.0 <= lead.high:
        if lead.difference == 0.0:
            return f"{costs}, exactly as much as {other}."
        sentence = f"{costs}, about as much as {other}: the difference of {_size(lead)} is within chance"
        if lead.share_low is not None and lead.share_high is not None:
            sentence += f" (95 % interval: {_from_to(lead.share_low, lead.share_high, per_cent)})"
        return f"{sentence}{'; ' + why[0] if why else ''}."
    total = setting.total(abs(lead.difference) * setting.scored_rows)
    if lead.difference < 0.0:
        return (
            f"{costs}, {_size(lead)} less{_interval(lead)} than {other}. It {setting.verb('save')} {total} on "
            f"{setting.scored_rows:,} cases{'; ' + too_much if too_much else ''}.{_carried(setting, lead.difference)}"
        )
    carried = _carried(setting, lead.difference, what="the loss")
    if not why and lead.kind == GATE and not carried:
        why = ["the log does not tell why"]
    return f"{costs}, {_size(lead)} more{_interval(lead)} than {other}{': ' if why else ''}{'; '.join(why)}.{carried}"


def _carried(setting: Setting, difference: float, *, bounded: bool = False, what: str = "it") -> str:
    """Say that one stretch carries nearly all of the difference, which may be the middle of bounds, and what follows:
    a gate that loses at the start is learning.
    """
    one = setting.stretch
    if one is None:
        return ""
    at = "at" if one.begin.startswith("row") else "on"
    when = f"{at} {one.begin}" if one.begin == one.end else f"between {one.begin} and {one.end}"
    share = f"{'All' if one.carried >= 1.0 else per_cent(one.carried)} of {what}"
    if bounded:
        cost = _less_or_more(difference, setting.money)
        half = f"With both prices in the middle of their bounds it costs {cost} per case"
        share = f"{half}; {share.lower().replace('it', 'that')}"
    which, so = "cases", "one event says little about other months"
    if one.at_start and setting.lead == GATE and difference > 0.0:
        which, so = "cases, the first that count", "the gate had learnt least there"
    return f" {share} came {when}, in {per_cent(one.part)} of the {which}: {so}."


LOSES = {"saves": "loses", "saved": "lost", "would have saved": "would have lost"}


def _bounded(lead: Policy, base: Policy, costs: str, setting: Setting) -> str:
    """The verdict where labels are missing: what is sure, and what the log does not tell."""
    assert lead.low is not None
    assert lead.high is not None
    missing = f"{per_cent(setting.unlabelled)} of the rows have no label"
    whatever = f"whatever those labels are{', and allowing for chance' if setting.probabilities else ''}"
    other = the_baseline(base, setting)
    ends = [setting.money(abs(end)) for end in (lead.low, lead.high)]
    assert lead.difference is not None
    carried = _carried(setting, lead.difference, bounded=True)
    if lead.low == lead.high == 0.0:
        return f"{costs}, exactly as much as {other}, whatever the labels are that are missing."
    if lead.high < 0.0:
        return (
            f"{costs}, {ends[1]} to {ends[0]} less than {other}. {missing}: {whatever}, it "
            f"{setting.verb('save')} at least {setting.total(-lead.high * setting.scored_rows)} on "
            f"{setting.scored_rows:,} cases.{carried}"
        )
    if lead.low > 0.0:
        return (
            f"{costs}, {ends[0]} to {ends[1]} more than {other}. {missing}: {whatever}, it "
            f"{LOSES[setting.verb('save')]} at least {setting.total(lead.low * setting.scored_rows)} on "
            f"{setting.scored_rows:,} cases.{carried}"
        )
    how = ""
    if not setting.probabilities and lead.kind == GATE:
        how = (
            " Columns of what was decided, and of the probability that its label would be seen, tell more "
            "(--decided, --observed)."
        )
    elif not setting.probabilities:
        how = " A column of the probability that the label would be seen tells more (--observed)."
    return (
        f"{costs}, {other.replace(' (', ', ', 1).removesuffix(')')}: the log does not tell which of them is cheaper. "
        f"{missing}, and the difference is between {ends[0]} less and {ends[1]} more.{carried}{how}"
    )


INSTEAD = {
    TUNED: "one threshold, set once on the first tenth of the log",
    OWN: "a threshold re-tuned every 500 rows on the labels of its own answers",
    STACK: "a logistic stack of the models, refitted every 500 rows on the labels of its own answers",
}
"""Rivals in words."""


def against_rivals(rivals: list[Versus], setting: Setting) -> list[str]:
    """One sentence for each rival: is the policy of the verdict cheaper?"""
    found = []
    for rival in rivals:
        bounds = f"{_from_to(rival.low, rival.high, setting.money)} per case, whatever the missing labels are"
        told = in_words(rival) or f"{bounds}, and allowing for chance"
        doubt = ""
        if rival.low <= 0.0 <= rival.high:
            doubt = (
                "the log does not tell which is cheaper" if rival.share is None else "the difference is within chance"
            )
        who = setting.who[0].lower() + setting.who[1:]
        found.append(f"Compared with {INSTEAD[rival.kind]}, {who} costs {told}{'; ' + doubt if doubt else ''}.")
    return found


def in_words(rival: Versus) -> str:
    """How much less or more than a rival it costs, in per cent of the rival, with the interval; "" for bounds."""
    if rival.share is None or rival.share_low is None or rival.share_high is None:
        return ""
    interval = _from_to(rival.share_low, rival.share_high, per_cent)
    return f"{_less_or_more(rival.share, per_cent)} (95 % interval: {interval})"


def _less_or_more(value: float, text: Callable[[float], str]) -> str:
    return f"{text(abs(value))} {'less' if value < 0.0 else 'more'}"


def _from_to(low: float, high: float, text: Callable[[float], str]) -> str:
    """An interval in words, from the smaller size to the larger one, if it has one direction."""
    if low <= 0.0 <= high:
        return f"{_less_or_more(low, text)} to {_less_or_more(high, text)}"
    least, most = sorted((low, high), key=abs)
    return f"{text(abs(least))} to {_less_or_more(most, text)}"


def unpriced(options: Options) -> list[str]:
    """Ask for prices, if there are none: which policy is cheapest depends on them."""
    if options.cost is not None or options.review_price is not None:
        return []
    return [
        "Run the command again with your prices (--review-price, --mistake-price): without them everything is counted "
        f"in mistakes, and a review is assumed to cost {COST:g} of one. Which policy is cheapest depends on that."
    ]


GATE_FILE = "gate.abstain"
"""The gate after the last row, in the folder of results."""


CHECK = (
    "Have a random share of the cases without a label checked{observed}, and run the command again: until then this "
    "log does not tell which is cheaper."
)
ASKED = ", say in each row how probable its label was (--observed)"
ASKED_BOTH = ", say in each row what was decided and how probable its label was (--decided, --observed)"


def next_steps(
    lead: Policy, rivals: list[Versus], setting: Setting, may_combine: bool, misread: Sequence[str] = ()
) -> list[str]:
    """What to do now.

    ``may_combine`` says whether the gate could combine its models, and did not; ``misread`` are models that are never
    right, or whose probabilities are of the other class.
    """
    if misread:
        return [
            f"First correct the answers of {' and '.join(misread)}, as the warning says, and run the command again: "
            "until then no price here means anything."
        ]
    better = next((rival for rival in rivals if rival.kind in (TUNED, OWN) and rival.low > 0.0), None)
    who = "the gate" if lead.kind == GATE else "what was decided"
    instead = [] if better is None else [f"Consider {INSTEAD[better.kind]}: it is cheaper than {who} here."]
    found = []
    if lead.kind == GATE and may_combine and any(rival.kind == STACK and rival.low > 0.0 for rival in rivals):
        found.append("Run the command again with --combine: the models know more together, as the stack shows.")
    bounded = bool(setting.unlabelled) and lead.share is None and lead.low is not None and lead.high is not None
    if bounded and lead.low <= 0.0 <= lead.high and lead.low < lead.high:  # type: ignore[operator]
        asked = "" if setting.probabilities else ASKED_BOTH if lead.kind == GATE else ASKED
        return [*found, *instead, *([] if found else [CHECK.format(observed=asked)])]
    if lead.kind != GATE:
        if lead.low is not None and lead.low > 0.0:
            instead.append(f"Find out when it lost before you carry on: {setting.it} was cheaper.")
        return instead or ["Carry on, and replay next month's cases with the same command."]
    if lead.low is None or lead.high is None:
        return found
    found += instead
    if lead.high < 0.0:
        return [
            *found,
            f'Let the gate watch first. {GATE_FILE} is the gate as it has learnt: gate = abstain.load("{GATE_FILE}"), '
            "then gate.peek(answers) for every new case, while you decide as today.",
            "Then let it decide: gate.decide and gate.learn in Python, or abstain serve for other languages.",
        ]
    until = f"Keep {setting.it} until a replay shows that another policy is cheaper"
    if lead.low > 0.0:
        return [*found, f"{until if found else f'Keep {setting.it}'}: on this log the gate, as it is, costs more."]
    if found:
        return [*found, f"{until}: this log does not show that the gate, as it is, is cheaper."]
    return [f"Keep {setting.it} for now, and replay a longer log: this one does not show a difference."]


def misread(options: Options, facts: Facts, pair: tuple[Any, Any] | None, rows: int) -> list[str]:
    """The models that are never right, or whose probabilities seem to be of the other class: `doubts` says why."""
    found = []
    for k, model in enumerate(options.models):
        other = model.kind == PROBABILITY and pair is not None and facts.wrong[k] > rows / 2
        if other or (facts.wrong[k] > 0 and facts.right[k] == 0):
            found.append(model.name)
    return found


MONTH, YEAR = 365.25 / 12.0, 365.25


def rounded(values: Sequence[float]) -> list[float]:
    """An amount and the ends of its interval, with as many digits as the interval's width bears: two or three.

    >>> rounded([51_695.0, 35_424.0, 69_072.0]), rounded([51_695.0, 51_612.0, 51_803.0])
    ([52000.0, 35000.0, 69000.0], [51700.0, 51600.0, 51800.0])
    """

    def size(value: float) -> int:
        return math.floor(math.log10(value))

    value, low, high = values
    digits = min(max(size(high - low) - 1, size(value) - 2), size(value) - 1) if high > low else size(value) - 2
    places = [min(digits, size(one)) if one > 0.0 else digits for one in values]  # no end is rounded to nothing
    return [round(one, -place) for one, place in zip(values, places, strict=True)]


def per_year(policies: list[Policy], setting: Setting) -> list[str]:
    """What a saving, or a loss, is per month and year, if times and both prices are known and no single stretch
    carries it.
    """
    lead, base = _of(policies, setting.lead), _of(policies, setting.baseline)
    if setting.days is None or setting.days < 1.0 or lead.low is None or lead.high is None:
        return []
    if not (lead.known and base.known) or lead.difference is None or lead.low <= 0.0 <= lead.high:
        return []
    if setting.stretch is not None:
        return [
            "No amount per month or year is given, because nearly all of the difference comes from one stretch of the "
            "log."
        ]
    rate = setting.scored_rows / setting.days
    losses = [abs(loss) * rate for loss in (lead.difference, *sorted((lead.low, lead.high), key=abs))]
    month, (year, *ends) = (rounded([loss * days * setting.price for loss in losses]) for days in (MONTH, YEAR))
    each = [setting.total(value / setting.price) for value in (month[0], year)]
    side = "saving" if lead.difference < 0.0 else "loss"
    return [
        f"If it went on like these {setting.days:.0f} days, the {side} would be {each[0]} a month and {each[1]} a year "
        f"(95 % interval of the year: {setting.money(ends[0] / setting.price)} to "
        f"{setting.money(ends[1] / setting.price)})."
    ]


def _of(policies: list[Policy], kind: str) -> Policy:
    return next(one for one in policies if one.kind == kind)


def _size(lead: Policy) -> str:
    return "any share" if lead.share is None else per_cent(abs(lead.share))


def _interval(lead: Policy) -> str:
    """The 95 % interval of the share, in words."""
    if lead.share_low is None or lead.share_high is None:
        return ""
    ends = sorted(abs(end) for end in (lead.share_low, lead.share_high))
    return f" (95 % interval: {per_cent(ends[0])} to {per_cent(ends[1])})"


def notes(
    options: Options, facts: Facts, classes: Classes | None, rows: int, shares: frozenset[str] = frozenset()
) -> list[str]:  # fmt: skip
    """Notes on what may surprise: missing labels and answers, few rows, a single model.

    ``shares`` are the columns that are per cent.
    """
    found = []
    if options.percent:
        which = ", ".join(sorted(shares)) or "no column"
        found.append(f"Per cent, because a number is above 1: {which}. Other confidences are from 0 to 1.")
    if options.seeds > 1:
        found.append(f"The gate is played {options.seeds} times with different random choices; its price is the mean.")
    if facts.unlabelled:
        found.append(_missing_labels(options, facts))
    if facts.never:
        found.append(f"{facts.never:,} labels have no time in {options.label_time}: they come after the last row.")
    if rows < FEW:
        found.append(f"{rows:,} rows are few: intervals are wide, and the gate has little to learn from.")
    if len(options.models) == 1:
        found.append("With a single model, only the threshold is learnt.")
    for k, model in enumerate(options.models):
        unsure = facts.unsure[k]
        none = facts.missing[k] - unsure
        if 0 < unsure <= rows / 2:  # else there is a warning
            found.append(_unsure(model, unsure, rows))
        if none == rows:
            found.append(f"{model.name} never has an answer.")
        elif none:
            share = per_cent(none / rows)
            found.append(f"{model.name} has no answer in {none:,} rows ({share}): alone, it sends them to review.")
        if model.kind == CLASS and model.sure is None:
            found.append(f"{model.name} reports no confidence: its answers are followed always or never.")
        elif facts.least[k] == facts.most[k]:
            found.append(
                f"{model.name} is always equally sure ({facts.most[k]:g}): no threshold can tell its answers apart."
            )
    if classes is not None:
        n, times = classes.never_given()
        if n and not any(model.kind == PROBABILITY for model in options.models):
            what = "A label" if n == 1 else f"{n:,} labels"
            are = "is" if n == 1 else "are"
            found.append(f"{what} of {len(classes.labels):,} {are} never given by a model, in {times:,} rows.")
    if options.limit is not None:
        found.append(
            "The capacity holds for the gate, for thresholds tuned once or again, and for the stack; the others review "
            "as much as they like, and are marked."
        )
    if options.time is not None and options.label_time is None:
        found.append(f"Times are those in the column {options.time}; labels are late by a number of rows, not by time.")
    return found


def _unsure(model: ModelColumns, unsure: int, rows: int) -> str:
    """Say that a model has answers without a confidence, and what to write if it never has one."""
    what = "an expected error" if model.kind == VALUE else "a confidence"
    how = f" If it has none, write --model {model.name}={model.answer}." if model.kind == CLASS else ""
    return (
        f"{model.name} has answers without {what} in {unsure:,} of {rows:,} rows: the column {model.sure} is empty "
        f"there, and the answers are not used.{how}"
    )


def _missing_labels(options: Options, facts: Facts) -> str:
    """Say what missing labels do to prices."""
    rows = f"{facts.unlabelled:,} of {facts.rows:,} rows have no label"
    learnt = "Gates and tuned policies learn from the rows with a label only, which may be special."
    if options.observed is None:
        return (
            f"{rows}: a policy that answers them costs something between the first and the second price of its row. "
            f"{learnt}"
        )
    found = (
        f"{rows}: prices are doubly robust estimates, with the probabilities in the column {options.observed}. "
        f"The effective number of labels is {facts.effective:,.0f}. It is small if a few labels stand for many rows. "
        "Where labels say too little, a price is a range, from the best case to the worst."
    )
    if facts.hidden:
        found += (
            f" {facts.hidden:,} rows could not show a label, or should have shown one but did not: for them there are "
            "only bounds."
        )
    if facts.lost:
        found += (
            f" In {facts.lost:,} of them a label should have come, as --labels says ({options.labels_text}): if labels "
            "are drawn, as in an audit, say how likely they are after an answer and after a review (--labels 0.1,1.0)."
        )
    return f"{found} {learnt}"


def unknown(options: Options, out: Outcome, cases: int, delay: str) -> list[str]:
    """What the gate did not know."""
    found = []
    reviewed = out.counts["reviewed"]
    if isinstance(options.labels, tuple):
        unseen = round((1.0 - options.labels[0]) * (cases - reviewed) + (1.0 - options.labels[1]) * reviewed)
        found.append(
            f"About {unseen:,} of {cases:,} cases ({per_cent(unseen / cases)}) show no label: one comes after "
            f"{per_cent(options.labels[0])} of the answers and {per_cent(options.labels[1])} of the reviews."
        )
    unseen = {"answered": reviewed, "reviewed": cases - reviewed}.get(str(options.labels), 0)
    if unseen:
        did, what = ("reviewed", "a review") if options.labels == "answered" else ("answered", "an answer")
        who = f"The first of {len(out.runs)} gates" if len(out.runs) > 1 else "The gate"
        found.append(
            f"{who} {did} {unseen:,} of all {cases:,} cases, counted or not ({per_cent(unseen / cases)}), and {what} "
            "shows no label here."
        )
    if out.counts[TO_COME]:
        found.append(f"{counted(out.counts[TO_COME], 'label')} had not arrived when the log ended.")
    if delay != "at once":
        found.append(f"Labels came {delay}.")
    else:
        found.append("Labels were assumed to arrive at once. With late ones, all that learns costs more.")
    if out.counts["unanswered"]:
        found.append(f"No model had an answer in {counted(out.counts['unanswered'], 'case')}, sent to review.")
    if out.counts["over_capacity"]:
        found.append(f"{counted(out.counts['over_capacity'], 'case', 'was')} answered because no review was left.")
    if out.counts["explored"]:
        found.append(
            f"{counted(out.counts['explored'], 'case', 'was')} decided against the threshold, just to see the label: "
            "that is how the gate learns about cases it would otherwise decide the other way. Its price includes that."
        )
    return found


def maturity(seconds: float) -> str:
    """An age in whole units, rounded up, as ``--maturity`` takes it.

    >>> maturity(1.1e6), maturity(4_000.0), maturity(5.0)
    ('13 days', '67 minutes', '5 seconds')
    """
    for size, name in ((86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes"), (1.0, "seconds")):
        if seconds >= 2.0 * size:
            return f"{math.ceil(seconds / size)} {name}"
    return "2 seconds"


def _delays(options: Options, facts: Facts, classes: Classes) -> list[str]:
    """Warn of labels whose delay depends on what they say, and recommend an age at which to learn them."""
    apart = facts.delays.apart() if options.label_time is not None and options.age is None else None
    if apart is None:
        return []
    names, middle = classes.told_apart, [span(facts.delays.quantile(one, 0.5)) for one in apart]
    age = maturity(max(facts.delays.quantile(one, 0.99) for one in apart))
    return [
        f"labels of {names[apart[0]]!r} come earlier than those of {names[apart[1]]!r}: half of them within "
        f"{middle[0]}, and within {middle[1]}. A policy that learns labels as they come overestimates "
        "how often the early class occurs. "
        f'--maturity "{age}" learns every case at the age at which 99 % of the labels are there.'
    ]


def _chances(options: Options, facts: Facts) -> list[str]:
    """Warn of probabilities of seeing labels that do not fit the number of labels."""
    expected, variance, shown = facts.shown
    if abs(shown - expected) <= 6.0 * math.sqrt(variance) + 0.01 * expected:
        return []
    what = {"answered": "answers", "reviewed": "reviews"}.get(str(options.labels), "labels")
    return [
        f"where the probabilities in {options.observed} are below 1, they expect {expected:,.0f} labels, but there are "
        f"{shown:,.0f} {what}: estimates are wrong. Check {options.observed}, and what --labels says of the labels "
        f"that come back ({options.labels_text})."
    ]


def doubts(
    options: Options, facts: Facts, classes: Classes | None, pair: tuple[Any, Any] | None, rows: int
) -> list[str]:
    """Warnings: models without confidences; models that are never right, or wrong so often that ``--positive`` must be
    the other class; labels whose delay depends on what they say; probabilities of labels that cannot be right.
    """
    found = _chances(options, facts) + ([] if classes is None else _delays(options, facts, classes))
    for k, model in enumerate(options.models):
        wrong = facts.wrong[k]
        answers = wrong + facts.right[k]
        if facts.unsure[k] > rows / 2:
            found.append(_unsure(model, facts.unsure[k], rows))
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
                "differ in capitals or blanks alone, and count as mistakes. --fold-case takes them for the same."
            )
    return found

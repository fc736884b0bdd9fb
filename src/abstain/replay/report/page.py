"""The page of the report: numbers in words, the table, the sections, and the template that lays them out."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..._core.files import write_bytes
from ..._core.pages import environment
from ..policies import Policy, Replay
from ..wording import against, column, decimals, digits, in_words, mistakes, per_cent, unit_of
from . import figures
from .figures import MONEY, POLICIES, Drawn, Look, areas, bars, curves, lines, model_looks, share

if TYPE_CHECKING:
    from markupsafe import Markup

CASES = 1_000
"""Savings are shown for this many cases."""
MINUS = "\N{MINUS SIGN}"


class Money(NamedTuple):
    """The policy of the verdict compared with the baseline, per case and per `CASES`."""

    gate: str
    tuned: str
    title: str
    """What `amount` is: saved or lost, or a difference within chance."""
    amount: str
    interval: str
    sentence: str


def number(value: float, scale: float | None = None, sign: bool = False) -> str:
    """``value`` with the decimals of a price of its size, or of the size ``scale``; with a real minus sign.

    >>> number(0.13129), number(1234.5), number(2.0, scale=150.0), number(0.5, sign=True)
    ('0.13', '1,234', '2', '+0.50')
    """
    text = f"{value:{'+' if sign else ''},.{decimals(value if scale is None else scale)}f}"
    if float(text.replace(",", "")) == 0.0:  # no "-0.00"
        text = text.lstrip("+-")
    return text.replace("-", MINUS)


def amount(replay: Replay, value: float, scale: float | None = None) -> str:
    """A price with its unit."""
    return f"{number(value, scale)} {unit_of(replay.price, replay.unit)}".strip()


def plain_price(replay: Replay, value: float) -> str:
    """A price as the user gave it: 5 rather than 5.00."""
    return f"{value:,.6g} {replay.unit}".strip()


def scale(replay: Replay) -> float:
    """The price per case that fixes the decimals of all prices: of the gate or the tuned threshold, or the largest."""
    kinds = (replay.lead, replay.baseline)
    found = [policy.loss * replay.price for policy in replay.policies if policy.kind in kinds]
    return max(found, default=0.0) or max((policy.loss * replay.price for policy in replay.policies), default=0.0)


def of_kind(replay: Replay, kind: str) -> Policy | None:
    """The first policy of this kind."""
    return next((policy for policy in replay.policies if policy.kind == kind), None)


def who(replay: Replay) -> tuple[str, str, str]:
    """The policy of the verdict as a subject and on a label, and the baseline."""
    lead = ("The gate", "the gate") if replay.lead == "gate" else ("What was decided", "as it was decided")
    return (*lead, "today's threshold" if replay.baseline == "today" else "one threshold")


def money(replay: Replay) -> Money | None:
    """What was saved or lost against the baseline; None if they were not compared, or labels are missing."""
    gate, tuned = of_kind(replay, replay.lead), of_kind(replay, replay.baseline)
    if gate is None or tuned is None or gate.difference is None or not (gate.known and tuned.known):
        return None
    subject, _, base = who(replay)
    each = CASES * replay.price
    saved = -gate.difference * each
    ends = None if gate.low is None or gate.high is None else (-gate.high * each, -gate.low * each)
    largest = max(abs(saved), *map(abs, ends or (0.0,)))
    lost = saved < 0.0
    size = amount(replay, abs(saved), largest)
    part = f", {per_cent(abs(gate.difference) / tuned.loss)} of what {base} costs" if tuned.loss else ""
    title = f"{'Lost' if lost else 'Saved'} per {CASES:,} cases"
    shown = "" if ends is None else f"{_interval(ends, lost, largest)} {unit_of(replay.price, replay.unit)}".strip()
    if saved == 0.0:
        sentence = f"{subject} costs exactly as much as {base}"
    elif ends is not None and ends[0] <= 0.0 <= ends[1]:
        side = "more" if lost else "less"
        sentence = f"{subject} costs {size} {side} than {base} for every {CASES:,} cases{part}"
        title, size = f"Difference per {CASES:,} cases", f"{size} {side}"
        shown = f"{amount(replay, ends[1], largest)} less to {amount(replay, -ends[0], largest)} more"
    elif lost:
        sentence = f"{subject} loses: it costs {size} more than {base} for every {CASES:,} cases{part}"
    else:
        verb = "saves" if replay.stretch is None else "would have saved"
        verb = verb if replay.lead == "gate" else "saved"
        sentence = f"{subject} {verb} {size} for every {CASES:,} cases{part}"
    sentence += f". {_doubt(ends, lost)}" if ends is not None and saved != 0.0 else "."
    return Money(
        gate=amount(replay, gate.loss * replay.price, scale(replay)),
        tuned=amount(replay, tuned.loss * replay.price, scale(replay)),
        title=title, amount=size, interval=shown, sentence=sentence,
    )  # fmt: skip


def retuned(replay: Replay) -> tuple[str, str] | None:
    """The price per case of the re-tuned threshold, and how far the policy of the verdict is from it."""
    own = of_kind(replay, "retuned-own")
    rival = next((one for one in replay.rivals if one.kind == "retuned-own"), None)
    if own is None or rival is None or not own.known:
        return None
    told = in_words(rival)
    told = f"{who(replay)[1]}: {told}" if told else ""
    return amount(replay, own.loss * replay.price, scale(replay)), told


def _interval(ends: tuple[float, float], lost: bool, largest: float) -> str:
    """The interval in the direction of the title: a loss of 2 to 7, a saving of -1 to 4."""
    low, high = (-ends[1], -ends[0]) if lost else ends
    return f"{number(low, largest)} to {number(high, largest)}"


def _doubt(ends: tuple[float, float], lost: bool) -> str:
    """Say whether the interval includes 0."""
    if ends[0] <= 0.0 <= ends[1]:
        return "It may be luck: the 95 % interval of the difference goes from a loss to a saving."
    side = "loss" if lost else "saving"
    return f"Luck alone does not explain it: the whole 95 % interval of the difference is on the side of a {side}."


def prices(replay: Replay) -> str:
    """The prices of a review and a mistake; the highest one, if mistakes differ."""
    review, mistake = plain_price(replay, replay.cost * replay.price), plain_price(replay, replay.price)
    if replay.stakes:
        return f"A review costs {review}, a mistake what is at stake in the case"
    whole = "mistake" if replay.max_error is None else f"whole mistake, an error of {replay.max_error:g} or more,"
    if replay.price == 1.0 and not replay.unit:
        return f"Without prices, everything is counted in mistakes. A review costs {review} of a {whole.rstrip(',')}"
    return f"A review costs {review}, a {whole} {mistake}"


def reviews(replay: Replay) -> str | None:
    """How many cases reviewers see with and without the gate; per day, if the log has times and lasts a day."""
    gate, tuned = of_kind(replay, replay.lead), of_kind(replay, replay.baseline)
    if gate is None or tuned is None:
        return None
    shares = tuple(per_cent(policy.reviewed).removesuffix(" %") for policy in (gate, tuned))
    begin = "With the gate your reviewers see" if replay.lead == "gate" else "Your reviewers saw"
    mean = f" (mean of {replay.runs} gates)" if replay.lead == "gate" and replay.runs > 1 else ""
    if shares[0] == shares[1]:
        sentence = f"{begin} {shares[0]} of 100 counted cases{mean}, as many as with {who(replay)[2]}"
    else:
        sentence = f"{begin} {shares[0]} of 100 counted cases{mean} instead of {shares[1]}"
    if replay.days is None or replay.days < 1.0:
        return f"{sentence}."
    each = (policy.reviewed * replay.scored_rows / replay.days for policy in (gate, tuned))
    daily = [f"{n:,.0f}" if n >= 10.0 or n == 0.0 else f"{n:.1f}" for n in each]
    return f"{sentence}; that is {daily[0]} a day{'' if shares[0] == shares[1] else f' instead of {daily[1]}'}."


MEANINGS = {
    "gate": "{begin}learns from the labels that came back, and changes model and threshold as it goes.",
    "decided": "what was really decided at the time, as the log says.",
    "today": "the model and the threshold that you said are in use today.",
    "tuned": "one model and one threshold, the best on the first {first:,} cases with all their labels, then left "
    "alone: what most teams do.",
    "stack": "a logistic regression on what all models say. It sends a case to review if it expects a mistake to cost "
    "more, and is fitted again and again on the labels of its own answers: what a careful engineer would build.",
    "retuned-own": "chosen again and again on recent cases, from the labels its own decisions brought: the usual "
    "next step. It never learns what became of the cases it sent to review.",
    "retuned-all": "re-tuned as often, but with the labels of all cases, including those it sent to review.",
    "hindsight": "the one model and threshold that was best for the counted cases, chosen after the end: a yardstick.",
    "review": "every case goes to a person.",
    "always": "this model answers every case it has an answer for.",
}


class Row(NamedTuple):
    """The cells of a policy."""

    kind: str
    name: str
    price: str
    mistakes: str
    reviews: str
    difference: str
    """From tuned, in per cent of it; its interval; and in money."""
    interval: str
    money: str
    beyond: bool
    """Whether it reviews more than the capacity allows."""


def rows(replay: Replay) -> list[Row]:
    """One row per policy, prices with the same decimals."""
    reviews = column([policy.reviewed for policy in replay.policies])
    return [_row(replay, *cells) for cells in zip(replay.policies, mistakes(replay.policies), reviews, strict=True)]


def _row(replay: Replay, policy: Policy, mistakes: str, reviews: str) -> Row:
    size, price = scale(replay), replay.price
    share, interval = against(policy)
    amount = "" if policy.difference is None else number(policy.difference * price, size, sign=True)
    cost = number(policy.loss * price, size)
    if not policy.known:
        cost = f"{number((policy.lowest or 0.0) * price, size)} to {number((policy.highest or 0.0) * price, size)}"
    ranges = replay.effective is None or not all(one.known for one in replay.policies)
    if policy.low is not None and policy.high is not None and replay.left_out and ranges:
        amount = interval = ""
        share = f"{number(policy.low * price, size, sign=True)} to {number(policy.high * price, size, sign=True)}"
    return Row(policy.kind, policy.name, cost, mistakes, reviews, share.replace("-", MINUS),
               interval.replace("-", MINUS), amount, policy.beyond(replay.share))  # fmt: skip


LABELS = {"answered": "of answered cases", "reviewed": "of reviewed cases", "both": "of all cases"}
"""Which labels came back, in words."""


def labels(replay: Replay) -> str:
    """Which labels came back, in words; two probabilities are shares of answers and of reviews."""
    answers, _, reviews = replay.labels.partition(",")
    if not reviews:
        return LABELS.get(replay.labels, replay.labels)
    return f"of {per_cent(float(answers))} of the answers and {per_cent(float(reviews))} of the reviews"


CODE = re.compile(r"--[a-z-]+|gate = [^\s,]+|gate\.\w+(?:\(\w+\))?|abstain serve|labels=\([^)]*\)")
"""What one types, in sentences on what to do next."""


def with_code(sentence: str) -> "Markup":
    """A sentence with what one types as code.

    >>> with_code("Then gate.peek(answers), or <this>.")
    Markup('Then <code>gate.peek(answers)</code>, or &lt;this&gt;.')
    """
    from markupsafe import Markup

    found, at = Markup(""), 0
    for match in CODE.finditer(sentence):
        found += sentence[at : match.start()]
        found += Markup("<code>{}</code>").format(match[0])
        at = match.end()
    return found + sentence[at:]


def whole(sentence: str) -> "Markup":
    r"""A sentence whose options are not broken at their dashes, nor a number before its per cent.

    >>> whole("50 % have none (--decided, <this>).")
    Markup('50\xa0% have none <span class="word">(--decided</span>, &lt;this&gt;).')
    """
    from markupsafe import Markup

    parts = re.split(r"(\(?--[a-z-]+)", sentence.replace(" %", "\u00a0%"))
    option = Markup('<span class="word">{}</span>')
    return Markup("").join(option.format(part) if k % 2 else part for k, part in enumerate(parts))


def meanings(replay: Replay) -> list[tuple[str, str]]:
    """The meaning of each kind of policy, by its name in the table."""
    found: dict[str, str] = {}
    for policy in replay.policies:
        if policy.kind in MEANINGS:
            found.setdefault(policy.kind, policy.name if policy.kind != "always" else "always ...")
    begin = "" if replay.lead == "gate" else "a new gate, played from the start of the log; it "
    told = {"first": replay.first, "begin": begin}
    return [(name.partition(":")[0], MEANINGS[kind].format(**told)) for kind, name in found.items()]


STEPS = 10
"""Positions of the slider from 0 to the price of the replay."""
TIMES = 3
"""How many times this price the slider goes to, unless a mistake costs less."""


class Priced(NamedTuple):
    """What a policy did: its mistakes cost this much per case, and it sent this share to review."""

    name: str
    mistakes: float
    reviewed: float

    def at(self, review: float) -> float:
        """The price per case if a review costs ``review``."""
        return self.mistakes + self.reviewed * review


class WhatIf(NamedTuple):
    """What the slider of review prices shows."""

    now: float
    """The review price of the replay; the slider moves by a tenth of it."""
    steps: int
    """The position of that price ..."""
    most: int
    """... and the last one."""
    unit: str
    decimals: int
    digits: int
    """Of shares of reviews, as in the table of all policies."""
    subject: str
    """The first policy as the subject of a sentence."""
    policies: list[Priced]
    """What was really decided, the policy of the verdict first; nothing of it changes with the price."""
    fixed: list[Priced]
    """Fixed thresholds, of which the cheapest at each price is shown."""


def what_if(replay: Replay) -> WhatIf | None:
    """Other review prices; None if costs have bounds or are estimates, or if a capacity limits reviews.

    With another price a policy would decide differently. Exactly known is only what the recorded decisions would have
    cost, and which fixed threshold would have been best.
    """
    now = replay.cost * replay.price
    unsure = replay.left_out or replay.effective is not None or not all(policy.known for policy in replay.policies)
    if unsure or replay.share is not None or not replay.curves or now <= 0.0:
        return None
    kinds = (replay.lead, "gate", replay.baseline, "retuned-own", "stack")
    told = [policy for kind in dict.fromkeys(kinds) if (policy := of_kind(replay, kind)) is not None]
    policies = [
        Priced(one.name, max(0.0, one.loss - replay.cost * one.reviewed) * replay.price, one.reviewed) for one in told
    ]
    points = [
        Priced(curve.model, answered * risk * replay.price, 1.0 - answered)
        for curve in replay.curves
        for answered, risk in zip(curve.coverage, curve.risk, strict=True)
    ]
    most = max(STEPS, min(TIMES * STEPS, int(STEPS / replay.cost + 1e-9)))
    fixed = cheapest([*points, Priced("", 0.0, 1.0)])
    subject = "the gate" if replay.lead == "gate" else "what was decided"
    unit = unit_of(replay.price, replay.unit)
    shares = digits([policy.reviewed for policy in replay.policies])
    return WhatIf(now, STEPS, most, unit, decimals(scale(replay)), shares, subject, policies, fixed)


def cheapest(points: list[Priced]) -> list[Priced]:
    """The points that are cheapest at some review price: the lower left corner of their convex hull.

    >>> [one.name for one in cheapest([Priced("a", 1.0, 0.0), Priced("b", 0.9, 0.5), Priced("c", 0.0, 1.0)])]
    ['a', 'c']
    """
    hull: list[Priced] = []
    for one in sorted(points, key=lambda point: (point.reviewed, point.mistakes)):
        if hull and one.mistakes >= hull[-1].mistakes:
            continue
        while len(hull) > 1 and (hull[-1].mistakes - hull[-2].mistakes) * (one.reviewed - hull[-2].reviewed) >= (
            one.mistakes - hull[-2].mistakes
        ) * (hull[-1].reviewed - hull[-2].reviewed):
            hull.pop()
        hull.append(one)
    return hull


class Section(NamedTuple):
    """A figure with its words."""

    key: str
    title: str
    text: str
    axis: str
    """What the vertical axis shows."""
    drawn: Drawn


def sections(replay: Replay) -> list[Section]:
    """The sections that have something to show."""
    looks = model_looks(list(dict.fromkeys([*figures.most_followed(replay), *replay.models])))
    found: list[Section] = []
    if len(replay.saved) > 1 and not (replay.left_out and replay.effective is None):
        found.append(_saved(replay))
    if replay.timeline.row:
        found += [*_policies(replay), *_gate(replay, looks), *_answers(replay, looks)]
    return [*found, *_results(replay, looks)]


def _saved(replay: Replay) -> Section:
    what = "Each bar is a day." if replay.saved[0].begin[:3] != "row" else "Each bar is a tenth of the counted cases."
    text = f"What was saved compared with {who(replay)[2]}; bars below 0 are losses. {what} "
    text += "If few bars carry it all, it was an event: do not expect it every month."
    total = sum(part.saved for part in replay.saved)
    return Section(
        "saved",
        f"Where the {'loss' if total < 0.0 else 'saving'} came from",
        text,
        f"saved{_unit(replay)}",
        figures.saved(replay),
    )


def _unit(replay: Replay) -> str:
    unit = unit_of(replay.price, replay.unit)
    return f", {unit}" if unit else ""


def _policies(replay: Replay) -> Iterator[Section]:
    points = len(figures.coarse(replay.timeline, replay.rows).row)
    text = (
        f"Lower is better. Each point is the mean of about {round(replay.rows / points):,} cases. The grey part at the "
        "left is what the tuned threshold was chosen on: it knew these cases beforehand, so they do not count."
    )
    if replay.left_out and replay.effective is None:
        text += " Where labels are missing, the line is halfway between the best case and the worst."
    drawn = lines(figures.prices(replay), POLICIES, MONEY)
    yield Section("prices", "Price over time", text, f"price per case{_unit(replay)}", drawn)
    text = "How much work was left to people."
    if replay.share is not None:
        text += f" The reviewers' capacity was {replay.capacity}, the dotted black line."
    yield Section("reviews", "Reviews over time", text, "share of cases reviewed",
                  lines(figures.reviews(replay), POLICIES, share()))  # fmt: skip


def _gate(replay: Replay, looks: Mapping[str, Look]) -> Iterator[Section]:
    played = "the gate" if replay.lead == "gate" else "the replayed gate"  # not the live one
    if len(replay.timeline.model) > 1:
        text = f"Which model {played} followed. A band widens as the gate comes to trust that model."
        shows = figures.followed(replay)
        yield Section("models", "Model followed over time", text, "share of cases", areas(shows, looks))
    text = (
        f"The confidence that the model followed by {played} had to exceed; each point is the median. At 1 "
        "every case goes to review, at 0 every case is answered. The axis shows the range used in counted cases."
    )
    if replay.max_error is not None and not replay.stakes:
        text += (
            f" The confidence in a number is 1 minus its expected error divided by {replay.max_error:g}: a threshold "
            f"of 0.9 uses answers below an expected error of {0.1 * replay.max_error:.3g}."
        )
    shows = figures.thresholds(replay)
    drawn = lines(shows, POLICIES, {"range": figures.span(shows), "hoverformat": ".5~g", "rangemode": "normal"})
    yield Section("thresholds", "Threshold over time", text, "threshold", drawn)


def _answers(replay: Replay, looks: Mapping[str, Look]) -> Iterator[Section]:
    shows = figures.answers(replay)
    if shows is None:
        return
    others = len(replay.timeline.answered) - len(shows.lines)
    text = "Models that did not always have an answer, for instance in an outage. "
    text += "The gate followed the others then." if len(replay.models) > 1 else "Those cases went to review."
    if others:
        text += " Models that are not shown answered as often or more often."
    yield Section("answers", "Model availability", text, "share of cases with an answer",
                  lines(shows, looks, share(1.02)))  # fmt: skip


def _results(replay: Replay, looks: Mapping[str, Look]) -> Iterator[Section]:
    if replay.curves:
        text = (
            "What a model's mistakes would cost per answered case if it answered only those cases it is surest of, "
            "from few (left) to all (right). A curve that rises to the right is a model that is right more often where "
            "it is surer. Further down and further to the right is better. The diamond is where the gate was; it "
            "changes models and thresholds, so it need not lie on a curve."
        )
        if len(replay.curves) > figures.MOST_LINES:
            text += f" Only the {figures.MOST_LINES} models that the gate followed most are shown."
        shows = figures.trade(replay)
        axis = f"price of mistakes per answered case{_unit(replay)}"
        yield Section("curves", "Price of mistakes by share answered", text, axis, curves(shows, looks))
    if replay.mistakes:
        text = "Cases that were answered wrongly, by what the right answer was."
        yield Section(
            "classes", "Mistakes by class", text, "", bars(figures.mistakes(replay), replay.lead, replay.baseline)
        )


def write(replay: Replay, path: Path) -> None:
    """Write the report; an old one stays until the new one is whole."""
    write_bytes(path, html(replay).encode())


def html(replay: Replay) -> str:
    """The page as text. Jinja2 escapes whatever comes from the log; in figures, `figures.shown` does."""
    from plotly.offline import get_plotlyjs

    from ... import __version__

    today = datetime.now()
    found, other = sections(replay), what_if(replay)
    return (
        environment(__package__)
        .get_template("report.html")
        .render(
            replay=replay,
            money=money(replay),
            policies=rows(replay),
            meanings=meanings(replay),
            sections=found,
            retuned=retuned(replay),
            unit=unit_of(replay.price, replay.unit),
            labels=labels(replay),
            next=[with_code(sentence) for sentence in replay.next],
            made=f"{today.day} {today:%B %Y}",
            version=__version__,
            figures={section.key: section.drawn.figure for section in found},
            prices=prices(replay),
            what_if=None if other is None else other._asdict(),
            review_price=plain_price(replay, replay.cost * replay.price),
            reviews=reviews(replay),
            who=who(replay),
            notes=[note for note in replay.notes if note not in replay.beside],
            plotly=get_plotlyjs(),
            whole=whole,
        )
    )

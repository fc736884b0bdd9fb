"""What the pages show: numbers in words, and the rows and figures of each page. Nothing here draws or escapes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import floor, isfinite, log10
from typing import Any, NamedTuple

from ..._core.pages import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION
from ..bodies import CaseReply, GateReply, ReviewReply, as_seconds
from ..commits import Counters
from ..savings import BOUNDS, ESTIMATED, OverTime, Priced, Savings

NONE = "\u2013"
"""Shown where nothing is known."""
MODES = {
    "live": "The gate decides.",
    "shadow": "Your own rule decides; the gate watches and learns.",
    "paused": "Every case goes to review; the gate learns nothing.",
}
KNOWN = {ESTIMATED: "estimated", BOUNDS: "between bounds"}
"""How prices are known that are not exact."""
COLOURS = (VERMILION, GREEN, PURPLE, ORANGE, SKY)
"""Those of the models; blue is the gate."""
DASHES = ("solid", "dot", "dashdot", "longdash", "longdashdot")
"""Those of the models' lines, which not everybody can tell apart by their colours; today's line has plain dashes."""
KEYS = "123456789abcdefghijklmopqrtuvwxyz"
"""Keys of classes, unless the class is a single character itself; n is next, and s is left to browsers."""
MOST_CLASSES = 30
MOST_ROWS = 6
UNITS = ((86_400.0, "days"), (3_600.0, "hours"), (60.0, "min"), (1.0, "s"))


class Period(NamedTuple):
    """A period to measure, up to now."""

    name: str
    seconds: float | None


PERIODS = {
    "day": Period("24 hours", 86_400.0),
    "week": Period("7 days", 7 * 86_400.0),
    "month": Period("30 days", 30 * 86_400.0),
    "all": Period("All time", None),
}
DEFAULT = "month"


# Numbers: every page writes them with these.


def money(value: float | None) -> str:
    """An amount, with three digits or to the whole.

    >>> money(0.01894), money(1234.5), money(12.34), money(0.0)
    ('0.0189', '1,234', '12.3', '0')
    """
    if value is None or not isfinite(value):
        return NONE
    if value == 0.0:
        return "0"
    places = max(0, 2 - floor(log10(abs(value)))) if abs(value) >= 1e-6 else 8
    text = f"{value:,.{places}f}"
    return "0" if float(text.replace(",", "")) == 0.0 else text.replace("-", "\u2212")


def signed(value: float | None) -> str:
    """An amount with its sign.

    >>> signed(12.0), signed(0.0)
    ('+12.0', '0')
    """
    text = money(value)
    return f"+{text}" if value is not None and text not in (NONE, "0") and value > 0.0 else text


def share(value: float | None) -> str:
    """A share in per cent.

    >>> share(0.1234), share(0.68), share(1.0), share(0.0), share(0.0004)
    ('12.3 %', '68.0 %', '100 %', '0 %', '0.04 %')
    """
    if value is None or not isfinite(value):
        return NONE
    if value == 0.0 or 0.9995 <= value < 1.0005:
        return f"{100.0 * value:.0f} %"
    return f"{100.0 * value:.{2 if abs(value) < 0.00095 else 1}f} %"


def count(value: float | None) -> str:
    """A whole number.

    >>> count(20000)
    '20,000'
    """
    return NONE if value is None else f"{value:,.0f}"


def span(seconds: float | None) -> str:
    """A span of time.

    >>> span(0.2), span(75), span(5400), span(129600)
    ('under 1 s', '75 s', '90 min', '36 hours')
    """
    if seconds is None:
        return NONE
    if seconds < 1.0:
        return "under 1 s"
    size, name = next(one for one in UNITS if seconds >= 2 * one[0] or one[0] == 1.0)
    found = seconds / size
    return f"{found:.0f} {name}" if found >= 10.0 or found == int(found) or size == 1.0 else f"{found:.1f} {name}"


def when(at: float | None) -> str:
    """A moment, in UTC.

    >>> when(1_773_000_000.0)
    '8 Mar 2026, 20:00'
    """
    if at is None:
        return NONE
    moment = datetime.fromtimestamp(at, UTC)
    return f"{moment.day} {moment:%b %Y, %H:%M}"


def label(value: Any) -> str:
    """A label or an answer as people read it."""
    if value is None:
        return NONE
    if isinstance(value, float):
        return f"{value:g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# Pages.


def overview(gate: GateReply, savings: Savings | None, alarms: int, *, unread: bool = False) -> dict[str, Any]:
    """The row of a gate among all; ``unread`` if not all of its numbers could be read."""
    made = savings.policies[0] if savings is not None and savings.policies else None
    return {
        "name": gate.name, "mode": gate.mode, "state": gate.state, "decided": gate.decided, "open": gate.open,
        "alarms": alarms, "price": None if made is None else made.price,
        "reviewed": None if made is None else made.reviewed, "savings": savings,
        "unread": unread, "models": gate.settings.get("models", []),
    }  # fmt: skip


def gate(
    reply: GateReply,
    savings: Savings,
    health: Mapping[str, Any],
    policy: Sequence[Mapping[str, Any]],
    counters: Counters,
) -> dict[str, Any]:
    """What the page of a gate shows."""
    settings, made, base = reply.settings, savings.policies[0] if savings.policies else None, savings.baseline
    models = [one["model"] for one in health["models"]]
    return {
        "prices": prices(settings),
        "capacity": capacity(settings.get("capacity"), health.get("capacity_left")),
        "savings": savings,
        "made": made,
        "base": base,
        "less": None if made is None or base is None or base.price <= 0.0 else 1.0 - made.price / base.price,
        "rows": [(one, known(one)) for one in savings.policies],
        "bounds": any(known(one) == KNOWN[BOUNDS] for one in savings.policies),
        "health": health,
        "alarms": [one for one in health["models"] if one["alarm"] is not None],
        "policy": [row for row in policy[:MOST_ROWS] if (row.get("weight") or 0.0) >= 0.005],
        "leader": leader(policy),
        "expired": counters.expired[reply.name],
        "held": counters.held[reply.name],
        "unmatched": counters.unmatched[reply.name],
        "mismatches": reply.mismatches,
        "figures": json.dumps(figures(savings, settings, models)),
        "modes": MODES,
        "stakes": settings.get("max_stake") is not None
        or not isinstance(settings.get("mistake_price", 1.0), (int, float)),
    }


def known(row: Priced) -> str:
    """How a price is known, in words, unless it is exact; bounds that are written alike are no bounds."""
    return "" if row.known == BOUNDS and money(row.lowest) == money(row.highest) else KNOWN.get(row.known, "")


def leader(policy: Sequence[Mapping[str, Any]]) -> str:
    """What the gate leans to most, in words.

    >>> leader([{"model": "gbm", "threshold": 0.85}]), leader([{"model": "gbm", "threshold": None}])
    ('gbm above confidence 0.85', 'review everything')
    """
    if not policy:
        return NONE
    model, threshold = policy[0].get("model"), policy[0].get("threshold")
    if threshold is None:
        return "review everything"
    return f"{model} always" if threshold < 0.0 else f"{model} above confidence {threshold:.3g}"


def prices(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The prices that the form for them shows; ``fixed`` if they are two plain numbers."""
    if settings.get("review_price") is None:
        return {"fixed": True, "by_cost": True, "review": settings.get("cost"), "mistake": 1.0}
    mistake = settings.get("mistake_price")
    plain = isinstance(mistake, (int, float))
    return {"fixed": plain, "by_cost": False, "review": settings["review_price"], "mistake": mistake if plain else None}


def capacity(given: Any, left: float | None = None) -> str | None:
    """A capacity in words, with the reviews that are left now.

    >>> capacity(0.08), capacity({"per_day": 500, "burst": 50, "share": None}, 12.0), capacity(None)
    ('8.0 % of cases', '500 per day, 12 left now', None)
    """
    if given is None:
        return None
    if isinstance(given, (int, float)):
        given = {"share": float(given)}
    each = (
        f"{share(given['share'])} of cases" if given.get("share") is not None else f"{count(given['per_day'])} per day"
    )
    return each if left is None else f"{each}, {count(left)} left now"


def figures(savings: Savings, settings: Mapping[str, Any], models: Sequence[str]) -> dict[str, Any]:
    """Curves over time, as the script draws them."""
    over: OverTime = savings.over_time
    x = [datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S") for at in over.at]
    colour = {model: COLOURS[k % len(COLOURS)] for k, model in enumerate(models)}
    dash = dict(zip(colour.values(), DASHES, strict=False))
    lines = []
    alone = sorted((row.price, row.name) for row in savings.policies if row.kind == "always")[: len(COLOURS)]
    shown = {name for _, name in alone}  # the cheapest: more lines cannot be told apart
    for row in savings.policies:
        if row.kind == "review" or row.name not in over.price or (row.kind == "always" and row.name not in shown):
            continue
        kind = {"gate": "gate", "always": "model"}.get(row.kind, "today")
        name = f"today: {row.name}" if row.kind == "today" else row.name
        own = BLUE if kind == "gate" else colour.get(row.model or "", ORANGE)
        pattern = {"gate": "solid", "today": "dash"}.get(kind, dash.get(own, "solid"))
        lines.append({"name": name, "kind": kind, "y": over.price[row.name], "colour": own, "dash": pattern})
    lines.sort(key=lambda line: ["model", "today", "gate"].index(str(line["kind"])))
    limit = settings.get("capacity")
    limit = limit.get("share") if isinstance(limit, Mapping) else limit
    return {
        "x": x,
        "price": lines,
        "reviewed": over.reviewed,
        "capacity": limit,
        "followed": [{"name": name, "y": y, "colour": colour.get(name, ORANGE)} for name, y in over.followed.items()],
        "threshold": over.threshold,
    }


def reopened(case: CaseReply, now: float) -> ReviewReply:
    """A case whose label somebody wants to correct."""
    last = case.label if case.correction is None else case.correction
    return ReviewReply.of(case, now).model_copy(update={"label": last})


def review(gate: GateReply, case: ReviewReply, closed: Sequence[ReviewReply]) -> dict[str, Any]:
    """A case as reviewers see it: the models' answers, the classes with their keys, and its context."""
    settings, number = gate.settings, gate.settings.get("task") == "number"
    said = [(model, given, _said(given, settings)) for model, given in case.answers.items()]
    known: list[Any] = list(settings.get("classes") or ([0, 1] if settings.get("task") == "binary" else []))
    fixed = bool(known)
    given = _once([answer for _, one, (answer, _) in said if one is not None])
    if not fixed and not number:
        known = sorted(_once([*given, *(one.label for one in closed)]), key=lambda one: str(one).casefold())
    # Those of many classes that the models name come first; the others can be typed.
    found = known if len(known) <= MOST_CLASSES else _once([*given, *known])[:MOST_CLASSES]
    numbers = [isinstance(one, (int, float)) and not isinstance(one, bool) for one in known]
    return {
        "case": case, "number": number, "fixed": fixed, "typed": number or not fixed or len(found) < len(known),
        "numbers": number or (all(numbers) and bool(numbers)),
        "answers": [(model, *read) for model, _, read in said],
        "classes": [(json.dumps(one), label(one), key) for one, key in zip(found, keys_of(found), strict=True)],
        "known": [(json.dumps(one), label(one)) for one in known],
        "context": context(case.context), "time": None if case.time is None else when(as_seconds(case.time)),
    }  # fmt: skip


def _said(given: Any, settings: Mapping[str, Any]) -> tuple[Any, str]:
    """What a model said, and how sure it was, in words."""
    if given is None:
        return None, NONE
    if given.get("probability") is not None:
        classes, p = settings.get("classes") or [0, 1], float(given["probability"])
        return classes[int(p >= 0.5)], f"{share(max(p, 1.0 - p))} sure"
    if given.get("error") is not None:
        return given["answer"], f"± {money(float(given['error']))}"
    return given["answer"], f"{share(float(given['confidence']))} sure"


def _once(values: Sequence[Any]) -> list[Any]:
    """Values without those that come again; 1, 1.0 and True are different labels in JSON."""
    return [value for _, value in {json.dumps(one): one for one in values if one is not None}.items()]


def keys_of(classes: Sequence[Any]) -> list[str]:
    """One key for each class: the class itself, if all are single characters; "" if there are no keys left.

    >>> keys_of([0, 1, 2]), keys_of(["spam", "ham"]), keys_of(["y", "n"])
    (['0', '1', '2'], ['1', '2'], ['1', '2'])
    """
    texts = [label(one).casefold() for one in classes]
    if all(len(text) == 1 and text in f"0{KEYS}" for text in texts) and len(set(texts)) == len(texts):
        return texts
    return [KEYS[k] if k < len(KEYS) else "" for k in range(len(classes))]


def context(value: Any) -> list[tuple[str, str]]:
    """The context as pairs of a name and a text; what is nested is shown as JSON.

    >>> context({"text": "Hello", "amount": 12.5}), context("plain"), context(None)
    ([('text', 'Hello'), ('amount', '12.5')], [('', 'plain')], [])
    """
    if value is None or value in ({}, []):
        return []
    pairs = value.items() if isinstance(value, Mapping) else [("", value)]
    return [
        (str(name), json.dumps(one, ensure_ascii=False, indent=2) if isinstance(one, (dict, list)) else label(one))
        for name, one in pairs
    ]

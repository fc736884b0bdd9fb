"""The figures of the report with the words around them, in the order of the page."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..result import Replay
from . import figures
from .drawing import MONEY, POLICIES, Drawn, Look, areas, bars, curves, lines, model_looks, share


class Section(NamedTuple):
    """A figure with its words."""

    key: str
    title: str
    text: str
    axis: str
    """What the vertical axis shows."""
    drawn: Drawn


def sections(replay: Replay) -> list[Section]:
    """Those that have something to show."""
    looks = model_looks(list(dict.fromkeys([*figures.most_followed(replay), *replay.models])))
    found: list[Section] = []
    if replay.timeline.row:
        found += [*_policies(replay), *_gate(replay, looks), *_answers(replay, looks)]
    return [*found, *_results(replay, looks)]


def _unit(replay: Replay) -> str:
    return f", {replay.unit}" if replay.unit else ""


def _policies(replay: Replay) -> Iterator[Section]:
    points = len(figures.coarse(replay.timeline, replay.rows).row)
    text = (
        f"Lower is better. Each point is the mean of about {round(replay.rows / points):,} cases. The grey part at the "
        "left is what the tuned threshold was chosen on: it knew these cases beforehand, so they do not count."
    )
    drawn = lines(figures.prices(replay), POLICIES, MONEY)
    yield Section("prices", "Price over time", text, f"price a case{_unit(replay)}", drawn)
    text = "How much work was left to people."
    if replay.share is not None:
        text += f" The reviewers' capacity was {replay.capacity}, the dotted black line; it holds for the gate only."
    yield Section("reviews", "Reviews over time", text, "share of cases reviewed",
                  lines(figures.reviews(replay), POLICIES, share()))  # fmt: skip


def _gate(replay: Replay, looks: Mapping[str, Look]) -> Iterator[Section]:
    if len(replay.timeline.model) > 1:
        text = "Whose answers the gate went by. A band that widens is a model that the gate came to trust."
        shows = figures.followed(replay)
        yield Section("models", "Model followed over time", text, "share of cases", areas(shows, looks))
    text = (
        "The confidence above which the followed model's answer was used; the middle one of those used at the time. "
        "At 1 everything goes to review, at 0 everything is answered; the axis shows the part used in counted cases."
    )
    if replay.most_error is not None and not replay.stakes:
        text += (
            f" The confidence in a number is 1 minus its expected error divided by {replay.most_error:g}: a threshold "
            f"of 0.9 uses answers from an expected error of {0.1 * replay.most_error:.3g} down."
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
    text += "The gate went by the others then." if len(replay.models) > 1 else "Those cases went to review."
    if others:
        text += " Models that are not shown answered as often or more often."
    yield Section("answers", "Answers that were there", text, "share of cases with an answer",
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
            text += f" Shown are the {figures.MOST_LINES} models the gate followed most."
        shows = figures.trade(replay)
        axis = f"price of mistakes per answered case{_unit(replay)}"
        yield Section("curves", "Answering more, or making fewer mistakes", text, axis, curves(shows, looks))
    if replay.mistakes:
        text = "Cases that were answered wrongly, by what the right answer was."
        yield Section("classes", "Mistakes by class", text, "", bars(figures.mistakes(replay)))

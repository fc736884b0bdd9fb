"""Figures 7 to 13: regret and fraction abstained on all sets."""

from collections.abc import Iterable
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from ...experiments import (
    LINEAR,
    QUANTITIES,
    Figure,
    Panel,
    PanelGrid,
    Place,
    Results,
    describe_bands,
    draw_panels,
    panel_grid,
)
from ..claims.order import PAPER

if TYPE_CHECKING:
    pass

OTHERS = {
    "UCB-GT, β = 0.625": "UCB-GT with β = 0.625 (the paper's β is 2.5)",
    "EXP3-ABS": "EXP3-ABS (the paper's, but with an adaptive rate, and not in its experiments)",
}
"""Learners that the paper's experiments do not have, in words."""


def regret(shown: PanelGrid) -> str:
    """How regret compares at the end, and its scale."""
    end = order(shown)
    text = f"After {shown.rounds:,} rounds {end}" if end else f"Average regret over {shown.rounds:,} rounds"
    return f"{text}. {scale()}"


def order(shown: PanelGrid) -> str:
    """In how many panels UCB-GT ends below the others, and how far from FS; empty without UCB-GT."""
    panels = [panel for panel in shown.panels if panel.quantity == "regret"]
    below = [f"below {other}'s in {_below(panels, other)}" for other in ("UCB-NT", "UCB") if _compared(panels, other)]
    if not below:
        return ""
    gaps = [ours - theirs for ours, theirs in _compared(panels, "FS")]
    away = f"; the median difference to FS is {median(gaps):+.2g}" if gaps else ""
    return f"UCB-GT's average regret is {' and '.join(below)} panels{away}"


def _compared(panels: list[Panel], other: str) -> list[tuple[float, float]]:
    pairs = [(panel.last("UCB-GT"), panel.last(other)) for panel in panels]
    return [(ours, theirs) for ours, theirs in pairs if ours is not None and theirs is not None]


def _below(panels: list[Panel], other: str) -> str:
    pairs = _compared(panels, other)
    return f"{sum(ours < theirs for ours, theirs in pairs)} of {len(pairs)}"


def abstention(shown: PanelGrid) -> str:
    """How often UCB-GT and FS abstain, by cost."""
    panels = [panel for panel in shown.panels if panel.quantity == "abstained"]
    parts = []
    for learner in ("UCB-GT", "FS"):
        means = []
        for cost in sorted({panel.cost for panel in panels}):
            ends = [end for panel in panels if panel.cost == cost and (end := panel.last(learner)) is not None]
            if ends:
                means.append(f"{100 * sum(ends) / len(ends):.0f} % at c = {cost:g}")
        if means:
            parts.append(f"{learner} {', '.join(means)}")
    ends_with = f"; at the end, on average over the sets: {'; '.join(parts)}" if parts else ""
    return f"The fraction of rounds abstained up to t{ends_with}."


def scale() -> str:
    """The scale of regret, in words."""
    return f"The scale of regret is linear below {LINEAR:g} and logarithmic above."


def ending(shown: PanelGrid) -> str:
    """The end of every caption of panels: bands, K, learners that are not the paper's, and missing results."""
    bands = describe_bands([panel.repeated for panel in shown.panels])
    if any(panel.quantity == "abstained" for panel in shown.panels) and any(max(sds(panel)) for panel in shown.panels):
        bands = f"{bands} Bands of fractions end at 0 and 1."
    missing = f"Not shown, because there are no results: {', '.join(shown.missing)}." if shown.missing else ""
    return " ".join(part for part in (bands, _not_the_papers(shown.learners), missing) if part)


def _not_the_papers(learners: Iterable[str]) -> str:
    others = [OTHERS.get(label, label) for label in learners if label not in PAPER]
    return f"Not among the paper's learners: {'; '.join(others)}." if others else ""


def sds(panel: Panel) -> list[float]:
    """All standard deviations of a panel."""
    return [sd for curve in panel.curves for sd in curve.sd]


COSTS = (0.1, 0.2, 0.3)
FIRST_SETS = ("cifar", "ijcnn", "higgs", "phishing", "covtype")
SECOND_SETS = ("eye", "cod-rna", "synthetic", "skin", "guide")


def by_cost(results: Results, *, sets: tuple[str, ...], quantity: str, studies: tuple[str, ...]) -> PanelGrid | None:
    """One row per set and one column per cost. The first study that has a setting provides it."""
    return panel_grid(
        results, [Place(name, f"c = {cost:g}", name, cost, quantity, studies) for name in sets for cost in COSTS]
    )


def of_regret(shown: PanelGrid) -> str:
    """The caption of figures 7, 8 and 13."""
    return f"{regret(shown)} {ending(shown)}"


def of_abstention(shown: PanelGrid) -> str:
    """The caption of figures 9 and 10."""
    return f"{abstention(shown)} {ending(shown)}"


_regret = partial(by_cost, quantity="regret", studies=("regret", "abstention"))
_abstention = partial(by_cost, quantity="abstained", studies=("abstention", "regret"))  # `regret` plays the same games

REGRET_FIRST = Figure(
    7, "Average regret, first five sets", partial(_regret, sets=FIRST_SETS), draw_panels, of_regret, "regret"
)
REGRET_SECOND = Figure(
    8, "Average regret, other five sets", partial(_regret, sets=SECOND_SETS), draw_panels, of_regret, "regret"
)
ABSTENTION_FIRST = Figure(
    9, "Fraction abstained, first five sets", partial(_abstention, sets=FIRST_SETS), draw_panels, of_abstention,
    "abstention",
)  # fmt: skip
ABSTENTION_SECOND = Figure(
    10, "Fraction abstained, other five sets", partial(_abstention, sets=SECOND_SETS), draw_panels, of_abstention,
    "abstention",
)  # fmt: skip


SMALL_SETS = ("guide", "synthetic", "skin")

show_small = partial(by_cost, sets=SMALL_SETS, quantity="regret", studies=("small",))

SMALL = Figure(13, "Fewer experts", show_small, draw_panels, of_regret, "small")


EXTREME_SETS = ("cifar", "ijcnn", "phishing", "covtype")
EXTREME_COSTS = (0.001, 0.9)


def show_extreme(results: Results) -> PanelGrid | None:
    """One row per set. Every panel has its own scale, because the costs are so far apart."""
    shown = panel_grid(
        results,
        [
            Place(name, f"{QUANTITIES[quantity]}\nc = {cost:g}", name, cost, quantity, ("extreme",))
            for name in EXTREME_SETS
            for quantity in ("regret", "abstained")
            for cost in EXTREME_COSTS
        ],
    )
    return None if shown is None else shown._replace(own_scales=True)


def caption_extreme(shown: PanelGrid) -> str:
    """Regret and fraction abstained."""
    return f"{regret(shown)} {abstention(shown)} Every panel has its own scale. {ending(shown)}"


EXTREME = Figure(11, "Extreme costs", show_extreme, draw_panels, caption_extreme, "extreme")


CONFIDENCE_SETS = ("synthetic", "skin", "guide", "ijcnn", "cifar")
UNSCALED = ("synthetic",)
"""Sets that no scaling changes."""
SCALINGS = {"confidence": "max-abs", "confidence-minmax": "min-max"}
"""The studies, and how they scale the features."""


class Confidence(NamedTuple):
    """What figure 12 shows: one scaling as curves, the others in words."""

    scaling: str
    grid: PanelGrid
    others: tuple[tuple[str, str, PanelGrid], ...]
    """Other scalings: the study, the scaling, and the panels that differ."""


def show_confidence(results: Results) -> Confidence | None:
    """The first scaling with results is drawn."""
    found: list[tuple[str, str, PanelGrid]] = []
    for study, scaling in SCALINGS.items():
        sets = tuple(name for name in CONFIDENCE_SETS if not found or name not in UNSCALED)
        shown = by_cost(results, sets=sets, quantity="regret", studies=(study,))
        if shown is not None:
            found.append((study, scaling, shown))
    return Confidence(found[0][1], found[0][2], tuple(found[1:])) if found else None


def caption_confidence(shown: Confidence) -> str:
    """The order of the learners in both scalings."""
    text = f"Features in {shown.scaling} scaling. {regret(shown.grid)}"
    for study, scaling, other in shown.others:
        end = order(other)
        text += f" In {scaling} scaling (curves of the study {study}; synthetic is the same){f' {end}' if end else ''}."
    alike = "Nothing is random in these experts: all expert sets are the same, and bands come from the data alone."
    return f"{text} {ending(shown.grid)} {alike}"


CONFIDENCE = Figure(
    12, "Confidence-based experts", show_confidence, lambda shown: draw_panels(shown.grid), caption_confidence,
    "confidence",
)  # fmt: skip

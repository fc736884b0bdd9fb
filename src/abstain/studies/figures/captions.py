"""What several figures say of their panels."""

from statistics import median

from .panels import Grid, Panel
from .panels_drawing import LINEAR
from .played import not_the_papers, repetitions


def regret(shown: Grid) -> str:
    """How regret ends, and its scale."""
    end = order(shown)
    text = f"After {shown.rounds:,} rounds {end}" if end else f"Average regret over {shown.rounds:,} rounds"
    return f"{text}. {scale()}"


def order(shown: Grid) -> str:
    """In how many panels of regret UCB-GT ends below the others, and how far it is from FS; nothing without them."""
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


def abstention(shown: Grid) -> str:
    """What UCB-GT and FS abstain on, by cost."""
    panels = [panel for panel in shown.panels if panel.quantity == "abstained"]
    parts = []
    for learner in ("UCB-GT", "FS"):
        means = []
        for cost in sorted({panel.cost for panel in panels}):
            ends = [end for panel in panels if panel.cost == cost and (end := panel.last(learner)) is not None]
            if ends:
                means.append(f"{sum(ends) / len(ends):.0%} at c = {cost:g}")
        if means:
            parts.append(f"{learner} {', '.join(means)}")
    ends_with = f"; at the end, on average over the sets: {'; '.join(parts)}" if parts else ""
    return f"The fraction of rounds abstained up to t{ends_with}."


def scale() -> str:
    """Of regret."""
    return f"The scale of regret is linear below {LINEAR:g} and logarithmic above."


def ending(shown: Grid) -> str:
    """What every caption of panels ends with: bands, K, repetitions, others' learners, results that are not there."""
    bands = repetitions([panel.played for panel in shown.panels])
    if any(panel.quantity == "abstained" for panel in shown.panels) and any(max(sds(panel)) for panel in shown.panels):
        bands = f"{bands} Bands of fractions end at 0 and 1."
    missing = f"Not shown, for want of results: {', '.join(shown.missing)}." if shown.missing else ""
    return " ".join(part for part in (bands, not_the_papers(shown.learners), missing) if part)


def sds(panel: Panel) -> list[float]:
    """All deviations of a panel."""
    return [sd for line in panel.lines for sd in line.sd]

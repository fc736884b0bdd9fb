"""What figures 5 and 7 to 13 show, in a sentence with their numbers."""

from statistics import median

from .panels import Grid, Panel
from .panels_drawing import LINEAR


def describe_main(shown: Grid) -> str:
    """Where the lines of figure 5 end."""
    parts = []
    for row in shown.rows:
        regret, _, edges = (panel for panel in shown.panels if panel.row == row)
        ends = [f"{line.learner} ({line.mean[-1]:.3g})" for line in regret.lines]
        size = edges.last("UCB-GT")
        graph = "" if size is None else f", UCB-GT's graph with {size:.2f} million edges"
        parts.append(f"{row}: {', '.join(ends)}{graph}")
    marks = "; open markers are the published points" if any(panel.published for panel in shown.panels) else ""
    return f"Average regret after {shown.rounds:,} rounds on {'; on '.join(parts)}{marks}.{_scale()}{_missing(shown)}"


def describe_regret(shown: Grid) -> str:
    """In how many panels of regret UCB-GT ends below the others, and how far it is from FS."""
    panels = [panel for panel in shown.panels if panel.quantity == "regret"]
    below = [f"below {other}'s in {_below(panels, other)}" for other in ("UCB-NT", "UCB") if _compared(panels, other)]
    if not below:
        return f"Average regret over {shown.rounds:,} rounds.{_scale()}{_missing(shown)}"
    text = f"After {shown.rounds:,} rounds UCB-GT's average regret is {' and '.join(below)} panels"
    gaps = [ours - theirs for ours, theirs in _compared(panels, "FS")]
    if gaps:
        text += f"; the median difference to FS is {median(gaps):+.2g}"
    return f"{text}.{_scale()}{_missing(shown)}"


def describe_confidence(shown: Grid) -> str:
    """The sentence on regret, and what the band is of."""
    return f"{describe_regret(shown)} These experts are not drawn: the band is that of the data alone."


def _compared(panels: list[Panel], other: str) -> list[tuple[float, float]]:
    pairs = [(panel.last("UCB-GT"), panel.last(other)) for panel in panels]
    return [(ours, theirs) for ours, theirs in pairs if ours is not None and theirs is not None]


def _below(panels: list[Panel], other: str) -> str:
    pairs = _compared(panels, other)
    return f"{sum(ours < theirs for ours, theirs in pairs)} of {len(pairs)}"


def describe_abstention(shown: Grid) -> str:
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
    return f"The fraction of rounds abstained up to t{ends_with}.{_missing(shown)}"


def describe_extreme(shown: Grid) -> str:
    """Both sentences."""
    return f"{describe_regret(shown._replace(missing=()))} {describe_abstention(shown)}"


def _scale() -> str:
    return f" The scale of regret is linear below {LINEAR:g} and logarithmic above."


def _missing(shown: Grid) -> str:
    """What the caption owes to the results that are not there."""
    return f" Not shown, for want of results: {', '.join(shown.missing)}." if shown.missing else ""

"""Figures 5 and 7 to 13: which panels they have, and a sentence from their numbers."""

from typing import TYPE_CHECKING

from .panels import QUANTITIES, Grid, Marks, Panel, Place, grid

if TYPE_CHECKING:
    import polars

COSTS = (0.1, 0.2, 0.3)
FIRST_SETS = ("cifar", "ijcnn", "higgs", "phishing", "covtype")
SECOND_SETS = ("eye", "cod-rna", "synthetic", "skin", "guide")
_AT = (200, 1000, 5000, 9800)
PUBLISHED = {
    "regret": (
        Marks("UCB", _AT, (0.2276, 0.2351, 0.2296, 0.2292)),
        Marks("UCB-NT", _AT, (0.2245, 0.1281, 0.0786, 0.0653)),
        Marks("UCB-GT", _AT, (0.0678, 0.0364, 0.0185, 0.0134)),
        Marks("FS", _AT, (0.0516, 0.0181, 0.0045, 0.0031)),
    ),
    "abstained": (
        Marks("UCB", (9800,), (0.050,)),
        Marks("UCB-NT", (9800,), (0.113,)),
        Marks("UCB-GT", (9800,), (0.424,)),
        Marks("FS", (9800,), (0.489,)),
    ),
    "edges": (Marks("UCB-GT", _AT, (3.29, 3.16, 3.07, 3.07)),),
}
"""The paper's figure 5, top row (cod-rna, c = 0.2); edges in millions."""


def main(summary: "polars.DataFrame") -> Grid | None:
    """Figure 5: regret, fraction abstained and edges of two settings."""
    return grid(
        summary,
        [
            Place(
                f"{dataset}, c = {cost:g}", QUANTITIES[quantity], dataset, cost, quantity,
                ("main", "regret", "abstention"), PUBLISHED[quantity] if dataset == "cod-rna" else (),
            )
            for dataset, cost in (("cod-rna", 0.2), ("guide", 0.1))
            for quantity in QUANTITIES
        ],
    )  # fmt: skip


def _sets_by_cost(
    summary: "polars.DataFrame", sets: tuple[str, ...], quantity: str, studies: tuple[str, ...]
) -> Grid | None:
    """A row a set, a column a cost."""
    return grid(
        summary, [Place(name, f"c = {cost:g}", name, cost, quantity, studies) for name in sets for cost in COSTS]
    )


def regret_of_first_sets(summary: "polars.DataFrame") -> Grid | None:
    """Figure 7."""
    return _sets_by_cost(summary, FIRST_SETS, "regret", ("regret", "abstention"))


def regret_of_second_sets(summary: "polars.DataFrame") -> Grid | None:
    """Figure 8."""
    return _sets_by_cost(summary, SECOND_SETS, "regret", ("regret", "abstention"))


def abstention_on_first_sets(summary: "polars.DataFrame") -> Grid | None:
    """Figure 9: `regret` plays the same games."""
    return _sets_by_cost(summary, FIRST_SETS, "abstained", ("abstention", "regret"))


def abstention_on_second_sets(summary: "polars.DataFrame") -> Grid | None:
    """Figure 10."""
    return _sets_by_cost(summary, SECOND_SETS, "abstained", ("abstention", "regret"))


def extreme(summary: "polars.DataFrame") -> Grid | None:
    """Figure 11: regret and fraction abstained for a tiny and a large cost."""
    return grid(
        summary,
        [
            Place(name, f"{QUANTITIES[quantity]}\nc = {cost:g}", name, cost, quantity, ("extreme",))
            for name in ("cifar", "ijcnn", "phishing", "covtype")
            for quantity in ("regret", "abstained")
            for cost in (0.001, 0.9)
        ],
    )


def confidence(summary: "polars.DataFrame") -> Grid | None:
    """Figure 12: confidence-based experts, the features scaled in two ways."""
    scalings = (("confidence", "max-abs"), ("confidence-minmax", "min-max"))
    return grid(
        summary,
        [
            Place(name, f"{scaling} scaling\nc = {cost:g}", name, cost, "regret", (study,))
            for name in ("synthetic", "skin", "guide", "ijcnn", "cifar")
            for study, scaling in scalings
            for cost in COSTS
        ],
    )


def small(summary: "polars.DataFrame") -> Grid | None:
    """Figure 13: fewer experts, fewer rounds."""
    return _sets_by_cost(summary, ("guide", "synthetic", "skin"), "regret", ("small",))


def describe_main(shown: Grid) -> str:
    """Where the lines of figure 5 end."""
    parts = []
    for row in shown.rows:
        regret, _, edges = (panel for panel in shown.panels if panel.row == row)
        ends = [f"{line.learner} {line.mean[-1]:.3g}" for line in regret.lines]
        size = edges.last("UCB-GT")
        graph = "" if size is None else f" (UCB-GT's graph: {size:.2f} million edges)"
        parts.append(f"{row}: {', '.join(ends)}{graph}")
    marks = "; open markers are the published points" if any(panel.published for panel in shown.panels) else ""
    return f"Average regret at the end of {shown.rounds:,} rounds on {'; on '.join(parts)}{marks}.{_missing(shown)}"


def describe_regret(shown: Grid) -> str:
    """In how many panels of regret UCB-GT ends below the others, and how far it is from FS."""
    panels = [panel for panel in shown.panels if panel.quantity == "regret"]
    below = [f"below {other} in {_below(panels, other)}" for other in ("UCB-NT", "UCB") if _compared(panels, other)]
    if not below:
        return f"Average regret over {shown.rounds:,} rounds.{_missing(shown)}"
    text = f"After {shown.rounds:,} rounds UCB-GT's average regret is {' and '.join(below)} panels"
    gaps = sorted(ours - theirs for ours, theirs in _compared(panels, "FS"))
    if gaps:
        text += f", and above that of FS by {gaps[len(gaps) // 2]:.2g} in the median panel"
    return f"{text}.{_missing(shown)}"


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
    return f"Rounds abstained up to t, as a fraction; at the end, on average over the sets: {'; '.join(parts)}.{_missing(shown)}"


def describe_extreme(shown: Grid) -> str:
    """Both sentences."""
    return f"{describe_regret(shown._replace(missing=()))} {describe_abstention(shown)}"


def _missing(shown: Grid) -> str:
    return f" Not shown, for want of results: {', '.join(shown.missing)}." if shown.missing else ""

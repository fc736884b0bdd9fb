"""Figures 5 and 7 to 13: which panels they have."""

from typing import TYPE_CHECKING

from ..study import PUBLISHED as _AT
from .panels import QUANTITIES, Grid, Marks, Place, grid

if TYPE_CHECKING:
    import polars

COSTS = (0.1, 0.2, 0.3)
MAIN_SETS = ("cod-rna", "guide")
FIRST_SETS = ("cifar", "ijcnn", "higgs", "phishing", "covtype")
SECOND_SETS = ("eye", "cod-rna", "synthetic", "skin", "guide")
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
    """Figure 5: regret, fraction abstained and edges of two settings; where neither was played, of those that were."""
    return grid(
        summary,
        [
            Place(
                f"{dataset}, c = {cost:g}", QUANTITIES[quantity], dataset, cost, quantity,
                ("main", "regret", "abstention"), PUBLISHED[quantity] if dataset == "cod-rna" else (),
            )
            for dataset, cost in _main_settings(summary)
            for quantity in QUANTITIES
        ],
    )  # fmt: skip


def _main_settings(summary: "polars.DataFrame") -> list[tuple[str, float]]:
    import polars

    played = summary.filter(polars.col("study") == "main").select("dataset", "cost").unique(maintain_order=True).rows()
    return [(str(dataset), float(cost)) for dataset, cost in played if dataset not in MAIN_SETS] or [
        ("cod-rna", 0.2),
        ("guide", 0.1),
    ]


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

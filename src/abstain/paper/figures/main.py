"""Figure 5: regret, abstention and edges on two sets, beside the published points."""

import math
from typing import TYPE_CHECKING, NamedTuple

from ...experiments import PUBLISHED as AT
from ...experiments import QUANTITIES, Figure, LearnerStudy, Marks, PanelGrid, Place, Results, draw_panels, panel_grid
from . import sets

if TYPE_CHECKING:
    pass


class Rings(NamedTuple):
    """Every pair of a predictor and a ring is an expert."""

    n_predictors: int
    n_rings: int
    rounds: int

    @property
    def n_experts(self) -> int:
        """K."""
        return self.n_predictors * self.n_rings

    @property
    def edges_die_at_once(self) -> bool:
        """Whether UCB-GT's threshold, times K - 1 and t - 1, stays below one co-occurrence up to T."""
        return math.sqrt(5.0 * self.rounds * math.log(self.rounds)) < self.n_experts - 1


def rings_of(study: LearnerStudy | None) -> Rings | None:
    """The rings of a study; None if its experts are others or the study is unknown."""
    if study is None or study.experts.kind != "hyperplanes" or study.scale != "maxabs":
        return None
    made = study.experts.make(1, 0)
    given = study.experts.options
    if given.get("regions", "rings") != "rings" or given.get("always_predict", False):
        return None
    return Rings(made.n_predictors, made.n_rules, study.rounds)


def of_edges(rings: Rings | None) -> str:
    """Why the graph has as many edges as it has; empty if the reason does not apply."""
    if rings is None or not rings.edges_die_at_once:
        return ""
    return (
        f"At K = {rings.n_experts:,} and T = {rings.rounds:,} UCB-GT's threshold stays below one co-occurrence, so an "
        f"edge lives until its first violation, and with m empty rings the graph has {rings.n_predictors**2:,} "
        f"({rings.n_rings - 1} m + {rings.n_rings}) edges."
    )


SETTINGS = (("cod-rna", 0.2), ("guide", 0.1))
STUDIES = ("main", "regret", "abstention")
"""They play the same games."""
PUBLISHED = {
    "regret": (
        Marks("UCB", AT, (0.2276, 0.2351, 0.2296, 0.2292)),
        Marks("UCB-NT", AT, (0.2245, 0.1281, 0.0786, 0.0653)),
        Marks("UCB-GT", AT, (0.0678, 0.0364, 0.0185, 0.0134)),
        Marks("FS", AT, (0.0516, 0.0181, 0.0045, 0.0031)),
    ),
    "abstained": (
        Marks("UCB", AT[-1:], (0.050,)),
        Marks("UCB-NT", AT[-1:], (0.113,)),
        Marks("UCB-GT", AT[-1:], (0.424,)),
        Marks("FS", AT[-1:], (0.489,)),
    ),
    "edges": (
        Marks("UCB-GT", AT, (3.29, 3.16, 3.07, 3.07)),
        Marks("UCB-NT", AT[-1:], (0.2,)),  # of these two the text speaks, as of all rounds
        Marks("FS", AT[-1:], (4.0,)),
    ),
}
"""The paper's figure 5, top row (cod-rna, c = 0.2); edges in millions."""
DENSEST = 0.441
"""The share of cod-rna's rows in its densest ring, in max-abs scaling: no expert of ours abstains on more."""


class Main(NamedTuple):
    """What figure 5 shows."""

    grid: PanelGrid
    rings: Rings | None
    """The experts, if they are the paper's as we read it: rings, and nothing else, on features in max-abs scaling."""


def main(results: Results) -> Main | None:
    """The panels, and the experts they were played with."""
    shown = main_panels(results)
    return None if shown is None else Main(shown, rings_of(next(filter(None, map(results.study, STUDIES)), None)))


def main_panels(results: Results) -> PanelGrid | None:
    """One row per setting and one column per quantity. If neither set was played, other settings are shown."""
    return panel_grid(
        results,
        [
            Place(
                f"{dataset}, c = {cost:g}", QUANTITIES[quantity], dataset, cost, quantity, STUDIES,
                PUBLISHED[quantity] if dataset == "cod-rna" else (),
            )
            for dataset, cost in _settings(results)
            for quantity in QUANTITIES
        ],
    )  # fmt: skip


def _settings(results: Results) -> list[tuple[str, float]]:
    import polars

    played = results.summary.filter(polars.col("study") == "main").select("dataset", "cost").unique(maintain_order=True)
    others = [(str(dataset), float(cost)) for dataset, cost in played.rows() if dataset not in dict(SETTINGS)]
    return others or list(SETTINGS)


def caption(shown: Main) -> str:
    """Where the curves end, how far the published points are, and why there are so many edges."""
    parts = []
    for row in shown.grid.rows:
        regret, _, edges = (panel for panel in shown.grid.panels if panel.row == row)
        ends = [f"{curve.learner} ({curve.mean[-1]:.3g})" for curve in regret.curves]
        size = edges.last("UCB-GT")
        graph = "" if size is None else f", UCB-GT's graph with {size:.2f} million edges"
        parts.append(f"{row}: {', '.join(ends)}{graph}")
    sentences = [
        f"Average regret after {shown.grid.rounds:,} rounds on {'; on '.join(parts)}.",
        _published(shown),
        of_edges(shown.rings),
        sets.scale(),
        sets.ending(shown.grid),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _published(shown: Main) -> str:
    """The published points, and how their fractions differ from ours."""
    marked = [panel for panel in shown.grid.panels if panel.published]
    if not marked:
        return ""
    fractions = next(panel for panel in marked if panel.quantity == "abstained")
    pairs = []
    for marks in fractions.published:
        ours = next((curve for curve in fractions.curves if curve.learner == marks.learner), None)
        if ours is not None and marks.t[-1] in ours.t:
            there = ours.mean[ours.t.index(marks.t[-1])]
            pairs.append(f"{marks.learner} {marks.value[-1]:.3f} against {there:.3f} ({there - marks.value[-1]:+.3f})")
    text = "Open markers are the published points."
    if pairs:
        text += (
            f" Published and reproduced fractions abstained differ (round {fractions.published[0].t[-1]:,}: "
            f"{', '.join(pairs)}), and we do not know why."
        )
    if shown.rings is not None:
        published = next(marks.value[-1] for marks in fractions.published if marks.learner == "FS")
        text += (
            f" The published FS abstains on {published:g} of cod-rna, but the densest ring holds only {DENSEST:g} of "
            f"its rows: none of our experts can reach that."
        )
    return text


FIGURE = Figure(5, "Regret, abstention and edges", main, lambda shown: draw_panels(shown.grid), caption, "main")

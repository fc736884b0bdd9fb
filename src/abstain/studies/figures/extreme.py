"""Figure 11: regret and fraction abstained for a tiny and a large cost."""

from . import captions
from .figure import Figure, Source
from .grids import grid
from .panels import QUANTITIES, Grid, Place
from .panels_drawing import draw

SETS = ("cifar", "ijcnn", "phishing", "covtype")
COSTS = (0.001, 0.9)


def show(source: Source) -> Grid | None:
    """A row a set; every panel has its own scale, as the costs are so far apart."""
    shown = grid(
        source,
        [
            Place(name, f"{QUANTITIES[quantity]}\nc = {cost:g}", name, cost, quantity, ("extreme",))
            for name in SETS
            for quantity in ("regret", "abstained")
            for cost in COSTS
        ],
    )
    return None if shown is None else shown._replace(own_scales=True)


def caption(shown: Grid) -> str:
    """Both quantities."""
    return (
        f"{captions.regret(shown)} {captions.abstention(shown)} Every panel has its own scale. {captions.ending(shown)}"
    )


FIGURE = Figure(11, "Extreme costs", show, draw, caption, "extreme")

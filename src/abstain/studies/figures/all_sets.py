"""Figures 7 to 10: regret and fraction abstained on all sets, a row a set and a column a cost."""

from functools import partial

from . import captions
from .figure import Figure, Source
from .grids import grid
from .panels import Grid, Place
from .panels_drawing import draw

COSTS = (0.1, 0.2, 0.3)
FIRST_SETS = ("cifar", "ijcnn", "higgs", "phishing", "covtype")
SECOND_SETS = ("eye", "cod-rna", "synthetic", "skin", "guide")


def by_cost(source: Source, *, sets: tuple[str, ...], quantity: str, studies: tuple[str, ...]) -> Grid | None:
    """A row a set, a column a cost; the first of the studies that has a setting gives it."""
    return grid(
        source, [Place(name, f"c = {cost:g}", name, cost, quantity, studies) for name in sets for cost in COSTS]
    )


def of_regret(shown: Grid) -> str:
    """The caption of figures 7, 8 and 13."""
    return f"{captions.regret(shown)} {captions.ending(shown)}"


def of_abstention(shown: Grid) -> str:
    """The caption of figures 9 and 10."""
    return f"{captions.abstention(shown)} {captions.ending(shown)}"


_regret = partial(by_cost, quantity="regret", studies=("regret", "abstention"))
_abstention = partial(by_cost, quantity="abstained", studies=("abstention", "regret"))  # `regret` plays the same games

REGRET_FIRST = Figure(
    7, "Average regret, first five sets", partial(_regret, sets=FIRST_SETS), draw, of_regret, "regret"
)
REGRET_SECOND = Figure(
    8, "Average regret, other five sets", partial(_regret, sets=SECOND_SETS), draw, of_regret, "regret"
)
ABSTENTION_FIRST = Figure(
    9, "Fraction abstained, first five sets", partial(_abstention, sets=FIRST_SETS), draw, of_abstention, "abstention"
)
ABSTENTION_SECOND = Figure(
    10, "Fraction abstained, other five sets", partial(_abstention, sets=SECOND_SETS), draw, of_abstention, "abstention"
)

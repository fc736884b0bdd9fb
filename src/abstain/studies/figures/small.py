"""Figure 13: fewer experts, fewer rounds."""

from functools import partial

from .all_sets import by_cost, of_regret
from .figure import Figure
from .panels_drawing import draw

SETS = ("guide", "synthetic", "skin")

show = partial(by_cost, sets=SETS, quantity="regret", studies=("small",))

FIGURE = Figure(13, "Fewer experts", show, draw, of_regret, "small")

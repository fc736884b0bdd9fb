"""What decides each verdict, in words; the numbers are those of the code."""

from . import abstention, adversarial, bias, closeness, edges, slope
from .verdict import PART

_ALL = f"It holds if so in every setting, in part if in at least {PART:.0%} of them."
_LESS = f"Less is a smaller mean R_T/T, by however little. {_ALL}"
_THREE = f"Each of the three comparisons in each setting is one check; less as in claims 1 to 3. {_ALL}"
_CLOSE = f"(UCB-GT - FS) / (UCB - FS) at T is at most {closeness.CLOSE:g}"
_LINEAR = (
    f"A run is linear if over its second half it pays at least {bias.LINEAR:.0%} of the gap in every round on average. "
    f"It holds if at least {bias.OFTEN:.0%} of the runs on the own graph are, and at most {bias.SELDOM:.0%} of "
    "those of UCB-NT on the subset graph and of UCB-GT; in part if merely more than of these."
)

RULES = {
    1: _LESS,
    2: _LESS,
    3: _LESS,
    4: f"Close: {_CLOSE}, at each cost of a set; most: more than {closeness.MOST:.0%} of the sets. Within: UCB-GT - FS "
    f"is at most FS's standard deviation, on at least {closeness.SOME} sets. It holds if both, in part if one; "
    "with one expert set there is no deviation, and only the first is asked.",
    5: f"At T: UCB-GT {edges.LEAST} to {edges.MOST} million, rounded (the published 3.07 is 3), and at least "
    f"{edges.TIMES} times UCB-NT's; UCB-NT within a factor of {edges.ORDER:g} of {edges.UCB_NT:,}; FS K^2, about "
    f"{edges.FULL} million. {_ALL}",
    6: f"A check is a set and one of the paper's four learners: the fraction at T falls from each cost to the next; "
    f"large is at least {abstention.LARGE:g}, small at most {abstention.SMALL:g}. It holds if all checks do, in part "
    f"if at least {PART:.0%}.",
    7: _THREE,
    8: _THREE,
    9: _THREE,
    10: f"From t = sqrt(T) on, the slope of log(R_t/t) against log t is below 0 and above {slope.SLOW:g}. {_ALL}",
    11: _LINEAR,
    12: _LINEAR,
    13: "Mean regret is at most the rate's bound (theorem 1's and those of the documentation): at T for the tuned "
    f"rate, at every checkpoint for the others. {_ALL}",
    14: f"The slope of log mean regret against log T is at most (d + 1)/(d + 2) + {adversarial.LOGARITHMS:g}, which "
    "leaves room for the rate's logarithms. It holds if so for every d, in part if for at least half of them.",
    15: "Inside: edge by edge, before each round, on small random problems; if not, it fails. Edges fall in a setting "
    f"if in none of its runs they rise between checkpoints or stay the same throughout. {_ALL}",
    16: f"Of any two of the paper's four learners, the one with more edges at T has less R_T/T. {_ALL}",
    17: f"{_CLOSE}. {_ALL}",
    18: "All pairs of a grid are tried, for several P and costs below 1/2; equal up to rounding.",
}

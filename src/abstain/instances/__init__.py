"""Small problems to be played: where the instance's own graph misleads (section 4.1, appendix C.3), streams whose best
expert changes (section 3), and lower bounds: problems on which no learner can do well.
"""

from .accepting import Regions, regions
from .coin_flips import RandomLabels, random_labels
from .grouped import Cliques, cliques
from .leaning import Lipschitz, lipschitz
from .stochastic import Instance, bias_problem, proposition_1
from .streams import Stream, alternating, flipping, late_bloomer, rotating, switching, trap

__all__ = [
    "Cliques",
    "Instance",
    "Lipschitz",
    "RandomLabels",
    "Regions",
    "Stream",
    "alternating",
    "bias_problem",
    "cliques",
    "flipping",
    "late_bloomer",
    "lipschitz",
    "proposition_1",
    "random_labels",
    "regions",
    "rotating",
    "switching",
    "trap",
]

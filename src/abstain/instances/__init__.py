"""Small problems to play: the instance's own graph misleads (section 4.1, appendix C.3), the best expert changes
(section 3), or no learner can do well (lower bounds).
"""

from .stochastic import (
    Cliques,
    Instance,
    Lipschitz,
    RandomLabels,
    Regions,
    bias_problem,
    cliques,
    lipschitz,
    proposition_1,
    random_labels,
    regions,
)
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

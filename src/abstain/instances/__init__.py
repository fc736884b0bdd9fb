"""Small problems to be played: where the instance's own graph misleads (section 4.1, appendix C.3), streams whose best
expert changes (section 3), and lower bounds: problems on which no learner can do well.
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

"""Small problems to play: abstaining helps (figure 6), the instance's own graph misleads (section 4.1, appendix C.3),
the best expert changes (section 3) or hides, or no learner can do well (lower bounds).
"""

from .hidden import Hidden, one_model, specialists, two_models
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
    simple_example,
)
from .streams import Stream, alternating, flipping, late_bloomer, rotating, switching, trap

__all__ = [
    "Cliques",
    "Hidden",
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
    "one_model",
    "proposition_1",
    "random_labels",
    "regions",
    "rotating",
    "simple_example",
    "specialists",
    "switching",
    "trap",
    "two_models",
]

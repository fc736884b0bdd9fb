"""Small problems to be played: where the instance's own graph misleads (section 4.1, appendix C.3), and streams whose
best expert changes (section 3).
"""

from .leaning import Lipschitz, lipschitz
from .stochastic import Instance, bias_problem, proposition_1
from .streams import Stream, alternating, flipping, rotating, switching, trap

__all__ = [
    "Instance",
    "Lipschitz",
    "Stream",
    "alternating",
    "bias_problem",
    "flipping",
    "lipschitz",
    "proposition_1",
    "rotating",
    "switching",
    "trap",
]

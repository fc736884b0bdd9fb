"""What a learner on a log is compared with: one threshold, tuned once, re-tuned, or in hindsight; a stack of models.

A pair of a model and a threshold answers if the model's confidence is above the threshold, and abstains otherwise.
`tuned`, `retuned`, `stacked` and `hindsight` play whole tables. `Retuning`, `Stacking` and `Totals` play the same
policies in pieces, for logs that do not fit into memory.
"""

from .renewed import Retuned, retuned
from .stack import stacked
from .thresholds import Played, Tuned, hindsight, tuned

__all__ = ["Played", "Retuned", "Tuned", "hindsight", "retuned", "stacked", "tuned"]

"""What a team does without a learner: one model and one threshold, chosen once, chosen again now and then, or known to
be best afterwards.

All take the same plain form of a log of n rounds and P models: ``confidence`` (n, P), larger for more certain, of any
scale (minus infinity where a model has no answer); ``losses`` (n, P) in [0, 1], what each model loses if its answer is
used; ``cost``, a number or one a round (n,), of handing over. A model's answer is used where its confidence is above
the threshold.
"""

from .rounds import Played
from .tuning import Tuned, hindsight, tuned
from .windows import Retuned, retuned

__all__ = ["Played", "Retuned", "Tuned", "hindsight", "retuned", "tuned"]

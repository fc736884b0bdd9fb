"""The gate: named models, prices, reviewers' labels. A case is answered by one of the models, or goes to a person."""

from .case import Case
from .gate import Gate
from .prices import PerStake

__all__ = ["Case", "Gate", "PerStake"]

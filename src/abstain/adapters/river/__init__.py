"""The gate as a river classifier."""

try:
    import river  # noqa: F401
except ImportError:
    raise ImportError("abstain.adapters.river: needs river: pip install 'abstain[river]'") from None

from .classifier import GateClassifier

__all__ = ["GateClassifier"]

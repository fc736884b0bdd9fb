"""The gate as a scikit-learn classifier."""

try:
    import sklearn  # noqa: F401
except ImportError:
    raise ImportError("abstain.adapters.sklearn: needs scikit-learn: pip install 'abstain[sklearn]'") from None

from .classifier import GateClassifier

__all__ = ["GateClassifier"]

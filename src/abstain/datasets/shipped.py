"""Two small real sets that scikit-learn brings along: no network is needed."""

import importlib
import importlib.util

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError


def installed() -> bool:
    """Whether scikit-learn is there; it is not imported to see."""
    return importlib.util.find_spec("sklearn") is not None


def read(name: str) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """X and y, not scaled: "breast-cancer" (+1 is malignant) or "digits" (+1 is 5 or more)."""
    try:
        datasets = importlib.import_module("sklearn.datasets")
    except ImportError:
        raise InputError(f"{name}: needs scikit-learn: pip install 'abstain[sklearn]'") from None
    if name == "digits":
        X, digit = datasets.load_digits(return_X_y=True)
        positive = digit >= 5
    else:
        X, benign = datasets.load_breast_cancer(return_X_y=True)
        positive = benign == 0
    return np.array(X, np.float64, order="C"), np.where(positive, 1, -1).astype(np.int8)

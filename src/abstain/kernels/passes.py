"""Passes over tables of features, predictions and abstentions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..typing import Bools, Floats, Ints
from .compiling import inline, kernel


@kernel
def project(X: Floats, normals: Floats, out: Floats) -> None:
    """``out[i, p] = sum_k X[i, k] normals[k, p]``, summed over k in order.

    A matrix product of BLAS sums in an order that depends on the number of rows; this one gives a row the same bits
    alone and in a table.
    """
    n_features = X.shape[1]
    alone = n_features % 8  # the first terms one by one, then eight a pass: fewer loads and stores
    for i in range(X.shape[0]):
        row = out[i]
        first = X[i, 0] if alone > 0 else 0.0
        for p in range(row.size):
            row[p] = first * normals[0, p]
        for k in range(1, alone):
            a, s = X[i, k], normals[k]
            for p in range(row.size):
                row[p] += a * s[p]
        for k in range(alone, n_features, 8):
            a, b, c, d = X[i, k], X[i, k + 1], X[i, k + 2], X[i, k + 3]
            e, f, g, h = X[i, k + 4], X[i, k + 5], X[i, k + 6], X[i, k + 7]
            s, t, u, v = normals[k], normals[k + 1], normals[k + 2], normals[k + 3]
            w, x, y, z = normals[k + 4], normals[k + 5], normals[k + 6], normals[k + 7]
            for p in range(row.size):
                four = (((row[p] + a * s[p]) + b * t[p]) + c * u[p]) + d * v[p]
                row[p] = (((four + e * w[p]) + f * x[p]) + g * y[p]) + h * z[p]


@kernel
def rings(X: Floats, n_rings: int, out: NDArray[np.int64]) -> None:
    """The ring each row lies in: ``min(floor(n |x| / sqrt(d)), n - 1)``, or n beyond sqrt(d)."""
    n_features = X.shape[1]
    for i in range(X.shape[0]):
        square = 0.0
        for k in range(n_features):
            square += X[i, k] * X[i, k]
        radius, limit = math.sqrt(square), math.sqrt(n_features)
        out[i] = min(math.floor(n_rings * radius / limit), n_rings - 1) if radius <= limit else n_rings


@kernel
def zero_one(predictions: Floats, y: Floats, out: NDArray[np.uint8]) -> None:
    """``out[i, p] = 1[y_i h_p(x_i) <= 0]``."""
    for i in range(predictions.shape[0]):
        row, label, errs = predictions[i], y[i], out[i]
        for p in range(row.size):
            errs[p] = label * row[p] <= 0.0


@kernel
def of_label(codes: NDArray[np.uint8], y: Floats, out: NDArray[np.uint8]) -> None:
    """The losses of the labels that came; codes are ``l(-1) + 2 l(+1)``."""
    for i in range(codes.shape[0]):
        row, losses, shift = codes[i], out[i], np.uint8(y[i] > 0.0)
        for p in range(row.size):
            losses[p] = (row[p] >> shift) & np.uint8(1)


@kernel
def thresholds(scores: Floats, levels: Floats, out: Bools) -> None:
    """``out[i, m * n_levels + k] = |scores[i, m]| <= levels[k]``."""
    n_levels = levels.size
    for i in range(scores.shape[0]):
        for m in range(scores.shape[1]):
            size = abs(scores[i, m])
            silent = out[i, m * n_levels : (m + 1) * n_levels]
            for k in range(n_levels):
                silent[k] = size <= levels[k]


@kernel
def all_within(X: Floats, largest: float) -> bool:
    """Whether ``|X[i, k]| <= largest`` for all entries."""
    for i in range(X.shape[0]):
        beyond = 0
        for k in range(X.shape[1]):
            beyond += not (abs(X[i, k]) <= largest)
        if beyond:
            return False
    return True


@kernel
def add_losses(abstains: Bools, losses: Any, sums: Floats) -> None:
    """``sums[a, p] += losses[i, p]`` for each row i in which rule a predicts, in the order of the rows."""
    for i in range(np.uint64(abstains.shape[0])):
        for a in range(np.uint64(abstains.shape[1])):
            if not abstains[i, a]:
                for p in range(np.uint64(sums.shape[1])):
                    sums[a, p] += losses[i, p]


@kernel
def add_losses_of(abstains: Bools, losses: Any, rule: Ints, predictor: Ints, sums: Floats) -> None:
    """``sums[k] += losses[i, predictor[k]]`` for each row i in which rule[k] predicts, in the order of the rows."""
    for i in range(abstains.shape[0]):
        for k in range(sums.size):
            if not abstains[i, rule[k]]:
                sums[k] += losses[i, predictor[k]]


@kernel
def add_costs(abstains: Bools, costs: Floats, sums: Floats) -> None:
    """``sums[a] += costs[i]`` for each row i in which rule a abstains, in the order of the rows."""
    for i in range(abstains.shape[0]):
        for a in range(abstains.shape[1]):
            if abstains[i, a]:
                sums[a] += costs[i]


@inline
def mix(key: Any, word: Any) -> Any:
    """A step of the hash: the key of the words so far, and the next word."""
    key = (key ^ np.uint64(word)) * np.uint64(0x9E3779B97F4A7C15)
    return key ^ (key >> np.uint64(29))

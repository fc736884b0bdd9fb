"""The paper's experts: hyperplanes through 0, with rings around 0 as abstention regions."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._core.validation import MOST, as_count, as_flag, as_floats, as_seed, trusted
from ..errors import InputError, shown
from ..kernels import passes
from ..typing import Bools, Floats
from .base import Advice, ExpertSet, nested
from .columns import as_thresholds

REGIONS = ("rings", "balls", "accept_rings")
MOST_RINGS = 10_000
"""The experts hold a table of all rings times all rules."""
_LARGEST = float(np.finfo(np.float64).max)


class Hyperplanes(ExpertSet):
    """Each pair of a hyperplane (rows of ``normals``) and a region; see `hyperplanes`."""

    kind = "hyperplanes"

    def __init__(self, normals: ArrayLike, n_rings: int, always_predict: bool, regions: str) -> None:
        n_rings = as_count(n_rings, "n_rings", most=MOST_RINGS)
        always_predict = as_flag(always_predict, "always_predict")
        if not isinstance(regions, str) or regions not in REGIONS:
            raise InputError(f"regions: expected one of {', '.join(REGIONS)}, got {shown(regions)}")
        self.normals = as_floats(normals, "normals")
        if self.normals.ndim != 2 or self.normals.size == 0 or not np.isfinite(self.normals).all():
            raise InputError(
                f"normals: expected finite numbers (P, d), P > 0 and d > 0, got shape {self.normals.shape}"
            )
        n_planes, dim = self.normals.shape
        super().__init__(n_planes, n_rings + always_predict, dim)
        self.n_rings, self.always_predict, self.regions = n_rings, always_predict, regions
        self._columns = np.ascontiguousarray(self.normals.T)
        # No sum of d products, and no partial sum, exceeds half the largest float; the other half is for rounding.
        self.largest_input = min(_LARGEST, 0.5 / dim * (_LARGEST / max(1.0, np.abs(self.normals).max())))
        self._abstains_in = self._by_ring()

    def _by_ring(self) -> Bools:
        """Return whether each rule abstains in each ring and, in the last row, outside all rings (n_rings + 1, A)."""
        ring, rule = np.arange(self.n_rings + 1)[:, np.newaxis], np.arange(self.n_rings)
        if self.regions == "rings":
            table = ring == rule
        elif self.regions == "balls":
            table = ring <= rule
        else:
            table = ring != rule
        return np.column_stack([table, np.zeros((self.n_rings + 1, int(self.always_predict)), np.bool_)])

    @trusted
    def advise_rows(self, X: Floats, out: Floats | None = None) -> Advice:
        scores = np.empty((len(X), self.n_predictors)) if out is None else out[: len(X)]
        passes.project(X, self._columns, scores)
        ring = np.empty(len(X), np.int64)
        passes.rings(X, self.n_rings, ring)
        return Advice(scores, self._abstains_in[ring])

    def find_subset(self) -> Bools:
        silent = self._abstains_in.astype(np.float32)
        return np.asarray(silent.T @ (1.0 - silent) == 0.0)  # no ring where the first abstains and the second predicts

    def parameters(self) -> dict[str, Any]:
        return {
            "normals": self.normals,
            "n_rings": self.n_rings,
            "always_predict": self.always_predict,
            "regions": self.regions,
        }


def hyperplanes(
    dim: int,
    n_predictors: int = 100,
    n_rings: int = 20,
    *,
    always_predict: bool = False,
    regions: str = "rings",
    seed: int | np.random.SeedSequence | None = None,
) -> Hyperplanes:
    """Make hyperplanes through 0 with normals from N(0, I), each with the same rules around 0 (section 5).

    A ring has width sqrt(dim) / n_rings: x lies in ring ``min(floor(n_rings |x| / sqrt(dim)), n_rings - 1)``, and in
    no ring if it is further than sqrt(dim) from 0.

    Args:
        dim: The number of features.
        n_predictors: The number of hyperplanes.
        n_rings: The number of rings; each ring gives one rule.
        always_predict: Whether to add a last rule that never abstains.
        regions: Where rule a abstains: in ring a ("rings"), in the rings up to a ("balls"), or everywhere except in
            ring a ("accept_rings").
        seed: The seed of the normals.

    Returns:
        The experts, every hyperplane with every rule.

    Raises:
        InputError: A number is not a positive integer, or ``regions`` is not one of the three words.

    >>> hyperplanes(dim=8, seed=0)
    <hyperplanes: 2000 experts, 100 predictors, 20 rules>
    """
    shape = as_count(n_predictors, "n_predictors", most=MOST), as_count(dim, "dim", most=MOST)
    if shape[0] * shape[1] > MOST:
        raise InputError(f"expected at most {MOST} coefficients, got {shape[0]} predictors in {shape[1]} dimensions")
    normals = np.random.default_rng(as_seed(seed)).standard_normal(shape)
    return Hyperplanes(normals, n_rings, always_predict, regions)


class AxisPlanes(ExpertSet):
    """Each plane with each of its thresholds; see `axis_planes`."""

    kind = "axis_planes"

    def __init__(self, dim: int, offsets: ArrayLike, thresholds: ArrayLike) -> None:
        dim = as_count(dim, "dim", most=MOST)
        offsets, thresholds = as_thresholds(offsets, "offsets"), as_thresholds(thresholds)
        n_planes, n_rules = dim * len(offsets), dim * len(offsets) * len(thresholds)
        if n_rules > MOST:
            raise InputError(f"expected at most {MOST} rules, got {n_planes} planes with {len(thresholds)} each")
        rule = np.arange(n_rules)
        super().__init__(n_planes, n_rules, dim, np.column_stack([rule // len(thresholds), rule]))
        self.offsets, self.thresholds = offsets, thresholds
        self._feature = np.repeat(np.arange(dim), len(offsets))
        self._offset = np.tile(offsets, dim)
        # No difference from an offset exceeds the largest float.
        self.largest_input = float(np.finfo(np.float64).max - np.abs(offsets).max())
        # The ends are rounded once, so that intervals nested by their ends are nested for every input.
        with np.errstate(over="ignore"):
            self._low = (self._offset[:, np.newaxis] - thresholds).ravel()
            self._high = (self._offset[:, np.newaxis] + thresholds).ravel()

    @trusted
    def advise_rows(self, X: Floats, out: Floats | None = None) -> Advice:
        coordinate = X[:, self._feature]
        along = np.repeat(coordinate, len(self.thresholds), axis=1)
        return Advice(coordinate - self._offset, (self._low <= along) & (along <= self._high))

    def find_subset(self) -> Bools:
        return nested(self._low, self._high, np.repeat(self._feature, len(self.thresholds)))

    def parameters(self) -> dict[str, Any]:
        return {"dim": self.n_features, "offsets": self.offsets, "thresholds": self.thresholds}


def axis_planes(dim: int, n_predictors: int = 100, thresholds: ArrayLike | None = None) -> AxisPlanes:
    """Make planes ``h(x) = x_i - b`` with rules ``r(x) = |h(x)| - theta``: confidence-based experts.

    Rule ``p * n_thresholds + k`` belongs to plane p.

    Args:
        dim: The number of features.
        n_predictors: The number of planes: each feature has ``floor(n_predictors / dim)`` offsets b, equally spaced
            inside (-1, 1).
        thresholds: The thresholds theta; None means ``linspace(0, 0.25, 20)``.

    Returns:
        The experts, each plane with its own rules.

    Raises:
        InputError: There are fewer planes than features, or a threshold is not a finite number.

    >>> axis_planes(dim=4)
    <axis_planes: 2000 experts, 100 predictors, 2000 rules>
    """
    dim = as_count(dim, "dim", most=MOST)
    offsets = np.linspace(-1.0, 1.0, as_count(n_predictors, "n_predictors", dim, MOST) // dim + 2)[1:-1]
    return AxisPlanes(dim, offsets, np.linspace(0.0, 0.25, 20) if thresholds is None else thresholds)

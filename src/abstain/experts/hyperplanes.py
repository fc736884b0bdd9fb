"""The paper's experts: hyperplanes through 0, with rings around 0 as abstention regions."""

from typing import Any

import numpy as np

from ..errors import InputError
from ..kernels import passes
from ..tables import as_count, as_seed
from .base import Advice, Bools, ExpertSet, Floats

REGIONS = ("rings", "balls", "accept_rings")


class Hyperplanes(ExpertSet):
    """Every pair of a hyperplane (rows of ``normals``) and a region; see `hyperplanes`."""

    kind = "hyperplanes"

    def __init__(self, normals: Floats, n_rings: int, always_predict: bool, regions: str) -> None:
        n_rings, always_predict = as_count(n_rings, "n_rings"), bool(always_predict)
        if not isinstance(regions, str) or regions not in REGIONS:
            raise InputError(f"regions: expected one of {', '.join(REGIONS)}, got {regions!r}")
        if normals.ndim != 2 or normals.size == 0:
            raise InputError(f"expected at least one hyperplane in at least one dimension, got shape {normals.shape}")
        super().__init__(len(normals), n_rings + always_predict, normals.shape[1])
        self.normals, self.n_rings, self.always_predict, self.regions = normals, n_rings, always_predict, regions
        self._columns = np.ascontiguousarray(normals.T)
        self._abstains_in = self._by_ring()

    def _by_ring(self) -> Bools:
        """Whether each rule abstains in each ring and, in the last row, beyond all rings (n_rings + 1, A)."""
        ring, rule = np.arange(self.n_rings + 1)[:, np.newaxis], np.arange(self.n_rings)
        if self.regions == "rings":
            table = ring == rule
        elif self.regions == "balls":
            table = ring <= rule
        else:
            table = ring != rule
        return np.column_stack([table, np.zeros((self.n_rings + 1, int(self.always_predict)), np.bool_)])

    def _advise(self, X: Floats, out: Floats | None = None) -> Advice:
        scores = np.empty((len(X), self.n_predictors)) if out is None else out[: len(X)]
        passes.project(X, self._columns, scores)
        ring = np.empty(len(X), np.int64)
        passes.rings(X, self.n_rings, ring)
        return Advice(scores, self._abstains_in[ring])

    def _find_subset(self) -> Bools:
        return np.asarray((self._abstains_in[:, :, np.newaxis] <= self._abstains_in[:, np.newaxis]).all(axis=0))

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
    """Hyperplanes through 0 with normals from N(0, I), each with the same rules around 0 (section 5).

    A ring has width sqrt(dim) / n_rings: x lies in ring ``min(floor(n_rings |x| / sqrt(dim)), n_rings - 1)``, and in
    none beyond sqrt(dim). With ``regions="rings"`` rule a abstains in ring a, with "balls" in the rings up to a, with
    "accept_rings" everywhere but in ring a. ``always_predict`` adds a last rule that never abstains.

    >>> hyperplanes(dim=8, seed=0)
    <hyperplanes: 2000 experts, 100 predictors, 20 rules>
    """
    shape = as_count(n_predictors, "n_predictors"), as_count(dim, "dim")
    normals = np.random.default_rng(as_seed(seed)).standard_normal(shape)
    return Hyperplanes(normals, n_rings, always_predict, regions)

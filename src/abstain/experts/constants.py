"""Pairs of constants (h, r), the same on every input: the actions of ContEXP3-ABS."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..tables import as_count, plain
from .base import Advice, Bools, ExpertSet, Floats


class Constants(ExpertSet):
    """Predictors that always say ``h[i]`` and rules that always say ``r[j]``, on inputs in a box."""

    kind = "constants"

    def __init__(
        self, dim: int, h: ArrayLike, r: ArrayLike, pairs: "str | ArrayLike", low: ArrayLike, high: ArrayLike
    ) -> None:
        self._h, self._r = np.array(plain(h), np.float64), np.array(plain(r), np.float64)
        self._pairs = pairs if isinstance(pairs, str) else np.array(plain(pairs))
        super().__init__(len(self._h), len(self._r), as_count(dim, "dim"), pairs)
        try:
            self.low, self.high = (np.broadcast_to(np.asarray(plain(end), np.float64), (dim,)) for end in (low, high))
        except (TypeError, ValueError):
            raise InputError(f"domain: expected two ends, numbers or {dim} each, got {low!r} and {high!r}") from None
        if not (np.isfinite(self.low) & np.isfinite(self.high) & (self.low < self.high)).all():
            raise InputError(f"domain: expected finite ends, each low one below its high one, got {low!r}, {high!r}")

    def check_inputs(self, X: Floats) -> None:
        outside = (self.low > X) | (self.high < X)
        if outside.any():
            i, k = np.argwhere(outside)[0]
            expected = f"[{self.low[k]:g}, {self.high[k]:g}]"
            raise InputError(f"x: expected inputs in the domain, {expected} in column {k}, got {X[i, k]} in row {i}")

    def _advise(self, X: Floats, out: Floats | None = None) -> Advice:
        silent = np.broadcast_to(self._r <= 0.0, (len(X), self.n_rules))
        return Advice(np.tile(self._h, (len(X), 1)), silent)

    @property
    def values(self) -> tuple[Floats, Floats]:
        """(h, r) of each expert."""
        return self._h[self.predictor_of], self._r[self.rule_of]

    def _find_subset(self) -> Bools:
        silent = self._r <= 0.0
        return np.asarray(~silent[:, np.newaxis] | silent[np.newaxis])

    def parameters(self) -> dict[str, Any]:
        return {
            "dim": self.n_features,
            "h": self._h,
            "r": self._r,
            "pairs": self._pairs,
            "low": np.array(self.low),
            "high": np.array(self.high),
        }

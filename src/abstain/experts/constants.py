"""Pairs of constants (h, r), the same on every input: the actions of ContEXP3-ABS."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, shown
from ..tables import MOST, as_count, as_floats, plain
from ..trust import trusted
from ..typing import Bools, Floats
from .base import Advice, ExpertSet


class Constants(ExpertSet):
    """Predictors that always say ``h[i]`` and rules that always say ``r[j]``, on inputs in a box."""

    kind = "constants"

    def __init__(
        self, dim: int, h: ArrayLike, r: ArrayLike, pairs: "str | ArrayLike", low: ArrayLike, high: ArrayLike
    ) -> None:
        self._h, self._r = (np.array(as_floats(values, name)) for values, name in ((h, "h"), (r, "r")))
        for values, name in ((self._h, "h"), (self._r, "r")):
            if values.ndim != 1 or not np.isfinite(values).all():
                raise InputError(f"{name}: expected finite numbers (n,), got {shown(values)}")
        self._pairs = pairs if isinstance(pairs, str) else np.array(plain(pairs, "pairs"))
        dim = as_count(dim, "dim", most=MOST)
        super().__init__(len(self._h), len(self._r), dim, pairs)
        got = f"got {shown(low)} and {shown(high)}"
        try:
            self.low, self.high = (np.broadcast_to(as_floats(end, "domain"), (dim,)) for end in (low, high))
        except ValueError:
            raise InputError(f"domain: expected two ends, numbers or {dim} each, {got}") from None
        if not (np.isfinite(self.low) & np.isfinite(self.high) & (self.low < self.high)).all():
            raise InputError(f"domain: expected finite ends, each low one below its high one, {got}")

    @trusted
    def check_inputs(self, X: Floats) -> None:
        outside = (self.low > X) | (self.high < X)
        if outside.any():
            i, k = np.argwhere(outside)[0]
            expected = f"[{self.low[k]:g}, {self.high[k]:g}]"
            raise InputError(f"x: expected inputs in the domain, {expected} in column {k}, got {X[i, k]} in row {i}")

    @trusted
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

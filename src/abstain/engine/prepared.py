"""Rounds whose advice and losses are worked out once, for any number of learners and costs."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from ..experts import Advice, ExpertSet
from ..kernels import passes
from ..losses import Loss
from ..typing import Array, Bools, Floats
from .blocks import blocks


class KnownAdvice(Advice):
    """Advice on rows of prepared rounds: abstentions are known, predictions are worked out if somebody asks."""

    _rounds: "Prepared"
    _rows: slice

    def __init__(self, rounds: "Prepared", rows: slice, abstains: Bools) -> None:
        for name, value in (("_rounds", rounds), ("_rows", rows), ("abstains", abstains)):
            object.__setattr__(self, name, value)

    @cached_property
    def predictions(self) -> Array:
        return self._rounds.experts.advise_block(self._rounds.X[self._rows]).predictions

    def __len__(self) -> int:
        return len(self.abstains)

    def outcomes(self, loss: Loss) -> Array | None:
        return self._rounds.outcomes(self._rows) if loss == self._rounds.loss else super().outcomes(loss)


class Prepared:
    """A table with its labels, and what the experts say and lose on it: what `abstain.prepare` returns.

    With ``keep`` that is held in memory: a byte for each predictor and rule of a round, or eight for a predictor where
    losses are not 0 or 1. Else, or where a byte cannot hold the losses of either label, it is worked out whenever it is
    asked for. It is the same either way, to the last bit.
    """

    def __init__(self, experts: ExpertSet, X: Floats, y: Array, loss: Loss, keep: bool = True) -> None:
        self.experts, self.X, self.y, self.loss = experts, X, y, loss
        either = keep and len(X) > 0 and loss.outcomes(experts.advise_block(X[:1]).predictions) is not None
        self.kept = keep and len(X) > 0 and (loss.binary or not either)
        self._coded = either
        """Whether losses are those of either label: ``l(-1) + 2 l(+1)``."""
        if self.kept:
            self._losses = np.empty((len(X), experts.n_predictors), np.uint8 if loss.binary else np.float64)
            self._abstains = np.empty((len(X), experts.n_rules), np.bool_)
            for rows in blocks(0, len(X), experts.row_bytes):
                self._work_out(rows)

    def _work_out(self, rows: slice) -> None:
        advice = self.experts.advise_block(self.X[rows])
        both = self.loss.outcomes(advice.predictions) if self._coded else None
        if both is None:
            self._losses[rows] = self.loss(advice.predictions, self.y[rows])
        else:
            self._losses[rows] = both[..., 0] | both[..., 1] << 1
        self._abstains[rows] = advice.abstains

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        return f"<{len(self)} rounds of {self.experts!r}>"

    @property
    def n_bytes(self) -> int:
        """What is held in memory."""
        return self.X.nbytes + (self._losses.nbytes + self._abstains.nbytes if self.kept else 0)

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[slice]:
        """Rows in blocks of a size that suits."""
        width = self.experts.row_bytes
        if self.kept:
            width = self._losses.itemsize * self.experts.n_predictors + self.experts.n_rules
        return blocks(first, len(self) if last is None else last, width)

    def advice(self, rows: slice, out: Floats | None = None) -> Advice:
        """What the experts say; ``out`` is room for predictions."""
        if self.kept:
            return KnownAdvice(self, rows, self._abstains[rows])
        return self.experts.advise_block(self.X[rows], out)

    def losses(self, rows: slice, advice: Advice) -> Array:
        """What each predictor loses (n, P), given the advice on these rows."""
        if not self.kept:
            return self.loss(advice.predictions, self.y[rows])
        if not self._coded:
            return self._losses[rows]
        values = np.empty((rows.stop - rows.start, self.experts.n_predictors), np.uint8)
        passes.of_label(self._losses[rows], self.y[rows], values)
        return values

    def losses_of(self, predictor: int, rows: slice, advice: Advice) -> Array:
        """What one predictor loses (n,)."""
        if self.kept:
            return np.asarray(self.losses(rows, advice)[:, predictor])
        return np.asarray(self.loss(advice.predictions[:, [predictor]], self.y[rows])[:, 0])

    def outcomes(self, rows: slice) -> Array | None:
        """The losses (n, P, 2) if the label is -1, and if it is +1; None where labels are others."""
        if not self._coded:
            return None
        codes = self._losses[rows]
        return np.stack([codes & 1, codes >> 1], axis=-1)


def bytes_kept(experts: ExpertSet, n: int, loss: Loss) -> int:
    """What n rounds take if they are kept."""
    return n * (experts.n_predictors * (1 if loss.binary else 8) + experts.n_rules)

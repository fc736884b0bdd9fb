"""Advice worked out once for all the learners and costs that play the same rounds."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..engine.blocks import blocks
from ..experts import Advice, ExpertSet
from ..kernels import passes
from ..losses import Loss
from ..typing import Bools, Floats, Ints


class Told(ExpertSet):
    """The experts of another set on a table: inputs are row numbers, predictions stand for the losses (T, P) of the
    rows.
    """

    kind = "told"
    portable = False

    def __init__(self, experts: ExpertSet, losses: NDArray[Any], abstains: Bools) -> None:
        pairs = np.column_stack([experts.predictor_of, experts.rule_of])
        super().__init__(experts.n_predictors, experts.n_rules, 1, pairs)
        self._experts, self._losses, self._abstains = experts, losses, abstains

    @property
    def row_bytes(self) -> int:
        return self._losses.itemsize * self.n_predictors + self.n_rules

    def _advise(self, X: Floats, out: Floats | None = None) -> Advice:
        rows = slice(int(X[0, 0]), int(X[-1, 0]) + 1)
        return Advice(self._losses[rows], self._abstains[rows])

    def _find_subset(self) -> Bools | None:
        return self._experts.rule_subset

    def parameters(self) -> dict[str, Any]:
        return self._experts.parameters()


class GivenLoss(Loss):
    """The loss of predictions that are losses already: those of the labels that come."""

    name = "known"

    def __init__(self, binary: bool) -> None:
        self.binary = binary  # type: ignore[misc]

    def labels(self, y: ArrayLike) -> NDArray[Any]:
        return np.asarray(y)

    def values(self, predictions: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
        return predictions

    def __call__(self, predictions: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
        return self.values(predictions, y)

    def spec(self) -> None:
        return None


class EitherLoss(GivenLoss):
    """The loss of predictions that say what either label costs: ``l(-1) + 2 l(+1)``, for losses of 0 and 1."""

    name = "known for either label"

    def __init__(self) -> None:
        super().__init__(binary=True)

    def values(self, predictions: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
        values = np.empty(predictions.shape, np.uint8)
        passes.of_label(np.ascontiguousarray(predictions), y, values)
        return values

    def outcomes(self, predictions: NDArray[Any]) -> NDArray[Any]:
        return np.stack([predictions & 1, predictions >> 1], axis=-1)


@dataclass(frozen=True, eq=False)
class Table:
    """Rounds to play, as `simulate` takes them."""

    experts: ExpertSet
    X: Floats
    y: NDArray[Any]
    loss: Loss
    n_bytes: int
    """What is held in memory."""
    regime: Ints
    """The regime of each round: those of one come in the same way."""


def tell(experts: ExpertSet, X: Floats, y: NDArray[Any], loss: Loss, regime: Ints, most_bytes: int) -> Table:
    """The table with the advice worked out, if that takes no more than so many bytes, or else as it is.

    Learners see the same either way, to the last bit, but for the features. Where either label has a loss of its own, a
    learner may ask for both; a byte holds them if they are 0 or 1, and tables with others are left as they are.
    """
    width = experts.n_predictors * (1 if loss.binary else 8) + experts.n_rules
    labels = loss.labels(y)
    either = len(X) > 0 and loss.outcomes(experts.advise_block(X[:1]).predictions) is not None
    if len(X) * width > most_bytes or (either and not loss.binary):
        return Table(experts, X, labels, loss, X.nbytes, regime)
    losses = np.empty((len(X), experts.n_predictors), np.uint8 if loss.binary else np.float64)
    abstains = np.empty((len(X), experts.n_rules), np.bool_)
    for rows in blocks(len(X), experts):
        advice = experts.advise_block(X[rows])
        both = loss.outcomes(advice.predictions)
        losses[rows] = loss(advice.predictions, labels[rows]) if both is None else both[..., 0] | both[..., 1] << 1
        abstains[rows] = advice.abstains
    numbers = np.arange(len(X), dtype=np.float64)[:, np.newaxis]
    given = EitherLoss() if either else GivenLoss(loss.binary)
    return Table(Told(experts, losses, abstains), numbers, labels, given, losses.nbytes + abstains.nbytes, regime)

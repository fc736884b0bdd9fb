"""Losses of predictors, each in [0, 1]: ``l(y, h(x))`` of the paper's section 2.

A loss takes predictions ``(n, P)`` and labels ``(n,)`` and returns ``(n, P)``. Wherever one is expected, its name does,
too::

    >>> import numpy as np
    >>> loss = get("zero_one")
    >>> loss(np.array([[0.3, -2.0, 0.0]]), loss.labels([1]))
    array([[0, 1, 1]], dtype=uint8)
    >>> ramp(gamma=0.5)(np.array([[0.25, -0.25, 3.0]]), np.array([1.0]))
    array([[0.25, 0.75, 0.  ]])
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from ..errors import InputError, shown
from ..registry import as_plain, name_of
from ..surrogate import surrogate
from ..typing import Array
from .base import Loss, kinds
from .classes import Multiclass
from .functions import FunctionLoss
from .regression import AbsoluteError, SquaredError
from .signed import Hinge, Ramp, ZeroOne

__all__ = [
    "AbsoluteError",
    "FunctionLoss",
    "Hinge",
    "Loss",
    "Multiclass",
    "Ramp",
    "SquaredError",
    "ZeroOne",
    "from_spec",
    "get",
    "multiclass",
    "names",
    "ramp",
    "surrogate",
]

_NAMED: dict[str, type[Loss]] = {
    loss.name: loss for loss in (ZeroOne, Ramp, Hinge, Multiclass, AbsoluteError, SquaredError)
}
names = tuple(_NAMED)


def ramp(gamma: float = 0.5) -> Ramp:
    """The ramp loss of width ``gamma``."""
    return Ramp(gamma)


def multiclass(classes: Sequence[Any] | None = None) -> Multiclass:
    """The zero-one loss for any integer or string classes."""
    return Multiclass(classes)


def get(loss: "str | Loss | Callable[[Array, Array], ArrayLike]") -> Loss:
    """The loss of that name, or the loss itself; a function becomes a loss."""
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str) and loss in _NAMED:
        return _NAMED[loss]()
    if callable(loss):
        return FunctionLoss(loss)
    raise InputError(f"loss: expected a loss, a function or one of {', '.join(names)}, got {shown(loss)}")


def from_spec(spec: Mapping[str, Any]) -> Loss:
    """The loss that `Loss.spec` described; its class must have been imported. Lists become tuples.

    The first files say ``{"name": "ramp", "gamma": 0.5}``.
    """
    parts = dict(spec) if isinstance(spec, Mapping) else {}
    if isinstance(parts.get("kind"), str) and isinstance(parts.get("parameters"), Mapping):
        return kinds.make(parts["kind"], as_plain(dict(parts["parameters"])))
    name = parts.pop("name", None)
    if not isinstance(name, str) or name not in _NAMED:
        raise InputError(f"loss: expected what Loss.spec returned, got {shown(spec)}")
    return kinds.make(name_of(_NAMED[name]), as_plain(parts))

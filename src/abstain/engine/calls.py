"""Calls of a learner's compiled functions from Python."""

from typing import Any, NamedTuple

import numba

from ..typing import Array, Bools, Floats
from .loop import Kernels, compiled


class Hand(NamedTuple):
    """Room for the round that compiled functions are called with."""

    x: Floats
    abstains: Bools
    losses: Array
    carry: Array


class Calls:
    """The compiled functions of a learner, by name.

    A learner calls each with arguments of the same types in every round, so that the machine code for them is looked up
    once; looking at the types of all arrays of a state takes ten times as long as the call.
    """

    def __init__(self, kernels: Kernels) -> None:
        self.functions = compiled(kernels)
        self._code: dict[str, Any] = {}

    def __call__(self, name: str, *arguments: Any) -> Any:
        code = self._code.get(name)
        if code is None:
            function = getattr(self.functions, name)
            types = tuple(numba.typeof(argument) for argument in arguments)  # type: ignore[no-untyped-call]
            function.compile(types)
            code = self._code[name] = function.get_overload(types)
        return code(*arguments)

    def forget(self) -> None:
        """Look at the types again: the state is another one."""
        self._code.clear()

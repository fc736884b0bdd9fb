"""Learners whose rounds are compiled: what one defines, its state, copies and files of it."""

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from .. import costs
from ..errors import InputError, shown
from ..experts import Advice, ExpertSet
from ..kernels.layout import Layout
from ..typing import Array, Bools, Floats, Ints
from .arrange import arrange, rules_in_use
from .calls import Calls, Hand
from .defined import Seed
from .learner import Learner
from .loop import Kernels, never_full
from .state import check_arrays, copied, fields_named

_CHECKED: WeakKeyDictionary[type, type] = WeakKeyDictionary()
"""Learners, and their kind of state whose fields were found to be there."""


class Stateful(Learner):
    """A learner with a state: a NamedTuple of arrays that its `kernels` work on."""

    kernels: ClassVar[Kernels]
    """The algorithm."""
    saved: tuple[str, ...] = ()
    """The fields of the state, by name, that hold what was learnt; the others are scratch, or follow from them (see
    `derive`). They are finite and not negative, unless `signed`."""
    signed: tuple[str, ...] = ()
    """Saved fields that may be negative."""
    fixed: ClassVar[tuple[str, ...]] = ()
    """Parts of the state that kernels never write to, so that they need not be copied."""

    def __init__(self, experts: ExpertSet, *, cost: costs.CostLike, loss: Any = "zero_one", seed: Seed = None) -> None:
        super().__init__(experts, cost=cost, loss=loss, seed=seed)
        self._used, self.pairs = rules_in_use(experts)

    def _take_experts(self, experts: ExpertSet) -> None:
        super()._take_experts(experts)
        self._used, self.pairs = rules_in_use(experts)
        vars(self).pop("_hand", None)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        kernels = getattr(cls, "kernels", None)
        if kernels is not None and not (isinstance(kernels, Kernels) and all(hasattr(k, "py_func") for k in kernels)):
            raise InputError(f"kernels: expected Kernels of functions marked ab.kernel, got {shown(kernels)}")
        if not all(isinstance(name, str) for name in (*cls.saved, *cls.signed, *cls.fixed)):
            raise InputError(f"saved: expected names of fields of the state, got {shown(cls.saved)}")

    def _reprice(self, cost: costs.Constant) -> None:
        _ = self.state  # made at the cost that was given
        super()._reprice(cost)

    # What a learner defines.

    @abstractmethod
    def new_state(self) -> Any:
        """A state in which nothing was learnt: a NamedTuple of arrays, numbers, and such NamedTuples."""

    def new_carry(self) -> Array:
        """A row, of bits or of floats, for what the kernels carry from a round to its label."""
        return np.zeros(0)

    def see(self, X: Floats | None, advice: Advice, costs: Floats) -> Floats:
        """What the kernels see of n inputs, as ``x`` (n, m): the features; X is None where advice is all there is.

        Another learner may let them see something else, made of the inputs, the advice and the costs (n,).
        """
        return np.zeros((len(advice), 0)) if X is None else X

    @property
    def draws(self) -> bool:
        """Whether a random number is drawn in every round; else ``u`` is 0."""
        return True

    @property
    def compiled(self) -> bool:
        """Whether whole rounds are, as the learner was made."""
        return True

    def derive(self) -> None:
        """Work out again what follows from the saved fields, after those were read from a file."""

    def grow(self) -> None:
        """Set `state` to one with more room; called when the kernel ``full`` says so."""
        raise InputError("grow: expected to be defined where the kernel full says that there is no room, got nothing")

    def check_saved(self, arrays: Mapping[str, Array]) -> None:
        """Raise a `ValueError` if what a file holds cannot be a state; types, sizes, signs were checked before."""

    # The state.

    _state: Any = None

    @property
    def state(self) -> Any:
        """All that the kernels work on, made when it is first needed. Look, but do not touch."""
        if self._state is None:
            with self.lock:
                if self._state is None:
                    state = self.new_state()
                    if _CHECKED.get(type(self)) is not type(state):
                        if not isinstance(state, tuple) or not hasattr(state, "_fields"):
                            raise InputError(f"new_state: expected a NamedTuple, got {shown(state)}")
                        fields_named(self.saved, state)
                        _CHECKED[type(self)] = type(state)
                    self._state = state
        return self._state

    @state.setter
    def state(self, state: Any) -> None:
        self._state = state
        self._call.forget()

    @property
    def rule_of(self) -> Ints:
        """The rule of each expert (K,), numbered among those in use, as the kernels know them."""
        return self.pairs.rule

    @property
    def n_rules(self) -> int:
        """The number of rules in use."""
        return self.experts.n_rules if self._used is None else len(self._used)

    @property
    def layout(self) -> Layout:
        """The experts side by side by rule, for states that keep what is the same for all experts of a rule once."""
        return arrange(self.experts)

    def _as_numbered(self, rules: Ints) -> Ints:
        """Rules in use, as the experts number them."""
        return rules if self._used is None else self._used[rules]

    def _of_used(self, abstains: Bools) -> Bools:
        """Abstentions (..., A) of the rules in use."""
        return abstains if self._used is None else np.ascontiguousarray(abstains[..., self._used])

    # Calls of compiled functions.

    @cached_property
    def _call(self) -> Calls:
        return Calls(self.kernels)

    @cached_property
    def _hand(self) -> Hand:
        """Room for one round; arrays that somebody else holds, or that are read-only, never get into compiled code."""
        carry = np.asarray(self.new_carry())
        if carry.ndim != 1 or carry.dtype not in (np.bool_, np.float64):
            raise InputError(f"new_carry: expected bits or floats (n,), got {carry.dtype} {carry.shape}")
        losses = np.zeros(self.experts.n_predictors, np.uint8 if self.loss.binary else np.float64)
        return Hand(np.zeros(self.experts.n_features or 0), np.zeros(self.n_rules, np.bool_), losses, carry)

    def _make_room(self) -> None:
        if self.kernels.full is not never_full and self._call("full", self.state):
            self.grow()
            if self._call("full", self.state):
                raise InputError("grow: expected room for another round, got a state that is full, too")

    def _draw(self, n: int) -> Floats:
        return self._random.random(n) if self.draws else np.zeros(n)

    # Copies and files.

    def __getstate__(self) -> dict[str, Any]:
        values = super().__getstate__()
        for name in ("_hand", "_call"):
            values.pop(name, None)
        return values

    def _keep(self) -> Any:
        return None if self._state is None else self._apart(self._state)

    def _apart(self, state: Any) -> Any:
        """A copy of a state, but for what never changes."""
        return type(state)(*(v if name in self.fixed else copied(v) for name, v in state._asdict().items()))

    def _bring_back(self, kept: Any) -> None:
        if kept is None:
            self._state = None
            self._call.forget()
        else:
            self.state = self._apart(kept)

    def _arrays(self) -> dict[str, Array]:
        return {name: field.copy() for name, field in fields_named(self.saved, self.state).items()}

    def _set_arrays(self, arrays: Mapping[str, Array]) -> None:
        fields = fields_named(self.saved, self.state)
        check_arrays(arrays, fields, self.signed)
        self.check_saved(arrays)
        for name, array in arrays.items():
            fields[name][...] = array
        self.derive()

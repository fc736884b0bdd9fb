"""States of compiled learners: NamedTuples of arrays, numbers, and such NamedTuples."""

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numba
import numpy as np
from numpy.typing import ArrayLike

from .. import costs
from .._core.validation import as_table
from ..errors import InputError, shown
from ..experts import Advice, ExpertSet
from ..kernels.layout import Layout, layout
from ..typing import Array, Bools, Floats, Ints
from .decision import FORMAT_1, Choice, Decision, Identity
from .learner import Learner, Seed
from .loop import (
    Arrivals,
    Expects,
    Kernels,
    Late,
    Pairs,
    Played,
    Rounds,
    compiled,
    count_no_edges,
    inform_nothing,
    never_full,
)
from .play import Playing, PlayingBlocks, blocks, writeable


def check_arrays(arrays: Mapping[str, Array], like: Mapping[str, Array], signed: tuple[str, ...] = ()) -> None:
    """Raise an error unless these are the arrays that are expected: their names, types, shapes, and finite values."""
    if arrays.keys() != like.keys():
        raise InputError(f"state: expected the arrays {', '.join(like)}, got {', '.join(arrays) or 'none'}")
    for name, array in arrays.items():
        expected = like[name]
        if array.dtype != expected.dtype or array.shape != expected.shape:
            raise InputError(
                f"state: expected {name} as {expected.dtype} {expected.shape}, got {array.dtype} {array.shape}"
            )
        if not np.isfinite(array).all():
            raise InputError(f"state: expected finite numbers in {name}, got others")
        if name not in signed and (array < 0).any():
            raise InputError(f"state: expected numbers from 0 on in {name}, got others")


def fields_named(names: tuple[str, ...], state: Any) -> dict[str, Array]:
    """The fields with these names of a state, or of the states in it."""
    known: dict[str, list[Any]] = {}
    _collect(state, known)
    for name in names:
        values = known.get(name, [])
        if len(values) != 1 or not isinstance(values[0], np.ndarray):
            raise InputError(f"saved: expected one array of the name {name} in the state, got {len(values)} fields")
    return {name: known[name][0] for name in names}


def _collect(state: Any, known: dict[str, list[Any]]) -> None:
    """Add the values of a state and of the states in it, by name."""
    for name, value in zip(state._fields, state, strict=True):
        if isinstance(value, tuple):
            _collect(value, known)
        else:
            known.setdefault(name, []).append(value)


def copied(value: Any) -> Any:
    """A copy of a state that shares no array with it."""
    if isinstance(value, tuple):
        return type(value)(*map(copied, value))
    return value.copy() if isinstance(value, np.ndarray) else value


_known: "WeakKeyDictionary[ExpertSet, dict[Any, Any]]" = WeakKeyDictionary()


def rules_in_use(experts: ExpertSet) -> tuple[Ints | None, Pairs]:
    """The rules that experts use (None: all), and the pairs, with rules numbered among those."""
    known = _known.setdefault(experts, {})
    if "rules" not in known:
        used, rule = np.unique(experts.rule_of, return_inverse=True)
        pairs = Pairs(experts.predictor_of.copy(), rule.astype(np.int64))
        known["rules"] = None if len(used) == experts.n_rules else used, pairs
    rules: tuple[Ints | None, Pairs] = known["rules"]
    return rules


def arrange(experts: ExpertSet, by_rule: bool = True) -> Layout:
    """The experts in teams, by rule or one by one."""
    known = _known.setdefault(experts, {})
    if by_rule not in known:
        pairs = rules_in_use(experts)[1]
        known[by_rule] = layout(pairs.predictor, pairs.rule, experts.n_predictors, by_rule)
    teams: Layout = known[by_rule]
    return teams


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


class KernelLearner(Stateful):
    """A learner made of `kernels` and a state.

    The engine has the rest: the loop over a table and the single round, which call the same kernels; late labels,
    copies, files. Define `kernels`, `saved` and `new_state`; `new_carry` if the kernels carry something from a round to
    its label; see "Write a learner" in the documentation.
    """

    # The protocol.

    def _take_in_hand(self, abstains: Bools, carry: Array | None = None, losses: Array | None = None) -> Hand:
        """Let compiled functions see a round."""
        hand = self._hand
        hand.abstains[:] = abstains if self._used is None else abstains[self._used]
        if carry is not None:
            hand.carry[:] = carry
        if losses is not None:
            hand.losses[:] = losses
        return hand

    def _advise(self, x: "ArrayLike | Advice") -> tuple[Advice, float]:
        advice, cost = super()._advise(x)
        hand = self._take_in_hand(advice.abstains[0])
        features = None if isinstance(x, Advice) else np.asarray(x, np.float64)[np.newaxis]
        seen = self.see(features, advice, np.array([cost]))[0]
        if hand.x.size == seen.size:
            hand.x[:] = seen
        else:
            vars(self)["_hand"] = hand._replace(x=np.array(seen, np.float64))
        return advice, cost

    def _choose(self, advice: Advice, cost: float) -> Choice:
        self._make_room()
        u, hand = self._random.random() if self.draws else 0.0, self._hand
        expert, probability = self._call("peek", self.round + 1, u, hand.x, hand.abstains, hand.carry, self.state)
        return self._choice(expert, probability, hand.carry.copy())

    def _choice(self, expert: int, probability: float, carry: Array) -> Choice:
        """What the kernels chose; a learner may say more of it that they carry."""
        return Choice(expert, probability, carry)

    def _play_round(self, advice: Advice, cost: float) -> Decision:
        if not self.compiled:
            return super()._play_round(advice, cost)
        self._make_room()
        self.round += 1
        u, hand = self._random.random() if self.draws else 0.0, self._hand
        expert, probability, _ = self._call(
            "decide", self.round, u, hand.x, hand.abstains, hand.losses, cost, hand.carry, Expects(*self.expects),
            self.pairs, self.state,
        )  # fmt: skip
        choice = self._choice(expert, probability, hand.carry.copy())
        return self._decision(choice, advice, cost, self.round, Identity.new_id())

    def _commit(self, decision: Decision) -> None:
        hand = self._take_in_hand(decision.abstains, decision.carry)
        self._call("note", decision.round, decision.expert, hand.abstains, hand.carry, self.state)
        if not self.expects[decision.abstained]:
            self._update(decision, False, hand)

    def _miss(self, decision: Decision) -> None:
        self._update(decision, False, self._take_in_hand(decision.abstains, self._carry_of(decision)))

    def _absorb(self, decision: Decision, losses: Array) -> None:
        self._update(decision, True, self._take_in_hand(decision.abstains, self._carry_of(decision), losses))

    def _update(self, decision: Decision, seen: bool, hand: Hand) -> None:
        self._call(
            "learn", decision.expert, hand.abstains, hand.losses, seen, decision.cost, hand.carry, self.state
        )  # fmt: skip

    def _carry_of(self, decision: Decision) -> Array:
        """What a decision carries; those of format 1 all had out-neighbours, or a place and the probability."""
        carry, size = decision.carry, self._hand.carry.size
        if decision.life == FORMAT_1:
            if self._hand.carry.dtype == np.bool_:
                return carry if carry.dtype == np.bool_ else np.zeros(0, np.bool_)
            return carry[len(carry) - size :]
        return carry

    def _fits(self, decision: Decision) -> bool:
        carry, own = self._carry_of(decision), self._hand.carry
        same = carry.shape == own.shape and carry.dtype == own.dtype
        return same and bool(np.isfinite(carry).all()) and super()._fits(decision)

    def n_edges(self, x: "ArrayLike | Advice") -> int:
        """The size of the graph in use for this input."""
        with self.lock:
            self._advise(x)
            if self.kernels.edges is count_no_edges:
                return int(self._edges_shown(self._hand.abstains[np.newaxis])[0])
            return int(self._call("edges", self.round + 1, self._hand.abstains, self.state))

    def _edges_shown(self, abstains: Bools) -> Ints:
        """The size of G^ABS: who predicts shows everybody, who abstains shows those who abstain (n,)."""
        silent = abstains @ np.bincount(self.rule_of, minlength=self.n_rules)
        n_experts = self.experts.n_experts
        return np.asarray((n_experts - silent) * n_experts + silent * silent)

    # Whole tables.

    def playing(self, delay: int, later: bool = False) -> Playing:
        return PlayingBlocks(self, delay, later) if self.compiled else super().playing(delay, later)

    def _new_late(self, n: int, old: Late | None) -> Late:
        """Room for ``n`` rounds that wait, those that wait already among them."""
        hand = self._hand
        late = Late(
            expert=np.full(n, -1),
            abstains=np.zeros((n, hand.abstains.size), np.bool_),
            losses=np.zeros((n, hand.losses.size), hand.losses.dtype),
            cost=np.zeros(n),
            carry=np.zeros((n, hand.carry.size), hand.carry.dtype),
            seen=np.zeros(n, np.bool_),
        )
        for array, before in zip(late, old or (), strict=False):
            array[: len(before)] = before
        return late

    def _play_block(
        self, rounds: Rounds, at: Ints, edges: Ints, late: Late | None, arrivals: Arrivals | None, out: Played
    ) -> None:  # fmt: skip
        done, hand = 0, self._hand
        while done < len(rounds.u):
            self._make_room()
            done = self._call.functions.play(
                done, self.round + 1, rounds, at, edges, late, arrivals, Expects(*self.expects), self.pairs, hand.carry,
                self.state, out,
            )  # fmt: skip
            if done < 0:
                raise InputError(
                    f"choose: expected an expert below {self.experts.n_experts}, got another in row {-1 - done}"
                )
        if self.kernels.edges is count_no_edges:
            edges[:] = self._edges_shown(rounds.abstains[at])

    def _settle(self, places: Ints, late: Late) -> None:
        """Learn what waits at these places."""
        self._call.functions.settle(places, late, self.state)

    def warm_start(self, X: ArrayLike, y: ArrayLike) -> None:
        """Learn from a table X (n, d) and all its labels y (n,), before the first round: as full information."""
        if self.kernels.inform is inform_nothing:
            super().warm_start(X, y)
        with self.lock:
            table = as_table(X, self.experts.n_features)
            self.experts.check_inputs(table)
            labels = self.loss.labels(y)
            if len(labels) != len(table):
                raise InputError(f"y: expected {len(table)} labels, one for each row of X, got {len(labels)}")
            if self.round > 0:
                raise InputError(f"warm_start: expected a learner before its first round, got one after {self.round}")
            paid, before = self._cost.of(table, 1, len(table)), self.snapshot()
            try:
                for rows in blocks(0, len(table), self.experts.row_bytes):
                    advice = self.experts.advise_block(table[rows])
                    seen = self.see(table[rows], advice, paid[rows])
                    given = (
                        seen,
                        self._of_used(advice.abstains),
                        self.loss(advice.predictions, labels[rows]),
                        paid[rows],
                    )
                    self._call.functions.teach(*map(writeable, given), self._hand.carry, self.state)
            except Exception:
                self.restore(before)
                raise

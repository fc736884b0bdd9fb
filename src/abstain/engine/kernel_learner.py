"""Compiled learners: a state of arrays, a few compiled functions on it, and everything that calls them."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numba
import numpy as np
from numba.core import config
from numpy.typing import ArrayLike

from .. import costs
from .._core.validation import as_table
from ..errors import InputError, ReadOnlyError, shown
from ..experts import Advice, ExpertSet
from ..kernels.layout import Layout, layout
from ..kernels.packing import packed
from ..typing import Array, Bools, Floats, Ints
from .decision import Choice, Decision
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
    note_nothing,
)
from .play import Playing, PlayingBlocks, blocks, writeable


def check_arrays(arrays: Mapping[str, Array], like: Mapping[str, Array], signed: tuple[str, ...] = ()) -> None:
    """Check arrays from a file: their names, types and shapes, and that they are finite and not negative.

    Args:
        arrays: The arrays by name.
        like: Arrays of the same names, types and shapes.
        signed: The names of arrays that may be negative.

    Raises:
        InputError: If one is not as expected.
    """
    if arrays.keys() != like.keys():
        raise InputError(f"state: expected the arrays {', '.join(like)}, got {', '.join(arrays) or 'none'}")
    for name, array in arrays.items():
        expected = like[name]
        if array.dtype != expected.dtype or array.shape != expected.shape:
            raise InputError(
                f"state: expected {name} as {expected.dtype} {expected.shape}, got {array.dtype} {array.shape}"
            )
        if not np.isfinite(array).all():
            raise InputError(f"state: expected finite numbers in {name}, got {array[~np.isfinite(array)][0]}")
        if name not in signed and (array < 0).any():
            raise InputError(f"state: expected numbers from 0 on in {name}, got {array[array < 0][0]}")


def fields_named(names: tuple[str, ...], state: Any) -> dict[str, Array]:
    """Find fields of a state, or of the states in it.

    Args:
        names: The fields.
        state: The state: NamedTuples of arrays, numbers and such NamedTuples.

    Returns:
        The arrays by name.

    Raises:
        InputError: If a name is not that of exactly one array.
    """
    known: dict[str, list[Any]] = {}
    _collect(state, known)
    for name in names:
        values = known.get(name, [])
        if len(values) != 1 or not isinstance(values[0], np.ndarray):
            got = " and ".join(type(value).__name__ for value in values) or "none"
            raise InputError(f"saved: expected one array of the name {name} in the state, got {got}")
    return {name: known[name][0] for name in names}


def _collect(state: Any, known: dict[str, list[Any]]) -> None:
    """Add the values of a state and of the states in it, by name."""
    for name, value in zip(state._fields, state, strict=True):
        if isinstance(value, tuple):
            _collect(value, known)
        else:
            known.setdefault(name, []).append(value)


def check_names(saved: tuple[str, ...], signed: tuple[str, ...], fixed: tuple[str, ...], state: Any) -> None:
    """Check the names that a class of learners gives to parts of its state.

    Args:
        saved: Arrays that hold what was learnt.
        signed: Arrays that may be negative.
        fixed: Parts of which copies of the state share the arrays: constants, and scratch space.
        state: A state.

    Raises:
        InputError: If there is no such part, or if what is saved is in a fixed part: it would not be copied.
    """
    fields_named(saved, state)
    known = dict(_parts(state, fixed))
    for key, names in (("signed", signed), ("fixed", fixed)):
        for name in names:
            if name not in known:
                raise InputError(f"{key}: expected names of fields of the state, got {name!r}")
    for name in saved:
        if known[name]:
            raise InputError(f"fixed: expected parts of the state that nothing is learnt in, but {name} is saved")


def _parts(state: Any, fixed: tuple[str, ...], inside: bool = False) -> Iterator[tuple[str, bool]]:
    """The names of all parts of a state, and whether they are fixed or inside of a fixed one."""
    for name, value in zip(state._fields, state, strict=True):
        is_fixed = inside or name in fixed
        yield name, is_fixed
        if isinstance(value, tuple):
            yield from _parts(value, fixed, is_fixed)


def copied(state: Any, fixed: tuple[str, ...]) -> Any:
    """Copy a state, and the states in it, with all arrays but those in fields that never change."""
    fields = []
    for name, field in zip(state._fields, state, strict=True):
        if name not in fixed:
            if isinstance(field, np.ndarray):
                field = field.copy()
            elif isinstance(field, tuple):
                field = copied(field, fixed)
        fields.append(field)
    return state._make(fields)


_known: "WeakKeyDictionary[ExpertSet, dict[Any, Any]]" = WeakKeyDictionary()


def rules_in_use(experts: ExpertSet) -> tuple[Ints | None, Pairs]:
    """Return the rules that experts use (None: all), and the pairs, with rules numbered among those."""
    known = _known.setdefault(experts, {})
    if "rules" not in known:
        used, rule = np.unique(experts.rule_of, return_inverse=True)
        pairs = Pairs(experts.predictor_of.copy(), rule.astype(np.int64))
        known["rules"] = None if len(used) == experts.n_rules else used, pairs
    rules: tuple[Ints | None, Pairs] = known["rules"]
    return rules


def arrange(experts: ExpertSet, by_rule: bool = True) -> Layout:
    """Lay out experts in teams, by rule or one by one."""
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


_EXPECTS = {(p, a): Expects(p, a) for p in (False, True) for a in (False, True)}


class Calls:
    """The compiled functions of a learner, by name.

    A learner calls each with arguments of the same types in every round, so it looks up the machine code once: looking
    at the types of all arrays of a state takes ten times as long as the call.

    Args:
        kernels: The learner's algorithm.
    """

    def __init__(self, kernels: Kernels) -> None:
        self.kernels, self.functions = kernels, compiled(kernels)
        self.code: dict[str, Callable[..., Any]] = {}
        self._state: Any = None
        self._packed: Any = None

    def pack(self, state: Any) -> Any:
        """The state as compiled functions get it."""
        if self._state is not state:
            self._state, self._packed = state, packed(state)
        return self._packed

    def __call__(self, name: str, *arguments: Any) -> Any:
        code = self.code.get(name)
        if code is None:
            code = self.code[name] = self._find(name, arguments)
        return code(*arguments)

    def _find(self, name: str, arguments: tuple[Any, ...]) -> Callable[..., Any]:
        function: Any = getattr(self.functions, name)
        if config.DISABLE_JIT:  # type: ignore[attr-defined]
            return function  # type: ignore[no-any-return]
        types = tuple(numba.typeof(argument) for argument in arguments)  # type: ignore[no-untyped-call]
        function.compile(types)
        return function.get_overload(types)  # type: ignore[no-any-return]

    def forget(self) -> None:
        """Look at the types again, after the state was replaced."""
        self.code.clear()


_CHECKED: WeakKeyDictionary[type, type] = WeakKeyDictionary()
"""Learners, and their kind of state whose fields were found to be there."""


class KernelLearner(Learner):
    """A learner made of compiled functions, its `kernels`, and a state: a NamedTuple of arrays.

    The engine does the rest: the loop over a table and the single round, which call the same functions; late labels,
    copies, files. Define `kernels`, `saved` and `new_state`; `new_carry` if the functions carry something from a round
    to its label. The page "Extend" of the documentation has a whole example.

    Args:
        experts: The experts to choose from.
        cost: The cost of abstaining: a number in [0, 1], one number per round, or a function of x.
        loss: The loss of a prediction: a name in `abstain.losses`, a loss, or a function of predictions and labels.
        seed: The seed of the learner's random numbers; by default every learner draws others.

    Raises:
        InputError: If an argument is of the wrong type or out of range.
    """

    kernels: ClassVar[Kernels]
    """The algorithm."""
    saved: tuple[str, ...] = ()
    """The fields of the state, by name, that hold what was learnt. The others are scratch, or follow from these (see
    `derive`). Saved fields are finite and not negative, unless `signed`."""
    signed: tuple[str, ...] = ()
    """The saved fields that may be negative."""
    fixed: ClassVar[tuple[str, ...]] = ()
    """Parts of the state that need not be copied: no compiled function writes to them, or what it writes there means
    nothing to a later one."""
    _not_copied = ("lock", "_hand", "_call")
    _state: Any = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        kernels = getattr(cls, "kernels", None)
        if kernels is not None and not (
            isinstance(kernels, Kernels) and (config.DISABLE_JIT or all(hasattr(k, "py_func") for k in kernels))  # type: ignore[attr-defined]
        ):
            raise InputError(f"kernels: expected Kernels of functions marked extend.kernel, got {shown(kernels)}")
        if not all(isinstance(name, str) for name in (*cls.saved, *cls.signed, *cls.fixed)):
            raise InputError(f"saved: expected names of fields of the state, got {shown(cls.saved)}")

    def __init__(self, experts: ExpertSet, *, cost: costs.CostLike, loss: Any = "zero_one", seed: Seed = None) -> None:
        if getattr(self, "kernels", None) is None:
            raise InputError(f"kernels: expected Kernels(choose, update) in the class {type(self).__name__}, got none")
        super().__init__(experts, cost=cost, loss=loss, seed=seed)
        self._used, self.pairs = rules_in_use(experts)

    # What a learner defines.

    @abstractmethod
    def new_state(self) -> Any:
        """Make a state in which nothing was learnt.

        Returns:
            A NamedTuple of arrays, numbers, and such NamedTuples.
        """

    def new_carry(self) -> Array:
        """Make room for what the kernels carry from a round to its label: bits or floats (n,). By default nothing."""
        return np.zeros(0)

    def see(self, X: Floats | None, advice: Advice, costs: Floats) -> Floats:
        """Choose what the kernels see of inputs. By default these are the features.

        Args:
            X: The inputs (n, d); None where advice is all there is.
            advice: What the experts say on them.
            costs: The costs of abstaining (n,).

        Returns:
            What `choose` gets as ``x``, one row per round (n, m).
        """
        return np.zeros((len(advice), 0)) if X is None else X

    @property
    def draws(self) -> bool:
        """Whether a random number is drawn in every round; otherwise ``u`` is 0."""
        return True

    @property
    def compiled(self) -> bool:
        """Whether whole rounds are compiled, with the options of this learner."""
        return True

    def derive(self) -> None:
        """Compute what follows from the saved fields, after they were read from a file. By default nothing."""

    def grow(self) -> None:
        """Set `state` to one with more room; called when the kernel ``full`` says that there is none."""
        raise InputError("grow: expected to be defined where the kernel full says that there is no room, got nothing")

    def check_saved(self, arrays: Mapping[str, Array]) -> None:
        """Check what a file holds beyond types, sizes and signs, which are checked already.

        Args:
            arrays: The saved fields by name.

        Raises:
            ValueError: If this cannot be a state.
        """

    def as_choice(self, expert: int, probability: float, carry: Array) -> Choice:
        """Describe what the kernels chose; define it if the carry says more, as whether a choice explored.

        Args:
            expert: The expert.
            probability: The probability of predicting.
            carry: A copy of what the kernels carry.

        Returns:
            The choice.
        """
        return Choice(expert, probability, carry)

    # The state.

    @property
    def state(self) -> Any:
        """What the kernels work on, made when it is first needed. Look, but do not touch."""
        if self._state is None:
            with self.lock:
                if self._state is None:
                    state = self.new_state()
                    if _CHECKED.get(type(self)) is not type(state):
                        if not isinstance(state, tuple) or not hasattr(state, "_fields"):
                            raise InputError(f"new_state: expected a NamedTuple, got {shown(state)}")
                        check_names(self.saved, self.signed, self.fixed, state)
                        _CHECKED[type(self)] = type(state)
                    self._state = state
        return self._state

    @state.setter
    def state(self, state: Any) -> None:
        if self._made and not self.lock._is_owned():  # type: ignore[attr-defined]
            raise ReadOnlyError(
                f"state: cannot be set, got {shown(state)}; only the learner's own methods change it, holding its lock"
            )
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
        """Number rules in use as the experts do."""
        return rules if self._used is None else self._used[rules]

    def _of_used(self, abstains: Bools) -> Bools:
        """Select the abstentions (..., A) of the rules in use."""
        return abstains if self._used is None else np.ascontiguousarray(abstains[..., self._used])

    def _take_experts(self, experts: ExpertSet) -> None:
        super()._take_experts(experts)
        self._used, self.pairs = rules_in_use(experts)
        vars(self).pop("_hand", None)

    def _reprice(self, cost: costs.Constant) -> None:
        _ = self.state  # made at the cost that was given
        super()._reprice(cost)

    # Single rounds.

    @cached_property
    def _call(self) -> Calls:
        return Calls(self.kernels)

    @property
    def _packed(self) -> Any:
        return self._call.pack(self.state)

    @cached_property
    def _hand(self) -> Hand:
        """Room for one round: compiled code never gets arrays that somebody else holds, or that are read-only."""
        carry = np.asarray(self.new_carry())
        if carry.ndim != 1 or carry.dtype not in (np.bool_, np.float64):
            raise InputError(f"new_carry: expected bits or floats (n,), got {carry.dtype} {carry.shape}")
        losses = np.zeros(self.experts.n_predictors)  # floats for every loss: one type, compiled once
        return Hand(np.zeros(self.experts.n_features or 0), np.zeros(self.n_rules, np.bool_), losses, carry)

    def _make_room(self) -> None:
        if self.kernels.full is not never_full and self._call("full", self._packed):
            self.grow()
            if self._call("full", self._packed):
                raise InputError("grow: expected room for another round, got a state that is full, too")

    def _take_in_hand(self, abstains: Bools, carry: Array | None = None, losses: Array | None = None) -> Hand:
        """Let compiled functions see a round."""
        hand = self._hand
        hand.abstains[:] = abstains if self._used is None else abstains[self._used]
        if carry is not None:
            hand.carry[:] = carry
        if losses is not None:
            hand.losses[:] = losses
        return hand

    def _ask(self, x: "ArrayLike | Advice") -> tuple[Advice, float]:
        advice, cost = super()._ask(x)
        hand = self._take_in_hand(advice.abstains[0])
        features = None if isinstance(x, Advice) else np.asarray(x, np.float64)[np.newaxis]
        seen = self.see(features, advice, np.array([cost]))[0]
        if hand.x.size == seen.size:
            hand.x[:] = seen
        else:
            vars(self)["_hand"] = hand._replace(x=np.array(seen, np.float64))
        return advice, cost

    def choose(self, advice: Advice, cost: float) -> Choice:
        self._make_room()
        u, hand = self._random.random() if self.draws else 0.0, self._hand
        expert, probability = self._call("choose", self.round + 1, u, hand.x, hand.abstains, hand.carry, self._packed)
        return self.as_choice(expert, probability, hand.carry.copy())

    def commit(self, decision: Decision) -> None:
        if self._call.kernels.note is not note_nothing:
            hand = self._take_in_hand(decision.abstains, decision.carry)
            self._call("note", decision.round, decision.expert, hand.abstains, hand.carry, self._packed)

    def miss(self, decision: Decision) -> None:
        self._update(decision, False, self._take_in_hand(decision.abstains, decision.carry))

    def absorb(self, decision: Decision, losses: Array) -> None:
        self._update(decision, True, self._take_in_hand(decision.abstains, decision.carry, losses))

    def _update(self, decision: Decision, seen: bool, hand: Hand) -> None:
        self._call(
            "learn", decision.expert, hand.abstains, hand.losses, seen, decision.cost, hand.carry, self._packed
        )  # fmt: skip

    def fits(self, decision: Decision) -> bool:
        carry, own = decision.carry, self._hand.carry
        same = carry.shape == own.shape and carry.dtype == own.dtype
        return same and bool(np.isfinite(carry).all()) and super().fits(decision)

    def n_edges(self, x: "ArrayLike | Advice") -> int:
        """Count the edges of the graph in use for an input.

        Args:
            x: The input (d,), or the experts' advice on it.

        Returns:
            The number of edges between experts, self-loops included.
        """
        with self.lock:
            self._ask(x)
            if self.kernels.edges is count_no_edges:
                return int(self._edges_shown(self._hand.abstains[np.newaxis])[0])
            return int(self._call("edges", self.round + 1, self._hand.abstains, self._packed))

    def _edges_shown(self, abstains: Bools) -> Ints:
        """Count the edges of G^ABS (n,): a predicting expert shows all losses, an abstaining one the cost."""
        silent = abstains @ np.bincount(self.rule_of, minlength=self.n_rules)
        n_experts = self.experts.n_experts
        return np.asarray((n_experts - silent) * n_experts + silent * silent)

    # Whole tables.

    @property
    def loop(self) -> Any:
        """The compiled loop over the rounds of a table."""
        return self._call.functions.play

    def playing(self, delay: int, later: bool = False) -> Playing:
        return PlayingBlocks(self, delay, later) if self.compiled else super().playing(delay, later)

    def play_block(
        self, X: Floats, advice: Advice, losses: Array, costs: Floats, at: Ints, edges: Ints, late: Late,
        arrivals: Arrivals, out: Played, player: Callable[..., int] | None = None,
    ) -> None:  # fmt: skip
        """Play the coming rounds, for `PlayingBlocks`.

        Args:
            X: The inputs (n, d).
            advice: What the experts say on them.
            losses: The loss of each predictor (n, P).
            costs: The costs of abstaining (n,).
            at: The rows before which edges are counted.
            edges: Room for their numbers.
            late: The rounds that wait for their label, if any may.
            arrivals: Where rounds wait, and which labels come after each.
            out: Room for what happens (n,).
            player: What is called with the arguments of the compiled loop, instead of it.

        Raises:
            InputError: If a kernel chooses an expert that does not exist.
        """
        n, hand, done, chances = len(costs), self._hand, 0, self.chances
        play = self.loop if player is None else player
        self._check_room(n)
        rounds = Rounds(
            self._random.random(n) if self.draws else np.zeros(n),
            writeable(self.see(X, advice, costs)),
            writeable(self._of_used(advice.abstains)),
            writeable(losses),
            writeable(costs),
            np.zeros((0, 2), np.bool_) if chances.sure else self.comes(self.round + 1, n),
        )
        expects = _EXPECTS[self.expects]
        while done < n:
            self._make_room()
            done = play(
                done, self.round + 1, rounds, at, edges, late, arrivals, expects, self.pairs, hand.carry, self._packed,
                out,
            )  # fmt: skip
            if done < 0:
                raise InputError(
                    f"choose: expected an expert below {self.experts.n_experts}, got another in row {-1 - done}"
                )
        if at.size > 0 and self.kernels.edges is count_no_edges:
            edges[:] = self._edges_shown(rounds.abstains[at])
        self.round += n

    def new_late(self, n: int, old: Late | None) -> Late:
        """Make room for rounds that wait for their label, for `PlayingBlocks`.

        Args:
            n: How many may wait.
            old: Those that wait already, if any.

        Returns:
            The room, with the old ones in it.
        """
        hand = self._hand
        late = Late(
            expert=np.full(n, -1),
            abstains=np.zeros((n, hand.abstains.size), np.bool_),
            losses=np.zeros((n, hand.losses.size), np.uint8 if self.loss.binary else np.float64),
            cost=np.zeros(n),
            carry=np.zeros((n, hand.carry.size), hand.carry.dtype),
            round=np.zeros(n, np.int64),
            expected=np.zeros(n, np.bool_),
            seen=np.zeros(n, np.bool_),
            heard=np.array([self._backlog.newest, self._backlog.lag]),
        )
        for array, before in zip(late, old or (), strict=False):
            array[: len(before)] = before
        return late

    def settle(self, places: Ints, late: Late) -> None:
        """Learn the rounds that wait, for `PlayingBlocks`.

        Args:
            places: Where they wait, in the order in which they are learnt.
            late: What `new_late` returned.
        """
        for k in places.tolist():
            expert, cost, seen = late.expert.item(k), late.cost.item(k), late.seen.item(k)
            if expert >= 0:
                late.expert[k] = -1
                losses = late.losses[k].astype(np.float64)
                self._call("learn", expert, late.abstains[k], losses, seen, cost, late.carry[k], self._packed)
                if late.expected[k]:
                    self._backlog.heard(late.round.item(k), self.round - late.round.item(k))

    def leave_open(self, late: Late) -> None:
        """Keep the rounds that wait as open decisions, or as rounds without a label, for `PlayingBlocks`.

        Args:
            late: What `new_late` returned.
        """
        for k in sorted(np.flatnonzero(late.expert >= 0).tolist(), key=late.round.item):
            abstains = np.ones(self.experts.n_rules, np.bool_)  # rules that are not in use say what they like
            abstains[slice(None) if self._used is None else self._used] = late.abstains[k]
            self.leave(late.round.item(k), late.expert.item(k), late.cost.item(k), abstains, late.carry[k].copy())
            late.expert[k] = -1

    def warm_start(self, X: ArrayLike, y: ArrayLike) -> None:
        """Learn from a table with all its labels before the first round, as full information.

        Args:
            X: The inputs (n, d).
            y: The labels (n,).

        Raises:
            InputError: If this learner cannot, if it has played already, or if X and y are not such a table.
        """
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
            paid, before = self._cost.of(table, 1, len(table)), self._keep()
            try:
                for rows in blocks(0, len(table), self.experts.row_bytes):
                    advice = self.experts.advise_block(table[rows])
                    given = (
                        self.see(table[rows], advice, paid[rows]),
                        self._of_used(advice.abstains),
                        self.loss(advice.predictions, labels[rows]).astype(np.float64),
                        paid[rows],
                    )
                    self._call.functions.teach(*map(writeable, given), self._hand.carry, self._packed)
                self._settle_warm_start()
            except BaseException:  # Ctrl-C, too: a table that was learnt in part could not be learnt again
                self._bring_back(before)
                raise

    def _settle_warm_start(self) -> None:
        """Draw conclusions from a table that was learnt with all its labels. By default none."""

    # Copies and files.

    def _keep(self) -> Any:
        return None if self._state is None else copied(self._state, self.fixed)

    def _bring_back(self, kept: Any) -> None:
        if kept is None:
            self._state = None
            self._call.forget()
        else:
            self.state = copied(kept, self.fixed)

    def arrays(self) -> dict[str, Array]:
        return {name: field.copy() for name, field in fields_named(self.saved, self.state).items()}

    def set_arrays(self, arrays: Mapping[str, Array]) -> None:
        fields = fields_named(self.saved, self.state)
        check_arrays(arrays, fields, self.signed)
        self.check_saved(arrays)
        for name, array in arrays.items():
            fields[name][...] = array
        self.derive()

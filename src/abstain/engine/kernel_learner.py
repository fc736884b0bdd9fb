"""Learners whose rounds are compiled: a few kernels, called in single rounds and over whole tables."""

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..experts import Advice
from ..tables import as_table
from ..typing import Array, Bools, Ints
from .blocks import blocks
from .calls import Hand
from .choice import Choice
from .decision import FORMAT_1, Decision
from .identity import Identity
from .loop import Arrivals, Expects, Late, Played, Rounds, count_no_edges, inform_nothing
from .play import Playing, PlayingBlocks, writeable
from .stateful import Stateful


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

"""The UCB family: follow the expert with the least optimistic estimate, update its out-neighbours.

All of it is compiled (`kernels.play`); the learners differ in their graph and their settings.
"""

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import costs, graphs
from ..decision import Decision
from ..errors import InputError
from ..experts import Advice, ExpertSet
from ..graphs import FeedbackGraph, Moment
from ..kernels import entry, play, state
from ..kernels import graph as graph_kernels
from ..kernels.groups import groups
from .arrange import arrange
from .base import Choice, Seed
from .compiled import CompiledLearner

MOST_BETA = 1e9
"""A width beyond any use, and far from overflow."""
_NO_GROUPS = state.Groups(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64))


class IndexLearner(CompiledLearner):
    """A learner that follows the least ``mu_{j,t-1} - S_{j,t-1}``; see `UCBNT` for the formulas."""

    _sums = False
    _optimistic = False

    def __init__(
        self,
        experts: ExpertSet,
        *,
        cost: costs.CostLike,
        loss: Any = "zero_one",
        seed: Seed = None,
        graph: FeedbackGraph,
        beta: float = 2.5,
        ties: str = "first",
    ) -> None:
        super().__init__(experts, cost=cost, loss=loss, seed=seed)
        if (
            not isinstance(beta, (int, float, np.integer, np.floating))
            or isinstance(beta, bool)
            or not 0.0 <= beta <= MOST_BETA
        ):
            raise InputError(f"beta: expected a number from 0 to {MOST_BETA:g}, got {beta!r}")
        if not isinstance(ties, str) or ties not in ("first", "random"):
            raise InputError(f"ties: expected 'first' or 'random', got {ties!r}")
        self._kernel = graphs.kernel_of(graph)
        by_rule = graph.by_rule and self._kernel != graph_kernels.GIVEN
        matrix = graph.relation(experts) if self._kernel == graph_kernels.RELATION else None
        self._as_given = copy.deepcopy(graph) if self._kernel == graph_kernels.GIVEN else graph
        self.graph, self.beta, self.ties = graph, float(beta), ties
        self.supervised = self._kernel == graph_kernels.COMPLETE
        used, self._places, self._cell_of = arrange(experts, by_rule)
        self._used = None if len(used) == experts.n_rules else used
        if matrix is None:
            matrix = np.zeros((0, 0), np.bool_)
        elif by_rule:
            matrix = matrix[np.ix_(used, used)]
        self._relation = np.ascontiguousarray(matrix)
        self._start_anew()

    def _start_anew(self) -> None:
        n_counted = len(self._places.rule) if self._kernel == graph_kernels.ESTIMATED else 0
        self._start(state.estimates(self._places, self.loss.binary), state.disagreements(n_counted))

    def _start(self, learnt: state.Estimates, seen: state.Disagreements) -> None:
        """Play on from these estimates and counts of disagreements; all else is derived from them."""
        kind, constant = self._kernel, isinstance(self.cost, costs.Constant)
        places, n_predictors = self._places, self.experts.n_predictors
        price = self.cost.value if isinstance(self.cost, costs.Constant) else 1.0
        self._game = state.Game(
            how=state.Settings(
                kind=kind,
                beta=self.beta,
                sums=self._sums,
                optimistic=self._optimistic,
                supervised=self.supervised,
                constant=constant,
                price=price,
                random_ties=self.ties == "random",
            ),
            places=places,
            learnt=learnt,
            search=state.search(places, n_predictors, self.loss.binary),
            grouped=groups(learnt, price) if kind == graph_kernels.SELF_LOOPS else _NO_GROUPS,
            seen=seen,
            relation=self._relation,
            abstains=np.zeros(self.experts.n_rules if self._used is None else len(self._used), np.bool_),
            mask=np.zeros(0 if kind == graph_kernels.SELF_LOOPS else len(places.rule), np.bool_),
            scratch=np.zeros(len(places.rule), np.bool_),
        )
        self._flat = state.flat(self._game)

    # What has been learnt.

    def _per_expert(self, of_cells: NDArray[np.float64]) -> NDArray[np.float64]:
        places = self._places
        values = np.empty(self.experts.n_experts)
        values[places.expert] = np.repeat(of_cells, np.diff(places.start))
        return values

    @property
    def counts(self) -> NDArray[np.int64]:
        """Q: how often each expert was updated (K,)."""
        return self._per_expert(self._game.learnt.updates).astype(np.int64)

    @property
    def means(self) -> NDArray[np.float64]:
        """The estimate (E + c*n) / Q of each expert's mean loss (K,); NaN where Q = 0."""
        losses = np.empty(self.experts.n_experts)
        losses[self._places.expert] = self._game.learnt.losses
        with np.errstate(invalid="ignore"):
            return (losses + self._game.how.price * self._per_expert(self._game.learnt.paid)) / self.counts

    def moment(self, x: "ArrayLike | Advice") -> Moment:
        """What the graph is asked with in the coming round, were its input x:
        `learner.graph.matrix(learner.moment(x))`.
        """
        return self._moment(self._advise(x)[0], self.round + 1)

    def _moment(self, advice: Advice, t: int) -> Moment:
        counts = None
        if self._kernel == graph_kernels.ESTIMATED:
            counts = np.zeros((self.experts.n_rules, self.experts.n_rules), np.int64)
            used = np.arange(self.experts.n_rules) if self._used is None else self._used
            counts[np.ix_(used, used)] = self._disagreements()
        return Moment(self.experts, t, advice.abstains[0].copy(), self.counts, self.beta, counts)

    def n_edges(self, x: "ArrayLike | Advice") -> int:
        """The number of edges between experts of the graph in use for this input."""
        advice, _ = self._advise(x)
        if self._kernel == graph_kernels.GIVEN:
            return self.graph.n_edges(self._moment(advice, self.round + 1))
        self._game.abstains[:] = self._of_used(advice.abstains[0])
        return int(graph_kernels.n_edges(self.round + 1, self._game))

    # The protocol.

    def _choose(self, advice: Advice, cost: float) -> Choice:
        u = self._random.random() if self.ties == "random" else 0.0
        self._game.abstains[:] = self._of_used(advice.abstains[0])
        cell, slot = entry.choose_round(self.round + 1, u, self._flat)
        expert = int(self._places.expert[slot])
        neighbours = self._game.mask.copy()
        if self._kernel == graph_kernels.GIVEN:
            neighbours = np.array(self.graph.out_neighbours(expert, self._moment(advice, self.round + 1)))
            if neighbours.shape != (self.experts.n_experts,) or neighbours.dtype != np.bool_:
                raise InputError(
                    f"graph: expected out-neighbours as bool ({self.experts.n_experts},), "
                    f"got {neighbours.dtype} {neighbours.shape}"
                )
        return Choice(expert, float(not self._game.abstains[self._places.rule[cell]]), neighbours)

    def _commit(self, decision: Decision) -> None:
        if self._kernel == graph_kernels.GIVEN:
            advice = Advice(decision.predictions[np.newaxis], decision.abstains[np.newaxis])
            self.graph.observe(self._moment(advice, decision.round), decision.expert)
        self._put_at_hand(decision)
        if self._kernel == graph_kernels.ESTIMATED:
            entry.record_round(decision.round, self._flat)
        if decision.abstained and not self.supervised:
            entry.learn_round(self._cell_of[decision.expert], False, decision.cost, self._flat)

    def _put_at_hand(self, decision: Decision) -> None:
        """Let the compiled functions see the round of a decision."""
        self._game.abstains[:] = self._of_used(decision.abstains)
        self._game.mask[:] = decision.neighbours

    def _fits(self, decision: Decision) -> bool:
        return super()._fits(decision) and decision.neighbours.shape == self._game.mask.shape

    def _absorb(self, decision: Decision, losses: NDArray[Any]) -> None:
        self._put_at_hand(decision)
        self._game.search.row[:] = losses
        entry.learn_round(self._cell_of[decision.expert], True, decision.cost, self._flat)

    # Whole blocks.

    @property
    def compiled(self) -> bool:
        """Whether the graph is one of the compiled ones, and not a user's own."""
        return self._kernel != graph_kernels.GIVEN

    def _new_late(self, delay: int) -> play.Late:
        row = self._game.search.row
        return play.no_late(delay, len(self._game.mask), len(self._game.abstains), len(row), row.dtype)

    def _play(
        self, X: NDArray[np.float64], advice: Advice, losses: NDArray[Any], costs: NDArray[np.float64],
        at: NDArray[np.int64], edges: NDArray[np.int64], late: play.Late | None, out: play.Played,
    ) -> None:  # fmt: skip
        u = self._random.random(len(advice)) if self.ties == "random" else np.zeros(len(advice))
        play.play(self.round + 1, u, self._of_used(advice.abstains), losses, costs, at, edges, late, self._game, out)

    def _learn_late(self, k: int, late: play.Late) -> None:
        play.learn_late(k, late, self._game)

    # Copies and files.

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_flat"}

    def __setstate__(self, values: dict[str, Any]) -> None:
        vars(self).update(values)
        self._flat = state.flat(self._game)  # of the same arrays: a pickler need not keep that two names mean one

    def _disagreements(self) -> NDArray[np.int32]:
        """How often each rule abstained where each other predicted, up to now."""
        counts = np.empty_like(self._game.seen.counts)
        graph_kernels.count_all(self.round + 1, counts, self._game)
        return counts

    def _arrays(self) -> dict[str, NDArray[Any]]:
        learnt = self._game.learnt
        arrays = {"losses": learnt.losses.copy(), "paid": learnt.paid.copy(), "updates": learnt.updates.copy()}
        if self._kernel == graph_kernels.ESTIMATED:
            arrays["disagreements"] = self._disagreements()
        return arrays

    def _keep(self) -> Any:
        graph = copy.deepcopy(self.graph) if self._kernel == graph_kernels.GIVEN else self.graph
        if self.round == 0:  # nothing to copy: the counts of disagreements may be large
            return graph, None
        return graph, [tuple(array.copy() for array in part) for part in (self._game.learnt, self._game.seen)]

    def _bring_back(self, kept: Any) -> None:
        self.graph, arrays = kept
        if arrays is None:
            self._start_anew()
        else:
            self._start(state.Estimates(*arrays[0]), state.Disagreements(*arrays[1]))

    def _set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        now = self._game.learnt
        learnt = state.Estimates(*(np.array(arrays[name], getattr(now, name).dtype) for name in now._fields))
        if any(getattr(learnt, name).shape != getattr(now, name).shape for name in now._fields):
            raise InputError("state: the arrays do not fit these experts")
        counts = arrays.get("disagreements", np.zeros((0, 0), np.int32))
        if counts.shape != self._game.seen.counts.shape:
            raise InputError("state: the counts of disagreements do not fit these experts")
        self._start(learnt, state.disagreements(len(counts), counts, self.round))

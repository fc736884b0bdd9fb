"""The UCB family: follow the expert with the least optimistic estimate, and update its out-neighbours.

The learners are at the end: `UCB`, `UCBNT` (algorithm 1), `UCBGT` (algorithm 2), `FullSupervision`. They differ
in their graph and in some settings; `kernels` holds the compiled algorithm, `graph` the graphs, `state` the arrays.
"""

import copy
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import costs, graphs
from ..._core.validation import as_number
from ...engine import Choice, Decision, KernelLearner, Kernels, Report, Seed, check_arrays
from ...engine.feedback import check_predicted
from ...engine.kernel_learner import arrange
from ...errors import InputError, shown
from ...experts import Advice, ExpertSet
from ...graphs import FeedbackGraph, Moment
from ...graphs.base import COMPLETE, ESTIMATED, GIVEN, RELATION, SELF_LOOPS
from ...typing import Array, Floats, Ints
from . import graph as graph_kernels
from .kernels import choose, close, groups_of, note, update
from .state import SCRATCH, Estimates, UCBState, Variant, disagreements, estimates, no_groups, search

MOST_BETA = 1e9
"""A width beyond any use, and far from overflow."""
LEAST_PROVED = 0.5
"""Theorem 3's proof, with Hoeffding's inequality for losses in [0, 1], needs a beta above this."""


class IndexLearner(KernelLearner):
    """A learner that follows the least ``mu_{j,t-1} - S_{j,t-1}``; see `UCBNT` for the formulas.

    Args:
        experts: The experts (predictor, rule) to follow.
        cost: The cost of abstaining: a number in [0, 1], one number per round, or a function of x.
        loss: The loss of a prediction: a name as "zero_one", or a loss of `abstain.losses`.
        seed: The seed of the learner's random numbers, which only ``ties="random"`` needs.
        graph: The feedback graph, which says who is updated.
        beta: The width of the confidence term: 2.5 is the paper's, 0 has none. Nothing is proved for 1/2 and less,
            which is told by a `UserWarning`.
        ties: "first" follows the tied expert with the lowest number, "random" any of them.
        feedback: Which labels come back; only "predicted" is possible here.
    """

    kernels = Kernels(choose, update, note, graph_kernels.edges)
    saved = ("losses", "paid", "updates")
    fixed = ("variant", "layout", "relation", *SCRATCH)
    most_rounds = 2**31 - 1  # of losses and disagreements, which are counted in 32 bits
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
        feedback: Any = "predicted",
    ) -> None:
        super().__init__(experts, cost=cost, loss=loss, seed=seed)
        check_predicted(feedback, type(self).__name__)
        beta = as_number(beta, "beta", f"a number from 0 to {MOST_BETA:g}", lambda beta: 0.0 <= beta <= MOST_BETA)
        if not isinstance(ties, str) or ties not in ("first", "random"):
            raise InputError(f"ties: expected 'first' or 'random', got {shown(ties)}")
        if beta <= LEAST_PROVED and "beta" in self.options:
            warnings.warn(
                f"beta: nothing is proved of {type(self).__name__} for {beta:g}, nor for any beta of 1/2 or less",
                UserWarning,
                stacklevel=5,
            )
        self._kind = graphs.kernel_of(graph)
        self._as_given = copy.deepcopy(graph) if self._kind == GIVEN else graph
        self.graph, self.beta, self.ties = graph, beta, ties
        self.supervised = self._kind == COMPLETE
        self._by_rule = graph.by_rule and self._kind != GIVEN
        self._relation = self._find_relation()
        self._layout = arrange(experts, self._by_rule)
        self._counted = self.cost.constant

    def _find_relation(self) -> Any:
        """The matrix of a fixed graph, between the rules in use or between experts; empty for others."""
        if self._kind != RELATION:
            return np.zeros((0, 0), np.bool_)
        matrix = self.graph.relation(self.experts)
        assert matrix is not None
        if self._by_rule and self._used is not None:
            matrix = matrix[np.ix_(self._used, self._used)]
        return np.array(matrix, order="C")  # a copy: read-only arrays would be compiled for once more

    def new_state(self) -> UCBState:
        n_counted = len(self._layout.rule) if self._kind == ESTIMATED else 0
        return self._state_with(estimates(self._layout, self.loss.binary), disagreements(n_counted))

    def _state_with(self, learnt: Estimates, seen: Any) -> UCBState:
        """The state with these estimates and counts of disagreements; all else is derived from them."""
        variant = Variant(
            graph=self._kind,
            beta=self.beta,
            sums=self._sums,
            optimistic=self._optimistic,
            supervised=self.supervised,
            counted=self._counted,
            price=self.cost.largest if self._counted else 1.0,
            random_ties=self.ties == "random",
        )
        return UCBState(
            variant=variant,
            layout=self._layout,
            estimates=learnt,
            search=search(self._layout, self.experts.n_predictors, self.loss.binary),
            groups=groups_of(learnt, variant.price) if self._kind == SELF_LOOPS else no_groups(),
            seen=seen,
            relation=self._relation,
        )

    def new_carry(self) -> Array:
        return np.zeros(0 if self._kind == SELF_LOOPS else len(self._layout.rule), np.bool_)

    @property
    def draws(self) -> bool:
        return self.ties == "random"

    @property
    def compiled(self) -> bool:
        """Whether the graph is one of the compiled ones, and not a user's own."""
        return self._kind != GIVEN

    def _reprice(self, cost: costs.Constant) -> None:
        """Past abstentions keep what they cost: from now on costs are summed."""
        learnt, seen = self.state.estimates, self.state.seen
        if self._counted and cost != self.cost:
            learnt.paid[:] *= self.state.variant.price
            self._counted = False
        super()._reprice(cost)
        self.state = self._state_with(learnt, seen)

    # What has been learnt.

    def _per_expert(self, of_teams: Floats) -> Floats:
        return np.asarray(of_teams[self._layout.team])

    @property
    def counts(self) -> Ints:
        """Q: how often each expert was updated (K,)."""
        with self.lock:
            return self._per_expert(self.state.estimates.updates).astype(np.int64)

    @property
    def means(self) -> Floats:
        """The estimate (E + c*n) / Q of each expert's mean loss (K,); NaN where Q = 0."""
        with self.lock:
            learnt = self.state.estimates
            losses = np.empty(self.experts.n_experts)
            losses[self._layout.expert] = learnt.losses
            with np.errstate(invalid="ignore"):
                return np.asarray((losses + self.state.variant.price * self._per_expert(learnt.paid)) / self.counts)

    def report(self) -> Report:
        """Report the means as estimates; there are no weights."""
        return Report(estimates=self.means)

    def moment(self, x: "ArrayLike | Advice") -> Moment:
        """Return what the graph would be asked with in the coming round: ``learner.graph.matrix(learner.moment(x))``.

        Args:
            x: The input (d,), or advice on it.

        Returns:
            The round, who abstains, and how often each expert was updated.
        """
        with self.lock:
            return self._moment(self._ask(x)[0], self.round + 1)

    def _moment(self, advice: Advice, t: int) -> Moment:
        counts = None
        if self._kind == ESTIMATED:
            counts = np.zeros((self.experts.n_rules, self.experts.n_rules), np.int64)
            used = np.arange(self.experts.n_rules) if self._used is None else self._used
            counts[np.ix_(used, used)] = self._disagreements()
        return Moment(self.experts, t, advice.abstains[0].copy(), self.counts, self.beta, counts)

    def n_edges(self, x: "ArrayLike | Advice") -> int:
        """Return the number of edges between experts in the graph for an input.

        Args:
            x: The input (d,), or advice on it.

        Returns:
            The number of edges.
        """
        if self.compiled:
            return super().n_edges(x)
        return self.graph.n_edges(self.moment(x))

    # A user's own graph is asked in every round.

    def choose(self, advice: Advice, cost: float) -> Choice:
        choice = super().choose(advice, cost)
        if self.compiled:
            return choice
        neighbours = np.array(self.graph.out_neighbours(choice.expert, self._moment(advice, self.round + 1)))
        if neighbours.shape != (self.experts.n_experts,) or neighbours.dtype != np.bool_:
            raise InputError(
                f"graph: expected out-neighbours as bool ({self.experts.n_experts},), "
                f"got {neighbours.dtype} {neighbours.shape}"
            )
        return choice._replace(carry=neighbours)

    def commit(self, decision: Decision) -> None:
        if not self.compiled:
            advice = Advice(decision.predictions[np.newaxis], decision.abstains[np.newaxis])
            self.graph.observe(self._moment(advice, decision.round), decision.expert)
        super().commit(decision)

    def drop(self, decision: Decision) -> None:
        close(decision.expert, self._packed)

    # Copies and files.

    def _disagreements(self) -> Array:
        """How often each rule abstained where each other predicted, up to now."""
        counts: Array = np.empty_like(self.state.seen.counts)
        graph_kernels.count_all(self.round + 1, counts, self._packed)
        return counts

    def _keep(self) -> Any:
        graph = copy.deepcopy(self.graph) if not self.compiled else self.graph
        return graph, self._counted, super()._keep()

    def _bring_back(self, kept: Any) -> None:
        self.graph, self._counted, state = kept
        super()._bring_back(state)

    def arrays(self) -> dict[str, Array]:
        arrays = {**super().arrays(), "counted": np.array([self._counted])}
        if self._kind == ESTIMATED:
            arrays["disagreements"] = self._disagreements()
        return arrays

    def set_arrays(self, arrays: Mapping[str, Array]) -> None:
        now = self.state.estimates
        like = {**{name: getattr(now, name) for name in self.saved}, "counted": np.zeros(1, np.bool_)}
        if self._kind == ESTIMATED:
            like["disagreements"] = self.state.seen.counts
        check_arrays(arrays, like)
        self.check_saved(arrays)
        self._counted = bool(arrays["counted"][0])
        learnt = Estimates(**{name: arrays[name].copy() for name in self.saved}, **self._open_choices())
        counts = arrays.get("disagreements", np.zeros((0, 0), np.int32))
        self.state = self._state_with(learnt, disagreements(len(counts), counts, self.round))

    def _open_choices(self) -> dict[str, Any]:
        """Count how often each expert was chosen in the rounds that are not learnt yet."""
        n_experts = self.experts.n_experts
        waiting = [decision.expert for decision in self._backlog.decisions()]
        chosen = np.array([*(expert for _, expert in self._identity.open.values()), *waiting], np.int64)
        if (chosen >= n_experts).any():
            raise InputError(f"pending: expected experts below {n_experts}, got {chosen.max()}")
        times = np.bincount(chosen, minlength=n_experts).astype(np.int32)
        return {"open": times, "n_open": np.array([times.sum()], np.int64)}

    def check_saved(self, arrays: Mapping[str, Array]) -> None:
        updates, paid, losses = arrays["updates"], arrays["paid"], arrays["losses"]
        wrong = (updates != np.floor(updates)) | (updates > self.round)
        if wrong.any():
            raise InputError(f"state: expected at most {self.round} updates, a whole number, got {updates[wrong][0]}")
        of_slots = np.repeat(updates, np.diff(self._layout.start))
        if (paid > updates).any() or (losses > of_slots).any():
            raise InputError("state: expected losses and costs of 1 at most an update, got more")
        if arrays["counted"][0] and not self.cost.constant:
            raise InputError("state: expected costs that vary to be summed, got them counted")
        if (arrays.get("disagreements", np.zeros(1)) > self.round).any():
            raise InputError("state: expected as many disagreements as there were rounds at most, got more")


class UCB(IndexLearner):
    """UCB of Auer, Cesa-Bianchi and Fischer (2002): only the chosen expert is updated.

    It is `UCBNT` with self-loops as its graph; see there for the formulas.

    Args:
        experts: The experts (predictor, rule) to follow.
        cost: The cost of abstaining: a number in [0, 1], one number per round, or a function of x.
        loss: The loss of a prediction: a name as "zero_one", or a loss of `abstain.losses`.
        seed: The seed of the learner's random numbers, which only ``ties="random"`` needs.
        beta: The width of the confidence term: 2.5 is the paper's, 0 has none. Nothing is proved for 1/2 and less,
            which is told by a `UserWarning`.
        ties: "first" follows the tied expert with the lowest number, "random" any of them.
        feedback: Which labels come back; only "predicted" is possible here.

    Raises:
        InputError: If an argument has a type or a value that the sentences above exclude.

    >>> import abstain as ab
    >>> X, y = ab.datasets.load("synthetic", n=2000, seed=0)
    >>> learner = UCB(ab.experts.hyperplanes(dim=2, n_predictors=10, seed=0), cost=0.2)
    >>> trace = ab.simulate(learner, X, y)
    >>> int(learner.counts.sum())
    2000
    """

    options = ("beta", "ties")

    def __init__(
        self,
        experts: ExpertSet,
        *,
        cost: costs.CostLike,
        loss: Any = "zero_one",
        seed: Seed = None,
        beta: float = 2.5,
        ties: str = "first",
        feedback: str | tuple[float, float] = "predicted",
    ) -> None:
        super().__init__(
            experts, cost=cost, loss=loss, seed=seed, graph=graphs.self_loops(), beta=beta, ties=ties, feedback=feedback
        )  # fmt: skip


class UCBNT(IndexLearner):
    """UCB-NT (algorithm 1): choose the least ``mu_{j,t-1} - S_{j,t-1}``, update all out-neighbours N_t(I_t).

    ``S_{j,t} = sqrt(2 beta log(t) / Q_{j,t})`` with Q the number of updates and mu the mean of the losses seen in them;
    an expert never updated comes first, ties go to the lowest number (or to one of the tied, ``ties="random"``). With
    ``beta=2.5`` it is the paper's; its proofs ask for beta > 2. For losses in [0, 1] every beta above 1/2 has a proof,
    and 0.625 does what the paper asks of 2.5. For 1/2 and less nothing is proved.

    An edge to a loss that stays hidden updates nothing.

    Args:
        experts: The experts (predictor, rule) to follow.
        cost: The cost of abstaining: a number in [0, 1], one number per round, or a function of x.
        loss: The loss of a prediction: a name as "zero_one", or a loss of `abstain.losses`.
        seed: The seed of the learner's random numbers, which only ``ties="random"`` needs.
        graph: "subset" (safe), "abstention" (the instance's own; biased, section 4.1), "self_loops" (UCB), "complete"
            (full information: a *supervised* learner, outside the protocol), "estimated" (UCB-GT's, without its
            optimistic step), or any `FeedbackGraph`.
        beta: The width of the confidence term: 2.5 is the paper's, 0 has none. Nothing is proved for 1/2 and less,
            which is told by a `UserWarning`.
        ties: "first" follows the tied expert with the lowest number, "random" any of them.
        feedback: Which labels come back; only "predicted" is possible here.

    Raises:
        InputError: If an argument has a type or a value that the sentences above exclude.

    >>> import abstain as ab
    >>> X, y = ab.datasets.load("synthetic", n=2000, seed=0)
    >>> experts = ab.experts.hyperplanes(dim=2, n_predictors=10, seed=0)
    >>> UCBNT(experts, cost=0.2).n_edges(X[0])  # 20 rings, 10 x 10 edges in each
    2000
    """

    options = ("graph", "beta", "ties")

    def __init__(
        self,
        experts: ExpertSet,
        *,
        cost: costs.CostLike,
        loss: Any = "zero_one",
        seed: Seed = None,
        graph: str | graphs.FeedbackGraph = "subset",
        beta: float = 2.5,
        ties: str = "first",
        feedback: str | tuple[float, float] = "predicted",
    ) -> None:
        super().__init__(
            experts, cost=cost, loss=loss, seed=seed, graph=graphs.get(graph), beta=beta, ties=ties, feedback=feedback
        )  # fmt: skip

    def get_params(self) -> dict[str, Any]:
        return {**super().get_params(), "graph": copy.deepcopy(self._as_given)}


class UCBGT(IndexLearner):
    """UCB-GT (algorithm 2): UCB-NT on a graph estimated from the abstentions seen so far.

    After choosing j at round t it updates every i with ``phat_{j,i}^{t-1} <= gamma_{i,t-1}``: the fraction of the
    rounds before t in which j abstained and i predicted is at most ``sqrt(2 beta Q_{i,t-1} log t) / ((K-1)(t-1))``.
    If j abstains and i predicts, i's loss is hidden and counts as 0, step (*); otherwise the loss is known.

    Args:
        experts: The experts (predictor, rule) to follow.
        cost: The cost of abstaining: a number in [0, 1], one number per round, or a function of x.
        loss: The loss of a prediction: a name as "zero_one", or a loss of `abstain.losses`.
        seed: The seed of the learner's random numbers, which only ``ties="random"`` needs.
        beta: The width of the confidence term: 2.5 is the paper's, 0 has none. Nothing is proved for 1/2 and less,
            which is told by a `UserWarning`.
        ties: "first" follows the tied expert with the lowest number, "random" any of them.
        feedback: Which labels come back; only "predicted" is possible here.

    Raises:
        InputError: If an argument has a type or a value that the sentences above exclude.

    >>> import abstain as ab
    >>> X, y = ab.datasets.load("synthetic", n=2000, seed=0)
    >>> learner = UCBGT(ab.experts.hyperplanes(dim=2, n_predictors=10, seed=0), cost=0.2)
    >>> learner.n_edges(X[0])  # complete in the first round
    40000
    >>> decision = learner.decide(X[0])
    >>> learner.learn(decision, y[0])
    >>> int(learner.counts.min())
    1
    """

    options = ("beta", "ties")
    _optimistic = True

    def __init__(
        self,
        experts: ExpertSet,
        *,
        cost: costs.CostLike,
        loss: Any = "zero_one",
        seed: Seed = None,
        beta: float = 2.5,
        ties: str = "first",
        feedback: str | tuple[float, float] = "predicted",
    ) -> None:
        super().__init__(
            experts, cost=cost, loss=loss, seed=seed, graph=graphs.estimated(), beta=beta, ties=ties, feedback=feedback
        )  # fmt: skip


class FullSupervision(IndexLearner):
    """FS, the paper's full supervision: see every label and follow the expert with the least total loss so far.

    It stands outside the protocol (``supervised``): it learns nothing in `decide` and needs `learn` for every round,
    also for those that abstained.

    Args:
        experts: The experts (predictor, rule) to follow.
        cost: The cost of abstaining: a number in [0, 1], one number per round, or a function of x.
        loss: The loss of a prediction: a name as "zero_one", or a loss of `abstain.losses`.
        seed: The seed of the learner's random numbers, which only ``ties="random"`` needs.
        ties: "first" follows the tied expert with the lowest number, "random" any of them.

    Raises:
        InputError: If an argument has a type or a value that the sentences above exclude.

    >>> import abstain as ab
    >>> X, y = ab.datasets.load("synthetic", n=2000, seed=0)
    >>> learner = FullSupervision(ab.experts.hyperplanes(dim=2, n_predictors=10, seed=0), cost=0.2)
    >>> trace = ab.simulate(learner, X, y)
    >>> int(learner.counts.min()), int(learner.counts.max())
    (2000, 2000)
    """

    options = ("ties",)
    _sums = True

    def __init__(
        self,
        experts: ExpertSet,
        *,
        cost: costs.CostLike,
        loss: Any = "zero_one",
        seed: Seed = None,
        ties: str = "first",
    ) -> None:
        super().__init__(experts, cost=cost, loss=loss, seed=seed, graph=graphs.complete(), ties=ties)

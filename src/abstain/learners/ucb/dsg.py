"""UCB-DSG: the chosen expert also updates experts whose loss stays hidden, by an estimate of that loss."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ... import costs
from ..._core.validation import as_number
from ...engine import Decision, KernelLearner, Kernels, Report, Seed, check_arrays
from ...engine.feedback import check_predicted
from ...errors import InputError, shown
from ...experts import ExpertSet
from ...graphs.base import ESTIMATED
from ...kernels.compiling import inline, kernel
from ...kernels.layout import Layout
from ...typing import Array, Bools, Floats, Ints
from .graph import count, count_all, record
from .kernels import add_losses, least
from .state import (
    CountGroups,
    Disagreements,
    Estimates,
    Search,
    Variant,
    disagreements,
    estimates,
    no_groups,
    search,
)

MOST_SLACK = 1e9
"""A width beyond any use, and far from overflow."""
UPDATED, TRUSTED = 1.0, 2.0
"""What a round's carry says of a team: it is an out-neighbour, C_{j,t} holds, or their sum."""


class Slacks(NamedTuple):
    """The factors lambda of the experiments; never change."""

    slack: float
    loss_slack: float


class Hidden(NamedTuple):
    """What nu is made of. Labelled rounds are kept for a while, and added to a row of sums when it is asked for."""

    unseen_losses: Array  # (A, K) [i, j]: U nu_{j,i}, the losses of slot j in rounds where rule i abstained
    trusted: Floats  # (A,) U
    silent: Bools  # (A, W) who abstained in the rounds kept
    wrong: Array  # (W, K) the losses of the slots in them that count
    kept: Ints  # (1,) their number
    added: Ints  # (A,) how many of them are in a row already
    part: Array  # (K,) scratch: sums of few rounds of losses in {0, 1}, which fit a byte; else empty


class DSGState(NamedTuple):
    """Everything the learner knows; the parts have the names that the family's functions ask for."""

    variant: Variant
    slacks: Slacks
    layout: Layout
    estimates: Estimates
    search: Search
    groups: CountGroups  # empty
    seen: Disagreements
    hidden: Hidden
    marks: Floats  # (2 A,) scratch: a carry, where edges are counted


@inline
def log_term(t: int, n_experts: int, parts: float) -> float:
    """a_t(delta_t / parts), where delta_t = 1 / (K t^3)."""
    k, s = float(n_experts), float(t)
    inside = 2.0 * k * k * s * (s + 1.0) * (1.0 + math.log(4.0 * s + 1.0)) * (k * s * s * s) * parts
    return 4.0 * math.sqrt(math.log(inside))


@inline
def _width(t: int, s: DSGState) -> float:
    """S_{j,t-1} times sqrt(Q_{j,t-1})."""
    n_experts = s.layout.expert.size
    if t == 1:
        return 0.0  # all are equal
    log_kt = math.log(float(n_experts) * t)
    return s.slacks.slack * (88.0 * log_term(t - 1, n_experts, 1.0) + 34.0 + math.sqrt(2.0 * log_kt))


@inline
def _neighbours(t: int, team: int, carry: Floats, s: DSGState) -> None:
    """Write, for each team, whether it is in N_t(I_t) and whether C_{j,t} holds; and behind these 1 - phat_{I_t,j}."""
    n_teams, updates, trusted = s.layout.rule.size, s.estimates.updates, s.hidden.trusted
    if t == 1:  # the paper's lemma 4 begins with a complete graph
        for j in range(n_teams):
            carry[j], carry[n_teams + j] = UPDATED + TRUSTED, 0.0
        return
    count(team, t, s.seen)
    term, rounds, row = log_term(t - 1, s.layout.expert.size, 4.0), t - 1.0, s.seen.row
    edge_term, loss_term = s.slacks.slack * term, s.slacks.loss_slack * (term + 1.0)
    behind = np.uint64(n_teams)
    for j in range(np.uint64(n_teams)):
        unseen = row[j] / rounds
        root = np.sqrt(updates[j] + 1.0)
        first = 2.0 - 2.0 * np.sqrt((trusted[j] + 1.0) / (updates[j] + 1.0)) - edge_term / root
        threshold = min(first, 1.0 - 2.0 * edge_term / root)
        least_trusted = 1.0 - loss_term / np.sqrt(trusted[j] + 1.0)
        carry[j] = (UPDATED if 1.0 - unseen >= threshold else 0.0) + (TRUSTED if 1.0 - unseen >= least_trusted else 0.0)
        carry[behind + j] = unseen


@inline
def _updated(code: float) -> bool:
    """Whether a team is an out-neighbour."""
    return (code == UPDATED) | (code == UPDATED + TRUSTED)


@inline
def choose(t: int, u: float, x: Any, abstains: Bools, carry: Floats, s: DSGState) -> tuple[int, float]:
    """The expert to follow at round t, and the probability of predicting."""
    team, slot, n_ties = least(_width(t, s), u, s)
    _neighbours(t, team, carry, s)
    predicts = 0.0 if abstains[team] else 1.0
    if s.variant.random_ties:
        predicts = 0.0
        for k in range(n_ties):
            predicts += 0.0 if abstains[s.search.tied_team[k]] else 1.0
        predicts /= n_ties
    return s.layout.expert[slot], predicts


@inline
def note(t: int, expert: int, abstains: Bools, carry: Floats, s: DSGState) -> None:
    """Record who abstained."""
    record(t, abstains, s)


@inline
def _add(rule: int, s: DSGState) -> None:
    """Bring a row of sums up to date."""
    hidden = s.hidden
    sums, silent, wrong, part = hidden.unseen_losses, hidden.silent, hidden.wrong, hidden.part
    r = np.uint64(rule)
    for w in range(np.uint64(hidden.added[r]), np.uint64(hidden.kept[0])):
        if silent[r, w] and part.size > 0:  # many bytes are added at once
            for k in range(np.uint64(part.size)):
                part[k] += wrong[w, k]
        elif silent[r, w]:
            for k in range(np.uint64(sums.shape[1])):
                sums[r, k] += wrong[w, k]
    for k in range(np.uint64(part.size)):
        sums[r, k] += part[k]
        part[k] = 0
    hidden.added[r] = hidden.kept[0]


@kernel
def add_all(s: DSGState) -> None:
    """Bring all sums up to date, and forget the rounds kept."""
    for rule in range(s.hidden.added.size):
        _add(rule, s)
    s.hidden.kept[0] = 0
    for rule in range(s.hidden.added.size):
        s.hidden.added[rule] = 0


@inline
def _keep(abstains: Bools, losses: Any, carry: Floats, s: DSGState) -> None:
    """Keep a labelled round in which rules abstained: ``l_t(j) 1{j not in N_t(i), j in N_t(I_t)} C_{j,t}``."""
    hidden, start, predictor = s.hidden, s.layout.start, s.layout.predictor
    anyone = False
    for rule in range(abstains.size):
        anyone |= abstains[rule]
    if not anyone:
        return
    if hidden.kept[0] == hidden.silent.shape[1]:
        add_all(s)
    w = hidden.kept[0]
    place, wrong = np.uint64(w), hidden.wrong
    for rule in range(np.uint64(abstains.size)):
        hidden.silent[rule, place] = abstains[rule]
    if s.layout.alone:
        for k in range(np.uint64(abstains.size)):
            counts = (not abstains[k]) & (carry[k] >= TRUSTED)
            wrong[place, k] = losses[np.uint64(predictor[k])] * counts
    else:
        for rule in range(abstains.size):
            offset, n_slots = np.uint64(start[rule]), np.uint64(start[rule + 1] - start[rule])
            if abstains[rule] or carry[rule] < TRUSTED:
                for k in range(n_slots):
                    wrong[place, offset + k] = 0
            elif s.layout.product:
                for k in range(n_slots):
                    wrong[place, offset + k] = losses[k]
            else:
                for k in range(n_slots):
                    wrong[place, offset + k] = losses[np.uint64(predictor[offset + k])]
    hidden.kept[0] = w + 1


@inline
def _impute(chosen: int, team: int, unseen: float, s: DSGState) -> None:
    """Add the estimated losses ``min(nu / (1 - phat), 1)`` of a team; they are 0 if phat is 1, as nu is then 0."""
    losses, sums, trusted = s.estimates.losses, s.hidden.unseen_losses, s.hidden.trusted[team]
    if unseen > 0.0:
        for slot in range(np.uint64(s.layout.start[team]), np.uint64(s.layout.start[team + 1])):
            losses[slot] += min(sums[chosen, slot] / trusted / unseen, 1.0)


@inline
def _learn_teams(chosen: int, abstains: Bools, seen: bool, cost: float, carry: Floats, s: DSGState) -> None:
    """Update the out-neighbours: by the cost, by losses, or by estimates of them."""
    n_teams = s.layout.rule.size
    for team in range(n_teams):
        if _updated(carry[team]):
            if abstains[team]:
                s.estimates.paid[team] += cost
            elif seen:
                add_losses(team, s)
            else:
                _impute(chosen, team, carry[n_teams + team], s)
            s.estimates.updates[team] += 1.0
            s.search.fresh[team] = False


@inline
def _learn_alone(chosen: int, abstains: Bools, seen: bool, cost: float, carry: Floats, s: DSGState) -> None:
    """`_learn_teams` for all at once where each team is one expert: nothing to branch on."""
    losses, paid, updates, predictor, row = (
        s.estimates.losses, s.estimates.paid, s.estimates.updates, s.layout.predictor, s.search.row
    )  # fmt: skip
    sums, trusted, n, i = s.hidden.unseen_losses, s.hidden.trusted, np.uint64(abstains.size), np.uint64(chosen)
    for j in range(n):
        updated = _updated(carry[j])
        paid[j] += cost if updated & abstains[j] else 0.0
        updates[j] += 1.0 if updated else 0.0
    if seen:
        for j in range(n):
            losses[j] += row[np.uint64(predictor[j])] if _updated(carry[j]) & (not abstains[j]) else 0.0
    else:
        for j in range(n):
            unseen = carry[n + j]
            estimate = min(sums[i, j] / trusted[j] / (unseen if unseen > 0.0 else 1.0), 1.0)
            losses[j] += estimate if _updated(carry[j]) & (not abstains[j]) & (unseen > 0.0) else 0.0


@inline
def update(expert: int, abstains: Bools, losses: Any, seen: bool, cost: float, carry: Floats, s: DSGState) -> None:
    """Update the out-neighbours from a round, by losses or by their estimates, and then the estimates."""
    chosen, trusted = s.layout.team[expert], s.hidden.trusted
    if seen:
        for p in range(np.uint64(losses.size)):
            s.search.row[p] = losses[p]
    else:
        _add(chosen, s)
    if s.layout.alone:
        _learn_alone(chosen, abstains, seen, cost, carry, s)
    else:
        _learn_teams(chosen, abstains, seen, cost, carry, s)
    if seen:
        _keep(abstains, losses, carry, s)
    for team in range(np.uint64(trusted.size)):
        trusted[team] += 1.0 if carry[team] >= TRUSTED else 0.0


@inline
def edges(t: int, abstains: Bools, s: DSGState) -> int:
    """The number of edges between experts of the estimated graph at round t."""
    start, marks, total = s.layout.start, s.marks, 0
    for team in range(start.size - 1):
        _neighbours(t, team, marks, s)
        reached = 0
        for c in range(start.size - 1):
            if _updated(marks[c]):
                reached += start[c + 1] - start[c]
        total += reached * (start[team + 1] - start[team])
    return total


_KEPT = 255
"""Labelled rounds kept: as many as can be counted in a byte."""


class UCBDSG(KernelLearner):
    """UCB-DSG (Cortes, DeSalvo, Gentile, Mohri and Zhang, *Online learning with dependent stochastic feedback graphs*,
    ICML 2020, algorithm 1): UCB-GT's successor, which puts an estimate in the place of a hidden loss, and not 0.

    It follows the least ``mu_{j,t-1} - S_{j,t-1}``. After choosing i it updates every j with
    ``phat_{i,j} >= theta_j``, where phat is the fraction of the rounds before t in which i would have shown j's loss:
    i predicted, or j abstained. If i abstains and j predicts, j's loss is hidden, and
    ``min(nu_{j,i} / (1 - phat_{i,j}), 1)`` stands for it: nu estimates the mean of ``loss_j 1{i hides j}`` from
    labelled rounds whose choice had a likely edge to j (``phat >= 1 - epsilon_j``). With Q the number of updates of j
    and U that of nu_j, which both start at 1, and ``a = 4 sqrt(log(2 K^3 t^4 (t + 1) (1 + log(4 t + 1))))``, the
    constants of its appendix B are, at t - 1,

    - ``S = slack (88 a + 34 + sqrt(2 log(K (t + 1)))) / sqrt(Q)``;
    - ``theta = min{2 - 2 sqrt((U + 1) / (Q + 1)) - slack a' / sqrt(Q + 1), 1 - 2 slack a' / sqrt(Q + 1)}``;
    - ``epsilon = loss_slack (a' + 1) / sqrt(U + 1)``, where a' is a with 8 in the place of 2.

    The factors are 1 in its proof. Its experiments tune both, as the constants are far too large for 10,000 rounds: for
    2,000 experts S is then above 3,000 / sqrt(Q). Try ``slack=0.001, loss_slack=0.1``; with such factors nothing is
    proved. The paper leaves open what we settle so: means and nu start at 0, the first round updates everybody (its
    lemma 4), an estimate 0 / 0 is 0. For a late label, the graph is that of the choice, and nu that of the update.
    Until the first label comes, it may follow one expert only, as all have Q = 1.

    Memory is A K numbers for K experts with A rules, twice that of UCB-GT where every expert has a rule of its own. A
    label then costs up to A K additions.

    Args:
        experts: The experts (predictor, rule) to follow.
        cost: The cost of abstaining: a number in [0, 1], one number per round, or a function of x.
        loss: The loss of a prediction: a name as "zero_one", or a loss of `abstain.losses`.
        seed: The seed of the learner's random numbers, which only ``ties="random"`` needs.
        slack: The factor of the terms with 1 / sqrt(Q), in S and theta: 1 is the proof's.
        loss_slack: The factor of epsilon, the term with 1 / sqrt(U): 1 is the proof's.
        ties: "first" follows the tied expert with the lowest number, "random" any of them.
        feedback: Which labels come back; only "predicted" is possible here.

    Raises:
        InputError: If an argument has a type or a value that the sentences above exclude.

    >>> import abstain as ab
    >>> X, y = ab.datasets.load("synthetic", n=2000, seed=0)
    >>> experts = ab.experts.hyperplanes(dim=2, n_predictors=10, seed=0)
    >>> learner = UCBDSG(experts, cost=0.2, slack=0.001, loss_slack=0.1)
    >>> trace = ab.simulate(learner, X, y)
    >>> int(learner.counts.min()), int(learner.counts.max())
    (2000, 2000)
    """

    kernels = Kernels(choose, update, note, edges)
    options = ("slack", "loss_slack", "ties")
    saved = ("losses", "paid", "updates", "trusted", "unseen_losses")
    fixed = ("variant", "slacks", "layout")
    most_rounds = 2**31 - 1  # of losses and disagreements, which are counted in 32 bits

    def __init__(
        self,
        experts: ExpertSet,
        *,
        cost: costs.CostLike,
        loss: Any = "zero_one",
        seed: Seed = None,
        slack: float = 1.0,
        loss_slack: float = 1.0,
        ties: str = "first",
        feedback: str | tuple[float, float] = "predicted",
    ) -> None:
        super().__init__(experts, cost=cost, loss=loss, seed=seed)
        check_predicted(feedback, type(self).__name__)
        expected = f"a number from 0 to {MOST_SLACK:g}"
        self.slack = as_number(slack, "slack", expected, lambda slack: 0.0 <= slack <= MOST_SLACK)
        self.loss_slack = as_number(loss_slack, "loss_slack", expected, lambda slack: 0.0 <= slack <= MOST_SLACK)
        if not isinstance(ties, str) or ties not in ("first", "random"):
            raise InputError(f"ties: expected 'first' or 'random', got {shown(ties)}")
        self.ties = ties

    def new_state(self) -> DSGState:
        learnt = estimates(self.layout, binary=False)
        learnt.updates[:] = 1.0
        return self._state_with(learnt, disagreements(self.n_rules))

    def _state_with(self, learnt: Estimates, seen: Disagreements) -> DSGState:
        """The state with these estimates and counts, and without any hidden losses."""
        n_rules, n_experts, binary = self.n_rules, self.experts.n_experts, self.loss.binary
        return DSGState(
            variant=Variant(
                graph=ESTIMATED,
                beta=0.0,
                sums=False,
                optimistic=False,
                supervised=False,
                counted=False,
                price=1.0,
                random_ties=self.ties == "random",
            ),
            slacks=Slacks(self.slack, self.loss_slack),
            layout=self.layout,
            estimates=learnt,
            search=search(self.layout, self.experts.n_predictors, binary=False),
            groups=no_groups(),
            seen=seen,
            hidden=Hidden(
                unseen_losses=np.zeros((n_rules, n_experts), np.int32 if binary else np.float64),
                trusted=np.ones(n_rules),
                silent=np.zeros((n_rules, _KEPT), np.bool_),
                wrong=np.zeros((_KEPT, n_experts), np.uint8 if binary else np.float64),
                kept=np.zeros(1, np.int64),
                added=np.zeros(n_rules, np.int64),
                part=np.zeros(n_experts if binary else 0, np.uint8),
            ),
            marks=self.new_carry(),
        )

    def new_carry(self) -> Floats:
        """Of each rule, whether its experts are updated and whether they are trusted; and 1 - phat."""
        return np.zeros(2 * self.n_rules)

    @property
    def draws(self) -> bool:
        return self.ties == "random"

    # What has been learnt.

    @property
    def counts(self) -> Ints:
        """Q - 1: how often each expert was updated (K,)."""
        with self.lock:
            return np.asarray(self.state.estimates.updates[self.rule_of] - 1.0, np.int64)

    @property
    def means(self) -> Floats:
        """mu: the estimate of each expert's mean loss (K,)."""
        with self.lock:
            learnt = self.state.estimates
            losses = np.empty(self.experts.n_experts)
            losses[self.layout.expert] = learnt.losses
            return np.asarray((losses + learnt.paid[self.rule_of]) / learnt.updates[self.rule_of])

    def report(self) -> Report:
        """Report the means as estimates; there are no weights."""
        return Report(estimates=self.means)

    def fits(self, decision: Decision) -> bool:
        if not super().fits(decision):
            return False
        codes, unseen = np.split(decision.carry, 2)
        return bool(np.isin(codes, np.arange(4.0)).all() and (unseen >= 0.0).all() and (unseen <= 1.0).all())

    # Copies and files.

    def arrays(self) -> dict[str, Array]:
        add_all(self._packed)
        counts = np.empty_like(self.state.seen.counts)
        count_all(self.round + 1, counts, self._packed)
        return {**super().arrays(), "disagreements": counts}

    def set_arrays(self, arrays: Mapping[str, Array]) -> None:
        state = self.new_state()
        like = {
            **{name: getattr(state.estimates, name) for name in ("losses", "paid", "updates")},
            "trusted": state.hidden.trusted,
            "unseen_losses": state.hidden.unseen_losses,
            "disagreements": state.seen.counts,
        }
        check_arrays(arrays, like)
        self.check_saved(arrays)
        state = state._replace(seen=disagreements(self.n_rules, arrays["disagreements"], self.round))
        for name in self.saved:
            like[name][...] = arrays[name]
        self.state = state

    def check_saved(self, arrays: Mapping[str, Array]) -> None:
        updates, trusted = arrays["updates"], arrays["trusted"]
        for name, numbers in (("updates", updates), ("trusted", trusted)):
            wrong = (numbers != np.floor(numbers)) | (numbers < 1.0) | (numbers > self.round + 1)
            if wrong.any():
                raise InputError(
                    f"state: expected whole numbers from 1 to {self.round + 1} in {name}, got {numbers[wrong][0]}"
                )
        sizes = np.diff(self.layout.start)
        if (arrays["paid"] > updates).any() or (arrays["losses"] > np.repeat(updates, sizes)).any():
            raise InputError("state: expected losses and costs of 1 at most an update, got more")
        if (arrays["unseen_losses"] > np.repeat(trusted, sizes)).any():
            raise InputError("state: expected hidden losses of 1 at most where they are trusted, got more")
        if (arrays["disagreements"] > self.round).any():
            raise InputError("state: expected as many disagreements as there were rounds at most, got more")

"""The rules that every learner, every set of experts and every store obeys, as functions that test yours.

>>> import abstain as ab
>>> experts = ab.experts.hyperplanes(dim=2, n_predictors=3, n_rings=4, seed=0)
>>> check_experts(experts)
>>> check_learner(lambda: ab.UCBGT(experts, cost=0.3, seed=1))
"""

import copy
import inspect
import json
import pickle
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import costs
from . import experts as expert_sets
from ._core import files
from ._core.extras import need
from ._core.registry import as_plain, name_of
from .engine import Decision, Learner, Report
from .engine.files import read_learner
from .errors import AbstainError
from .experts import Advice, Constants, ExpertSet
from .graphs import FeedbackGraph, spec
from .simulate import Trace, simulate

Make: TypeAlias = Callable[[], Learner]
Table: TypeAlias = NDArray[Any]


def check_learner(make: Make, X: ArrayLike | None = None, y: ArrayLike | None = None) -> None:
    """Test a class of learners against the rules that all learners obey.

    Args:
        make: A function without arguments that returns a new learner, always with the same arguments (including a seed,
            if it draws at random).
        X: Inputs to play; by default 200 rows uniform in [-1, 1], or in the learner's domain.
        y: Their labels; by default -1 and +1.

    Raises:
        AssertionError: If a rule is broken. The message says which.
    """
    experts = make().experts
    table = _rows_for(experts) if X is None else np.array(X, np.float64)
    labels = np.random.default_rng(1).choice([-1, 1], len(table)) if y is None else np.array(y)
    for check in CHECKS:
        try:
            check(make, table.copy(), labels.copy())
        except AssertionError as error:
            raise AssertionError(f"{check.__doc__} {error}") from error


def _rows_for(experts: ExpertSet) -> Table:
    """Draw inputs that the experts take."""
    low, high = (experts.low, experts.high) if isinstance(experts, Constants) else (-1.0, 1.0)
    return np.random.default_rng(0).uniform(low, high, (200, experts.n_features or 2))


def state_of(learner: Learner) -> dict[str, Any]:
    """Collect everything that decides what a learner will do.

    Args:
        learner: The learner.

    Returns:
        Its round, pending rounds, rounds that wait, random numbers (None without a seed) and arrays, by name.
    """
    header, arrays = learner.contents()
    return {
        "round": learner.round,
        "pending": learner.pending,
        "heard": header["heard"],
        **{name: array for name, array in arrays.items() if name.startswith("waiting.")},
        "random": None if learner.seed is None else header["random"],
        **{name.removeprefix("state."): array for name, array in arrays.items() if name.startswith("state.")},
    }


def _assert_same_state(first: dict[str, Any], second: dict[str, Any]) -> None:
    assert first.keys() == second.keys(), "The states have different parts."
    for name, value in first.items():
        assert (
            np.array_equal(value, second[name], equal_nan=True)
            if isinstance(value, np.ndarray)
            else (value == second[name])
        ), f"{name} differs."


def _assert_same_trace(first: Trace, second: Trace) -> None:
    for name in ("expert", "abstained", "loss"):
        assert np.array_equal(getattr(first, name), getattr(second, name)), f"{name} differs."


def play_online(learner: Learner, X: Table, y: Table, delay: int = 0) -> Trace:
    """Play a table by single calls of `decide` and `learn`, as `simulate` does.

    Args:
        learner: The learner.
        X: The inputs (T, d).
        y: The labels (T,).
        delay: By how many rounds labels are late.

    Returns:
        What happened.
    """
    rounds: list[tuple[Decision, Any]] = []
    loss = np.empty(len(X))
    if delay > 0:
        learner.ripen(0)  # nobody knows how late labels are before the first has come
    for i in range(len(X)):
        decision = learner.decide(X[i])
        rounds.append((decision, y[i]))
        loss[i] = decision.cost
        if not decision.abstained:
            of_all = learner.loss(decision.predictions[np.newaxis], learner.loss.labels(y[i : i + 1]))
            loss[i] = of_all[0, learner.experts.predictor_of[decision.expert]]
        if delay > 0:
            learner.ripen(decision.round - delay)
        if i >= delay:
            _learn(learner, *rounds[i - delay])
    learner.ripen(learner.round)
    for decision, label in rounds[max(0, len(X) - delay) :]:
        _learn(learner, decision, label)
    learner.catch_up()
    none = np.zeros(0, np.int64)
    expert = np.array([decision.expert for decision, _ in rounds])
    return Trace(expert, np.array([decision.abstained for decision, _ in rounds]), loss, none, none)


def _learn(learner: Learner, decision: Decision, label: Any) -> None:
    if learner.expects[decision.abstained]:
        learner.close(decision, label)


def check_numbers(make: Make, X: Table, y: Table) -> None:
    """What was learnt fits into a file: numbers are finite, and not negative unless `signed` names them."""
    learner, labels = make(), np.unique(y)
    loss, predictions = learner.loss, learner.experts.advise(X).predictions
    of_labels = [loss(predictions, loss.labels(np.full(len(X), label)))[:, 0] for label in labels]
    for given in (y, labels[np.argmin(of_labels, axis=0)]):  # also where the first predictor is always right
        learner = make()
        simulate(learner, X, given)
        try:
            with learner.lock:
                learner.set_arrays(learner.arrays())
        except ValueError as error:
            raise AssertionError(str(error)) from error


def check_online_equals_simulated(make: Make, X: Table, y: Table) -> None:
    """Playing round by round gives the same bits as simulating, with and without a delay."""
    for delay in (0, 1, 13, len(X)):
        online, simulated = make(), make()
        first, second = play_online(online, X, y, delay), simulate(simulated, X, y, delay=delay)
        _assert_same_trace(first, second)
        _assert_same_state(state_of(online), state_of(simulated))


def check_simulate_goes_on(make: Make, X: Table, y: Table) -> None:
    """Two simulated halves are one whole."""
    whole, halves = make(), make()
    middle = len(X) // 2
    trace = simulate(whole, X, y)
    first, second = simulate(halves, X[:middle], y[:middle]), simulate(halves, X[middle:], y[middle:])
    assert np.array_equal(trace.expert, np.concatenate([first.expert, second.expert])), "Choices differ."
    _assert_same_state(state_of(whole), state_of(halves))


def check_hidden_labels(make: Make, X: Table, y: Table) -> None:
    """Labels that the feedback does not show are never used."""
    learner, other = make(), make()
    comes = learner.comes(1, len(X))
    trace = simulate(learner, X, y)
    labels = np.unique(y)
    hidden = ~np.where(trace.abstained, comes[:, 1], comes[:, 0])
    flipped = np.where(hidden, labels[(np.searchsorted(labels, y) + 1) % len(labels)], y)
    again = simulate(other, X, flipped)
    again.loss[hidden] = trace.loss[hidden]  # the loss itself does not depend on whether it is seen
    _assert_same_trace(trace, again)
    _assert_same_state(state_of(learner), state_of(other))


def check_determinism(make: Make, X: Table, y: Table) -> None:
    """The same arguments and rounds give the same game."""
    learner, other = make(), make()
    _assert_same_trace(simulate(learner, X, y), simulate(other, X, y))
    _assert_same_state(state_of(learner), state_of(other))


def check_clone_and_repr(make: Make, X: Table, y: Table) -> None:
    """A clone has the arguments and nothing learnt, as get_params says; the representation names the class."""
    learner = make()
    fresh = state_of(learner)
    simulate(learner, X, y)
    clone = learner.clone()
    _assert_same_state(state_of(clone), fresh)
    assert clone.id != learner.id, "The clone has the same id."
    assert repr(clone) == repr(make()), "The clone's representation differs."
    assert repr(learner).startswith(type(learner).__name__), f"The representation is {learner!r}."
    _assert_same_trace(simulate(clone, X, y), simulate(make(), X, y))
    params = learner.get_params()
    again = (
        type(learner)(**params) if isinstance(learner.experts, Constants) else type(learner)(learner.experts, **params)
    )
    _assert_same_state(state_of(again), fresh)


def check_copies(make: Make, X: Table, y: Table) -> None:
    """Copies, pickles and saved files (see `saved` and `arrays`) go on like it, and learn its open decisions."""
    middle = len(X) // 2
    learner = make()
    simulate(learner, X[:middle], y[:middle])
    decision = next((d for d in (learner.decide(x) for x in X[:middle]) if d.round in learner.pending), None)
    copies = [copy.deepcopy(learner), _reloaded(learner)]
    try:
        copies.append(pickle.loads(pickle.dumps(learner)))
    except (pickle.PicklingError, AttributeError, TypeError):
        assert _given_again(learner) or not _is_found(type(learner)), "The learner cannot be pickled."
    if decision is not None:
        learner.learn(decision, y[0])
    trace = simulate(learner, X[middle:], y[middle:])
    for twin in copies:
        if decision is not None:
            twin.learn(Decision.from_json(decision.to_json()), y[0])
        _assert_same_trace(trace, simulate(twin, X[middle:], y[middle:]))
        _assert_same_state(state_of(learner), state_of(twin))


def _reloaded(learner: Learner) -> Learner:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "learner.abstain"
        learner.save(path)
        return read_learner(path, *files.read(path), **_given_again(learner))


def _is_found(kind: type) -> bool:
    """Say whether a class is found by its name, as pickle needs; one that a function defines is not."""
    found: Any = sys.modules.get(kind.__module__)
    for name in kind.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is kind


def _given_again(learner: Learner) -> dict[str, Any]:
    """Collect what a learner's file cannot hold: Python functions, and graphs that remember."""
    again: dict[str, Any] = {}
    if not learner.experts.portable:
        again["experts"] = learner.experts
    if type(learner.cost) not in (costs.Constant, costs.PerRound):
        again["cost"] = learner.cost
    if learner.loss.spec() is None:
        again["loss"] = learner.loss
    graph = getattr(learner, "graph", None)
    if isinstance(graph, FeedbackGraph) and spec(graph) is None:
        again["graph"] = copy.deepcopy(graph)
    metric = getattr(learner, "metric", None)
    if callable(metric):
        again["metric"] = metric
    return again


def check_peek(make: Make, X: Table, y: Table) -> None:
    """Peeking tells the next decision and changes nothing."""
    learner = make()
    simulate(learner, X, y)
    before, random = state_of(learner), learner.contents()[0]["random"]
    peeked = learner.peek(X[0])
    _assert_same_state(before, state_of(learner))
    assert random == learner.contents()[0]["random"], "It has drawn at random."
    _must_fail(learner, partial(learner.learn, peeked, y[0]), "learning what was only peeked at")
    decision = learner.decide(X[0])
    assert _decided(peeked) == _decided(decision), "The decision differs from the peek."


def _decided(decision: Decision) -> dict[str, Any]:
    """Collect what was decided, except by whom."""
    told = json.loads(decision.to_json())
    return {name: value for name, value in told.items() if name not in ("id", "learner", "life", "digest")}


def check_late_labels(make: Make, X: Table, y: Table) -> None:
    """Labels may come in any order, each once; pending says which are open; forgetting drops one."""
    learner = make()
    decisions = [(learner.decide(x), label) for x, label in zip(X, y, strict=True)]
    is_open = [(d, label) for d, label in decisions if learner.expects[d.abstained]]
    assert learner.pending == tuple(d.round for d, _ in is_open), "pending is wrong."
    for k, (decision, label) in enumerate(reversed(is_open)):
        if k == 0:
            learner.forget(decision)
        else:
            learner.learn(decision, label)
        _must_fail(learner, partial(learner.learn, decision, label), "learning a decision twice")
    assert learner.pending == (), "pending is not empty."


def check_bad_input(make: Make, X: Table, y: Table) -> None:
    """Bad input is a ValueError that changes nothing."""
    learner, stranger = make(), make()
    simulate(learner, X, y)
    wrong = X[0].copy()
    wrong[0] = np.nan
    _must_fail(learner, lambda: learner.decide(wrong), "NaN in x")
    _must_fail(learner, lambda: learner.decide(X[:2]), "a table for x")
    _must_fail(learner, lambda: simulate(learner, X[:0], y[:0]), "an empty table")
    _must_fail(learner, lambda: simulate(learner, X, y[:-1]), "too few labels")
    _must_fail(
        learner, lambda: simulate(learner, np.where(np.arange(len(X))[:, None] < len(X) - 1, X, np.inf), y), "inf"
    )
    _must_fail(learner, lambda: simulate(learner, X, y, delay=-1), "a negative delay")
    _must_fail(learner, lambda: simulate(learner, X, y, checkpoints=[0]), "a checkpoint 0")
    if learner.experts.n_features is not None:
        _must_fail(learner, lambda: learner.decide(np.append(X[0], 0.0)), "a feature too many")
        _must_fail(learner, lambda: simulate(learner, np.column_stack([X, y]), y), "a column too many")
    foreign = [stranger.decide(x) for x in X]
    _must_fail(learner, lambda: learner.learn(foreign[0], y[0]), "a decision of another learner")
    _must_fail(learner, lambda: learner.forget(foreign[0]), "forgetting a decision of another learner")
    for decision in foreign:
        assert 0.0 <= decision.probability <= 1.0 + 1e-9, f"The probability is {decision.probability}."
        if decision.round in stranger.pending:
            for label in (None, np.nan, [y[0]]):
                _must_fail(stranger, partial(stranger.learn, decision, label), f"the label {label!r}")
    for decision in foreign:
        if not stranger.expects[decision.abstained]:
            _must_fail(stranger, partial(stranger.learn, decision, y[0]), "a label that the feedback does not show")


def _must_fail(learner: Learner, action: Callable[[], Any], what: str) -> None:
    before = state_of(learner)
    try:
        action()
    except AbstainError:
        _assert_same_state(before, state_of(learner))
        return
    raise AssertionError(f"Nothing was raised for {what}.")


def check_no_aliasing(make: Make, X: Table, y: Table) -> None:
    """Inputs are not changed, and changing them later changes nothing; decisions cannot be written to."""
    learner, other = make(), make()
    kept_X, kept_y = X.copy(), y.copy()
    trace = simulate(learner, X, y)
    assert np.array_equal(X, kept_X), "X was changed."
    assert np.array_equal(y, kept_y), "y was changed."
    x = X[0].copy()
    decisions = []
    for row, label in zip(X, y, strict=True):
        x[:] = row
        decision = other.decide(x)
        decisions.append(decision)
        x[:] = 0.0
        _learn(other, decision, label)
    assert np.array_equal(trace.expert, [d.expert for d in decisions]), "A later change of x changed the game."
    for array in (decisions[0].predictions, decisions[0].abstains, decisions[0].carry):
        assert not array.flags.writeable, "A decision can be written to."


DRAWS = 200
"""How often a choice is drawn again. A share off by more than `UNLIKELY` deviations is wrong, not unlucky."""
UNLIKELY = 6.0


def check_probability(make: Make, X: Table, y: Table) -> None:
    """The probability of predicting is the same before every draw, and as often the draws predict."""
    learner = make()
    played = len(X) // 2
    for x in (X[0], X[played], X[-1]):
        kept, said, predicted = learner.random.bit_generator.state, set(), 0
        for k in range(DRAWS):
            learner.random.bit_generator.state = np.random.default_rng(k).bit_generator.state
            peeked = learner.peek(x)
            said.add(peeked.probability)
            predicted += not peeked.abstained
        learner.random.bit_generator.state = kept
        least, most = min(said), max(said)
        assert most - least <= 1e-9, f"It is {least} or {most}, as the draw is."
        spread = UNLIKELY * np.sqrt(DRAWS * max(0.0, most * (1.0 - most)))
        assert abs(predicted - DRAWS * most) <= spread + 1e-6, (
            f"It is {most}, but {predicted} of {DRAWS} draws predict, in round {learner.round + 1}."
        )
        for peeked in map(learner.peek, X):
            assert peeked.probability != peeked.abstained, f"It is {peeked.probability}, but a draw does otherwise."
        simulate(learner, X[:played], y[:played])


def check_arguments(make: Make, X: Table, y: Table) -> None:
    """`get_params` has every argument of the constructor, so that copies and files keep it (see `options`)."""
    learner = make()
    known = learner.get_params()
    for one in inspect.signature(type(learner)).parameters.values():
        if one.name not in known and one.default is not one.empty and hasattr(learner, one.name):
            # A copy would have the default. The constructor keeps other values, too, if it keeps this one.
            stored = not {one.name, f"_{one.name}"}.isdisjoint(vars(learner))
            kept = not stored and bool(np.all(getattr(learner, one.name) == one.default))
            assert kept, f"{one.name} is not among {', '.join(known)}."


def check_report(make: Make, X: Table, y: Table) -> None:
    """`report` returns a `Report` with one number per expert, or None."""
    learner = make()
    simulate(learner, X, y)
    report = learner.report()
    assert isinstance(report, Report), f"It returned a {type(report).__name__}."
    for name, values in report._asdict().items():
        if values is not None:
            shape = np.shape(values)
            assert shape == (learner.experts.n_experts,), f"{name} has shape {shape}."


CHECKS: tuple[Callable[[Make, Table, Table], None], ...] = (
    check_numbers,
    check_online_equals_simulated,
    check_simulate_goes_on,
    check_hidden_labels,
    check_determinism,
    check_clone_and_repr,
    check_copies,
    check_peek,
    check_late_labels,
    check_bad_input,
    check_no_aliasing,
    check_probability,
    check_arguments,
    check_report,
)


def check_experts(experts: ExpertSet, X: ArrayLike | None = None) -> None:
    """Test a set of experts against the rules that all sets obey.

    Args:
        experts: The set.
        X: Inputs to ask it for advice; by default 200 rows uniform in [-1, 1]. The relation between rules is tested on
            these rows and on many nearer to 0 and farther away.

    Raises:
        AssertionError: If a rule is broken. The message says which.

    Warns:
        UserWarning: If no row lies where a rule abstains, so that its relation to others was not tested; but not if it
            is said to lie in all others, as one that never abstains does.
    """
    assert isinstance(experts, ExpertSet), f"Expected an ExpertSet, got {type(experts).__name__}."
    table = _rows_for(experts) if X is None else np.array(X, np.float64)
    for check in EXPERT_CHECKS:
        try:
            check(experts, table.copy())
        except AssertionError as error:
            raise AssertionError(f"{check.__doc__} {error}") from error


def check_pairs(experts: ExpertSet, X: Table) -> None:
    """Every expert is a pair of a predictor and a rule; the pairs cannot be written to."""
    for name, most in (("predictor_of", experts.n_predictors), ("rule_of", experts.n_rules)):
        of_experts = getattr(experts, name)
        assert of_experts.shape == (experts.n_experts,), f"{name} has shape {of_experts.shape}."
        assert ((of_experts >= 0) & (of_experts < most)).all(), f"{name} has values beyond {most - 1}."
        assert not of_experts.flags.writeable, f"{name} can be written to."


def check_advice_alone(experts: ExpertSet, X: Table) -> None:
    """Advice on a row depends on that row alone, to the last bit, and never changes; inputs are not changed."""
    kept, whole = X.copy(), experts.advise(X)
    assert np.array_equal(X, kept), "X was changed."
    again = experts.advise(X[::-1].copy())
    _assert_same_advice(whole, Advice(again.predictions[::-1], again.abstains[::-1]), "rows in another order")
    _assert_same_advice(whole, experts.advise_block(X, np.empty((len(X), experts.n_predictors))), "given room")
    for i in range(min(len(X), 20)):
        one = experts.advise(X[i : i + 1])
        _assert_same_advice(Advice(whole.predictions[i : i + 1], whole.abstains[i : i + 1]), one, f"row {i} alone")
    _assert_same_advice(whole, experts.advise(X), "another call")


def _assert_same_advice(first: Advice, second: Advice, when: str) -> None:
    assert first.predictions.shape == second.predictions.shape, f"Predictions have other shapes: {when}."
    assert np.array_equal(first.predictions, second.predictions), f"Predictions differ: {when}."
    assert np.array_equal(first.abstains, second.abstains), f"Abstentions differ: {when}."


def check_inputs_refused(experts: ExpertSet, X: Table) -> None:
    """Bad inputs are a ValueError."""
    wide = np.column_stack([X, X[:, 0]])
    bad = {"NaN": np.where(X[0, 0] == X, np.nan, X), "inf": np.where(X[0, 0] == X, np.inf, X), "no rows": X[:0]}
    for what, table in {**bad, **({"a column too many": wide} if experts.n_features is not None else {})}.items():
        try:
            experts.advise(table)
        except AbstainError:
            continue
        raise AssertionError(f"Nothing was raised for {what}.")


def check_copies_of_experts(experts: ExpertSet, X: Table) -> None:
    """Copies, pickles and what parameters make again have the same fingerprint and give the same advice."""
    twins = {"a copy": copy.deepcopy(experts)}
    try:
        twins["a pickle"] = pickle.loads(pickle.dumps(experts))
    except (pickle.PicklingError, AttributeError, TypeError):
        assert not experts.portable or not _is_found(type(experts)), "It cannot be pickled."
    if experts.portable:
        parameters = experts.parameters()
        arrays = {name: value.copy() for name, value in parameters.items() if isinstance(value, np.ndarray)}
        rest = {name: as_plain(value) for name, value in parameters.items() if name not in arrays}
        twins["what its parameters make"] = expert_sets.from_parameters(
            name_of(type(experts)), {**json.loads(json.dumps(rest)), **arrays}
        )
    whole = experts.advise(X)
    assert experts.fingerprint == experts.fingerprint, "The fingerprint changes."
    for what, twin in twins.items():
        assert twin.fingerprint == experts.fingerprint, f"The fingerprint of {what} differs."
        _assert_same_advice(whole, twin.advise(X), what)


def check_rule_subset(experts: ExpertSet, X: Table) -> None:
    """Where rule_subset[i, j] is true, rule j abstains wherever rule i does; it cannot be written to."""
    relation = experts.rule_subset
    if relation is None:
        return
    shape = (experts.n_rules, experts.n_rules)
    assert relation.shape == shape, f"It has shape {relation.shape}, not {shape}."
    assert relation.dtype == np.bool_, f"It is of type {relation.dtype}."
    assert relation.diagonal().all(), "A rule is no subset of itself."
    assert not relation.flags.writeable, "It can be written to."
    seen = np.zeros(experts.n_rules, np.bool_)
    for rows in (X, *_further_rows(X)):
        try:
            abstains = experts.advise(rows).abstains.astype(np.float64)
        except AbstainError:  # these experts do not take such rows
            continue
        apart = abstains.T @ (1.0 - abstains)  # in how many rows i abstains and j does not
        wrong = np.argwhere(relation & (apart > 0.0))
        assert not len(wrong), f"Rules {tuple(wrong[0].tolist())} are related, but the first abstains alone."
        seen |= abstains.any(axis=0)
    claims = relation.sum(axis=1)
    # A rule that never abstains is in all others, and no row could test that: no warning for rules that look like it.
    untested = np.flatnonzero(~seen & (claims > 1) & (claims < len(claims)))
    if len(untested):
        warnings.warn(
            f"rule_subset was not tested for {len(untested)} of {len(seen)} rules, the first of them {untested[0]}: no "
            "row lies where they abstain; give such rows as X",
            stacklevel=4,
        )


def _further_rows(X: Table) -> Iterator[Table]:
    """Search for small and far regions: nearer to 0 and farther away, as a whole and feature by feature."""
    random = np.random.default_rng(2)
    for power in range(-10, 11):
        yield X * 2.0**power
        yield X * 2.0 ** random.integers(-10, power + 1, X.shape)
    yield np.zeros_like(X)


EXPERT_CHECKS: tuple[Callable[[ExpertSet, Table], None], ...] = (
    check_pairs,
    check_advice_alone,
    check_inputs_refused,
    check_copies_of_experts,
    check_rule_subset,
)


# Stores of the service.


def check_store(store: Any) -> None:
    """Test a store of the service against the rules that all stores obey. It needs the extra ``service``.

    Args:
        store: An empty `abstain.service.store.Store`. The gates "check-a" and "check-b" are made, and deleted.

    Raises:
        AssertionError: If a rule is broken. The message says which.
    """
    kinds = need("abstain.service.store", "check_store", "service")
    assert not store.gates(), "expected an empty store"
    for check in (_writes_and_reads, _fences, _writes_all_or_nothing, _keeps_snapshots, _finds_cases, _keeps_keys):
        gates = [kinds.GateRecord(name, '{"seed":1}', "live", 5.0) for name in ("check-a", "check-b")]
        store.commit([kinds.Changes(gate, created=True) for gate in gates])
        try:
            check(store, kinds, *gates)
        except AssertionError as error:
            raise AssertionError(f"{check.__doc__} {error}") from error
        finally:
            for gate in store.gates():
                store.commit([kinds.Changes(gate, deleted=True)])
        left = [
            store.gates(),
            store.events("check-a"),
            store.snapshots("check-a"),
            store.decided("check-a", None, None),
        ]
        assert left == [[], [], [], []], f"A deleted gate leaves nothing; got {left}"


def _written(kinds: Any, gate: Any, n: int, **options: Any) -> Any:
    """Return the changes of ``n`` decisions."""
    first = gate.next_seq
    gate.next_seq += n
    numbers = range(first, gate.next_seq)
    events = [kinds.EventRecord(gate.name, t, "decided", f"ä/{t}", 10.0 + t, "1", '{"x":"ü\\u0000"}') for t in numbers]
    cases = [
        kinds.CaseRecord(
            gate.name, f"ä/{t}", t, 10.0 + t, "live", "review" if t % 2 else "answer", "open", "d" * 64, '{"a":1}',
            '{"b":2}', f"handle {t}", 0.1 + 0.2,
        )
        for t in numbers
    ]  # fmt: skip
    return kinds.Changes(gate, events=events, cases=cases, **options)


def _writes_and_reads(store: Any, kinds: Any, a: Any, b: Any) -> None:
    """What is committed is read back exactly, each gate for itself."""
    one, two = _written(kinds, a, 3), _written(kinds, b, 2)
    store.commit([one, two])
    assert store.gates() == [a, b], f"expected {[a, b]}, got {store.gates()}"
    assert store.gate("check-a") == a, f"expected {a}, got {store.gate('check-a')}"
    assert store.gate("check-c") is None, "expected None for a gate that is not there"
    assert store.events("check-a") == one.events, f"expected {one.events}, got {store.events('check-a')}"
    assert store.events("check-b", after=1) == two.events[1:], "expected the events after a number"
    assert store.events("check-a", limit=2) == one.events[:2], "expected as many events as the limit"
    known, held = store.find("check-a", ["ä/1", "ä/2", "other"])
    assert known == {case.case: case for case in one.cases[:2]}, f"expected two cases, got {known}"
    assert held == {}, f"expected no held labels, got {held}"
    assert store.find("check-a", []) == ({}, {}), "expected nothing if nothing is asked for"


def _fences(store: Any, kinds: Any, a: Any, b: Any) -> None:
    """A writer with another epoch, or another end of the journal, writes nothing."""
    stale = replace(a, epoch=a.epoch + 1)
    ahead = replace(a, next_seq=7)
    gone = replace(a, name="check-c")
    for other in (stale, ahead, gone):
        fenced = None
        try:
            store.commit([_written(kinds, replace(b), 1), _written(kinds, other, 1)])
        except kinds.Fenced as error:
            fenced = error.gate
        assert fenced == other.name, f"expected Fenced for {other}, got one for {fenced}"
        assert store.events("check-a") == store.events("check-b") == [], "expected no events"
    try:
        store.commit([kinds.Changes(stale, deleted=True)])
    except kinds.Fenced:
        pass
    else:
        raise AssertionError("expected Fenced for deleting with another epoch")
    assert store.gate("check-a") is not None, "expected the gate to be there"


def _writes_all_or_nothing(store: Any, kinds: Any, a: Any, b: Any) -> None:
    """If one row cannot be written, no row is."""
    first = _written(kinds, a, 1)
    store.commit([first])
    twice = _written(kinds, replace(a), 1)
    twice.cases[0].case = first.cases[0].case
    try:
        store.commit([_written(kinds, replace(b), 1), twice])
    except kinds.StoreError:
        pass
    else:
        raise AssertionError("expected a StoreError for a case that is there already")
    assert store.events("check-b") == [], "expected no event of the other gate"
    assert store.events("check-a") == first.events, "expected no further event"
    assert store.gate("check-a") == a, f"expected {a}, got {store.gate('check-a')}"


def _keeps_snapshots(store: Any, kinds: Any, a: Any, b: Any) -> None:
    """The last two snapshots are kept; handles of closed cases go once no kept snapshot is older than their end."""
    for n in range(3):
        store.commit([_written(kinds, a, 1)])
        seq, case = a.next_seq, f"ä/{a.next_seq - 1}"
        a.next_seq += 1
        learnt = kinds.EventRecord("check-a", seq, "learnt", case, 1.0, "1", "{}")
        shot = kinds.SnapshotRecord("check-a", seq, "1", 1.0, "live", "{}", bytes([0, n, 255]))
        store.commit([kinds.Changes(a, events=[learnt], snapshot=shot)])
    found = store.snapshots("check-a")
    assert [(one.seq, one.file[1]) for one in found] == [(6, 2), (4, 1)], f"expected the last two, got {found}"
    handles = {case: one.handle is None for case, one in store.find("check-a", ["ä/1", "ä/3", "ä/5"])[0].items()}
    assert handles == {"ä/1": True, "ä/3": True, "ä/5": False}, f"expected the last handle alone, got {handles}"
    store.commit([kinds.Changes(a, handles={"ä/5": "new"})])
    assert store.find("check-a", ["ä/5"])[0]["ä/5"].handle == "new", "expected the new handle"


def _finds_cases(store: Any, kinds: Any, a: Any, b: Any) -> None:
    """Cases are found by state, action, number and time; held labels until they are released."""
    one = _written(kinds, a, 6)
    held = kinds.HeldRecord("check-a", "early", '"x"', None, 1.0, 9.0)
    one.held = [held]
    store.commit([one])
    assert store.find("check-a", ["early"]) == ({}, {"early": held}), "expected the held label"
    assert store.late_labels("check-a", 9.5, 5) == [held], "expected a label whose deadline has passed"
    assert store.late_labels("check-a", 8.5, 5) == [], "expected no label before its deadline"
    changed = replace(one.cases[0], state="closed", label='"y"', label_source="review", label_at=3.0, price=0.5)
    store.commit([kinds.Changes(a, updated={changed.case: changed}, released=["early"])])
    assert store.find("check-a", ["early", changed.case]) == ({changed.case: changed}, {}), "expected the new label"
    open_ones = store.cases("check-a", state="open", action="review")
    assert open_ones == one.cases[2::2], f"expected the open reviews in order, got {open_ones}"
    assert store.cases("check-a", state="open", action="review", after=3) == one.cases[4:5], "expected those after 3"
    assert store.cases("check-a", state="open", action="review", limit=1) == one.cases[2:3], "expected the oldest"
    assert store.count("check-a", state="open", action="review") == (2, 13.0), "expected two, the oldest at 13"
    assert store.count("check-b", state="open", action="review") == (0, None), "expected none in the other gate"
    assert store.decided("check-a", 12.0, 14.0) == one.cases[1:3], "expected the cases of a period"


def _keeps_keys(store: Any, kinds: Any, a: Any, b: Any) -> None:
    """Keys are kept when they are revoked, and revoked once."""
    key = kinds.KeyRecord("check", "h" * 64, "*", ("read", "decide"), "a name", 1.0)
    store.add_key(key)
    found = store.keys()
    assert found[-1] == key, f"expected {key}, got {found}"
    assert store.revoke_key("check", 7.0), "expected the key to be revoked"
    assert not store.revoke_key("check", 8.0), "expected a key to be revoked once"
    found = store.keys()
    assert found[-1] == replace(key, revoked=7.0), f"expected it with the time, got {found}"

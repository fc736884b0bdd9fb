"""Reading saved learners: what a file says is checked before it is believed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import costs, files, graphs, losses
from .. import experts as expert_sets
from ..errors import AbstainError, FileError, InputError, UnknownKindError
from ..experts import ExpertSet
from .decision import MOST_ROUNDS
from .identity import Identity
from .learner import LEARNERS, Learner


def load(
    path: str | os.PathLike[str],
    *,
    experts: ExpertSet | None = None,
    cost: costs.CostLike | None = None,
    loss: Any = None,
    graph: graphs.FeedbackGraph | None = None,
    metric: Any = None,
) -> Learner:
    """The learner that `Learner.save` wrote; it goes on bit for bit, as a copy with a life of its own.

    Python functions, and graphs that remember, cannot be in the file: give them again. The experts are checked by a
    fingerprint of their kind, pairs and parameters. Learners, experts, losses and graphs of classes of your own are
    found once their module was imported; nothing is imported here.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(f"path: expected the path of a file, got {type(path).__name__}")
    header, arrays = files.read(path)
    with _checked(path):
        version, last, options = header["version"], header["round"], dict(header["options"])
        if type(last) is not int or not 0 <= last <= MOST_ROUNDS:
            raise ValueError(f"the round is {last!r:.100}")
        if type(header["binary"]) is not bool or type(header["learner"]) is not str:
            raise ValueError("binary or learner is of another type")
        identity, seed, saved_experts = Identity.from_header(header, version), _seed(header["seed"]), header["experts"]
        state = _part(arrays, "state.")
    kind = _kind(header["learner"])
    parts = (
        _experts(path, saved_experts, arrays, experts),
        _cost(path, header, arrays, cost),
        _loss(path, header, loss),
        seed,
        {name: _option(path, name, value, arrays, graph, metric) for name, value in options.items()},
    )
    if graph is not None or metric is not None:
        learner = kind._make(*parts)  # if these do not fit, it is not the file's fault
    with _checked(path):
        if graph is None and metric is None:
            learner = kind._make(*parts)
        learner.round, learner._identity = last, identity
        learner._random.bit_generator.state = header["random"]
        learner._set_arrays(state if version > 1 else learner._from_format_1(state))
        identity.begin_life(last)
    return learner


@contextmanager
def _checked(path: Any) -> Iterator[None]:
    """Whatever goes wrong inside is wrong with the file."""
    try:
        yield
    except (FileError, UnknownKindError):
        raise
    except (AbstainError, KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise FileError(f"{path}: damaged: the header and the arrays do not fit together ({error!r:.300})") from None


def _part(arrays: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _kind(name: str) -> type[Learner]:
    """The learner's class; format 1 had its name alone."""
    if ":" in name:
        return LEARNERS.find(name)
    known = [kind for kind in LEARNERS.kinds if kind.__name__ == name]
    if not known:
        raise UnknownKindError(f"learner: {name} is not known; import the module that defines it first")
    return next((kind for kind in known if kind.__module__.startswith("abstain.")), known[-1])


def _experts(path: Any, saved: Any, arrays: dict[str, Any], given: ExpertSet | None) -> ExpertSet:
    with _checked(path):
        kind, parameters, fingerprint = saved["kind"], saved["parameters"], saved["fingerprint"]
    if given is not None:
        if given.fingerprint != fingerprint:
            raise InputError(f"experts: expected those {path} was saved with ({kind}), got others: {given!r}")
        return given
    if parameters is None:
        raise InputError(f"experts: those in {path} are Python functions; give them as experts=")
    with _checked(path):
        made = expert_sets.from_parameters(kind, {**parameters, **_part(arrays, "experts.")})
        if made.fingerprint != fingerprint and ":" in kind:  # format 1 had other fingerprints of some
            raise ValueError("the experts are not those that were saved")
        return made


def _cost(path: Any, header: dict[str, Any], arrays: dict[str, Any], given: Any) -> costs.Cost:
    saved = header.get("cost")
    if saved is None:
        if given is None:
            raise InputError(f"cost: that of {path} is a Python function; give it as cost=")
        fresh = costs.get(given)
        if type(fresh) in (costs.Constant, costs.PerRound):
            raise InputError(f"cost: expected a function, which {path} was saved with, got {fresh!r}")
        return fresh
    with _checked(path):
        known = costs.get(arrays["cost.values"] if saved == "per round" else saved)
        if not isinstance(known, costs.PerRound if saved == "per round" else costs.Constant):
            raise ValueError(f"the cost is {saved!r:.100}")
    if given is not None:
        fresh = costs.get(given)
        same = fresh == known
        if isinstance(fresh, costs.PerRound) and isinstance(known, costs.PerRound):
            same = np.array_equal(fresh.values, known.values)
        if not same:
            raise InputError(f"cost: expected {known!r}, which {path} was saved with, got {fresh!r}")
    return known


def _loss(path: Any, header: dict[str, Any], given: Any) -> losses.Loss:
    saved, binary = header.get("loss"), header["binary"]
    if saved is None:
        if given is None:
            raise InputError(f"loss: that of {path} is a Python function; give it as loss=")
        fresh = losses.get(given)
        if fresh.spec() is not None or fresh.binary != binary:
            raise InputError(f"loss: expected a function like the one {path} was saved with, got {fresh!r}")
        return fresh
    with _checked(path):
        known = losses.from_spec(saved)
        if known.binary != binary:
            raise ValueError("the loss is of another kind")
    if given is not None and losses.get(given).spec() != known.spec():
        raise InputError(f"loss: expected {known!r}, which {path} was saved with, got {given!r}")
    return known


def _seed(saved: Any) -> Any:
    if isinstance(saved, dict):
        return np.random.SeedSequence(saved["entropy"], spawn_key=saved["spawn_key"])
    return saved


def _option(path: Any, name: str, saved: Any, arrays: dict[str, Any], graph: Any, metric: Any) -> Any:
    """A learner's option: a graph or a metric may have to be given again."""
    if name == "graph":
        if saved is None:
            if graph is None:
                raise InputError(f"graph: that of {path} is a Python object; give it as graph=")
            return graph
        with _checked(path):
            known = graphs.from_parameters({**saved, **_part(arrays, "graph.")})
        if graph is not None and not _same_graph(graph, known):
            raise InputError(f"graph: expected {known!r}, which {path} was saved with, got {graph!r}")
        return known
    if name == "metric":
        if saved is None and not callable(metric):
            raise InputError(f"metric: that of {path} is a Python function; give it as metric=")
        if saved is not None and metric not in (None, saved):
            raise InputError(f"metric: expected {saved!r}, which {path} was saved with, got {metric!r}")
        return saved or metric
    return saved


def _same_graph(one: Any, other: graphs.FeedbackGraph) -> bool:
    first, second = graphs.spec(graphs.get(one)), graphs.spec(other)
    if first is None or second is None or first.keys() != second.keys():
        return False
    return all(np.array_equal(first[name], second[name]) for name in first)

"""Reading saved learners: what a file says is checked before it is believed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import costs, graphs, losses
from .. import experts as expert_sets
from .._core.registry import as_plain
from ..errors import AbstainError, FileError, InputError, UnknownKindError, shown
from ..experts import ExpertSet
from .changes import from_file
from .decision import MOST_ROUNDS, Identity
from .learner import LEARNERS, Learner


def read_learner(
    path: Any,
    header: dict[str, Any],
    arrays: dict[str, Any],
    *,
    experts: ExpertSet | None = None,
    cost: costs.CostLike | None = None,
    loss: Any = None,
    **options: Any,
) -> Learner:
    """The learner that a file holds, whose header and arrays these are; see `abstain.load` for what may be given."""
    with checked(path):
        version, last = header["version"], header["round"]
        if type(last) is not int or not 0 <= last <= MOST_ROUNDS:
            raise ValueError(f"the round is {last!r:.100}")
        if type(header["binary"]) is not bool or type(header["learner"]) is not str:
            raise ValueError("binary or learner is of another type")
        identity, seed, saved_experts = Identity.from_header(header, version), _seed(header["seed"]), header["experts"]
        state = _part(arrays, "state.")
        known = _options(header, arrays, version)
    kind = _kind(header["learner"])
    parts = (
        _experts(path, saved_experts, arrays, experts),
        _cost(path, header, arrays, cost),
        _loss(path, header, loss),
        seed,
        _given_again(path, known, options),
    )
    if options:
        learner = kind._make(*parts)  # if these do not fit, it is not the file's fault
    with checked(path):
        if not options:
            learner = kind._make(*parts)
        learner.round, learner._identity = last, identity
        learner._changes = from_file(header.get("changes", []), arrays, learner.experts, last)
        learner._random.bit_generator.state = header["random"]
        learner._set_arrays(state if version > 1 else learner._from_format_1(state))
        identity.begin_life(last)
    return learner


@contextmanager
def checked(path: Any) -> Iterator[None]:
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
    with checked(path):
        kind, parameters, fingerprint = saved["kind"], saved["parameters"], saved["fingerprint"]
    if given is not None:
        if given.fingerprint != fingerprint:
            raise InputError(f"experts: expected those {path} was saved with ({kind}), got others: {given!r}")
        return given
    if parameters is None:
        raise InputError(f"experts: those in {path} are Python functions; give them as experts=")
    with checked(path):
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
    with checked(path):
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
    with checked(path):
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


_AGAIN = object()
"""What an option is that has to be given again."""


def _options(header: dict[str, Any], arrays: dict[str, Any], version: int) -> dict[str, Any]:
    """The options that a file holds."""
    saved = header["options"]
    if version == 1:
        functions = {name: _AGAIN for name in ("graph", "metric") if saved.get(name, "") is None}
        graph = saved.get("graph")
        made = {"graph": graphs.from_parameters({**graph, **_part(arrays, "graph.")})} if graph is not None else {}
        return {**as_plain(saved), **made, **functions}
    known = {name: array for name, array in _part(arrays, "options.").items() if "." not in name}
    for name, value in saved.items():
        if isinstance(value, dict) and value.keys() == {"graph"}:
            known[name] = graphs.from_parameters({**value["graph"], **_part(arrays, f"options.{name}.")})
        else:
            known[name] = as_plain(value)
    return {**known, **dict.fromkeys(header["again"], _AGAIN)}


def _given_again(path: Any, known: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """All options: those that the file does not hold have to be given, others may not differ."""
    for name, value in known.items():
        if value is _AGAIN and given.get(name) is None:
            raise InputError(f"{name}: that of {path} is a Python function or object; give it as {name}=")
    for name, value in given.items():
        if value is not None and (name not in known or (known[name] is not _AGAIN and not _same(value, known[name]))):
            expected = (
                f"{known[name]!r}, which {path} was saved with" if name in known else f"some of {', '.join(known)}"
            )
            raise InputError(f"{name}: expected {expected}, got {shown(value)}")
    return {name: given[name] if value is _AGAIN else value for name, value in known.items()}


def _same(one: Any, other: Any) -> bool:
    """Whether two options are equal."""
    if isinstance(other, graphs.FeedbackGraph):
        one, other = graphs.spec(graphs.get(one)), graphs.spec(other)
        if one is None or other is None or one.keys() != other.keys():
            return False
        return all(np.array_equal(one[name], other[name]) for name in one)
    try:
        return bool(np.array_equal(one, other)) if isinstance(other, np.ndarray) else bool(as_plain(one) == other)
    except AbstainError:
        return False

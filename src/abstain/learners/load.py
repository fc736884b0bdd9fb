"""Reading saved learners."""

import os
from typing import Any

import numpy as np

from .. import costs, files, graphs, losses
from .. import experts as expert_sets
from ..errors import FileError, InputError
from ..experts import ExpertSet
from .base import Learner
from .cont_exp3_abs import ContExp3Abs
from .exp3_abs import Exp3Abs
from .full_supervision import FullSupervision
from .ucb import UCB
from .ucb_gt import UCBGT
from .ucb_nt import UCBNT

_KINDS: dict[str, type[Learner]] = {
    kind.__name__: kind for kind in (UCB, UCBNT, UCBGT, FullSupervision, Exp3Abs, ContExp3Abs)
}


def load(
    path: str | os.PathLike[str],
    *,
    experts: ExpertSet | None = None,
    cost: costs.CostLike | None = None,
    loss: Any = None,
    graph: graphs.FeedbackGraph | None = None,
    metric: Any = None,
    kind: type[Learner] | None = None,
) -> Learner:
    """The learner that `Learner.save` wrote; it goes on bit for bit.

    Experts, costs, losses, graphs and metrics that are Python functions or classes cannot be in the file: give them
    again. The experts are checked by a fingerprint of their kind, pairs and parameters. A learner of your own class
    needs ``kind``.
    """
    header, arrays = files.read(path)
    try:
        return _build(path, header, arrays, experts, cost, loss, graph, metric, kind)
    except (InputError, FileError):
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FileError(f"{path}: damaged: the header and the arrays do not fit together ({error!r})") from None


def _part(arrays: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _build(
    path: Any, header: dict[str, Any], arrays: dict[str, Any], given: ExpertSet | None, cost: Any, loss: Any,
    graph: graphs.FeedbackGraph | None, metric: Any, kind: type[Learner] | None,
) -> Learner:  # fmt: skip
    kind = _KINDS.get(header["learner"]) if kind is None else kind
    if kind is None or kind.__name__ != header["learner"]:
        raise InputError(f"kind: {path} holds a {header['learner']}; give that class as kind=")
    learner = kind._make(
        _experts(path, header["experts"], arrays, given),
        _cost(path, header["cost"], arrays, cost),
        _loss(path, header["loss"], header["binary"], loss),
        _seed(header["seed"]),
        _options(path, header["options"], arrays, graph, metric),
    )
    learner.id = header["id"]
    learner.round, learner._pending = header["round"], set(header["pending"])
    learner._random.bit_generator.state = header["random"]
    learner._set_arrays(_part(arrays, "state."))
    return learner


def _experts(path: Any, saved: dict[str, Any], arrays: dict[str, Any], given: ExpertSet | None) -> ExpertSet:
    if given is None:
        if saved["parameters"] is None:
            raise InputError(f"experts: those in {path} are Python functions; give them as experts=")
        return expert_sets.from_parameters(saved["kind"], {**saved["parameters"], **_part(arrays, "experts.")})
    if given.fingerprint != saved["fingerprint"]:
        raise InputError(f"experts: expected those {path} was saved with ({saved['kind']}), got others: {given!r}")
    return given


def _cost(path: Any, saved: Any, arrays: dict[str, Any], given: Any) -> costs.Cost:
    if saved is None:
        if given is None:
            raise InputError(f"cost: that of {path} is a Python function; give it as cost=")
        fresh = costs.get(given)
        if isinstance(fresh, (costs.Constant, costs.PerRound)):
            raise InputError(f"cost: expected a function, which {path} was saved with, got {fresh!r}")
        return fresh
    known = costs.get(arrays["cost.values"] if saved == "per round" else saved)
    if given is not None:
        fresh = costs.get(given)
        same = fresh == known
        if isinstance(fresh, costs.PerRound) and isinstance(known, costs.PerRound):
            same = np.array_equal(fresh.values, known.values)
        if not same:
            raise InputError(f"cost: expected {known!r}, which {path} was saved with, got {fresh!r}")
    return known


def _loss(path: Any, saved: Any, binary: bool, given: Any) -> losses.Loss:
    if saved is None:
        if given is None:
            raise InputError(f"loss: that of {path} is a Python function; give it as loss=")
        fresh = losses.get(given)
        if fresh.spec() is not None or fresh.binary != binary:
            raise InputError(f"loss: expected a function like the one {path} was saved with, got {fresh!r}")
        return fresh
    known = losses.from_spec(saved)
    if given is not None and losses.get(given) != known:
        raise InputError(f"loss: expected {known!r}, which {path} was saved with, got {given!r}")
    return known


def _seed(saved: Any) -> Any:
    if isinstance(saved, dict):
        return np.random.SeedSequence(saved["entropy"], spawn_key=saved["spawn_key"])
    return saved


def _options(
    path: Any, saved: dict[str, Any], arrays: dict[str, Any], graph: graphs.FeedbackGraph | None, metric: Any
) -> dict[str, Any]:
    options = dict(saved)
    if "graph" in options:
        if options["graph"] is not None:
            options["graph"] = graphs.from_parameters({**options["graph"], **_part(arrays, "graph.")})
        elif graph is not None:
            options["graph"] = graph
        else:
            raise InputError(f"graph: that of {path} is a Python object; give it as graph=")
    if "metric" in options:
        if options["metric"] is None and not callable(metric):
            raise InputError(f"metric: that of {path} is a Python function; give it as metric=")
        if options["metric"] is not None and metric not in (None, options["metric"]):
            raise InputError(f"metric: expected {options['metric']!r}, which {path} was saved with, got {metric!r}")
        options["metric"] = options["metric"] or metric
    return options

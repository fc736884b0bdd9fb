"""What a learner's file says of its arguments, and how they are read back: nothing is believed unchecked."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import costs, graphs, losses
from .. import experts as expert_sets
from .._core.registry import Registry, as_plain, name_of
from ..errors import AbstainError, FileError, InputError, UnknownKindError, shown
from ..experts import ExpertSet
from ..typing import Array

if TYPE_CHECKING:
    from .learner import Learner

LEARNERS: "Registry[Learner]" = Registry("learner")
"""All classes of learners, those of other packages included."""


def describe(
    experts: ExpertSet, cost: costs.Cost, loss: losses.Loss, seed: Any, options: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Array]]:
    """Describe a learner's arguments for its file.

    Args:
        experts: The experts.
        cost: The cost of abstaining.
        loss: The loss.
        seed: The seed.
        options: The further arguments by name.

    Returns:
        A header of plain values and arrays. ``again`` names the options that `load` has to be given again.
    """
    arrays: dict[str, Array] = {}

    def plain(prefix: str, values: Mapping[str, Any]) -> dict[str, Any]:
        arrays.update({f"{prefix}.{k}": v for k, v in values.items() if isinstance(v, np.ndarray)})
        return {k: v for k, v in values.items() if not isinstance(v, np.ndarray)}

    known, again = {}, []
    for name, value in options.items():
        spec = graphs.spec(value) if isinstance(value, graphs.FeedbackGraph) else None
        if spec is not None:
            known[name] = {"graph": plain(f"options.{name}", spec)}
        elif isinstance(value, np.ndarray) and value.dtype != object:
            arrays[f"options.{name}"] = value
        elif callable(value) or isinstance(value, graphs.FeedbackGraph):
            again.append(name)
        else:
            known[name] = as_plain(value)
    price: Any = None
    if type(cost) is costs.Constant:
        price = cost.value
    elif type(cost) is costs.PerRound:
        arrays["cost.values"], price = cost.values, "per round"
    if isinstance(seed, np.random.SeedSequence):
        seed = {"entropy": seed.entropy, "spawn_key": list(seed.spawn_key)}
    header = {
        "seed": seed,
        "experts": {
            "kind": name_of(type(experts)),
            "fingerprint": experts.fingerprint,
            "parameters": plain("experts", experts.parameters()) if experts.portable else None,
        },
        "cost": price,
        "loss": loss.spec(),
        "binary": loss.binary,
        "options": known,
        "again": again,
    }
    return header, arrays


def read_learner(
    path: Any,
    header: dict[str, Any],
    arrays: dict[str, Any],
    *,
    experts: ExpertSet | None = None,
    cost: costs.CostLike | None = None,
    loss: Any = None,
    **options: Any,
) -> "Learner":
    """Make the learner that a file holds.

    Args:
        path: The file's path, for messages.
        header: The file's header.
        arrays: The file's arrays.
        experts: The experts, where the file cannot hold them; see `abstain.load`.
        cost: The cost, where the file cannot hold it.
        loss: The loss, where the file cannot hold it.
        options: The learner's options that the file cannot hold.

    Returns:
        The learner, as a copy with its own life.

    Raises:
        FileError: If the file is damaged, or somebody changed it.
        InputError: If something has to be given, or what was given is not what the file was saved with.
        UnknownKindError: If a class that the file names is not imported.
    """
    with checked(path):
        if type(header["binary"]) is not bool or type(header["learner"]) is not str:
            raise ValueError(f"binary is {header['binary']!r:.50}, learner is {header['learner']!r:.50}")
        saved_experts, known = header["experts"], _options(header, arrays)
    kind = LEARNERS.find(header["learner"])
    made = _experts(path, saved_experts, arrays, experts)
    with checked(path):
        seed = _seed(header["seed"])
    params = {
        "cost": _cost(path, header, arrays, cost),
        "loss": _loss(path, header, loss),
        "seed": seed,
        **_given_again(path, known, options),
    }
    if options:
        learner = kind._make(made, params)  # if these do not fit, it is not the file's fault
    own = header["learner"] if ":" in header["learner"] else None
    with checked(path, own):
        if not options:
            learner = kind._make(made, params)
        try:
            learner.resume(header, arrays)
        except _BY_BAD_FILES:
            then, now = sorted(_part(arrays, "state.")), sorted(learner.arrays())
            if own is not None and then != now:
                raise FileError(
                    f"{path}: {own} has changed since the file was saved: expected the arrays {', '.join(now)}, got "
                    f"{', '.join(then) or 'none'}; load the file with the class as it was"
                ) from None
            raise
    return learner


_BY_BAD_FILES = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)


@contextmanager
def checked(path: Any, own: str | None = None) -> Iterator[None]:
    """Blame the file for whatever goes wrong inside.

    Args:
        path: The file's path, for the message.
        own: The name of a user's class that reads the file, which may have changed; None: only the library does.

    Raises:
        FileError: For any error but that a class is unknown.
    """
    try:
        yield
    except (FileError, UnknownKindError):
        raise
    except _BY_BAD_FILES as error:
        why = "damaged" if own is None else f"damaged, or {own} has changed since the file was saved"
        raise FileError(f"{path}: {why}: the header and the arrays do not fit together ({error!r:.300})") from None


def _part(arrays: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _experts(path: Any, saved: Any, arrays: dict[str, Any], given: ExpertSet | None) -> ExpertSet:
    with checked(path):
        kind, parameters, fingerprint = saved["kind"], saved["parameters"], saved["fingerprint"]
    if given is not None:
        if not isinstance(given, ExpertSet) or given.fingerprint != fingerprint:
            raise InputError(f"experts: expected those {path} was saved with ({kind}), got {shown(given)}")
        return given
    if parameters is None:
        raise InputError(f"experts: those in {path} are Python functions; give them as experts=")
    with checked(path):
        made = expert_sets.from_parameters(kind, {**parameters, **_part(arrays, "experts.")})
        if made.fingerprint != fingerprint:
            raise ValueError("the experts are not those that were saved")
        return made


def _cost(path: Any, header: dict[str, Any], arrays: dict[str, Any], given: Any) -> costs.Cost:
    with checked(path):
        saved = header["cost"]
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
    with checked(path):
        saved, binary = header["loss"], header["binary"]
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
            raise ValueError(f"the loss is {known!r}, but binary is {binary}")
    if given is not None and losses.get(given).spec() != known.spec():
        raise InputError(f"loss: expected {known!r}, which {path} was saved with, got {given!r}")
    return known


def _seed(saved: Any) -> Any:
    if isinstance(saved, dict):
        return np.random.SeedSequence(saved["entropy"], spawn_key=saved["spawn_key"])
    return saved


_AGAIN = object()
"""Stands for an option that has to be given again."""


def _options(header: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    """Read the options that a file holds."""
    known = {name: array for name, array in _part(arrays, "options.").items() if "." not in name}
    for name, value in header["options"].items():
        if isinstance(value, dict) and value.keys() == {"graph"}:
            known[name] = graphs.from_parameters({**value["graph"], **_part(arrays, f"options.{name}.")})
        else:
            known[name] = as_plain(value)
    return {**known, **dict.fromkeys(header["again"], _AGAIN)}


def _given_again(path: Any, known: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Complete the options: those that the file does not hold must be given, others may not differ."""
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
    """Say whether two options are equal."""
    if isinstance(other, graphs.FeedbackGraph):
        one, other = graphs.spec(graphs.get(one)), graphs.spec(other)
        if one is None or other is None or one.keys() != other.keys():
            return False
        return all(np.array_equal(one[name], other[name]) for name in one)
    try:
        return bool(np.array_equal(one, other)) if isinstance(other, np.ndarray) else bool(as_plain(one) == other)
    except AbstainError:
        return False

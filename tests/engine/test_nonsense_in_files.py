"""Files with valid checksums and wrong contents are refused, or the learner plays on; nothing hangs or crashes."""

import io
import json
import zipfile

import numpy as np
import pytest

import abstain as ab
from abstain.errors import AbstainError, FileError, InputError

X, Y = ab.datasets.load("synthetic", n=200, seed=0)
RINGS = ab.experts.hyperplanes(2, 4, 5, seed=3)
SINGLES = ab.experts.thresholds(2, [-1.0, 0.1, 0.2, 0.3, 0.5])  # no two experts share a rule
LEARNERS = {  # one per family of states
    "UCB-GT": lambda: ab.UCBGT(RINGS, cost=0.3, seed=2),
    "UCB-DSG": lambda: ab.UCBDSG(RINGS, cost=0.3, seed=2),
    "fast rates": lambda: ab.FastRates(RINGS, cost=0.3, seed=2),
    "UCB-ABS": lambda: ab.UCBAbs(RINGS, cost=0.3, seed=2),
    "EXP3-ABS": lambda: ab.Exp3Abs(RINGS, cost=0.3, seed=2, memory="adaptive", feedback=(0.7, 0.4), min_observe=0.2),
    "EXP3-ABS, shares": lambda: ab.Exp3Abs(RINGS, cost=0.3, seed=2, memory="share"),
    "DoublyRobust-memories": lambda: ab.DoublyRobust(RINGS, cost=0.3, seed=2, memory="adaptive"),
    "DoublyRobust-guard": lambda: ab.DoublyRobust(SINGLES, cost=0.3, seed=2, guard=0.05, feedback="both"),
    "Stacked": lambda: ab.Stacked(RINGS, cost=0.3, seed=2),
    "ContEXP3-ABS": lambda: ab.ContExp3Abs(2, cost=0.3, gamma=0.3, epsilon=0.4, actions="grid", seed=2),
}

MAY_BE_NEGATIVE = {
    f"state.{name}.npy" for name in ("centres", "losses", "scores", "belief", "residual", "base", "stack", "offset")
}


def read(path):
    """Return the header and the other entries."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(entries.pop("header.json")), entries


def write(path, header, entries):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps(header))
        for name, data in entries.items():
            archive.writestr(name, data)


def as_bytes(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def spoilt(array):
    """Yield the array with one thing wrong at a time."""
    if array.dtype.kind == "f":
        for value in (np.nan, np.inf, -1.0):
            wrong = array.copy()
            wrong[(0,) * array.ndim] = value
            yield wrong
    if array.dtype.kind == "i":
        yield array - 1 - array.max()
    for dtype in ("S3", np.complex128, np.bool_):
        if np.dtype(dtype) != array.dtype:
            yield array.astype(np.int8).astype(dtype)
    yield array[..., np.newaxis]
    yield np.concatenate([array, array])
    yield array[:0]


@pytest.fixture(params=LEARNERS)
def saved(request, tmp_path):
    """Save a learner with open decisions."""
    learner = LEARNERS[request.param]()
    ab.simulate(learner, X[:150], Y[:150])
    for x in X[150:]:
        learner.decide(x)
    learner.save(tmp_path / "x")
    return tmp_path / "x"


def refused(path, header, entries):
    write(path, header, entries)
    with pytest.raises(FileError, match=f"^{path}: "):
        ab.load(path)


def test_a_missing_spoilt_or_additional_array_is_refused(saved):
    header, entries = read(saved)
    arrays = {name: np.load(io.BytesIO(data)) for name, data in entries.items()}
    assert sum(name.startswith("state.") for name in arrays) >= 1
    for name, array in arrays.items():
        refused(saved, header, {other: data for other, data in entries.items() if other != name})
        if not name.startswith("state.") or array.size == 0:
            continue
        for wrong in spoilt(array):
            if name in MAY_BE_NEGATIVE and wrong.dtype == array.dtype and np.isfinite(wrong).all():
                continue
            refused(saved, header, {**entries, name: as_bytes(wrong)})
    refused(saved, header, {**entries, "state.more.npy": as_bytes(np.zeros(3))})
    refused(saved, header, {**entries, name: as_bytes(np.array([{"a": 1}], object))})  # nothing is unpickled


def test_numbers_that_cannot_be_are_refused(saved):
    """They are finite and not negative, but there are more losses than rounds, or no weight is left."""
    header, entries = read(saved)
    of_any_size = header["learner"].endswith(("Exp3", "Exp3Abs", "DoublyRobust", "Stacked"))  # estimates may be large
    for name, data in entries.items():
        array = np.load(io.BytesIO(data))
        counted = name == "state.sums.npy" or (name == "state.paid.npy" and "Exp3" not in header["learner"])
        if counted or (name in ("state.losses.npy", "state.updates.npy", "state.paid.npy") and not of_any_size):
            refused(saved, header, {**entries, name: as_bytes(array + np.array(10**6, array.dtype))})
        if name == "state.updates.npy":
            refused(saved, header, {**entries, name: as_bytes(array + 0.5)})
        if name in ("state.weight.npy", "state.factor.npy"):
            refused(saved, header, {**entries, name: as_bytes(array * 0.0)})
            refused(saved, header, {**entries, name: as_bytes(array + 1.7e308)})


@pytest.mark.long
def test_huge_numbers_are_refused_or_harmless(saved):
    """Sums of finite numbers may overflow: the file is refused, or the learner plays on and weights still sum to 1."""
    header, entries = read(saved)
    n_played = 0
    for name, data in entries.items():
        array = np.load(io.BytesIO(data))
        if not name.startswith("state.") or array.dtype != np.float64 or array.size == 0:
            continue
        for wrong in (
            array * 0.0,
            array + 1.7e308,
            np.where(np.arange(array.size).reshape(array.shape) % 2, 1.7e308, -1.7e308),
        ):
            write(saved, header, {**entries, name: as_bytes(wrong)})
            try:
                learner = ab.load(saved)
            except FileError:
                continue
            n_played += 1
            with np.errstate(all="ignore"):
                ab.simulate(learner, X, Y, delay=3)
                ab.simulate(learner, X, Y)
                if hasattr(learner, "weights"):
                    rest = getattr(learner, "stacker_weight", 0.0)
                    assert learner.weights.sum() + rest == pytest.approx(1.0), name
                    decision = learner.decide(X[0])
                    assert 0.0 <= decision.observed <= 1.0
                    assert np.isfinite(decision.carry).all(), name
    assert n_played > 0


WRONG = [None, -1, 10**30, 1.5, "x", [], [["x", 10**30]], {"a": 1}]


def nested(value, path=()):
    """Yield the path to every place in a header."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from nested(value[key], (*path, key))
    elif isinstance(value, list):
        for k in range(min(len(value), 2)):
            yield from nested(value[k], (*path, k))


def replaced(value, path, by):
    if not path:
        return by
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], by)
    return copy


@pytest.mark.long
def test_any_value_in_the_header_is_refused_or_harmless(saved):
    header, entries = read(saved)
    n_refused = 0
    for path in list(nested(header))[1:]:
        for wrong in WRONG:
            write(saved, replaced(header, path, wrong), entries)
            try:
                learner = ab.load(saved)
            except (FileError, InputError):
                n_refused += 1
                continue
            ab.simulate(learner, X[:20], Y[:20])
        if len(path) == 1:
            write(saved, {name: value for name, value in header.items() if name != path[0]}, entries)
            with pytest.raises(AbstainError):
                ab.load(saved)
    assert n_refused > 100


@pytest.fixture
def saved_ucb(tmp_path):
    learner = ab.UCB(RINGS, cost=0.3)
    ab.simulate(learner, X, Y)
    learner.save(tmp_path / "x")
    return tmp_path / "x"


IDS = np.arange(32, dtype=np.uint8).reshape(2, 16)
IMPOSSIBLE = [
    (IDS[[0, 0]], [1, 2], [0, 0]),
    (IDS, [1, 1], [0, 0]),
    (IDS[:1], [0], [0]),
    (IDS[:1], [201], [0]),
    (IDS[:1], [2**63 - 1], [0]),
    (IDS[:1], [1.0], [0]),
    (IDS[:1], [1], [-1]),
    (IDS[:1], [1], [1.5]),
    (IDS[:1, :8], [1], [0]),
    (IDS, [1], [0]),
    (IDS[:1], [], []),
    (IDS[:1], 1, 0),
]


@pytest.mark.parametrize("pending", IMPOSSIBLE)
def test_impossible_open_decisions_are_refused(saved_ucb, pending):
    header, entries = read(saved_ucb)
    parts = dict(zip(("pending.ids.npy", "pending.rounds.npy", "pending.experts.npy"), pending, strict=True))
    refused(saved_ucb, header, {**entries, **{name: as_bytes(np.array(part)) for name, part in parts.items()}})


@pytest.mark.parametrize("path", [None, 5, b"\0"])
def test_a_path_that_is_no_path_is_refused(path):
    with pytest.raises(ValueError, match=r"path|null"):
        ab.load(path)


def test_a_deeply_nested_header_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "x", "w") as archive:
        archive.writestr("header.json", "[" * 100_000)
    with pytest.raises(FileError, match="x: "):
        ab.load(tmp_path / "x")

"""Files with valid checksums and nonsense inside are refused; nothing hangs, and nothing dies."""

import io
import json
import zipfile

import numpy as np
import pytest

import abstain as ab
from abstain.errors import AbstainError, FileError, InputError

from ..data.make import LEARNERS

X, Y = ab.datasets.load("synthetic", n=200, seed=0)


MAY_BE_NEGATIVE = {
    f"state.{name}.npy" for name in ("centres", "losses", "scores", "belief", "residual", "base", "stack")
}


def read(path):
    """The header, and the other entries."""
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
    """The array, spoilt in every way."""
    if array.dtype.kind == "f":
        for value in (np.nan, np.inf, -1.0, -np.inf):
            wrong = array.copy()
            wrong[(0,) * array.ndim] = value
            yield wrong
    if array.dtype.kind == "i":
        yield array - 1 - array.max()
    for dtype in ("S3", np.complex128, np.int8, np.float32, np.uint64, "U2", np.bool_):
        if np.dtype(dtype) != array.dtype:
            yield array.astype(np.int8).astype(dtype)
    yield array[..., np.newaxis]
    yield np.concatenate([array, array])
    yield array[:0]
    yield np.array(3.0)


@pytest.fixture(params=LEARNERS)
def saved(request, tmp_path):
    """A file with open decisions."""
    learner = LEARNERS[request.param]()
    ab.simulate(learner, X[:150], Y[:150])
    for x in X[150:]:
        learner.decide(x)
    learner.save(tmp_path / "x")
    return tmp_path / "x"


def test_every_array(saved):
    header, entries = read(saved)
    arrays = {name: np.load(io.BytesIO(data)) for name, data in entries.items()}
    assert sum(name.startswith("state.") for name in arrays) >= 1
    for name, array in arrays.items():
        write(saved, header, {other: data for other, data in entries.items() if other != name})
        with pytest.raises(FileError):
            ab.load(saved)
        if not name.startswith("state.") or array.size == 0:
            continue
        for wrong in spoilt(array):
            if name in MAY_BE_NEGATIVE and wrong.dtype == array.dtype and np.isfinite(wrong).all():
                continue
            write(saved, header, {**entries, name: as_bytes(wrong)})
            with pytest.raises(FileError):
                ab.load(saved)
    write(saved, header, {**entries, "state.more.npy": as_bytes(np.zeros(3))})
    with pytest.raises(FileError):
        ab.load(saved)


def test_objects_are_never_unpickled(saved):
    header, entries = read(saved)
    name = next(iter(entries))
    write(saved, header, {**entries, name: as_bytes(np.array([{"a": 1}], object))})
    with pytest.raises(FileError):
        ab.load(saved)


def test_more_losses_than_rounds(saved):
    """Numbers that are finite and not negative, but cannot be."""
    header, entries = read(saved)
    for name, data in entries.items():
        array = np.load(io.BytesIO(data))
        if name in ("state.losses.npy", "state.updates.npy", "state.paid.npy", "state.sums.npy"):
            of_any_size = header["learner"].endswith(("Exp3", "Exp3Abs", "DoublyRobust", "Stacked"))
            if of_any_size and not (
                name == "state.sums.npy" or (name == "state.paid.npy" and "Exp3" not in header["learner"])
            ):
                continue  # estimates are
            write(saved, header, {**entries, name: as_bytes(array + np.array(10**6, array.dtype))})
            with pytest.raises(FileError):
                ab.load(saved)
        if name == "state.updates.npy":
            write(saved, header, {**entries, name: as_bytes(array + 0.5)})
            with pytest.raises(FileError):
                ab.load(saved)
        if name in ("state.weight.npy", "state.factor.npy"):
            for wrong in (array * 0.0, array + 1.7e308):
                write(saved, header, {**entries, name: as_bytes(wrong)})
                with pytest.raises(FileError):
                    ab.load(saved)


def test_huge_numbers(saved):
    """Finite, but so large that sums of them are not: refused, or the learner plays on and weights stay weights."""
    header, entries = read(saved)
    n_played = 0
    for name, data in entries.items():
        array = np.load(io.BytesIO(data))
        if not name.startswith("state.") or array.dtype != np.float64 or array.size == 0:
            continue
        for wrong in (
            array * 0.0,
            array + 1.7e308,
            array - 1.7e308,
            np.where(np.arange(array.size).reshape(array.shape) % 2, 1.7e308, -1.7e308),
            array + 5e-324,
            array * 0.0 + 1e-308,
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


JUNK = [None, True, 0, -1, 3, 10**30, 1.5, "", "x", "a:b", [], [1], [[1]], [["x", 1]], [["x", 10**30]], {}, {"a": 1}]


def nested(value, path=()):
    """Every place in a header."""
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
def test_every_part_of_the_header(saved):
    """Whatever stands there: a clear error, or a learner that plays."""
    header, entries = read(saved)
    n_refused = 0
    for path in list(nested(header))[1:]:
        for junk in JUNK:
            write(saved, replaced(header, path, junk), entries)
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
    assert n_refused > 200


IMPOSSIBLE = [
    [["a", 1, 0], ["a", 2, 0]],
    [["a", 1, 0], ["b", 1, 0]],
    [["a", 0, 0]],
    [["a", 201, 0]],
    [["a", 1.0, 0]],
    [[1, 1, 0]],
    [["a", 1]],
    [["a", 1, -2]],
    [["a", 1, 1.5]],
    "ab",
]


@pytest.mark.parametrize("pending", IMPOSSIBLE)
def test_pending_that_cannot_be(saved, pending):
    header, entries = read(saved)
    write(saved, {**header, "pending": pending}, entries)
    with pytest.raises(FileError):
        ab.load(saved)


@pytest.mark.parametrize("path", [None, 5, [], b"\0", object()])
def test_a_path_that_is_none(path):
    with pytest.raises(ValueError, match=r"path|null"):
        ab.load(path)


def test_deep_headers(tmp_path):
    with zipfile.ZipFile(tmp_path / "x", "w") as archive:
        archive.writestr("header.json", "[" * 100_000)
    with pytest.raises(FileError):
        ab.load(tmp_path / "x")

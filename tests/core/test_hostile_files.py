"""Files made to do harm: they are refused before they take memory, and what loads can be saved again."""

import io
import json
import tracemalloc
import zipfile
from contextlib import suppress

import numpy as np
import pytest

import abstain as ab
from abstain._core import files
from abstain.errors import FileError, InputError

from ..data.make import LEARNERS

X, Y = ab.datasets.load("synthetic", n=60, seed=0)
MIB = 1 << 20


@pytest.fixture
def entries(tmp_path):
    """The parts of a saved learner, by name."""
    learner = ab.UCB(ab.experts.hyperplanes(2, 3, 4, seed=0), cost=0.3, seed=0)
    ab.simulate(learner, X, Y)
    learner.save(tmp_path / "x")
    return parts_of(tmp_path / "x")


def parts_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path, entries):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)


def as_npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def peak_of(action):
    """The most memory that an action takes, in MiB."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1] / MIB
    finally:
        tracemalloc.stop()


def refuses(path):
    with pytest.raises(FileError):
        ab.load(path)


def bomb(path, name, entries, size):
    """A file of a thousandth of the size of what it holds."""
    write(path, entries)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive, archive.open(name, "w", force_zip64=True) as part:
        for _ in range(size // MIB):
            part.write(bytes(MIB))


@pytest.mark.parametrize("name", ["state.bomb.npy", "header.json"])
def test_a_zip_bomb_takes_no_memory(tmp_path, entries, name):
    path = tmp_path / "x"
    bomb(path, name, {k: v for k, v in entries.items() if k != name}, 300 * MIB)
    assert path.stat().st_size < MIB
    assert peak_of(lambda: refuses(path)) < 16


def test_a_bomb_of_many_small_parts(tmp_path, entries, monkeypatch):
    monkeypatch.setattr(files, "MOST_COMPRESSED", 8 * MIB)
    part = as_npy(np.zeros(MIB // 8))
    write(tmp_path / "x", {**entries, **{f"state.{k}.npy": part for k in range(20)}})
    assert peak_of(lambda: refuses(tmp_path / "x")) < 4


def test_an_array_that_says_it_is_larger_than_it_is(tmp_path, entries):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": (10**9,)})
    for data in (stream.getvalue(), stream.getvalue() + bytes(800)):
        write(tmp_path / "x", {**entries, "state.losses.npy": data})
        assert peak_of(lambda: refuses(tmp_path / "x")) < 16


def test_a_header_that_says_it_is_shorter(tmp_path, entries):
    """The directory of an archive lies about the size of a part: no more than it says is read."""
    write(tmp_path / "x", {**entries, "header.json": b" " * MIB + entries["header.json"]})
    data = bytearray((tmp_path / "x").read_bytes())
    size = (MIB + len(entries["header.json"])).to_bytes(4, "little")
    assert data.count(size) == 2
    (tmp_path / "x").write_bytes(bytes(data).replace(size, (100).to_bytes(4, "little")))
    refuses(tmp_path / "x")


def test_large_learners_are_stored_as_they_are(tmp_path, monkeypatch):
    """Beyond a limit parts are not compressed, so that the reader's limit never refuses what was saved."""
    monkeypatch.setattr(files, "MOST_COMPRESSED", MIB)
    learner = ab.Exp3Abs(ab.experts.from_columns(100, 500), cost=0.3)
    learner.save(tmp_path / "x")
    with zipfile.ZipFile(tmp_path / "x") as archive:
        kinds = {entry.compress_type for entry in archive.infolist()}
    assert kinds == {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
    assert ab.load(tmp_path / "x").id == learner.id


def test_a_header_that_is_too_large_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_HEADER", 100)
    with pytest.raises(FileError, match="at most 100 bytes"):
        ab.UCB(ab.experts.from_columns(1, 1), cost=0.3).save(tmp_path / "x")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("name", ["ucb_gt", "ucb_nt", "doubly_robust_capacity", "exp3_abs_capacity", "ucb_abs"])
def test_what_loads_can_be_saved_and_loads_again(tmp_path, name):
    """Whole numbers near the largest that there are do not overflow when the learner counts on."""
    learner, path = LEARNERS[name](), tmp_path / "x"
    ab.simulate(learner, X, Y)
    learner.save(path)
    entries = parts_of(path)
    header = json.loads(entries["header.json"])
    header["lives"] = {}
    huge = [{"header.json": json.dumps({**header, "round": t}).encode()} for t in (2**53 + 1, 2**53, 2**53 - 1, 2**31)]
    for part, data in entries.items():
        array = np.load(io.BytesIO(data)) if part.startswith("state.") else np.zeros(0)
        if array.dtype.kind == "i":
            for round_ in (header["round"], 2**31 - 1, 2**52):
                more = {"header.json": json.dumps({**header, "round": round_}).encode()}
                if "state.updates.npy" in entries:
                    updates = np.load(io.BytesIO(entries["state.updates.npy"]))
                    more["state.updates.npy"] = as_npy(np.full_like(updates, round_))
                for less in (0, 1, 10):
                    huge.append({**more, part: as_npy(np.full_like(array, np.iinfo(array.dtype).max - less))})
                huge.append({**more, part: as_npy(np.full_like(array, np.iinfo(array.dtype).max // 2))})
    assert len(huge) > 4 or name == "ucb_abs"
    for changed in huge:
        write(path, {**entries, **changed})
        try:
            again = ab.load(path)
        except (FileError, InputError):
            continue
        with suppress(InputError):  # there are no more rounds
            ab.simulate(again, X, Y)
        again.save(path)
        assert ab.load(path).round == again.round

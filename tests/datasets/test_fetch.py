"""Public originals, as small copies of their form on a site on this machine."""

import bz2
import dataclasses
import io
import lzma
import os
import pickle
import struct
import tarfile
import zipfile

import numpy as np
import pytest

import abstain as ab
from abstain.datasets import download
from abstain.datasets import known as known_sets
from abstain.errors import FileError, InputError


@pytest.fixture
def serve(site, monkeypatch):
    """Put contents on the site as the files of a set, and tell the registry of its size."""

    def serve(name, *contents, files=None, **changes):
        files = files or [f"{name}{k}" for k in range(len(contents))]
        for file, content in zip(files, contents, strict=True):
            site.files[f"/{file}"] = content
        addresses = tuple((f"{site.url}/{file}",) for file in files)
        known = dataclasses.replace(known_sets.SETS[name], **{"files": addresses, **changes})
        monkeypatch.setitem(known_sets.SETS, name, known)

    return serve


def rows_of(*labels, start=0):
    return b"".join(b"%d 1:%d 2:0.5 4:3\n" % (label, start + k + 1) for k, label in enumerate(labels))


def tree(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_set_of_two_files_becomes_one_npz(serve, user, site):
    serve("guide", rows_of(1, 1, 0), rows_of(0, 1, start=3), rows=5, positives=3)
    told = []
    path = ab.datasets.fetch("guide", progress=lambda *what: told.append(what))
    assert path == user / "guide.npz"
    assert tree(user) == ["guide.npz"]
    assert ab.datasets.info("guide").found == str(path)
    X, y = ab.datasets.load("guide", scale=None)
    np.testing.assert_array_equal(X, [[k, 0.5, 0, 3] for k in range(1, 6)])
    np.testing.assert_array_equal(y, [1, 1, -1, -1, 1])
    assert {step for step, _, _ in told} == {"guide0", "guide1", "reading guide0", "reading guide1"}
    assert all(done <= total for _, done, total in told)
    site.requests.clear()
    assert ab.datasets.fetch("guide") == path  # it is here already
    assert site.requests == []


def test_fetch_into_a_new_folder(serve, tmp_path, user):
    serve("guide", rows_of(1, 0), rows=2, positives=1)
    assert ab.datasets.fetch("guide", data=tmp_path / "new" / "one") == tmp_path / "new" / "one" / "guide.npz"
    assert not user.exists()
    ab.datasets.load("guide", data=tmp_path / "new" / "one")


def test_whole_numbers_are_stored_as_integers(serve, user):
    text = b"".join(b"%d 1:%d 2:-7000 54:1\n" % (1 + k % 2, k) for k in range(50))
    serve("covtype", bz2.compress(text), files=["covtype.bz2"], rows=50, positives=25)
    ab.datasets.fetch("covtype")
    with np.load(user / "covtype.npz") as archive:
        assert archive["X"].dtype == np.int16
        assert archive["X"].shape == (50, 54)
    X, y = ab.datasets.load("covtype", scale=None)
    np.testing.assert_array_equal(X[:, 0], np.arange(50))
    np.testing.assert_array_equal(y, np.tile([-1, 1], 25))


def test_a_large_set_is_sampled(serve, user, monkeypatch):
    monkeypatch.setattr("abstain.datasets.reading.PIECE", 1000)
    text = b"".join(b"%d.000000e+00 1:%d 28:0.5\n" % (k % 3 == 0, k) for k in range(1000))
    serve("higgs", lzma.compress(text), files=["HIGGS.xz"], rows=1000, positives=334, sample=200)
    ab.datasets.fetch("higgs")
    X, y = ab.datasets.load("higgs", scale=None)
    expected = np.sort(np.random.default_rng(0).choice(1000, 200, replace=False))
    np.testing.assert_array_equal(X[:, 0], expected)
    np.testing.assert_array_equal(y, np.where(expected % 3 == 0, 1, -1))


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (rows_of(1, 0), "expected 3 rows, got 2"),
        (rows_of(1, 1, 0), r"expected 1 rows labelled \+1 \(label 1\), got 2"),
        (rows_of(0, 0, 0), "one class only"),
        (b"1 1:2\n0 9:1\n0 1:1\n", "line 2: expected features 1 to 4"),
        (b"<html><body>Moved</body></html>", "line 1: expected a label"),
    ],
)
def test_a_wrong_original_is_refused_and_removed(serve, user, content, word):
    serve("guide", content, rows=3, positives=1)
    with pytest.raises(FileError, match=f"guide0.*{word}.*; the download has been removed"):
        ab.datasets.fetch("guide")
    assert tree(user) == []
    serve("guide", rows_of(1, 0, 0), rows=3, positives=1)
    ab.datasets.fetch("guide")
    assert tree(user) == ["guide.npz"]


def test_a_truncated_packed_file_is_refused(serve, user, site):
    site.lengths = False  # so that only unpacking notices
    whole = bz2.compress(rows_of(1, 0) * 3000)
    serve("guide", whole[: len(whole) // 2], files=["guide.bz2"], rows=6000, positives=3000)
    with pytest.raises(FileError, match="guide.bz2: damaged or cut short"):
        ab.datasets.fetch("guide")
    assert tree(user) == []


def test_an_interrupted_fetch_resumes(serve, user, site):
    serve("guide", rows_of(*[1, 0] * 500), rows=1000, positives=500)
    site.plan = ["cut", *[500] * (download.TRIES - 1)]
    with pytest.raises(FileError, match="try again later to resume"):
        ab.datasets.fetch("guide")
    assert tree(user) == ["downloads", "downloads/guide0.part", "downloads/guide0.part.json"]
    site.requests.clear()
    ab.datasets.fetch("guide")
    assert "Range" in site.requests[0][1]
    assert tree(user) == ["guide.npz"]


def test_a_fetch_stopped_while_reading_downloads_nothing_again(serve, user, site):
    serve("guide", rows_of(1, 0), rows=2, positives=1)

    def stop(step, done, total):
        if step.startswith("reading"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ab.datasets.fetch("guide", progress=stop)
    site.requests.clear()
    ab.datasets.fetch("guide")
    assert site.requests == []  # the bytes were here


def test_the_second_address_is_tried(serve, site, user):
    serve("guide", rows_of(1, 0), rows=2, positives=1, files=["here"])
    known = known_sets.SETS["guide"]
    serve("guide", rows=2, positives=1, files=())
    known_sets.SETS["guide"] = dataclasses.replace(known, files=((f"{site.url}/gone", *known.files[0]),))
    ab.datasets.fetch("guide")
    (user / "guide.npz").unlink()
    del site.files["/here"]
    with pytest.raises(FileError, match=r"/gone: the server answers 404 .*; .*/here: the server answers 404"):
        ab.datasets.fetch("guide")


def test_a_damaged_file_is_fetched_again_and_a_sound_one_left(serve, user):
    serve("guide", rows_of(1, 0), rows=2, positives=1)
    user.mkdir(parents=True)
    (user / "guide.npz").write_bytes(b"damaged")
    ab.datasets.fetch("guide")
    assert len(ab.datasets.load("guide")[0]) == 2
    np.savez(user / "guide.npz", X=np.eye(4), y=[0, 1, 1, 1])  # of another size, but the user's own
    ab.datasets.fetch("guide")
    assert len(ab.datasets.load("guide")[0]) == 4


@pytest.mark.parametrize("name", ["synthetic", "digits"])
def test_sets_without_a_public_file_are_refused(name):
    with pytest.raises(InputError, match=f"^name: expected a set with a public file, got '{name}'"):
        ab.datasets.fetch(name)


def test_folders_that_cannot_be_written_are_refused(serve, tmp_path, monkeypatch):
    serve("guide", rows_of(1, 0), rows=2, positives=1)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="^data: expected a folder, got .*file, which is a file"):
        ab.datasets.fetch("guide", data=tmp_path / "file")
    with pytest.raises(FileError, match=r"file.*: cannot be written \(Not a directory\)"):
        ab.datasets.fetch("guide", data=tmp_path / "file" / "below")
    if os.geteuid() != 0:
        (tmp_path / "locked").mkdir(mode=0o500)
        with pytest.raises(FileError, match=r"locked.*: cannot be written \(Permission denied\)"):
            ab.datasets.fetch("guide", data=tmp_path / "locked")


def test_a_full_disk_keeps_the_download(serve, user, monkeypatch, site):
    error = OSError(28, "No space left on device")
    serve("guide", rows_of(1, 0), rows=2, positives=1)

    def full(*args, **kwargs):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(download.np, "savez_compressed", full)
        with pytest.raises(FileError, match=rf"^{user}: cannot be written \({error.strerror}\)"):
            ab.datasets.fetch("guide")
    assert tree(user) == ["downloads", "downloads/guide0"]
    site.requests.clear()
    ab.datasets.fetch("guide")
    assert site.requests == []


ARFF = (
    b"% a remark\n@RELATION EEG\n@ATTRIBUTE AF3 NUMERIC\n@attribute eyeDetection {0,1}\n\n@DATA\n"
    + b"% another\n"
    + b"".join(b",".join(b"%d.5" % (k + j) for j in range(14)) + b",%d\r\n" % (k % 3 == 0) for k in range(9))
)


def packed(name, content):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return stream.getvalue()


@pytest.mark.parametrize("content", [ARFF, packed("EEG Eye State.arff", ARFF)])
def test_arff_plain_and_zipped(serve, content):
    serve("eye", content, rows=9, positives=3)
    ab.datasets.fetch("eye")
    X, y = ab.datasets.load("eye", scale=None)
    np.testing.assert_array_equal(X, np.add.outer(np.arange(9), np.arange(14)) + 0.5)
    np.testing.assert_array_equal(y, np.tile([1, -1, -1], 3))


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (packed("readme", ARFF), "expected an .arff file in the archive"),
        (packed("x.arff", ARFF * 9).replace(b"\x00" * 4, b"\x01" * 4, 1), "damaged|no line @data|expected"),
        (ARFF.replace(b"0.5", b"?", 1), "line 8: expected numbers and a label, got '[?]'"),
        (b"@data\n", "expected rows of data, got none"),
    ],
)
def test_wrong_arff_is_refused(serve, content, word):
    serve("eye", content, rows=9, positives=3)
    with pytest.raises(FileError, match=word):
        ab.datasets.fetch("eye")


class OldPickler(pickle._Pickler):
    """Pickles as Python 2 and an early NumPy wrote them."""

    dispatch = dict(pickle._Pickler.dispatch)  # noqa: RUF012

    def save_string(self, value):
        self.write(b"T" + struct.pack("<i", len(value)) + value)

    dispatch[bytes] = save_string

    def save_global(self, value, name=None):
        module = "numpy" if value in (np.ndarray, np.dtype) else "numpy.core.multiarray"
        self.write(f"c{module}\n{value.__name__}\n".encode())

    dispatch[type] = save_global
    dispatch[type(len)] = save_global
    dispatch[type(np.ndarray)] = save_global
    dispatch[type(np.empty(0).__reduce__()[0])] = save_global


def old_pickle(value):
    stream = io.BytesIO()
    OldPickler(stream, 2).dump(value)
    return stream.getvalue()


def archive_of(batches):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, content in batches.items():
            member = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


@pytest.fixture(scope="module")
def images():
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (6, 20, 48), np.uint8)
    labels = np.tile(np.arange(10), (6, 2))
    batches = {
        name: old_pickle(
            {b"batch_label": b"x", b"labels": labels[k].tolist(), b"data": pixels[k], b"filenames": [b"a"]}
        )
        for k, name in enumerate(download.BATCHES)
    }
    wanted = (labels == 7) | (labels == 8)
    return {"batches.meta": b"?", **batches, "readme.html": b"?"}, pixels[wanted].astype(float), labels[wanted]


def test_the_pickles_of_this_test_are_old_ones(images):
    content = images[0]["test_batch"]
    assert b"cnumpy.core.multiarray\n_reconstruct\n" in content
    assert b"cnumpy\nndarray\n" in content
    assert b"codecs" not in content


def test_cifar_becomes_principal_components(serve, images):
    batches, pixels, labels = images
    serve("cifar", archive_of(batches), rows=24, positives=12, files=["cifar.tar.gz"])
    told = []
    ab.datasets.fetch("cifar", progress=lambda *what: told.append(what))
    assert sum(step == "reading cifar.tar.gz" and 0 < done <= total for step, done, total in told) == 6
    X, y = ab.datasets.load("cifar", scale=None)
    np.testing.assert_array_equal(y, np.where(labels == 7, 1, -1))
    centred = pixels - pixels.mean(axis=0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    assert X.shape == (24, 25)
    np.testing.assert_allclose(np.abs(X[:, :20]), np.abs((u * s)[:, :20]), atol=1e-8)
    assert (np.diff(X.var(axis=0)) <= 1e-9).all()
    for k in range(5):  # the sign is that of the largest entry
        direction = np.linalg.lstsq(X[:, :23], centred, rcond=None)[0][k]
        assert direction[np.abs(direction).argmax()] > 0


class Evil:
    def __reduce__(self):
        return os.system, ("echo no",)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"test_batch": pickle.dumps(Evil(), 2)}, "system is not allowed"),
        ({"test_batch": b"cbuiltins\neval\n(S'1'\ntR."}, "builtins.eval is not allowed"),
        ({"test_batch": b""}, "test_batch: damaged"),
        ({"test_batch": old_pickle({b"data": 3, b"labels": [7]})}, "expected pixels"),
        (
            {"test_batch": old_pickle({b"data": np.ones((2, 48), np.uint8), b"labels": [7]})},
            "expected one label per image",
        ),
        ({"test_batch": old_pickle({b"data": np.ones((1, 40), np.uint8), b"labels": [7]})}, "images of one size"),
        ({"data_batch_3": None}, "got no data_batch_3"),
    ],
)
def test_wrong_image_batches_are_refused_and_run_no_code(serve, images, user, change, word):
    batches = {name: content for name, content in {**images[0], **change}.items() if content is not None}
    serve("cifar", archive_of(batches), rows=24, positives=12, files=["cifar.tar.gz"])
    with pytest.raises(FileError, match=word):
        ab.datasets.fetch("cifar")
    assert tree(user) == []


def test_damaged_archives_are_refused(serve, images):
    whole = archive_of(images[0])
    for content in (whole[:-2000], whole[:100], b"text", b"", whole[:3000] + b"????" + whole[3004:]):
        serve("cifar", content, rows=24, positives=12, files=["cifar.tar.gz"])
        with pytest.raises(FileError, match=r"cifar.tar.gz.*: (damaged|expected)"):
            ab.datasets.fetch("cifar")


def test_originals_have_https_addresses():
    for known in known_sets.SETS.values():
        assert bool(known.files) == (known.kind in download.READERS)
        for addresses in known.files:
            assert all(url.startswith("https://") for url in addresses)

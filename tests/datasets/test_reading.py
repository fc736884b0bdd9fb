"""Files of all kinds, sound and damaged."""

import bz2
import dataclasses
import lzma
import sys

import numpy as np
import pytest

import abstain as ab
from abstain.datasets import known as known_sets
from abstain.datasets import reading
from abstain.errors import FileError, InputError

X4 = np.array([[0.5, 0.0, -3.25, 1e-3], [0.0, 0.0, 0.0, 0.0], [1e5, 2.0, 3.0, 4.0]])
Y4 = [1, -1, 1]
TEXT = b"+1 1:0.5 3:-3.25 4:1e-3\n0\n1 1:1e5 2:2 3:3 4:4\n"


def write(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    return tmp_path / name


def load(tmp_path, name="guide", **options):
    return ab.datasets.load(name, data=tmp_path, scale=None, **options)


@pytest.mark.parametrize("name", ["guide", "guide.txt", "guide.libsvm"])
@pytest.mark.parametrize(("packed", "pack"), [("", bytes), (".bz2", bz2.compress), (".xz", lzma.compress)])
def test_libsvm_files_plain_and_packed(tmp_path, name, packed, pack):
    write(tmp_path, name + packed, pack(TEXT))
    X, y = load(tmp_path)
    np.testing.assert_array_equal(X, X4)
    np.testing.assert_array_equal(y, Y4)


@pytest.mark.parametrize(
    "text",
    [
        TEXT.rstrip(b"\n"),
        TEXT.replace(b"\n", b"\r\n"),
        TEXT.replace(b" ", b"\t  ").replace(b"\n", b"  \n\n \n"),
        b"# made by hand\n" + TEXT.replace(b"\n", b" # one: row\n"),
    ],
)
def test_libsvm_with_other_white_space_and_comments(tmp_path, text):
    write(tmp_path, "guide", text)
    X, y = load(tmp_path)
    np.testing.assert_array_equal(X, X4)
    np.testing.assert_array_equal(y, Y4)


def test_libsvm_read_in_many_pieces(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((500, 4)) < 0.5, 0.0, rng.standard_normal((500, 4)))
    y = rng.integers(0, 2, 500)
    rows = [
        f"{b} " + " ".join(f"{k}:{v!r}" for k, v in enumerate(a.tolist(), 1) if v) for a, b in zip(X, y, strict=True)
    ]
    write(tmp_path, "guide", "\n".join(rows).encode())
    monkeypatch.setattr(reading, "PIECE", 97)
    read, signs = load(tmp_path)
    np.testing.assert_array_equal(read, X)
    np.testing.assert_array_equal(signs, 2 * y - 1)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        (b"1 1:0.5 2:x", "expected index:value .* got '2:x'"),
        (b"1 1:0.5 2", "expected index:value"),
        (b"1 0:3", "expected features 1 to 4, got '0:3'"),
        (b"1 2:3 2:4", "expected ascending features, got '2:4' after feature 2"),
        (b"1 1:nan", "expected .*finite numbers"),
        (b"1 1:1_0", "expected index:value"),
        (b"<html>", "expected a label"),
        (b"1 qid:3 1:2", "expected index:value"),
        (b"\xff\xfe 1:2", "expected a label"),
    ],
)
@pytest.mark.parametrize("piece", [1 << 20, 16], ids=["one piece", "many pieces"])
def test_a_wrong_libsvm_line_is_named_with_its_number(tmp_path, monkeypatch, line, word, piece):
    monkeypatch.setattr(reading, "PIECE", piece)
    path = write(tmp_path, "guide", b"1 1:2\n# a remark\n\n0 2:3 4:7\n" + line + b"\n1 1:1\n")
    with pytest.raises(FileError, match=f"^{path}, line 5: {word}"):
        load(tmp_path)


def test_a_line_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "PIECE", 100)
    monkeypatch.setattr(reading, "LONGEST_LINE", 1000)
    write(tmp_path, "guide", b"\0" * 5000)
    with pytest.raises(FileError, match="expected lines of text"):
        load(tmp_path)


@pytest.mark.parametrize(("packed", "pack"), [(".bz2", bz2.compress), (".xz", lzma.compress)])
def test_damaged_packed_files_are_refused(tmp_path, packed, pack):
    content = pack(TEXT * 2000)
    for wrong in (content[: len(content) // 2], b"plain text", content[:40] + b"????" + content[44:]):
        path = write(tmp_path, f"guide{packed}", wrong)
        with pytest.raises(FileError, match=f"^{path}: damaged or cut short"):
            load(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "a,b,c,d,label\n0.5,0,-3.25,1e-3,1\n0,0,0,0,0\n1e5,2,3,4,1\n",
        "\ufeff a , b,Class,c,d\r\n0.5, 0,1, -3.25,1e-3\r\n0,0,0,0,0,\r\n1e5,2,1,3,4\r\n".replace(
            "0,0,0,0,0,", "0,0,0,0,0"
        ),
        "0.5,0,-3.25,1e-3,1\n\n0,0,0,0,0\n1e5,2,3,4,1",
        '"y","x","b","c","target"\n0.5,0,-3.25,1e-3,1\n0,0,0,0,0\n1e5,2,3,4,1\n\n\n',
        "a,b,c,d,e\n0.5,0,-3.25,1e-3,3\n0,0,0,0,2\n1e5,2,3,4,3\n",
    ],
)
def test_csv_with_and_without_header(tmp_path, text):
    write(tmp_path, "guide.csv", text.encode())
    X, y = load(tmp_path)
    np.testing.assert_array_equal(X, X4)
    np.testing.assert_array_equal(y, Y4)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("a,b,label\n1,2,3\n", ": expected 4 features and a label, separated by commas, got 3 columns"),
        ("1;2;3;4;1\n1;2;3;4;0\n", ": expected 4 features .* got 1 columns"),
        ("1,2,3,4,1\n\n1,2,3,4,0,5\n", ", line 3: expected 5 columns, got 6"),
        ("a,b,c,d,label\n1,2,3,4,1\n1,x,3,4,0\n", ", line 3: expected numbers and a label, got 'x'"),
        ("a,b,c,d,label\n1,2,3,4,1\n1,2,3,4,\n", ", line 3: expected a label, got nothing"),
        ("1,2,3,4,1\n1,2,nan,4,0\n", ": expected finite numbers, got nan in row 1, column 2"),
        ("1,2,3,4,1\n1,2,3,4,nan\n", ": expected labels of two values, got nan in row 1"),
        ("a,b,c,d,label\n", ": expected rows of data, got none"),
        ("\0" * 50, ": expected text in UTF-8"),
        ("1,2,3,4,1\n1,2,3,4,1\n", ": expected labels of two values, got one class only: 1"),
        ("1,2,3,4,yes\n1,2,3,4,no\n", r": expected the label 1 for \+1 \(label 1\), got no and yes"),
    ],
)
def test_wrong_csv_is_refused(tmp_path, text, word):
    path = write(tmp_path, "guide.csv", text.encode())
    with pytest.raises(FileError, match=f"^{path}{word}"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("name", "labels", "expected"),
    [
        ("guide", [0, 1], [-1, 1]),
        ("guide", [-1, 1], [-1, 1]),
        ("guide", [7, 3], [1, -1]),
        ("skin", [1, 2], [1, -1]),
        ("covtype", [1, 2], [-1, 1]),
        ("cifar", [8, 7], [-1, 1]),
        ("cifar", ["ship", "horse"], [-1, 1]),
        ("higgs", ["S", "B"], [1, -1]),
        ("guide", [True, False], [1, -1]),
    ],
)
def test_which_label_is_positive(tmp_path, name, labels, expected):
    X = np.ones((2, ab.datasets.info(name).features))
    np.savez(tmp_path / f"{name}.npz", X=X, y=labels)
    np.testing.assert_array_equal(load(tmp_path, name)[1], expected)


def test_npz_files(tmp_path):
    np.savez(tmp_path / "guide.npz", X=np.asfortranarray(X4.astype(np.float32)), y=np.array([1, 0, 1], np.uint8))
    X, y = load(tmp_path)
    np.testing.assert_array_equal(X, X4.astype(np.float32))
    np.testing.assert_array_equal(y, Y4)
    assert X.flags.c_contiguous


@pytest.mark.parametrize(
    ("arrays", "word"),
    [
        ({"X": X4}, "expected the arrays X and y, got no y"),
        ({"X": X4[:, :3], "y": Y4}, "expected 4 features, got 3"),
        ({"X": X4, "y": Y4[:2]}, r"expected X \(rows, 4\) and y"),
        ({"X": X4[:0], "y": Y4[:0]}, "expected rows of data, got none"),
        ({"X": X4 * 1j, "y": Y4}, "expected numbers"),
        ({"X": np.where(X4 == 2, np.nan, X4), "y": Y4}, "expected finite numbers, got nan in row 2, column 1"),
        ({"X": X4, "y": [1.0, np.nan, 1.0]}, "expected labels of two values, got nan in row 1"),
        ({"X": X4, "y": np.array([{}, 1, 2], object)}, "damaged, or not a .npz"),
    ],
)
def test_wrong_npz_arrays_are_refused(tmp_path, arrays, word):
    np.savez(tmp_path / "guide.npz", **arrays)
    with pytest.raises(FileError, match=f"guide.npz: {word}"):
        load(tmp_path)


def test_damaged_npz_files_are_refused(tmp_path):
    np.savez_compressed(tmp_path / "guide.npz", X=np.random.default_rng(0).random((100, 4)), y=np.arange(100) % 2)
    content = (tmp_path / "guide.npz").read_bytes()
    for wrong in (b"", b"text", content[:500], content[:300] + b"????" + content[304:], content[100:]):
        path = write(tmp_path, "guide.npz", wrong)
        with pytest.raises(FileError, match=f"^{path}: damaged, or not a .npz"):
            load(tmp_path)
    np.save(tmp_path / "guide.npy", X4)
    (tmp_path / "guide.npy").replace(tmp_path / "guide.npz")
    with pytest.raises(FileError, match="damaged, or not a .npz"):
        load(tmp_path)


def test_npz_comes_before_libsvm_before_csv(tmp_path):
    for k, name in enumerate(["guide.csv", "guide.libsvm", "guide.txt", "guide"]):
        first = f"{k + 5}"
        text = f"{first},1,1,1,1\n1,1,1,1,0\n" if name == "guide.csv" else f"1 1:{first}\n0 1:1\n"
        write(tmp_path, name, text.encode())
        assert load(tmp_path)[0][0, 0] == k + 5
    np.savez(tmp_path / "guide.npz", X=X4, y=Y4)
    np.testing.assert_array_equal(load(tmp_path)[0], X4)


def test_libsvm_features_that_are_always_zero(tmp_path):
    """LIBSVM leaves zeros out: the registry says how many features there are."""
    write(tmp_path, "covtype", b"1 3:1\n2 1:5\n")
    assert load(tmp_path, "covtype")[0].shape == (2, 54)


def test_libsvm_with_many_rows_in_one_piece():
    known = dataclasses.replace(known_sets.SETS["guide"], features=3)
    text = b"".join(b"%d 1:%d 2:0.1 3:1e-2\n" % (k % 2, k) for k in range(50_000))
    X, y = reading.read_libsvm([text], known.features, None)
    np.testing.assert_array_equal(X[:, 0], np.arange(50_000))
    np.testing.assert_array_equal(X[:, 1:], np.tile([0.1, 0.01], (50_000, 1)))
    np.testing.assert_array_equal(y, np.arange(50_000) % 2)


def test_npz_needs_no_extra_and_csv_says_which(tmp_path, monkeypatch):
    for module in ("polars", "sklearn", "pandas"):
        monkeypatch.setitem(sys.modules, module, None)
    np.savez(tmp_path / "guide.npz", X=X4, y=Y4)
    np.testing.assert_array_equal(load(tmp_path)[0], X4)
    path = write(tmp_path, "skin.csv", b"1,2,3,1\n1,2,3,2\n")
    with pytest.raises(InputError, match=rf"^{path} needs polars: pip install 'abstain\[cli\]'$"):
        load(tmp_path, "skin")

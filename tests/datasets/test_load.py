"""Loading by name: where files are looked for, how features are scaled and rows drawn."""

import difflib
import os

import numpy as np
import pytest

import abstain as ab
from abstain.datasets import loading
from abstain.errors import FileError, InputError

X4 = np.array([[1.0, -2.0, 0.0, 5.0], [3.0, 4.0, 0.0, 5.0], [-6.0, 0.0, 0.0, 5.0]])
Y4 = np.array([1, -1, 1], np.int8)


def save(folder, name="guide", X=X4, y=Y4):
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / f"{name}.npz", X=X, y=y)
    return folder / f"{name}.npz"


def test_the_names_are_the_papers_sets_and_two_small_ones():
    paper = {"higgs", "phishing", "ijcnn", "covtype", "eye", "skin", "cod-rna", "guide", "cifar", "synthetic"}
    assert set(ab.datasets.names) == paper | {"breast-cancer", "digits"}
    assert len(ab.datasets.names) == 12


def test_scaling_by_maxabs_minmax_or_not_at_all(tmp_path):
    save(tmp_path)
    X, y = ab.datasets.load("guide", data=tmp_path)
    np.testing.assert_array_equal(X, [[1 / 6, -0.5, 0, 1], [0.5, 1, 0, 1], [-1, 0, 0, 1]])
    np.testing.assert_array_equal(y, Y4)
    assert X.dtype == np.float64
    assert y.dtype == np.int8
    assert X.flags.c_contiguous
    X, _ = ab.datasets.load("guide", data=tmp_path, scale="minmax")
    np.testing.assert_allclose(X, [[5 / 9, -1, 0, 0], [1, 1, 0, 0], [-1, -1 / 3, 0, 0]], atol=1e-15)
    X, _ = ab.datasets.load("guide", data=tmp_path, scale=None)
    np.testing.assert_array_equal(X, X4)


@pytest.mark.parametrize("scale", ["maxabs", "minmax"])
def test_extreme_numbers_are_scaled_into_the_range(tmp_path, scale):
    column = np.array([-1.7e308, 1.7e308, 5e-324, 3.0])
    save(tmp_path, X=np.stack([column, column[::-1], np.abs(column) * 1e-310, column / 7], axis=1), y=[0, 1, 1, 0])
    X, _ = ab.datasets.load("guide", data=tmp_path, scale=scale)
    assert np.isfinite(X).all()
    assert np.abs(X).max() == 1.0


@pytest.mark.parametrize("scale", ["MaxAbs", 1])
def test_unknown_scalings_are_refused(scale):
    with pytest.raises(InputError, match=r"^scale: expected 'maxabs', 'minmax' or None, got"):
        ab.datasets.load("synthetic", scale=scale)


def test_drawing_rows(tmp_path):
    X = np.arange(4000.0).reshape(1000, 4) + 1.0
    save(tmp_path, X=X, y=np.arange(1000) % 2)
    whole, y = ab.datasets.load("guide", data=tmp_path)
    some, labels = ab.datasets.load("guide", data=tmp_path, n=300, seed=5)
    rows = np.rint(some[:, 0] * 3997 - 1).astype(int) // 4
    np.testing.assert_array_equal(some, whole[rows])  # scaled by the whole set, not by the draw
    np.testing.assert_array_equal(labels, y[rows])
    assert len(set(rows)) == 300
    assert not (np.diff(rows) > 0).all()
    again, _ = ab.datasets.load("guide", data=tmp_path, n=300, seed=5)
    np.testing.assert_array_equal(some, again)
    other, _ = ab.datasets.load("guide", data=tmp_path, n=300, seed=6)
    assert not np.array_equal(some, other)
    everything, _ = ab.datasets.load("guide", data=tmp_path, n=1000, seed=1)
    assert len(np.unique(everything[:, 0])) == 1000
    more, _ = ab.datasets.load("guide", data=tmp_path, n=1001, seed=np.random.SeedSequence(1))
    assert len(np.unique(more[:, 0])) < 800  # with replacement: about 632
    with pytest.raises(InputError, match="^n: expected .* got 0"):
        ab.datasets.load("guide", data=tmp_path, n=0)
    with pytest.raises(InputError, match="^seed: expected"):
        ab.datasets.load("guide", data=tmp_path, seed=-1)


def test_repeated_loading_reads_once(tmp_path, monkeypatch):
    path = save(tmp_path)
    calls = []
    read = loading.reading.read_table
    monkeypatch.setattr(loading.reading, "read_table", lambda *a: calls.append(a) or read(*a))
    first, y = ab.datasets.load("guide", data=tmp_path)
    second, _ = ab.datasets.load("guide", data=tmp_path)
    ab.datasets.load("guide", data=tmp_path, n=2, seed=0)[0][0, 0] = 9.0  # a draw is the caller's own
    assert first is second
    assert len(calls) == 1
    for array in (first, y):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    save(tmp_path, X=X4 * [2.0, 1.0, 1.0, 1.0] + [1.0, 0.0, 0.0, 0.0])
    os.utime(path, ns=(1, 1))
    assert ab.datasets.load("guide", data=tmp_path)[0][0, 0] == 3 / 11
    assert len(calls) == 2


def test_folders_are_searched_in_order(tmp_path, monkeypatch, user):
    with pytest.raises(FileError) as caught:
        ab.datasets.load("guide", data=tmp_path)
    for word in (str(tmp_path), str(user), "not there", "abstain datasets get guide", "ABSTAIN_DATA", "guide.npz"):
        assert word in str(caught.value)
    assert ab.datasets.info("guide", data=tmp_path).found is None
    expected = save(user, X=X4 * 4)
    monkeypatch.setenv("ABSTAIN_DATA", str(tmp_path / "variable"))
    assert ab.datasets.info("guide", data=tmp_path).found == str(expected)
    assert ab.datasets.load("guide", data=tmp_path, scale=None)[0][0, 0] == 4
    save(tmp_path / "variable", X=X4 * 3)
    assert ab.datasets.load("guide", data=tmp_path, scale=None)[0][0, 0] == 3
    save(tmp_path, X=X4 * 2)
    assert ab.datasets.load("guide", data=str(tmp_path), scale=None)[0][0, 0] == 2
    assert ab.datasets.load("guide", scale=None)[0][0, 0] == 3
    monkeypatch.setenv("ABSTAIN_DATA", "")
    assert ab.datasets.load("guide", scale=None)[0][0, 0] == 4


def test_a_data_folder_must_be_a_folder(tmp_path):
    (tmp_path / "file").write_text("")
    for data, word in ((tmp_path / "file", "a file"), (tmp_path / "none", "not there"), ("", "''"), (3, "3")):
        with pytest.raises(InputError, match=f"^data: expected .*{word}"):
            ab.datasets.load("guide", data=data)
    (tmp_path / "guide").mkdir()  # a folder of that name is no file
    assert ab.datasets.info("guide", data=tmp_path).found is None


def test_the_cache_folder_of_each_system(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    assert loading.cache() == tmp_path / ".cache" / "abstain"
    monkeypatch.setattr("sys.platform", "darwin")
    assert loading.cache() == tmp_path / "Library" / "Caches" / "abstain"
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "Local"))
    assert loading.cache() == tmp_path / "Local" / "abstain" / "cache"


def test_without_a_home_folder_other_folders_still_work(monkeypatch, tmp_path):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr("pathlib.Path.home", no_home)
    save(tmp_path)
    ab.datasets.load("guide", data=tmp_path)
    with pytest.raises(FileError, match="^skin: no skin.npz"):
        ab.datasets.load("skin", data=tmp_path)
    with pytest.raises(FileError, match="^there is no home folder for the cache: set XDG_CACHE_HOME"):
        ab.datasets.fetch("guide")
    with pytest.raises(InputError, match="^data: expected a folder, got ~unknown-user"):
        ab.datasets.load("guide", data="~unknown-user/x")


@pytest.mark.parametrize(("name", "word"), [("codrna", "cod-rna"), ("HIGGS", "higgs")])
def test_misspelt_names_get_a_suggestion(name, word):
    for call in (ab.datasets.load, ab.datasets.info, ab.datasets.fetch):
        with pytest.raises(InputError, match=f"^name: expected one of .* got '{name}'; did you mean {word}"):
            call(name)


@pytest.mark.parametrize("name", ["mnist", None])
def test_unknown_names_are_refused(name):
    assert not isinstance(name, str) or not difflib.get_close_matches(name, ab.datasets.names)
    with pytest.raises(InputError, match="^name: expected one of higgs, .* got"):
        ab.datasets.load(name)


def test_synthetic_is_drawn_and_not_scaled(tmp_path):
    X, y = ab.datasets.load("synthetic", seed=0)
    assert X.shape == (10_000, 2)
    np.testing.assert_array_equal(y, np.where(X.sum(axis=1) > 0, 1, -1))
    same, _ = ab.datasets.load("synthetic", seed=0, scale="minmax", data=tmp_path)
    np.testing.assert_array_equal(X, same)
    assert np.abs(X).max() < 1.0


@pytest.mark.parametrize(
    ("name", "shape", "positives"), [("breast-cancer", (569, 30), 212), ("digits", (1797, 64), 896)]
)
def test_the_sets_of_scikit_learn(name, shape, positives):
    pytest.importorskip("sklearn")
    X, y = ab.datasets.load(name)
    assert X.shape == shape
    assert np.abs(X).max() == 1.0
    assert (y == 1).sum() == positives
    info = ab.datasets.info(name)
    assert (info.rows, info.features) == shape
    assert info.found == "scikit-learn"
    assert len(ab.datasets.load(name, n=3000, seed=0)[0]) == 3000


def test_digits_of_five_and_more_are_positive():
    datasets = pytest.importorskip("sklearn.datasets")
    np.testing.assert_array_equal(ab.datasets.load("digits")[1] == 1, datasets.load_digits().target >= 5)


def test_without_scikit_learn_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sklearn.datasets", None)
    monkeypatch.setattr(loading, "is_there", lambda name: False)
    loading._whole.cache_clear()
    with pytest.raises(InputError, match=r"^digits needs scikit-learn: pip install 'abstain\[sklearn\]'"):
        ab.datasets.load("digits")
    assert ab.datasets.info("digits").found is None


def test_info_describes_every_set():
    for name in ab.datasets.names:
        info = ab.datasets.info(name)
        assert info.name == name
        assert all([info.rows, info.features, info.positive, info.source, info.citation])
    with pytest.raises(AttributeError):
        info.rows = 1

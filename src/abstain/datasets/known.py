"""What is known about each set: its size, what +1 means, where its public original is."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError, InputError, shown

LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/"
UCI = "https://archive.ics.uci.edu/"
_PAGE = "LIBSVM data page"


@dataclass(frozen=True)
class KnownSet:
    """A data set, as its public original has it."""

    name: str
    """The name that `load` takes."""
    rows: int
    """The number of rows."""
    features: int
    """The number of features."""
    meaning: str
    """What the label +1 means."""
    source: str
    """Who publishes the set."""
    citation: str
    """The publication to cite."""
    positives: int | None = None
    """The number of rows labelled +1, if it is known."""
    positive: tuple[str, ...] = ("1",)
    """The label or labels that stand for +1 in text files."""
    files: tuple[tuple[str, ...], ...] = ()
    """The addresses of each file; later addresses of a file are tried if the first one fails."""
    kind: str = "libsvm"
    """How the files are read: "libsvm", "arff" or "cifar"; "computed" and "scikit-learn" have no files."""
    sample: int | None = None
    """The number of rows that a download keeps, drawn with seed 0; None means all."""


def _page(*files: str) -> tuple[tuple[str, ...], ...]:
    return tuple((LIBSVM + file,) for file in files)


_ALL = (
    KnownSet(
        "higgs", 11_000_000, 28, "signal", _PAGE,
        "Baldi, Sadowski and Whiteson, Searching for exotic particles in high-energy physics with deep learning, 2014",
        positives=5_829_123, positive=("1", "s", "signal"), files=_page("HIGGS.xz"), sample=100_000,
    ),
    KnownSet(
        "phishing", 11_055, 68, "label 1", _PAGE,
        "Mohammad, Thabtah and McCluskey, An assessment of features related to phishing websites, 2012",
        positives=6_157, files=_page("phishing"),
    ),
    KnownSet(
        "ijcnn", 49_990, 22, "label 1", _PAGE + ", the training part",
        "Prokhorov, IJCNN 2001 neural network competition, 2001",
        positives=4_853, files=_page("ijcnn1.bz2"),
    ),
    KnownSet(
        "covtype", 581_012, 54, "cover type 2, against all others", _PAGE,
        "Blackard and Dean, Comparative accuracies of artificial neural networks and discriminant analysis in "
        "predicting forest cover types, 1999",
        positives=283_301, positive=("2",), files=_page("covtype.libsvm.binary.bz2"),
    ),
    KnownSet(
        "eye", 14_980, 14, "eye closed", "UCI, EEG Eye State",
        "Roesler, EEG Eye State, UCI Machine Learning Repository, 2013",
        positives=6_723, kind="arff",
        files=((
            UCI + "static/public/264/eeg+eye+state.zip",
            UCI + "ml/machine-learning-databases/00264/EEG%20Eye%20State.arff",
        ),),
    ),
    KnownSet(
        "skin", 245_057, 3, "skin", _PAGE,
        "Bhatt and Dhall, Skin Segmentation, UCI Machine Learning Repository, 2012",
        positives=50_859, files=_page("skin_nonskin"), positive=("1", "skin"),
    ),
    KnownSet(
        "cod-rna", 59_535, 8, "label 1", _PAGE + ", the training part",
        "Uzilov, Keegan and Mathews, Detection of non-coding RNAs on the basis of predicted secondary structure "
        "formation free energy change, 2006",
        positives=19_845, files=_page("cod-rna"),
    ),
    KnownSet(
        "guide", 7_089, 4, "label 1", _PAGE + ", svmguide1: the training part, then the test part",
        "Hsu, Chang and Lin, A practical guide to support vector classification, 2003",
        positives=4_000, files=_page("svmguide1", "svmguide1.t"),
    ),
    KnownSet(
        "cifar", 12_000, 25, "horse (-1: ship)", "CIFAR-10, as 25 principal components",
        "Krizhevsky, Learning multiple layers of features from tiny images, 2009",
        positives=6_000, positive=("7", "horse"), kind="cifar",
        files=(("https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",),),
    ),
    KnownSet(
        "synthetic", 10_000, 2, "x1 + x2 > 0", "computed: any number of rows",
        "Cortes, DeSalvo, Gentile, Mohri and Yang, Online learning with abstention, 2018, appendix D",
        kind="computed",
    ),
    KnownSet(
        "breast-cancer", 569, 30, "malignant", "scikit-learn",
        "Wolberg, Mangasarian, Street and Street, Breast Cancer Wisconsin (Diagnostic), UCI Machine Learning "
        "Repository, 1993",
        positives=212, kind="scikit-learn",
    ),
    KnownSet(
        "digits", 1_797, 64, "a digit of 5 or more", "scikit-learn",
        "Alpaydin and Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning Repository, 1998",
        positives=896, kind="scikit-learn",
    ),
)  # fmt: skip

SETS = {known.name: known for known in _ALL}
names = tuple(SETS)
"""The names that `load` knows: the paper's ten sets and two small ones of scikit-learn."""


def known(name: str) -> KnownSet:
    """Return the set of that name, or raise `InputError` with the closest names."""
    if isinstance(name, str) and name in SETS:
        return SETS[name]
    import difflib  # needed for misspelt names only

    close = difflib.get_close_matches(name.lower(), SETS, n=2) if isinstance(name, str) else []
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    raise InputError(f"name: expected one of {', '.join(SETS)}, got {shown(name)}{hint}")


def as_signs(labels: NDArray[Any], known: KnownSet, path: Path) -> NDArray[np.int8]:
    """Return -1 and +1 for the two values of ``labels``.

    +1 is the value that the registry names for this set; if it names neither, the greater of two numbers (so that -1
    and +1 always stay as they are). Two unknown words raise `FileError`.
    """
    values, place = np.unique(labels, return_inverse=True)
    texts = [_text(value) for value in values]
    if len(values) != 2:
        shown = ", ".join(texts[:5]) + (", ..." if len(texts) > 5 else "")
        what = "one class only" if len(values) == 1 else f"{len(values)} classes"
        raise FileError(f"{path}: expected labels of two values, got {what}: {shown}")
    if (texts[0] in known.positive) != (texts[1] in known.positive):
        first = texts[0] in known.positive
    elif labels.dtype.kind in "fiub":
        first = False
    else:
        expected = " or ".join(known.positive)
        raise FileError(
            f"{path}: expected the label {expected} for +1 ({known.meaning}), got {texts[0]} and {texts[1]}"
        )
    return np.where((place.reshape(-1) == 0) == first, 1, -1).astype(np.int8)


def _text(value: Any) -> str:
    """Return a text that is equal for 1, 1.0 and True."""
    return str(value).strip().lower() if isinstance(value, str) else f"{float(value):g}"

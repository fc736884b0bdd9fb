"""What is worth knowing of the rows a study was played on."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import datasets
from ..errors import AbstainError
from ..typing import Array, Floats
from .set_specs import SetSpec
from .sources import fingerprint
from .spec import AnyStudy
from .spoilt import source
from .study import Study


class Rows(NamedTuple):
    """A data file, as far as a study uses it."""

    dataset: str
    file: str
    """Its name, size and checksum."""
    rows: int
    features: int
    positive: float
    """The share of +1."""
    notes: tuple[str, ...]
    """What is odd: too few rows, constant features."""


def rows_of(studies: Sequence[AnyStudy], data: Any) -> list[Rows]:
    """The files behind the sets of these studies; those that are computed, or not here, are left out."""
    longest: dict[str, int] = {}
    own: dict[str, SetSpec] = {}
    for study in studies:
        if isinstance(study, Study):
            longest |= {name: max(study.rounds, longest.get(name, 0)) for name in map(source, study.sets)}
            own |= {one.name: one for one in study.own}
    rows = (
        _own_rows(own[name], rounds) if name in own else _rows(name, rounds, data) for name, rounds in longest.items()
    )
    return [found for found in rows if found is not None]


def _own_rows(spec: SetSpec, rounds: int) -> Rows | None:
    if spec.kind is not None:
        return None
    path = Path(spec.file)
    file = f"{path.name}, {path.stat().st_size} bytes, {spec.code[:8]}" if spec.file else "a table"
    return _described(spec.name, file, *spec.rows("none"), rounds)


def _rows(name: str, rounds: int, data: Any) -> Rows | None:
    if name not in datasets.names or name == "synthetic":
        return None
    try:
        X, y = datasets.load(name, scale=None, data=data)
    except AbstainError:  # not here, or damaged, which is said elsewhere
        return None
    where = datasets.info(name, data=data).found or ""
    file = f"{Path(where).name}, {fingerprint(name, data)}" if Path(where).is_file() else where
    return _described(name, file, X, y, rounds)


def _described(name: str, file: str, X: Floats, y: Array, rounds: int) -> Rows:
    notes = []
    if len(X) < rounds:
        notes.append(f"{len(X):,} rows, fewer than the {rounds:,} rounds: drawn with replacement")
    constant = int((np.ptp(X, axis=0) == 0.0).sum())
    if constant > 0:
        notes.append(f"{constant} of {X.shape[1]} features {'is' if constant == 1 else 'are'} constant")
    return Rows(name, file, len(X), X.shape[1], float((y == 1).mean()), tuple(notes))

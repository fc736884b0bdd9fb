"""What differs between the results of two folders."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import results
from .results import MACHINE, ORDER

if TYPE_CHECKING:
    import polars as pl

RUN = 5
"""Fields that say which run of ContEXP3-ABS a row is (`growth.Row`)."""
MOST = 20
"""Settings that are named; of more, the number is said."""


def differences(one: Path, other: Path) -> list[str]:
    """A sentence for each difference between two folders, or files, of results; none if they are the same.

    What depends on the machine, times and hosts, is not compared.
    """
    first, second = results.read(one), results.read(other)
    return [*_of_spec(first.about, second.about), *_of_growth(first.about, second.about),
            *_of_curves(first.curves.drop(MACHINE), second.curves.drop(MACHINE))]  # fmt: skip


def _of_spec(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    if one.get("version") != other.get("version"):
        yield f"version: {one.get('version', 'not said')}, then {other.get('version', 'not said')}"
    both = [{study["name"]: study for study in about.get("studies", ())} for about in (one, other)]
    for name in dict.fromkeys([*both[0], *both[1]]):
        if name not in both[0] or name not in both[1]:
            yield f"study {name}: only in the {'first' if name in both[0] else 'second'}"
            continue
        yield from (f"study {name}: {text}" for text in _of_values("", both[0][name], both[1][name]))


def _of_values(where: str, one: Any, other: Any) -> Iterator[str]:
    """Fields that differ, each by its path."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*one, *other]):
            inner = f"{where}.{key}" if where else key
            if key in one and key in other:
                yield from _of_values(inner, one[key], other[key])
            else:
                yield f"{inner}: {one.get(key, 'nothing')!r}, then {other.get(key, 'nothing')!r}"
    elif (key := _key(one)) and key == _key(other):
        yield from _of_values(where, {part[key]: part for part in one}, {part[key]: part for part in other})
    elif one != other:
        yield f"{where}: {one!r}, then {other!r}"


def _key(value: Any) -> str | None:
    """What tells the parts of a list apart: sets have names (and the label of a column), learners have labels.

    >>> _key([{"name": "a", "label": "y"}, {"name": "b", "label": "y"}]), _key([{"label": "UCB"}])
    ('name', 'label')
    """
    if not isinstance(value, list) or not value or not all(isinstance(one, dict) for one in value):
        return None
    return next((key for key in ("name", "label") if len({one.get(key) for one in value} - {None}) == len(value)), None)


def _of_growth(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    runs = [{tuple(row[:RUN]): row[RUN:] for row in about.get("growth", ())} for about in (one, other)]
    shared = runs[0].keys() & runs[1].keys()
    wrong = sum(runs[0][key] != runs[1][key] for key in shared)
    for k, which in enumerate(("first", "second")):
        if len(runs[k]) > len(shared):
            yield f"growth: {len(runs[k]) - len(shared):,} runs only in the {which}"
    if wrong:
        yield f"growth: {wrong:,} of {len(shared):,} runs differ"


def _of_curves(one: "pl.DataFrame", other: "pl.DataFrame") -> Iterator[str]:
    """Rows that only one has, and the largest difference of each setting and learner."""
    import polars as pl

    for which, here, there in (("first", one, other), ("second", other, one)):
        alone = here.join(there, on=ORDER, how="anti")
        runs = alone.select(ORDER[:-1]).n_unique()
        if runs:
            names = ", ".join(sorted(set(alone["learner"].to_list()))[:MOST])
            yield f"curves: {runs:,} runs, or points of them, only in the {which} ({names})"
    values = [name for name in one.columns if name in other.columns and name not in ORDER]
    both = one.join(other, on=ORDER, how="inner", suffix="_other", maintain_order="left")
    wrong = both.filter(pl.any_horizontal(pl.col(name).ne_missing(pl.col(f"{name}_other")) for name in values))
    groups = wrong.partition_by("study", "dataset", "cost", "learner", as_dict=True, maintain_order=True)
    for (study, dataset, cost, learner), rows in list(groups.items())[:MOST]:
        gaps = {name: np.abs((rows[name] - rows[f"{name}_other"]).to_numpy()).max() for name in values}
        parts = [f"{name} by up to {gap:.6g}" for name, gap in gaps.items() if gap]
        runs = rows.select("expert_set", "draw").n_unique()
        yield f"{study}: {dataset}, c = {cost:g}, {learner}: {', '.join(parts)} (in {runs} runs)"
    if len(groups) > MOST:
        yield f"and {len(groups) - MOST:,} more settings and learners"

"""What differs between the results of two folders."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .results import Results, read_all

MOST = 20
"""How many settings are listed by name; beyond that only their number is given."""


def differences(one: Path, other: Path) -> list[str]:
    """A sentence for each difference between two folders, or files, of results; none if they are the same.

    What depends on the machine, times and hosts, is not compared. Without results there is a `FileError`.
    """
    first, second = read_all(one), read_all(other)
    found = [*_of_versions(first, second), *_of_studies(first, second)]
    for kind in first.keys() & second.keys():
        found += _of_frames(kind, first[kind], second[kind])
    return found


def _of_versions(one: Mapping[str, Results], other: Mapping[str, Results]) -> Iterator[str]:
    both = [next(iter(some.values())).version for some in (one, other)]
    if both[0] != both[1]:
        yield f"version: {both[0]}, then {both[1]}"


def _of_studies(one: Mapping[str, Results], other: Mapping[str, Results]) -> Iterator[str]:
    both = [{study["name"]: study for found in some.values() for study in found.studies} for some in (one, other)]
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


def _of_frames(kind: str, first: Results, second: Results) -> Iterator[str]:
    """Rows that only one has, and the largest differences in each setting."""
    import polars as pl

    keys, setting, machine = first.columns
    one, other = (found.frame.drop(machine, strict=False) for found in (first, second))
    for which, here, there in (("first", one, other), ("second", other, one)):
        alone = here.join(there, on=keys, how="anti", nulls_equal=True)
        if len(alone):
            names = ", ".join(sorted({str(value) for value in alone[setting[-1]].unique()})[:MOST])
            yield f"{kind}: {len(alone):,} rows only in the {which} ({setting[-1]} {names})"
    values = [name for name in one.columns if name in other.columns and name not in keys]
    both = one.join(other, on=keys, how="inner", suffix="_other", maintain_order="left", nulls_equal=True)
    wrong = both.filter(pl.any_horizontal(pl.col(name).ne_missing(pl.col(f"{name}_other")) for name in values))
    groups = wrong.partition_by(setting, as_dict=True, maintain_order=True)
    for place, rows in list(groups.items())[:MOST]:
        where = ", ".join(f"{name} {value}" for name, value in zip(setting[1:], place[1:], strict=True))
        parts = [text for name in values if (text := _gap(rows, name))]
        yield f"{place[0]}: {where}: {', '.join(parts)} (in {len(rows):,} rows)"
    if len(groups) > MOST:
        yield f"and {len(groups) - MOST:,} more settings"


def _gap(rows: Any, name: str) -> str:
    one, other = rows[name], rows[f"{name}_other"]
    if not one.dtype.is_numeric():
        return f"other {name}" if one.ne_missing(other).any() else ""
    gap = (one - other).cast(float).fill_nan(None).abs().max() or 0.0  # no number where one of them has none
    return f"{name} by up to {gap:.6g}" if gap > 0.0 else "" if one.equals(other) else f"other {name}"

"""The checks of arguments: every kind of wrong value raises an error of the library, without a warning."""

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from abstain._core.validation import as_count, as_floats, as_number, as_row, as_seed, as_share, as_table, plain
from abstain.errors import AbstainError, InputError


class Hostile:
    """Cannot be shown, compared or turned into an array."""

    __hash__ = None

    def __repr__(self):
        raise RuntimeError("no")

    __eq__ = __array__ = lambda self, *args, **kwargs: 1 / 0


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


WRONG = {
    "None": None,
    "text": "x",
    "bytes": b"x",
    "an integer that is no float": 10**400,
    "nan": math.nan,
    "complex": 1j,
    "decimal": Decimal("NaN"),
    "long double": np.longdouble("1e4000"),
    "date": np.datetime64("2024-01-01"),
    "dict": {},
    "rows of different lengths": [[1.0], [1.0, 2.0]],
    "list of None": [None],
    "list of integers that are no floats": [10**400],
    "table of text": [["a", "b"]],
    "table of dates": np.array([["2024-01-01"]], "M8[D]"),
    "table of objects": np.array([[object()]], object),
    "table of nan": np.full((2, 2), np.nan),
    "no rows": np.zeros((0, 2)),
    "three axes": np.zeros((2, 2, 2)),
    "nested 50,000 deep": nested(50_000),
    "an object that cannot be shown": Hostile(),
    "function": len,
}
CHECKS = {
    "as_count": lambda value: as_count(value, "n"),
    "as_number": lambda value: as_number(value, "n", "a finite number"),
    "as_share": lambda value: as_share(value, "n"),
    "as_seed": as_seed,
    "as_floats": lambda value: as_floats(value, "n"),
    "as_table": lambda value: as_table(value, None),
    "as_row": lambda value: as_row(value, None),
}
RIGHT = {  # what is wrong for the others
    "as_seed": {"None", "an integer that is no float"},
    "as_floats": {"None", "decimal", "long double", "list of None", "nan", "table of nan", "no rows", "three axes"},
}


@pytest.mark.parametrize("check", CHECKS)
def test_every_kind_of_wrong_value_is_refused(check):
    for what, value in WRONG.items():
        if what in RIGHT.get(check, ()):
            CHECKS[check](value)
            continue
        try:
            answer = CHECKS[check](value)
        except AbstainError as error:
            assert "expected" in str(error), what  # noqa: PT017
        else:
            raise AssertionError(f"{what}: accepted as {answer!r}")


@pytest.mark.parametrize(
    "values", [[1, 2], (1, 2), np.array([1, 2]), pd.Series([1, 2]), pl.Series([1, 2]), range(1, 3)]
)
def test_arrays_come_from_lists_series_and_ranges(values):
    np.testing.assert_array_equal(plain(values), [1, 2])


def test_text_that_ends_with_nul_is_kept():
    assert plain(["a\0", "a"]).tolist() == ["a\0", "a"]


def test_counts_have_limits():
    assert as_count(np.int64(3), "n") == 3
    with pytest.raises(InputError, match="^n: expected a whole number, at least 1, got True$"):
        as_count(True, "n")
    with pytest.raises(InputError, match="^n: expected a whole number, at most 5, got 6$"):
        as_count(6, "n", most=5)


def test_masked_values_are_no_values():
    """NumPy would show what is behind the mask."""
    masked = np.ma.array([[1.0, 2.0]], mask=[[False, True]])
    for check in (lambda: as_table(masked, 2), lambda: as_row(masked[0], 2), lambda: plain(masked, "y")):
        with pytest.raises(InputError, match="expected no masked values, got"):
            check()
    np.testing.assert_array_equal(as_table(np.ma.array([[1.0, 2.0]]), 2), [[1.0, 2.0]])

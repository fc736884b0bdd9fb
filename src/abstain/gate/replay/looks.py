"""What a column looks like, by its name and by what is in it."""

from typing import TYPE_CHECKING

from ...errors import shown

if TYPE_CHECKING:
    import polars as pl

SURE = ("confidence", "conf", "certainty", "score", "probability", "prob", "proba")
ANSWERS = ("prediction", "predicted", "pred", "answer", "class", "label", "said")


def parts(column: str, roles: tuple[str, ...]) -> list[tuple[str, str]]:
    """What is left of a name without the role it ends or begins with: ("gbm", "conf") of "gbm_conf" and "conf_gbm"."""
    lower = column.lower()
    for role in roles:
        if lower == role:
            return [("", role)]
        for mark in "_-. ":
            if lower.endswith(mark + role):
                return [(lower[: -len(role) - 1], role)]
            if lower.startswith(role + mark):
                return [(lower[len(role) + 1 :], role)]
    return []


def out_of_unit(column: "pl.Series") -> str | None:
    """Why a column cannot have confidences; None if it can: numbers in [0, 1], and some that are there."""
    import polars as pl

    if not (column.dtype.is_numeric() or column.dtype == pl.String):
        return f"it has {column.dtype}, not numbers"
    there = column.drop_nulls()
    if column.dtype == pl.String:
        there = there.filter(there != "")
    if len(there) == 0:
        return "it is empty"
    values = there.cast(pl.Float64, strict=False)
    if values.null_count() > 0:
        return f"it has {shown(there.filter(values.is_null())[0])}, which is not a number"
    wrong = ~values.fill_nan(0.5).is_between(0.0, 1.0)
    return f"it has {shown(there.filter(wrong)[0])}, which is not in [0, 1]" if wrong.any() else None


def two_classes(label: "pl.Series") -> bool:
    """Whether labels are of two classes, as far as one sees."""
    there = label.drop_nulls()
    return there.n_unique() == 2

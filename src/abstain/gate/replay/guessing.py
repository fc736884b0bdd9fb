"""Finding the columns that nobody named: by their names, and by what is in them."""

from dataclasses import replace
from typing import TYPE_CHECKING

from ...errors import InputError
from .columns import CLASS, PROBABILITY, ModelColumns
from .options import Options

if TYPE_CHECKING:
    import polars as pl

LABELS = (
    "label",
    "y",
    "target",
    "truth",
    "outcome",
    "y_true",
    "true_label",
    "ground_truth",
    "actual",
    "class",
    "labels",
)
SURE = ("confidence", "conf", "certainty", "score", "probability", "prob", "proba")
ANSWERS = ("prediction", "predicted", "pred", "answer", "class", "label", "said")
ALONE = "model"
"""The name of a model whose columns have none."""


def complete(options: Options, sample: "pl.DataFrame") -> Options:
    """The options with what was not given found in the first rows, or an error that says what is missing."""
    if options.label is None:
        options = replace(options, label=_label(sample.columns))
    if not options.models:
        models = _models(sample, options)
        if not models:
            raise InputError(
                "--model: found no pair of columns such as gbm and gbm_confidence; name them: "
                f"--model NAME=ANSWER:CONFIDENCE (there are {', '.join(sample.columns[:20])})"
            )
        options = replace(options, models=models)
    return options


def _label(columns: list[str]) -> str:
    lower = {column.strip().lower(): column for column in reversed(columns)}
    for name in LABELS:
        if name in lower:
            return lower[name]
    raise InputError(
        f"--label: found no column named label, y, target or the like; name it (there are {', '.join(columns[:20])})"
    )


def _models(sample: "pl.DataFrame", options: Options) -> tuple[ModelColumns, ...]:
    """Each column of confidences with the answers it goes with; without answers, and two classes: probabilities."""
    taken = {column for _, column in options.columns()}
    free = [column for column in sample.columns if column not in taken]
    answers: dict[tuple[str, str], str] = {}
    for column in free:
        for stem, role in _parts(column, ANSWERS):
            answers.setdefault((stem, role), column)
        answers[column.lower(), ""] = column
    found: dict[str, ModelColumns] = {}
    for column in free:
        for stem, role in _parts(column, SURE):
            if stem in {name.lower() for name in found} or not _in_unit(sample[column]):
                continue
            name = _own_case(column, stem) or ALONE
            answer = next((answers[stem, role] for role in ("", *ANSWERS) if (stem, role) in answers), None)
            if answer is not None and answer != column:
                found[name] = ModelColumns(name, CLASS, answer, column)
            elif role not in ("confidence", "conf", "certainty") and _two_classes(sample[options.label or ""]):
                found[name] = ModelColumns(name, PROBABILITY, column, None)
    return tuple(found.values())


def _parts(column: str, roles: tuple[str, ...]) -> list[tuple[str, str]]:
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


def _own_case(column: str, stem: str) -> str:
    begin = column.lower().find(stem)
    return column[begin : begin + len(stem)]


def _in_unit(column: "pl.Series") -> bool:
    """Numbers in [0, 1], and some that are there."""
    import polars as pl

    if not (column.dtype.is_numeric() or column.dtype == pl.String):
        return False
    there = column.drop_nulls()
    if column.dtype == pl.String:
        there = there.filter(there != "")
    values = there.cast(pl.Float64, strict=False)
    return len(values) > 0 and values.null_count() == 0 and bool(values.fill_nan(0.5).is_between(0.0, 1.0).all())


def _two_classes(label: "pl.Series") -> bool:
    there = label.drop_nulls()
    return there.n_unique() == 2

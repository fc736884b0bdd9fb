"""What a column looks like, by its name and by what is in it."""

from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import InputError, shown
from .options import CLASS, PROBABILITY, ModelColumns, Options

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


def dropped(options: Options, sample: "pl.DataFrame") -> list[str]:
    """A line for each column that has the name of a confidence, and is not used."""
    used = {column for _, column in options.columns()}
    lines = []
    for column in sample.columns:
        if column in used or not parts(column, SURE):
            continue
        why = out_of_unit(sample[column])
        if why is None and parts(column, SURE)[0][0] in {model.name.lower() for model in options.models}:
            why = "its model has another"
        if why is None:
            why = "there is no column of answers with it, such as NAME or NAME_prediction"
            if options.label is not None and not two_classes(sample[options.label]):
                why += ", and labels are not two classes, as for a probability"
        lines.append(f"{column} is not taken for a confidence: {why}")
    return lines


def unused(options: Options, sample: "pl.DataFrame") -> list[str]:
    """All columns that are not read."""
    used = {column for _, column in options.columns()}
    return [column for column in sample.columns if column not in used]


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
                "--model: found no pair of columns such as gbm and gbm_confidence; name them by "
                "--model NAME=ANSWER:CONFIDENCE, --probability NAME=COLUMN or --value NAME=NUMBER:ERROR "
                f"({'; '.join([*dropped(options, sample), 'there are ' + ', '.join(sample.columns[:20])])})"
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
        for stem, role in parts(column, ANSWERS):
            answers.setdefault((stem, role), column)
        answers[column.lower(), ""] = column
    found: dict[str, ModelColumns] = {}
    for column in free:
        for stem, role in parts(column, SURE):
            if stem in {name.lower() for name in found} or out_of_unit(sample[column]) is not None:
                continue
            name = _own_case(column, stem) or ALONE
            answer = next((answers[stem, role] for role in ("", *ANSWERS) if (stem, role) in answers), None)
            if answer is not None and answer != column:
                found[name] = ModelColumns(name, CLASS, answer, column)
            elif role not in ("confidence", "conf", "certainty") and two_classes(sample[options.label or ""]):
                found[name] = ModelColumns(name, PROBABILITY, column, None)
    return tuple(found.values())


def _own_case(column: str, stem: str) -> str:
    begin = column.lower().find(stem)
    return column[begin : begin + len(stem)]

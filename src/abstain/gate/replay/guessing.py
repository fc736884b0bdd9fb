"""Finding the columns that nobody named: by their names, and by what is in them."""

from dataclasses import replace
from typing import TYPE_CHECKING

from ...errors import InputError
from .columns import CLASS, PROBABILITY, ModelColumns
from .looks import ANSWERS, SURE, out_of_unit, parts, two_classes
from .options import Options
from .unused import dropped

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

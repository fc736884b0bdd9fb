"""Columns that look like a model's and were not taken, and why."""

from typing import TYPE_CHECKING

from .looks import SURE, out_of_unit, parts, two_classes
from .options import Options

if TYPE_CHECKING:
    import polars as pl


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

"""The log of `abstain demo`: three models read handwritten digits; pictures get worse, and one model breaks for days.

The digits come with scikit-learn. They are drawn repeatedly with noise, so that no two pictures are the same. The
models are fitted on digits that the log does not have. Boosting sees all points of a picture, the others two thirds.
Only the noise and the calendar are made up.
"""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from .._core.files import replacing
from ..instances.models import CLASSES, answers
from ..typing import Bools, Floats

FIT = 600
"""Digits the models are fitted on."""
BLUR = 0.7
"""Noise in the pictures, in standard deviations of each point ..."""
WORSE = 1.0
"""... and so much in the end: from a third of the time on it slowly becomes more."""
START = datetime(2026, 3, 1)
DAYS = 30
BROKEN = (10.0, 15.0)
"""The days on which boosting is shown the pictures of other cases, and is as certain as ever ..."""
AWAY = (15.0, 16.0)
"""... and the day on which it is switched off and does not answer."""
LATE = timedelta(days=1, hours=12)
"""After this the truth is known."""
NAMES = ("logistic", "boosting", "bayes")
PLACES = 4
"""Of a confidence, in the file."""


def write(path: Path, rows: int = 20_000, seed: int = 0) -> Floats:
    """Write the log as CSV: time, label_time, label, and for each model its answer and its confidence.

    Args:
        path: The file.
        rows: How many cases it has.
        seed: The seed of the month.

    Returns:
        The pictures (rows, 64) that the models are shown.
    """
    from sklearn.datasets import load_digits

    rng = np.random.default_rng(seed)
    X, y = load_digits(return_X_y=True)
    order = rng.permutation(len(X))
    fit, drawn = order[:FIT], rng.choice(order[FIT:], rows)
    when = np.sort(rng.choice(DAYS * 86_400, rows, replace=False)) / 86_400
    shown = _blurred(rng, X[drawn], BLUR + (WORSE - BLUR) * np.clip(1.5 * when / DAYS - 0.5, 0.0, 1.0))
    seen = _blurred(rng, X[fit], np.full(FIT, BLUR))
    every = np.arange(X.shape[1])
    half = every[every % 3 > 0]
    said = answers(CLASSES, seen, y[fit], shown, (half, every, half), int(rng.integers(2**31)))
    broken = np.flatnonzero((when >= BROKEN[0]) & (when < BROKEN[1]))
    elsewhere, boosting = rng.permutation(broken), NAMES.index("boosting")
    for of_models in said:
        of_models[broken, boosting] = of_models[elsewhere, boosting]
    away = (when >= AWAY[0]) & (when < AWAY[1])
    _write(path, when, y[drawn].tolist(), said.predictions.tolist(), said.confidence, away)
    return shown


def _blurred(rng: np.random.Generator, X: Floats, blur: Floats) -> Floats:
    return np.asarray(X + blur[:, np.newaxis] * X.std(axis=0) * rng.standard_normal(X.shape))


def _write(
    path: Path, when: Floats, labels: list[int], predictions: list[list[int]], sure: Floats, away: Bools
) -> None:
    import polars as pl

    times = [START + timedelta(seconds=round(86_400 * day)) for day in when.tolist()]
    table: dict[str, list[Any]] = {"time": times, "label_time": [time + LATE for time in times], "label": labels}
    for m, name in enumerate(NAMES):
        missing = away if name == "boosting" else np.zeros_like(away)
        table[name] = [None if gone else row[m] for row, gone in zip(predictions, missing, strict=True)]
        table[f"{name}_confidence"] = [
            None if gone else round(one, PLACES) for one, gone in zip(sure[:, m].tolist(), missing, strict=True)
        ]
    with replacing(path) as stream:
        pl.DataFrame(table).write_csv(stream, datetime_format="%Y-%m-%d %H:%M:%S")

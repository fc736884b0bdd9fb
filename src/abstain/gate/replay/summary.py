"""From sums to what people read: the table's rows, curves over time, risk and coverage."""

import numpy as np

from ...typing import Array, Floats
from .bootstrap import intervals
from .naming import kind_of, name_of
from .outcome import ALL, GATE, HINDSIGHT, OWN, TUNED, Outcome
from .result import Curve, Policy, Timeline
from .rows import Rows

SHOWN_OVER_TIME = (GATE, TUNED, OWN, ALL, HINDSIGHT)


def policies(out: Outcome, models: list[str], seed: int, most_error: float | None = None) -> list[Policy]:
    """The table; differences are from tuned. With ``most_error`` thresholds are told as errors, too."""
    keys = list(out.policies)
    tuned = out.policies[TUNED]
    differences = np.array([out.policies[key].blocks - tuned.blocks for key in keys])
    low, high = intervals(differences, out.scored.sizes, seed)
    table = []
    for k, key in enumerate(keys):
        loss, reviewed, mistakes = out.policies[key].means
        name = name_of(key, models, out.tuned, out.hindsight, most_error)
        difference = float(differences[k].sum() / out.scored.sizes.sum())
        span = (None, None, None) if key == TUNED else (difference, float(low[k]), float(high[k]))
        table.append(Policy(kind_of(key), name, loss, reviewed, mistakes, *span))
    return table


def timeline(out: Outcome, rows: Rows, models: list[str], time_is_date: bool) -> Timeline:
    """What happened when. Where the gate was only taught, it has NaN."""
    sizes = out.over_time.sizes
    played = np.maximum(0, out.over_time.edges[1:] - np.maximum(out.over_time.edges[:-1], out.origin)).astype(
        np.float64
    )
    played[played == 0.0] = np.nan
    starts = out.over_time.edges[:-1].tolist()
    shares = {key: played if key == GATE else sizes for key in SHOWN_OVER_TIME}
    times = None
    if rows.has("time"):
        times = [_as_text(rows.read(start, start + 1).records["time"], time_is_date) for start in starts]
    return Timeline(
        [start + 1 for start in starts],
        times,
        {key: (out.policies[key].loss / size).tolist() for key, size in shares.items()},
        {key: (out.policies[key].reviewed / size).tolist() for key, size in shares.items()},
        {name: (out.followed[k] / played).tolist() for k, name in enumerate(models)},
        out.threshold.tolist(),
        {name: (out.answered[k] / sizes).tolist() for k, name in enumerate(models)},
    )


def days(out: Outcome, rows: Rows) -> float | None:
    """Between the first and the last scored row; None without times."""
    if not rows.has("time"):
        return None
    first, last = (int(rows.read(row, row + 1).records["time"][0]) for row in (out.first, rows.n - 1))
    return (last - first) / 86_400e6


def _as_text(time: Array, is_date: bool) -> str:
    if is_date:
        return str(time.astype("datetime64[us]").astype("datetime64[s]")[0]).replace("T", " ")
    return f"{time[0] / 1e6:.12g}"


def curves(out: Outcome, models: list[str]) -> list[Curve]:
    """For each model, the surest answers first: the share of rows answered, and the mean loss among them."""
    n = int(out.scored.sizes.sum())
    found = []
    for model, name in enumerate(models):
        count, lost = out.totals.answered(model)
        count, at = np.unique(count, return_index=True)
        risk: Floats = lost[at][count > 0] / count[count > 0]
        found.append(Curve(name, (count[count > 0] / n).tolist(), risk.tolist()))
    return found


def operating(out: Outcome, cost: float) -> tuple[float, float]:
    """The share of scored rows that the gate answered, and its mean loss among them."""
    loss, reviewed, _ = out.policies[GATE].means
    coverage = 1.0 - reviewed
    return coverage, max(0.0, loss - cost * reviewed) / coverage if coverage > 0.0 else 0.0

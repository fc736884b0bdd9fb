"""Small logs, and what every policy makes of them, the slow and plain way."""

import math

import numpy as np
import polars as pl

from abstain.replay.options import Options, model_columns

NAMES = ("gbm", "rules")
MODELS = tuple(model_columns("class", f"{name}={name}:{name}_confidence") for name in NAMES)


def small_log(n=1_300, seed=0, missing=0.05, classes=("a", "b", "c"), drift=True):
    """Two models, of which the first breaks half way."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, len(classes), n)
    columns = {"label": [classes[k] for k in truth]}
    for k, name in enumerate(NAMES):
        sure = rng.integers(20, 65, n) / 64  # many ties
        right = rng.random(n) < (sure if k else sure**0.5)
        if drift and k == 0:
            right[n // 2 :] &= rng.random(n - n // 2) < 0.5
        said = np.where(right, truth, (truth + rng.integers(1, len(classes), n)) % len(classes))
        gone = rng.random(n) < missing
        columns[name] = [None if g else classes[s] for s, g in zip(said, gone, strict=True)]
        columns[f"{name}_confidence"] = sure
    return pl.DataFrame(columns)


def options(**given):
    """One gate, for speed."""
    return Options(**{"models": MODELS, "label": "label", "cost": 0.25, "seeds": 1, **given})


def judged(frame):
    """Confidence (-inf where there is no answer) and loss of each model, row by row, for classes."""
    sure = [[row[f"{m}_confidence"] if row[m] is not None else -math.inf for m in NAMES] for row in frame.to_dicts()]
    lost = [[float(row[m] is not None and row[m] != row["label"]) for m in NAMES] for row in frame.to_dicts()]
    return sure, lost


def total(rows, sure, lost, cost, model, threshold):
    return sum(lost[t][model] if sure[t][model] > threshold else cost for t in rows)


def thresholds_of(values):
    """All of up to 200 values, else 200 of them by rank; always; never."""
    known = sorted(values)
    if len(known) > 200:
        known = [known[int(k)] for k in np.linspace(0, len(known) - 1, 200).round()]
    return [-math.inf, *known, math.inf]


def best_on(rows, sure, lost, cost, candidates=None):
    """The least total, the first model, the least threshold."""
    found = (math.inf, 0, -math.inf)
    for m in range(len(sure[0])):
        tried = thresholds_of([sure[t][m] for t in rows]) if candidates is None else candidates[m]
        for threshold in sorted(tried):
            value = total(rows, sure, lost, cost, m, threshold)
            if value < found[0] - 1e-9:
                found = (value, m, threshold)
    return found


def followed(sure, lost, cost, pairs):
    """Loss and whether reviewed, row by row."""
    reviewed = [not sure[t][m] > threshold for t, (m, threshold) in enumerate(pairs)]
    return [cost if r else lost[t][pairs[t][0]] for t, r in enumerate(reviewed)], reviewed


def retuned(sure, lost, cost, due, own, every=500, window=4_000):
    """The pair in use in each row."""
    n = len(sure)
    first = n // 10
    _, model, threshold = best_on(range(first), sure, lost, cost)
    pairs, reviewed = [], []
    for t in range(n):
        if t > first and (t - first) % every == 0:
            come = [s for s in range(t) if due[s] <= t][-window:]
            seen = [s for s in come if not own or s < first or not reviewed[s]]
            if seen:
                value, m, other = best_on(seen, sure, lost, cost)
                if value < total(seen, sure, lost, cost, model, threshold) - 1e-9 * len(seen):
                    model, threshold = m, other
        pairs.append((model, threshold))
        reviewed.append(not sure[t][model] > threshold)
    return pairs

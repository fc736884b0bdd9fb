"""Alarms without labels: how often models answer, agree and are certain, each against its own past.

A detector watches one signal in [0, 1] that should not rise: a model gives no answer, is less certain or more certain
than its past median, or two models disagree. A block of past signals gives b, an upper bound of their mean. From then
on the detector bets against b: three sums ``R <- (R + 1) (1 + s (z - b) / b)``, for shifts s of different sizes. While
the mean is at most b, the average of the sums grows by at most 1 per signal in expectation: it reaches a level A
within n signals with a probability of at most n / A. The proof and measurements are in docs/health.md.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError, shown
from ..kernels.compiling import inline, kernel
from ..typing import Array, Bools, Floats, Ints

QUIET = 1_000_000
"""In n quiet cases, all detectors of a gate together raise a false alarm with a probability of at most n / QUIET."""
FIRST, BLOCK = 250, 2_000
"""Signals in the first block of the past, and in later ones, each of which is twice as long as the one before."""
SHIFTS = (0.1, 0.3, 0.8)
"""What is bet on: the signal's mean is this part of the way from its bound to 1."""
WINDOW = 64
"""While an alarm is on, windows of so many signals say whether the behaviour is as before."""
PROBE = 20
"""In every so many-th case of an alarm the model takes part, so that labels can speak."""
SETTLE = 64
"""Labels are counted every so many cases, so that a table played at once gives the same bits."""
LABELS = 50
"""Labels of cases since the alarm that speak for the model, or do not."""
PAST_LABELS = 1_000
"""Labels that the mean loss of the past is about."""
RECENT = 100
"""Signals that "now" is about."""
BINS = 128
"""Bins of confidences: finer close to 1."""

SILENT, LOW, HIGH, APART = 1, 2, 4, 8
"""Kinds of alarms, as bits: fewer answers, less certain, more certain, less agreement with the others."""
KINDS = {SILENT: "answers less often", LOW: "is less certain", HIGH: "is more certain", APART: "agrees less"}
MUTES = APART | HIGH | LOW
"""Alarms that keep a model from being followed, if the gate was made with ``on_alarm="review"``."""

# Columns of a detector.
_N, _SUM, _GOAL, MEAN, BOUND, _R, _LATCHED, _WINDOW_N, _WINDOW_SUM, _NOW, _NOW_N = 0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12
_COLUMNS = 13
# Columns of a model.
_BLOCK_N, _BLOCK_SUM, _BLOCK_GOAL, _SURE, _MIDDLE, _SURE_NOW, _SURE_NOW_N, ALARM, _COUNT, START, CLEARED = range(11)
LOSS_N, LOSS, IN_N, IN_SUM, _BORN = range(11, 16)
_MODEL_COLUMNS = 16


@inline
def _upper(mean: float, n: float, log: float) -> float:
    """The largest mean b with ``n kl(mean, b) <= log``: that of i.i.d. signals is above it with probability e^-log."""
    low, high = mean, 1.0
    for _ in range(50):
        b = 0.5 * (low + high)
        kl = 0.0
        if mean > 0.0:
            kl += mean * math.log(mean / b)
        if mean < 1.0:
            kl += (1.0 - mean) * math.log((1.0 - mean) / (1.0 - b))
        if n * kl > log:
            high = b
        else:
            low = b
    return high


@inline
def _remember(z: float, now: int, row: Floats) -> None:
    """Update a mean of the last signals, and how many it is about, in the columns ``now`` and ``now + 1``."""
    row[now + 1] = min(row[now + 1] + 1.0, float(RECENT))
    row[now] += (z - row[now]) / row[now + 1]


@inline
def _bet(z: float, level: float, row: Floats) -> bool:
    """Bet on a signal, or look whether the behaviour is back; say whether the signal may count as past."""
    _remember(z, _NOW, row)
    bound = row[BOUND]
    if row[_LATCHED] > 0.0:
        row[_WINDOW_N] += 1.0
        row[_WINDOW_SUM] += z
        if row[_WINDOW_N] >= WINDOW:
            if row[_WINDOW_SUM] <= bound * WINDOW:
                row[_LATCHED] = 0.0
            row[_WINDOW_N] = row[_WINDOW_SUM] = 0.0
        return False
    if bound < 0.999:  # not if there is no past yet: NaN
        total = 0.0
        for k in range(3):
            grown = (row[_R + k] + 1.0) * (1.0 + SHIFTS[k] * (z - bound) / bound)
            row[_R + k] = grown
            total += grown
        if total >= 3.0 * level:
            row[_LATCHED] = 1.0
            row[_R] = row[_R + 1] = row[_R + 2] = 0.0
            row[_N] = row[_SUM] = 0.0
            return False
    return True


@inline
def _watch(z: float, level: float, row: Floats) -> None:
    """Bet on a signal, and count it as past."""
    if _bet(z, level, row):
        row[_N] += 1.0
        row[_SUM] += z
        if row[_N] >= row[_GOAL]:
            n = row[_N]
            row[MEAN] = row[_SUM] / n
            row[BOUND] = _upper(row[MEAN], n, math.log(level / n))
            row[_GOAL] = min(2.0 * n, float(BLOCK))
            row[_N] = row[_SUM] = 0.0


@inline
def _bin(sure: float) -> int:
    return min(BINS - 1, int(-0.25 * BINS * math.log10(1.0 - sure + 1e-4)))


@inline
def _watch_confidence(sure: float, level: float, low: Floats, high: Floats, counts: Floats, model: Floats) -> None:
    """Bet on whether a confidence is below, or above, the median of the past, and count it."""
    _remember(sure, _SURE_NOW, model)
    place = _bin(sure)
    free_low = _bet(1.0 if place < model[_MIDDLE] else 0.0, level, low)
    free_high = _bet(1.0 if place > model[_MIDDLE] else 0.0, level, high)
    if not (free_low and free_high):
        if model[_BLOCK_N] > 0.0:
            counts[:] = 0.0
            model[_BLOCK_N] = model[_BLOCK_SUM] = 0.0
        return
    counts[place] += 1.0
    model[_BLOCK_N] += 1.0
    model[_BLOCK_SUM] += sure
    n = model[_BLOCK_N]
    if n >= model[_BLOCK_GOAL]:
        below, middle = 0.0, 0
        while 2.0 * (below + counts[middle]) < n:
            below += counts[middle]
            middle += 1
        above = n - below - counts[middle]
        margin = math.sqrt(math.log(level / n) / (2.0 * n))  # for all bins at once: the median is one of the data
        low[MEAN], high[MEAN] = below / n, above / n
        low[BOUND], high[BOUND] = below / n + margin, above / n + margin
        model[_SURE], model[_MIDDLE] = model[_BLOCK_SUM] / n, float(middle)
        model[_BLOCK_GOAL] = min(2.0 * n, float(BLOCK))
        counts[:] = 0.0
        model[_BLOCK_N] = model[_BLOCK_SUM] = 0.0


@kernel
def watch(
    sure: Floats,
    said: Floats,
    scale: float,
    first: int,
    detectors: Floats,
    counts: Floats,
    models: Floats,
    muted: Bools,
) -> bool:
    """Watch cases, and say whether a model is in alarm afterwards.

    ``sure`` (n, P) are confidences (NaN: no answer), ``said`` (n, P) numbers of answers (NaN: unknown). With a
    ``scale`` answers are numbers, and disagree by their difference over the scale. ``first`` cases came before.
    ``muted`` (n, P) is filled with the models that are out of the way in each case, by the cases before it.
    """
    n_models = sure.shape[1]
    level = 2.0 * QUIET * detectors.shape[0]
    for t in range(sure.shape[0]):
        for m in range(n_models):
            out = (int(models[m, ALARM]) & MUTES) > 0
            muted[t, m] = out and models[m, _COUNT] % PROBE != PROBE - 1
        pair = 3 * n_models
        for m in range(n_models):
            silent = math.isnan(sure[t, m])
            _watch(1.0 if silent else 0.0, level, detectors[3 * m])
            if not silent:
                low, high = detectors[3 * m + 1], detectors[3 * m + 2]
                _watch_confidence(sure[t, m], level, low, high, counts[m], models[m])
            for other in range(m + 1, n_models):
                if not (math.isnan(said[t, m]) or math.isnan(said[t, other])):
                    apart = abs(said[t, m] - said[t, other])
                    if scale > 0.0:
                        apart = apart / scale
                    _watch(min(1.0, apart), level, detectors[pair])
                pair += 1
        for m in range(n_models):
            _judge(m, n_models, first + t + 1, detectors, models)
    loud = False
    for m in range(n_models):
        loud = loud or models[m, ALARM] > 0.0
    return loud


@inline
def _judge(m: int, n_models: int, case: int, detectors: Floats, models: Floats) -> None:
    """Say which alarms of a model are on: of agreement, if more than half of its pairs with others disagree more.

    A pair does not speak against a model whose confidence is as before if that of the other model is not.
    """
    live = latched = against = 0
    usual = detectors[3 * m + 1, _LATCHED] + detectors[3 * m + 2, _LATCHED] == 0.0
    pair = 3 * n_models
    for one in range(n_models):
        for other in range(one + 1, n_models):
            if one == m or other == m:
                partner = other if one == m else one
                if not math.isnan(detectors[pair, BOUND]) and detectors[3 * partner, _LATCHED] == 0.0:
                    live += 1
                    latched += int(detectors[pair, _LATCHED])
                    odd = detectors[3 * partner + 1, _LATCHED] + detectors[3 * partner + 2, _LATCHED] > 0.0
                    if not (usual and odd):
                        against += int(detectors[pair, _LATCHED])
            pair += 1
    kinds = 0
    for k in range(3):
        if detectors[3 * m + k, _LATCHED] > 0.0:
            kinds += 1 << k
    if latched == 0:
        models[m, CLEARED] = 0.0
    if 2 * against > live and models[m, CLEARED] == 0.0:
        kinds += APART
    if kinds > 0 and models[m, ALARM] == 0.0:
        models[m, START], models[m, _COUNT] = float(case), 0.0
        models[m, IN_N] = models[m, IN_SUM] = 0.0
    elif kinds > 0:
        models[m, _COUNT] += 1.0
    models[m, ALARM] = float(kinds)


@kernel
def count_labels(cases: Floats, losses: Floats, models: Floats) -> None:
    """Count the losses (n, P) of cases whose labels came: those since an alarm apart from those of the past."""
    for i in range(cases.size):
        for m in range(models.shape[0]):
            row, loss = models[m], losses[i, m]
            if math.isnan(loss) or cases[i] <= row[_BORN]:
                continue
            if row[ALARM] > 0.0 and cases[i] > row[START]:
                row[IN_N] += 1.0
                row[IN_SUM] += loss
            else:
                row[LOSS_N] = min(row[LOSS_N] + 1.0, float(PAST_LABELS))
                row[LOSS] += (loss - row[LOSS]) / row[LOSS_N]


def _pairs(n_models: int) -> list[tuple[int, int]]:
    """The pairs of models, in the order of their detectors."""
    return [(one, other) for one in range(n_models) for other in range(one + 1, n_models)]


class Watch:
    """All detectors of a gate.

    Args:
        n_models: How many models there are.
        scale: For numbers, the error that counts as a whole mistake; 0 for classes.
    """

    def __init__(self, n_models: int, scale: float = 0.0) -> None:
        self.scale = float(scale)
        self.cases = 0
        self.detectors = np.zeros((3 * n_models + len(_pairs(n_models)), _COLUMNS))
        self.counts = np.zeros((n_models, BINS))
        self.models = np.zeros((n_models, _MODEL_COLUMNS))
        self._heard: list[tuple[int, list[float]]] = []
        """The numbers of cases and the losses of all models (NaN: no answer) of labels that are not counted yet."""
        for row in self.detectors:
            _restart(row)
        for row in self.models:
            _restart_model(row)
        self.muted: list[bool] = [False] * n_models
        """Which models are out of the way in the coming case, if alarms lead to reviews."""
        self.any = False
        """Whether any model is in alarm."""
        self._room = np.empty((1, n_models)), np.empty((1, n_models)), np.empty((1, n_models), np.bool_)

    def add(self, sure: Sequence[float], said: Sequence[float]) -> None:
        """Watch a case: confidences, and numbers of answers; NaN where there is none."""
        of_case = self._room
        of_case[0][0], of_case[1][0] = sure, said
        self._add(*of_case)
        self.settle(self.cases)

    def add_all(self, sure: Floats, said: Floats) -> Bools:
        """Watch some of the `coming` cases (n, P), and return which models are muted in each; `settle` follows."""
        muted = np.empty(sure.shape, np.bool_)
        self._add(sure, said, muted)
        return muted

    @property
    def coming(self) -> int:
        """How many cases come before labels are counted."""
        return SETTLE - self.cases % SETTLE

    def _add(self, sure: Floats, said: Floats, muted: Bools) -> None:
        loud = watch(sure, said, self.scale, self.cases, self.detectors, self.counts, self.models, muted)
        self.cases += len(sure)
        if loud or self.any:
            self._look()

    def learn(self, sure: Floats, said: Floats) -> None:
        """Take cases of a log for the past; they are not counted, and raise no alarm."""
        room = np.empty(sure.shape, np.bool_)
        watch(sure, said, self.scale, 0, self.detectors, self.counts, self.models, room)
        for row in self.detectors[self.detectors[:, _LATCHED] > 0.0]:
            _restart(row)
        self.detectors[:, [_R, _R + 1, _R + 2, _LATCHED]] = 0.0
        self.models[:, [ALARM, _COUNT, START, CLEARED]] = 0.0

    def _look(self) -> None:
        alarm = self.models[:, ALARM]
        self.any = bool(alarm.any())
        if self.any:
            loud = (alarm.astype(np.int64) & MUTES) > 0
            self.muted = (loud & (self.models[:, _COUNT] % PROBE != PROBE - 1)).tolist()
        else:
            self.muted = [False] * len(alarm)

    def hear(self, case: int, losses: list[float]) -> None:
        """Keep the losses of all models (NaN: no answer) in a case whose label came, until they are counted."""
        self._heard.append((case, losses))

    def hear_all(self, cases: Ints, losses: Floats) -> None:
        """Keep the losses (n, P) of some cases, as `hear` does those of one."""
        self._heard += zip(cases.tolist(), losses.tolist(), strict=True)

    def forget_losses(self) -> None:
        """Forget what models lost, because mistakes cost something else from now on."""
        self._heard.clear()
        self.models[:, [LOSS_N, LOSS, IN_N, IN_SUM]] = 0.0

    def born(self, m: int) -> int:
        """Return how many cases came before a model did."""
        return int(self.models.item(m, _BORN))

    def settle(self, cases: int) -> None:
        """Count the labels that came, and end alarms of models for which they speak; nothing between due times."""
        if cases % SETTLE > 0 or not self._heard:
            return
        of, losses = zip(*self._heard, strict=True)
        count_labels(np.array(of, np.float64), np.array(losses), self.models)
        self._heard.clear()
        for m, row in enumerate(self.models):
            if row[ALARM] > 0.0 and row[IN_N] >= LABELS and self._as_good(row):
                self._clear(m)
        self._look()

    @staticmethod
    def _as_good(row: Floats) -> bool:
        """Say whether a model loses no more since its alarm than before; if little is known of before, it does not."""
        past, now = row[LOSS], row[IN_SUM] / row[IN_N]
        return bool(row[LOSS_N] < LABELS or now <= past + 2.0 * math.sqrt(past * (1.0 - past) / row[IN_N]))

    def _clear(self, m: int) -> None:
        """End the alarm of a model. What it does now is its past from now on."""
        row, rows = self.models[m], self.detectors
        if rows[3 * m, _LATCHED] > 0.0:
            _restart(rows[3 * m])
        if rows[3 * m + 1, _LATCHED] > 0.0 or rows[3 * m + 2, _LATCHED] > 0.0:
            _restart(rows[3 * m + 1])
            _restart(rows[3 * m + 2])
            _restart_confidence(row)
            self.counts[m] = 0.0
        row[CLEARED], row[ALARM] = 1.0, 0.0
        for k, pair in enumerate(_pairs(len(self.models)), 3 * len(self.models)):
            others_in_alarm = any(int(self.models[one, ALARM]) & APART for one in pair)
            if m in pair and rows[k, _LATCHED] > 0.0 and not others_in_alarm:
                _restart(rows[k])

    # What a person is shown.

    def now_and_past(self, m: int) -> dict[str, tuple[float, float]]:
        """Return, for a model, its share of answers, its agreement and its mean confidence: now, and in its past."""
        rows, model, n = self.detectors, self.models[m], len(self.models)
        mine = rows[3 * n :][[m in pair for pair in _pairs(n)]] if n > 1 else rows[:0]
        seen = mine[mine[:, _NOW_N] > 0.0]
        return {
            "answers": (1.0 - rows[3 * m, _NOW] if rows[3 * m, _NOW_N] > 0 else math.nan, 1.0 - rows[3 * m, MEAN]),
            "agreement": (
                1.0 - float(seen[:, _NOW].mean()) if len(seen) > 0 else math.nan,
                1.0 - float(seen[:, MEAN].mean()) if len(seen) > 0 else math.nan,
            ),
            "confidence": (model[_SURE_NOW] if model[_SURE_NOW_N] > 0 else math.nan, model[_SURE]),
        }

    def loss(self, m: int) -> tuple[int, float | None]:
        """Return how many labels the mean loss of a model is about, and that loss; those of an alarm are left out."""
        n, loss = self.models[m, LOSS_N], self.models[m, LOSS]
        return int(n), float(loss) if n > 0 else None

    # Other models, copies, files.

    def rearranged(self, model_from: Sequence[int]) -> Watch:
        """Return the detectors for other models, by the numbers they had; -1 for a new one, which starts afresh."""
        other = Watch(len(model_from), self.scale)
        other.cases = self.cases
        before = {pair: k for k, pair in enumerate(_pairs(len(self.models)), 3 * len(self.models))}
        for m, old in enumerate(model_from):
            if old >= 0:
                other.models[m], other.counts[m] = self.models[old], self.counts[old]
                other.detectors[3 * m : 3 * m + 3] = self.detectors[3 * old : 3 * old + 3]
            else:
                other.models[m, _BORN] = self.cases
        for k, (one, two) in enumerate(_pairs(len(model_from)), 3 * len(model_from)):
            old_pair = tuple(sorted((model_from[one], model_from[two])))
            if old_pair in before:
                other.detectors[k] = self.detectors[before[old_pair]]
        other._heard = [
            (case, [math.nan if old < 0 else losses[old] for old in model_from]) for case, losses in self._heard
        ]
        other._look()
        return other

    def copy(self) -> Watch:
        """Copy it."""
        return copy.deepcopy(self)

    def to_file(self) -> tuple[int, dict[str, Array]]:
        """Describe it as a number and arrays."""
        heard = np.array([losses for _, losses in self._heard]).reshape(-1, len(self.models))
        arrays = {name: getattr(self, name).copy() for name in ("detectors", "counts", "models")} | {"heard": heard}
        return self.cases, {**arrays, "cases": np.array([case for case, _ in self._heard], np.int64)}

    @classmethod
    def from_file(cls, n_models: int, scale: float, cases: Any, arrays: dict[str, Array]) -> Watch:
        """Read what `to_file` wrote; raise a `ValueError` if it cannot be that of so many models."""
        made = cls(n_models, scale)
        if type(cases) is not int or cases < 0:
            raise InputError(f"health: expected a number of cases, got {shown(cases)}")
        made.cases = cases
        may_be_missing = {"detectors": [MEAN, BOUND], "counts": [], "models": [_SURE, _MIDDLE]}
        for name, columns in may_be_missing.items():
            own, given = getattr(made, name), arrays[name]
            rest = np.delete(given, columns, axis=1) if given.shape == own.shape else None
            if given.dtype != np.float64 or rest is None or not ((rest >= 0.0) & (rest < 1e18)).all():
                raise InputError(f"health: expected {name} of shape {own.shape}, got {shown(given)}")
            if not (np.isnan(given[:, columns]) | ((given[:, columns] >= 0.0) & (given[:, columns] <= BINS))).all():
                raise InputError(f"health: expected {name} in range, got {shown(given)}")
            own[:] = given
        if not ((made.detectors[:, _GOAL] >= FIRST) & (made.models[:, ALARM, np.newaxis].max() < 16)).all():
            goal, alarm = made.detectors[:, _GOAL].min(), made.models[:, ALARM].max()
            raise InputError(
                f"health: expected blocks of {FIRST} cases or more, and kinds of alarms below 16, got {goal:g} and "
                f"{alarm:g}"
            )
        heard, of = arrays["heard"], arrays["cases"]
        if heard.shape != (len(of), n_models) or heard.dtype != np.float64 or of.dtype != np.int64:
            raise InputError(f"health: expected losses of {n_models} models, got {shown(heard)}")
        if not (np.isnan(heard) | ((heard >= 0.0) & (heard <= 1.0))).all():
            raise InputError(f"health: expected losses in [0, 1], got {shown(heard)}")
        made._heard = list(zip(of.tolist(), heard.tolist(), strict=True))
        made._look()
        return made


def _restart(row: Floats) -> None:
    """Begin a detector anew: without a past. What is shown of now stays."""
    now = row[_NOW], row[_NOW_N]
    row[:] = 0.0
    row[_GOAL], row[MEAN], row[BOUND] = FIRST, math.nan, math.nan
    row[_NOW], row[_NOW_N] = now


def _restart_confidence(row: Floats) -> None:
    row[_BLOCK_N] = row[_BLOCK_SUM] = 0.0
    row[_BLOCK_GOAL], row[_SURE], row[_MIDDLE] = FIRST, math.nan, math.nan


def _restart_model(row: Floats) -> None:
    row[:] = 0.0
    _restart_confidence(row)

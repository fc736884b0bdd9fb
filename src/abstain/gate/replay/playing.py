"""The gate and what people do without one, on the same rows, in one pass."""

from dataclasses import dataclass, field

import numpy as np

from ...alternatives.retuning import Retuning
from ...alternatives.rounds import Rounds
from ...alternatives.totals import Totals
from ...alternatives.tuning import best, sums
from ...typing import Floats, Ints
from ..gate import Gate
from ..playing import PlayedCases
from .cases import Cases
from .preparing import Progress
from .rows import Rows, Slice
from .sums import Cuts, PolicySums, blocks, pieces

GATE, TUNED, OWN, ALL, HINDSIGHT, REVIEW, ALWAYS = (
    "gate", "tuned", "retuned-own", "retuned-all", "hindsight", "review", "always"
)  # fmt: skip


@dataclass
class Outcome:
    """What came out, in sums."""

    first: int
    origin: int
    """The first scored row, and the first row that the gate played."""
    over_time: Cuts
    scored: Cuts
    policies: dict[str, PolicySums]
    """By kind, and "always NAME"."""
    totals: Totals
    """Of the gate's thresholds and those tuned, on the scored rows."""
    tuned: tuple[int, float]
    hindsight: tuple[int, float]
    by_class: Ints
    """Scored rows of each class, mistakes of the gate, mistakes of tuned."""
    followed: Floats
    answered: Floats
    """By model, over time: cases in which the gate followed it, rows in which it had an answer."""
    threshold: Floats
    """The median, over time; NaN where the gate did not play."""
    counts: dict[str, int] = field(default_factory=dict)
    """Cases of the gate on all rows it played: reviewed, forced, explored, and without any answer."""


def play(rows: Rows, gate: Gate, *, tenth: int, warm: int, delay: int, mistake: float, n_classes: int, cases: Cases,
         progress: Progress) -> Outcome:  # fmt: skip
    """Play all rows; the gate is taught the first ``warm`` of them, and thresholds are tuned on the first ``tenth``."""
    names, first = list(gate.models), max(tenth, warm)
    labelled = rows.read(0, tenth).rounds()
    thresholds = [np.union1d(sums(labelled, model)[0], gate.levels[model]) for model in range(len(names))]
    over_time, scored = pieces(rows.n), blocks(first, rows.n)
    kinds = [*(f"{ALWAYS} {name}" for name in names), GATE, TUNED, OWN, ALL, HINDSIGHT, REVIEW]
    model, threshold, _ = best(labelled)
    out = Outcome(
        first, warm, over_time, scored, {kind: PolicySums(over_time, scored, mistake) for kind in kinds},
        Totals(thresholds), (model, threshold), (model, threshold), np.zeros((n_classes, 3), np.int64),
        np.zeros((len(names), over_time.n)), np.zeros((len(names), over_time.n)), np.full(over_time.n, np.nan),
        dict.fromkeys(("reviewed", "forced", "explored", "unanswered"), 0),
    )  # fmt: skip
    own, everything = Retuning(labelled), Retuning(labelled, own=False)
    del labelled
    medians = Medians(over_time, out.threshold)
    _teach(gate, rows, warm)
    later = "due" in (rows.dtype.names or ())
    with gate.playing(delay, later) as decide:
        for part in rows.slices():
            rounds, due = part.rounds(), part.due(delay)
            for name, k in zip(names, range(len(names)), strict=True):
                missing = part.missing[:, k]
                loss = np.where(missing, rounds.cost, rounds.losses[:, k])
                out.policies[f"{ALWAYS} {name}"].add(part.begin, loss, missing)
                over_time.add(out.answered[k], ~missing, part.begin)
            out.policies[REVIEW].add(part.begin, rounds.cost, np.ones(part.n, np.bool_))
            for kind, policy in ((OWN, own), (ALL, everything)):
                retuned = policy.play(rounds, due)
                out.policies[kind].add(part.begin, retuned.loss, retuned.abstained)
            tuned_wrong = _fixed(out.policies[TUNED], part, rounds, model, threshold)
            begin = max(0, min(part.n, first - part.begin))
            out.totals.add(Rounds(*(one[begin:] for one in rounds)))
            skip = max(0, min(part.n, warm - part.begin))
            wrong = np.zeros(part.n, np.bool_)
            if skip < part.n:
                rest = rows.read(part.begin + skip, part.begin + part.n) if skip else part
                played = decide(rest.block(warm))
                wrong[skip:] = _count(out, rest, played, len(names))
                medians.add(
                    rest.begin,
                    np.clip(np.where(played.level == gate.levels.shape[1] - 1, 1.0, played.threshold), 0.0, 1.0),
                )
                cases.add(rest.records["row"], played)
            for column, which in enumerate((np.ones(part.n, np.bool_), wrong, tuned_wrong)):
                classes = part.records["class"][begin:][which[begin:]]
                out.by_class[:, column] += np.bincount(classes, minlength=n_classes)
            progress("playing", part.begin + part.n, rows.n)
    medians.close()
    _look_back(out, rows)
    return out


def _teach(gate: Gate, rows: Rows, warm: int) -> None:
    for part in rows.slices():
        if part.begin >= warm:
            return
        gate.teach(rows.read(part.begin, min(warm, part.begin + part.n)).block(0))


def _count(
    out: Outcome, part: Slice, played: PlayedCases, n_models: int
) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Count what the gate did; its mistakes."""
    for k in range(n_models):
        out.over_time.add(out.followed[k], played.model == k, part.begin)
    counts = {
        "reviewed": played.reviewed,
        "forced": played.forced,
        "unanswered": part.missing.all(axis=1),
        "explored": played.explored,
    }
    for name, which in counts.items():
        out.counts[name] += int(which.sum())
    return out.policies[GATE].add(part.begin, played.loss, played.reviewed)


def _fixed(
    policy: PolicySums, part: Slice, rounds: Rounds, model: int, threshold: float
) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    silent = rounds.confidence[:, model] <= threshold
    return policy.add(part.begin, np.where(silent, rounds.cost, rounds.losses[:, model]), silent)


def _look_back(out: Outcome, rows: Rows) -> None:
    """The best afterwards; tuned itself, unless another is better by more than sums in another order differ."""
    model, threshold, total = out.totals.best()
    if total < out.policies[TUNED].blocks.sum() - 1e-9 * out.scored.sizes.sum():
        out.hindsight = (model, threshold)
    for part in rows.slices():
        _fixed(out.policies[HINDSIGHT], part, part.rounds(), *out.hindsight)


class Medians:
    """The median of each stretch, for values that come in order."""

    def __init__(self, cuts: Cuts, medians: Floats) -> None:
        self._cuts, self._medians = cuts, medians
        self._piece, self._open = -1, []  # type: int, list[Floats]

    def add(self, begin: int, values: Floats) -> None:
        """The next values."""
        edges = self._cuts.edges
        inside = edges[(edges > begin) & (edges < begin + len(values))]
        for part in np.split(values, inside - begin):
            piece = int(np.searchsorted(edges, begin, side="right")) - 1
            if piece != self._piece:
                self.close()
                self._piece = piece
            self._open.append(part)
            begin += len(part)

    def close(self) -> None:
        """The stretch that was open is whole."""
        if self._open:
            self._medians[self._piece] = np.median(np.concatenate(self._open))
        self._open = []

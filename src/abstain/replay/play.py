"""Playing a log: the gate and its alternatives, row by row, and the sums of their costs over stretches of rows."""

import inspect
import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import learners
from .._core import parts
from ..alternatives.renewed import Bucket, Retuning
from ..alternatives.stack import Stacking
from ..alternatives.thresholds import Totals, best, first_tenth, sums
from ..capacity import DAY, Capacity
from ..errors import InputError, shown
from ..gate.frames import PlayedCases
from ..gate.gate import Gate
from ..gate.prices import PerStake
from ..typing import Array, Bools, Floats, Ints
from .classes import Classes
from .options import COST, FIXED_PRICE, Options
from .rows import Paid, Progress, Rows, Slice

if TYPE_CHECKING:
    import polars as pl

COMPILING = "compiling, once for each kind of use"
"""The step before the first slice is played; short, if the compiled code is in the cache."""
GATE, TUNED, OWN, ALL, HINDSIGHT, REVIEW, ALWAYS, STACK, TODAY, DECIDED = (
    "gate", "tuned", "retuned-own", "retuned-all", "hindsight", "review", "always", "stack", "today", "decided"
)  # fmt: skip
KEPT = (OWN, ALL, STACK, TUNED)
RIVALS = (TUNED, OWN, STACK)
"""What people could do instead; the verdict's policy is compared with each."""
TO_COME = "to_come"
APART = 1_000_003
CUTOFFS = (0.0, 1 / 8, 1 / 2, 2.0, math.inf)
"""Rows whose largest possible term is above a cutoff count by their bounds, not by estimates. They are in units of the
price of a review times the square root of the number of scored rows, which no label moves.
"""
COUNTED = ("reviewed", "over_capacity", "explored", "unanswered")


def make_gate(
    options: Options, pair: tuple[Any, Any] | None, max_stake: float, classes: "Classes | None" = None, number: int = 0
) -> Gate:
    """Make the gate that the options ask for, with its own seed; ``pair`` are the classes, if there are two."""
    # Not the seed of the gate that wrote the log: the same draws would know which labels were seen.
    seed = options.seed + number + (0 if options.decided is None else APART)
    settings: dict[str, Any] = {"task": options.found_task, "labels": options.labels, "seed": seed}
    if options.review_price is None:
        settings["cost"] = COST if options.cost is None else options.cost
    else:
        settings["review_price"] = options.review_price
        if options.mistake_column is None:
            settings["mistake_price"] = options.mistake_price
        else:
            settings["max_stake"] = max_stake
            if options.review_price > max_stake:
                raise InputError(
                    f"--review-price: expected at most {max_stake:g}, the largest price in column "
                    f"{options.mistake_column}, got {options.review_price:g}: everything should be answered"
                )
        if options.fixed_prices:
            assert classes is not None
            rest = PerStake(1.0) if options.mistake_column is not None else options.mistake_price
            kinds = {
                (classes.find(said, FIXED_PRICE), classes.find(true, FIXED_PRICE)): price
                for said, true, price in options.fixed_prices
            }
            settings["mistake_price"] = {**kinds, "other": rest}
    if pair is not None:
        settings["classes"] = pair
    if options.max_error is not None:
        settings["max_error"] = options.max_error
    if options.limit is not None:
        settings["capacity"] = options.limit
    if options.maturity is not None:
        settings["maturity"] = options.maturity
    if options.start is not None:
        settings["start"] = options.start
    if options.learner is not None:
        settings["learner"] = _learner(options.learner)
    if options.combine:
        settings["combine"] = True
    try:
        return Gate([model.name for model in options.models], **settings)
    except TypeError as error:  # an option of the gate that the learner does not have
        raise InputError(f"--learner: {options.learner} cannot do what is asked for ({error})") from None


def _learner(name: str) -> Any:
    """A learner by the name of its class, or by ``module:Class``, looked for in the current folder first."""
    if parts.is_path(name):
        try:
            return parts.take_class(name, str(Path.cwd()), learners.Learner, "a learner")
        except InputError as error:
            raise InputError(f"--learner: {str(error).removeprefix('kind: ')}") from None
    known = {  # supervised learners need labels that a gate never gets
        one: kind
        for one in learners.__all__
        if inspect.isclass(kind := getattr(learners, one))
        and issubclass(kind, learners.KernelLearner)
        and not inspect.isabstract(kind)
        and not kind.supervised
    }
    for one, kind in known.items():
        if one.lower() == name.lower():
            return kind
    raise InputError(f"--learner: expected one of {', '.join(known)}, or module:Class, got {shown(name)}")


MOST_PIECES = 200
"""Points of a curve over time."""


class Cuts:
    """Stretches of rows: stretch k has the rows from ``edges[k]`` to before ``edges[k + 1]``."""

    def __init__(self, edges: Ints) -> None:
        self.edges = edges
        self.n = len(edges) - 1
        self.sizes = np.diff(edges)

    def add(self, sums: Floats, values: Array, begin: int) -> None:
        """Add the values of rows from ``begin`` on to the sums of their stretches; rows outside are ignored."""
        low, high = max(begin, int(self.edges[0])), min(begin + len(values), int(self.edges[-1]))
        if low >= high:
            return
        first, last = np.searchsorted(self.edges, [low, high - 1], side="right") - 1
        starts = np.maximum(self.edges[first : last + 1], low) - low
        sums[first : last + 1] += np.add.reduceat(values[low - begin : high - begin], starts, dtype=np.float64)


def pieces(n: int) -> Cuts:
    """All rows, for curves over time."""
    k = min(n, MOST_PIECES)
    return Cuts(np.arange(k + 1) * n // k)


def blocks(first: int, n: int) -> Cuts:
    """The scored rows in about sqrt(n) blocks of sqrt(n) rows; the last may be shorter."""
    length = math.isqrt(n - first - 1) + 1
    return Cuts(np.append(np.arange(first, n, length), n))


class PolicySums:
    """Losses, reviews and mistakes of a policy: over time, and in the blocks of the scored rows."""

    def __init__(self, over_time: Cuts, scored: Cuts) -> None:
        self._over_time, self._scored = over_time, scored
        self.loss, self.reviewed = np.zeros(over_time.n), np.zeros(over_time.n)
        self.blocks, self.hidden, self._reviewed, self._mistakes, self._open = (np.zeros(scored.n) for _ in range(5))
        """``blocks`` has the least losses there can be, ``hidden`` what labels that are not there may add."""

    def add(
        self, begin: int, loss: Floats, reviewed: Bools, wrong: Array, hidden: Floats | None,
        unseen: Floats | None = None,
    ) -> None:  # fmt: skip
        """Add rows from ``begin`` on; ``wrong`` are mistakes, ``hidden`` what they may lose beside ``loss``, and
        ``unseen`` what may be mistakes beside ``wrong``.
        """
        self._over_time.add(self.loss, loss if hidden is None else loss + hidden / 2, begin)
        self._over_time.add(self.reviewed, reviewed, begin)
        self._scored.add(self.blocks, loss, begin)
        self._scored.add(self._reviewed, reviewed, begin)
        self._scored.add(self._mistakes, wrong, begin)
        if hidden is not None:
            self._scored.add(self.hidden, hidden, begin)
        if unseen is not None:
            self._scored.add(self._open, unseen, begin)

    @property
    def unseen(self) -> float:
        """The share of the scored rows that may be mistakes, beside those that are."""
        return float(self._open.sum() / self._scored.sizes.sum())

    @property
    def means(self) -> tuple[float, float, float]:
        """Least mean loss, share reviewed and share of mistakes of the scored rows."""
        n = self._scored.sizes.sum()
        return tuple(float(part.sum() / n) for part in (self.blocks, self._reviewed, self._mistakes))  # type: ignore[return-value]

    @classmethod
    def mean_of(cls, several: "Sequence[PolicySums]") -> "PolicySums":
        """The means of several runs of a policy."""
        found = cls(several[0]._over_time, several[0]._scored)
        for name in ("loss", "reviewed", "blocks", "hidden", "_reviewed", "_mistakes", "_open"):
            setattr(found, name, np.mean([getattr(one, name) for one in several], axis=0))
        return found


@dataclass
class Outcome:
    """The result of a game, in sums."""

    first: int
    origin: int
    """The first scored row, and the first row that the gate played."""
    over_time: Cuts
    scored: Cuts
    policies: dict[str, PolicySums]
    """By kind; "always NAME" for a single model."""
    runs: list[PolicySums]
    """Those of each gate; "gate" has their means."""
    open_pairs: dict[tuple[str, str], Floats]
    """By two policies: how far missing labels may move their difference, down and up, for every cutoff, in each run of
    the first one, by block (cutoffs, runs, 2, blocks); without estimates there is one cutoff."""
    noise: dict[tuple[str, str], Floats]
    """By two policies, if losses are estimates: for every cutoff, the variance of their difference on the scored rows
    as the residuals show it and as the guesses have it, and the largest single term (cutoffs, 3)."""
    base: str
    lead: str
    """The policy that others are compared with, and the one that the verdict is about."""
    totals: Totals
    """Totals of the gate's thresholds and of those that were tuned, on the scored rows."""
    tuned: tuple[int, float]
    hindsight: tuple[int, float]
    by_class: Ints
    """Scored rows of each class, mistakes of the lead, mistakes of the base."""
    followed: Floats
    answered: Floats
    """By model, over time: cases in which the gate followed it, rows in which it had an answer."""
    threshold: Floats
    """The median threshold, over time; NaN if the gate did not play."""
    today: tuple[int, float] | None = None
    counts: dict[str, int] = field(default_factory=dict)
    """Cases that the first gate played: reviewed, over_capacity, explored, without any answer; and of the labels that
    could be seen after its decisions, those that were still to come after the last row."""

    def blocks_between(self, one: str, other: str, cutoff: int = -1) -> tuple[Floats, Floats]:
        """The least and the largest differences of two policies' losses, by block; rows whose term is above the cutoff
        with that number count by their bounds.
        """
        plain = self.policies[one].blocks - self.policies[other].blocks
        if not self.open_pairs:
            return plain, plain
        down, up = self.open_pairs[one, other][cutoff].mean(axis=0)
        return plain - down, plain + up

    def luck(self, one: str, other: str, cutoff: int) -> Floats:
        """How far the difference of two policies is from its mean in each run of the gate, by block (runs, blocks)."""
        found = (np.array([run.blocks for run in self.runs]) - self.policies[GATE].blocks) * (one == GATE)
        if one == GATE and self.open_pairs:  # runs differ in the middle of the bounds that the cutoff adds, too
            moved = self.open_pairs[one, other][cutoff] - self.open_pairs[one, other][-1]
            found += np.diff(moved - moved.mean(axis=0), axis=1)[:, 0] / 2.0
        return found

    def half_width(self, one: str, other: str, cutoff: int) -> float:
        """How far from the truth an estimated difference of two policies may be, per row, by chance alone.

        Few labels with large weights show only a part of the variance, so that a bootstrap of them is too sure. This
        takes the larger of the variance of the residuals seen and of that which the guesses have in all rows, seen or
        not, and adds what the largest single weight may do (as in Bernstein's inequality).
        """
        # The probabilities depend on earlier labels, and so does the best cutoff: the intervals of all of them have to
        # hold at once, each at its share of the 5 %. Bounds alone (a cutoff of 0) hold for sure and need no share.
        quantile = NormalDist().inv_cdf(1.0 - 0.025 / max(1, sum(cutoff > 0.0 for cutoff in CUTOFFS)))
        shown, guessed, most = self.noise[one, other][cutoff]
        half = most * quantile**2 / 6.0
        spread = math.sqrt(half**2 + quantile**2 * max(shown, guessed))
        return float((half + spread) / self.scored.sizes.sum())


class Medians:
    """The median of each stretch, for values that arrive in order."""

    def __init__(self, cuts: Cuts, medians: Floats) -> None:
        self._cuts, self._medians = cuts, medians
        self._piece, self._open = -1, []  # type: int, list[Floats]

    def add(self, begin: int, values: Floats) -> None:
        """Add the next values, from row ``begin`` on."""
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
        """Finish the stretch that is open."""
        if self._open:
            self._medians[self._piece] = np.median(np.concatenate(self._open))
        self._open = []


class Cases:
    """``cases.parquet``: written slice by slice and joined at the end, so that memory holds one slice."""

    def __init__(self, folder: Path, models: list[str], n_levels: int) -> None:
        folder.mkdir()
        self._folder, self._models, self._last = folder, models, n_levels - 1
        self._n = 0

    def add(self, row: Ints, played: PlayedCases) -> None:
        """Add the next cases; ``row`` is their row in the log, from 1."""
        import polars as pl

        frame = pl.DataFrame(
            {
                "row": row,
                "action": _named(played.reviewed.astype(np.int64), ["answer", "review"]),
                "model": _named(played.model, self._models),
                # "Always review" has no threshold.
                "threshold": pl.Series(np.where(played.level == self._last, np.nan, played.threshold)).fill_nan(None),
                "loss": played.loss,
                "over_capacity": played.over_capacity,
            }
        )
        frame.write_parquet(self._folder / f"{self._n:09}.parquet", compression="lz4")
        self._n += 1

    def write(self, path: Path) -> None:
        """Write all cases to one file."""
        import polars as pl

        pl.scan_parquet(self._folder / "*.parquet").sink_parquet(path)


def _named(codes: Ints, names: list[str]) -> "pl.Series":
    import polars as pl

    return pl.Series(names, dtype=pl.Enum(names)).gather(codes)


class Run:
    """A gate that plays the whole log, and what it decided: the model that answers in each row, -1 for a review."""

    def __init__(self, rows: Rows, gate: Gate, origin: int, path: Path) -> None:
        self._rows, self.gate, self._origin = rows, gate, origin
        self.chosen: Ints = np.memmap(path, np.int16, "w+", shape=(rows.n,))
        self.combined: Floats | None = None
        """What the combination said, and lost, in each row (n, 2)."""
        if gate.combine:
            self.combined = np.memmap(path.with_suffix(".combined"), np.float64, "w+", shape=(rows.n, 2))
        self.stopped = False

    def play(self, delay: int, look: Callable[[Slice, PlayedCases], None] = lambda part, played: None) -> None:
        """Play all rows; ``look`` is called after each slice."""
        for part in self._rows.slices():
            known = part.before(self._origin).with_label()
            if known.n > 0:
                self.gate._teach(known.block(0))
        with self.gate._playing(delay, self._rows.has("due")) as decide:
            for whole in self._rows.slices():
                part = whole.from_on(self._origin)
                self.chosen[whole.begin : part.begin] = -1
                if self.stopped:
                    return
                if part.n > 0:
                    played = decide(part.block(self._origin))
                    self.chosen[part.begin : part.begin + part.n] = np.where(played.reviewed, -1, played.model)
                    if self.combined is not None:
                        assert played.combined is not None
                        said = np.column_stack([played.combined, np.where(part.labelled, played.loss, 0.0)])
                        self.combined[part.begin : part.begin + part.n] = said
                    look(part, played)

    def paid(self, part: Slice, paid: Paid) -> Paid:
        """The same with one more column: that of the combination, if there is one."""
        if self.combined is None:
            return paid
        said, lost = np.asarray(self.combined[part.begin : part.begin + part.n]).T
        worst, guess, at = part.worst(said), None, np.arange(part.n)
        if paid.guess is not None:  # that of a model with this answer; of two classes, or the other one's
            same = (paid.answers == said[:, np.newaxis]) & ~part.missing
            model = np.where(same.any(axis=1), np.argmax(same, axis=1), np.argmin(part.missing, axis=1))
            whole = paid.worst[at, model]
            share = paid.guess[at, model] / np.where(whole > 0.0, whole, 1.0)
            guess = np.where(same.any(axis=1), paid.guess[at, model], worst * (1.0 - share))
            guess = np.column_stack([paid.guess, np.where(part.records["observed"] > 0.0, guess, 0.0)])
        wider = map(np.column_stack, ((paid.answers, said), (paid.losses, lost), (paid.worst, worst)))
        return Paid(*wider)._replace(guess=guess)


def capacity_share(rows: Rows, capacity: Capacity | None) -> float | None:
    """The share of the rows that people can review; of a capacity per day, on average over the log."""
    if capacity is None or capacity.per_day is None:
        return None if capacity is None else capacity.share
    begin, end = (int(rows.read(row, row + 1).records["time"][0]) for row in (0, rows.n - 1))
    return min(1.0, capacity.per_day * max(1, end - begin) / DAY / rows.n)


class Game:
    """All policies on the rows of a log: first they decide, then what they decided is charged."""

    def __init__(
        self, rows: Rows, gates: Sequence[Gate], options: Options, *, warm: int, mistake: float, n_classes: int,
        cases: Cases, scratch: Path,
    ) -> None:  # fmt: skip
        """Prepare the game.

        Args:
            rows: The log.
            gates: The gates to play; the first one's cases are written.
            options: What was asked for.
            warm: How many of the first rows the gates learn from before they play.
            mistake: An answer that loses more is a mistake.
            n_classes: How many classes the report tells apart.
            cases: Where to write the first gate's cases.
            scratch: A folder for what was decided.
        """
        self._rows, self._gate, self._cases, self._options = rows, gates[0], cases, options
        self._mistake, self._scratch = mistake, scratch
        models = gates[0].models
        tenth = first_tenth(rows.n)
        head = rows.read(0, tenth)
        known = head.labelled if not rows.has("weight") else ~head.unknown
        if not known.any():
            raise InputError("the log: expected rows with a label in its first tenth, to tune a threshold on, got none")
        labelled, scored = head.rounds().cut(head.labelled), head.rounds(scored=True).cut(known)
        capacity, share = gates[0].capacity, capacity_share(rows, gates[0].capacity)
        limits: dict[str, Any] = {"first": tenth, "capacity": capacity, "share": share}
        self._own, self._all = (Retuning(labelled, own=own, **limits) for own in (True, False))
        self._stack = Stacking(head.rounds(weigh=False).cut(head.labelled), **limits)
        tuned = best(scored, share=share)[:2]
        self._bucket = None if capacity is None else Bucket(capacity)
        thresholds = [np.union1d(sums(scored, model)[0], gates[0].thresholds[model]) for model in range(len(models))]
        first = max(tenth, warm)
        over_time, cuts = pieces(rows.n), blocks(first, rows.n)
        self._runs = [Run(rows, gate, warm, scratch / f"gate-{k}") for k, gate in enumerate(gates)]
        decided, today = rows.has("decided"), options.today is not None
        kinds = [*(f"{ALWAYS} {name}" for name in models), *[DECIDED] * decided, GATE, *[TODAY] * today, TUNED, OWN,
                 STACK, ALL, HINDSIGHT, REVIEW]  # fmt: skip
        base, lead = TODAY if today else TUNED, DECIDED if decided else GATE
        # With estimates also what each policy costs, as a difference from reviews, whose price is known.
        pairs = [(kind, base) for kind in kinds] + [(lead, kind) for kind in RIVALS]
        pairs, n = (pairs + [(kind, REVIEW) for kind in kinds] * rows.has("guess")) * rows.has("weight"), len(gates)
        self._cutoffs = [rows.cost * math.sqrt(rows.n - first) * one for one in CUTOFFS if rows.has("guess")] or [0.0]
        self.out = Outcome(
            first=first,
            origin=warm,
            over_time=over_time,
            scored=cuts,
            policies={kind: PolicySums(over_time, cuts) for kind in kinds},
            runs=[PolicySums(over_time, cuts) for _ in gates],
            open_pairs={pair: np.zeros((len(self._cutoffs), n if pair[0] == GATE else 1, 2, cuts.n)) for pair in pairs},
            noise={pair: np.zeros((len(CUTOFFS), 3)) for pair in pairs if rows.has("guess")},
            base=base,
            lead=lead,
            totals=Totals(thresholds),
            tuned=tuned,
            hindsight=tuned,
            by_class=np.zeros((n_classes, 3), np.int64),
            followed=np.zeros((len(models) + gates[0].combine, over_time.n)),
            answered=np.zeros((len(models) + gates[0].combine, over_time.n)),
            threshold=np.full(over_time.n, np.nan),
            today=options.pair_today() if today else None,
            counts=dict.fromkeys((*COUNTED, TO_COME), 0),
        )
        self._medians = Medians(over_time, self.out.threshold)
        self._chosen: dict[str, Any] = {}

    def play(self, delay: int, progress: Progress) -> Outcome:
        """Play all rows, with labels ``delay`` rows late unless the rows have times."""
        progress(COMPILING, 0, 1)
        own, *others = self._runs

        def look(part: Slice, played: PlayedCases) -> None:
            self._look(part, played)
            progress("playing", part.begin + part.n, self._rows.n)

        with ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1)) as threads:
            try:
                waiting = [threads.submit(run.play, delay) for run in others]
                own.play(delay, look)
                self._medians.close()
                self._alternatives(delay)
                for one in waiting:
                    one.result()
            finally:
                for run in others:
                    run.stopped = True
        self._charge()
        return self.out

    def _alternatives(self, delay: int) -> None:
        """Let the policies without a gate decide."""
        out, models = self.out, self._gate.models
        kept = {kind: np.memmap(self._scratch / kind, np.int16, "w+", shape=(self._rows.n,)) for kind in KEPT}
        for part in self._rows.slices():
            rounds, due = part.rounds(), part.due(delay)
            rows = slice(part.begin, part.begin + part.n)
            for kind, policy in ((OWN, self._own), (ALL, self._all), (STACK, self._stack)):
                used = policy.play(part.rounds(weigh=False) if kind == STACK else rounds, due)
                kept[kind][rows] = np.where(used.abstained, -1, used.model)
            silent = rounds.confidence[:, out.tuned[0]] <= out.tuned[1]
            if self._bucket is not None:
                silent = self._bucket.hold(silent, ~part.missing[:, out.tuned[0]], part.field("passed"))
            kept[TUNED][rows] = np.where(silent, -1, out.tuned[0])
            begin = max(0, out.first - part.begin)
            known = np.arange(part.n) >= begin
            if self._rows.has("weight"):
                known &= ~part.unknown
            out.totals.add(part.rounds(scored=True).cut(known))
            for k in range(len(models)):
                out.over_time.add(out.answered[k], ~part.missing[:, k], part.begin)
            if self._gate.combine:
                out.over_time.add(out.answered[-1], np.asarray(~part.missing.all(axis=1)), part.begin)
        self._chosen = kept

    def _look(self, part: Slice, played: PlayedCases) -> None:
        """Take note of what the first gate did."""
        out = self.out
        self._cases.add(part.records["row"], played)
        for k in range(len(out.followed)):
            out.over_time.add(out.followed[k], played.model == k, part.begin)
        counted = (played.reviewed, played.over_capacity, played.explored, part.missing.all(axis=1))
        for name, which in zip(COUNTED, counted, strict=True):
            out.counts[name] += int(which.sum())
        shown = {"answered": ~played.reviewed, "reviewed": played.reviewed}.get(
            str(self._gate.labels), np.ones(part.n, np.bool_)
        )
        late = part.due(min(self._options.late, self._rows.n)) > self._rows.n
        out.counts[TO_COME] += int((shown & late & part.labelled).sum())
        always_reviews = played.level == self._gate.thresholds.shape[1] - 1
        self._medians.add(part.begin, np.clip(np.where(always_reviews, 1.0, played.threshold), 0.0, 1.0))

    def _charge(self) -> None:
        """Add up what every policy costs."""
        out = self.out
        model, threshold, total = out.totals.best()
        tuned = out.totals.total(*out.tuned)
        if total < tuned - 1e-9 * out.scored.sizes.sum():
            out.hindsight = (model, threshold)
        partly, max_error = self._rows.has("weight"), self._options.max_error
        for part in self._rows.slices():
            paid, rows = part.paid(), slice(part.begin, part.begin + part.n)
            chosen = {kind: np.asarray(codes[rows]) for kind, codes in self._chosen.items()}
            chosen |= self._fixed(part)
            several = [np.asarray(run.chosen[rows]) for run in self._runs]
            hidden, own, weight = part.open if partly else None, None, None
            wrong = {kind: self._add(out.policies[kind], part, paid, codes, hidden) for kind, codes in chosen.items()
                     if kind != DECIDED}  # fmt: skip
            if DECIDED in chosen:
                # It knew whether the label was seen: what it answered is known, and no estimate holds for it, unless
                # an audit chose at random which labels of answers come.
                audit = part.audited(self._options.labels)
                own = np.where(part.labelled, 0.0, 1.0) if partly and audit is None else None
                weight = np.ones(part.n) if audit is None else audit
                wrong[DECIDED] = self._add(out.policies[DECIDED], part, paid, chosen[DECIDED], own, weight)
            followed = [run.paid(part, paid) for run in self._runs]
            of_runs = [
                self._add(run, part, seen, codes, hidden)
                for run, seen, codes in zip(out.runs, followed, several, strict=True)
            ]
            wrong[GATE] = of_runs[0]
            self._add_classes(part, wrong[out.lead], wrong[out.base])
            for (one, other), moved in out.open_pairs.items():
                runs = list(zip(several, followed, strict=True)) if one == GATE else [(chosen[one], paid)]
                for run, (codes, seen) in enumerate(runs):
                    as_paid = one == DECIDED and self._rows.has("guess")
                    paid_as = (np.zeros(part.n) if own is None else own) if as_paid else None
                    down, up = part.open_pairs(codes, chosen[other], seen, None if as_paid else max_error, paid_as)
                    noise, bounds = np.zeros((3, part.n)), (down, up)
                    if (one, other) in out.noise and one != other:
                        noise[:] = part.noise(None if as_paid else codes, chosen[other], seen, self._options.labels)
                        plain = self._loss(part, seen, codes, weight if as_paid else None)
                        plain = plain - self._loss(part, paid, chosen[other])
                        ends = part.ends(codes, chosen[other], seen, max_error)
                        bounds = plain - ends[0], ends[1] - plain
                    for number, cutoff in enumerate(self._cutoffs):
                        above = noise[2] > cutoff
                        for into, far, near in zip(moved[number, run], bounds, (down, up), strict=True):
                            out.scored.add(into, np.where(above, far, near), part.begin)
                        if (one, other) in out.noise:
                            below = (noise * ~above)[:, max(0, out.first - part.begin) :]
                            sums_of = out.noise[one, other][number]
                            sums_of[:2] += below[:2].sum(axis=1) / len(runs)
                            sums_of[2] = max(sums_of[2], below[2].max(initial=0.0))
        out.policies[GATE] = PolicySums.mean_of(out.runs)

    def _fixed(self, part: Slice) -> dict[str, Ints]:
        """What policies decide that need no more than the row."""
        out = self.out
        found = {REVIEW: np.full(part.n, -1)}
        for k, name in enumerate(self._gate.models):
            found[f"{ALWAYS} {name}"] = np.where(part.missing[:, k], -1, k)
        model, threshold = out.hindsight
        found[HINDSIGHT] = np.where(part.rounds().confidence[:, model] <= threshold, -1, model)
        if out.today is not None:
            model, threshold = out.today  # of the confidence itself, whatever is at stake
            found[TODAY] = np.where(part.confidence[:, model] > threshold, model, -1)
        if self._rows.has("decided"):
            found[DECIDED] = part.decided
        return found

    def _loss(self, part: Slice, paid: Paid, codes: Ints, weight: Floats | None = None) -> Floats:
        """What a policy is charged with in each row."""
        return np.where(codes < 0, part.cost, part.charged(paid, weight)[np.arange(part.n), np.maximum(codes, 0)])

    def _add(
        self, sums: PolicySums, part: Slice, paid: Paid, codes: Ints, hidden: Floats | None,
        weight: Floats | None = None,
    ) -> Array:  # fmt: skip
        """Charge a policy, and return its mistakes; with estimates, how likely they are.

        ``hidden`` says how often labels that are not there count, ``weight`` how often the others do in estimates.
        """
        reviewed, answered = codes < 0, (np.arange(part.n), np.maximum(codes, 0))
        loss = self._loss(part, paid, codes, weight)
        wrong: Array = ~reviewed & (loss > self._mistake)
        if paid.guess is not None:
            wrong = np.where(reviewed, 0.0, part.mistaken(paid, weight)[answered])
        worst = np.where(reviewed, 0.0, paid.worst[answered])
        unseen = None if hidden is None else np.where(worst == 0.0, 0.0, hidden)
        hidden = None if hidden is None else hidden * worst
        sums.add(part.begin, loss, reviewed, wrong, hidden, unseen)
        return wrong

    def _add_classes(self, part: Slice, lead: Array, base: Array) -> None:
        count = (np.arange(part.n) >= self.out.first - part.begin) & part.labelled
        for column, which in enumerate((np.ones(part.n, np.bool_), lead, base)):
            known = count & (which > 0.5)
            self.out.by_class[:, column] += np.bincount(part.records["class"][known], minlength=len(self.out.by_class))

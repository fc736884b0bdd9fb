"""Playing a log: the gate and its alternatives, row by row, and the sums of their costs over stretches of rows."""

import inspect
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import learners
from .._core import parts
from ..alternatives import Retuning, Rounds, Totals, first_tenth, follow, sums
from ..errors import InputError, shown
from ..gate.frames import PlayedCases, Player
from ..gate.gate import Gate
from ..gate.prices import PerStake
from ..typing import Array, Bools, Floats, Ints
from .classes import Classes
from .options import COST, FIXED_PRICE, Options
from .rows import Progress, Rows, Slice

if TYPE_CHECKING:
    import polars as pl

COMPILING = "compiling, once for each kind of use"
"""The step before the first slice is played; short, if the compiled code is in the cache."""
GATE, TUNED, OWN, ALL, HINDSIGHT, REVIEW, ALWAYS = (
    "gate", "tuned", "retuned-own", "retuned-all", "hindsight", "review", "always"
)  # fmt: skip
COUNTED = ("reviewed", "over_capacity", "explored", "unanswered")


def make_gate(
    options: Options, pair: tuple[Any, Any] | None, max_stake: float, classes: "Classes | None" = None
) -> Gate:  # fmt: skip
    """Make the gate that the options ask for; ``pair`` are the classes, if there are two."""
    settings: dict[str, Any] = {"task": options.found_task, "labels": options.labels, "seed": options.seed}
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
    if options.capacity is not None:
        settings["capacity"] = options.capacity
    if options.maturity is not None:
        settings["maturity"] = options.maturity
    if options.start is not None:
        settings["start"] = options.start
    if options.learner is not None:
        settings["learner"] = _learner(options.learner)
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

    def __init__(self, over_time: Cuts, scored: Cuts, mistake: float) -> None:
        """Start with zeros; an answer that loses more than ``mistake`` is a mistake."""
        self._over_time, self._scored, self._mistake = over_time, scored, mistake
        self.loss, self.reviewed = np.zeros(over_time.n), np.zeros(over_time.n)
        self.blocks, self._reviewed, self._mistakes = (np.zeros(scored.n) for _ in range(3))

    def add(self, begin: int, loss: Floats, reviewed: Bools) -> Bools:
        """Add rows from ``begin`` on, and return which of them are mistakes."""
        wrong = ~reviewed & (loss > self._mistake)
        self._over_time.add(self.loss, loss, begin)
        self._over_time.add(self.reviewed, reviewed, begin)
        self._scored.add(self.blocks, loss, begin)
        self._scored.add(self._reviewed, reviewed, begin)
        self._scored.add(self._mistakes, wrong, begin)
        return wrong

    @property
    def means(self) -> tuple[float, float, float]:
        """Mean loss, share reviewed and share of mistakes of the scored rows."""
        n = self._scored.sizes.sum()
        return tuple(float(part.sum() / n) for part in (self.blocks, self._reviewed, self._mistakes))  # type: ignore[return-value]


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
    totals: Totals
    """Totals of the gate's thresholds and of those that were tuned, on the scored rows."""
    tuned: tuple[int, float]
    hindsight: tuple[int, float]
    by_class: Ints
    """Scored rows of each class, mistakes of the gate, mistakes of tuned."""
    followed: Floats
    answered: Floats
    """By model, over time: cases in which the gate followed it, rows in which it had an answer."""
    threshold: Floats
    """The median threshold, over time; NaN if the gate did not play."""
    counts: dict[str, int] = field(default_factory=dict)
    """Cases that the gate played: reviewed, over_capacity, explored, and without any answer."""


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


class Game:
    """One pass over the rows of a log for all policies, and a second one for the best in hindsight."""

    def __init__(self, rows: Rows, gate: Gate, *, warm: int, mistake: float, n_classes: int, cases: Cases) -> None:
        """Prepare the game.

        Args:
            rows: The log.
            gate: The gate to play.
            warm: How many of the first rows the gate learns from before it plays.
            mistake: An answer that loses more is a mistake.
            n_classes: How many classes the report tells apart.
            cases: Where to write the gate's cases.
        """
        self._rows, self._gate, self._cases = rows, gate, cases
        tenth, models = first_tenth(rows.n), len(gate.models)
        labelled = rows.read(0, tenth).rounds()
        self._own, self._all = Retuning(labelled), Retuning(labelled, own=False)
        thresholds = [np.union1d(sums(labelled, model)[0], gate.thresholds[model]) for model in range(models)]
        first = max(tenth, warm)
        over_time, scored = pieces(rows.n), blocks(first, rows.n)
        kinds = [*(f"{ALWAYS} {name}" for name in gate.models), GATE, TUNED, OWN, ALL, HINDSIGHT, REVIEW]
        tuned = self._own.model, self._own.threshold
        self.out = Outcome(
            first=first,
            origin=warm,
            over_time=over_time,
            scored=scored,
            policies={kind: PolicySums(over_time, scored, mistake) for kind in kinds},
            totals=Totals(thresholds),
            tuned=tuned,
            hindsight=tuned,
            by_class=np.zeros((n_classes, 3), np.int64),
            followed=np.zeros((models, over_time.n)),
            answered=np.zeros((models, over_time.n)),
            threshold=np.full(over_time.n, np.nan),
            counts=dict.fromkeys(COUNTED, 0),
        )
        self._medians = Medians(over_time, self.out.threshold)

    def play(self, delay: int, progress: Progress) -> Outcome:
        """Play all rows, with labels ``delay`` rows late unless the rows have times."""
        progress(COMPILING, 0, 1)
        self._teach()
        with self._gate._playing(delay, self._rows.has("due")) as decide:
            for part in self._rows.slices():
                tuned_wrong = self._alternatives(part, delay)
                wrong = self._decide(part, decide)
                begin = max(0, self.out.first - part.begin)
                for column, which in enumerate((np.ones(part.n, np.bool_), wrong, tuned_wrong)):
                    classes = part.records["class"][begin:][which[begin:]]
                    self.out.by_class[:, column] += np.bincount(classes, minlength=len(self.out.by_class))
                progress("playing", part.begin + part.n, self._rows.n)
        self._medians.close()
        self._look_back()
        return self.out

    def _teach(self) -> None:
        for part in self._rows.slices():
            if part.begin < self.out.origin:
                self._gate._teach(part.before(self.out.origin).block(0))

    def _alternatives(self, part: Slice, delay: int) -> Bools:
        """Play the policies without a gate, and return the mistakes of tuned."""
        out, rounds, due = self.out, part.rounds(), part.due(delay)
        for k, name in enumerate(self._gate.models):
            missing = part.missing[:, k]
            loss = np.where(missing, rounds.cost, rounds.losses[:, k])
            out.policies[f"{ALWAYS} {name}"].add(part.begin, loss, missing)
            out.over_time.add(out.answered[k], ~missing, part.begin)
        out.policies[REVIEW].add(part.begin, rounds.cost, np.ones(part.n, np.bool_))
        for kind, policy in ((OWN, self._own), (ALL, self._all)):
            used = policy.play(rounds, due)
            out.policies[kind].add(part.begin, used.loss, used.abstained)
        begin = max(0, out.first - part.begin)
        out.totals.add(Rounds(*(one[begin:] for one in rounds)))
        return self._fixed(TUNED, part, rounds, *out.tuned)

    def _decide(self, part: Slice, decide: Player) -> Bools:
        """Let the gate play the rows after its warm start, and return its mistakes."""
        out, wrong = self.out, np.zeros(part.n, np.bool_)
        rest = part.from_on(out.origin)
        if rest.n == 0:
            return wrong
        played = decide(rest.block(out.origin))
        self._cases.add(rest.records["row"], played)
        for k in range(len(out.followed)):
            out.over_time.add(out.followed[k], played.model == k, rest.begin)
        counted = (played.reviewed, played.over_capacity, played.explored, rest.missing.all(axis=1))
        for name, which in zip(COUNTED, counted, strict=True):
            out.counts[name] += int(which.sum())
        always_reviews = played.level == self._gate.thresholds.shape[1] - 1
        self._medians.add(rest.begin, np.clip(np.where(always_reviews, 1.0, played.threshold), 0.0, 1.0))
        wrong[part.n - rest.n :] = out.policies[GATE].add(rest.begin, played.loss, played.reviewed)
        return wrong

    def _fixed(self, kind: str, part: Slice, rounds: Rounds, model: int, threshold: float) -> Bools:
        played = follow(rounds, model, threshold)
        return self.out.policies[kind].add(part.begin, played.loss, played.abstained)

    def _look_back(self) -> None:
        """Play the best pair in hindsight: tuned itself, unless another is better by more than rounding."""
        out = self.out
        model, threshold, total = out.totals.best()
        if total < out.policies[TUNED].blocks.sum() - 1e-9 * out.scored.sizes.sum():
            out.hindsight = (model, threshold)
        for part in self._rows.slices():
            self._fixed(HINDSIGHT, part, part.rounds(), *out.hindsight)

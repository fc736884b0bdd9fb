"""What happened in a simulated game, and how it compares with the best expert."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import losses
from ._core.extras import need
from ._core.validation import as_count, as_table, plain
from .engine import Learner
from .engine.loop import room_for
from .engine.play import Edges, Prepared, Table
from .errors import InputError, shown
from .experts import ExpertSet
from .losses import Loss
from .typing import Array, Floats, Ints

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True, eq=False)
class Best:
    """The best expert in hindsight; see `best_in_hindsight` and `best_pair`."""

    expert: int
    """The one with the least total loss, the lowest number among equals."""
    loss: Floats
    """Its loss in each round (T,)."""
    total: Floats
    """The total loss of every expert (K,)."""
    gamma: float | None = None
    """If all this is L~, not L, its gamma; see `best_pair`."""


@dataclass(frozen=True, eq=False)
class Trace:
    """A game of T rounds."""

    expert: Ints
    """The expert followed in each round (T,)."""
    abstained: NDArray[np.bool_]
    """Whether it abstained (T,)."""
    loss: Floats
    """What the round cost: the cost if it abstained, else the loss of the prediction (T,)."""
    checkpoints: Ints
    """The 1-based rounds at which the edges were counted."""
    edges: Ints
    """The size of the graph in use at each checkpoint, before the round's update."""
    surrogate: Floats | None = None
    """L~ of each round (T,), for learners that play it (ContEXP3-ABS) ..."""
    gamma: float | None = None
    """... and its gamma; None where L~ is L, whatever gamma."""

    def __len__(self) -> int:
        return len(self.expert)

    def regret(self, best: Best) -> Floats:
        """Compute the cumulative regret against an expert or a pair.

        Args:
            best: What `best_in_hindsight` or `best_pair` returned for the same rounds.

        Returns:
            R_t for t = 1, ..., T (T,); on the surrogate loss L~ if ``best`` has it.

        Raises:
            InputError: ``best`` is of another game.
        """
        if not isinstance(best, Best):
            raise InputError(f"best: expected what best_in_hindsight returns, got {type(best).__name__}")
        if len(best.loss) != len(self):
            raise InputError(f"best: expected losses of {len(self)} rounds, got {len(best.loss)}")
        if best.gamma is None:
            return np.cumsum(self.loss - best.loss)
        if self.surrogate is None or self.gamma not in (None, best.gamma):
            played = "on L" if self.surrogate is None else f"with gamma = {self.gamma}"
            raise InputError(f"best: expected the loss of the game, played {played}, got L~ with gamma = {best.gamma}")
        return np.cumsum(self.surrogate - best.loss)

    def to_frame(self) -> "polars.DataFrame":
        """Return a Polars data frame with one row per round; ``edges`` is null except at checkpoints."""
        need("polars", "trace.to_frame", "cli")
        import polars

        rounds = np.arange(1, len(self) + 1)
        edges = polars.DataFrame({"round": self.checkpoints, "edges": self.edges})
        columns = {"round": rounds, "expert": self.expert, "abstained": self.abstained, "loss": self.loss}
        if self.surrogate is not None:
            columns["surrogate"] = self.surrogate
        return polars.DataFrame(columns).join(edges, on="round", how="left", maintain_order="left")


def as_labels(y: ArrayLike, n: int, loss: Loss) -> Array:
    """Labels the loss can judge, one a round."""
    try:
        count = len(y)  # type: ignore[arg-type]
    except TypeError:
        count = -1
    if count != n:
        raise InputError(f"y: expected {n} labels, one for each row of X, got {shown(y) if count < 0 else count}")
    return loss.labels(y)


def _as_checkpoints(checkpoints: ArrayLike | None, n: int) -> Ints:
    if checkpoints is None:
        return np.zeros(0, np.int64)
    array = plain(checkpoints, "checkpoints")
    if array.ndim != 1 or (len(array) > 0 and array.dtype.kind not in "iu"):
        raise InputError(f"checkpoints: expected rounds as integers, got {array.dtype} of shape {array.shape}")
    rounds = array.astype(np.int64)
    if len(rounds) > 0 and (rounds.min() < 1 or rounds.max() > n or (np.diff(rounds) <= 0).any()):
        raise InputError(f"checkpoints: expected increasing rounds from 1 to {n}, got {array}")
    return rounds


def _as_delays(delay: Any, n: int) -> "int | Ints":
    """One delay, or one per round."""
    if np.ndim(delay) == 0:
        return as_count(delay, "delay", least=0)
    array = plain(delay, "delay")
    if array.shape != (n,) or array.dtype.kind not in "iu" or array.min() < 0:
        raise InputError(f"delay: expected a number of rounds, or {n} of them, from 0 on, got {shown(delay)}")
    return np.minimum(array, n).astype(np.int64)


def prepare(experts: ExpertSet, X: ArrayLike, y: ArrayLike, *, loss: Any = "zero_one") -> Prepared:
    """Prepare rounds for many learners with the same experts and loss: advice and losses are computed once.

    Args:
        experts: The experts of the learners.
        X: The inputs (T, d).
        y: All labels (T,).
        loss: The loss of the learners.

    Returns:
        The rounds, which `simulate` takes instead of X and y.

    Raises:
        InputError: The inputs do not fit the experts.
        LabelError: The loss cannot judge a label.

    >>> import abstain as ab
    >>> X, y = ab.datasets.load("synthetic", n=1000, seed=0)
    >>> experts = ab.experts.hyperplanes(dim=2, n_predictors=10, seed=0)
    >>> rounds = ab.prepare(experts, X, y)
    >>> rounds
    <1000 rounds of <hyperplanes: 200 experts, 10 predictors, 20 rules>>
    >>> once, anew = (ab.simulate(ab.UCBGT(experts, cost=0.2), *table) for table in ((rounds,), (X, y)))
    >>> bool((once.loss == anew.loss).all())
    True
    """
    if not isinstance(experts, ExpertSet):
        raise InputError(f"experts: expected an ExpertSet, got {type(experts).__name__}")
    table, judge = as_table(X, experts.n_features), losses.get(loss)
    experts.check_inputs(table)
    return Prepared(experts, table.copy(), as_labels(y, len(table), judge).copy(), judge)


def _check_same(learner: Learner, rounds: Prepared) -> None:
    if rounds.experts is not learner.experts and rounds.experts.fingerprint != learner.experts.fingerprint:
        raise InputError(f"rounds: expected those of the learner's experts, {learner.experts!r}, got {rounds!r}")
    if rounds.loss != learner.loss:
        raise InputError(f"rounds: expected those of the learner's loss, {learner.loss!r}, got {rounds.loss!r}")


def simulate(
    learner: Learner,
    X: "ArrayLike | Prepared",
    y: ArrayLike | None = None,
    *,
    checkpoints: ArrayLike | None = None,
    delay: "int | ArrayLike" = 0,
    maturity: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Trace:
    """Play the rows of a table, exactly as that many calls of `decide` and `learn` would.

    A round without a label is learnt after the same delay as if its label came, so that a learner that hears nothing
    changes nothing. Played live, with `decide` and `learn`, it takes the first label to know how late labels are:
    rounds without a label before the first one that expects a label are learnt at once there. From then on labels with
    one and the same delay give the same game.

    After an exception the learner is as before the call. Ctrl-C leaves it after the last whole block of rounds, with
    the labels of those learnt; a further call goes on from there. (Labels that wait when ``progress`` is called are
    in no file saved there.)

    Args:
        learner: Who plays; it goes on from where it is.
        X: The inputs (T, d), or what `prepare` made of inputs and labels.
        y: The labels (T,); those that the feedback does not show are not used.
        checkpoints: The rounds, 1-based, at which the edges of the graph in use are counted.
        delay: The label of round t comes just before round t + delay + 1 is decided, the rest at the end. One number,
            or one per round (T,).
        maturity: No round is learnt before so many others were decided after it, for labels whose delay depends on what
            they say: a label that comes earlier is kept.
        progress: Called now and then with the number of rounds played so far.

    >>> import abstain as ab
    >>> X, y = ab.datasets.load("synthetic", n=1000, seed=0)
    >>> learner = ab.UCBGT(ab.experts.hyperplanes(dim=2, n_predictors=10, seed=0), cost=0.2)
    >>> trace = ab.simulate(learner, X, y, checkpoints=[1, 1000])
    >>> len(trace), trace.edges
    (1000, array([40000,  2000]))
    """
    if not isinstance(learner, Learner):
        raise InputError(f"learner: expected a Learner, got {type(learner).__name__}")
    with learner.lock:  # from here on: another thread may change the experts that the table is for
        prepared = X if isinstance(X, Prepared) else None
        if prepared is not None:
            if y is not None:
                raise InputError("y: expected none, for prepared rounds have their labels, got some")
            _check_same(learner, prepared)
            table, labels = prepared.X, prepared.y
        else:
            table = as_table(X, learner.experts.n_features)  # type: ignore[arg-type]
            learner.experts.check_inputs(table)
            labels = as_labels(y, len(table), learner.loss)  # type: ignore[arg-type]
        at = _as_checkpoints(checkpoints, len(table))
        least = as_count(maturity, "maturity", least=0)
        late = _as_delays(delay, len(table))
        late = max(late, least) if isinstance(late, int) else np.maximum(late, least)
        out = room_for(len(table))
        trace = Trace(out.expert, out.abstained, out.loss, checkpoints=at, edges=np.zeros(len(at), np.int64))
        costs = learner.cost.of(table, learner.round + 1, len(table))
        before = learner.snapshot()
        try:
            due = None if isinstance(late, int) else np.minimum(np.arange(len(table)) + late, len(table)) + 1
            playing = learner.playing(min(late, len(table)) if isinstance(late, int) else 0, later=due is not None)
            try:
                rounds = Table(table, labels, costs, due, prepared=prepared)
                playing.play(rounds, Edges(at, trace.edges), progress or (lambda done: None), out)
            finally:
                playing.finish()
        except Exception:
            learner.restore(before)
            raise
    surrogate = learner.surrogate(trace.expert, labels, costs)
    return trace if surrogate is None else replace(trace, surrogate=surrogate[0], gamma=surrogate[1])

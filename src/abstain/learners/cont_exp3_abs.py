"""ContEXP3-ABS: against all pairs of Lipschitz functions, by an EXP3-ABS for each ball of the inputs (algorithm 4)."""

import math
from collections.abc import Mapping
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import costs, losses
from ..decision import Decision
from ..errors import InputError
from ..experts import Advice, Constants, ExpertSet
from ..kernels import cont_exp3, cover
from ..kernels.play import Late, Played, no_late
from ..surrogate import surrogate
from ..tables import as_count, is_number
from . import balls, levels
from .base import Choice, Seed
from .compiled import CompiledLearner
from .rates import find_rate

Floats: TypeAlias = NDArray[np.float64]


class ContExp3Abs(CompiledLearner):
    """ContEXP3-ABS (algorithm 4): cover the inputs by balls of radius epsilon, play EXP3-ABS on constants in each.

    An input that is in no ball becomes the centre of a new one; the nearest centre's EXP3-ABS draws the action, with
    its own rate, as `Exp3Abs` does. ``actions`` are

    - "three" (the default): predict +1, predict -1, abstain. No other constants do better in any ball, so neither
      gamma nor a surrogate loss is needed (to have theorem 2's bound for a certain gamma, give its radius,
      `theory.cont_exp3_abs_epsilon`);
    - "grid", the paper to the letter: pairs of values (h, r) that cover [-1, 1]^2 up to epsilon, the ramp loss
      ``f_gamma(-y h)`` for L, and the surrogate loss L~ to learn from (`losses.surrogate`).

    Give ``epsilon``, or the ``horizon`` T for ``epsilon = T^(-1/(2+d)) gamma^(2/(2+d))`` (gamma = 1 for "three"). The
    rate ``eta`` is "adaptive" or "anytime", both from a ball's own rounds; "tuned", ``sqrt(N log K / T)`` with a bound
    N on the number of balls; or a number. Inputs lie in ``domain``, a pair of ends, each a number or one a feature.
    ``metric`` is "euclidean", "cityblock", "chebyshev", or a function of x (d,) and centres (n, d) that returns the n
    distances; with a function rounds are not compiled.

    A ball takes ``8 (d + 6)`` bytes, and up to 24 more to be found; room for up to twice the balls is held. The grid
    takes 16 bytes a pair, once for all balls.

    >>> import abstain as ab
    >>> X, y = ab.datasets.load("synthetic", n=5000, seed=0)
    >>> learner = ContExp3Abs(2, cost=0.2, horizon=5000, seed=0)
    >>> trace = ab.simulate(learner, X, y)
    >>> best = ab.best_pair(X, y, cost=0.2)
    >>> learner.n_balls < 300, bool(trace.regret(best)[-1] < 0.0)
    (True, True)
    """

    options = ("dim", "gamma", "horizon", "epsilon", "eta", "actions", "domain", "metric")

    def __init__(
        self,
        dim: int,
        *,
        cost: costs.CostLike,
        gamma: float | None = None,
        horizon: int | None = None,
        epsilon: float | None = None,
        eta: str | float = "adaptive",
        actions: str = "three",
        domain: tuple[Any, Any] = (-1.0, 1.0),
        metric: balls.Metric = "euclidean",
        seed: Seed = None,
    ) -> None:
        self.dim, self.actions = as_count(dim, "dim"), actions
        self.eta = float(eta) if is_number(eta) else eta
        self.gamma = levels.as_gamma(gamma, actions)
        self.horizon = None if horizon is None else as_count(horizon, "horizon")
        self.epsilon, self._given = balls.as_radius(epsilon, self.horizon, self.dim, self.gamma), epsilon
        self.metric = balls.as_metric(metric)
        chosen = levels.three() if self.gamma is None else levels.grid(self.epsilon, self.gamma)
        try:
            low, high = domain
        except (TypeError, ValueError):
            raise InputError(f"domain: expected a pair of ends, got {domain!r}") from None
        pairs = Constants(self.dim, chosen.h, chosen.r, chosen.pairs, low, high)
        self.domain = (np.asarray(low).tolist(), np.asarray(high).tolist())
        loss = losses.get("zero_one") if self.gamma is None else losses.ramp(self.gamma)
        super().__init__(pairs, cost=cost, loss=loss, seed=seed)
        self._pairs = pairs
        self._levels = chosen.levels
        self._log_pairs = math.log(pairs.n_experts)
        spread = 2.0 if actions == "grid" else self.cost.largest**2 + 1.0
        self._rate, self._scale = find_rate(self.eta, self._log_pairs, spread, self.horizon, self._tuned)
        self._room(np.zeros((0, self.dim)), np.zeros((0, cont_exp3.N_SUMS)))

    def _tuned(self, T: int) -> float:
        """``sqrt(N log K / T)`` with a bound N on the number of balls."""
        most = balls.most_balls(self.epsilon, self.metric, self._pairs.low, self._pairs.high)
        return math.sqrt(min(T, most) * self._log_pairs / T)

    # What it knows.

    def _room(self, centres: Floats, sums: Floats) -> None:
        """Put these balls into new arrays with room for as many again."""
        largest = float(np.abs([self._pairs.low, self._pairs.high]).max())
        places = balls.room_for(centres, self.epsilon, self.metric, largest)
        known = np.zeros((len(places.centre), cont_exp3.N_SUMS))
        known[: len(sums)] = sums
        self._balls = cont_exp3.Balls(self._rate, self._scale, self._log_pairs, self._levels, places, known)

    def _make_room(self) -> None:
        """Keep a free row for the coming input, and one behind it."""
        if self.n_balls >= len(self._balls.sums) - 1:
            self._room(self.centres, self._balls.sums[: self.n_balls])

    @property
    def n_balls(self) -> int:
        """N, the number of balls so far."""
        return int(self._balls.cover.n_balls[0])

    @property
    def centres(self) -> Floats:
        """The centres of the balls, in the order they came (N, d)."""
        return self._balls.cover.centre[: self.n_balls].copy()

    def weights_at(self, x: ArrayLike) -> Floats:
        """q, the probabilities the action on this input would be drawn with (K,), numbered as `Decision.expert`."""
        self._advise(x)
        cont_exp3.weigh(self._find(), self._balls)
        chosen = self._levels
        q = np.empty(self.experts.n_experts)
        for weight, size, (i, n_i, j, n_j) in zip(chosen.weight, chosen.size, chosen.box, strict=True):
            members = (np.arange(i, i + n_i) * chosen.stride)[:, np.newaxis] + np.arange(j, j + n_j)
            q[members] = weight / size
        return np.asarray(q / q.sum())

    # The protocol.

    def _advise(self, x: "ArrayLike | Advice") -> tuple[Advice, float]:
        """The actions and the cost; the input itself is put into the first free row."""
        if isinstance(x, Advice):
            raise InputError("x: expected an input, got advice; actions here depend on where x is")
        advice, cost = super()._advise(x)
        self._make_room()
        self._balls.cover.centre[self.n_balls] = x
        return advice, cost

    def _find(self) -> int:
        """The ball of the input in the first free row: the nearest centre's, or a new one's number."""
        if not callable(self.metric):
            return cover.nearest(self._balls.cover)
        if self.n_balls == 0:
            return 0
        x = self._balls.cover.centre[self.n_balls].copy()
        distances = np.asarray(self.metric(x, self.centres), np.float64)
        if distances.shape != (self.n_balls,) or not (distances >= 0.0).all():
            raise InputError(f"metric: expected {self.n_balls} distances that are not negative, got {distances!r}")
        found = int(np.argmin(distances))
        return found if distances[found] <= self.epsilon else self.n_balls

    def _choose(self, advice: Advice, cost: float) -> Choice:
        ball = self._find()
        expert, _, _, probability = cont_exp3.draw(ball, self._random.random(), self._balls)
        return Choice(expert, probability, np.zeros(0, np.bool_), ball)

    def _commit(self, decision: Decision) -> None:
        cont_exp3.visit(decision.place, self._balls)
        if decision.abstained:
            self._learn(decision, False)

    def _fits(self, decision: Decision) -> bool:
        known = 0 <= decision.place < self.n_balls
        return super()._fits(decision) and known and 0.0 < decision.probability <= 1.0 + 1e-9

    def _absorb(self, decision: Decision, losses: NDArray[Any]) -> None:
        self._learn(decision, bool(losses[0] < 0.5))

    def _learn(self, decision: Decision, positive: bool) -> None:
        seen = not decision.abstained
        cont_exp3.learn(decision.place, seen, positive, decision.probability, decision.cost, self._balls)

    @property
    def compiled(self) -> bool:
        return not callable(self.metric)

    def _new_late(self, delay: int) -> Late:
        return no_late(delay, 0, 0, 1, np.uint8 if self.loss.binary else np.float64)

    def _play(
        self, X: Floats, advice: Advice, losses: NDArray[Any], costs: Floats, at: NDArray[np.int64],
        edges: NDArray[np.int64], late: Late | None, out: Played,
    ) -> None:  # fmt: skip
        u, done = self._random.random(len(X)), 0
        if len(at) > 0:
            edges[:] = self.n_edges(X[0])
        while done < len(X):
            self._make_room()
            done = cont_exp3.play(done, self.round + 1, u, X, losses, costs, late, self._balls, out)

    def _learn_late(self, k: int, late: Late) -> None:
        cont_exp3.learn_late(k, late, self._balls)

    def _surrogate(self, expert: NDArray[np.int64], y: Floats, costs: Floats) -> tuple[Floats, float | None]:
        h, r = self._pairs.values
        # The three actions are so far from 0 that L~ is L for every gamma.
        return surrogate(h[expert], r[expert], y, costs, 0.5 if self.gamma is None else self.gamma), self.gamma

    # Copies and files.

    def _options(self) -> dict[str, Any]:
        return {**super()._options(), "epsilon": self._given}

    @classmethod
    def _make(cls, experts: ExpertSet, cost: costs.Cost, loss: losses.Loss, seed: Seed, options: Any) -> Self:
        return cls(cost=cost, seed=seed, **options)

    def __repr__(self) -> str:
        cost = self.cost.value if isinstance(self.cost, costs.Constant) else type(self.cost).__name__
        options = ", ".join(f"{name}={value!r}" for name, value in self._options().items() if name != "dim")
        return f"{type(self).__name__}({self.dim}, cost={cost}, seed={self.seed}, {options})"

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {"centres": self.centres, "sums": self._balls.sums[: self.n_balls].copy()}

    def _set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        centres, sums = arrays["centres"], arrays["sums"]
        n = len(centres)
        if centres.shape != (n, self.dim) or sums.shape != (n, cont_exp3.N_SUMS):
            raise InputError("state: the arrays do not fit this learner")
        self._room(centres, sums)

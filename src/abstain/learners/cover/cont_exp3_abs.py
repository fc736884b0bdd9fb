"""ContEXP3-ABS (algorithm 4): balls that cover the inputs, the actions of a ball, and the learner."""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import costs, losses
from ..._core.validation import as_count, as_number, is_number
from ...engine import Choice, Decision, KernelLearner, Kernels, Seed, check_arrays
from ...errors import InputError, shown
from ...experts import Advice, Constants, ExpertSet
from ...losses import ramp_value, surrogate_value
from ...typing import Array, Floats, Ints
from ..exp3.state import Rate, as_eta, as_horizon, find_rate
from . import kernels as cover
from .kernels import (
    LEARNT,
    N_SUMS,
    PAID,
    VISITS,
    Actions,
    BallState,
    choose,
    choose_in,
    full,
    nearest,
    note,
    update,
    weigh,
)

Metric: TypeAlias = str | Callable[[Floats, Floats], ArrayLike]

METRICS = {"euclidean": cover.EUCLIDEAN, "cityblock": cover.CITYBLOCK, "chebyshev": cover.CHEBYSHEV}
MOST_HASHED = 5
"""Up to this dimension centres are found by a hashed grid, beyond it by a scan."""
_LEAST_CAPACITY = 16
_LEAST_EPSILON = 1e-100
"""Squares of larger numbers, and of their inverses, are finite."""


def radius(T: int, d: int, gamma: float = 1.0) -> float:
    """The radius of theorem 2, ``T^(-1/(2+d)) gamma^(2/(2+d))``, its hidden constant taken as 1."""
    return float(T ** (-1.0 / (2 + d)) * gamma ** (2.0 / (2 + d)))


def as_radius(epsilon: float | None, horizon: int | None, dim: int, gamma: float | None) -> float:
    """The radius that was given, or theorem 2's for the horizon."""
    if epsilon is None:
        if horizon is None:
            raise InputError("epsilon: expected a radius, or the number of rounds as horizon, got neither")
        return radius(horizon, dim, 1.0 if gamma is None else gamma)
    if not is_number(epsilon) or not _LEAST_EPSILON <= epsilon <= 1.0 / _LEAST_EPSILON:
        raise InputError(f"epsilon: expected a positive number (1e-100 to 1e100), got {shown(epsilon)}")
    return float(epsilon)


def as_metric(metric: Metric) -> Metric:
    """A name that is known, or a function."""
    if not callable(metric) and (not isinstance(metric, str) or metric not in METRICS):
        raise InputError(f"metric: expected one of {', '.join(METRICS)} or a function, got {shown(metric)}")
    return metric


def most_balls(epsilon: float, metric: Metric, low: Floats, high: Floats) -> float:
    """How many balls a box can get: a cube with a diagonal of epsilon holds at most one centre."""
    if not isinstance(metric, str):
        return math.inf
    side = epsilon / {"euclidean": math.sqrt(len(low)), "cityblock": len(low), "chebyshev": 1.0}[metric]
    with np.errstate(over="ignore"):
        return float(np.prod(np.ceil(high / side - low / side)))


def room_for(centres: Floats, epsilon: float, metric: Metric, largest: float) -> cover.Cover:
    """A cover with these centres and room for as many again; ``largest`` bounds the coordinates of inputs."""
    n, dim = centres.shape
    capacity = max(_LEAST_CAPACITY, 2 * n)
    # Where epsilon is lost in the rounding of inputs, cells could hide a centre; a scan cannot.
    hashed = dim <= MOST_HASHED and epsilon > cover.FINEST * largest
    places = cover.Cover(
        metric=METRICS[metric] if isinstance(metric, str) else cover.EUCLIDEAN,
        epsilon=epsilon,
        hashed=hashed,
        n_balls=np.zeros(1, np.int64),
        centre=np.zeros((capacity, dim)),
        heads=np.full(2 ** math.ceil(math.log2(capacity)) if hashed else 1, -1),
        chain=np.full(capacity if hashed else 1, -1),
        low=np.zeros(dim, np.int64),
        span=np.zeros(dim, np.int64),
    )
    places.centre[:n] = centres
    cover.enter_all(n, places)
    return places


LEAST_GAMMA = 1e-100
"""Numbers over a smaller one may overflow."""
MOST_PAIRS = 4_000_000
"""Each pair takes 16 bytes, once for all balls."""


def as_gamma(gamma: Any, actions: str) -> float | None:
    """The gamma of the actions: the grid's, in (0, 1); the three have none."""
    if not isinstance(actions, str) or actions not in ("three", "grid"):
        raise InputError(f"actions: expected 'three' or 'grid', got {shown(actions)}")
    if actions == "three":
        if gamma is not None:
            raise InputError(f"gamma: the three actions have none (actions='grid' does), got {shown(gamma)}")
        return None
    return as_number(gamma, "gamma", "a number in (0, 1) for actions='grid'", lambda gamma: LEAST_GAMMA <= gamma < 1.0)


class ActionSet(NamedTuple):
    """Values h and r, which of them are paired, and the actions by their losses."""

    h: NDArray[np.float64]
    r: NDArray[np.float64]
    pairs: Any
    actions: Actions


def three() -> ActionSet:
    """Predict +1, predict -1, abstain."""
    loss = np.array([[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    box = np.array([[0, 1, 0, 1], [1, 1, 0, 1], [2, 1, 0, 1]])
    ends = np.array([1.0, -1.0])
    pairs = np.array([(0, 0), (1, 0), (0, 1)])
    return ActionSet(ends, ends, pairs, Actions(2, 1, loss, np.ones(3), box, np.zeros(3)))


def grid(epsilon: float, gamma: float) -> ActionSet:
    """The centres of n x n equal squares, each within epsilon of its square, numbered from (high h, high r) on.

    In the surrogate loss a predicting pair counts ``1 - (1 - f) m`` with ``m = min(r / gamma, 1)``, where f depends on
    h and the label; an abstaining one ``1 - s + s c`` with ``s = min(-r / gamma, 1)``.
    """
    n = max(2, math.ceil(math.sqrt(2.0) / epsilon))  # two at least: 0 alone would never predict
    if n * n > MOST_PAIRS:
        raise InputError(
            f"epsilon: expected a grid of at most {MOST_PAIRS:,} pairs, got {n:,} x {n:,} for epsilon = {epsilon:g}; "
            "actions='three' competes with all of them"
        )
    h = r = (n - 1.0 - 2.0 * np.arange(n)) / n
    of_positive, of_negative = ramp_value(-h, gamma), ramp_value(h, gamma)
    slope = np.clip(np.abs(r) / gamma, 0.0, 1.0)
    of_h, of_r = _runs(of_positive), _runs(np.where(r > 0.0, slope, -slope))
    loss, box = [], []
    for j, n_j in of_r:
        if r[j] > 0.0:
            for i, n_i in of_h:
                loss.append(
                    [1.0 - (1.0 - of_positive[i]) * slope[j], 1.0 - (1.0 - of_negative[i]) * slope[j], 0.0, 0.0]
                )
                box.append([i, n_i, j, n_j])
    n_predicting = len(loss)
    for j, n_j in of_r:
        if r[j] <= 0.0:
            loss.append([0.0, 0.0, 1.0 - slope[j], slope[j]])
            box.append([0, n, j, n_j])
    places = np.array(box)
    size = (places[:, 1] * places[:, 3]).astype(np.float64)
    return ActionSet(h, r, "product", Actions(n_predicting, n, np.array(loss), size, places, np.zeros(len(loss))))


def _runs(values: NDArray[np.float64]) -> list[tuple[int, int]]:
    """The first place and the length of each run of equal values."""
    first = np.flatnonzero(np.append(True, np.diff(values) != 0.0))
    return list(zip(first.tolist(), np.diff(np.append(first, len(values))).tolist(), strict=True))


MOST_DIM = 1_000_000
"""Features beyond any use, and far from overflow."""


class ContExp3Abs(KernelLearner):
    """ContEXP3-ABS (algorithm 4): cover the inputs by balls of radius epsilon, play EXP3-ABS on constants in each.

    An input that is in no ball becomes the centre of a new one; the nearest centre's EXP3-ABS draws the action, with
    its own rate, as `Exp3Abs` does. ``actions`` are

    - "three" (the default): predict +1, predict -1, abstain. No other constants do better in any ball, so neither
      gamma nor a surrogate loss is needed (to have theorem 2's bound for a certain gamma, give its radius,
      `theory.cont_exp3_abs_epsilon`);
    - "grid", the paper to the letter: pairs of values (h, r) that cover [-1, 1]^2 up to epsilon, the ramp loss
      ``f_gamma(-y h)`` for L, and the surrogate loss L~ to learn from (`losses.surrogate`).

    A ball takes ``8 (d + 6)`` bytes, and up to 24 more to be found; room for up to twice the balls is held. The grid
    takes 16 bytes a pair, once for all balls.

    Args:
        dim: The number of features d.
        cost: The cost of abstaining: a number in [0, 1], one number per round, or a function of x.
        gamma: The width of the ramp and of the surrogate, in (0, 1), for "grid" only.
        horizon: The number of rounds T, unless there is an epsilon.
        epsilon: The radius; unless given ``T^(-1/(2+d)) gamma^(2/(2+d))`` (gamma = 1 for "three").
        eta: The rate: "adaptive" or "anytime", both from a ball's own rounds; "tuned", ``sqrt(N log K / T)`` with a
            bound N on the number of balls; or a number.
        actions: "three" or "grid", as above.
        domain: Where inputs lie: a pair of ends, each a number or one a feature.
        metric: "euclidean", "cityblock", "chebyshev", or a function of x (d,) and centres (n, d) that returns the n
            distances; with a function rounds are not compiled.
        seed: The seed of the learner's random numbers.

    Raises:
        InputError: If an argument has a type or a value that the sentences above exclude, or if there is
            neither an epsilon nor a horizon.

    >>> import abstain as ab
    >>> X, y = ab.datasets.load("synthetic", n=5000, seed=0)
    >>> learner = ContExp3Abs(2, cost=0.2, horizon=5000, seed=0)
    >>> trace = ab.simulate(learner, X, y)
    >>> best = ab.best_pair(X, y, cost=0.2)
    >>> learner.n_balls < 300, bool(trace.regret(best)[-1] < 0.0)
    (True, True)
    """

    kernels = Kernels(choose, update, note, full=full)
    fixed = ("rate", "actions")
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
        metric: Metric = "euclidean",
        seed: Seed = None,
    ) -> None:
        self.dim, self.actions, self.eta = as_count(dim, "dim", most=MOST_DIM), actions, as_eta(eta)
        self.gamma = as_gamma(gamma, actions)
        self.horizon = as_horizon(horizon)
        self.epsilon, self._given = as_radius(epsilon, self.horizon, self.dim, self.gamma), epsilon
        self.metric = as_metric(metric)
        chosen = three() if self.gamma is None else grid(self.epsilon, self.gamma)
        try:
            low, high = domain
        except (TypeError, ValueError):
            raise InputError(f"domain: expected a pair of ends, got {shown(domain)}") from None
        pairs = Constants(self.dim, chosen.h, chosen.r, chosen.pairs, low, high)
        self.domain = (np.asarray(low).tolist(), np.asarray(high).tolist())
        loss = losses.get("zero_one") if self.gamma is None else losses.ramp(self.gamma)
        super().__init__(pairs, cost=cost, loss=loss, seed=seed)
        self._pairs, self._actions = pairs, chosen.actions
        self._find_rate()

    def _find_rate(self) -> Rate:
        spread = 2.0 if self.actions == "grid" else self.cost.largest**2 + 1.0
        return find_rate(self.eta, math.log(self._pairs.n_experts), spread, self.horizon, self._tuned)

    def _tuned(self, T: int) -> float:
        """``sqrt(N log K / T)`` with a bound N on the number of balls."""
        most = most_balls(self.epsilon, self.metric, self._pairs.low, self._pairs.high)
        return math.sqrt(min(T, most) * math.log(self._pairs.n_experts) / T)

    # What it knows.

    def new_state(self) -> BallState:
        return self._state_with(np.zeros((0, self.dim)), np.zeros((0, N_SUMS)))

    def _state_with(self, centres: Floats, sums: Floats) -> BallState:
        """These balls, and room for as many again."""
        largest = float(np.abs([self._pairs.low, self._pairs.high]).max())
        cover = room_for(centres, self.epsilon, self.metric, largest)
        known = np.zeros((len(cover.centre), N_SUMS))
        known[: len(sums)] = sums
        return BallState(self._find_rate(), self._actions, cover, known)

    def grow(self) -> None:
        self.state = self._state_with(self.centres, self.state.sums[: self.n_balls])

    def new_carry(self) -> Floats:
        """The ball, and the probability of predicting."""
        return np.zeros(2)

    def _reprice(self, cost: costs.Constant) -> None:
        """The anytime rate follows the cost."""
        super()._reprice(cost)
        self.state = self.state._replace(rate=self._find_rate())

    @property
    def n_balls(self) -> int:
        """N, the number of balls so far."""
        return int(self.state.cover.n_balls[0])

    @property
    def centres(self) -> Floats:
        """The centres of the balls, in the order they came (N, d)."""
        with self.lock:
            return np.array(self.state.cover.centre[: self.n_balls])

    def weights_at(self, x: ArrayLike) -> Floats:
        """Return q (K,), the probabilities with which the action on an input would be drawn.

        Args:
            x: The input (d,).

        Returns:
            One probability per action, numbered as `Decision.expert`.
        """
        with self.lock:
            self._ask(x)
            self._make_room()
            self.state.cover.centre[self.n_balls] = self._hand.x
            weigh(self._find() if callable(self.metric) else nearest(self.state.cover), self._packed)
            chosen = self.state.actions
            q = np.empty(self.experts.n_experts)
            for weight, size, (i, n_i, j, n_j) in zip(chosen.weight, chosen.size, chosen.box, strict=True):
                members = (np.arange(i, i + n_i) * chosen.stride)[:, np.newaxis] + np.arange(j, j + n_j)
                q[members] = weight / size
            return np.asarray(q / q.sum())

    # The protocol.

    def _ask(self, x: "ArrayLike | Advice") -> tuple[Advice, float]:
        if isinstance(x, Advice):
            raise InputError("x: expected an input, got advice; actions here depend on where x is")
        return super()._ask(x)

    @property
    def compiled(self) -> bool:
        return not callable(self.metric)

    def _find(self) -> int:
        """The ball of the input at hand by a metric that is a Python function: the nearest's, or a new one's number."""
        if self.n_balls == 0 or not callable(self.metric):
            return 0
        distances = np.asarray(self.metric(self._hand.x.copy(), self.centres), np.float64)
        if distances.shape != (self.n_balls,) or not (distances >= 0.0).all():
            raise InputError(f"metric: expected {self.n_balls} distances that are not negative, got {distances!r}")
        found = int(np.argmin(distances))
        return found if distances[found] <= self.epsilon else self.n_balls

    def choose(self, advice: Advice, cost: float) -> Choice:
        if self.compiled:
            return super().choose(advice, cost)
        self._make_room()
        hand = self._hand
        self.state.cover.centre[self.n_balls] = hand.x
        expert, probability = choose_in(self._find(), self._random.random(), hand.carry, self._packed)
        return Choice(expert, probability, hand.carry.copy())

    def fits(self, decision: Decision) -> bool:
        if not super().fits(decision):
            return False
        ball, probability = decision.carry
        if probability == 0.0 and decision.id is not None:  # only a round that waits for no label may have it
            return False
        return bool(0.0 <= ball < self.n_balls and ball == math.floor(ball) and 0.0 <= probability <= 1.0)

    def surrogate(self, expert: Ints, y: Array, costs: Floats) -> tuple[Floats, float | None]:
        h, r = self._pairs.values
        # The three actions are so far from 0 that L~ is L for every gamma.
        return surrogate_value(h[expert], r[expert], y, costs, 0.5 if self.gamma is None else self.gamma), self.gamma

    # Copies and files.

    def _options(self) -> dict[str, Any]:
        return {**super()._options(), "epsilon": self._given}

    def get_params(self) -> dict[str, Any]:
        """Return the arguments that make an equal learner: ``ContExp3Abs(**params)``. It makes its experts itself."""
        return {name: value for name, value in super().get_params().items() if name != "loss"}

    @classmethod
    def _make(cls, experts: ExpertSet, params: Mapping[str, Any]) -> Self:
        return cls(**{name: value for name, value in params.items() if name != "loss"})

    def __repr__(self) -> str:
        cost = self.cost.value if isinstance(self.cost, costs.Constant) else type(self.cost).__name__
        options = ", ".join(f"{name}={value!r}" for name, value in self._options().items() if name != "dim")
        return f"{type(self).__name__}({self.dim}, cost={cost}, seed={self.seed}, {options})"

    def arrays(self) -> dict[str, Array]:
        return {"centres": self.centres, "sums": self.state.sums[: self.n_balls].copy()}

    def set_arrays(self, arrays: Mapping[str, Array]) -> None:
        n = len(arrays["centres"]) if "centres" in arrays and arrays["centres"].ndim else 0
        like = {"centres": np.zeros((n, self.dim)), "sums": np.zeros((n, N_SUMS))}
        check_arrays(arrays, like, signed=("centres",))
        centres, sums = arrays["centres"], arrays["sums"]
        self._pairs.check_inputs(centres)
        counts = sums[:, [VISITS, LEARNT]]
        too_many = (counts > self.round).any() or counts[:, 0].sum() > self.round
        if (counts != np.floor(counts)).any() or too_many or (sums[:, VISITS] < 1.0).any():
            raise InputError(
                f"state: expected 1 to {self.round} visits of every ball, got {counts.min()} to {counts.max()}"
            )
        if (sums[:, LEARNT] > sums[:, VISITS]).any() or (sums[:, PAID] > sums[:, LEARNT]).any():
            raise InputError(
                "state: expected no more to be learnt or paid in a ball than it had visits, got up to "
                f"{sums[:, LEARNT].max()} and {sums[:, PAID].max()}"
            )
        self.state = self._state_with(centres, sums)

"""What the theorems and the appendix promise, checked on results or exactly."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import experts, theory
from ...experiments import (
    GAPPED,
    INSTANCES,
    PART,
    Claim,
    Failure,
    Finding,
    Results,
    Setting,
    by_share,
    not_judged,
)
from ...instances import Regions, simple_example
from ...losses import ramp_value, surrogate
from ...regret import best_in_hindsight
from ...typing import Bools
from .order import CHANGED, slope


class ExampleLosses(NamedTuple):
    """Expected losses at a cost, of classifiers sign(x - theta) with theta at any border of the pieces."""

    border: NDArray[np.float64]
    alone: NDArray[np.float64]
    """Without abstaining, by theta (n,)."""
    paired: NDArray[np.float64]
    """With the rule "abstain up to rho", by theta and rho (n, n)."""


def example_losses(eta: float, cost: float, pieces: int) -> ExampleLosses:
    """Of every expert of `instances.simple_example`: its possible rounds are equally likely, so each is played once."""
    problem = simple_example(eta, cost, pieces)
    X, y = problem.values[:, :-1], problem.values[:, -1]
    total = best_in_hindsight(problem.experts, X, y, cost=cost).total.reshape(pieces + 1, pieces + 2) / len(y)
    return ExampleLosses(np.arange(pieces + 1) / pieces, total[:, -1], total[:, :-1])


DECADE = 10
"""Growth is judged in the last decade, from T / 10 to T: before that, experts are still tried for the first time."""
LOGARITHMIC = 0.25
"""The slope of log R_t against log t. A logarithm has about 1 / log t, 0.09 at T = 300,000; sqrt(t) has 1/2. This limit
is closer to the first."""


def subset_graph(problem: Regions) -> Bools:
    """G^SUB (K, K), from the rules that abstain where another does."""
    relation, rule = problem.experts.rule_subset, problem.experts.rule_of
    assert relation is not None
    return np.asarray(relation[np.ix_(rule, rule)])


def problem_of(setting: Setting) -> Regions:
    """The problem that is played."""
    problem = INSTANCES[setting.dataset](setting.cost)
    assert isinstance(problem, Regions)
    return problem


def gapped(results: Results, *learners: str) -> list[Setting]:
    """The settings with known gaps."""
    return [s for s in results.settings(*results.with_role("theory"), learners=learners) if s.dataset in GAPPED]


def below_and_logarithmic(learner: str, bound: Callable[..., float], results: Results) -> Finding:
    """Two checks per setting: below the bound where it says something, and the slope in the last decade."""
    fails, parts, checks, used = list[Failure](), list[str](), 0, list[str]()
    for setting in gapped(results, learner):
        problem, course = problem_of(setting), setting.learners[learner]
        gaps = np.array(problem.means) - min(problem.means)
        covering = theory.best_covering(gaps, subset_graph(problem))
        bounds = np.array([bound(gaps, covering, int(t)) for t in course.t])
        total, says = course.expected * course.t, bounds < course.t * gaps.max()
        late = course.t >= course.t[-1] / DECADE
        if not says.any() or not (total[late] > 0).all():
            continue
        checks += 2
        used.append(setting.study)
        share, steep = float((total / bounds)[says].max()), slope(course.t[late], total[late])
        where = (setting.dataset, setting.cost)
        if share > 1.0:
            fails.append(Failure(*where, f"mean regret is {share:.2f} times the bound"))
        if steep > LOGARITHMIC:
            fails.append(Failure(*where, f"slope {steep:.3f} in the last decade"))
        parts.append(
            f"{setting.dataset}: at most {share:.3f} times the bound ({total[-1]:,.0f} at T, bound {bounds[-1]:,.0f}, "
            f"T max Delta {course.t[-1] * gaps.max():,.0f}), slope {steep:.3f} in the last decade"
        )
    if not checks:
        return not_judged("theory", "No game in which the bound is below T max Delta")
    return Finding(by_share(checks - len(fails), checks), f"{'; '.join(parts)}.", fails, used)


def _claim(number: int, text: str, learner: str, bound: Any) -> Claim:
    rule = (
        f"{learner}'s mean regret is at most the bound with its proof's constants, for the best covering of G^SUB, at "
        "every checkpoint where the bound is below T max Delta; and the slope of log R_t against log t from T/10 to T "
        f"is at most {LOGARITHMIC:g} (a logarithm has about 0.09, sqrt(t) 0.5). Each is a check in each setting; it "
        f"holds if all do, in part if at least {100 * PART:.0f} %."
    )
    return Claim(number, text, rule, partial(below_and_logarithmic, learner, bound))


THEOREM_3 = _claim(
    20,
    "Theorem 3: UCB-NT's regret on the subset graph is below the bound, and grows as log T.",
    "UCB-NT",
    theory.ucb_nt_bound,
)
THEOREM_4 = _claim(
    21, "Theorem 4: UCB-GT's regret is below the bound, and grows as log T.", "UCB-GT", theory.ucb_gt_bound
)


FEW = 0.1
""""|C| << K": a tenth, or less."""
GRAPHS, MOST = 100, 7
"""The bound is compared with UCB's on so many random graphs with at most so many experts."""
COVERING_EXACT = 1e-9


def paper_covering() -> tuple[int, int]:
    """The size of a covering of G^SUB for the paper's experts, and K."""
    pairs = experts.hyperplanes(2, 100, 20, seed=0)
    assert pairs.rule_subset is not None
    covering = theory.admissible_covering(pairs.rule_subset[np.ix_(pairs.rule_of, pairs.rule_of)])
    return len(covering), pairs.n_experts


def never_more(seed: int = 0) -> tuple[int, int]:
    """The number of random graphs on which the best covering's bound is at most UCB's, and the number of all."""
    rng, good = np.random.default_rng(seed), 0
    for _ in range(GRAPHS):
        K = int(rng.integers(2, MOST + 1))
        gaps = np.where(np.arange(K) == 0, 0.0, rng.uniform(0.05, 1.0, K))
        graph = (rng.random((K, K)) < rng.random()) | np.eye(K, dtype=np.bool_)
        best = theory.ucb_nt_bound(gaps, "best", 10**9, graph=graph)
        good += best <= theory.ucb_nt_bound(gaps, [[k] for k in range(K)], 10**9) * (1.0 + COVERING_EXACT)
    return good, GRAPHS


def equal_gaps(n_sets: int, size: int) -> float:
    """The part of the bound that grows with T, as a share of UCB's, for sets of experts with equal gaps."""
    gaps = np.full(n_sets * size, 0.25)
    sets, single = [list(range(k, k + size)) for k in range(0, len(gaps), size)], [[k] for k in range(len(gaps))]
    grown = [
        theory.ucb_nt_bound(gaps, covering, 10**12) - theory.ucb_nt_bound(gaps, covering, 10**9)
        for covering in (sets, single)
    ]
    return grown[0] / grown[1]


def few_sets(results: Results) -> Finding:
    """Check the theory, and regret in settings with known gaps."""
    n_sets, K = paper_covering()
    good, graphs = never_more()
    shares = {(m, n): equal_gaps(m, n) for m, n in ((2, 10), (5, 4), (20, 100))}
    checks = {
        f"G^SUB of the paper's experts has a covering by {n_sets} sets, K = {K:,}": n_sets <= FEW * K,
        f"the bound is at most UCB's on {good} of {graphs} random graphs": good == graphs,
        "with equal gaps its part that grows is |C|/K of UCB's": all(
            abs(share - 1.0 / n) <= COVERING_EXACT for (_, n), share in shares.items()
        ),
    }
    settings = gapped(results, "UCB", "UCB-NT")
    if not settings:
        return not_judged("theory")
    for setting in settings:
        nt, ucb = setting.regret("UCB-NT"), setting.regret("UCB")
        checks[f"UCB-NT has R_T/T {nt:.5f}, UCB {ucb:.5f} on {setting.dataset}"] = nt < ucb
    fails = [Failure("coverings", None, what) for what, held in checks.items() if not held]
    numbers = "; ".join(checks)
    numbers = f"{numbers[0].upper()}{numbers[1:]}."
    return Finding(by_share(len(checks) - len(fails), len(checks)), numbers, fails, [s.study for s in settings])


FEW_SETS = Claim(
    25,
    "Feedback graphs can have admissible coverings with far fewer sets than experts; the bound is then up to |C|/K of "
    "UCB's, and never more than UCB's.",
    f"Far fewer: G^SUB of the paper's experts has a covering by at most {FEW:g} K sets. Never more: with the best "
    f"covering, on {GRAPHS} random graphs with random gaps. Up to: for experts with equal gaps, the part of the bound "
    "that grows with T is exactly so much. (These three are mathematics: only a mistake in the code could break them.) "
    "And UCB-NT's mean R_T/T is less than UCB's in each setting with known gaps. It holds if all checks do, in part if "
    "at least half.",
    few_sets,
    changed=CHANGED,
)


POINTS = 161
"""Values of h and of r in [-1, 1]."""
COSTS, GAMMAS = (0.0, 0.2, 0.5, 1.0), (0.05, 0.2, 0.5, 0.9)
EXACT = 1e-9
"""Up to rounding."""
STEEPEST = 2.0
"""L~ is 2/gamma-Lipschitz in (a, r), by the Euclidean distance."""


def properties(cost: float, gamma: float) -> tuple[dict[str, bool], float]:
    """Which of the four properties hold on a grid, and gamma times the steepest slope between neighbours."""
    values = np.linspace(-1.0, 1.0, POINTS)
    h, r = values[:, np.newaxis], values[np.newaxis, :]
    both = [surrogate(h, r, y, cost, gamma) for y in (1.0, -1.0)]
    losses = [np.where(r > 0.0, ramp_value(-y * h, gamma), cost) for y in (1.0, -1.0)]
    far, step = np.abs(values) >= gamma, values[1] - values[0]
    slopes = [np.abs(L[1:] - L[:-1]).max() / step for L in both] + [
        np.abs(L[:, 1:] - L[:, :-1]).max() / step for L in both
    ]
    for L in both:
        crossed = (L[1:, 1:] - L[:-1, :-1], L[1:, :-1] - L[:-1, 1:])
        slopes += [np.abs(change).max() / (step * np.sqrt(2.0)) for change in crossed]
    steepest = float(max(slopes)) * gamma
    return {
        "L~ is at least L": all((ours >= L - EXACT).all() for ours, L in zip(both, losses, strict=True)),
        "L~ is L where |r| >= gamma": all(
            (np.abs(ours - L)[:, far] <= EXACT).all() for ours, L in zip(both, losses, strict=True)
        ),
        "L~ is 2/gamma-Lipschitz": steepest <= STEEPEST + EXACT,
        "L~ does not depend on y where r <= 0": bool((both[0] == both[1])[:, values <= 0.0].all()),
    }, steepest


def four_properties(results: Results) -> Finding:
    """Each property for each cost and gamma is a check."""
    fails, steepest, checks = [], 0.0, 0
    for cost in COSTS:
        for gamma in GAMMAS:
            found, slope = properties(cost, gamma)
            steepest, checks = max(steepest, slope), checks + len(found)
            fails += [
                Failure(f"gamma = {gamma:g}", cost, f"not so: {what}") for what, good in found.items() if not good
            ]
    numbers = (
        f"{checks - len(fails)} of {checks} checks, four for each of {len(COSTS) * len(GAMMAS)} pairs of a cost and a "
        f"gamma, on {POINTS} x {POINTS} pairs (h, r) and both labels; the steepest slope is {steepest:.3f}/gamma."
    )
    return Finding(by_share(checks - len(fails), checks), numbers, fails)


FOUR_PROPERTIES = Claim(
    23,
    "The surrogate loss L~ is above L, is L where |r| >= gamma, is 2/gamma-Lipschitz, and does not depend on y where "
    "r <= 0.",
    "Each property is tried on a grid of pairs (h, r), for several costs and gammas; up to rounding. It holds if all "
    "do.",
    four_properties,
)


PIECES = 40
"""Pieces of the line. A threshold can be at any border between them."""
EXAMPLE_EXACT = 1e-9
"""The sums are exact up to rounding."""


def least_losses(P: float, cost: float) -> tuple[float, float]:
    """The least expected loss of a pair (a threshold, perhaps with a rule), and of a threshold that never abstains."""
    found = example_losses(P, cost, PIECES)
    threshold = float(found.alone.min())
    return min(threshold, float(found.paired.min())), threshold


def pair_and_threshold(results: Results) -> Finding:
    """For several P = Pr[x <= eta] and costs below 1/2, by trying all pairs on a grid."""
    cases = [(P, cost) for P in (0.1, 0.3, 0.5, 0.8) for cost in (0.05, 0.2, 0.4)]
    fails = []
    for P, cost in cases:
        pair, threshold = least_losses(P, cost)
        if abs(pair - cost * P) > EXAMPLE_EXACT or abs(threshold - P / 2) > EXAMPLE_EXACT:
            fails.append(Failure(f"P = {P}", cost, f"pair {pair:.4f}, threshold {threshold:.4f}"))
    pair, threshold = least_losses(0.5, 0.2)
    numbers = (
        f"As stated for {len(cases) - len(fails)} of {len(cases)} choices of P and c < 1/2, over all pairs of a grid; "
        f"P = 0.5, c = 0.2: pair {pair:.3f}, threshold {threshold:.3f}."
    )
    return Finding(by_share(len(cases) - len(fails), len(cases)), numbers, fails)


SIMPLE_EXAMPLE = Claim(
    18,
    "In the simple example of figure 6 the best pair pays c P, the best threshold P/2.",
    "All pairs of a grid (`instances.simple_example`) are tried, for several P and costs below 1/2; equal up to "
    "rounding.",
    pair_and_threshold,
)

"""The bounds of theorems 3 and 4, and regret that grows as log T (claims 20 and 21)."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ... import theory
from ...instances import Regions
from ...typing import Bools
from ..problems import GAPPED, INSTANCES
from .claim import Claim
from .results import Results
from .settings import Setting
from .slope import slope
from .verdict import PART, Failure, Finding, by_share, not_judged

DECADE = 10
"""How regret grows is seen in the last decade, from T / 10 to T: before, everybody has still to be tried."""
LOGARITHMIC = 0.25
"""The slope of log R_t against log t: log t has about 1 / log t, 0.09 where T = 300,000; sqrt(t) has 1/2. Half of
that is nearer to the first."""


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
    """The settings whose gaps are known."""
    return [s for s in results.with_role("theory", learners) if s.dataset in GAPPED]


def below_and_logarithmic(learner: str, bound: Callable[..., float], results: Results) -> Finding:
    """Two checks a setting: below the bound where it says something; slope in the last decade."""
    fails, parts, checks, used = list[Failure](), list[str](), 0, list[str]()
    for setting in gapped(results, learner):
        problem, line = problem_of(setting), setting.lines[learner]
        gaps = np.array(problem.means) - min(problem.means)
        covering = theory.best_covering(gaps, subset_graph(problem))
        bounds = np.array([bound(gaps, covering, int(t)) for t in line.t])
        total, says = line.regret * line.t, bounds < line.t * gaps.max()
        late = line.t >= line.t[-1] / DECADE
        if not says.any() or not (total[late] > 0).all():
            continue
        checks += 2
        used.append(setting.study)
        share, steep = float((total / bounds)[says].max()), slope(line.t[late], total[late])
        where = (setting.dataset, setting.cost)
        if share > 1.0:
            fails.append(Failure(*where, f"mean regret is {share:.2f} times the bound"))
        if steep > LOGARITHMIC:
            fails.append(Failure(*where, f"slope {steep:.3f} in the last decade"))
        parts.append(
            f"{setting.dataset}: at most {share:.3f} times the bound ({total[-1]:,.0f} at T, bound {bounds[-1]:,.0f}, "
            f"T max Delta {line.t[-1] * gaps.max():,.0f}), slope {steep:.3f} in the last decade"
        )
    if not checks:
        return not_judged("theory", "No game in which the bound is below T max Delta")
    return Finding(by_share(checks - len(fails), checks), f"{'; '.join(parts)}.", fails, used)


def _claim(number: int, text: str, learner: str, bound: Any) -> Claim:
    rule = (
        f"{learner}'s mean regret is at most the bound with its proof's constants, for the best covering of G^SUB, at "
        "every checkpoint where the bound is below T max Delta; and the slope of log R_t against log t from T/10 to T "
        f"is at most {LOGARITHMIC:g} (a logarithm has about 0.09, sqrt(t) 0.5). Each is a check in each setting; it "
        f"holds if all do, in part if at least {PART:.0%}."
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

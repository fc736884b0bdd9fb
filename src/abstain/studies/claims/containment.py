"""Whether the subset graph is inside UCB-GT's (claim 15)."""

import numpy as np

from ... import experts, graphs
from ...learners import UCBGT
from .claim import Claim
from .results import Results
from .settings import Setting
from .verdict import IN_ALL, Failure, Finding, by_share, not_judged

BOTH = ("UCB-NT", "UCB-GT")


def subset_inside(rounds: int = 200, seed: int = 0) -> tuple[int, int]:
    """Play UCB-GT on small random problems; in how many rounds G^SUB was inside its graph, of how many.

    The graphs are compared edge by edge, before each round, on rings, balls, acceptance rings, axis planes and
    thresholds, at two costs and with both values of beta.
    """
    inside = 0
    rng = np.random.default_rng(seed)
    problems = [experts.hyperplanes(2, 3, 5, regions=kind, seed=seed) for kind in ("rings", "balls", "accept_rings")]
    problems += [experts.axis_planes(2, 2, [0.0, 0.1, 0.3]), experts.thresholds(2, [0.0, 0.2, 0.4, 0.6])]  # type: ignore[list-item]
    learners = [UCBGT(problem, cost=c, beta=b) for problem in problems for c, b in ((0.2, 2.5), (0.4, 0.625))]
    for learner in learners:
        X, y = rng.uniform(-1.0, 1.0, (rounds, 2)), rng.choice([-1.0, 1.0], rounds)
        for x, label in zip(X, y, strict=True):
            now = learner.moment(x)
            inside += bool((graphs.subset().matrix(now) <= learner.graph.matrix(now)).all())
            decision = learner.decide(x)
            if not decision.abstained:
                learner.learn(decision, label)
    return inside, rounds * len(learners)


def holds_the_subset_graph(results: Results) -> Finding:
    """Played out on small problems; in every setting of every study the mean numbers of edges are compared."""
    inside, rounds = subset_inside()
    played = f"On ten small random problems G^SUB was inside UCB-GT's graph in {inside:,} of {rounds:,} rounds"
    settings = results.settings(*results.main, learners=BOTH)
    for study in results.studies:
        if study not in results.main and not results.roles[study].is_reading:
            settings += [s for s in results.settings(study, learners=BOTH) if not s.role.repeats(s.dataset)]
    if not settings:
        return not_judged("main", f"{played}, but there are no runs to count edges in")
    fails = [Failure(s.dataset, s.cost, f"{note} ({s.study})") for s in settings if (note := _not_more(s))]
    good = len(settings) - len(fails)
    fewer = sum(bool((s.lines["UCB-GT"].edges < s.lines["UCB-NT"].edges).any()) for s in settings)
    numbers = (
        f"{played}; it has more edges than UCB-NT's at T on {good} of {len(settings)} settings, and fewer at some "
        f"checkpoint on {fewer}."
    )
    verdict = by_share(good, len(settings)) if inside == rounds else "fails"
    return Finding(verdict, numbers, fails, [s.study for s in settings])


def _not_more(setting: Setting) -> str:
    """Where UCB-GT has fewer edges, or no more at T; nothing if nowhere."""
    nt, gt = (setting.lines[name] for name in BOTH)
    below = np.flatnonzero(gt.edges < nt.edges)
    if not len(below) and gt.edges[-1] > nt.edges[-1]:
        return ""
    at = int(below[0]) if len(below) else -1
    return f"UCB-GT has {gt.edges[at]:,.0f}, UCB-NT {nt.edges[at]:,.0f} at t = {gt.t[at]:,}"


INSIDE = Claim(
    15,
    "The subset graph is inside UCB-GT's graph in every round, which has more edges.",
    "Inside: edge by edge, before each round, on small random problems; if not, it fails. More: in a setting the mean "
    "number of UCB-GT's edges is at least UCB-NT's, on the subset graph, at every checkpoint, and more at T. "
    f"{IN_ALL} (The paper does not say that UCB-GT's edges become fewer; they do where an edge meets its first "
    "violation.)",
    holds_the_subset_graph,
)

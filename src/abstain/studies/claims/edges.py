"""How many edges the graphs have (claim 5), and how UCB-GT's changes (claim 15)."""

from collections.abc import Sequence

import numpy as np

from ... import experts, graphs
from ...learners import UCBGT
from .claim import Claim
from .order import scope
from .settings import MAIN, Results, Run, Setting
from .verdict import IN_ALL, Failure, Finding, by_share, not_judged

MILLION = 1_000_000
LEAST, MOST = 1, 3
"""Millions of UCB-GT's edges at T, rounded to whole millions: the paper's own 3.07 to 3.29 on cod-rna are its "1 to 3
million"."""
TIMES = 5
""""At least a factor of 5 more than for UCB-NT"."""
UCB_NT, ORDER = 200_000, 2.0
""""Of the order 200,000": no more than twice it, no less than half."""
FULL = 4
"""FS's millions of edges, rounded; and they are all, K^2, where K is the number of UCB's self-loops."""


def _wrong(setting: Setting) -> str:
    ucb, nt, gt, fs = (float(setting.lines[name].edges[-1]) for name in ("UCB", "UCB-NT", "UCB-GT", "FS"))
    wrong = []
    if not LEAST <= _rounded(gt) <= MOST:
        wrong.append(f"UCB-GT has {gt / MILLION:.2f} million")
    if gt < TIMES * nt:
        wrong.append(f"UCB-GT has {gt / nt:.1f} times UCB-NT's")
    if not UCB_NT / ORDER <= nt <= UCB_NT * ORDER:
        wrong.append(f"UCB-NT has {nt:,.0f}")
    if fs != ucb**2 or _rounded(fs) != FULL:
        wrong.append(f"FS has {fs / MILLION:.2f} million, K = {ucb:,.0f}")
    return "; ".join(wrong)


def _rounded(edges: float) -> int:
    """In whole millions, halves up."""
    return int(np.floor(edges / MILLION + 0.5))


def how_many_edges(results: Results) -> Finding:
    """Claim 5, at T, in every setting."""
    settings = results.settings(*results.main, learners=("UCB", "UCB-NT", "UCB-GT", "FS"))
    if not settings:
        return not_judged(results.main[0])
    fails = [Failure(s.dataset, s.cost, wrong) for s in settings if (wrong := _wrong(s))]

    def between(learner: str, unit: float, digits: str) -> str:
        values = [float(setting.lines[learner].edges[-1]) / unit for setting in settings]
        low, high = f"{min(values):{digits}}", f"{max(values):{digits}}"
        return low if low == high else f"{low} to {high}"

    numbers = (
        f"As stated on {len(settings) - len(fails)} of {scope(settings, results.main[0])}; at T UCB-GT has "
        f"{between('UCB-GT', MILLION, '.2f')} million, UCB-NT {between('UCB-NT', 1, ',.0f')}, "
        f"FS {between('FS', MILLION, '.2f')} million."
    )
    return Finding(by_share(len(settings) - len(fails), len(settings)), numbers, fails, [s.study for s in settings])


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


def _not_falling(runs: Sequence[Run]) -> str:
    """Of how many runs of a setting the edges rise, or end where they began; nothing if of none."""
    rising = sum(bool((np.diff(run.edges) > 0).any()) for run in runs)
    staying = sum(bool((np.diff(run.edges) == 0).all()) for run in runs)
    counts = (rising, "rise"), (staying, "stay the same")
    return ", ".join(f"they {word} in {count} of {len(runs)} runs" for count, word in counts if count)


def edges_fall(results: Results) -> Finding:
    """Claim 15: containment played out on small problems; "falls with t" read from every run of every study.

    Edges fall in a setting if in none of its runs they rise between checkpoints, or stay the same throughout.
    """
    inside, rounds = subset_inside()
    played = f"On ten small random problems G^SUB was inside UCB-GT's graph in {inside:,} of {rounds:,} rounds"
    places: dict[tuple[str, str, float], list[Run]] = {}
    for run in results.runs("UCB-GT"):
        role = results.roles[run.study]
        other = role.is_reading or role.repeats(run.dataset)
        if not other and len(run.t) > 1:
            places.setdefault((run.study, run.dataset, run.cost), []).append(run)
    for more in range(1, len(MAIN)):  # the same runs once more
        for study, dataset, cost in list(places):
            if study == MAIN[more] and any((first, dataset, cost) in places for first in MAIN[:more]):
                del places[study, dataset, cost]
    runs = [run for here in places.values() for run in here]
    if not runs:
        return not_judged("main", f"{played}, but there are no runs to count edges in")
    fails = [
        Failure(dataset, cost, f"{note} ({study})")
        for (study, dataset, cost), here in sorted(places.items())
        if (note := _not_falling(here))
    ]
    good = len(places) - len(fails)
    numbers = f"{played}; its edges fall in every run on {good} of {len(places)} settings ({len(runs):,} runs)."
    verdict = by_share(good, len(places)) if inside == rounds else "fails"
    return Finding(verdict, numbers, fails, [run.study for run in runs])


HOW_MANY = Claim(
    5,
    "UCB-GT's graph has 1 to 3 million edges, at least 5 times UCB-NT's about 200,000; FS's has all 4 million.",
    f"At T: UCB-GT {LEAST} to {MOST} million, rounded (the published 3.07 is 3), and at least {TIMES} times UCB-NT's; "
    f"UCB-NT within a factor of {ORDER:g} of {UCB_NT:,}; FS K^2, about {FULL} million. {IN_ALL}",
    how_many_edges,
)
FALL = Claim(
    15,
    "The subset graph is inside UCB-GT's graph in every round, and UCB-GT's edges fall with t.",
    "Inside: edge by edge, before each round, on small random problems; if not, it fails. Edges fall in a setting if "
    f"in none of its runs they rise between checkpoints or stay the same throughout. {IN_ALL}",
    edges_fall,
)

"""How many edges the graphs have (claims 5 and 15)."""

from collections.abc import Sequence

import numpy as np

from ... import experts, graphs
from ...experiments import IN_ALL, Claim, Failure, Finding, Results, Setting, Word, by_share, not_judged
from ...learners import UCBGT
from .order import CHANGED, main_study, scope

MILLION = 1_000_000
LEAST, MOST = 1, 3
"""Whole millions of UCB-GT's edges at T. The paper rounds: its own 3.07 to 3.29 on cod-rna are its "1 to 3 million".
The numbers also tell how many are in between without rounding."""
TIMES = 5
""""At least a factor of 5 more than for UCB-NT"."""
UCB_NT, ORDER = 200_000, 2.0
""""Of the order 200,000": no more than twice it, no less than half."""
FULL = 4
"""FS's millions of edges, rounded. They must be all, K^2, where K is the number of UCB's self-loops."""

DEPICTED = (("cod-rna", 0.2), ("guide", 0.1))
""""For both experiments depicted ...", those of figure 5; ..."""
GENERAL = 0.5
"""... "and in general for the rest of the datasets": a rule with exceptions, so on more than half of the other
sets, each at all its costs."""

RINGS = 20
"""The number of rings in our reading."""


def _wrong(setting: Setting) -> str:
    ucb, nt, gt, fs = (float(setting.learners[name].edges[-1]) for name in ("UCB", "UCB-NT", "UCB-GT", "FS"))
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
    """In whole millions, halves rounded up."""
    return int(np.floor(edges / MILLION + 0.5))


def _empty_rings(results: Results, settings: Sequence[Setting]) -> str:
    """Explain the number of UCB-GT's edges in our reading: 100 predictors, 20 disjoint rings.

    The threshold stays below one co-occurrence, so an edge lives until its first violation. Rings without rows keep all
    their edges, to themselves and to others; other rings keep those inside the ring.
    """
    pairs = [(s.learners["UCB"].edges[-1], s.learners["UCB-NT"].edges[-1]) for s in settings]
    if any(pair != (100 * RINGS, 100**2 * RINGS) for pair in pairs):
        return ""
    wanted = {(s.study, s.dataset, s.cost) for s in settings}
    edges = [run.edges[-1] for run in results.runs("UCB-GT") if (run.study, run.dataset, run.cost) in wanted]
    left = {100**2 * ((RINGS - 1) * m + RINGS) for m in range(RINGS + 1)}
    return (
        f"; in {sum(n in left for n in edges):,} of {len(edges):,} runs they are exactly 10^4 (19 m + 20) for a whole "
        "m, those that are left where m of the 20 rings are empty"
    )


def how_many_edges(results: Results) -> Finding:
    """Count edges at T, in both experiments depicted and in general."""
    settings = results.settings(*results.main, learners=("UCB", "UCB-NT", "UCB-GT", "FS"))
    if not settings:
        return not_judged(main_study(results))
    wrong = {(s.dataset, s.cost): note for s in settings if (note := _wrong(s))}
    places = [(s.dataset, s.cost) for s in settings]
    depicted = [place for place in places if place in DEPICTED]
    rest = {dataset for dataset, _ in places} - {dataset for dataset, _ in DEPICTED}
    good = rest - {dataset for dataset, _ in wrong}
    asked = [not any(place in wrong for place in depicted)] if depicted else []
    asked += [len(good) > GENERAL * len(rest)] if rest else []
    parts = [f"{sum(place not in wrong for place in depicted)} of the {len(depicted)} depicted"] if depicted else []
    parts += [f"{len(good)} of {len(rest)} other sets"] if rest else []

    def between(learner: str, unit: float, digits: str) -> str:
        values = [float(setting.learners[learner].edges[-1]) / unit for setting in settings]
        low, high = f"{min(values):{digits}}", f"{max(values):{digits}}"
        return low if low == high else f"{low} to {high}"

    strictly = sum(LEAST * MILLION <= s.learners["UCB-GT"].edges[-1] <= MOST * MILLION for s in settings)
    numbers = (
        f"As stated on {' and '.join(parts)} ({len(settings) - len(wrong)} of {scope(settings, main_study(results))}); "
        f"at T UCB-GT has {between('UCB-GT', MILLION, '.2f')} million, UCB-NT {between('UCB-NT', 1, ',.0f')}, "
        f"FS {between('FS', MILLION, '.2f')} million; UCB-GT's are between {LEAST} and {MOST} million without rounding "
        f"on {strictly}{_empty_rings(results, settings)}."
    )
    verdict: Word = "holds" if all(asked) else "holds in part" if any(asked) else "fails"
    fails = [Failure(*place, note) for place, note in wrong.items()]
    return Finding(verdict, numbers, fails, [s.study for s in settings])


HOW_MANY = Claim(
    5,
    "For both experiments depicted, and in general, UCB-GT's graph has 1 to 3 million edges, at least 5 times UCB-NT's "
    "about 200,000; FS's has all 4 million.",
    f"At T: UCB-GT {LEAST} to {MOST} million in whole millions, so from {LEAST - 0.5:g} to below {MOST + 0.5:g} (the "
    f"paper rounds: it publishes 3.07 to 3.29), and at least {TIMES} times UCB-NT's; UCB-NT within a factor of "
    f"{ORDER:g} of {UCB_NT:,}; FS K^2, about {FULL} million. It holds if so in both settings of figure 5 (those that "
    f"were run) and, in general, at all costs of more than {100 * GENERAL:.0f} % of the other sets; in part if only "
    "one of these is so.",
    how_many_edges,
    of_readings=True,
    changed=CHANGED,
)


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
    """Compare graphs on small problems, and mean numbers of edges in every setting of every study."""
    inside, rounds = subset_inside()
    played = f"On ten small random problems G^SUB was inside UCB-GT's graph in {inside:,} of {rounds:,} rounds"
    settings = results.settings(*results.main, learners=BOTH)
    for study in results.names:
        if study not in (*results.main, *results.with_role("reading")):
            settings += [s for s in results.settings(study, learners=BOTH) if not s.is_unscaled_twin]
    if not settings:
        return not_judged("main", f"{played}, but there are no runs to count edges in")
    fails = [Failure(s.dataset, s.cost, f"{note} ({s.study})") for s in settings if (note := _not_more(s))]
    good = len(settings) - len(fails)
    fewer = sum(bool((s.learners["UCB-GT"].edges < s.learners["UCB-NT"].edges).any()) for s in settings)
    numbers = (
        f"{played}; it has more edges than UCB-NT's at T on {good} of {len(settings)} settings, and fewer at some "
        f"checkpoint on {fewer}."
    )
    verdict = by_share(good, len(settings)) if inside == rounds else "fails"
    return Finding(verdict, numbers, fails, [s.study for s in settings])


def _not_more(setting: Setting) -> str:
    """The first checkpoint at which UCB-GT has fewer edges, or T if it has no more there; empty if there is none."""
    nt, gt = (setting.learners[name] for name in BOTH)
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
    changed=CHANGED,
)

"""Admissible coverings with fewer sets than experts (claim 25)."""

import numpy as np

from ... import experts, theory
from .claim import Claim
from .results import Results
from .stochastic import gapped
from .verdict import Failure, Finding, by_share, not_judged

FEW = 0.1
""""|C| << K": a tenth, or less."""
GRAPHS, MOST = 100, 7
"""Random graphs, and their experts at most, on which the bound is compared with UCB's."""
EXACT = 1e-9


def paper_covering() -> tuple[int, int]:
    """The sets of a covering of G^SUB for the paper's experts, and K."""
    pairs = experts.hyperplanes(2, 100, 20, seed=0)
    assert pairs.rule_subset is not None
    covering = theory.admissible_covering(pairs.rule_subset[np.ix_(pairs.rule_of, pairs.rule_of)])
    return len(covering), pairs.n_experts


def never_more(seed: int = 0) -> tuple[int, int]:
    """On how many random graphs with random gaps the best covering's bound is at most UCB's, of how many."""
    rng, good = np.random.default_rng(seed), 0
    for _ in range(GRAPHS):
        K = int(rng.integers(2, MOST + 1))
        gaps = np.where(np.arange(K) == 0, 0.0, rng.uniform(0.05, 1.0, K))
        graph = (rng.random((K, K)) < rng.random()) | np.eye(K, dtype=np.bool_)
        best = theory.ucb_nt_bound(gaps, "best", 10**9, graph=graph)
        good += best <= theory.ucb_nt_bound(gaps, [[k] for k in range(K)], 10**9) * (1.0 + EXACT)
    return good, GRAPHS


def equal_gaps(n_sets: int, size: int) -> float:
    """How much smaller the part of the bound that grows with T is than UCB's, for sets of experts with equal gaps."""
    gaps = np.full(n_sets * size, 0.25)
    sets, single = [list(range(k, k + size)) for k in range(0, len(gaps), size)], [[k] for k in range(len(gaps))]
    grown = [
        theory.ucb_nt_bound(gaps, covering, 10**12) - theory.ucb_nt_bound(gaps, covering, 10**9)
        for covering in (sets, single)
    ]
    return grown[0] / grown[1]


def few_sets(results: Results) -> Finding:
    """From the theory, and from regret where the gaps are known."""
    n_sets, K = paper_covering()
    good, graphs = never_more()
    shares = {(m, n): equal_gaps(m, n) for m, n in ((2, 10), (5, 4), (20, 100))}
    checks = {
        f"G^SUB of the paper's experts has a covering by {n_sets} sets, K = {K:,}": n_sets <= FEW * K,
        f"the bound is at most UCB's on {good} of {graphs} random graphs": good == graphs,
        "with equal gaps its part that grows is |C|/K of UCB's": all(
            abs(share - 1.0 / n) <= EXACT for (_, n), share in shares.items()
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
)

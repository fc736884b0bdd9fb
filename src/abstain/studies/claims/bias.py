"""Where the instance's own graph misleads UCB-NT (claim 11)."""

import numpy as np

from ... import instances
from .claim import Claim
from .results import Results
from .settings import Run
from .verdict import Failure, Finding, Word, not_judged

OWN, SAFE = "UCB-NT, own graph", ("UCB-NT", "UCB-GT")

LINEAR = 0.5
"""A run's regret is linear if over its second half it pays at least this share of the gap in every round, on average: a
learner stuck with the wrong expert pays all of it, one with logarithmic regret next to nothing."""
OFTEN = 0.5
"""The claim holds if at least this share of the runs is linear: the paper says it "leads to poor regret"."""
SELDOM = 0.1
"""... and if it is the graph that does it: of the runs on the safe graphs at most this share is linear."""


def is_linear(run: Run, gap: float) -> bool:
    """Whether R_T - R_{T/2} is at least ``LINEAR * gap * T / 2`` (from the checkpoint nearest to T / 2 on)."""
    half = int(np.argmin(np.abs(run.t - run.t[-1] / 2)))
    return bool(run.regret[-1] - run.regret[half] >= LINEAR * gap * (run.t[-1] - run.t[half]))


def bias_runs(results: Results, learner: str, dataset: str) -> list[Run]:
    """The runs of a learner on a set, in studies with the role "bias"."""
    studies = results.roles.named("bias")
    return [run for run in results.runs(learner, dataset=dataset) if run.study in studies]


def linear_regret(results: Results) -> Finding:
    """On the bias problem of figure 3."""
    dataset, instance = "bias-problem", instances.bias_problem()
    gap = max(instance.means) - min(instance.means)
    runs = {
        name: [run for run in bias_runs(results, name, dataset) if run.cost == instance.cost] for name in (OWN, *SAFE)
    }
    if not runs[OWN] or not any(runs[name] for name in SAFE):
        return not_judged("bias")
    shares = {name: sum(is_linear(run, gap) for run in found) / len(found) for name, found in runs.items() if found}
    safe = max(share for name, share in shares.items() if name != OWN)
    verdict: Word = "fails"
    if shares[OWN] >= OFTEN and safe <= SELDOM:
        verdict = "holds"
    elif shares[OWN] > safe:
        verdict = "holds in part"
    listed = ", ".join(f"{share:.0%} of {len(runs[name])} runs of {name}" for name, share in shares.items())
    numbers = f"Linear regret (half the gap of {gap:.4f} or more in every late round) in {listed}."
    fails = [] if verdict == "holds" else [Failure(dataset, instance.cost, f"linear in {listed}")]
    return Finding(verdict, numbers, fails, [run.study for run in runs[OWN]])


BIAS_PROBLEM = Claim(
    11,
    "UCB-NT on the instance's own graph has linear regret on the bias problem.",
    f"A run is linear if over its second half it pays at least {LINEAR:.0%} of the gap in every round on average. "
    f"It holds if at least {OFTEN:.0%} of the runs on the own graph are, and at most {SELDOM:.0%} of "
    "those of UCB-NT on the subset graph and of UCB-GT; in part if merely more than of these.",
    linear_regret,
)

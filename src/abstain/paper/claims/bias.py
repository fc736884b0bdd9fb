"""Where the instance's own graph misleads UCB-NT (claims 11 and 12)."""

from itertools import pairwise

import numpy as np

from ... import instances
from ...experiments import PROPOSITION_1, Claim, Failure, Finding, Results, Run, Word, not_judged
from .order import CHANGED

OWN, SAFE = "UCB-NT, own graph", ("UCB-NT", "UCB-GT")

LINEAR = 0.5
"""A run's regret is linear if over its second half it pays at least this share of the gap per round on average. A
learner stuck with the wrong expert pays all of it, one with logarithmic regret almost nothing."""
OFTEN = 0.5
"""The claim holds if at least this share of the runs is linear: the paper says it "leads to poor regret"."""
SELDOM = 0.1
"""And if the graph is the reason: at most this share of the runs on the safe graphs is linear."""


def is_linear(run: Run, gap: float) -> bool:
    """Whether R_T - R_{T/2} is at least ``LINEAR * gap * T / 2`` (from the checkpoint nearest to T / 2 on)."""
    half = int(np.argmin(np.abs(run.t - run.t[-1] / 2)))
    return bool(run.regret[-1] - run.regret[half] >= LINEAR * gap * (run.t[-1] - run.t[half]))


def bias_runs(results: Results, learner: str, dataset: str) -> list[Run]:
    """The runs of a learner on a set, in studies with the role "bias"."""
    studies = results.with_role("bias")
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
    listed = ", ".join(f"{100 * share:.0f} % of {len(runs[name])} runs of {name}" for name, share in shares.items())
    numbers = f"Linear regret (half the gap of {gap:.4f} or more in every late round) in {listed}."
    fails = [] if verdict == "holds" else [Failure(dataset, instance.cost, f"linear in {listed}")]
    return Finding(verdict, numbers, fails, [run.study for run in runs[OWN]])


BIAS_PROBLEM = Claim(
    11,
    "UCB-NT on the instance's own graph has linear regret on the bias problem.",
    f"A run is linear if over its second half it pays at least {100 * LINEAR:.0f} % of the gap in every round on "
    f"average. It holds if at least {100 * OFTEN:.0f} % of the runs on the own graph are, and at most "
    f"{100 * SELDOM:.0f} % of those of UCB-NT on the subset graph and of UCB-GT; in part if merely more than of these.",
    linear_regret,
)


SLACK = 0.1
"""The trapped share grows if it never falls by more than this from one p to the next: three of 30 runs are chance."""
ALL = 0.9
""""With arbitrarily high probability": at the largest p at least this share of the runs is trapped."""
SEEN = 25
"""A run can tell whether it is trapped only if the input that hides a loss is expected this often in its second half:
each time regret grows by about c."""


def trapped_more_often(results: Results) -> Finding:
    """The share of the runs with linear regret, by p."""
    shares, counts, safe, short, used = {}, {}, [], [], []
    for dataset, p in PROPOSITION_1.items():
        instance = instances.proposition_1(p)
        runs = [run for run in bias_runs(results, OWN, dataset) if run.cost == instance.cost]
        if runs and (1.0 - p) * runs[0].t[-1] / 2.0 < SEEN:
            short.append(f"{p:g}")
        elif runs:
            gap = instance.means[1] - instance.means[0]
            linear = sum(is_linear(run, gap) for run in runs)
            shares[p], counts[p] = linear / len(runs), f"{linear} of {len(runs)} runs for p = {p:g}"
            used += [run.study for run in runs]
            others = [run for run in bias_runs(results, SAFE[0], dataset) if run.cost == instance.cost]
            safe += [f"{sum(is_linear(run, gap) for run in others)} of {len(others)}"] if others else []
    brief = f"the games are too short to tell for p = {', '.join(short)}" if short else ""
    if len(shares) < 2:
        return not_judged("bias", brief.capitalize())
    first, last = min(shares), max(shares)
    falls = [(low, high) for low, high in pairwise(sorted(shares)) if shares[high] < shares[low] - SLACK]
    verdict: Word = "fails"
    if shares[last] > shares[first]:
        verdict = "holds" if not falls and shares[last] >= ALL else "holds in part"
    fails = [Failure(f"p = {high:g}", None, f"{counts[high]}, {counts[low]}") for low, high in falls]
    if verdict != "holds" and not falls:
        fails = [Failure(f"p = {last:g}", None, counts[last])]
    compared = f"on the subset graph in {', '.join(safe)}" if safe else ""
    numbers = "; ".join(part for part in (f"Linear regret in {', '.join(counts.values())}", compared, brief) if part)
    return Finding(verdict, f"{numbers}.", fails, used)


PROPOSITION = Claim(
    12,
    "UCB-NT on the instance's own graph has linear regret on proposition 1's construction, with a probability that "
    "grows with p, towards 1.",
    f"A run is linear, that is, trapped, if over its second half it pays at least {100 * LINEAR:.0f} % of the gap in "
    "every round on average; games in which the rare input is expected less than "
    f"{SEEN} times there are left out. It holds if the share of trapped runs falls from no p to the next by more than "
    f"{SLACK:g}, is larger at the largest p than at the smallest, and at least {100 * ALL:.0f} % there; in part if "
    "merely larger. (For a given p the proposition promises nothing: its proof chooses p last. Runs on the "
    "subset graph are shown, and decide nothing.)",
    trapped_more_often,
    changed=CHANGED,
)

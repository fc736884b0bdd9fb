"""Proposition 1's construction, for p that goes towards 1 (claim 12)."""

from itertools import pairwise

from ... import instances
from ..problems import PROPOSITION_1
from .bias import LINEAR, OWN, SAFE, bias_runs, is_linear
from .claim import Claim
from .results import Results
from .verdict import Failure, Finding, Word, not_judged

SLACK = 0.1
"""The share trapped grows if from no p to the next it falls by more than this: three of 30 runs, which is chance."""
ALL = 0.9
""""With arbitrarily high probability": at the largest p at least this share of the runs is trapped."""
SEEN = 25
"""A run says whether it is trapped only if the input that hides a loss comes so often in its second half, on average:
regret comes in parts of about c, one each time."""


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
    f"A run is linear, that is, trapped, if over its second half it pays at least {LINEAR:.0%} of the gap in every "
    "round on average; games in which the rare input is expected less than "
    f"{SEEN} times there are left out. It holds if the share of trapped runs falls from no p to the next by more than "
    f"{SLACK:g}, is larger at the largest p than at the smallest, and at least {ALL:.0%} there; in part if merely "
    "larger. (For a given p the proposition promises nothing: its proof chooses p last. Runs on the "
    "subset graph are shown, and decide nothing.)",
    trapped_more_often,
)

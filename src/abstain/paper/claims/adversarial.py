"""EXP3-ABS and ContEXP3-ABS against their bounds and rates."""

from collections.abc import Sequence

import numpy as np

from ... import datasets, theory
from ...experiments import (
    IN_ALL,
    INSTANCES,
    PART,
    PREDICTING,
    Claim,
    Failure,
    Finding,
    Results,
    Word,
    by_share,
    not_judged,
)
from ..growth import Row
from .order import slope

RATES = {
    "EXP3-ABS, tuned": "tuned",
    "EXP3-ABS, anytime": "anytime",
    "EXP3-ABS, adaptive": "adaptive",
    "EXP3-ABS": "adaptive",
}
"""The rate behind each label. The bound of the tuned rate is for its horizon T, those of the others for every t."""


def n_experts(results: Results) -> dict[str, int]:
    """K on each of the library's sets in studies with the role "adversarial"."""
    studies = [study for study in map(results.study, results.with_role("adversarial")) if study is not None]
    return {
        dataset: (
            INSTANCES[dataset](cost).experts
            if dataset in INSTANCES
            else study.experts.make(datasets.info(dataset).features, None)
        ).n_experts
        for study in studies
        for dataset, cost in study.settings
        if (dataset in INSTANCES or dataset in datasets.names) and study.own_set(dataset) is None
    }


def below_bound(results: Results) -> Finding:
    """Claim 13: mean regret against the bound, in every stream of the study, with every rate that has one."""
    settings, K = results.settings(*results.with_role("adversarial")), n_experts(results)
    checks = [(s, label) for s in settings if s.dataset in K for label in RATES if label in s.learners]
    if not checks:
        return not_judged("adversarial")
    fails, shares = [], []
    for setting, label in checks:
        rate, course = RATES[label], setting.learners[label]
        at = slice(-1, None) if rate == "tuned" else slice(None)
        bounds = [theory.exp3_abs_bound(int(t), K[setting.dataset], setting.cost, rate) for t in course.t[at]]
        share = (course.regret * course.t)[at] / np.array(bounds)
        worst = int(np.argmax(share))
        shares.append(share[worst])
        if share[worst] > 1.0:
            note = f"{label}: {share[worst]:.2f} times the bound at t = {course.t[at][worst]:,}"
            fails.append(Failure(setting.dataset, setting.cost, note))
    numbers = (
        f"Below it on {len(checks) - len(fails)} of {len(checks)} pairs of stream and rate; mean regret is at most "
        f"{max(shares):.2f} times the rate's bound (median {np.median(shares):.2f})."
    )
    return Finding(by_share(len(checks) - len(fails), len(checks)), numbers, fails, [s.study for s, _ in checks])


BELOW_BOUND = Claim(
    13,
    "EXP3-ABS stays below theorem 1's bound.",
    "Mean regret is at most the rate's bound (theorem 1's and those of the documentation): at T for the tuned rate, at "
    f"every checkpoint for the others. {IN_ALL}",
    below_bound,
)


OURS, BANDIT = "EXP3-ABS, tuned", "EXP3, tuned"

NOISE = 0.1
"""EXP3-ABS's regret grows no faster than sqrt(log K) if the slope of log regret against log log K is at most 1/2 plus
this: 40 runs cannot tell more exactly."""
ROOT = (0.25, 0.75)
"""EXP3's grows as sqrt(K) if the slope of log regret against log K is nearer to 1/2 than to 0 and to 1."""


def root_of_log(results: Results) -> Finding:
    """The slopes over K at one T."""
    both = results.settings(*results.with_role("adversarial"), learners=(OURS, BANDIT))
    settings = [s for s in both if s.dataset in PREDICTING]
    settings.sort(key=lambda s: PREDICTING[s.dataset])
    if len(settings) < 3:
        return not_judged("adversarial")
    K = np.array([PREDICTING[s.dataset] for s in settings], np.float64)
    ours, bandit = (np.array([s.regret(name) * s.learners[name].t[-1] for s in settings]) for name in (OURS, BANDIT))
    if min(ours.min(), bandit.min()) <= 0.0:
        return Finding("not judged", "Regret is not positive somewhere, and so has no logarithm.")
    slow, fast = slope(np.log(K), ours), slope(K, bandit)
    chance = np.sqrt(K[-1] * settings[-1].learners[BANDIT].t[-1]) * (1.0 - 1.0 / K[-1])
    ends = f"{ours[-1]:,.0f} and {bandit[-1]:,.0f} (chance {chance:,.0f})"
    checks = {
        f"EXP3-ABS's regret grows as log K to the power {slow:.2f}": slow <= 0.5 + NOISE,
        f"EXP3's as K to the power {fast:.2f}": ROOT[0] <= fast <= ROOT[1],
        f"at K = {K[-1]:,.0f} they have {ends}": ours[-1] < bandit[-1],
    }
    verdict: Word = "holds" if all(checks.values()) else "holds in part" if any(checks.values()) else "fails"
    streams = [s for s in both if s.dataset not in PREDICTING]
    ratios = [s.regret(BANDIT) / s.regret(OURS) for s in streams if s.regret(OURS) > 0]
    numbers = "; ".join(checks)
    if ratios:
        numbers += f"; on {len(ratios)} streams of claim 13 EXP3's regret is {np.median(ratios):.1f} times "
        numbers += "EXP3-ABS's in the median"
    fails = [Failure("K", None, what) for what, good in checks.items() if not good]
    return Finding(verdict, f"{numbers}.", fails, [s.study for s in settings])


ROOT_OF_LOG = Claim(
    22,
    "EXP3-ABS's regret depends on the number of experts as sqrt(log K), EXP3's, which sees its own loss only, as "
    "sqrt(K).",
    "The paper says so of the bounds; here it is asked of regret. On experts that always predict, one of which is "
    "better by sqrt(K/T), which is what those who see one loss a round can hardly find, at their tuned rates: the "
    f"slope of log mean regret at T against log log K is at most 1/2 + {NOISE:g} for EXP3-ABS; against log K it is "
    f"between {ROOT[0]:g} and {ROOT[1]:g}, nearer to 1/2 than to 0 and to 1, for EXP3; EXP3-ABS has less at the "
    "largest K. It holds if all are so, in part if some.",
    root_of_log,
)


LOGARITHMS = 0.05
"""How much steeper than its exponent a rate may look. Theorem 2's rate hides logarithms, and a factor sqrt(log T) alone
adds 0.05 to the slope from T = 1,000 to T = 100,000."""


STUDIES = ("adversarial-growth", "adversarial-grid")
"""The studies of the runs."""


def grown(results: Results) -> list[Row]:
    """All runs of ContEXP3-ABS."""
    frame = results.frames.get("growth")
    return (
        []
        if frame is None
        else [Row(**{name: row[name] for name in Row._fields}) for row in frame.iter_rows(named=True)]
    )


def means_by(rows: Sequence[Row], name: str) -> tuple[list[float], list[float]]:
    """The values of a field, and the mean regret at each."""
    values = sorted({getattr(row, name) for row in rows})
    return values, [float(np.mean([row.regret for row in rows if getattr(row, name) == value])) for value in values]


def _checks(rows: Sequence[Row]) -> list[tuple[str, float, float]]:
    """What grows, its slope and the exponent of the rate: with T, and with 1/gamma in the longest games."""
    found = []
    for actions, gamma, d in sorted({(row.actions, row.gamma, row.dim) for row in rows}, key=str):
        here = [row for row in rows if (row.actions, row.gamma, row.dim) == (actions, gamma, d)]
        values, means = means_by(here, "rounds")
        if len(values) > 1 and min(means) > 0.0:  # what is not positive has no logarithm
            which = f"{actions}, gamma = {gamma:g}" if gamma is not None else actions
            found.append((f"d = {d}, {which}: with T", slope(values, means), (d + 1) / (d + 2)))
    for d in sorted({row.dim for row in rows if row.gamma is not None}):
        here = [row for row in rows if row.dim == d and row.gamma is not None]
        here = [row for row in here if row.rounds == max(row.rounds for row in here)]
        values, means = means_by(here, "gamma")
        if len(values) > 1 and min(means) > 0.0:
            found.append((f"d = {d}, grid: with 1/gamma", slope(1.0 / np.array(values), means), d / (d + 2)))
    return found


def grows_no_faster(results: Results) -> Finding:
    """The slopes of log mean regret, against the exponents of T^((d+1)/(d+2)) gamma^(-d/(d+2))."""
    checks = _checks(grown(results))
    if not checks:
        return not_judged("adversarial")
    fails = [
        Failure(what, None, f"slope {value:.3f}, the rate's exponent is {rate:.3f}")
        for what, value, rate in checks
        if value > rate + LOGARITHMS
    ]
    listed = "; ".join(f"{what}: {value:.2f}, rate {rate:.2f}" for what, value, rate in checks)
    numbers = f"Slopes of log regret and exponents of the rate (up to {LOGARITHMS:g} more): {listed}."
    return Finding(by_share(len(checks) - len(fails), len(checks)), numbers, fails, STUDIES)


GROWTH = Claim(
    14,
    "ContEXP3-ABS's regret grows no faster than theorem 2's rate.",
    "The slope of log mean regret against log T is at most (d + 1)/(d + 2), for the three actions and for the paper's "
    "grid with each gamma; on the grid, that against log(1/gamma) at the largest T is at most d/(d + 2); each plus "
    f"{LOGARITHMS:g}, which leaves room for the rate's logarithms. It holds if all are so, in part if at least "
    f"{PART:.0%}.",
    grows_no_faster,
)


def below_with_close_calls(results: Results) -> Finding:
    """Mean regret against theorem 2's bound with constants, on the grid, where the bound says something."""
    rows = [row for row in grown(results) if row.bound is not None]
    fails, shares, parts, empty, without = [], [], [], [], 0
    for d, gamma, T in sorted({(row.dim, row.gamma, row.rounds) for row in rows}):
        here = [row for row in rows if (row.dim, row.gamma, row.rounds) == (d, gamma, T)]
        regret, bound, close = (
            float(np.mean([getattr(row, name) for row in here])) for name in ("regret", "bound", "close")
        )
        worst = float(np.mean([np.nan if row.worst is None else row.worst for row in here]))
        if not bound < worst:
            empty.append((bound / worst, f"{bound:,.0f} against {worst:,.0f}, d = {d}, gamma = {gamma:g}, T = {T:,}"))
            continue
        shares.append(regret / bound)
        parts.append(close / bound)
        without += regret <= bound - close
        if regret > bound:
            fails.append(Failure(f"d = {d}, gamma = {gamma:g}, T = {T:,}", None, f"{shares[-1]:.2f} times the bound"))
    if not rows:
        return not_judged("adversarial")
    if not shares:
        return Finding(
            "not judged",
            "In no game that was played is the bound below what the worst action of every round costs: it says nothing "
            f"there, whatever the learner does (nearest: {min(empty)[1]}).",
            studies=["adversarial-grid"],
        )
    numbers = (
        f"Below the bound on {len(shares) - len(fails)} of the {len(shares)} settings in which it says something; "
        f"regret is at most {max(shares):.3f} of it; M* is {min(parts):.0%} to {max(parts):.0%} of it, and {without} "
        "are below the rest alone."
    )
    return Finding(by_share(len(shares) - len(fails), len(shares)), numbers, fails, ["adversarial-grid"])


CLOSE_CALLS = Claim(
    24,
    "Theorem 2: beyond its rate ContEXP3-ABS pays at most M*, the rounds in which the best pair comes within gamma of "
    "changing between predicting and abstaining.",
    "On the paper's grid, at its rate: mean regret against the pair h = lean, r = |lean| - (1 - 2c), which is right on "
    "every input, is at most the bound with its proof's constants and this pair's M*; for each d, gamma and T for "
    f"which the bound is below what the worst action of every round costs, as it says nothing elsewhere. {IN_ALL}",
    below_with_close_calls,
)

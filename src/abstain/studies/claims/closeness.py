"""How near UCB-GT comes to FS, which sees every label (claims 4 and 17)."""

import numpy as np

from .claim import Claim
from .order import scope
from .settings import Results, Setting
from .verdict import IN_ALL, Failure, Finding, Word, by_share, not_judged

LEARNERS = ("UCB", "UCB-GT", "FS")

CLOSE = 0.1
"""UCB-GT is close to FS if it lies at most this far on the way from FS to UCB, (UCB-GT - FS) / (UCB - FS). The paper
says "close", "almost the best regret that we could hope for", of curves drawn on one axis with UCB's: a tenth of the
height of such a figure. (The published points of cod-rna, c = 0.2, give 0.05.)"""

MOST = 0.5
"""Most sets are more than half of them. A set is close if it is so at each of its costs: the paper speaks of sets."""

SOME = 2
""""Within the standard deviation of FS's regret for some of datasets": a plural."""


def distance(setting: Setting) -> float:
    """``(UCB-GT - FS) / (UCB - FS)`` at T; 0 if UCB-GT is no worse than FS."""
    ucb, gt, fs = (setting.regret(name) for name in LEARNERS)
    return 0.0 if gt <= fs else (gt - fs) / (ucb - fs) if ucb > fs else float("inf")


def _far(setting: Setting) -> Failure | None:
    away = distance(setting)
    if away <= CLOSE:
        return None
    regrets = ", ".join(f"{name} {setting.regret(name):.4f}" for name in ("UCB-GT", "FS", "UCB"))
    return Failure(setting.dataset, setting.cost, f"{away:.1%} of the way from FS to UCB ({regrets})")


def close_to_fs(results: Results) -> Finding:
    """Claim 4, of two halves: close on most sets; within FS's standard deviation on some."""
    settings = results.settings(*results.main, learners=LEARNERS)
    if not settings:
        return not_judged(results.main[0])
    sets = sorted({setting.dataset for setting in settings})
    fails = [failure for setting in settings if (failure := _far(setting))]
    near = [name for name in sets if name not in {failure.dataset for failure in fails}]
    within = [s for s in settings if s.regret("UCB-GT") - s.regret("FS") <= s.lines["FS"].regret_sd[-1]]
    inside = {setting.dataset for setting in within}
    on_most, on_some = len(near) > MOST * len(sets), len(inside) >= SOME
    middle = np.median([distance(setting) for setting in settings])
    numbers = (
        f"Close at every cost on {len(near)} of {len(sets)} sets (the median distance is {middle:.0%} of the way from "
        f"FS to UCB; {len(settings) - len(fails)} of {scope(settings, results.main[0])} are within {CLOSE:.0%}); "
    )
    verdict: Word
    if max(setting.expert_sets for setting in settings) < 2:
        verdict = "holds" if on_most else "fails"
        numbers += "with one expert set there is no standard deviation to be within."
    else:
        verdict = ("fails", "holds in part", "holds")[on_most + on_some]
        numbers += f"within FS's standard deviation on {len(inside)} of the sets ({len(within)} of the settings)."
    return Finding(verdict, numbers, fails, [s.study for s in settings])


def close_at_extremes(results: Results) -> Finding:
    """Claim 17: close, as in claim 4, in every setting of figure 11."""
    settings = results.with_role("extreme", LEARNERS)
    if not settings:
        return not_judged("extreme")
    fails = [failure for setting in settings if (failure := _far(setting))]
    nearer = sum(_gap(setting)[-1] < _gap(setting)[0] for setting in settings)
    numbers = (
        f"Within {CLOSE:.0%} of the way from FS to UCB on {len(settings) - len(fails)} of {scope(settings, 'extreme')} "
        f"(median {np.median([distance(s) for s in settings]):.0%}); from t = sqrt(T) to T the gap to FS shrinks on "
        f"{nearer}."
    )
    return Finding(by_share(len(settings) - len(fails), len(settings)), numbers, fails, [s.study for s in settings])


def _gap(setting: Setting) -> np.ndarray:
    """``R_t / t`` of UCB-GT minus FS's, from t = sqrt(T) on."""
    gt, fs = setting.lines["UCB-GT"], setting.lines["FS"]
    return np.asarray((gt.regret - fs.regret)[gt.t >= np.sqrt(gt.t[-1])])


_CLOSE = f"(UCB-GT - FS) / (UCB - FS) at T is at most {CLOSE:g}"
CLOSE_TO_FS = Claim(
    4,
    "UCB-GT is close to FS on most data sets, within the standard deviation on some.",
    f"Close: {_CLOSE}, at each cost of a set; most: more than {MOST:.0%} of the sets. Within: UCB-GT - FS is at most "
    f"FS's standard deviation, on at least {SOME} sets. It holds if both, in part if one; with one expert set there "
    "is no deviation, and only the first is asked.",
    close_to_fs,
)
AT_EXTREMES = Claim(17, "UCB-GT approaches FS even at extreme costs.", f"{_CLOSE}. {IN_ALL}", close_at_extremes)

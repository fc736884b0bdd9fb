"""How often the learners abstain (claims 6 and 19)."""

from itertools import pairwise

from ... import datasets
from ...errors import AbstainError
from ...experiments import PART, Claim, Failure, Finding, LearnerStudy, Results, Setting, by_share, not_judged, seeds
from .order import CHANGED, PAPER


def fraction(setting: Setting, learner: str) -> float:
    """The fraction of the T rounds in which it abstained."""
    return float(setting.learners[learner].abstained[-1])


def count(wrong: list[Failure], total: int, words: str) -> str:
    """A sentence such as "it falls for 38 of 40 pairs of set and learner (not: UCB 2)"."""
    named = {name: sum(f.note.split(" ")[0] == name for f in wrong) for name in PAPER}
    but = ", ".join(f"{name} {n}" for name, n in named.items() if n)
    return f"{words} for {total - len(wrong)} of {total} pairs of set and learner" + (f" (not: {but})" if but else "")


def fraction_falls(results: Results) -> Finding:
    """One check per data set and learner: over the costs of figures 9 and 10 the fraction at T falls from each cost to
    the next. All four of the paper's learners count, because the claim names none ("always").
    """
    wrong, total, studies = [], 0, set()
    settings = results.settings(*results.main)
    for dataset in sorted({setting.dataset for setting in settings}):
        for name in PAPER:
            here = [s for s in settings if s.dataset == dataset and name in s.learners]  # sorted by cost
            if len(here) < 2:
                continue
            total += 1
            studies |= {setting.study for setting in here}
            fractions = [fraction(setting, name) for setting in here]
            if any(after >= before for before, after in pairwise(fractions)):
                listed = ", ".join(f"{fraction(s, name):.3f} at {s.cost:g}" for s in here)
                wrong.append(Failure(dataset, None, f"{name} {listed}"))
    if not total:
        return not_judged("abstention", "No data set was run with several of the usual costs")
    numbers = f"{count(wrong, total, 'It falls with the cost')}."
    return Finding(by_share(total - len(wrong), total), numbers, wrong, studies)


FALLS = Claim(
    6,
    "The fraction abstained falls as the cost grows.",
    "A check is a set and one of the paper's four learners: the fraction at T falls from each cost of figures 9 and 10 "
    f"to the next. It holds if all checks do, in part if at least {100 * PART:.0f} %.",
    fraction_falls,
    changed=CHANGED,
)


LARGE = 0.5
"""A large fraction: more rounds abstained than not."""
SMALL = 0.1
"""A small one: one round in ten, or less."""
CHEAP, EXPENSIVE = 0.001, 0.9
"""The costs in the claim."""


def large_and_small(results: Results) -> Finding:
    """One check per data set, learner of the paper and cost."""
    fails, parts, checks, used = [], [], 0, set()
    for cost, words in ((CHEAP, "it is large"), (EXPENSIVE, "it is small")):
        here = [
            (s, name)
            for s in results.settings(*results.with_role("extreme"))
            if s.cost == cost
            for name in PAPER
            if name in s.learners
        ]
        if not here:
            continue
        wrong = [
            Failure(s.dataset, s.cost, f"{name} {fraction(s, name):.3f}")
            for s, name in here
            if not (fraction(s, name) >= LARGE if cost == CHEAP else fraction(s, name) <= SMALL)
        ]
        cannot = _cannot([s.dataset for s, _ in here], results) if cost == CHEAP else ""
        parts.append(count(wrong, len(here), f"{words} at c = {cost:g}") + cannot)
        fails += wrong
        checks += len(here)
        used |= {s.study for s, _ in here}
    if not checks:
        return not_judged("extreme")
    numbers = "; ".join(parts) + "."
    return Finding(by_share(checks - len(fails), checks), numbers[0].upper() + numbers[1:], fails, used)


def largest_shares(results: Results) -> dict[str, float]:
    """The largest share of the rows that one rule abstains on, for each set of the studies with the role "extreme"."""
    studies = [study for study in map(results.study, results.with_role("extreme")) if study is not None]
    return {
        dataset: share
        for study in studies
        for dataset in study.sets
        if (share := _largest_share(study, dataset, results)) is not None
    }


def _largest_share(study: LearnerStudy, dataset: str, results: Results) -> float | None:
    """On the study's first draw; None if the set is not one of the library's, or not here."""
    if dataset not in datasets.names or study.own_set(dataset) is not None:
        return None
    scale = None if study.scale == "none" else study.scale
    seed = seeds.of_data(study.seed, dataset, 0, 0)
    try:
        X, _ = datasets.load(dataset, scale=scale, data=results.data, n=study.rounds, seed=seed)
    except AbstainError:  # not here, or damaged: the run reports it
        return None
    experts = study.experts.make(X.shape[1], seeds.of_experts(study.seed, dataset, 0))
    return float(experts.advise(X).abstains.mean(axis=0).max())


def _cannot(checked: list[str], results: Results) -> str:
    """How many of the checks cannot pass: a learner that chooses before it sees x abstains at most as often as the rule
    that abstains most.
    """
    held = largest_shares(results)
    low = {name: held[name] for name in dict.fromkeys(checked) if name in held and held[name] < LARGE}
    unknown = [name for name in dict.fromkeys(checked) if name not in held]
    parts = []
    if low:
        listed = ", ".join(f"{name} {share:.2f}" for name, share in low.items())
        n = sum(name in low for name in checked)
        parts.append(f"{n} cannot pass, as no rule abstains on so many rows (at most: {listed})")
    if unknown:
        parts.append(f"whether all could pass is unknown for {', '.join(unknown)}: the rows are not here")
    return "".join(f", {part}" for part in parts)


LARGE_AND_SMALL = Claim(
    19,
    "The fraction abstained is large at c = 0.001 and small at c = 0.9.",
    f"A check is a set and one of the paper's four learners, at T: large is at least {LARGE:g}, small at most "
    f"{SMALL:g}. It holds if all checks do, in part if at least {100 * PART:.0f} %. Checks that no learner could pass, "
    "as each rule abstains on less of the rows, count, and the numbers say how many they are.",
    large_and_small,
    changed=CHANGED,
)

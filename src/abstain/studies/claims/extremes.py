"""How often the learners abstain at extreme costs (claim 19)."""

from .abstention import count, fraction
from .claim import Claim
from .results import Results
from .settings import PAPER
from .verdict import PART, Failure, Finding, by_share, not_judged

LARGE = 0.5
"""A large fraction: more rounds abstained than not."""
SMALL = 0.1
"""A small one: one round in ten, or less."""
CHEAP, DEAR = 0.001, 0.9
"""The costs at which the paper says so."""


def large_and_small(results: Results) -> Finding:
    """A check is a data set and one of the paper's four learners at one of the two costs."""
    fails, parts, checks, used = [], [], 0, set()
    for cost, words in ((CHEAP, "it is large"), (DEAR, "it is small")):
        here = [(s, name) for s in results.with_role("extreme") if s.cost == cost for name in PAPER if name in s.lines]
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


def _cannot(checked: list[str], results: Results) -> str:
    """How many of the checks cannot pass: no learner that chooses before x comes abstains more often than the rule
    that abstains most.
    """
    held = results.known.largest
    low = {name: held[name] for name in dict.fromkeys(checked) if name in held and held[name] < LARGE}
    unknown = [name for name in dict.fromkeys(checked) if name not in held]
    parts = []
    if low:
        listed = ", ".join(f"{name} {share:.2f}" for name, share in low.items())
        n = sum(name in low for name in checked)
        parts.append(f"{n} cannot pass, as no rule abstains on so many rows (at most: {listed})")
    if unknown:
        parts.append(f"whether all could pass is not known of {', '.join(unknown)}, whose rows are not here")
    return "".join(f", {part}" for part in parts)


LARGE_AND_SMALL = Claim(
    19,
    "The fraction abstained is large at c = 0.001 and small at c = 0.9.",
    f"A check is a set and one of the paper's four learners, at T: large is at least {LARGE:g}, small at most "
    f"{SMALL:g}. It holds if all checks do, in part if at least {PART:.0%}. Checks that no learner could pass, as each "
    "rule abstains on less of the rows, count; how many they are is said.",
    large_and_small,
)

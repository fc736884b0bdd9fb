"""What other readings of the paper do to its claims."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

from ..experiments.claims import Verdict, all_claims, verdict
from ..experiments.evidence import Results, Setting
from ..experiments.study import Study

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

LEAD = ("UCB-GT", "UCB-NT")
"""Whose lead over whom rests on the reading."""
_WORSE = ("holds", "holds in part", "fails")


@dataclass(frozen=True)
class Sizes:
    """What the learners came to in one setting."""

    dataset: str
    cost: float
    ours: Mapping[str, float] | None
    """R_T / T under our reading, by learner; None if it was not run there."""
    here: Mapping[str, float]
    """... and under this one."""


@dataclass(frozen=True)
class Reading:
    """The verdicts under one reading."""

    study: str
    name: str
    verdicts: list[Verdict]
    breaks: tuple[int, ...]
    """The claims that fare worse than under our reading; without that, those that do not hold."""
    sizes: tuple[Sizes, ...] = ()

    @property
    def leads(self) -> tuple[float | None, float | None]:
        """The median of UCB-GT's regret as a share of UCB-NT's, under our reading and under this one, over the
        settings that both have; claim 1 says whether it is less, this how much.
        """
        both = [(sizes.ours, sizes.here) for sizes in self.sizes if sizes.ours is not None]
        here = [here for _, here in both] or [sizes.here for sizes in self.sizes]
        return _lead([ours for ours, _ in both]), _lead(here)


def breaks(
    curves: "pl.DataFrame",
    ours: Sequence[Verdict] = (),
    titles: Mapping[str, str] | None = None,
    studies: Sequence[Study] = (),
) -> list[Reading]:
    """For every reading there are results of, what it makes of the claims.

    ``ours`` are the verdicts to compare with (`judge`), ``titles`` the titles of the studies by their names,
    ``studies`` the studies themselves, of which readings are those with that role.
    """
    results = Results(curves, studies)
    before = {verdict.number: verdict.verdict for verdict in ours}
    asked = [claim for claim in all_claims() if claim.of_readings]
    readings = []
    for study in results.studies:
        if results.roles[study].is_reading:
            reading = results.as_reading(study)
            verdicts = [verdict(claim, reading) for claim in asked]
            sizes = _sizes(results, study)
            broken = tuple(v.number for v in verdicts if _is_worse(v.verdict, before.get(v.number, "holds")))
            found = Reading(study, (titles or {}).get(study) or study, verdicts, broken, sizes)
            readings.append(replace(found, verdicts=[_with_lead(v, found) for v in verdicts]))
    return readings


def _sizes(results: Results, study: str) -> tuple[Sizes, ...]:
    ours = {(s.dataset, s.cost): _regrets(s) for s in results.settings(*results.main)}
    return tuple(Sizes(s.dataset, s.cost, ours.get((s.dataset, s.cost)), _regrets(s)) for s in results.settings(study))


def _regrets(setting: Setting) -> dict[str, float]:
    return {label: setting.regret(label) for label in setting.lines}


def _lead(regrets: Sequence[Mapping[str, float]]) -> float | None:
    better, worse = LEAD
    ratios = [one[better] / one[worse] for one in regrets if one.get(worse, 0.0) > 0.0 and better in one]
    return median(ratios) if ratios else None


def _with_lead(verdict: Verdict, reading: Reading) -> Verdict:
    """Claim 1 with what the lead was before."""
    ours, here = reading.leads
    if verdict.number != 1 or ours is None or here is None:
        return verdict
    more = f" In these settings the median was {ours:.2f} under our reading, and is {here:.2f}."
    return replace(verdict, numbers=verdict.numbers + more)


def _is_worse(verdict: str, than: str) -> bool:
    """Whether a verdict is a worse one; what was not judged is neither."""
    judged = verdict in _WORSE and than in _WORSE
    return judged and _WORSE.index(verdict) > _WORSE.index(than)


def readings_table(readings: Sequence[Reading]) -> "Table":
    """A row a reading: the verdict's shape for each claim, the claims it breaks, and the median ratio of UCB-GT's
    regret to UCB-NT's, under our reading and under this one.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    result = Table(title="Other readings (● holds, ◐ in part, ○ fails)", box=box.SIMPLE_HEAD)
    result.add_column("reading")
    asked = sorted({verdict.number for reading in readings for verdict in reading.verdicts})
    for number in asked:
        result.add_column(str(number), justify="center")
    result.add_column("breaks")
    result.add_column("UCB-GT / UCB-NT", justify="right")
    for reading in readings:
        marks = {verdict.number: verdict.mark for verdict in reading.verdicts}
        broken = ", ".join(map(str, reading.breaks)) or "none"
        lead = " → ".join(f"{one:.2f}" for one in reading.leads if one is not None)
        result.add_row(Text(reading.name), *(marks.get(number, "") for number in asked), broken, lead)
    return result

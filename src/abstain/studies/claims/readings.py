"""What other readings of the paper do to its claims."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..spec import AnyStudy
from .ledger import all_claims, verdict
from .settings import Results
from .verdict import Verdict

if TYPE_CHECKING:
    import polars as pl

CLAIMS = (1, 2, 3, 4, 5, 16)
"""The claims that a reading's results, the settings of figures 7 and 8 on other experts or scales, can be asked."""
_WORSE = ("holds", "holds in part", "fails")


@dataclass(frozen=True)
class Reading:
    """The verdicts under one reading."""

    study: str
    name: str
    verdicts: list[Verdict]
    breaks: tuple[int, ...]
    """The claims that fare worse than under our reading; without that, those that do not hold."""


def breaks(
    curves: "pl.DataFrame",
    ours: Sequence[Verdict] = (),
    titles: Mapping[str, str] | None = None,
    studies: Sequence[AnyStudy] = (),
) -> list[Reading]:
    """For every reading there are results of, what it makes of the claims.

    ``ours`` are the verdicts to compare with (`judge`), ``titles`` the titles of the studies by their names,
    ``studies`` the studies themselves, of which readings are those with that role.
    """
    results = Results(curves, studies)
    before = {verdict.number: verdict.verdict for verdict in ours}
    asked = [claim for claim in all_claims() if claim.number in CLAIMS]
    readings = []
    for study in results.studies:
        if results.roles[study].is_reading:
            reading = results.as_reading(study)
            verdicts = [verdict(claim, reading) for claim in asked]
            broken = tuple(v.number for v in verdicts if _is_worse(v.verdict, before.get(v.number, "holds")))
            readings.append(Reading(study, (titles or {}).get(study) or study, verdicts, broken))
    return readings


def _is_worse(verdict: str, than: str) -> bool:
    """Whether a verdict is a worse one; what was not judged is neither."""
    judged = verdict in _WORSE and than in _WORSE
    return judged and _WORSE.index(verdict) > _WORSE.index(than)

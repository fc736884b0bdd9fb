"""All the claims."""

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...errors import InputError
from ..found import found
from ..spec import AnyStudy
from .claim import Claim
from .known import Known
from .results import Results
from .verdict import Finding, Verdict

if TYPE_CHECKING:
    import polars as pl


def all_claims() -> Sequence[Claim]:
    """Every claim of the modules of this package, by their numbers."""
    return found(sys.modules[__package__], Claim)


def judge(curves: "pl.DataFrame", studies: Iterable[AnyStudy] = (), known: Known | None = None) -> list[Verdict]:
    """A verdict on each claim, in their order, from the results frame of any studies.

    ``studies`` are those whose roles are not the paper's, ``known`` is what the frame does not say.
    """
    results = Results(curves, studies, known)
    return [verdict(claim, results) for claim in all_claims()]


def verdict(claim: Claim, results: Results) -> Verdict:
    """The verdict on one claim. What goes wrong in a judge is said there; the other claims have theirs."""
    try:
        found = claim.judge(results)
        if not isinstance(found, Finding):
            raise InputError(f"judge: expected a Finding, got {found!r}")
    except Exception as error:
        found = Finding("not judged", f"Its judge failed ({type(error).__name__}: {error}).")
    studies = tuple(sorted(set(found.studies)))
    return Verdict(claim.number, claim.text, claim.rule, found.word, found.numbers, list(found.fails_at), studies)

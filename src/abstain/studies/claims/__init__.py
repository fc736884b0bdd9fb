"""The ledger: each claim of the paper, judged from results.

A claim is a `Claim` at the top level of any module here: its words, its rule and its judge. What decides a verdict is
written as a constant with its reason, from the claim's words, beside it.
"""

from .claim import Claim
from .known import Known, known
from .ledger import all_claims, judge
from .overview import readings_table, table
from .readings import Reading, Sizes, breaks
from .results import Results
from .verdict import Failure, Finding, Verdict

__all__ = [
    "Claim",
    "Failure",
    "Finding",
    "Known",
    "Reading",
    "Results",
    "Sizes",
    "Verdict",
    "all_claims",
    "breaks",
    "judge",
    "known",
    "readings_table",
    "table",
]

all_claims()  # what is wrong in one of them is said at once

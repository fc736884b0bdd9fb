"""The ledger: each claim of the paper, judged from results.

What decides a verdict is written as a constant with its reason, from the claim's words, in the file of the claim.
"""

from .ledger import judge
from .overview import readings_table, table
from .readings import Reading, Sizes, breaks
from .rules import RULES
from .verdict import Failure, Verdict

__all__ = ["RULES", "Failure", "Reading", "Sizes", "Verdict", "breaks", "judge", "readings_table", "table"]

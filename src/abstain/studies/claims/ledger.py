"""All the claims."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .abstention import fraction_falls
from .adversarial import below_bound, grows_no_faster
from .bias import linear_regret
from .closeness import close_at_extremes, close_to_fs
from .edges import edges_fall, how_many_edges
from .example import simple_example
from .order import elsewhere, less_regret, more_edges
from .rules import RULES
from .settings import Results
from .slope import ucb_is_slow
from .verdict import Verdict

if TYPE_CHECKING:
    import polars as pl


def judge(curves: "pl.DataFrame", extra: Mapping[str, Any] | None = None) -> list[Verdict]:
    """A verdict on each of the 18 claims, in their order, from the results frame of any studies.

    ``extra`` holds what the frame does not: ``"n_experts"``, the K of each set of the studies with the role
    "adversarial" (claim 13), ``"growth"``, rows (d, T, run, regret) of ContEXP3-ABS (claim 14), and ``"studies"``,
    those whose roles are not the paper's.
    """
    more = extra or {}
    results = Results(curves, more.get("studies", ()))
    verdicts = [
        less_regret(results, 1),
        less_regret(results, 2),
        less_regret(results, 3),
        close_to_fs(results),
        how_many_edges(results),
        fraction_falls(results),
        elsewhere(results, 7, ("extreme",)),
        elsewhere(results, 8, results.roles.named("confidence")),
        elsewhere(results, 9, ("small",)),
        ucb_is_slow(results),
        linear_regret(results, 11),
        linear_regret(results, 12),
        below_bound(results, more.get("n_experts")),
        grows_no_faster(more.get("growth")),
        edges_fall(results),
        more_edges(results),
        close_at_extremes(results),
        simple_example(),
    ]
    return [replace(verdict, rule=RULES[verdict.number]) for verdict in verdicts]

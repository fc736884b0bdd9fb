"""What the theorems promise: bounds on regret, and the coverings of feedback graphs that they use."""

from .bounds import (
    close_calls,
    cont_exp3_abs_bound,
    cont_exp3_abs_epsilon,
    cont_exp3_abs_rate,
    doubly_robust_bound,
    exp3_abs_bound,
    exp3_abs_tail_bound,
    exp3_abs_tracking_bound,
    exp3_abs_tracking_rate,
    exp3_bound,
    fast_rates_bound,
    ucb_gt_bound,
    ucb_nt_bound,
)
from .coverings import (
    MOST_EXACT,
    admissible_covering,
    best_covering,
    independence_bound,
    independence_number,
    shared_covering,
)

__all__ = [
    "MOST_EXACT",
    "admissible_covering",
    "best_covering",
    "close_calls",
    "cont_exp3_abs_bound",
    "cont_exp3_abs_epsilon",
    "cont_exp3_abs_rate",
    "doubly_robust_bound",
    "exp3_abs_bound",
    "exp3_abs_tail_bound",
    "exp3_abs_tracking_bound",
    "exp3_abs_tracking_rate",
    "exp3_bound",
    "fast_rates_bound",
    "independence_bound",
    "independence_number",
    "shared_covering",
    "ucb_gt_bound",
    "ucb_nt_bound",
]

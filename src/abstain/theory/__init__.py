"""What the theorems promise: bounds on regret, and the coverings of feedback graphs they speak of."""

from .arguments import MOST_EXACT
from .cheapest import best_covering
from .coverings import admissible_covering, shared_covering
from .independence import independence_bound, independence_number
from .tail import exp3_abs_tail_bound
from .theorem_1 import exp3_abs_bound, exp3_bound
from .theorem_2 import close_calls, cont_exp3_abs_bound, cont_exp3_abs_epsilon, cont_exp3_abs_rate
from .theorem_3 import ucb_nt_bound
from .theorem_4 import ucb_gt_bound

__all__ = [
    "MOST_EXACT",
    "admissible_covering",
    "best_covering",
    "close_calls",
    "cont_exp3_abs_bound",
    "cont_exp3_abs_epsilon",
    "cont_exp3_abs_rate",
    "exp3_abs_bound",
    "exp3_abs_tail_bound",
    "exp3_bound",
    "independence_bound",
    "independence_number",
    "shared_covering",
    "ucb_gt_bound",
    "ucb_nt_bound",
]

"""A wrong argument of any public function raises an error that names the argument and shows the value."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

import abstain as ab
from abstain import costs, graphs, instances, losses, theory
from abstain.errors import AbstainError, shown

X, Y = np.array([[0.5, -0.5], [0.25, 1.0]]), np.array([1.0, -1.0])
EXPERTS = ab.experts.hyperplanes(2, 2, 2, seed=0)
SQUARE = np.eye(2)
SIGN = SimpleNamespace(classes_=np.array([-1, 1]), predict_proba=lambda X: np.full((len(X), 2), 0.5))

# For every function: right values of its arguments, and a wrong one for each.
FUNCTIONS = {
    theory.exp3_abs_bound: {"T": (10, 0), "K": (3, "x"), "cost": (0.2, 1.5), "eta": (0.1, -1.0)},
    theory.exp3_bound: {"T": (10, None), "K": (3, np.nan), "eta": (0.1, "adaptive")},
    theory.exp3_abs_tail_bound: {
        "T": (10, -1), "K": (3, 1j), "cost": (0.2, "x"), "ix": (0.1, 0.0), "delta": (0.1, 1.0), "eta": (0.1, "fast"),
    },
    theory.cont_exp3_abs_epsilon: {"T": (10, 0), "d": (2, 0), "gamma": (0.5, 2.0)},
    theory.cont_exp3_abs_rate: {"T": (10, 0), "d": (2, "2"), "gamma": (0.5, 0.0)},
    theory.cont_exp3_abs_bound: {
        "T": (10, 0), "n_balls": (2, 0), "epsilon": (0.5, 0.0), "gamma": (0.5, True), "lipschitz": (1.0, -1.0),
        "close": (0, -1),
    },
    theory.close_calls: {"margins": ([0.1], [[0.1]]), "gamma": (0.5, -0.5)},
    theory.admissible_covering: {"matrix": (SQUARE, "x"), "exact": (True, "yes")},
    theory.shared_covering: {"matrices": ([SQUARE], 3), "exact": (False, 1.5)},
    theory.best_covering: {"deltas": ([0.0, 0.5], [0.0, 2.0]), "matrix": (SQUARE, [[2, 0], [0, 1]])},
    theory.independence_number: {"matrix": (SQUARE, [[0, 1], [1, 0]])},
    theory.independence_bound: {
        "deltas": ([0.0, 0.5], []), "matrix": (SQUARE, np.eye(3)), "T": (10, 0), "beta": (2.5, 0.5),
    },
    theory.ucb_nt_bound: {
        "deltas": ([0.0, 0.5], "x"), "covering": ([[0], [1]], [[0]]), "T": (10, 0), "beta": (2.5, np.inf),
    },
    theory.ucb_gt_bound: {
        "deltas": ([0.0, 0.5], [-0.5, 0.0]), "covering": ([[0], [1]], "best"), "T": (10, 0), "beta": (2.5, "x"),
    },
    instances.cliques: {"groups": (2, 1), "size": (2, 0), "gap": (0.1, 0.5), "best": (0, 2)},
    instances.regions: {"n_regions": (2, 1), "size": (2, 2.0), "gap": (0.1, 0.0), "best": (0, -1), "cost": (0.5, 2)},
    instances.random_labels: {"dim": (2, 21), "gamma": (0.5, 0.0), "lipschitz": (1.0, -1), "cost": (0.5, 0.25)},
    instances.bias_problem: {"left": (0.5, 1.5), "cost": (0.9, "x"), "blue_left": (0.8, None)},
    instances.proposition_1: {"p": (0.9, 0.5), "cost": (0.5, 0.0)},
    instances.simple_example: {"mixed": (0.5, 0.42), "cost": (0.2, 1.5), "pieces": (2, 1)},
    instances.lipschitz: {"dim": (2, 0), "cost": (0.2, -0.1)},
    instances.switching: {"cost": (0.2, 1.1)},
    instances.rotating: {"cost": (0.2, 1.1)},
    instances.flipping: {"cost": (0.2, 1.1)},
    instances.alternating: {"length": (500, 0), "cost": (0.2, 1.1)},
    instances.trap: {"length": (300, True), "cost": (0.2, 1.1)},
    instances.late_bloomer: {"length": (2, 1.5), "cost": (0.5, 1.1)},
    instances.cliques(2, 2, 0.1).draw: {"n": (3, 10**12), "seed": (0, -1)},
    instances.regions(2, 2, 0.1).draw: {"n": (3, -1), "seed": (0, "x")},
    instances.random_labels(2).draw: {"n": (3, 0.5), "seed": (0, 1.5)},
    instances.random_labels(2).best: {"y": ([1.0, -1.0], [1.0, 0.0])},
    instances.bias_problem().draw: {"n": (3, None), "seed": (0, "x")},
    instances.rotating().draw: {"n": (3, 10**12), "seed": (0, "x")},
    instances.lipschitz(2).lean: {"X": (X, 2.0 * X[:, :1])},
    losses.get: {"loss": ("ramp", "rampe")},
    losses.from_spec: {"spec": (losses.ramp().spec(), {"name": "ramp"})},
    losses.ramp: {"gamma": (0.5, 0.0)},
    losses.multiclass: {"classes": ([1, 2], [1, "a"])},
    losses.surrogate: {
        "h": (0.5, np.inf), "r": ([0.5], "x"), "y": (1, np.nan), "cost": (0.2, 2.0), "gamma": (0.5, 1.0),
    },
    ab.experts.hyperplanes: {
        "dim": (2, 0), "n_predictors": (2, 10**12), "n_rings": (2, 2.5), "always_predict": (False, "no"),
        "regions": ("rings", "circles"), "seed": (0, -1),
    },
    ab.experts.axis_planes: {"dim": (2, 0), "n_predictors": (2, 1), "thresholds": ([0.1], [np.nan])},
    ab.experts.thresholds: {"n_models": (2, "two"), "thresholds": ([0.1], [])},
    ab.experts.from_columns: {
        "n_predictors": (2, 0), "n_rules": (2, -1), "pairs": ("product", "pairs"), "rule_subset": (None, [[1]]),
    },
    ab.experts.from_functions: {"pairs": ([(min, max)], [(min, 3)]), "rule_subset": ([[True]], [[False]])},
    ab.experts.from_estimators: {"models": ([SIGN], [3]), "thresholds": ([0.5], "x")},
    ab.experts.Constants: {
        "dim": (2, 0), "h": ([1.0], [np.inf]), "r": ([1.0], 1.0), "pairs": ("product", "all"), "low": (-1.0, None),
        "high": (1.0, None),
    },
    graphs.get: {"graph": ("subset", "superset")},
    graphs.fixed: {"matrix": (SQUARE, [[1, 0]])},
    graphs.from_parameters: {"parameters": (graphs.spec(graphs.subset()), {"graph": "subset"})},
    graphs.draw: {"matrix": (SQUARE, np.ones((2, 3))), "labels": (["a", "b"], ["a"])},
    costs.get: {"cost": (0.2, [0.2, 1.5])},
    costs.Constant: {"value": (0.2, [0.2])},
    costs.PerRound: {"values": ([0.2], [])},
    ab.best_in_hindsight: {
        "experts": (EXPERTS, 3), "X": (X, X[0]), "y": (Y, [0, 1]), "cost": (0.2, -0.5), "loss": ("zero_one", 3),
    },
    ab.best_pair: {
        "X": (X, "x"), "y": (Y, [1.0]), "cost": (0.2, None), "gamma": (0.5, 2.0), "pairs": ([(0.5, 0.5)], [(2.0, 1.0)]),
        "surrogate": (True, "yes"),
    },
    EXPERTS.advise: {"X": (X, [[np.nan, 1.0]])},
    ab.experts.thresholds(2, [0.1]).advise: {"X": (X, [[1.0]])},
    ab.experts.Constants(2, [1.0], [1.0], "product", -1.0, 1.0).advise: {"X": (X, [[0.0, 2.0]])},
    losses.get("zero_one").labels: {"y": ([1, -1], [1, 2])},
    losses.get("squared").labels: {"y": ([0.5], [np.inf])},
    losses.multiclass(["a", "b"]).labels: {"y": (["a"], ["c"])},
}  # fmt: skip
NAMES = {  # what a message calls an argument
    "low": "domain", "high": "domain", "X": "[xX]", "spec": "loss", "parameters": "graph", "value": "cost",
    "values": "cost",
}  # fmt: skip
CASES = {
    f"{function.__qualname__}, {argument}": (function, argument)
    for function, arguments in FUNCTIONS.items()
    for argument in arguments
}


@pytest.mark.parametrize(("function", "argument"), CASES.values(), ids=CASES)
def test_a_wrong_argument_is_named_and_shown(function, argument):
    arguments = {name: right for name, (right, _) in FUNCTIONS[function].items()}
    wrong = FUNCTIONS[function][argument][1]
    with pytest.raises(AbstainError) as caught:
        function(**{**arguments, argument: wrong})
    message = str(caught.value)
    assert re.match(rf"{NAMES.get(argument, argument)}: .*(expected|needs)", message), message
    assert " got " in message, message


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__qualname__)
def test_the_other_arguments_are_right(function):
    function(**{name: right for name, (right, _) in FUNCTIONS[function].items()})


def test_a_message_shows_the_value_and_cuts_long_ones():
    with pytest.raises(AbstainError, match=r"^cost: expected a number in .0, 1., got 'x'$"):
        theory.exp3_abs_bound(10, 3, "x")
    with pytest.raises(AbstainError, match=r"^n: expected a whole number, at most 100000000, got 1000000000000$"):
        instances.rotating().draw(10**12)
    with pytest.raises(AbstainError, match=r"^graph: expected .* got '(x){199}\.\.\.$"):
        graphs.get("x" * 1000)
    assert shown(10**5000) == "a int that cannot be shown"

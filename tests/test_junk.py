"""Whatever is given: the answer, or an error of the library that says which argument is wrong, and no warning."""

import math
from decimal import Decimal

import numpy as np
import pytest

import abstain as ab
from abstain import costs, graphs, instances, losses, theory
from abstain._core.validation import as_count, as_floats, as_number, as_row, as_seed, as_table, is_number, plain
from abstain.engine.feedback import as_feedback
from abstain.errors import AbstainError


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


ENDLESS = []
ENDLESS.append(ENDLESS)


class Hostile:
    """Cannot be shown, compared or made an array."""

    __hash__ = None

    def __repr__(self):
        raise RuntimeError("no")

    def __eq__(self, other):
        raise RuntimeError("no")

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no")


JUNK = {
    "None": None,
    "empty string": "",
    "string": "x",
    "NUL": "a\0",
    "bytes": b"x",
    "huge": 10**400,
    "-huge": -(10**400),
    "too many digits": 10**5000,
    "2**63": 2**63,
    "-1": -1,
    "many": 10**12,
    "0": 0,
    "half": 0.5,
    "tiny": 5e-324,
    "largest": 1.7e308,
    "nan": math.nan,
    "inf": math.inf,
    "-inf": -math.inf,
    "True": True,
    "complex": 1j,
    "NumPy's complex": np.complex128(1j),
    "decimal": Decimal("NaN"),
    "long double": np.longdouble("1e4000"),
    "date": np.datetime64("2024-01-01"),
    "list": [],
    "dict": {},
    "set": {1},
    "range": range(3),
    "ragged": [[1.0], [1.0, 2.0]],
    "list of lists": [[]],
    "list of None": [None],
    "list of huge": [10**400],
    "table of huge": [[10**400, 1]],
    "table of strings": [["a", "b"]],
    "table of dates": np.array([["2024-01-01"]], "M8[D]"),
    "table of complex": np.array([[1j]]),
    "table of NumPy's complex": np.array([[np.complex64(1j)]], object),
    "table of nan": np.full((2, 2), np.nan),
    "table of objects": np.array([[object()]], object),
    "no rows": np.zeros((0, 2)),
    "three axes": np.zeros((2, 2, 2)),
    "deep": nested(50_000),
    "endless": ENDLESS,
    "object": object(),
    "hostile": Hostile(),
    "class": Hostile,
    "function": lambda *args: None,
}


def refuse(function, *given):
    with pytest.raises(AbstainError, match="learns from rounds that it decided on alone"):
        function(*given)


X, y = np.array([[0.5, -0.5], [0.25, 1.0]]), np.array([1.0, -1.0])
EXPERTS = ab.experts.hyperplanes(2, 2, 2, seed=0)
SQUARE = np.eye(2)
NORMALS = {"normals": np.ones((2, 2)), "n_rings": 2, "always_predict": False, "regions": "rings"}
AXES = {"dim": 2, "offsets": [0.0], "thresholds": [0.1]}
COLUMNS = {"n_predictors": 2, "n_rules": 2, "pairs": "product", "rule_subset": None}
ENDS = {"dim": 2, "h": [1.0, -1.0], "r": [1.0], "pairs": "product", "low": -1.0, "high": 1.0}
# Every function, with arguments that are right.
FUNCTIONS = {
    "exp3_abs_bound": (theory.exp3_abs_bound, {"T": 10, "K": 3, "cost": 0.2, "eta": 0.1}),
    "cont_exp3_abs_epsilon": (theory.cont_exp3_abs_epsilon, {"T": 10, "d": 2, "gamma": 0.5}),
    "cont_exp3_abs_rate": (theory.cont_exp3_abs_rate, {"T": 10, "d": 2, "gamma": 0.5}),
    "close_calls": (theory.close_calls, {"margins": [0.1], "gamma": 0.5}),
    "admissible_covering": (theory.admissible_covering, {"matrix": SQUARE, "exact": True}),
    "shared_covering": (theory.shared_covering, {"matrices": [SQUARE], "exact": False}),
    "ucb_nt_bound": (theory.ucb_nt_bound, {"deltas": [0.0, 0.5], "covering": [[0], [1]], "T": 10, "beta": 2.5}),
    "independence_number": (theory.independence_number, {"matrix": SQUARE}),
    "independence_bound": (theory.independence_bound, {"deltas": [0.0, 0.5], "matrix": SQUARE, "T": 10, "beta": 2.5}),
    "exp3_bound": (theory.exp3_bound, {"T": 10, "K": 3, "eta": 0.1}),
    "exp3_abs_tail_bound": (
        theory.exp3_abs_tail_bound,
        {"T": 10, "K": 3, "cost": 0.2, "ix": 0.1, "delta": 0.1, "eta": 0.1},
    ),
    "cont_exp3_abs_bound": (
        theory.cont_exp3_abs_bound,
        {"T": 10, "n_balls": 2, "epsilon": 0.5, "gamma": 0.5, "lipschitz": 1.0, "n_actions": 3, "close": 0},
    ),
    "best_covering": (theory.best_covering, {"deltas": [0.0, 0.5], "matrix": SQUARE}),
    "ucb_nt_bound, best": (
        theory.ucb_nt_bound,
        {"deltas": [0.0, 0.5], "covering": "best", "T": 10, "beta": 0.6, "graph": SQUARE},
    ),
    "ucb_gt_bound": (
        theory.ucb_gt_bound,
        {"deltas": [0.0, 0.5], "covering": "best", "T": 10, "beta": 2.5, "graph": SQUARE},
    ),
    "cliques": (instances.cliques, {"groups": 2, "size": 2, "gap": 0.1, "best": 0}),
    "regions": (instances.regions, {"n_regions": 2, "size": 2, "gap": 0.1, "best": 0, "cost": 0.5}),
    "random_labels": (instances.random_labels, {"dim": 2, "gamma": 0.5, "lipschitz": 1.0, "cost": 0.5}),
    "late_bloomer": (instances.late_bloomer, {"length": 2, "cost": 0.5}),
    "Cliques.draw": (instances.cliques(2, 2, 0.1).draw, {"n": 3, "seed": 0}),
    "Cliques.least": (instances.cliques(2, 2, 0.1).least, {"n": 3}),
    "Regions.draw": (instances.regions(2, 2, 0.1).draw, {"n": 3, "seed": 0}),
    "Regions.least": (instances.regions(2, 2, 0.1).least, {"n": 3}),
    "RandomLabels.draw": (instances.random_labels(2).draw, {"n": 3, "seed": 0}),
    "RandomLabels.best": (instances.random_labels(2).best, {"y": [1.0, -1.0]}),
    "RandomLabels.least": (instances.random_labels(2).least, {"n": 3}),
    "RandomLabels.best_loss": (instances.random_labels(2).best_loss, {"n": 3}),
    "bias_problem": (instances.bias_problem, {"left": 0.5, "cost": 0.9, "blue_left": 0.8}),
    "proposition_1": (instances.proposition_1, {"p": 0.9, "cost": 0.5}),
    "switching": (instances.switching, {"cost": 0.2}),
    "rotating": (instances.rotating, {"cost": 0.2}),
    "alternating": (instances.alternating, {"length": 500, "cost": 0.2}),
    "flipping": (instances.flipping, {"cost": 0.2}),
    "trap": (instances.trap, {"length": 300, "cost": 0.2}),
    "lipschitz": (instances.lipschitz, {"dim": 2, "cost": 0.2}),
    "Instance.draw": (instances.bias_problem().draw, {"n": 3, "seed": 0}),
    "Stream.draw": (instances.rotating().draw, {"n": 3, "seed": 0}),
    "Instance.regime": (instances.bias_problem().regime, {"n": 3}),
    "Cliques.regime": (instances.cliques(2, 2, 0.1).regime, {"n": 3}),
    "Regions.regime": (instances.regions(2, 2, 0.1).regime, {"n": 3}),
    "Stream.regime": (instances.rotating().regime, {"n": 3}),
    "Lipschitz.draw": (instances.lipschitz(2).draw, {"n": 3, "seed": 0}),
    "Lipschitz.lean": (instances.lipschitz(2).lean, {"X": X}),
    "Lipschitz.expected": (instances.lipschitz(2).expected, {"X": X}),
    "losses.get": (losses.get, {"loss": "ramp"}),
    "losses.from_spec": (losses.from_spec, {"spec": {"name": "ramp", "gamma": 0.5}}),
    "losses.from_spec kind": (
        lambda kind, parameters: losses.from_spec({"kind": kind, "parameters": parameters}),
        {"kind": "abstain.losses:Ramp", "parameters": {"gamma": 0.5}},
    ),
    "losses.ramp": (losses.ramp, {"gamma": 0.5}),
    "losses.multiclass": (losses.multiclass, {"classes": [1, 2]}),
    "losses.surrogate": (losses.surrogate, {"h": 0.5, "r": [0.5], "y": 1, "cost": 0.2, "gamma": 0.5}),
    "hyperplanes": (
        ab.experts.hyperplanes,
        {"dim": 2, "n_predictors": 2, "n_rings": 2, "always_predict": False, "regions": "rings", "seed": 0},
    ),
    "axis_planes": (ab.experts.axis_planes, {"dim": 2, "n_predictors": 2, "thresholds": [0.1]}),
    "thresholds": (ab.experts.thresholds, {"n_models": 2, "thresholds": [0.1]}),
    "from_columns": (ab.experts.from_columns, COLUMNS),
    "from_functions": (ab.experts.from_functions, {"pairs": [(min, max)], "rule_subset": [[True]]}),
    "from_parameters": (ab.experts.from_parameters, {"kind": "hyperplanes", "parameters": NORMALS}),
    "from_parameters hyperplanes": (lambda **given: ab.experts.from_parameters("hyperplanes", given), NORMALS),
    "from_parameters axis_planes": (lambda **given: ab.experts.from_parameters("axis_planes", given), AXES),
    "from_parameters thresholds": (
        lambda **given: ab.experts.from_parameters("thresholds", given),
        {"n_models": 2, "levels": [0.1]},
    ),
    "from_parameters columns": (lambda **given: ab.experts.from_parameters("columns", given), COLUMNS),
    "Constants": (ab.experts.Constants, ENDS),
    "Advice": (ab.experts.Advice, {"predictions": [[1.0]], "abstains": [[True]]}),
    "graphs.get": (graphs.get, {"graph": "subset"}),
    "graphs.fixed": (graphs.fixed, {"matrix": SQUARE}),
    "graphs.spec": (graphs.spec, {"graph": graphs.subset()}),
    "graphs.kernel_of": (graphs.kernel_of, {"graph": graphs.subset()}),
    "graphs.from_parameters": (graphs.from_parameters, {"parameters": {"graph": "subset"}}),
    "graphs.from_parameters fixed": (
        lambda graph, edges: graphs.from_parameters({"graph": graph, "edges": edges}),
        {"graph": "fixed", "edges": SQUARE},
    ),
    "graphs.from_parameters kind": (
        lambda kind, edges: graphs.from_parameters({"kind": kind, "edges": edges}),
        {"kind": "abstain.graphs.builtin:Fixed", "edges": SQUARE},
    ),
    "graphs.draw": (graphs.draw, {"matrix": SQUARE, "labels": ["a", "b"], "ax": None}),
    "Exp3Abs": (
        lambda **given: ab.Exp3Abs(EXPERTS, cost=0.2, **given),
        {"eta": 0.1, "horizon": 5, "ix": 0.1, "memory": 5, "feedback": "both", "min_observe": 0.1},
    ),
    "DoublyRobust": (
        lambda **given: ab.DoublyRobust(EXPERTS, cost=0.2, **given),
        {"memory": None, "guard": 0.1, "feedback": (0.5, 1.0), "min_observe": 0.1},
    ),
    "feedback pair": (lambda v_p, v_a: as_feedback((v_p, v_a)), {"v_p": 0.5, "v_a": 0.5}),
    "UCB feedback": (lambda feedback: ab.UCB(EXPERTS, cost=0.2, feedback=feedback), {"feedback": "predicted"}),
    "Stacked": (lambda **given: ab.Stacked(EXPERTS, **given), {"cost": 0.2, "loss": "ramp", "seed": 0}),
    "warm_start": (lambda X, y: ab.DoublyRobust(EXPERTS, cost=0.2).warm_start(X, y), {"X": X, "y": y}),
    "warm_start, EXP3-ABS": (lambda X, y: ab.Exp3Abs(EXPERTS, cost=0.2).warm_start(X, y), {"X": X, "y": y}),
    "warm_start, UCB": (lambda X, y: refuse(ab.UCB(EXPERTS, cost=0.2).warm_start, X, y), {"X": X, "y": y}),
    "costs.get": (costs.get, {"cost": 0.2}),
    "Constant": (costs.Constant, {"value": 0.2}),
    "PerRound": (costs.PerRound, {"values": [0.2]}),
    "best_in_hindsight": (
        ab.best_in_hindsight,
        {"experts": EXPERTS, "X": X, "y": y, "cost": 0.2, "loss": "zero_one"},
    ),
    "best_pair": (
        ab.best_pair,
        {"X": X, "y": y, "cost": 0.2, "gamma": 0.5, "pairs": [(0.5, 0.5)], "surrogate": True},
    ),
    "best_pair pairs": (
        lambda h, r: ab.best_pair(X, y, cost=0.2, pairs=[(h, r)]),
        {"h": 0.5, "r": np.array([0.5, -0.5])},
    ),
    "plain": (plain, {"values": [1]}),
    "as_count": (lambda value: as_count(value, "n"), {"value": 3}),
    "is_number": (is_number, {"value": 3}),
    "as_number": (lambda value: as_number(value, "n", "a finite number"), {"value": 3}),
    "as_seed": (as_seed, {"seed": 3}),
    "as_table": (lambda values: as_table(values, None), {"values": X}),
    "as_row": (lambda values: as_row(values, None), {"values": X[0]}),
    "as_floats": (as_floats, {"values": X}),
    **{f"{name}.labels": (losses.get(name).labels, {"y": [1, -1]}) for name in losses.names},
    **{f"{name}()": (losses.get(name), {"predictions": X, "y": np.array([1, -1])}) for name in losses.names},
    "classes.labels": (losses.multiclass([1, 2]).labels, {"y": [1, 2]}),
    "named classes.labels": (losses.multiclass(["a", "b"]).labels, {"y": ["a"]}),
    **{
        f"{experts.kind}.advise": (experts.advise, {"X": X})
        for experts in (
            EXPERTS,
            ab.experts.axis_planes(2, 2),
            ab.experts.thresholds(2, [0.1]),
            ab.experts.from_columns(1, 1),
            ab.experts.from_functions([(lambda x: x[0], lambda x: x[1])]),
            ab.experts.Constants(**ENDS),
        )
    },
}
ARGUMENTS = [(name, argument) for name, (_, right) in FUNCTIONS.items() for argument in right]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_arguments_are_right(name):
    function, right = FUNCTIONS[name]
    function(**right)


@pytest.mark.parametrize(("name", "argument"), ARGUMENTS)
def test_junk(name, argument):
    if (name, argument) == ("graphs.draw", "ax"):
        return  # of Matplotlib
    function, right = FUNCTIONS[name]
    for what, junk in JUNK.items():
        try:
            answer = function(**{**right, argument: junk})
        except AbstainError as error:
            sentence = str(error)
        except Exception as error:
            if name == "functions.advise" or callable(junk):
                continue  # what a user's function raises is the user's
            raise AssertionError(f"{argument}: {what}: {error!r}") from error
        else:
            sentence = "expected" if not isinstance(answer, float) or math.isfinite(answer) else f"{what}: {answer}"
        assert any(word in sentence for word in ("expected", "needs", "not known", "cannot be made")), sentence


def test_a_sentence_shows_what_came():
    with pytest.raises(AbstainError, match="^cost: expected a number in .0, 1., got 'x'$"):
        theory.exp3_abs_bound(10, 3, "x")
    with pytest.raises(AbstainError, match="^T: expected .* got a int that cannot be shown$"):
        theory.exp3_abs_bound(10**5000, 3, 0.2)
    with pytest.raises(AbstainError, match=r"^n: expected a whole number, at most 100000000, got 1000000000000$"):
        instances.rotating().draw(10**12)
    with pytest.raises(AbstainError, match=r"^graph: expected .* got '(x){199}\.\.\.$"):
        graphs.get("x" * 1000)

"""Learners of others: options of any kind, mistakes that are named, code that changes."""

import copy
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

import abstain as ab
from abstain.checks import check_learner
from abstain.errors import InputError
from abstain.kernels.compiling import UnknownCodeError, digest

RINGS = ab.experts.hyperplanes(2, 3, 4, seed=0)
X, Y = ab.datasets.load("synthetic", n=100, seed=0)


class State(NamedTuple):
    total: np.ndarray


class Outer(NamedTuple):
    inner: State


@ab.extend.kernel
def first(t, u, x, abstains, carry, s):
    return 0, 0.0 if abstains[0] else 1.0


@ab.extend.kernel
def beyond(t, u, x, abstains, carry, s):
    return 10**9, 1.0


@ab.extend.kernel
def below(t, u, x, abstains, carry, s):
    return -1, 1.0


@ab.extend.kernel
def now_and_then(t, u, x, abstains, carry, s):
    if t % 2 == 1:
        carry[0] = t
    return 0, 0.0 if abstains[0] else 1.0


@ab.extend.kernel
def add(expert, abstains, losses, seen, cost, carry, s):
    s.total[0] += 1.0


@ab.extend.kernel
def add_carry(expert, abstains, losses, seen, cost, carry, s):
    s.total[0] += carry[0]


@ab.extend.kernel
def carry_x(t, u, x, abstains, carry, s):
    carry[0] = x.size
    return 0, 0.0 if abstains[0] else 1.0


@ab.extend.kernel
def carry_last(t, u, x, abstains, carry, s):
    carry[0] = x[x.size - 1]
    return 0, 0.0 if abstains[0] else 1.0


@ab.extend.kernel
def always(s):
    return True


class Simple(ab.extend.KernelLearner):
    kernels = ab.extend.Kernels(first, add)
    saved = ("total",)

    def new_state(self):
        return State(np.zeros(1))


class Choosing(Simple):
    """With options of every kind."""

    options = ("graph", "metric", "levels", "pair", "function")

    def __init__(
        self, experts, *, cost, loss="zero_one", seed=None, graph=None, metric=None, levels=(), pair=(), function=None
    ):
        super().__init__(experts, cost=cost, loss=loss, seed=seed)
        self.graph, self.metric, self.levels, self.pair, self.function = graph, metric, levels, pair, function


class Carrying(Simple):
    kernels = ab.extend.Kernels(now_and_then, add_carry)

    def new_carry(self):
        return np.zeros(1)


class Looking(Carrying):
    kernels = ab.extend.Kernels(carry_x, add_carry)


class Seeing(Carrying):
    """Its kernels see the first predictor's score and the cost."""

    kernels = ab.extend.Kernels(carry_last, add_carry)

    def see(self, X, advice, costs):
        return np.column_stack([advice.predictions[:, 0], costs])


def test_options_of_every_kind(tmp_path):
    learner = Choosing(RINGS, cost=0.3, graph="mine", levels=np.arange(3.0), pair=(1, "a"))
    learner.save(tmp_path / "x")
    again = ab.load(tmp_path / "x")
    assert (again.graph, again.metric, again.pair, again.function) == ("mine", None, (1, "a"), None)
    np.testing.assert_array_equal(again.levels, np.arange(3.0))
    learner = Choosing(RINGS, cost=0.3, function=len)
    learner.save(tmp_path / "x")
    with pytest.raises(InputError, match="give it as function="):
        ab.load(tmp_path / "x")
    assert ab.load(tmp_path / "x", function=len).function is len
    with pytest.raises(InputError, match="pair: expected"):
        ab.load(tmp_path / "x", function=len, pair=(3,))
    with pytest.raises(InputError, match="more: expected some of graph"):
        ab.load(tmp_path / "x", function=len, more=1)
    with pytest.raises(InputError, match="parameters: expected"):
        Choosing(RINGS, cost=0.3, pair={1, 2}).save(tmp_path / "x")


@pytest.mark.long
def test_what_is_carried_is_of_the_round():
    """Also where `choose` does not write to it, and where there is no x."""
    check_learner(lambda: Carrying(RINGS, cost=0.3, seed=0))
    learner = Looking(RINGS, cost=0.3, seed=0)
    assert learner.decide(X[0]).carry[0] == 2
    advice = RINGS.advise(X[1:2])
    assert learner.peek(advice).carry[0] == copy.deepcopy(learner).peek(advice).carry[0] == 0
    assert learner.decide(X[2]).carry[0] == 2


def test_what_kernels_see_of_a_round():
    costs = np.linspace(0.0, 1.0, 2000)
    learner = Seeing(RINGS, cost=costs)
    assert [learner.decide(x).carry[0] for x in X] == costs[:100].tolist()
    assert learner.peek(RINGS.advise(X[:1])).carry[0] == costs[100]
    ab.simulate(learner, X, Y)
    assert learner.state.total[0] == pytest.approx(
        costs[100:200].sum() + costs[:100][RINGS.advise(X).abstains[:, 0]].sum()
    )
    check_learner(lambda: Seeing(RINGS, cost=costs))


@pytest.mark.parametrize("choose", [beyond, below])
def test_an_expert_that_there_is_not(choose):
    class Wrong(Simple):
        kernels = ab.extend.Kernels(choose, add)

    learner = Wrong(RINGS, cost=0.3)
    for action in (lambda: learner.decide(X[0]), lambda: learner.peek(X[0]), lambda: ab.simulate(learner, X, Y)):
        with pytest.raises(InputError, match="choose: expected an expert below 12"):
            action()
        assert (learner.round, learner.pending, learner.state.total[0]) == (0, (), 0.0)


def test_no_room():
    class Full(Simple):
        kernels = ab.extend.Kernels(first, add, full=always)

    class Idle(Full):
        def grow(self):
            pass

    for kind in (Full, Idle):
        with pytest.raises(InputError, match="^grow"):
            kind(RINGS, cost=0.3).decide(X[0])


def test_mistakes_are_named():
    with pytest.raises(InputError, match="^kernels: expected Kernels"):
        type("Wrong", (Simple,), {"kernels": (first, add)})
    with pytest.raises(InputError, match="^kernels: expected Kernels"):
        type("Wrong", (Simple,), {"kernels": ab.extend.Kernels(first.py_func, add)})
    for change, match in (
        ({"saved": ("more",)}, "saved: expected one array of the name more in the state, got none"),
        (
            {"new_state": lambda self: State([0.0])},
            "saved: expected one array of the name total in the state, got list",
        ),
        ({"fixed": ("more",)}, "fixed: expected names of fields of the state, got 'more'"),
        ({"signed": ("total", "more")}, "signed: expected names of fields of the state, got 'more'"),
        ({"fixed": ("total",)}, "fixed: expected parts .* that nothing is learnt in, but total is saved"),
        (
            {"fixed": ("inner",), "new_state": lambda self: Outer(State(np.zeros(1)))},
            "fixed: expected parts .* that nothing is learnt in, but total is saved",
        ),
        ({"options": ("more",)}, "options: expected names of attributes of Wrong, .* got 'more'"),
        ({"kernels": None}, r"kernels: expected Kernels\(choose, update\) in the class Wrong, got none"),
        ({"new_state": lambda self: {"a": 1}}, "new_state: expected a NamedTuple"),
        ({"new_carry": lambda self: ["a"]}, "new_carry: expected bits or floats"),
    ):
        with pytest.raises(InputError, match=match):
            type("Wrong", (Simple,), change)(RINGS, cost=0.3).decide(X[0])


def test_a_learner_without_weight_kernels_is_refused():
    with pytest.raises(InputError, match="^weight_kernels: expected WeightKernels in the class Wrong, got none"):
        type("Wrong", (ab.extend.WeightedLearner,), {})(RINGS, cost=0.3)


def following(which):
    @ab.extend.kernel
    def choose(t, u, x, abstains, carry, s):
        return which, 0.0 if abstains[which % 4] else 1.0

    class Following(Simple):
        kernels = ab.extend.Kernels(choose, add)

    return Following


@pytest.mark.long
def test_closures_are_told_apart():
    for which in (1, 3, 1):
        learner = following(which)(RINGS, cost=0.3)
        assert set(ab.simulate(learner, X, Y).expert) == {which} == {learner.decide(X[0]).expert}
    first_digest, second = (digest(following(which).kernels.choose.py_func) for which in (1, 3))
    assert first_digest != second == digest(following(3).kernels.choose.py_func)


PACKAGE = {
    "deep/__init__.py": "from . import sub",
    "deep/sub.py": "import abstain as ab\nWHICH = (1, 2)\n@ab.extend.kernel\ndef pick():\n    return 1\n",
    "helper.py": "from numba.extending import register_jitable\n@register_jitable\ndef plus(a):\n    return a + 1\n",
    "kernels.py": """
import abstain as ab
import numba
import deep, helper
from collections import namedtuple
import numpy as np
Big = namedtuple("Big", "values")
BIG = Big(np.arange(2000))
@ab.extend.kernel
def whole():
    return deep.sub.pick() + deep.sub.WHICH[0] + helper.plus(1) + BIG.values[1500]
""",
}
ASK = "import kernels; from abstain.kernels.compiling import digest; print(digest(kernels.whole.py_func))"


@pytest.mark.long
def test_every_change_is_seen(tmp_path):
    """Of what a function reaches through modules, tuples, arrays, and functions for others to compile."""

    def ask(**changes):
        for name, text in PACKAGE.items():
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            old, new = changes.get(name.replace("/", "_").replace(".py", ""), ("", ""))
            assert old in text
            path.write_text(text.replace(old, new) if old else text)
        done = subprocess.run(
            [sys.executable, "-B", "-c", ASK], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=True
        )
        return done.stdout

    same = ask()
    assert same == ask()
    digests = {
        same,
        ask(deep_sub=("return 1", "return 2")),
        ask(deep_sub=("(1, 2)", "(2, 2)")),
        ask(helper=("a + 1", "a + 2")),
        ask(kernels=("np.arange(2000)", "np.arange(2000) // 2")),
    }
    assert len(digests) == 5


def test_what_cannot_be_told_is_not_kept():
    unknown = object()

    @ab.extend.kernel
    def uses():
        return unknown

    with pytest.raises(UnknownCodeError):
        digest(uses.py_func)

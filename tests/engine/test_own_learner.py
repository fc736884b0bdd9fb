"""The page "Extend": its files are written out, compiled, checked, saved, changed."""

import importlib
import math
import os
import re
import subprocess
import sys
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, DocTestParser, DocTestRunner
from pathlib import Path

import numpy as np
import pytest

import abstain as ab
from abstain.checks import check_learner, play_online
from abstain.errors import InputError
from abstain.extend import WeightedLearner, WeightKernels, kernel

PAGE = (Path(__file__).parents[2] / "docs" / "extend.md").read_text(encoding="utf-8")
SOURCE = re.search(r"<!-- epsilon_greedy.py -->\n```python\n(.*?)```", PAGE, re.DOTALL).group(1)
WEIGHTS = re.search(r"<!-- undecided.py -->\n```python\n(.*?)```", PAGE, re.DOTALL).group(1)
ESTIMATE = re.search(r"<!-- careful.py -->\n```python\n(.*?)```", PAGE, re.DOTALL).group(1)
COMMAND = re.search(r"<!-- count.py -->\n```python\n(.*?)```", PAGE, re.DOTALL).group(1)
MOST_LINES, MOST_LINES_OF_WEIGHTS = 80, 40


@pytest.fixture(scope="module")
def epsilon_greedy(tmp_path_factory):
    """The modules of the page, importable."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "epsilon_greedy.py").write_text(SOURCE)
    (folder / "undecided.py").write_text(WEIGHTS)
    (folder / "careful.py").write_text(ESTIMATE)
    (folder / "count.py").write_text(COMMAND)
    sys.path.insert(0, str(folder))
    try:
        import epsilon_greedy

        yield epsilon_greedy
    finally:
        sys.path.remove(str(folder))
        for name in ("epsilon_greedy", "undecided", "careful"):
            sys.modules.pop(name, None)


@pytest.fixture
def undecided(epsilon_greedy):
    return importlib.import_module("undecided").Undecided


def test_it_is_short():
    assert len(SOURCE.splitlines()) <= MOST_LINES
    assert max(len(WEIGHTS.splitlines()), len(ESTIMATE.splitlines())) <= MOST_LINES_OF_WEIGHTS


@pytest.mark.long
def test_the_page(epsilon_greedy, tmp_path, monkeypatch):
    """The examples give what they say."""
    monkeypatch.chdir(tmp_path)
    examples = DocTestParser().get_doctest(PAGE, {}, "extend.md", None, 0)
    runner = DocTestRunner(optionflags=ELLIPSIS | NORMALIZE_WHITESPACE)
    assert runner.run(examples).attempted > 25
    assert runner.failures == 0


@pytest.mark.parametrize("loss", ["zero_one", "ramp"])
@pytest.mark.parametrize(
    "experts",
    [
        ab.experts.hyperplanes(2, 4, 5, seed=0),
        ab.experts.thresholds(2, [-1.0, 0.1, 0.5]),
        ab.experts.from_columns(2, 4, [(0, 3), (1, 0), (0, 0)]),
    ],
)
@pytest.mark.sample(2)
def test_conformance(epsilon_greedy, experts, loss):
    check_learner(lambda: epsilon_greedy.EpsilonGreedy(experts, cost=0.3, loss=loss, seed=1, epsilon=0.2))


def test_it_does_what_it_says(epsilon_greedy):
    """Against the algorithm written out in NumPy, round by round."""
    experts = ab.experts.hyperplanes(2, 5, 6, seed=0)
    X, y = ab.datasets.load("synthetic", n=400, seed=0)
    learner = epsilon_greedy.EpsilonGreedy(experts, cost=0.3, seed=1, epsilon=0.2)
    total, seen = np.zeros(experts.n_experts), np.zeros(experts.n_experts)
    by_rule = np.argsort(experts.rule_of, kind="stable")
    for x, label in zip(X, y, strict=True):
        with np.errstate(invalid="ignore"):
            mean = np.where(seen > 0, total / seen, -np.inf)
        greedy = next(k for k in by_rule if mean[k] <= mean.min() + 1e-12)
        advice = experts.advise(x[np.newaxis])
        silent = advice.abstains[0, experts.rule_of]
        decision = learner.decide(x)
        assert decision.probability == pytest.approx(0.2 * (~silent).mean() + 0.8 * (not silent[greedy]))
        if not silent[greedy] or decision.abstained:
            learnt = silent if decision.abstained else np.ones_like(silent)
        losses = np.where(silent, 0.3, (advice.predictions[0] * label <= 0)[experts.predictor_of])
        learnt = silent if decision.abstained else np.ones_like(silent)
        total, seen = total + losses * learnt, seen + learnt
        if not decision.abstained:
            learner.learn(decision, label)


class EntropyRate:
    """EXP3-ABS with the rate of the page, written out: no fast sums, the entropy by its definition."""

    def __init__(self, n_experts):
        self.total, self.beta, self.entropies, self.eta = np.zeros(n_experts), 1.0, 0.0, 1.0

    def q(self):
        weights = np.exp(-self.eta * (self.total - self.total.min()))
        return weights / weights.sum()

    def learn(self, estimate):
        q = self.q()
        entropy = -(q[q > 0.0] * np.log(q[q > 0.0])).sum()
        self.entropies += entropy / math.log(len(q))
        self.beta += 1.0 / math.sqrt(1.0 + self.entropies)
        self.total += estimate
        self.eta = 2.0 ** (math.floor(8.0 * math.log2(1.0 / self.beta)) / 8.0)


@pytest.mark.parametrize(
    "experts",
    [
        ab.experts.hyperplanes(2, 5, 6, seed=0),
        pytest.param(ab.experts.thresholds(2, np.linspace(-0.1, 0.9, 40)), marks=pytest.mark.long),
    ],
    ids=["shared rules", "own rules"],
)
def test_the_weights_are_those_of_the_algorithm(undecided, experts):
    X, y = ab.datasets.load("synthetic", n=800, seed=0)
    learner, twin = undecided(experts, cost=0.3, seed=1), EntropyRate(experts.n_experts)
    for x, label in zip(X, y, strict=True):
        np.testing.assert_allclose(learner.weights, twin.q(), rtol=1e-8, atol=1e-12)
        advice = experts.advise(x[np.newaxis])
        silent = advice.abstains[0, experts.rule_of]
        decision = learner.decide(x)
        observed = twin.q()[~silent].sum()
        assert decision.probability == pytest.approx(observed, abs=1e-9)
        lost = (advice.predictions[0] * label <= 0)[experts.predictor_of]
        twin.learn(np.where(silent, 0.3, 0.0 if decision.abstained else lost / observed))
        if not decision.abstained:
            learner.learn(decision, label)
    assert twin.eta < 0.5


@pytest.mark.parametrize("options", [{}, {"memory": "adaptive", "feedback": (0.8, 0.3)}])
@pytest.mark.sample(1)
def test_own_weights_obey_the_rules(undecided, options):
    check_learner(lambda: undecided(ab.experts.hyperplanes(2, 4, 5, seed=0), cost=0.3, seed=1, **options))


@pytest.mark.long
def test_own_weights_go_on_with_other_experts(undecided):
    two, three = (ab.experts.thresholds(n, [0.0, 0.5]) for n in (2, 3))
    learner = undecided(two, cost=0.2, seed=0)
    ab.simulate(learner, *ab.datasets.load("synthetic", n=300, seed=0))
    before = learner.weights
    learner.rearrange(three, predictor_from=[0, 1, -1], expert_from=[0, 1, 2, 3, -1, -1])
    np.testing.assert_allclose(learner.weights[:4] / learner.weights[:4].sum(), before)
    assert learner.weights[4:].tolist() == pytest.approx([before.mean() * learner.weights[:4].sum()] * 2)


def test_weights_of_something_else_are_refused():
    with pytest.raises(InputError, match="weight_kernels: expected WeightKernels of functions marked extend.kernel"):
        type("Wrong", (ab.extend.WeightedLearner,), {"weight_kernels": ab.extend.WeightKernels(rate=len)})


@ab.extend.kernel
def nonsense(j, squares, measured, own, s):
    return np.nan


class Nonsense(ab.extend.WeightedLearner):
    """A learner whose rate is not a number."""

    weight_kernels = ab.extend.WeightKernels(rate=nonsense)


@ab.extend.kernel
def centred(j, abstains, losses, seen, cost, carry, s):
    if seen and j == 0:
        for p in range(losses.size):
            s.memories.estimate[p] = (losses[p] - cost) / carry[0]
    return seen, 0.0


class Unsigned(ab.extend.WeightedLearner):
    """Estimates that may be negative, which `signed` does not say: its files could not be read."""

    weight_kernels = ab.extend.WeightKernels(estimate=centred)


def test_negative_estimates_that_are_not_said_to_be_are_found():
    experts = ab.experts.hyperplanes(dim=2, n_predictors=10, seed=0)
    with pytest.raises(AssertionError, match="`signed` names them. state: expected numbers from 0 on in losses"):
        ab.extend.check_learner(lambda: Unsigned(experts, cost=0.2, seed=0))


def test_a_rate_that_is_not_a_number_is_found():
    experts = ab.experts.hyperplanes(2, 4, 5, seed=0)
    with pytest.raises(AssertionError, match="expected finite numbers in numbers, got nan"):
        check_learner(lambda: Nonsense(experts, cost=0.3, seed=1))


PLAY = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import abstain as ab
from epsilon_greedy import EpsilonGreedy
X, y = ab.datasets.load("synthetic", n=300, seed=0)
learner = EpsilonGreedy(ab.experts.hyperplanes(2, 3, 4, seed=0), cost=0.3, seed=0)
ab.simulate(learner, X, y)
hits = sum(learner._call.functions.play.stats.cache_hits.values())
print(float(learner.state.paid.sum()), hits)
"""


@pytest.mark.long
def test_an_edited_file_is_compiled_anew(tmp_path):
    """A second process finds the loop on disk; after a change of a function that the loop calls, it does not."""
    (tmp_path / "epsilon_greedy.py").write_text(SOURCE)
    code, env = [sys.executable, "-c", PLAY, str(tmp_path)], {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def play():
        done = subprocess.run(code, env=env, capture_output=True, text=True, check=True, timeout=300)
        paid, hits = done.stdout.split()
        return float(paid), int(hits)

    first, second = play(), play()
    assert first[1] == 0
    assert second == (first[0], 1)
    # The same length and time, so that nothing but the code itself tells that it changed.
    changed = SOURCE.replace("s.paid[a] += cost if", "s.paid[a] -= cost if")
    assert len(changed) == len(SOURCE)
    (tmp_path / "epsilon_greedy.py").write_text(changed)
    third = play()
    assert third[1] == 0
    assert third[0] < 0.0 < first[0]


def test_online_and_simulated_agree(epsilon_greedy):
    experts = ab.experts.hyperplanes(2, 3, 4, seed=0)
    X, y = ab.datasets.load("synthetic", n=300, seed=0)
    one, two = (epsilon_greedy.EpsilonGreedy(experts, cost=0.3, seed=0) for _ in range(2))
    np.testing.assert_array_equal(ab.simulate(one, X, y).expert, play_online(two, X, y).expert)


def test_a_file_names_the_module_to_import(epsilon_greedy, tmp_path):
    learner = epsilon_greedy.EpsilonGreedy(ab.experts.hyperplanes(2, 3, 4, seed=0), cost=0.3)
    learner.save(tmp_path / "x")
    code = f"import abstain as ab; ab.load({str(tmp_path / 'x')!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert "import epsilon_greedy first" in done.stderr
    assert "UnknownKindError" in done.stderr
    assert issubclass(ab.errors.UnknownKindError, InputError)


@kernel
def halving(t, j, s):
    s.memories.numbers[j, 0] = 0.5 / t
    return True


class Paced(WeightedLearner):
    """A rate that follows the round, and nothing else."""

    weight_kernels = WeightKernels(pace=halving)


@pytest.mark.long
def test_a_pace_needs_no_rate(tmp_path):
    experts = ab.experts.hyperplanes(2, 4, 5, seed=0)
    check_learner(lambda: Paced(experts, cost=0.3, loss="zero_one", seed=1))
    learner = Paced(experts, cost=0.3, loss="zero_one", seed=1)
    X, y = ab.datasets.load("synthetic", n=100, seed=0)
    ab.simulate(learner, X, y)
    learner.save(tmp_path / "paced")
    np.testing.assert_array_equal(ab.load(tmp_path / "paced").weights, learner.weights)

"""Parts of one's own in files: found by their names, and made again from what they hold."""

import json
import zipfile
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pytest

import abstain as ab
from abstain import costs, experts, graphs, losses
from abstain._core.registry import Registry, as_plain, name_of, parameters_of
from abstain.engine.files import LEARNERS
from abstain.errors import InputError

X, Y = ab.datasets.load("synthetic", n=120, seed=0)
RINGS = ab.experts.hyperplanes(2, 3, 4, seed=0)


def test_names_in_files_never_change():
    """Files hold these names, wherever the classes live."""
    own = {name_of(kind) for part in (losses, experts.base, graphs.base) for kind in part.kinds.kinds}
    own |= {name_of(kind) for kind in LEARNERS.kinds}
    assert own >= {
        *("AxisPlanes", "Columns", "Constants", "Functions", "Hyperplanes", "Thresholds", "ModelThresholds"),
        *("Complete", "Fixed", "SelfLoops", "Subset", "Abstention", "Estimated"),
        *("Multiclass", "FunctionLoss", "AbsoluteError", "SquaredError", "Hinge", "Ramp", "ZeroOne", "ModelLosses"),
        *("UCB", "UCBNT", "UCBGT", "FullSupervision", "Exp3", "Exp3Abs", "ContExp3Abs", "DoublyRobust", "Stacked"),
        *("FastRates", "UCBAbs", "UCBDSG"),
    }


def test_a_class_may_move(tmp_path, monkeypatch):
    """A file of this library's classes names no module, so that they can live in another one later."""
    ab.UCBNT(RINGS, cost=0.3, loss="ramp").save(tmp_path / "x")
    with zipfile.ZipFile(tmp_path / "x") as archive:
        assert "abstain." not in archive.read("header.json").decode()
    for kind in (ab.UCBNT, type(RINGS), losses.Ramp, type(graphs.subset())):
        monkeypatch.setattr(kind, "__module__", "abstain.elsewhere")
    assert isinstance(ab.load(tmp_path / "x"), ab.UCBNT)
    ab.UCBNT(RINGS, cost=0.3, loss="ramp").save(tmp_path / "y")
    monkeypatch.undo()
    assert isinstance(ab.load(tmp_path / "y"), ab.UCBNT)


def test_a_registry():
    numbers = Registry("number")
    numbers.add(int)
    assert numbers.find("builtins:int") is int
    assert numbers.make("builtins:int", {}) == 0
    with pytest.raises(
        InputError, match=r"^number: Fast of the module own\.parts is not known; import own\.parts first"
    ):
        numbers.find("own.parts:Fast")
    with pytest.raises(InputError, match="^number: expected a class of abstain, or module:Class, got 'int'"):
        numbers.find("int")
    with pytest.raises(InputError, match="^number: expected the name of a class, got 3"):
        numbers.find(3)
    with pytest.raises(InputError, match="^number: builtins:int cannot be made from its parameters"):
        numbers.make("builtins:int", {"length": 3})


def test_plain_values():
    value = {"a": [1, (2.5, None)], "b": np.array([[1, 2]]), "c": np.float32(0.5), "d": "x"}
    assert as_plain(value) == {"a": (1, (2.5, None)), "b": ((1, 2),), "c": 0.5, "d": "x"}
    assert as_plain(json.loads(json.dumps(as_plain(value)))) == as_plain(value)
    for wrong in (object(), {1: 2}, b"x", 1j, [object()], np.array([object()])):
        with pytest.raises(InputError, match="^parameters: expected"):
            as_plain(wrong)


# A set of one's own.


class Features(ab.experts.ExpertSet):
    """Predictor k is the k-th feature; rule j abstains where all features are within ``widths[j]`` of 0."""

    def __init__(self, dim, widths):
        super().__init__(n_predictors=dim, n_rules=len(widths), n_features=dim)
        self.widths = np.array(widths, np.float64)

    def advise_rows(self, X, out=None):
        return ab.experts.Advice(X, np.abs(X).max(axis=1)[:, np.newaxis] <= self.widths)

    def parameters(self):
        return {"dim": self.n_features, "widths": self.widths}


def goes_on(learner, path, **given):
    """Whether what comes back from a file goes on like the learner itself."""
    ab.simulate(learner, X[:60], Y[:60])
    learner.save(path)
    again = ab.load(path, **given)
    expected, got = ab.simulate(learner, X[60:], Y[60:]), ab.simulate(again, X[60:], Y[60:])
    np.testing.assert_array_equal(expected.expert, got.expert)
    np.testing.assert_array_equal(expected.loss, got.loss)
    return again


def test_a_set_of_ones_own(tmp_path):
    mine = Features(2, [0.1, 0.4])
    assert repr(mine) == "<Features: 4 experts, 2 predictors, 2 rules>"
    again = goes_on(ab.UCBGT(mine, cost=0.3), tmp_path / "x")
    assert type(again.experts) is Features
    assert again.experts.fingerprint == mine.fingerprint != Features(2, [0.1, 0.5]).fingerprint
    assert ab.load(tmp_path / "x", experts=Features(2, [0.1, 0.4])).round == again.round - 60


def test_a_set_made_from_a_built_in_one(tmp_path):
    class Bold(type(RINGS)):
        """Never abstains in the last ring."""

        def advise_rows(self, X, out=None):
            advice = super().advise_rows(X, out)
            return ab.experts.Advice(advice.predictions, advice.abstains & (np.arange(self.n_rules) < 3))

    bold = Bold(**RINGS.parameters())
    assert bold.fingerprint != RINGS.fingerprint
    assert type(goes_on(ab.UCB(bold, cost=0.3), tmp_path / "x").experts) is Bold


def rewrite(path, change):
    """Change the header of a file."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(parts["header.json"])
    change(header)
    parts["header.json"] = json.dumps(header).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


@pytest.mark.parametrize("part", ["experts", "loss", "graph"])
def test_an_import_is_missing(tmp_path, part):
    """Nothing that a file names is imported."""

    def change(header):
        of = header["options"]["graph"] if part == "graph" else header
        of[part]["kind"] = "this:Poem"

    ab.UCBNT(RINGS, cost=0.3).save(tmp_path / "x")
    rewrite(tmp_path / "x", change)
    with pytest.raises(InputError, match=f"^{part}: Poem of the module this is not known; import this first"):
        ab.load(tmp_path / "x")


# A loss of one's own.


class Half(losses.Loss):
    """An error counts as much as is said."""

    def __init__(self, weight, levels=(1.0, 2.0)):
        self.weight, self.levels = weight, levels

    def labels(self, y):
        return losses.get("zero_one").labels(y)

    def values(self, predictions, y):
        return self.weight * (predictions * y[:, np.newaxis] <= 0)


@dataclass(frozen=True)
class Data(Half):
    weight: float
    levels: tuple = ((1, 2), ("a",))


@dataclass(frozen=True, slots=True)
class Slots(Half):
    weight: float


class Cached(Half):
    @cached_property
    def double(self):
        return 2 * self.weight


def cached():
    loss = Cached(0.5)
    assert loss.double == 1.0
    return loss


@pytest.mark.long
@pytest.mark.parametrize(
    "loss", [Half(0.5), Half(weight=np.float32(0.25), levels=(3,)), Data(0.5), Slots(0.5), cached()]
)
def test_a_loss_of_ones_own(tmp_path, loss):
    again = goes_on(ab.UCB(RINGS, cost=0.3, loss=loss), tmp_path / "x")
    assert type(again.loss) is type(loss)
    assert again.loss.spec() == loss.spec() == losses.from_spec(json.loads(json.dumps(loss.spec()))).spec()


class Counting(Half):
    """Holds more than its arguments."""

    def __init__(self, weight):
        super().__init__(weight)
        self.calls = 0


class Forgetting(Half):
    """Holds less."""

    def __init__(self, weight):
        pass


class Renaming(Half):
    def __init__(self, weight):
        self._weight = weight


class Doubling(Half):
    """Comes back as something else."""

    def __init__(self, weight):
        self.weight = 2 * weight


class Listing(Half):
    """JSON has no tuples, so that lists would come back as such."""

    def __init__(self, weight):
        self.weight = [weight]


class Starry(Half):
    def __init__(self, *weights, **more):
        self.weights, self.more = weights, more


@dataclass
class Late(Half):
    weight: float
    seen: list = field(default_factory=list, init=False)


@pytest.mark.parametrize(
    "loss",
    [Counting(0.5), Forgetting(0.5), Renaming(0.5), Doubling(0.25), Listing(0.5), Starry(0.5, a=1), Late(0.5),
     Half(min), Half(np.array([0.5])), Half(0.5, [1, 2])],
)  # fmt: skip
def test_a_loss_that_would_be_lost(tmp_path, loss):
    """Neither left out without a word, nor brought back as something else."""
    with pytest.raises(InputError, match=rf"^loss: expected {type(loss).__name__} to hold .* define parameters\(\)"):
        ab.UCB(RINGS, cost=0.3, loss=loss).save(tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_a_loss_that_says_what_makes_it(tmp_path):
    class Known(Counting):
        def parameters(self):
            return {"weight": self.weight}

    class Given(Counting):
        def parameters(self):
            return None

    class Wrong(Counting):
        def parameters(self):
            return {"weight": object()}

    assert type(goes_on(ab.UCB(RINGS, cost=0.3, loss=Known(0.5)), tmp_path / "x").loss) is Known
    mine = Given(0.5)
    goes_on(ab.UCB(RINGS, cost=0.3, loss=mine), tmp_path / "x", loss=mine)
    with pytest.raises(InputError, match="loss="):
        ab.load(tmp_path / "x")
    with pytest.raises(InputError, match="^parameters: expected"):
        Wrong(0.5).spec()


def test_functions_are_given_again():
    assert losses.get(lambda h, y: h).spec() is None


# A graph of one's own.


class Stateless(ab.graphs.FeedbackGraph):
    def out_neighbours(self, expert, now):
        return np.ones(now.experts.n_experts, bool)


class Newcomers(ab.graphs.FeedbackGraph):
    """Everybody hears of those updated fewer than so many times."""

    def __init__(self, fewer=10, mask=None):
        self.fewer, self.mask = fewer, mask

    def out_neighbours(self, expert, now):
        heard = now.updates < self.fewer
        heard[expert] = True
        return heard if self.mask is None else heard & self.mask


class Counter(Newcomers):
    """Its memory is one of its arguments, so that it comes back with it."""

    def observe(self, now, expert):
        self.fewer += 1


class Remembering(Newcomers):
    def __init__(self):
        super().__init__()
        self.rounds = 0

    def observe(self, now, expert):
        self.rounds += 1


@pytest.mark.parametrize(
    "graph", [Stateless(), Newcomers(), Newcomers(fewer=3, mask=np.arange(12) % 2 == 0), Counter(2)]
)
def test_a_graph_of_ones_own(tmp_path, graph):
    again = goes_on(ab.UCBNT(RINGS, cost=0.3, graph=graph), tmp_path / "x")
    assert type(again.graph) is type(graph)
    assert getattr(again.graph, "fewer", None) == getattr(graph, "fewer", None)


def test_a_memory_is_never_lost_without_a_word(tmp_path):
    learner = ab.UCBNT(RINGS, cost=0.3, graph=Remembering())
    ab.simulate(learner, X, Y)
    assert graphs.spec(learner.graph) is None
    learner.save(tmp_path / "x")
    with pytest.raises(InputError, match="graph="):
        ab.load(tmp_path / "x")

    class Told(Remembering):
        def parameters(self):
            return {}

    assert graphs.spec(Told()) == {"kind": name_of(Told)}


def test_specs_of_graphs():
    class Kind(Stateless):
        def __init__(self, kind):
            self.kind = kind

    class More(type(graphs.complete())):
        def __init__(self):
            self.memory = 3

    assert graphs.spec(Kind("x")) is None  # the word is taken
    assert graphs.spec(More()) is None
    assert graphs.spec(graphs.subset()) == {"kind": "Subset"}
    matrix = np.tri(3, dtype=bool)
    spec = graphs.spec(graphs.fixed(matrix))
    assert spec["kind"] == "Fixed"
    for graph in (
        graphs.self_loops(),
        graphs.complete(),
        graphs.abstention(),
        graphs.estimated(),
        graphs.fixed(matrix),
    ):
        again = graphs.from_parameters(graphs.spec(graph))
        assert type(again) is type(graph)
    np.testing.assert_array_equal(again.edges, matrix)


def test_a_cost_of_ones_own_is_given_again(tmp_path):
    class Rising(costs.Cost):
        def values_of(self, X, first_round, n):
            return np.minimum(1.0, np.arange(first_round, first_round + n) / 1000)

    goes_on(ab.UCB(RINGS, cost=Rising()), tmp_path / "x", cost=Rising())
    with pytest.raises(InputError, match="cost="):
        ab.load(tmp_path / "x")


def test_what_holds_its_arguments():
    class Part:
        def __init__(self, a, *, b=2):
            self.a, self.b = a, b

    assert parameters_of(Part(1)) == {"a": 1, "b": 2}
    assert parameters_of(Part(float("nan")))["b"] == 2
    assert parameters_of(Part(np.arange(3))) is None
    assert parameters_of(Part(np.arange(3)), arrays=True)["a"].tolist() == [0, 1, 2]
    assert parameters_of(Part(Part)) is None

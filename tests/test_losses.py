import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain import losses
from abstain.errors import InputError, LabelError

RNG = np.random.default_rng(0)
RINGS = ab.experts.hyperplanes(2, 5, 6, seed=0)
scores = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5)


@given(scores, st.sampled_from([-1.0, 1.0]), st.sampled_from(["zero_one", "ramp", "hinge"]))
def test_binary_losses_by_their_formulas(h, y, name):
    values = losses.get(name)(np.array([h]), np.array([y]))[0]
    for score, value in zip(h, values, strict=True):
        a = -y * score
        if name == "zero_one":
            expected = float(y * score <= 0)
        elif name == "ramp":
            expected = (0.5 + a) / 1.0 if abs(a) <= 0.5 else float(a >= 0)
        else:
            expected = min(1.0, max(0.0, 1.0 + a))
        assert value == pytest.approx(expected, abs=1e-12)
        assert 0.0 <= value <= 1.0


@given(scores, st.sampled_from(["zero_one", "ramp", "hinge"]))
def test_outcomes_are_the_losses_for_either_label(h, name):
    loss, table = losses.get(name), np.array([h, h])
    both = loss.outcomes(table)
    assert both.shape == (2, len(h), 2)
    assert both.dtype == (np.uint8 if loss.binary else np.float64)
    for k, y in enumerate((-1.0, 1.0)):
        np.testing.assert_array_equal(both[..., k], loss(table, np.full(2, y)))


def test_labels_that_are_not_just_two_have_no_outcomes():
    for loss in (losses.multiclass(["cat", "dog"]), losses.get("absolute"), losses.get(lambda h, y: 0.0 * h)):
        assert loss.outcomes(np.zeros((2, 3))) is None


@given(scores, st.floats(-1e6, 1e6))
def test_regression_losses(h, y):
    error = np.abs(np.array([h]) - y)
    np.testing.assert_array_equal(losses.get("absolute")(np.array([h]), np.array([y])), np.minimum(error, 1))
    np.testing.assert_allclose(losses.get("squared")(np.array([h]), np.array([y])), np.minimum(error**2, 1))


def test_multiclass_of_integers_and_strings():
    loss = losses.multiclass(["cat", "dog"])
    y = loss.labels(["cat", "dog"])
    np.testing.assert_array_equal(loss(np.array([["cat", "dog"], ["cat", "dog"]]), y), [[0, 1], [1, 0]])
    loss = losses.get("multiclass")
    np.testing.assert_array_equal(loss(np.array([[3.0, 7.0]]), loss.labels([7])), [[1, 0]])
    with pytest.raises(LabelError, match="predictions are"):
        loss(np.array([["cat"]]), loss.labels([7]))


@pytest.mark.parametrize("y", [[0], [np.nan], ["cat"], [[1]]])
def test_binary_losses_refuse_other_labels(y):
    with pytest.raises(LabelError, match="^y: expected"):
        losses.get("zero_one").labels(y)


@pytest.mark.parametrize(
    ("loss", "y"),
    [
        ("absolute", [np.nan]),
        ("squared", [np.inf]),
        ("multiclass", [0.5]),
        ("multiclass", [np.inf]),
        (losses.multiclass([1, 2]), [3]),
    ],
)
def test_other_losses_refuse_labels_they_cannot_judge(loss, y):
    with pytest.raises(LabelError, match="^y: expected"):
        losses.get(loss).labels(y)


@pytest.mark.parametrize("loss", ["nothing", None])
def test_an_unknown_loss_is_refused(loss):
    with pytest.raises(InputError, match=r"^loss: expected .* zero_one"):
        losses.get(loss)


def test_values_of_a_function_are_checked():
    loss = losses.get(lambda h, y: np.abs(h - y[:, None]))
    np.testing.assert_array_equal(loss(np.array([[0.5]]), np.array([1.0])), [[0.5]])
    with pytest.raises(InputError, match=r"\[0, 1\], got 3"):
        loss(np.array([[4.0]]), np.array([1.0]))
    with pytest.raises(InputError, match="shape"):
        losses.get(lambda h, y: y)(np.array([[4.0]]), np.array([1.0]))


@pytest.mark.parametrize("gamma", [0.0, np.nan])
def test_a_wrong_gamma_is_refused(gamma):
    with pytest.raises(InputError, match="^gamma"):
        losses.ramp(gamma)


@pytest.mark.parametrize("loss", [*losses.names, losses.ramp(0.2), losses.multiclass(["a", "b"])])
def test_a_loss_is_made_again_from_its_spec(loss):
    known = losses.get(loss)
    assert losses.from_spec(known.spec()) == known


class Wild(losses.Loss):
    """A loss that returns what it is given."""

    name = "wild"

    def __init__(self, result):
        self.result = result

    def labels(self, y):
        return np.asarray(y)

    def values(self, predictions, y):
        return self.result


@pytest.mark.parametrize("result", [[[7.0]], [[np.nan]], [[0.1, 0.2]]])
def test_values_of_users_losses_are_checked(result):
    with pytest.raises(InputError, match="^loss: expected values"):
        Wild(np.array(result))(np.array([[0.5]]), np.array([1.0]))


@pytest.mark.parametrize("loss", ["zero_one", "ramp", "hinge", "squared", "absolute"])
def test_strings_as_scores_are_refused(loss):
    with pytest.raises(InputError, match="^predictions: expected numbers"):
        losses.get(loss)(np.array([["cat"]]), np.array([1.0]))


@pytest.mark.parametrize("classes", [[0.5, 1.5], [1, "a"], [1]])
def test_wrong_classes_are_refused(classes):
    with pytest.raises(InputError, match="^classes: expected"):
        losses.multiclass(classes)


def test_only_overridden_values_are_checked():
    """What a built-in loss says is not checked, in a subclass neither; what a subclass says itself is."""

    class Named(type(losses.ramp())):
        pass

    class Loud(type(losses.ramp())):
        def values(self, predictions, y):
            return 7.0 * super().values(predictions, y)

    class Wrapped(type(losses.ramp())):
        @functools.wraps(losses.Ramp.values)
        def values(self, predictions, y):
            return 7.0 * super().values(predictions, y)

    at_1, y = np.array([[-1.0]]), np.array([1.0])
    np.testing.assert_array_equal(Named(0.5)(at_1, y), losses.ramp(0.5)(at_1, y))
    for loss in (Loud(0.5), Wrapped(0.5)):
        with pytest.raises(InputError, match=r"^loss: expected values in \[0, 1\], got 7"):
            loss(at_1, y)


def test_values_of_a_binary_loss_are_0_or_1():
    class Unsure(losses.ZeroOne):
        def values(self, predictions, y):
            return np.full(predictions.shape, 0.5)

    with pytest.raises(InputError, match="^loss: expected values 0 and 1, got 0.5"):
        Unsure()(np.array([[1.0]]), np.array([1.0]))


@pytest.mark.parametrize("name", losses.names)
def test_predictions_and_labels_must_have_equal_lengths(name):
    """Compiled passes would read beyond the end."""
    loss = losses.get(name)
    for predictions, y in ((np.ones((3, 2)), np.ones(2)), (np.ones(3), np.ones(3)), (np.ones((1, 1)), np.ones((1, 1)))):
        with pytest.raises(InputError, match="^loss: expected predictions"):
            loss(predictions, y)


def test_a_loss_may_have_labels_of_any_kind():
    class ZeroAndOne(losses.ZeroOne):
        """Labels 0 and 1."""

        def labels(self, y):
            return [2 * label - 1 for label in y]

    loss = ZeroAndOne()
    np.testing.assert_array_equal(loss(np.array([[0.5], [0.5]]), loss.labels([1, 0])), [[0], [1]])


def test_scores_near_the_largest_float_do_not_overflow():
    """Scores and labels near the largest float: the loss is 1, and nothing warns."""
    far, y = np.array([[1.7e308, -1.7e308]]), np.array([-1.0])
    np.testing.assert_array_equal(losses.get("ramp")(far, y), [[1, 0]])
    np.testing.assert_array_equal(losses.ramp(1e100)(np.array([[0.0]]), y), [[0.5]])
    np.testing.assert_array_equal(losses.get("hinge")(far, y), [[1, 0]])
    for name in ("absolute", "squared"):
        np.testing.assert_array_equal(losses.get(name)(far, np.array([-1.7e308])), [[1, 0]])


# Classes are compared exactly.

integers = st.one_of(
    st.integers(-3, 3),
    *(
        st.integers(centre - 3, centre + 3)
        for centre in (2**53, -(2**53), 2**62, 2**63 - 4, 2**63, 2**64 - 4, -(2**63) + 3)
    ),
)


def stored(value, dtype):
    """A number as an array would hold it."""
    low, high = (
        (0, 1)
        if dtype == "bool"
        else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        if dtype[0] in "iu"
        else (-(2**70), 2**70)
    )
    return np.array(min(max(value, low), high)).astype(dtype)


TYPES = ["int8", "int32", "int64", "uint8", "uint64", "float32", "float64", "bool"]


@given(integers, integers, st.sampled_from(TYPES), st.sampled_from(TYPES))
def test_numbers_are_compared_as_python_does(prediction, label, of_prediction, of_label):
    h, y = stored(prediction, of_prediction), stored(label, of_label)
    loss = losses.get("multiclass")
    for labels in (loss.labels(y.reshape(1)), loss.labels([y.item()]), loss.labels((y.item(), 0.0))[:1]):
        assert loss(h.reshape(1, 1), labels)[0, 0] == (h.item() != y.item())


@given(integers, integers)
def test_labels_larger_than_any_integer_type(prediction, label):
    """Also if the list holds numbers that no type of NumPy has in common, or that no type has."""
    loss = losses.get("multiclass")
    others = [-1, 2**63, 1.0, 2**70]
    y = loss.labels([label, *others])
    assert [int(one) for one in y] == [label, *others]
    if abs(prediction) < 2**63:
        assert loss(np.full((5, 1), prediction), y)[:, 0].tolist() == [prediction != one for one in [label, *others]]


def test_large_integer_classes_are_compared_exactly():
    loss = losses.multiclass([2**53, 2**53 + 1])
    assert loss.labels(np.array([2.0**53])).tolist() == [2**53]
    assert loss(np.array([[2.0**53]]), loss.labels([2**53 + 1])).tolist() == [[1]]
    assert loss(np.array([[2**53 + 1]]), loss.labels([2.0**53])).tolist() == [[1]]
    with pytest.raises(LabelError, match=rf"got {2**53 + 2} in row 1"):
        loss.labels([2**53, 2**53 + 2])


@pytest.mark.parametrize("classes", [["a", "a\0"], ["a\0\0", "a\0"]])
def test_classes_that_end_with_nul_are_distinct(classes):
    """NumPy's own strings drop it."""
    first, second = classes
    for loss in (losses.get("multiclass"), losses.multiclass(classes)):
        for kind in (list, tuple, lambda values: np.array(values, object)):
            y = loss.labels(kind([first, second]))
            predictions = np.array([[first, second], [first, second]], object)
            assert loss(predictions, y).tolist() == [[0, 1], [1, 0]]
            plain = loss.labels(kind([second, "a"])) if loss.classes is None else y
            assert loss(np.array([["a"], ["a"]]), plain).tolist() == [[one != "a"] for one in plain]
    assert losses.multiclass(classes).classes == tuple(classes)
    assert losses.from_spec(losses.multiclass(classes).spec()) == losses.multiclass(classes)


@pytest.mark.parametrize("kind", [list, np.array, lambda values: np.array(values, object)])
def test_strings_in_every_kind_of_array(kind):
    loss = losses.multiclass(["cat", "mouse"])
    y = loss.labels(kind(["cat", "mouse"]))
    for predictions in (np.array([["cat", "dog"]] * 2), np.array([["cat", "dog"]] * 2, object)):
        assert loss(predictions, y).tolist() == [[0, 1], [1, 1]]
    for numbers in (np.array([[1], [2]]), np.array([[1.0], [2.0]])):
        with pytest.raises(LabelError, match="predictions are"):
            loss(numbers, y)


@pytest.mark.parametrize("y", [["1"], np.array(["1"], object)])
def test_a_string_is_not_an_integer_class(y):
    with pytest.raises(LabelError, match="^y: expected one of"):
        losses.multiclass([1, 2]).labels(y)


@pytest.mark.parametrize("y", [[1, "a", None], [0.5], [np.inf], [1j], [b"a"], [[1]]])
def test_labels_that_are_no_classes_are_refused(y):
    with pytest.raises((LabelError, InputError), match="^y: expected"):
        losses.get("multiclass").labels(y)


class Doubtful(losses.Loss):
    """A loss of somebody else, whose outcomes may be anything."""

    name, binary = "doubtful", True

    def __init__(self, made):
        self.made = made

    def parameters(self):
        return None

    def labels(self, y):
        return losses.get("zero_one").labels(y)

    def values(self, predictions, y):
        return losses.get("zero_one").values(predictions, y)

    def outcomes(self, predictions):
        return self.made(losses.get("zero_one").outcomes(predictions))


def doubtful_games(made):
    """Games with such a loss: round by round, and of a table with what is prepared."""
    X, y = RNG.uniform(-1.0, 1.0, (40, 2)), RNG.choice([-1.0, 1.0], 40)
    for kind in (ab.DoublyRobust, ab.Exp3Abs):
        learner = kind(RINGS, cost=0.3, seed=0, loss=Doubtful(made))
        yield [learner.decide(x).expert for x in X]
        learner = kind(RINGS, cost=0.3, seed=0, loss=Doubtful(made))
        yield ab.simulate(learner, ab.prepare(RINGS, X, y, loss=learner.loss)).expert.tolist()


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda both: np.full(both.shape, np.nan), "outcomes: expected values 0 and 1, got nan"),
        (lambda both: both * 3.0, "outcomes: expected values 0 and 1, got 3.0"),
        (lambda both: both[..., 0], "outcomes: expected values of shape"),
    ],
)
def test_outcomes_of_ones_own_are_checked(made, why):
    with pytest.raises(InputError, match=why):
        next(doubtful_games(made))
    with pytest.raises(InputError, match=why):
        ab.prepare(RINGS, [[0.1, 0.2]], [1], loss=Doubtful(made))


@pytest.mark.parametrize("made", [lambda both: both.astype(float), lambda both: both.tolist()])
def test_outcomes_of_ones_own_may_be_of_any_type(made):
    state = RNG.bit_generator.state
    games = list(doubtful_games(made))
    RNG.bit_generator.state = state
    assert games == list(doubtful_games(lambda both: both))

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstain import losses
from abstain.errors import InputError, LabelError

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


@pytest.mark.parametrize("y", [[0], [2], [np.nan], ["cat"], ["1"], [[1]], [None]])
def test_wrong_binary_labels(y):
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
def test_other_wrong_labels(loss, y):
    with pytest.raises(LabelError, match="^y: expected"):
        losses.get(loss).labels(y)


@pytest.mark.parametrize("loss", ["nothing", 3, None])
def test_unknown_loss(loss):
    with pytest.raises(InputError, match=r"^loss: expected .* zero_one"):
        losses.get(loss)


def test_a_function_is_checked():
    loss = losses.get(lambda h, y: np.abs(h - y[:, None]))
    np.testing.assert_array_equal(loss(np.array([[0.5]]), np.array([1.0])), [[0.5]])
    with pytest.raises(InputError, match=r"\[0, 1\], got 3"):
        loss(np.array([[4.0]]), np.array([1.0]))
    with pytest.raises(InputError, match="shape"):
        losses.get(lambda h, y: y)(np.array([[4.0]]), np.array([1.0]))


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.inf, np.nan])
def test_wrong_gamma(gamma):
    with pytest.raises(InputError, match="^gamma"):
        losses.ramp(gamma)


@pytest.mark.parametrize("loss", [*losses.names, losses.ramp(0.2), losses.multiclass(["a", "b"])])
def test_spec_makes_it_again(loss):
    known = losses.get(loss)
    assert losses.from_spec(known.spec()) == known


class Wild(losses.Loss):
    """A loss of one's own, out of range or shape."""

    name = "wild"

    def __init__(self, result):
        self.result = result

    def labels(self, y):
        return np.asarray(y)

    def values(self, predictions, y):
        return self.result


@pytest.mark.parametrize("result", [[[7.0]], [[-0.1]], [[np.nan]], [[0.1, 0.2]]])
def test_losses_of_ones_own_are_checked(result):
    with pytest.raises(InputError, match="^loss: expected values"):
        Wild(np.array(result))(np.array([[0.5]]), np.array([1.0]))


@pytest.mark.parametrize("loss", ["zero_one", "ramp", "hinge", "squared", "absolute"])
def test_strings_are_no_scores(loss):
    with pytest.raises(InputError, match="^predictions: expected numbers"):
        losses.get(loss)(np.array([["cat"]]), np.array([1.0]))


@pytest.mark.parametrize("classes", [[0.5, 1.5], [1, "a"], [1], 3])
def test_wrong_classes(classes):
    with pytest.raises(InputError, match="^classes: expected"):
        losses.multiclass(classes)

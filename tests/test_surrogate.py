"""The four properties of L~, and the loss it stands for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstain import losses
from abstain.errors import InputError

values = st.floats(-1, 1)
labels = st.sampled_from([-1.0, 1.0])
prices = st.floats(0, 1)
gammas = st.floats(0.01, 0.99)


def abstention_loss(h, r, y, cost, gamma):
    f = (gamma - y * h) / (2 * gamma) if abs(h) <= gamma else float(-y * h >= 0)
    return f if r > 0 else cost


@given(values, values, labels, prices, gammas)
def test_the_surrogate_is_above_the_loss_and_equal_away_from_zero(h, r, y, cost, gamma):
    value, loss = losses.surrogate(h, r, y, cost, gamma), abstention_loss(h, r, y, cost, gamma)
    assert value >= loss - 1e-12
    assert 0.0 <= value <= 1.0
    if abs(r) >= gamma:
        assert value == pytest.approx(loss, abs=1e-12)


@given(values, values, values, values, labels, prices, gammas)
def test_the_surrogate_is_lipschitz(h, r, h2, r2, y, cost, gamma):
    distance = np.hypot(h - h2, r - r2)
    change = abs(losses.surrogate(h, r, y, cost, gamma) - losses.surrogate(h2, r2, y, cost, gamma))
    assert change <= 2 / gamma * distance + 1e-9


@given(values, st.floats(-1, 0), prices, gammas)
def test_the_surrogate_ignores_the_label_when_it_abstains(h, r, cost, gamma):
    assert losses.surrogate(h, r, 1, cost, gamma) == losses.surrogate(-h, r, 1, cost, gamma)
    assert losses.surrogate(h, r, 1, cost, gamma) == losses.surrogate(h, r, -1, cost, gamma)


@given(values, labels, gammas)
def test_the_ramp_is_the_loss_of_that_name(h, y, gamma):
    expected = losses.ramp(gamma)(np.array([[h]]), np.array([y]))[0, 0]
    assert losses.surrogate(h, 1.0, y, 0.5, gamma) == expected


def test_values_near_the_largest_float_do_not_overflow():
    far = [1e308, -1e308]
    np.testing.assert_array_equal(losses.surrogate(far, 1.0, [1e308, 1e308], 0.3, 1e-100), [0, 1])
    np.testing.assert_array_equal(losses.surrogate(0.5, [1e308, -1e308, 0.0], 1, 0.3, 1e-100), [0, 0.3, 1])


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"r": [0.1, 0.2], "h": [0.1, 0.2, 0.3]}, "fit each other"),
        ({"gamma": 10**400}, "^gamma: expected"),
    ],
)
def test_shapes_that_do_not_fit_and_huge_widths_are_refused(given, match):
    with pytest.raises(InputError, match=match):
        losses.surrogate(**{"h": 0.0, "r": 0.0, "y": 1, "cost": 0.5, "gamma": 0.5, **given})

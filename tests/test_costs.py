import numpy as np
import pytest

from abstain import costs
from abstain.errors import InputError


def test_constant_per_round_and_function_costs():
    X = np.array([[0.1], [0.4]])
    assert costs.get(0.3).constant
    np.testing.assert_array_equal(costs.get(0.3).of(X, 5, 2), [0.3, 0.3])
    np.testing.assert_array_equal(costs.get([0.1, 0.2, 0.3]).of(X, 2, 2), [0.2, 0.3])
    np.testing.assert_array_equal(costs.get(lambda X: X[:, 0]).of(X, 1, 2), [0.1, 0.4])


@pytest.mark.parametrize("cost", [1.1, np.nan, [0.2, 2.0], "much", True, None, [], [[0.1]]])
def test_wrong_costs_are_refused(cost):
    with pytest.raises(InputError, match="^cost: expected"):
        costs.get(cost)


def test_wrong_values_of_a_function_are_refused():
    X = np.zeros((2, 1))
    for function in (lambda X: X[:, 0] - 1, lambda X: np.zeros(3), lambda X: 0.1):
        with pytest.raises(InputError, match="^cost: expected"):
            costs.get(function).of(X, 1, 2)
    with pytest.raises(InputError, match="needs x"):
        costs.get(lambda X: X[:, 0]).of(None, 1, 1)


def test_rounds_beyond_the_last_cost_are_refused():
    with pytest.raises(InputError, match="round 4"):
        costs.get([0.1, 0.2, 0.3]).of(None, 3, 2)


def test_costs_per_round_are_copied():
    values = np.array([0.1, 0.2])
    cost = costs.get(values)
    values[0] = 0.9
    np.testing.assert_array_equal(cost.of(None, 1, 2), [0.1, 0.2])


def test_values_of_users_costs_are_checked():
    class Expensive(costs.Cost):
        def values_of(self, X, first_round, n):
            return [5.0] * n

    with pytest.raises(InputError, match=r"^cost: expected values in \[0, 1\], got 5"):
        costs.get(Expensive()).of(None, 1, 2)


def test_only_overridden_costs_are_checked():
    class Same(costs.Constant):
        pass

    class Expensive(costs.Constant):
        def values_of(self, X, first_round, n):
            return [5.0] * n

    class Few(costs.PerRound):
        def values_of(self, X, first_round, n):
            return self.values

    np.testing.assert_array_equal(Same(0.5).of(None, 1, 2), [0.5, 0.5])
    assert Same(0.5).constant
    assert Same(0.5).largest == 0.5
    with pytest.raises(InputError, match=r"^cost: expected values in \[0, 1\], got 5"):
        Expensive(0.5).of(None, 1, 2)
    assert not Expensive(0.5).constant
    assert Expensive(0.5).largest == 1.0
    with pytest.raises(InputError, match="^cost: expected 3 values"):
        Few([0.1, 0.2]).of(None, 1, 3)


@pytest.mark.parametrize(
    "make", [lambda: costs.Constant(5.0), lambda: costs.Constant([0.1]), lambda: costs.PerRound([2.0])]
)
def test_costs_are_checked_when_they_are_made(make):
    with pytest.raises(InputError, match="^cost: expected"):
        make()

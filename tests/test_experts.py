"""Experts: what they advise, which rules lie in others, and how users write their own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import abstain as ab
from abstain.errors import InputError
from abstain.experts.columns import Columns
from abstain.experts.planes import AxisPlanes, Hyperplanes


def test_a_rule_abstains_in_its_ring():
    experts = ab.experts.hyperplanes(4, 3, 20, seed=0)
    radii = np.array([0.0, 0.05, 0.0999, 0.1, 1.0, 1.95, 1.9999, 2.0, 2.0001])
    X = np.zeros((len(radii), 4))
    X[:, 1] = radii
    abstains = experts.advise(X).abstains
    expected = np.array([0, 0, 0, 1, 10, 19, 19, 19, -1])
    np.testing.assert_array_equal(abstains, expected[:, None] == np.arange(20))
    np.testing.assert_array_equal(experts.rule_subset, np.eye(20, dtype=bool))


def test_numbering_is_predictor_major():
    experts = ab.experts.hyperplanes(2, 3, 4, seed=0)
    assert (experts.n_experts, experts.n_predictors, experts.n_rules) == (12, 3, 4)
    np.testing.assert_array_equal(experts.predictor_of * 4 + experts.rule_of, np.arange(12))


def test_balls_accept_rings_and_a_rule_that_always_predicts():
    x = np.array([[0.0, 0.45]])  # ring 1 of 4: width sqrt(2) / 4 = 0.354
    balls = ab.experts.hyperplanes(2, 1, 4, regions="balls", seed=0)
    accept = ab.experts.hyperplanes(2, 1, 4, regions="accept_rings", always_predict=True, seed=0)
    np.testing.assert_array_equal(balls.advise(x).abstains, [[False, True, True, True]])
    np.testing.assert_array_equal(accept.advise(x).abstains, [[True, False, True, True, False]])
    np.testing.assert_array_equal(balls.rule_subset, np.tri(4, dtype=bool).T)
    assert accept.rule_subset[4].all()  # a rule that never abstains lies in every other
    assert accept.rule_subset[:4, 4].sum() == 0


def test_hyperplanes_through_zero():
    experts = ab.experts.hyperplanes(5, 7, seed=3)
    X = np.random.default_rng(0).uniform(-1, 1, (50, 5))
    np.testing.assert_allclose(experts.advise(X).predictions, X @ experts.normals.T)
    assert experts.normals.shape == (7, 5)
    np.testing.assert_array_equal(experts.normals, np.random.default_rng(3).standard_normal((7, 5)))


@settings(max_examples=60)
@given(st.integers(1, 30), st.integers(1, 9), st.integers(1, 40))
def test_a_row_has_the_same_bits_alone_and_in_a_table(d, P, n):
    experts = ab.experts.hyperplanes(d, P, 6, seed=0)
    X = np.random.default_rng(n).normal(size=(n, d))
    table = experts.advise(X)
    for i in range(n):
        row = experts.advise(np.ascontiguousarray(X[i : i + 1]))
        np.testing.assert_array_equal(row.predictions[0], table.predictions[i])
        np.testing.assert_array_equal(row.abstains[0], table.abstains[i])


def test_axis_planes_score_and_abstain_by_distance():
    experts = ab.experts.axis_planes(3, 9, [0.0, 0.25])
    assert (experts.n_predictors, experts.n_rules, experts.n_experts) == (9, 18, 18)
    x = np.array([[0.2, -0.5, 0.9]])
    advice = experts.advise(x)
    offsets = np.array([-0.5, 0.0, 0.5])
    np.testing.assert_allclose(advice.predictions[0], (x.T - offsets).ravel())
    np.testing.assert_array_equal(
        advice.abstains[0].reshape(9, 2), np.abs(advice.predictions[0])[:, None] <= np.array([0.0, 0.25])
    )
    assert ab.experts.axis_planes(7).n_predictors == 98  # floor(100 / 7) a feature


def test_thresholds_abstain_up_to_the_threshold():
    experts = ab.experts.thresholds(2, [0.1, 0.5])
    advice = experts.advise(np.array([[0.1, -0.6]]))
    np.testing.assert_array_equal(advice.abstains, [[True, True, False, False]])
    np.testing.assert_array_equal(experts.predictor_of, [0, 0, 1, 1])
    np.testing.assert_array_equal(experts.rule_subset, np.kron(np.eye(2), [[1, 1], [0, 1]]).astype(bool))


SETS = {
    "rings": ab.experts.hyperplanes(3, 2, 5, seed=0),
    "balls": ab.experts.hyperplanes(3, 2, 5, regions="balls", always_predict=True, seed=0),
    "accept": ab.experts.hyperplanes(3, 2, 5, regions="accept_rings", seed=0),
    "axis": ab.experts.axis_planes(3, 12, [0.0, 0.11, 0.29, 0.47]),
    "thresholds": ab.experts.thresholds(3, [-1.0, 0.0, 0.2, 0.2, 0.6]),
}


@pytest.mark.parametrize("name", SETS)
def test_the_subset_relation_is_exact(name):
    """It holds on every input, boundaries included, and wherever it does not hold an input shows it."""
    experts = SETS[name]
    rng = np.random.default_rng(0)
    grid = np.concatenate([np.linspace(-1, 1, 41), rng.uniform(-2, 2, 200), [0.0, 0.2, -0.2, 0.6, 1.7320508075688772]])
    X = np.concatenate([rng.choice(grid, (20_000, 3)), grid[:, None] * [1.0, 0, 0]])
    abstains = experts.advise(X).abstains
    shown = ~np.einsum("ni,nj->ij", abstains.astype(np.float32), (~abstains).astype(np.float32)).astype(bool)
    np.testing.assert_array_equal(shown, experts.rule_subset)


def test_axis_planes_abstain_where_they_score_zero():
    experts = ab.experts.axis_planes(1, 2, [0.0, 0.1])
    x = experts.offsets[:, None]
    assert (experts.advise(x).abstains[[0, 1], [0, 2]]).all()


class Careless(ab.experts.ExpertSet):
    """Experts that do not return what they promised."""

    kind = "careless"

    def __init__(self, predictions, abstains):
        super().__init__(3, 4, 2)
        self.advice = predictions, abstains

    def advise_rows(self, X, out=None):
        return ab.experts.Advice(*(np.repeat(part, len(X), axis=0) for part in self.advice))

    def parameters(self):
        return {}


@pytest.mark.parametrize(
    ("predictions", "abstains"),
    [
        (np.zeros((1, 50_000)), np.zeros((1, 4), bool)),
        (np.zeros((1, 3)), np.zeros((1, 1), bool)),
        (np.full((1, 3), np.nan), np.zeros((1, 4), bool)),
        (np.array([[None] * 3]), np.zeros((1, 4), bool)),
    ],
)
def test_wrong_advice_of_users_experts_is_refused(predictions, abstains):
    learner = ab.UCB(Careless(predictions, abstains), cost=0.1)
    for action in (
        lambda: learner.decide([0.0, 0.0]),
        lambda: ab.simulate(learner, np.zeros((5, 2)), np.ones(5)),
        lambda: learner.decide(ab.experts.Advice(predictions, abstains)),
    ):
        with pytest.raises(InputError, match="^advice: expected"):
            action()


def test_columns_with_aligned_and_given_pairs():
    x = np.array([[1.0, -1.0, 0.0, 0.1]])
    aligned = ab.experts.from_columns(2, 2, "aligned")
    assert aligned.n_experts == 2
    assert aligned.rule_subset is None
    np.testing.assert_array_equal(aligned.advise(x).abstains, [[True, False]])
    pairs = ab.experts.from_columns(2, 2, np.array([[1, 0], [0, 0], [1, 1]]))
    np.testing.assert_array_equal(pairs.predictor_of, [1, 0, 1])


def test_functions_are_told_apart_by_identity():
    def h(x):
        return x[0]

    def r(x):
        return x[1]

    experts = ab.experts.from_functions([(h, r), (lambda x: -x[0], r)])
    assert (experts.n_predictors, experts.n_rules, experts.n_experts) == (2, 1, 2)
    advice = experts.advise(np.array([[2.0, 0.0], [3.0, 1.0]]))
    np.testing.assert_array_equal(advice.predictions, [[2, -2], [3, -3]])
    np.testing.assert_array_equal(advice.abstains, [[True], [False]])


def test_functions_may_predict_classes():
    experts = ab.experts.from_functions([(lambda x: "cat", lambda x: 1.0), (lambda x: "dog", lambda x: 1.0)])
    learner = ab.UCB(experts, cost=0.2, loss=ab.losses.multiclass(["cat", "dog"]))
    decision = learner.decide([0.0])
    assert decision.prediction == "cat"
    learner.learn(ab.Decision.from_json(decision.to_json()), "dog")
    assert learner.means[0] == 1.0
    trace = ab.simulate(learner, np.zeros((10, 1)), ["dog"] * 10)
    np.testing.assert_array_equal(trace.loss, trace.expert == 0)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: ab.experts.axis_planes(5, 4), "^n_predictors: expected a whole number, at least 5, got 4"),
        (lambda: ab.experts.from_columns(2, 3, "aligned"), "^pairs: 'aligned' needs as many rules as predictors"),
        (
            lambda: ab.experts.from_columns(2, 3, [(0, 0), (2, 1)]),
            r"^pairs: expected predictors below 2 .* got \(2, 1\)",
        ),
        (lambda: ab.experts.from_columns(2, 3, np.zeros((0, 2), int)), r"^pairs: .* got int64 of shape \(0, 2\)"),
        (lambda: ab.experts.from_columns(2, 2, rule_subset=np.eye(3, dtype=bool)), r"^rule_subset: .* \(3, 3\)"),
        (lambda: ab.experts.from_columns(2, 2, rule_subset=np.zeros((2, 2), bool)), "^rule_subset: .* diagonal"),
        (lambda: ab.experts.from_functions([]), r"^pairs: expected at least one \(h, r\), got \[\]"),
        (lambda: ab.experts.hyperplanes(2).advise(np.zeros((3, 4))), "^X: expected 2 columns"),
        (lambda: ab.experts.Advice(np.zeros((1, 2)), np.zeros((2, 2), bool)), "^advice: expected predictions"),
    ],
)
def test_arguments_that_do_not_fit_each_other_are_refused(make, match):
    with pytest.raises(InputError, match=match):
        make()


@pytest.mark.parametrize("relation", [np.eye(3, dtype=bool), np.zeros((2, 2), bool), np.eye(2)])
def test_a_wrong_relation_from_find_subset_is_refused(relation):
    class Related(Columns):
        def find_subset(self):
            return relation

    with pytest.raises(InputError, match="^rule_subset: expected"):
        ab.UCBNT(Related(2, 2, "product", None), cost=0.1)


@pytest.mark.parametrize("function", [lambda x: np.nan, lambda x: "much"])
def test_rules_that_return_no_finite_number_are_refused(function):
    experts = ab.experts.from_functions([(lambda x: 1.0, function)])
    with pytest.raises(InputError, match="^rules: expected"):
        ab.UCB(experts, cost=0.1).decide([0.0])


def test_fingerprints_differ_with_the_parameters():
    first, second = ab.experts.hyperplanes(3, seed=0), ab.experts.hyperplanes(3, seed=1)
    assert first.fingerprint != second.fingerprint
    assert first.fingerprint == ab.experts.hyperplanes(3, seed=0).fingerprint


def test_only_overridden_methods_are_checked():
    """A subclass is checked if it defines what the library relies on, and only then."""
    rings = type(SETS["rings"])(np.ones((2, 2)), 2, False, "rings")

    class Same(type(rings)):
        pass

    class Wild(type(rings)):
        def advise_rows(self, X, out=None):
            advice = super().advise_rows(X, out)
            return ab.experts.Advice(advice.predictions * np.nan, advice.abstains)

    class Lenient(type(rings)):
        def check_inputs(self, X):
            pass

    class Silent(type(rings)):
        def advise_rows(self, X, out=None):
            return None

    x = np.array([[0.5, 0.5]])
    np.testing.assert_array_equal(Same(**rings.parameters()).advise(x).predictions, rings.advise(x).predictions)
    for experts, at in ((Wild, x), (Lenient, np.full((1, 2), 1.5e308)), (Silent, x)):
        with pytest.raises(InputError, match="^advice: expected"):
            experts(**rings.parameters()).advise(at)


LARGEST = np.finfo(float).max


@settings(max_examples=60)
@given(st.integers(1, 20), st.sampled_from([1e-300, 1.0, 1e300, 1e308]), st.floats(0.0, LARGEST), st.integers(0, 9))
def test_scores_are_finite_or_the_input_is_refused(dim, scale, size, seed):
    rng = np.random.default_rng(seed)
    normals = rng.standard_normal((5, dim))
    planes = Hyperplanes(scale * (normals / np.abs(normals).max()), n_rings=3, always_predict=True, regions="rings")
    axes = AxisPlanes(dim, offsets=[scale, -scale], thresholds=[0.0, 0.1])
    X = size * np.sign(rng.standard_normal((2, dim)))
    for experts in (planes, axes):
        try:
            advice = experts.advise(X)
        except InputError as error:
            assert size > experts.largest_input, error  # noqa: PT017
        else:
            assert np.isfinite(advice.predictions).all()
            assert size <= experts.largest_input


def test_inputs_that_would_overflow_change_nothing():
    learner = ab.UCB(ab.experts.hyperplanes(3, 4, 2, seed=0), cost=0.1)
    X = np.zeros((5, 3))
    X[3, 2] = -1e308
    for action in (
        lambda: learner.decide(X[3]),
        lambda: learner.peek(X[3]),
        lambda: ab.simulate(learner, X, np.ones(5)),
        lambda: ab.best_in_hindsight(learner.experts, X, np.ones(5), cost=0.1),
    ):
        with pytest.raises(InputError, match=r"^x: expected inputs from .* so that scores are finite, got -1e\+308"):
            action()
    assert learner.round == 0
    assert learner.experts.largest_input > 1e300


def test_thresholds_near_the_largest_float_always_abstain():
    """They abstain always; the ends of their intervals are infinite, and nothing warns."""
    for experts in (ab.experts.axis_planes(1, 2, [LARGEST]), ab.experts.thresholds(1, [LARGEST])):
        assert experts.advise([[0.5], [-1e307]]).abstains.all()
        assert experts.rule_subset.any()
    far = AxisPlanes(1, offsets=[1e308], thresholds=[1e308])
    assert far.advise([[0.5]]).abstains.all()


def test_many_rings_are_related_in_little_memory():
    experts = ab.experts.hyperplanes(2, 1, 1500, regions="balls", seed=0)
    np.testing.assert_array_equal(experts.rule_subset, np.tri(1500, dtype=bool).T)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: ab.experts.hyperplanes(10**6, 10**6), "at most 100000000 coefficients"),
        (lambda: ab.experts.hyperplanes(2, 10**5, 10**4), "at most 100000000 experts"),
        (lambda: ab.experts.hyperplanes(2, 2, 10**5), "^n_rings: expected a whole number, at most"),
        (lambda: ab.experts.axis_planes(10, 10**8), "at most 100000000 rules"),
        (lambda: ab.experts.thresholds(10**7, np.arange(100.0)), "at most 100000000 experts"),
        (lambda: ab.experts.from_columns(10**5, 10**5), "at most 100000000 experts"),
        (lambda: ab.experts.thresholds(1, np.arange(10.0**5)).rule_subset, "^rule_subset: expected at most"),
    ],
)
def test_sets_too_large_for_memory_are_refused(make, match):
    with pytest.raises(InputError, match=match):
        make()


def test_predicted_strings_that_end_with_nul_stay_distinct():
    experts = ab.experts.from_functions([(lambda x: "a\0", lambda x: 1.0), (lambda x: "a", lambda x: 1.0)])
    trace = ab.simulate(ab.UCB(experts, cost=0.9, loss="multiclass"), np.zeros((20, 1)), ["a\0"] * 20)
    np.testing.assert_array_equal(trace.loss, trace.expert == 1)
    objects = ab.experts.Advice(np.array([["cat", "dog"]], object), np.zeros((1, 1), bool))
    assert objects.predictions.dtype.kind == "U"


def test_predictions_that_are_no_number_or_string_are_refused():
    for value in (None, np.nan, 1j, [1, 2]):
        experts = ab.experts.from_functions([(lambda x, value=value: value, lambda x: 1.0)])
        with pytest.raises(InputError, match="^advice: expected"):
            experts.advise([[0.0]])

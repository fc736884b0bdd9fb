"""A gate that begins with today's policy."""

import numpy as np
import pytest

import abstain as ab
from abstain.errors import InputError
from abstain.gate.frames import Block

MODELS = ["good", "poor"]


def block(n, seed):
    """Two models whose confidence is the probability of being right."""
    rng = np.random.default_rng(seed)
    sure = np.clip(rng.normal([0.85, 0.65], 0.12, (n, 2)), 0.51, 0.99)
    return Block(sure, (rng.random((n, 2)) > sure) * 1.0)


def played(gate, rows):
    with gate._playing() as play:
        return play(rows).loss


def test_it_begins_with_that_policy():
    gate = ab.Gate(MODELS, cost=0.2, start=("poor", 0.7), seed=0)
    assert gate.start == ("poor", 0.7)
    assert 0.7 in gate.thresholds[1]
    best = gate.policy().row(0, named=True)
    assert (best["model"], best["threshold"]) == ("poor", 0.7)
    assert best["weight"] == pytest.approx(0.99)
    below, above = (gate.peek({"good": ("x", 0.99), "poor": ("y", sure)}).probability for sure in (0.69, 0.71))
    assert (below < 0.01, above > 0.99) == (True, True)


@pytest.mark.parametrize(("threshold", "place"), [(None, 47), (0.0, 0), (1.0, 47)])
def test_the_ends_are_there_already(threshold, place):
    gate = ab.Gate(MODELS, cost=0.2, start=("good", threshold), seed=0)
    assert gate.learner.weights.argmax() == place
    np.testing.assert_array_equal(gate.thresholds, ab.Gate(MODELS, cost=0.2).thresholds)


@pytest.mark.long
def test_it_costs_what_the_policy_costs_at_first_and_is_left_for_a_better_one():
    """On ten logs: the first 1,000 cases cost about what always following the policy does, not more than other starts;
    after 10,000 cases the start makes no difference.
    """
    costs = []
    for seed in range(10):
        rows = block(14_000, seed)
        policy = np.where(rows.confidence[:, 0] > 0.7, rows.losses[:, 0], 0.2)
        with_start = played(ab.Gate(MODELS, cost=0.2, start=("good", 0.7), seed=seed), rows)
        without = played(ab.Gate(MODELS, cost=0.2, seed=seed), rows)
        costs.append([(x[:1_000].mean(), x[10_000:].mean()) for x in (policy, with_start, without)])
    (policy, _), (first, late), (free, free_late) = np.mean(costs, axis=0)
    assert first < 1.05 * policy
    assert first < free
    assert late < 1.03 * free_late
    assert late < 1.03 * policy


def test_a_bad_start_is_left():
    costs = []
    for seed in range(3):
        rows = block(10_000, seed)
        costs.append([
            played(ab.Gate(MODELS, cost=0.2, seed=seed, **options), rows)[5_000:].mean()
            for options in ({"start": ("poor", 0.0)}, {})
        ])  # fmt: skip
    bad, free = np.mean(costs, axis=0)
    assert bad < 1.05 * free


def test_late_labels_start_no_flood_of_answers():
    """What no label has shown is taken for what the models' confidence says, not for free."""
    rows = block(1_600, 0)
    policy = np.where(rows.confidence[:, 0] > 0.8, rows.losses[:, 0], 0.2)
    for seed in range(3):
        with ab.Gate(MODELS, cost=0.2, start=("good", 0.8), seed=seed)._playing(400) as play:
            found = play(rows)
        reviewed = found.reviewed.reshape(-1, 200).mean(axis=1)
        assert reviewed[:5].min() > 0.15, reviewed  # the first labels come after two of the eight parts
        assert found.loss.mean() < 1.1 * policy.mean()


def test_late_labels_of_reviews_start_no_flood_of_reviews():
    """Where reviews show labels nothing has to be supposed: doubts would only hide what the policy answers."""
    rows = block(1_600, 0)
    rows = rows._replace(said=np.random.default_rng(1).choice([-1.0, 1.0], rows.losses.shape))
    for labels in ("reviewed", (0.4, 0.8)):
        gate = ab.Gate(MODELS, cost=0.2, classes=["x", "y"], labels=labels, start=("good", 0.8), seed=0)
        with gate._playing(400) as play:
            reviewed = play(rows).reviewed.reshape(-1, 200).mean(axis=1)
        assert reviewed.max() < 0.6, reviewed


def test_print_says_that_no_label_has_come():
    gate = ab.Gate(MODELS, cost=0.2, start=("good", 0.7), labels="both", seed=0)
    said = {"good": ("x", 0.8), "poor": ("y", 0.6)}
    case = gate.decide(said)
    assert str(gate).startswith("answers with good above confidence 0.70, 100 % of cases; has decided 1 case")
    assert str(gate).endswith("no label has come yet")
    gate.learn(case, "x")
    assert "no label" not in str(gate)
    other = ab.Gate(MODELS, cost=0.2, labels="both", seed=0)
    other.decide(said)
    assert str(other) == "follows good, poor; has decided 1 case, 1 of them open; no label has come yet"


def test_a_start_is_no_estimate_and_is_saved(tmp_path):
    """Prices are those of a gate without a start."""
    gate, free = (ab.Gate(MODELS, cost=0.2, start=s, labels="both", thresholds=[0.6, 0.7], seed=0)
                  for s in (("good", 0.7), None))  # fmt: skip
    assert gate.policy()["price"].null_count() == 8
    said = {"good": ("x", 0.8), "poor": ("y", 0.6)}
    for one in (gate, free):
        one.learn(one.decide(said), "x")
    first, second = (g.policy().sort("model", "threshold")["price"] for g in (gate, free))
    np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-12)
    gate.save(tmp_path / "gate")
    again = ab.load(tmp_path / "gate")
    assert again.start == ("good", 0.7)
    assert again.policy().equals(gate.policy())


def test_quantiles_take_it_too():
    rng = np.random.default_rng(0)
    log = {"good": ["x"] * 50, "good_confidence": rng.random(50).tolist(), "label": ["x"] * 50}
    gate = ab.Gate(["good"], cost=0.2, thresholds="quantiles", start=("good", 0.123), seed=0)
    gate.warm_start(log)
    assert 0.123 in gate.thresholds[0]
    assert (np.diff(gate.thresholds[0]) >= 0.0).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": ("nobody", 0.7)}, r"start: expected a model \(good, poor\) and a threshold"),
        ({"start": "good"}, "start: expected a model"),
        ({"start": ("good", 1.7)}, r"start: expected a threshold in \[0, 1\], or None, got 1.7"),
        ({"start": ("good", 0.7), "learner": ab.UCBGT}, "start: UCBGT has none; DoublyRobust and Exp3Abs do"),
        ({"start": ("good", 0.7), "thresholds": 2}, "start: expected more than two thresholds"),
        ({"start": ("good", 0.7), "learner": ab.Stacked, "classes": ["x", "y"]}, "Stacked begins with its stacker"),
    ],
)
def test_what_cannot_be(options, message):
    with pytest.raises(InputError, match=message):
        ab.Gate(MODELS, cost=0.2, **options)
    learner = ab.Gate(MODELS, cost=0.2, labels="both", thresholds=[0.6, 0.7]).learner
    with pytest.raises(InputError, match="expert"):
        learner.favour(99)


def test_a_gate_says_what_it_begins_with():
    """With stakes, the threshold of a start limits the expected loss, which is easily mistaken for a confidence."""
    assert str(ab.Gate(["a", "b"], cost=0.2, start=("b", 0.7))) == (
        "begins with b above confidence 0.70; has decided nothing yet"
    )
    staked = ab.Gate(["a"], review_price=3.0, mistake_price=ab.PerStake(1.0), start=("a", 0.9))
    assert str(staked) == "begins with a up to an expected loss of 30; has decided nothing yet"
    assert str(ab.Gate(["a"], cost=0.2, start=("a", None))) == "begins by reviewing every case; has decided nothing yet"


def test_prices_that_change_before_the_first_case_leave_the_start():
    """Estimates start afresh, and so does what the gate begins with."""
    prices = {("x", "y"): 8.0, "other": 10.0}
    for learner in (ab.DoublyRobust, ab.Exp3Abs):
        options = {"review_price": 2.0, "start": ("good", 0.8), "seed": 0, "learner": learner}
        changed, made = (ab.Gate(MODELS, mistake_price=p, **options) for p in ({**prices, ("x", "y"): 9.0}, prices))
        changed.mistake_price = prices
        found, expected = changed.learner.arrays(), made.learner.arrays()
        assert found.keys() == expected.keys()
        for name in found.keys() - {"agreed"}:  # since when the cost is what it is
            np.testing.assert_array_equal(found[name], expected[name], err_msg=name)


def test_a_start_whose_model_was_removed_is_none():
    gate = ab.Gate(MODELS, review_price=2.0, mistake_price={("x", "y"): 9.0, "other": 10.0}, start=("good", 0.8))
    gate.remove_model("good")
    assert str(gate) == "follows poor; has decided nothing yet"
    gate.mistake_price = {("x", "y"): 8.0, "other": 10.0}
    assert gate.learner.weights.max() == pytest.approx(1 / 48)
    gate = ab.Gate(MODELS, cost=0.2, start=("good", 0.8), seed=0)
    gate.decide({"good": ("x", 0.7)})
    assert str(gate).startswith("answers with good above confidence 0.80")
    gate.remove_model("good")
    assert str(gate).startswith("follows poor; has decided 1 case")

"""What the figures show, without drawing."""

import math

import numpy as np
import polars as pl
import pytest

from abstain.studies.figures import bias, captions, example, graphs, learning, panels, style, surrogate
from abstain.studies.results import summary

SIX = ("UCB", "UCB-NT", "UCB-GT", "UCB-GT, β = 0.625", "EXP3-ABS", "FS")


def curves(settings, learners=SIX, rounds=(1, 10, 100, 1000), sets=2, draws=2):
    """Curves in which learner k of expert set e has R_t = 0.1 (k + 1) t^(1/2) (1 + e), whatever the draw."""
    rows = [
        {
            "study": study, "dataset": dataset, "cost": cost, "expert_set": e, "draw": d, "learner": label, "t": t,
            "loss": 5.0 * d + 0.1 * (len(learners) - k) * t**0.5 * (1 + e), "best": 5.0 * d,
            "abstained": t // 2, "edges": 1_000_000 * (k + 1), "seconds_run": 0.0, "host": "here",
        }
        for study, dataset, cost in settings
        for e in range(sets)
        for d in range(draws)
        for k, label in enumerate(learners)
        for t in rounds
    ]  # fmt: skip
    return pl.DataFrame(rows)


REGRET = [("regret", name, cost) for name in learning.FIRST_SETS for cost in learning.COSTS]


def test_lines_are_means_and_deviations_from_round_ten_on():
    shown = learning.regret_of_first_sets(summary(curves(REGRET)))
    assert shown.rows == learning.FIRST_SETS
    assert shown.columns == ("c = 0.1", "c = 0.2", "c = 0.3")
    assert shown.missing == ()
    assert shown.learners == SIX
    assert shown.rounds == 1000
    line = shown.panels[0].lines[-1]
    assert (line.learner, line.t) == ("FS", (10, 100, 1000))
    each = np.array([[0.1 * t**-0.5 * (1 + e) for e in range(2)] for t in line.t])
    assert line.mean == pytest.approx(each.mean(axis=1))
    assert line.sd == pytest.approx(each.std(axis=1, ddof=1))
    assert shown.panels[0].last("FS") == pytest.approx(0.15 / math.sqrt(1000))


def test_missing_panels_are_named_and_left_out():
    there = [("regret", "cifar", 0.1), ("regret", "cifar", 0.2), ("regret", "covtype", 0.3)]
    shown = learning.regret_of_first_sets(summary(curves(there)))
    assert shown.rows == ("cifar", "covtype")
    assert [(panel.dataset, panel.cost) for panel in shown.panels] == [place[1:] for place in there]
    wanted = ("cifar at c = 0.3", "ijcnn", "higgs", "phishing", "covtype at c = 0.1", "covtype at c = 0.2")
    assert shown.missing == wanted
    assert captions.describe_regret(shown).endswith(f"for want of results: {', '.join(wanted)}.")
    assert learning.regret_of_second_sets(summary(curves(there))) is None


def test_studies_that_play_the_same_games_stand_in():
    table = summary(curves([("regret", "cod-rna", 0.2)]))
    assert len(learning.abstention_on_second_sets(table).panels) == 1
    assert len(learning.main(table).panels) == 3
    assert learning.regret_of_second_sets(summary(curves([("main", "cod-rna", 0.2)]))) is None
    both = pl.concat([curves([("regret", "cod-rna", 0.2)], ["UCB"]), curves([("main", "cod-rna", 0.2)], ["FS"])])
    assert learning.main(summary(both)).learners == ("FS",)


def test_main():
    """Figure 5: quantities, edges in millions, and the checklist's published points for cod-rna only."""
    shown = learning.main(summary(curves([("main", "cod-rna", 0.2), ("main", "guide", 0.1)])))
    assert [panel.quantity for panel in shown.panels] == ["regret", "abstained", "edges"] * 2
    regret, abstained, edges = shown.panels[:3]
    assert abstained.last("FS") == 0.5
    assert edges.last("UCB-GT") == pytest.approx(3.0)
    published = {marks.learner: dict(zip(marks.t, marks.value, strict=True)) for marks in regret.published}
    assert published == {
        "UCB": {200: 0.2276, 1000: 0.2351, 5000: 0.2296, 9800: 0.2292},
        "UCB-NT": {200: 0.2245, 1000: 0.1281, 5000: 0.0786, 9800: 0.0653},
        "UCB-GT": {200: 0.0678, 1000: 0.0364, 5000: 0.0185, 9800: 0.0134},
        "FS": {200: 0.0516, 1000: 0.0181, 5000: 0.0045, 9800: 0.0031},
    }
    fractions = {marks.learner: marks.value for marks in abstained.published}
    assert fractions == {"UCB": (0.050,), "UCB-NT": (0.113,), "UCB-GT": (0.424,), "FS": (0.489,)}
    assert [(marks.learner, marks.t, marks.value) for marks in edges.published] == [
        ("UCB-GT", (200, 1000, 5000, 9800), (3.29, 3.16, 3.07, 3.07))
    ]
    assert not any(panel.published for panel in shown.panels[3:])
    text = captions.describe_main(shown)
    assert "on guide, c = 0.1: UCB (0.0285), " in text
    assert "3.00 million edges" in text


def test_extreme_and_confidence_and_small():
    settings = [("extreme", "ijcnn", cost) for cost in (0.001, 0.9)]
    settings += [("confidence", "skin", 0.1), ("confidence-minmax", "skin", 0.1), ("small", "guide", 0.3)]
    table = summary(curves(settings))
    extreme = learning.extreme(table)
    assert [(panel.quantity, panel.cost) for panel in extreme.panels] == [
        ("regret", 0.001), ("regret", 0.9), ("abstained", 0.001), ("abstained", 0.9),
    ]  # fmt: skip
    assert extreme.missing == ("cifar", "phishing", "covtype")
    assert learning.extreme(summary(curves(settings[:1]))).missing[1] == "ijcnn at c = 0.9"
    assert extreme.label == ""
    assert learning.confidence(table).columns == ("max-abs scaling\nc = 0.1", "min-max scaling\nc = 0.1")
    assert learning.confidence(table).missing[1:3] == (
        "skin at max-abs scaling c = 0.2",
        "skin at max-abs scaling c = 0.3",
    )
    assert learning.small(table).rows == ("guide",)
    assert learning.small(table).label == panels.QUANTITIES["regret"]


def test_captions_compare_what_is_there():
    table = summary(curves(REGRET))
    text = captions.describe_regret(learning.regret_of_first_sets(table))
    assert "UCB-GT's average regret is below UCB-NT's in 15 of 15 and below UCB's in 15 of 15 panels" in text
    assert "+0.014" in text  # (4 - 1) * 0.15 / sqrt(1000)
    text = captions.describe_abstention(learning.abstention_on_first_sets(table))
    assert "FS 50% at c = 0.1, 50% at c = 0.2, 50% at c = 0.3" in text
    worse = summary(curves(REGRET[:1], ["UCB-GT", "UCB"]))
    assert "below UCB's in 0 of 1" in captions.describe_regret(learning.regret_of_first_sets(worse))
    alone = learning.regret_of_first_sets(summary(curves(REGRET[:1], ["mine"])))
    assert captions.describe_regret(alone).startswith("Average regret over 1,000 rounds.")


def test_styles_tell_learners_apart():
    known = style.styles(reversed(SIX))
    assert tuple(known) == SIX
    assert len({one.colour for one in known.values()}) == len({one.marker for one in known.values()}) == 6
    mixed = style.styles(["mine", "FS", "yours"])
    assert list(mixed) == ["FS", "mine", "yours"]
    assert mixed["mine"] != mixed["yours"]


def test_three_experts():
    """Figure 4: the checklist's edges, and bars where the rules predict."""
    shown = graphs.three_experts()
    assert {region.name: {i + j for i, j in region.edges} for region in shown.regions} == {
        "A": {"ij", "ji", "ik", "jk"},
        "B": {"ij", "ik", "jk", "kj"},
        "C": {"ij", "ji", "ik", "ki", "jk", "kj"},
        "D": {"ij", "ji", "ki", "kj"},
    }
    assert shown.subset == {("i", "j")}
    assert [region.abstaining for region in shown.regions] == [("k",), ("j", "k"), ("i", "j", "k"), ("i", "j")]
    assert shown.predicts == (((0.0, 0.5),), ((0.0, 0.25),), ((0.75, 1.0),))
    assert graphs.describe_three_experts(shown).endswith("keeps only i → j.")


def test_feedback():
    """Figure 1: who predicts shows everybody's loss, who abstains only the others' that abstain."""
    shown = graphs.feedback()
    (region,) = shown.regions
    assert len(shown.names) == 5
    assert 0 < len(region.abstaining) < 5
    for name in shown.names:
        seen = {j for i, j in region.edges if i == name}
        assert seen == set(region.abstaining if name in region.abstaining else shown.names) - {name}
        inside = any(low < region.start < high for low, high in shown.predicts[shown.names.index(name)])
        assert inside == (name not in region.abstaining)


def test_losses():
    shown = surrogate.losses()
    assert shown.least_gap == 0.0
    exact, upper = shown.over_r
    assert exact.y == pytest.approx((0.25, 0.25, 0.6, 0.6))
    at = dict(zip(upper.x, upper.y, strict=True))
    assert [at[-1.0], at[0.0], at[1.0]] == pytest.approx([0.25, 1.0, 0.6])
    flat = shown.over_margin[0][2]
    assert set(np.round(flat.y, 9)) == {0.625}  # halfway between c and 1, for any margin
    assert shown.over_margin[2][1].y == pytest.approx(shown.over_margin[2][2].y)


def test_example():
    """Figure 6 and claim 18: the best threshold pays P/2, the best pair c P while c < 1/2."""
    shown = example.example(eta=0.3, cost=0.25)
    assert shown.least == pytest.approx((0.15, 0.075))
    assert shown.position[int(np.argmin(shown.pair))] == pytest.approx(0.3)
    assert shown.best_threshold == pytest.approx([0.15] * 21)
    assert shown.best_pair == pytest.approx([0.3 * min(cost, 0.5) for cost in shown.costs])


def test_bias_from_results(monkeypatch):
    monkeypatch.setattr(bias, "ROUNDS", 1000)
    labels = ("UCB-NT, own graph", "UCB-NT", "UCB-GT")
    shown = bias.bias(curves([("bias", "bias-problem", 0.9), ("bias", "proposition-1", 0.9)], labels))
    left, right = shown.sides
    assert (left.abstains, right.abstains) == ((False, False), (True, False))
    assert (left.probability, *left.losses) == pytest.approx((0.52, 0.0, 0.8))
    assert (right.probability, *right.losses) == pytest.approx((0.48, 0.9, 0.0))
    assert shown.means == (0.432, 0.416)
    assert tuple(line.learner for line in shown.regret) == labels
    assert shown.regret[0].mean == pytest.approx([0.45 * t**0.5 for t in (10, 100, 1000)])
    deviation = np.std([0.3, 0.3, 0.6, 0.6], ddof=1)  # over four runs, two for each of two expert sets
    assert shown.runs == 4
    assert shown.regret[0].sd == pytest.approx([deviation * t**0.5 for t in (10, 100, 1000)])


def test_bias_without_results(monkeypatch):
    """A short run: the instance's own graph costs most."""
    monkeypatch.setattr(bias, "ROUNDS", 10_000)
    shown = bias.bias(curves([*REGRET[:1], ("bias", "bias-problem", 0.9)]))  # 1,000 rounds are too few
    assert shown.regret[0].t[-1] == 10_000
    assert shown.runs == 25
    own, subset, estimated = (line.mean[-1] for line in shown.regret)
    assert own > 0.5 * shown.gap * 10_000 > 2.0 * max(subset, estimated)

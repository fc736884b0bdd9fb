"""What the figures show, without drawing."""

import math

import numpy as np
import polars as pl
import pytest

from abstain.experiments import Results, style
from abstain.experiments import curves as drawing
from abstain.instances import proposition_1
from abstain.paper import paper
from abstain.paper.claims import bias as claims_bias
from abstain.paper.figures import bias, graphs, losses, main, sets

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


REGRET = [("regret", name, cost) for name in sets.FIRST_SETS for cost in sets.COSTS]


def source(settings, *more, studies=(), **changes):
    return Results(curves(settings, *more, **changes), studies)


def test_curves_are_means_and_deviations_from_round_ten_on():
    shown = sets.REGRET_FIRST.show(source(REGRET))
    assert shown.rows == sets.FIRST_SETS
    assert shown.columns == ("c = 0.1", "c = 0.2", "c = 0.3")
    assert shown.missing == ()
    assert shown.learners == SIX
    assert shown.rounds == 1000
    line = shown.panels[0].curves[-1]
    assert (line.learner, line.t) == ("FS", (10, 100, 1000))
    each = np.array([[0.1 * t**-0.5 * (1 + e) for e in range(2)] for t in line.t])
    assert line.mean == pytest.approx(each.mean(axis=1))
    assert line.sd == pytest.approx(each.std(axis=1, ddof=1))
    assert shown.panels[0].last("FS") == pytest.approx(0.15 / math.sqrt(1000))


def test_missing_panels_are_named_and_left_out():
    there = [("regret", "cifar", 0.1), ("regret", "cifar", 0.2), ("regret", "covtype", 0.3)]
    shown = sets.REGRET_FIRST.show(source(there))
    assert shown.rows == ("cifar", "covtype")
    assert [(panel.dataset, panel.cost) for panel in shown.panels] == [place[1:] for place in there]
    wanted = ("cifar at c = 0.3", "ijcnn", "higgs", "phishing", "covtype at c = 0.1", "covtype at c = 0.2")
    assert shown.missing == wanted
    assert sets.of_regret(shown).endswith(f"because there are no results: {', '.join(wanted)}.")
    assert sets.REGRET_SECOND.show(source(there)) is None


def test_studies_that_play_the_same_games_stand_in():
    given = source([("regret", "cod-rna", 0.2)])
    assert len(sets.ABSTENTION_SECOND.show(given).panels) == 1
    assert len(main.main(given).grid.panels) == 3
    assert sets.REGRET_SECOND.show(source([("main", "cod-rna", 0.2)])) is None
    both = pl.concat([curves([("regret", "cod-rna", 0.2)], ["UCB"]), curves([("main", "cod-rna", 0.2)], ["FS"])])
    assert main.main(Results(both)).grid.learners == ("FS",)


def test_main():
    """Figure 5: quantities, edges in millions, and the checklist's published points for cod-rna only."""
    everything = main.main(source([("main", "cod-rna", 0.2), ("main", "guide", 0.1)], rounds=(1, 10, 100, 1000, 9800)))
    shown = everything.grid
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
        ("UCB-GT", (200, 1000, 5000, 9800), (3.29, 3.16, 3.07, 3.07)),
        ("UCB-NT", (9800,), (0.2,)),
        ("FS", (9800,), (4.0,)),
    ]
    assert not any(panel.published for panel in shown.panels[3:])
    text = main.caption(everything)
    assert "on guide, c = 0.1: UCB (0.00909), " in text
    assert "3.00 million edges" in text
    assert "(round 9,800: UCB 0.050 against 0.500 (+0.450), " in text
    assert "FS 0.489 against 0.500 (+0.011)), and we do not know why" in text
    assert "0.441" not in text
    assert "empty rings" not in text  # nothing is known of the experts
    assert "published" not in main.caption(main.main(source([("main", "guide", 0.1)])))


def test_why_edges_are_so_many():
    """The sentence on edges stands where it is true: rings, many experts for the rounds."""
    study = paper()["main"]
    text = main.caption(main.main(source([("main", "cod-rna", 0.2)], studies=[study])))
    assert "At K = 2,000 and T = 10,000 UCB-GT's threshold stays below one co-occurrence" in text
    assert "with m empty rings the graph has 10,000 (19 m + 20) edges" in text
    assert "The published FS abstains on 0.489 of cod-rna, but the densest ring holds only 0.441 of its rows" in text
    assert "K = 2,000." in text
    few = study.replace(experts=study.experts.replace(options={"n_predictors": 5, "n_rings": 20}))
    balls = study.replace(experts=study.experts.replace(options={"regions": "balls"}))
    for other in (few, balls, study.replace(scale="minmax"), paper()["confidence"]):
        given = source([("main", "cod-rna", 0.2)], studies=[other.replace(name="main")])
        assert "empty rings" not in main.caption(main.main(given))


def test_captions_say_what_was_played():
    studies = list(paper().values())
    text = sets.of_regret(sets.REGRET_FIRST.show(source(REGRET, studies=studies)))
    assert "bands one standard deviation over 2 expert sets, each the mean of 2 draws of the data; K = 2,000." in text
    assert "UCB-GT with β = 0.625 (the paper's β is 2.5); EXP3-ABS (the paper's, but" in text
    one = sets.of_regret(sets.REGRET_FIRST.show(source(REGRET, ["UCB", "FS"], sets=1, studies=studies)))
    assert "bands reach from the 10 % to the 90 % quantile over 2 draws of the data; K = 2,000." in one
    assert "Not among" not in one
    mixed = pl.concat([curves(REGRET[:1], sets=1, draws=1), curves(REGRET[1:2])])
    assert "over up to 2 expert sets" in sets.of_regret(sets.REGRET_FIRST.show(Results(mixed)))
    text = sets.SMALL.caption(sets.show_small(source([("small", "guide", 0.1)], studies=studies)))
    assert "K = 500." in text
    text = sets.caption_confidence(
        sets.show_confidence(source([("confidence", name, 0.1) for name in sets.CONFIDENCE_SETS], studies=studies))
    )
    assert "K = 1,760 to 2,000, by set." in text
    text = sets.of_abstention(sets.ABSTENTION_FIRST.show(source(REGRET)))
    assert text.count("Bands of fractions end at 0 and 1.") == 0  # all are 1/2: there is no band


def test_bands_of_fractions_stay_among_fractions():
    line = drawing.Curve("FS", (1, 2, 3), (0.1, 0.5, 0.95), (0.2, 0.1, 0.2))
    panel = drawing.Panel("a", "b", "a", 0.1, "abstained", (line,))
    low, high = panel.band(line)
    assert low == pytest.approx((0.0, 0.4, 0.75))
    assert high == pytest.approx((0.3, 0.6, 1.0))
    assert panel._replace(quantity="regret").band(line)[0] == pytest.approx((-0.1, 0.4, 0.75))
    assert panel._replace(quantity="edges").band(line)[1] == pytest.approx((0.3, 0.6, 1.15))


def test_extreme_and_small():
    settings = [("extreme", "ijcnn", cost) for cost in (0.001, 0.9)]
    given = source([*settings, ("small", "guide", 0.3)])
    shown = sets.show_extreme(given)
    assert [(panel.quantity, panel.cost) for panel in shown.panels] == [
        ("regret", 0.001), ("regret", 0.9), ("abstained", 0.001), ("abstained", 0.9),
    ]  # fmt: skip
    assert shown.missing == ("cifar", "phishing", "covtype")
    assert sets.show_extreme(source(settings[:1])).missing[1] == "ijcnn at c = 0.9"
    assert shown.label == ""
    assert shown.own_scales
    assert sets.show_small(given).rows == ("guide",)
    assert sets.show_small(given).label == drawing.QUANTITIES["regret"]
    assert not sets.show_small(given).own_scales


def test_confidence_shows_nothing_twice():
    """Figure 12 has one scaling; of the other it gives the numbers, without the set that is not scaled."""
    settings = [(study, name, 0.1) for study in sets.SCALINGS for name in ("synthetic", "skin")]
    shown = sets.show_confidence(source(settings))
    assert shown.scaling == "max-abs"
    assert [panel.dataset for panel in shown.grid.panels] == ["synthetic", "skin"]
    ((study, scaling, other),) = shown.others
    assert (study, scaling, [panel.dataset for panel in other.panels]) == ("confidence-minmax", "min-max", ["skin"])
    text = sets.caption_confidence(shown)
    assert text.startswith(
        "Features in max-abs scaling. After 1,000 rounds UCB-GT's average regret is below UCB-NT's in 2 of 2"
    )
    assert "In min-max scaling (curves of the study confidence-minmax; synthetic is the same) UCB-GT's average" in text
    alone = sets.show_confidence(source([setting for setting in settings if setting[0] == "confidence-minmax"]))
    assert (alone.scaling, len(alone.grid.panels), alone.others) == ("min-max", 2, ())
    assert sets.show_confidence(source(REGRET)) is None


def test_captions_compare_what_is_there():
    given = source(REGRET)
    text = sets.regret(sets.REGRET_FIRST.show(given))
    assert "UCB-GT's average regret is below UCB-NT's in 15 of 15 and below UCB's in 15 of 15 panels" in text
    assert "+0.014" in text  # (4 - 1) * 0.15 / sqrt(1000)
    text = sets.abstention(sets.ABSTENTION_FIRST.show(given))
    assert "FS 50 % at c = 0.1, 50 % at c = 0.2, 50 % at c = 0.3" in text
    worse = source(REGRET[:1], ["UCB-GT", "UCB"])
    assert "below UCB's in 0 of 1" in sets.regret(sets.REGRET_FIRST.show(worse))
    alone = sets.REGRET_FIRST.show(source(REGRET[:1], ["mine"]))
    assert sets.regret(alone).startswith("Average regret over 1,000 rounds.")


def test_styles_tell_learners_apart():
    known = style.styles(reversed(SIX))
    assert tuple(known) == SIX
    for what in ("colour", "marker", "dash"):
        assert len({getattr(one, what) for one in known.values()}) == 6
    mixed = style.styles(["mine", "FS", "yours"])
    assert list(mixed) == ["FS", "mine", "yours"]
    assert mixed["mine"] != mixed["yours"]


def played(*jobs, **given):
    """Results with the records of games."""
    return Results(curves(REGRET).clear(), records={job.key: job.run(None) for job in jobs}, **given)


def test_three_experts():
    """Figure 4: the checklist's edges, and bars where the rules predict."""
    everything = graphs.three_experts(played(graphs.GAME))
    shown = everything.experts
    assert {region.name: {i + j for i, j in region.edges} for region in shown.regions} == {
        "A": {"ij", "ji", "ik", "jk"},
        "B": {"ij", "ik", "jk", "kj"},
        "C": {"ij", "ji", "ik", "ki", "jk", "kj"},
        "D": {"ij", "ji", "ki", "kj"},
    }
    assert shown.subset == {("i", "j")}
    assert [region.abstaining for region in shown.regions] == [("k",), ("j", "k"), ("i", "j", "k"), ("i", "j")]
    assert shown.predicts == (((0.0, 0.5),), ((0.0, 0.4),), ((0.9, 1.0),))
    assert "keeps only i → j." in graphs.caption_three_experts(everything)
    assert graphs.three_experts(played()) is None
    assert graphs.THREE_EXPERTS.jobs([]) == [graphs.GAME]


def test_estimated_graph_of_three_experts():
    """UCB-GT's begins complete, has lost the edges that misled often, then all but the safe one."""
    estimated = graphs.three_experts(played(graphs.GAME)).estimated
    assert [{i + j for i, j in edges} for edges in estimated.values()] == [
        {"ij", "ji", "ik", "ki", "jk", "kj"},
        {"ij", "ji", "ik", "jk"},
        {"ij"},
    ]


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
    shown = losses.loss_curves()
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
    shown = losses.example(eta=0.3, cost=0.25)
    assert shown.least == pytest.approx((0.15, 0.075))
    assert shown.position[int(np.argmin(shown.pair))] == pytest.approx(0.3)
    assert shown.best_threshold == pytest.approx([0.15] * 21)
    assert shown.best_pair == pytest.approx([0.3 * min(cost, 0.5) for cost in shown.costs])


LABELS = ("UCB-NT, own graph", "UCB-NT", "UCB-GT")


def test_bias_from_results(monkeypatch):
    monkeypatch.setattr(bias, "ROUNDS", 1000)
    shown = bias.bias(source([("bias", "bias-problem", 0.9), ("bias", "proposition-1", 0.9)], LABELS))
    left, right = shown.sides
    assert (left.abstains, right.abstains) == ((False, False), (True, False))
    assert (left.probability, *left.losses) == pytest.approx((0.52, 0.0, 0.8))
    assert (right.probability, *right.losses) == pytest.approx((0.48, 0.9, 0.0))
    assert shown.means == (0.432, 0.416)
    first, second = shown.trials
    assert (first.title, second.title) == ("the bias problem", "proposition 1, p = 0.99")
    assert tuple(one.learner for one in first.learners) == LABELS
    runs = first.learners[0]
    assert runs.t == (10, 100, 1000)
    assert np.array(runs.regret) == pytest.approx(  # two runs for each of two expert sets
        np.array([[k * 0.3 * t**0.5 for t in (10, 100, 1000)] for k in (1, 1, 2, 2)])
    )
    assert runs.mean == pytest.approx([0.45 * t**0.5 for t in (10, 100, 1000)])
    assert "K = 2" in bias.caption(shown)
    assert "Played for this figure" not in bias.caption(shown)


def test_probabilities_of_proposition_1_are_all_shown(monkeypatch):
    """Sets whose names begin with proposition-1 are that construction; of equal ones the longest runs count."""
    monkeypatch.setattr(bias, "ROUNDS", 1000)
    for p in (0.9, 0.99, 0.999):
        monkeypatch.setitem(bias.INSTANCES, f"proposition-1-p{p}", lambda cost, p=p: proposition_1(p, cost))
    names = ("proposition-1-p0.999", "proposition-1-p0.99", "proposition-1-p0.9")
    first = curves([("bias", name, 0.9) for name in ("proposition-1", "bias-problem")], LABELS)
    sweep = curves([("sweep", name, 0.9) for name in names], LABELS[:2], rounds=(1, 1000, 2000))
    bias_study = paper()["bias"]
    shown = bias.bias(Results(pl.concat([sweep, first]), [bias_study, bias_study.replace(name="sweep")]))
    assert [trial.rounds for trial in shown.trials] == [1000, 2000, 2000, 2000]
    assert [trial.title for trial in shown.trials] == [
        "the bias problem", *(f"proposition 1, p = {p}" for p in (0.9, 0.99, 0.999)),
    ]  # fmt: skip


def test_trapped_runs_are_counted():
    instance = proposition_1()
    gap = instance.means[1] - instance.means[0]
    t = (100, 500, 1000)
    regret = [tuple(gap * at for at in t), (0.0, 1.0, 1.0), (0.0, 0.0, 0.4 * gap * 500), (0.0, 0.0, 0.6 * gap * 500)]
    runs = bias.Runs("UCB-GT", t, tuple(regret))
    trial = bias.Trial("", instance, (runs,))
    assert trial.gap == pytest.approx(gap)
    assert trial.trapped(runs) == 2


def test_claims_and_figures_have_one_rule(monkeypatch):
    runs = bias.Runs("UCB", (10, 50, 100), ((0.0, 0.0, 0.0),))
    trial = bias.Trial("", proposition_1(), (runs,))
    assert trial.trapped(runs) == 0
    monkeypatch.setattr(claims_bias, "LINEAR", 0.0)
    assert trial.trapped(runs) == 1


def test_bias_without_results(monkeypatch):
    """Short games played for the figure: the instance's own graph costs most."""
    monkeypatch.setattr(bias, "ROUNDS", 10_000)
    short = paper()["bias"].quick()
    games = bias.jobs([short, paper()["regret"]])
    assert [(job.problem, job.rounds, job.runs) for job in games] == [
        ("bias-problem", 10_000, 25),
        ("proposition-1", 10_000, 25),
    ]
    assert bias.jobs([]) == games
    assert bias.jobs([short, paper()["bias"]]) == []
    few = curves([("bias", "bias-problem", 0.9)])  # 1,000 rounds are too few
    shown = bias.bias(Results(few, [short], records={job.key: job.run(None) for job in games}))
    assert [trial.rounds for trial in shown.trials] == [10_000] * 2
    assert "Played for this figure, because no results are as long: the bias problem, prop" in bias.caption(shown)
    for trial in shown.trials:
        assert [len(one.regret) for one in trial.learners] == [25] * 3
        own, subset, estimated = (one.mean[-1] for one in trial.learners)
        assert own > 0.4 * trial.gap * 10_000 > 2.0 * max(subset, estimated)
        assert trial.trapped(trial.learners[0]) > 5
        assert trial.trapped(trial.learners[1]) == trial.trapped(trial.learners[2]) == 0
    assert bias.bias(Results(few, [short])) is None  # it plays nothing itself


def test_problems_with_two_names_are_played_once(monkeypatch):
    studies = [paper()[name].quick() for name in ("bias", "bias-sweep")]
    titles = [bias._title(job.problem, job.cost) for job in bias.jobs(studies)]
    assert len(set(titles)) == len(titles) == 5
    assert [job.problem for job in bias.jobs(studies)][:2] == ["bias-problem", "proposition-1"]

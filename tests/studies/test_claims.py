"""Each claim on results made by hand: each verdict it can have, and the settings it names."""

import io
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from abstain import theory
from abstain.errors import InputError
from abstain.studies import claims, report
from abstain.studies.claims import bias, closeness, edges, example, slope
from abstain.studies.claims.information import rank_correlation
from abstain.studies.claims.settings import Line, Results, Run

from .frames import EDGES, ORDERED, T, empty, grid, rows, setting
from .small import small

COSTS = (0.1, 0.2, 0.3)


@pytest.fixture(autouse=True)
def contained(monkeypatch):
    """The small problems of claim 15 are played in the tests that are about them."""
    played = edges.subset_inside
    monkeypatch.setattr(edges, "subset_inside", lambda: (2_000, 2_000))
    return played


def judged(number, curves, known=None):
    verdict = claims.judge(curves, known=known)[number - 1]
    assert verdict.number == number
    return verdict


def places(verdict):
    return [(failure.dataset, failure.cost) for failure in verdict.fails_at]


def test_without_results_it_says_what_to_run():
    verdicts = claims.judge(empty())
    assert [verdict.number for verdict in verdicts] == list(range(1, 19))
    assert all(verdict.claim for verdict in verdicts)
    words = {verdict.number: verdict.verdict for verdict in verdicts}
    assert words.pop(18) == "holds"  # needs no study
    assert set(words.values()) == {"not judged"}
    needed = {1: "regret", 7: "extreme", 8: "confidence", 9: "small", 11: "bias", 13: "adversarial", 15: "main"}
    for number, study in needed.items():
        assert f"abstain reproduce {study}" in verdicts[number - 1].numbers


# Claims 1 to 3, 7 to 9.


def with_swaps(study, swaps, better, worse):
    """Four settings in order, but for ``swaps`` of them."""
    parts = []
    for k, (dataset, cost) in enumerate([("eye", 0.1), ("eye", 0.2), ("skin", 0.1), ("skin", 0.2)]):
        regrets = dict(ORDERED)
        if k < swaps:
            regrets[better], regrets[worse] = regrets[worse], regrets[better]
        parts.append(setting(study, dataset, cost, regrets))
    return pl.concat(parts)


@pytest.mark.parametrize(
    ("number", "better", "worse"), [(1, "UCB-GT", "UCB-NT"), (2, "UCB-GT", "UCB"), (3, "UCB-NT", "UCB")]
)
def test_order(number, better, worse):
    outcomes = {0: "holds", 1: "holds in part", 2: "holds in part", 3: "fails", 4: "fails"}
    for swaps, word in outcomes.items():
        verdict = judged(number, with_swaps("regret", swaps, better, worse))
        assert verdict.verdict == word
        assert places(verdict) == [("eye", 0.1), ("eye", 0.2), ("skin", 0.1), ("skin", 0.2)][:swaps]
        assert f"{4 - swaps} of 4 settings run (the paper has 30)" in verdict.numbers
        assert verdict.studies == ("regret",)


def test_the_one_setting_where_claim_1_fails_is_named_with_both_numbers():
    curves = grid("regret", ("eye", "guide", "skin"), COSTS).filter(
        ~((pl.col("dataset") == "guide") & (pl.col("cost") == 0.2))
    )
    odd = setting("regret", "guide", 0.2, {**ORDERED, "UCB-GT": 0.1234, "UCB-NT": 0.1111})
    verdict = judged(1, pl.concat([curves, odd]))
    assert verdict.verdict == "holds in part"
    assert [str(failure) for failure in verdict.fails_at] == ["guide, c = 0.2: UCB-GT 0.1234, UCB-NT 0.1111"]
    assert judged(2, pl.concat([curves, odd])).verdict == "holds"


def test_equal_regret_is_not_less():
    verdict = judged(1, setting("regret", "eye", 0.1, {**ORDERED, "UCB-GT": 0.1}))
    assert verdict.verdict == "fails"


def test_means_are_over_draws_first():
    """Three draws on one expert set, one on the other: the mean of the sets' means decides."""
    parts = [rows("regret", "eye", 0.1, "UCB-NT", 0.1, expert_set=k) for k in (0, 1)]
    parts += [rows("regret", "eye", 0.1, "UCB-GT", 0.05, expert_set=0, draw=k) for k in range(3)]
    parts += [rows("regret", "eye", 0.1, "UCB-GT", 0.16, expert_set=1)]
    verdict = judged(1, pl.concat(parts))
    assert verdict.verdict == "fails"
    assert "0.1050" in verdict.fails_at[0].note


def test_settings_shared_by_studies_count_once():
    curves = pl.concat([grid(study, ("eye", "skin"), COSTS) for study in ("main", "abstention", "regret")])
    verdict = judged(1, curves)
    assert "6 of 6 settings run" in verdict.numbers
    assert verdict.studies == ("regret",)
    assert "6 of 6 settings run" in judged(1, curves.filter(pl.col("study") == "main")).numbers


def test_settings_without_a_learner_or_a_comparator_are_left_out():
    whole, part = setting("regret", "eye", 0.1), setting("regret", "skin", 0.1)
    assert "1 of 1 settings" in judged(1, pl.concat([whole, part.filter(pl.col("learner") != "UCB-NT")])).numbers
    unknown = part.with_columns(best=pl.lit(None, pl.Float64))
    assert "1 of 1 settings" in judged(1, pl.concat([whole, unknown])).numbers
    stopped = part.filter((pl.col("learner") != "UCB-NT") | (pl.col("t") < 1_000))
    assert "1 of 1 settings" in judged(1, pl.concat([whole, stopped])).numbers


@pytest.mark.parametrize(
    ("number", "study"), [(7, "extreme"), (8, "confidence"), (8, "confidence-minmax"), (9, "small")]
)
def test_order_elsewhere(number, study):
    assert judged(number, with_swaps(study, 0, "UCB", "UCB-NT")).verdict == "holds"
    verdict = judged(number, with_swaps(study, 1, "UCB", "UCB-NT"))
    assert verdict.verdict == "holds in part"
    assert places(verdict) == [("eye", 0.1)]
    assert ("min-max" in str(verdict.fails_at[0])) == (study == "confidence-minmax")
    backwards = {"UCB": 0.01, "UCB-NT": 0.02, "UCB-GT": 0.03}
    verdict = judged(number, setting(study, "eye", 0.1, backwards))
    assert verdict.verdict == "fails"
    assert len(verdict.fails_at) == 3
    assert judged(1, with_swaps(study, 0, "UCB", "UCB-NT")).verdict == "not judged"


def test_both_scalings_count_for_claim_8():
    curves = pl.concat(
        [with_swaps("confidence", 0, "UCB", "UCB-NT"), with_swaps("confidence-minmax", 4, "UCB", "UCB-NT")]
    )
    verdict = judged(8, curves)
    assert verdict.verdict == "holds in part"
    assert "UCB-NT below UCB on 4" in verdict.numbers
    assert "UCB-GT below UCB-NT on 8" in verdict.numbers
    assert verdict.studies == ("confidence", "confidence-minmax")


# Claims 4 and 17.

FAR = {**ORDERED, "UCB-GT": 0.08}


def test_close_to_fs():
    def four_sets(far, spread):
        parts = [
            setting("regret", f"s{k}", c, FAR if k < far else ORDERED, spread=spread)
            for k in range(4)
            for c in (0.1, 0.2)
        ]
        return judged(4, pl.concat(parts))

    assert closeness.CLOSE == 0.1  # ORDERED is 0.01 / 0.29 of the way, FAR 0.07 / 0.29
    assert four_sets(1, 0.008).verdict == "holds"  # the deviation of +-0.008 is 0.0113, the gap 0.01
    assert four_sets(1, 0.006).verdict == "holds in part"  # close, but not within 0.0085
    assert four_sets(2, 0.008).verdict == "holds in part"  # half is not most, but within on two sets
    assert four_sets(3, 0.008).verdict == "fails"  # within on one set only
    assert places(four_sets(1, 0.008)) == [("s0", 0.1), ("s0", 0.2)]
    alone = four_sets(1, 0.0)
    assert alone.verdict == "holds"
    assert "no standard deviation" in alone.numbers


def test_distance_when_fs_is_not_best():
    def distance(ucb, gt, fs):
        return closeness.distance(
            Results(setting("regret", "eye", 0.1, {"UCB": ucb, "UCB-GT": gt, "FS": fs})).settings("regret")[0]
        )

    assert distance(0.3, 0.1, 0.2) == 0.0
    assert distance(0.1, 0.3, 0.2) == np.inf
    assert distance(0.3, 0.25, 0.2) == pytest.approx(0.5)


def test_close_at_extremes():
    def verdict(*far):
        return judged(17, pl.concat([setting("extreme", f"s{k}", 0.9, FAR if k in far else ORDERED) for k in range(4)]))

    assert verdict().verdict == "holds"
    assert verdict(1).verdict == "holds in part"
    assert places(verdict(1)) == [("s1", 0.9)]
    assert verdict(0, 1, 2).verdict == "fails"


# Claims 5, 15 and 16.


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"UCB-GT": 900_000}, "4.5 times"),
        ({"UCB-GT": 3_620_000}, "3.62 million"),
        ({"UCB-NT": 500_000}, "UCB-NT has 500,000"),
        ({"FS": 3_999_999}, "FS has"),
        ({"UCB": 2_001}, "K = 2,001"),
    ],
)
def test_how_many_edges(wrong, word):
    good, bad = setting("regret", "eye", 0.1), setting("regret", "skin", 0.2, edges={**EDGES, **wrong})
    assert judged(5, good).verdict == "holds"
    verdict = judged(5, pl.concat([good, bad]))
    assert verdict.verdict == "holds in part"
    assert places(verdict) == [("skin", 0.2)]
    assert word in verdict.fails_at[0].note
    assert judged(5, bad).verdict == "fails"


def test_edges_fall():
    falling, rising = [100, 90, 90, 80, 70], [100, 80, 90, 80, 70]

    def verdict(*lines):
        parts = [rows("main", f"s{k}", 0.1, "UCB-GT", 0.1, edges=line) for k, line in enumerate(lines)]
        return judged(15, pl.concat(parts))

    assert verdict(falling).verdict == "holds"
    assert verdict(falling, rising).verdict == "holds in part"
    assert places(verdict(falling, rising)) == [("s1", 0.1)]
    assert verdict(rising).verdict == "fails"
    assert verdict([100] * 5).verdict == "fails"
    assert "rise in 1 of 1" in verdict(rising).fails_at[0].note
    assert "stay the same in 1 of 1" in verdict([100] * 5).fails_at[0].note
    assert "2,000 of 2,000 rounds" in verdict(falling).numbers
    twice = [
        rows(study, "eye", 0.1, "UCB-GT", 0.1, edges=falling) for study in ("main", "regret", "abstention", "small")
    ]
    assert "2 of 2 settings (2 runs)" in judged(15, pl.concat(twice)).numbers
    assert judged(15, pl.concat(twice)).studies == ("regret", "small")
    one_of_many = pl.concat([rows("main", "eye", 0.1, "UCB-GT", 0.1, edges=falling, draw=k) for k in range(9)]
                            + [rows("main", "eye", 0.1, "UCB-GT", 0.1, edges=rising, draw=9)])  # fmt: skip
    assert judged(15, one_of_many).verdict == "fails"


def test_containment(contained, monkeypatch):
    """A graph that lacks an edge of the subset graph is told from one that has them all."""
    assert contained(40) == (400, 400)
    monkeypatch.setattr(edges.graphs, "subset", edges.graphs.complete)
    inside, rounds = contained(40)
    assert 0 < inside < rounds
    monkeypatch.setattr(edges, "subset_inside", lambda: (inside, rounds))
    assert judged(15, rows("main", "eye", 0.1, "UCB-GT", 0.1, edges=[9, 8, 7, 6, 5])).verdict == "fails"


def test_more_edges_less_regret():
    swapped = {**ORDERED, "UCB-NT": 0.4}

    def verdict(*regrets):
        return judged(16, pl.concat([setting("regret", f"s{k}", 0.1, r) for k, r in enumerate(regrets)]))

    assert verdict(ORDERED).verdict == "holds"
    assert "correlation of edges and regret is -1.00" in verdict(ORDERED).numbers
    mixed = verdict(ORDERED, swapped)
    assert mixed.verdict == "holds in part"
    assert places(mixed) == [("s1", 0.1)]
    assert "UCB-NT has more edges than UCB" in mixed.fails_at[0].note
    assert verdict(swapped, swapped, ORDERED).verdict == "fails"


def test_rank_correlation():
    from scipy.stats import spearmanr

    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.integers(0, 5, (2, 6)).astype(float)
        a[0], b[0] = 9.0, 9.0  # not constant
        assert rank_correlation(a, b) == pytest.approx(spearmanr(a, b).statistic)
    assert rank_correlation(np.ones(4), np.arange(4.0)) == 0.0


# Claim 6.


def fractions(study, of_cost, dataset="eye"):
    return pl.concat(
        [rows(study, dataset, c, name, 0.1, abstained=f) for c, fs in of_cost.items() for name, f in fs.items()]
    )


def test_fraction_falls():
    usual = fractions("abstention", {0.1: {"UCB-GT": 0.6, "FS": 0.7}, 0.2: {"UCB-GT": 0.3, "FS": 0.2}})
    extreme = fractions("extreme", {0.001: {"UCB-GT": 0.8, "FS": 0.9}, 0.9: {"UCB-GT": 0.05, "FS": 0.0}})
    both = judged(6, pl.concat([usual, extreme]))
    assert both.verdict == "holds"
    assert both.studies == ("abstention", "extreme")
    assert judged(6, usual).verdict == "holds"
    assert "abstain reproduce extreme" in judged(6, usual).numbers
    assert "abstain reproduce abstention" in judged(6, extreme).numbers

    flat = fractions("abstention", {0.1: {"UCB": 0.05, "FS": 0.5}, 0.2: {"UCB": 0.05, "FS": 0.4}})
    verdict = judged(6, flat)
    assert verdict.verdict == "holds in part"
    assert "not: UCB 1" in verdict.numbers
    assert places(verdict) == [("eye", None)]
    assert judged(6, fractions("abstention", {0.1: {"UCB": 0.05}, 0.2: {"UCB": 0.06}})).verdict == "fails"
    wrong = judged(6, fractions("extreme", {0.001: {"FS": 0.4}, 0.9: {"FS": 0.2}}))
    assert wrong.verdict == "fails"
    assert places(wrong) == [("eye", 0.001), ("eye", 0.9)]
    assert judged(6, rows("main", "eye", 0.1, "FS", 0.1)).verdict == "not judged"


# Claim 10.


def test_ucb_is_slow():
    def power(exponent, dataset):
        return rows("regret", dataset, 0.1, "UCB", [0.3 * t**exponent for t in T])

    def verdict(*exponents):
        return judged(10, pl.concat([power(e, f"s{k}") for k, e in enumerate(exponents)]))

    assert verdict(-0.05).verdict == "holds"
    assert verdict(-0.05, -0.5).verdict == "holds in part"
    assert "falls faster" in verdict(-0.05, -0.5).fails_at[0].note
    assert "does not fall" in verdict(0.05).fails_at[0].note
    assert verdict(-0.5, -0.2, 0.01).verdict == "fails"
    assert "-0.050" in verdict(-0.05).numbers


def test_late_slope_looks_at_the_second_half_of_the_log_scale():
    t = np.array(T)
    line = Line(t, np.array([5.0, 5.0, 1.0, 0.1, 0.01]), t, t, t)
    assert slope.late_slope(line) == pytest.approx(-1.0)
    assert slope.late_slope(Line(t, np.array([5.0, 5.0, 1.0, -0.1, 0.01]), t, t, t)) is None


# Claims 11 and 12.

GAPS = {"bias-problem": 0.016, "proposition-1": 0.0067}
HALVES = (1, 50_000, 100_000)


def bias_runs(dataset, shares, n=10):
    """So many runs of each learner, of which a share pays the gap in every round."""
    parts = []
    for learner, share in shares.items():
        for draw in range(n):
            late = GAPS[dataset] * 50_000 if draw < share * n else 3.0
            total = [0.0, 100.0, 100.0 + late]
            regret = [r / t for r, t in zip(total, HALVES, strict=True)]
            parts.append(rows("bias", dataset, 0.9, learner, regret, t=HALVES, draw=draw))
    return pl.concat(parts)


@pytest.mark.parametrize(("number", "dataset"), [(11, "bias-problem"), (12, "proposition-1")])
def test_linear_regret(number, dataset):
    def verdict(own, nt, gt):
        return judged(number, bias_runs(dataset, {bias.OWN: own, "UCB-NT": nt, "UCB-GT": gt}))

    assert verdict(0.8, 0.0, 0.1).verdict == "holds"
    assert "80% of 10 runs of UCB-NT, own graph" in verdict(0.8, 0.0, 0.1).numbers
    assert verdict(0.3, 0.0, 0.0).verdict == "holds in part"
    assert verdict(0.8, 0.4, 0.0).verdict == "holds in part"
    assert verdict(0.0, 0.0, 0.0).verdict == "fails"
    assert verdict(0.5, 0.0, 0.5).verdict == "fails"
    assert places(verdict(0.0, 0.0, 0.0)) == [(dataset, 0.9)]
    assert judged(number, bias_runs(dataset, {bias.OWN: 1.0})).verdict == "not judged"
    other = {11: 12, 12: 11}[number]
    assert judged(other, bias_runs(dataset, {bias.OWN: 1.0, "UCB-NT": 0.0})).verdict == "not judged"


def test_linear_is_half_the_gap_in_the_second_half():
    def run(late):
        return Run("bias", "x", 0.9, np.array([1, 48, 100]), np.array([0.0, 7.0, 7.0 + late]), np.zeros(3))

    assert bias.is_linear(run(0.51 * 0.1 * 52), 0.1)
    assert not bias.is_linear(run(0.49 * 0.1 * 52), 0.1)


# Claims 13 and 14.


def test_below_bound():
    bound = theory.exp3_abs_bound(10_000, 50, 0.2, "tuned")

    loose = theory.exp3_abs_bound(10_000, 20, 0.2, "adaptive")

    def verdict(tuned, anytime, n_experts=None, adaptive=0.9):
        curves = pl.concat(
            [
                # The tuned rate is bounded at its horizon only.
                rows("adversarial", "switch", 0.2, "EXP3-ABS, tuned", [1.0, 1.0, 1.0, 1.0, tuned * bound / 10_000]),
                rows("adversarial", "switch", 0.2, "EXP3-ABS, anytime", anytime),
                rows("adversarial-streams", "turn", 0.2, "EXP3-ABS", [0.0, 0.0, 0.0, 0.0, adaptive * loose / 10_000]),
            ]
        )
        return judged(
            13, curves, claims.Known(n_experts={"switch": 50, "turn": 20} if n_experts is None else n_experts)
        )

    quiet = [0.0, 0.0, 0.0, 0.0, 1.3 * bound / 10_000]
    early = [0.0, 0.0, 0.9, 0.0, 0.0]
    assert theory.exp3_abs_bound(100, 50, 0.2, "anytime") < 90
    assert verdict(0.9, quiet).verdict == "holds"
    assert verdict(0.9, quiet, adaptive=1.1).fails_at[0].note == "EXP3-ABS: 1.10 times the bound at t = 10,000"
    assert verdict(1.1, quiet).verdict == "holds in part"
    assert verdict(0.9, early).verdict == "holds in part"
    assert "t = 100" in verdict(0.9, early).fails_at[0].note
    assert verdict(1.1, early, adaptive=1.1).verdict == "fails"
    assert verdict(0.9, quiet, {}).verdict == "not judged"
    assert verdict(0.9, quiet, {"other": 50}).verdict == "not judged"


def test_grows_no_faster():
    def growth(*pairs):
        return [
            (d, n, seed, (3.0 + seed) * n**e) for d, e in pairs for n in (1_000, 10_000, 100_000) for seed in (0, 1)
        ]

    def verdict(*pairs):
        return judged(14, empty(), claims.Known(growth=growth(*pairs)))

    assert verdict((1, 0.6), (2, 0.75)).verdict == "holds"
    assert "d = 1: slope 0.60, rate 0.67" in verdict((1, 0.6)).numbers
    assert verdict((1, 0.7)).verdict == "holds"  # a logarithm's worth
    assert verdict((1, 0.6), (2, 0.9)).verdict == "holds in part"
    assert [str(f) for f in verdict((1, 0.6), (2, 0.9)).fails_at] == [
        "d = 2: slope 0.900, the rate's exponent is 0.750"
    ]
    assert verdict((1, 0.8)).verdict == "fails"
    below = claims.Known(growth=[(1, 100, 0, -5.0), (1, 1_000, 0, 2.0)])
    assert judged(14, empty(), below).verdict == "holds"
    assert judged(14, empty(), claims.Known(growth=[(1, 100, 0, 5.0)])).verdict == "not judged"


# Claim 18.


def test_simple_example(monkeypatch):
    assert example.losses(0.4, 0.25) == pytest.approx((0.1, 0.2))
    assert example.losses(0.4, 0.7) == pytest.approx((0.2, 0.2))  # abstaining is too dear
    assert example.simple_example(None).word == "holds"
    monkeypatch.setattr(example, "losses", lambda P, cost: (cost * P, P / 2 + (P == 0.1) * 0.01))
    part = example.simple_example(None)
    assert part.word == "holds in part"
    assert places(part) == [("P = 0.1", 0.05), ("P = 0.1", 0.2), ("P = 0.1", 0.4)]
    monkeypatch.setattr(example, "losses", lambda P, cost: (0.0, 0.0))
    assert example.simple_example(None).word == "fails"


# Other readings, tables.


def test_breaks():
    swapped = {**ORDERED, "UCB-NT": 0.4}
    curves = pl.concat(
        [
            grid("regret", ("eye", "skin"), (0.1,)),
            grid("readings-balls", ("eye", "skin"), (0.1,), regrets=swapped),
            grid("readings-ties", ("eye", "skin"), (0.1,)),
        ]
    )
    ours = claims.judge(curves)
    balls, ties = claims.breaks(curves, ours, {"readings-balls": "Nested balls"})
    assert (balls.name, ties.name) == ("Nested balls", "readings-ties")
    assert [verdict.number for verdict in balls.verdicts] == [1, 2, 3, 4, 5, 16]
    assert balls.breaks == (3, 16)
    assert ties.breaks == ()
    assert all("paper has" not in verdict.numbers for verdict in balls.verdicts)
    worse_already = claims.judge(grid("regret", ("eye", "skin"), (0.1,), regrets=swapped))
    assert claims.breaks(curves, worse_already)[0].breaks == ()
    assert claims.breaks(curves)[0].breaks == (3, 16)
    assert claims.judge(curves) == ours  # readings do not change the ledger


def test_tables_fit_the_terminal():
    from rich.console import Console

    curves = pl.concat([with_swaps("regret", 4, "UCB", "UCB-NT"), grid("readings-balls", ("eye",), (0.1,))])
    console = Console(width=100, record=True, file=io.StringIO(), color_system=None)
    console.print(claims.table(claims.judge(curves)))
    console.print(claims.readings_table(claims.breaks(curves)))
    shown = console.export_text()
    assert max(map(len, shown.splitlines())) <= 100
    for words in ("● holds", "○ fails", "· not judged", "and 1 more", "UCB-NT 0.3000", "balls"):
        assert words in shown


def test_importing_the_ledger_loads_nothing_heavy():
    code = (
        "import abstain.studies.claims, abstain.studies.report, sys\n"
        "assert not {'polars', 'rich', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_every_claim_has_its_rule():
    rules = {claim.number: claim.rule for claim in claims.all_claims()}
    assert sorted(rules) == list(range(1, len(rules) + 1))
    assert all(f"{closeness.CLOSE:g}" in rules[number] for number in (4, 17))


# A claim is one object in one file.

OWN = """
from abstain.studies.claims import Claim, Finding

MINE = Claim(101, "Mine & yours.", "By <looking>.", lambda results: Finding("holds", f"{len(results.studies)} study."))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder whose modules are claims, too."""
    monkeypatch.setattr(claims, "__path__", [*claims.__path__, str(tmp_path)])
    yield tmp_path
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(f"{claims.__name__}.{path.stem}", None)
        vars(claims).pop(path.stem, None)


def test_a_file_is_all_that_a_claim_takes(folder):
    (folder / "my_claim.py").write_text(OWN)
    verdicts = claims.judge(setting("regret", "eye", 0.1))
    assert verdicts[-1] == claims.Verdict(101, "Mine & yours.", "By <looking>.", "holds", "1 study.", [], ())
    page = report.page(verdicts, [], [], report.Facts())
    for words in ("Mine &amp; yours.", "By &lt;looking&gt;.", "1 study."):
        assert words in page
    (folder / "again.py").write_text(OWN)
    with pytest.raises(InputError, match="claim 101: expected one of that number"):
        claims.all_claims()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ('0, "Text.", "Rule.", print', "number"),
        ('101, " ", "Rule.", print', "text: expected a sentence"),
        ('101, "Text.", "", print', "rule: expected a sentence"),
        ('101, "Text.", None, print', "rule: expected a sentence"),
        ('101, "Text.", "Rule.", "judge"', "judge: expected a function"),
    ],
)
def test_an_incomplete_claim_is_refused_at_import(folder, wrong, words):
    (folder / "half_a_claim.py").write_text(f"from abstain.studies.claims import Claim\nHALF = Claim({wrong})\n")
    with pytest.raises(InputError, match=words):
        claims.all_claims()


def test_claims_are_looked_for_when_the_ledger_is_imported():
    """Not at the end of a run: the modules of all claims are there."""
    code = "import abstain.studies.claims, sys\nassert 'abstain.studies.claims.example' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_study_of_ones_own_with_the_role_is_judged():
    study = small(name="mine", role="main")
    curves = setting("mine", "eye", 0.1)
    assert claims.judge(curves)[0].verdict == "not judged"
    verdict = claims.judge(curves, [study])[0]
    assert (verdict.verdict, verdict.studies) == ("holds", ("mine",))

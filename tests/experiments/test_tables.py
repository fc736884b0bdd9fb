"""Tables of final numbers: what they say, computed by hand; how they are shown."""

import io
import math

import numpy as np
import polars as pl
import pytest
from rich.console import Console
from scipy import stats

from abstain.errors import InputError
from abstain.experiments import report
from abstain.experiments.formats import Meanings, TextTable, markdown, meanings, overview_cells, overview_table
from abstain.experiments.reproduce import _finals
from abstain.experiments.results import summary
from abstain.experiments.runner import run
from abstain.experiments.specs import LearnerSpec, SetSpec
from abstain.experiments.study import LearnerStudy
from abstain.experiments.tables import finals, overview, slopes, write

from .frames import empty, rows
from .small import small, tables


def play(study, dataset, cost, learner, regrets, *, seconds=0.1, t=(1, 100), **columns):
    """Runs with these final R_T / T, by expert set and draw."""
    return pl.concat(
        rows(study, dataset, cost, learner, float(regret), t=t, expert_set=e, draw=d, **columns).with_columns(
            seconds_run=pl.lit(seconds)
        )
        for e, of_set in enumerate(regrets)
        for d, regret in enumerate(of_set)
    )


FS = [[0.01, 0.02], [0.03, 0.02], [0.01, 0.01]]
GT = [[0.11, 0.10], [0.16, 0.10], [0.11, 0.08]]
DR = [[0.02, 0.03], [0.03, 0.04], [0.02, 0.01]]


def game():
    return pl.concat([
        play("a", "guide", 0.2, "FS", FS, seconds=0.05),
        play("a", "guide", 0.2, "UCB-GT", GT, seconds=0.2),
        play("a", "guide", 0.2, "DR", DR, seconds=0.6),
        play("a", "guide", 0.3, "FS", [[-0.01, -0.02]]),
        play("a", "guide", 0.3, "UCB-GT", [[-0.01, 0.04]]),
        play("a", "guide", 0.3, "DR", [[-0.03, -0.02]]),
    ])  # fmt: skip


def row(table, **which):
    return table.filter(**which).row(0, named=True)


def test_means_and_errors_are_over_expert_sets():
    table = finals(game())
    assert table.height == 6
    one = row(table, cost=0.2, learner="UCB-GT")
    of_sets = np.mean(GT, axis=1)
    assert (one["repetitions"], one["units"], one["rounds"]) == (6, 3, 100)
    assert one["regret"] == pytest.approx(of_sets.mean())
    assert one["se"] == pytest.approx(of_sets.std(ddof=1) / math.sqrt(3))
    assert one["reference"] == "FS"
    differences = np.mean(GT, axis=1) - np.mean(FS, axis=1)
    low, high = stats.t.interval(0.95, 2, differences.mean(), differences.std(ddof=1) / math.sqrt(3))
    assert (one["difference"], one["low"], one["high"]) == pytest.approx((differences.mean(), low, high))
    assert high - low < 2 * 4.3 * one["se"]  # paired: narrower than that of the learner alone
    alone = row(table, cost=0.3, learner="UCB-GT")  # one expert set: over its draws
    assert (alone["repetitions"], alone["units"]) == (2, 2)
    assert alone["se"] == pytest.approx(np.std([-0.01, 0.04], ddof=1) / math.sqrt(2))
    own = row(table, cost=0.2, learner="FS")
    assert (own["difference"], own["low"], own["high"], own["rank"]) == (0.0, 0.0, 0.0, None)


def test_one_repetition_has_no_error():
    table = finals(play("a", "guide", 0.2, "UCB", [[0.5]]))
    one = row(table)
    assert (one["regret"], one["se"], one["low"], one["high"]) == (0.5, None, None, None)
    assert (one["ratio"], one["excess"], one["within"]) == (None, None, None)
    assert one["reference"] == "UCB"


def test_near_fs():
    table = finals(game())
    near, far = row(table, cost=0.2, learner="DR"), row(table, cost=0.2, learner="UCB-GT")
    fs = np.mean(FS)
    assert near["ratio"] == pytest.approx(np.mean(DR) / fs)
    assert near["excess"] == pytest.approx(np.mean(DR) - 2 * fs - 0.002)
    assert (near["within"], far["within"]) == (True, False)
    assert (near["rank"], far["rank"]) == (1.0, 2.0)
    negative = row(table, cost=0.3, learner="DR")  # there is no ratio to a negative regret
    assert negative["ratio"] is None
    assert negative["excess"] == pytest.approx(-0.025 - 0.002)  # nor is twice as negative a limit
    assert negative["within"] is True
    assert row(table, cost=0.3, learner="UCB-GT")["excess"] == pytest.approx(0.015 - 0.002)


def test_time_is_relative():
    table = finals(game())
    assert [row(table, cost=0.2, learner=name)["time"] for name in ("FS", "UCB-GT", "DR")] == pytest.approx(
        [0.25, 1.0, 3.0]
    )
    without = finals(game().filter(pl.col("learner") != "UCB-GT"))
    assert row(without, cost=0.2, learner="DR")["time"] == pytest.approx(12.0)  # of the fastest


def test_who_is_compared_and_who_competes():
    table = finals(game(), learners=("DR", "UCB-GT", "FS"), reference="DR", apart=("FS", "DR"))
    assert table["learner"].to_list() == ["DR", "UCB-GT", "FS"] * 2
    assert set(table["reference"]) == {"DR"}
    assert row(table, cost=0.2, learner="UCB-GT")["rank"] == 1.0
    assert row(table, cost=0.2, learner="UCB-GT")["difference"] == pytest.approx(np.mean(GT) - np.mean(DR))
    two = game().filter(pl.col("learner") != "FS")
    assert set(finals(two, learners=("UCB-GT", "DR"))["reference"]) == {"UCB-GT"}  # the first
    assert set(finals(two, reference="nobody")["reference"]) == {"DR"}


def test_overview():
    table = overview(finals(game()))
    assert table["learner"].to_list() == ["DR", "UCB-GT", "FS"]  # by rank; those apart last
    dr = row(table, learner="DR")
    assert dr["settings"] == dr["limits"] == 2
    assert (dr["within"], dr["negative"], dr["rank"]) == (2, 1, 1.0)
    assert dr["regret"] == pytest.approx((np.mean(DR) - 0.025) / 2)
    assert dr["ratio"] == pytest.approx(np.mean(DR) / np.mean(FS))  # of the one setting that has one
    assert dr["excess"] == pytest.approx(np.mean(DR) - 2 * np.mean(FS) - 0.002)
    assert row(table, learner="UCB-GT")["excess"] == pytest.approx(np.mean(GT) - 2 * np.mean(FS) - 0.002)


def growing():
    """Regret that grows like the root of T, and the tracking regret linearly."""
    parts = []
    for study, n in (("short", 10_000), ("long", 100_000), ("longer", 1_000_000)):
        for learner, power in (("root", 0.5), ("linear", 1.0)):
            part = play(study, "trap-300", 0.2, learner, [[n ** (power - 1), n ** (power - 1)]], t=(n,))
            parts.append(part.with_columns(tracked=pl.col("best") - 0.1 * pl.col("t")))
    down = [
        play(study, "other", 0.2, "root", [[r]], t=(n,)) for study, n, r in (("short", 100, 0.1), ("long", 200, -1))
    ]
    return pl.concat([*parts, *(part.with_columns(tracked=pl.col("best")) for part in down)])


def test_slopes():
    table = slopes(finals(growing()))
    assert row(table, dataset="trap-300", learner="root")["slope"] == pytest.approx(0.5)
    assert row(table, dataset="trap-300", learner="linear")["slope"] == pytest.approx(1.0)
    assert 0.9 < row(table, dataset="trap-300", learner="root")["tracking_slope"] < 1.0
    assert row(table, dataset="other", learner="root")["slope"] is None  # regret that is not positive
    assert len(slopes(finals(game()))) == 0
    found = row(overview(finals(growing())), learner="root")
    assert found["slope"] == pytest.approx(0.5)
    assert finals(growing().filter(dataset="trap-300"))["tracking"].min() > 0.1


def test_nothing():
    assert len(finals(empty())) == 0
    assert len(overview(finals(empty()))) == 0
    assert tables(empty(), [small()]) == []


def study(name, **changes):
    labels = [LearnerSpec("UCB-GT", "UCBGT"), LearnerSpec("DR", "Exp3Abs"), LearnerSpec("FS", "FullSupervision")]
    return LearnerStudy(name, sets=("guide",), costs=(0.2, 0.3), learners=labels, **changes)


def test_studies_share_a_table():
    both = pl.concat([game(), game().with_columns(study=pl.lit("b")), game().with_columns(study=pl.lit("c"))])
    found = tables(both, [study("a", table="ab", title="First"), study("b", table="ab"), study("c", reference="DR")])
    assert [(table.name, table.title, len(table.finals)) for table in found] == [("ab", "First; b", 12), ("c", "c", 6)]
    assert row(found[0].overview, learner="DR")["settings"] == 4
    assert found[0].finals["learner"].to_list()[:3] == ["UCB-GT", "DR", "FS"]  # as in the study
    assert set(found[1].finals["reference"]) == {"DR"}
    with pytest.raises(InputError, match="reference: expected one of UCB-GT; DR; FS, got 'X'"):
        study("a", reference="X")
    with pytest.raises(InputError, match="apart: expected a list"):
        study("a", apart="FS")
    with pytest.raises(InputError, match="table: expected a text"):
        study("a", table=3)


def test_files(tmp_path):
    (table,) = tables(game(), [study("a", table="A/b c", title="Some | title")])
    words, numbers, _ = write(table, tmp_path / "tables")
    assert [path.name for path in (words, numbers)] == ["A-b-c.md", "A-b-c.csv"]
    assert pl.read_csv(numbers)["regret"].to_list() == table.finals["regret"].to_list()
    text = words.read_text(encoding="utf-8")
    assert "| learner | R_T / T | to FS | rank | within | excess | negative | time |" in text
    assert "| DR | 0.0000 | 1.50 | 1.00 | 2 of 2 | -0.0103 | 1 of 2 |" in text
    lines = [line for line in text.splitlines() if line.startswith("| a | guide | 0.2")]
    assert len(lines) == 3
    assert "| 0.1100 ± 0.0104 |" in lines[0]  # the worst is not bold, but the best of those that compete
    assert "**0.0250 ± 0.0058**" in lines[1]
    assert "**" not in lines[0] + lines[2]
    assert "| 1 |" in lines[1]  # ranks have no decimals
    assert "pseudo" not in text
    assert "| FS |" in lines[0]
    assert "tracking" not in text
    assert "6 repetitions, errors over 3" in text


def test_latex(tmp_path):
    (table,) = tables(game(), [study("a", table="A/b c", title="Some & title")])
    text = write(table, tmp_path)[2].read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.endswith(r" \\")]
    assert text.count(r"\label{tab:A-b-c}") == text.count(r"\begin{table}") == 1
    assert "Some \\& title: average regret at the end, mean and standard error." in text
    assert lines[0] == r"set & cost & UCB-GT & DR & FS \\"
    assert lines[1].startswith(r"guide & 0.2 & 0.1100 {\scriptsize$\pm$0.0104} & \textbf{0.0250}")
    assert len(lines) == 3
    assert r"\textbf{0.0150}" not in text  # FS does not compete
    for word in ("study &", "time", "rank"):
        assert word not in text


def test_latex_tables_fit_a_page(tmp_path):
    curves = pl.concat(
        play(name, f"s{k:02d}", 0.2, f"L{j}", [[0.1 + 0.01 * j, 0.1]])
        for name in ("a", "b")
        for k in range(25)
        for j in range(8)
    )
    labels = [LearnerSpec(f"L{j}", "UCBGT") for j in range(8)]
    sets = [SetSpec(f"s{k:02d}", table=(np.zeros((2, 1)), np.array([-1, 1]))) for k in range(25)]
    both = [LearnerStudy(name, sets=sets, costs=(0.2,), learners=labels, table="wide") for name in ("a", "b")]
    (table,) = tables(curves, both)
    text = write(table, tmp_path)[2].read_text(encoding="utf-8")
    labels = [f"\\label{{tab:wide{end}}}" for end in ("", "-2", "-3", "-4")]  # 40 + 10 settings, 6 + 2 learners
    assert [label for label in labels if label in text] == labels
    assert text.count(r"\begin{table}") == 4
    assert text.count(r"\textbf") == 50  # each setting once
    assert text.count(r"\emph{b}") == 4  # whose settings they are
    assert "(4 of 4)" in text


def test_files_of_streams(tmp_path):
    labels = [LearnerSpec("root", "UCBGT"), LearnerSpec("linear", "UCB")]
    shared = [
        LearnerStudy(name, sets=("guide",), costs=(0.2,), learners=labels, table="moving") for name in ("short", "long")
    ]
    (table,) = tables(growing(), shared)
    text = write(table, tmp_path)[0].read_text(encoding="utf-8")
    assert "| learner | R_T / T | tracking | rank | negative | slope | tracking slope | time |" in text
    assert "| trap-300 | 0.2 | root | 0.50 |" in text
    tex = (tmp_path / "moving.tex").read_text(encoding="utf-8")
    assert r"\label{tab:moving}" in tex
    assert r"\label{tab:moving-tracking}" in tex
    assert "set & cost & T & " in tex


def shown_in_terminal(table, width):
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(overview_table("a [b]", table))
    return console.export_text()


def test_shown():
    text = shown_in_terminal(overview(finals(game())), 80)
    assert "a [b]" in text
    assert "1 of 2" in text
    (line,) = (line for line in text.splitlines() if line.startswith(" UCB-GT"))
    assert line.split()[1] == "0.0625"
    found = tables(game(), [study("a", title="<i>")])
    page = report.page([], [], [study("a")], report.Facts(tables=found))
    assert "Overview" in page
    assert "&lt;i&gt;" in page
    assert "1 of 2" in page
    assert "Overview" not in report.page([], [], [], report.Facts())


@pytest.mark.parametrize("width", [80, 60])
def test_every_column_has_words(width):
    table = overview(finals(game()))
    heads, _ = overview_cells(table)
    assert [head for head, _ in meanings(heads)] == heads[1:]  # all but the learner's name
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(Meanings(heads))
    text = console.export_text()
    assert max(map(len, text.splitlines())) <= width
    assert "settings with regret up to 2 FS + 0.002" in " ".join(text.split())
    assert "…" not in text
    assert len(text.splitlines()) == len(heads) - 1 or width < 80  # one line each
    page = report.page([], [], [study("a")], report.Facts(tables=tables(game(), [study("a")])))
    for head, words in meanings(heads):
        assert f"<dt>{head}</dt><dd>{words}</dd>" in page
    assert page.count("<dt>within</dt>") == 1
    assert "- excess: regret minus that limit" in markdown("a", "", finals(game()), table, slopes(finals(game())))


LABELS = ("EXP3-ABS, adaptive", "DR, adaptive, all labels", "UCB-GT")


def test_a_narrow_terminal():
    heads = ["learner", "R_T / T", "tracking", "to FS", "within", "negative", "tracking slope", "time"]
    numbers = ["-0.1034", "0.2034", "1.00", "10 of 24", "11 of 24", "0.55", "12.33"]
    for width in (200, 80, 60):
        console = Console(width=width, record=True, file=io.StringIO())
        console.print(TextTable("name", heads, [[label, *numbers] for label in LABELS], "and more"))
        text = console.export_text()
        lines = [line.strip() for line in text.splitlines()]
        for label in LABELS:
            rest = [line.removeprefix(label).split("  ") for line in lines if line.startswith(label)]
            assert [cell.strip() for cells in rest for cell in cells if cell] == numbers
        assert "…" not in text
        assert (lines.count("name"), lines.count("and more")) == (1, 1)
        assert max(map(len, text.splitlines())) <= width
    console.print(TextTable("name", ["log", "worst"], [["b" * 30, "+4.0 ± 1.0 (covtype, population)"]]))
    assert "+4.0 ± 1.0 \n" in console.export_text().replace("  \n", " \n")


def test_regret_in_a_narrow_terminal():
    labels = [LearnerSpec(f"{label}, {k}", "UCBGT") for label in LABELS for k in range(3)]
    curves = pl.concat(play("a", "guide", 0.2, learner.label, [[-0.1034, -0.1034]]) for learner in labels)
    wide = LearnerStudy("a", sets=("guide",), costs=(0.2,), learners=labels, rounds=100)
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(_finals(summary(curves), wide))
    text = console.export_text()
    assert "…" not in text
    assert text.count("-0.1034") == len(labels)


@pytest.mark.long
def test_a_real_run(tmp_path):
    played = small(draws=2)
    session = run([played], tmp_path, jobs=1)
    (table,) = tables(session.curves, [played])
    assert table.finals.height == 2 * 3
    for one in table.finals.iter_rows(named=True):
        mine = session.curves.filter(t=200, cost=one["cost"], learner=one["learner"])
        assert one["regret"] == pytest.approx(((mine["loss"] - mine["best"]) / 200).mean())
        assert (one["repetitions"], one["units"]) == (4, 2)
        assert one["tracking"] == one["regret"]
    again = tables(run([played], tmp_path / "again", jobs=2).curves, [played])[0]
    assert table.finals.drop("time").equals(again.finals.drop("time"))

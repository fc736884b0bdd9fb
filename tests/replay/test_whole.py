"""All the files or none; how sure differences are; the verdict; memory."""

import io
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from abstain._core import terminal
from abstain._core.files import replacing_folder
from abstain.cli import app
from abstain.replay.play import COMPILING, blocks, pieces
from abstain.replay.policies import Policy, Stretch, Versus, intervals
from abstain.replay.report import page
from abstain.replay.run import FILES, replay
from abstain.replay.wording import Setting, against_rivals, next_steps, per_year, verdict

from .logs import options, small_log

pytestmark = pytest.mark.usefixtures("no_page")


EVENT = Stretch("11 March 2026", "15 March 2026", 15_000, 0.17, 1.1)
START = replace(EVENT, at_start=True)


def a_policy(kind, loss, difference, spread, base=0.2):
    ends = [difference, difference - spread, difference + spread]
    return Policy(kind, kind, loss, 0.3, 0.1, *ends, loss, loss, *(end / base for end in ends))


def names(path):
    return sorted(one.name for one in path.iterdir())


@pytest.mark.parametrize(
    ("step", "stop"),
    [("reading", signal.SIGINT), ("checking", signal.SIGTERM), ("playing", signal.SIGINT), ("writing", signal.SIGTERM)],
)
def test_stopped_half_way(tmp_path, monkeypatch, step, stop):
    small_log(300).write_csv(tmp_path / "log.csv")

    def progress(*place):
        if place[0] == step:
            assert len(names(tmp_path)) > 1
            os.kill(os.getpid(), stop)

    @contextmanager
    def told(console, **options):
        yield progress

    monkeypatch.setattr("abstain.cli.replay.progress", told)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
    try:
        result = CliRunner().invoke(
            app, ["replay", str(tmp_path / "log.csv"), "--out", str(tmp_path / "a" / "b" / "out")]
        )
    finally:
        signal.signal(signal.SIGINT, before)
    assert result.exit_code == 130, result.output
    assert "nothing was written" in result.output
    assert names(tmp_path) == ["log.csv"]


def test_results_that_are_there_stay_until_others_are_whole(tmp_path, monkeypatch):
    small_log(300).write_csv(tmp_path / "log.csv")
    out = tmp_path / "out"
    replay(tmp_path / "log.csv", options(), out)
    (out / "mine.txt").write_text("mine")
    before = {path.name: path.read_bytes() for path in out.iterdir()}

    def fail(*anything):
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(page, "write", fail)
        with pytest.raises(OSError, match="disk full"):
            replay(tmp_path / "log.csv", options(seed=1), out)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert names(tmp_path) == ["log.csv", "out"]
    replay(tmp_path / "log.csv", options(seed=1), out)
    assert names(out) == sorted([*FILES, "mine.txt"])
    assert (out / "cases.parquet").read_bytes() != before["cases.parquet"]


@pytest.mark.long
def test_what_a_killed_one_left_is_removed_by_the_next(tmp_path):
    code = (
        "import os, sys; from pathlib import Path; from abstain._core.files import replacing_folder\n"
        "with replacing_folder(Path(sys.argv[1])): os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path / "out"], check=False, timeout=60)
    assert len(names(tmp_path)) == 1
    with replacing_folder(tmp_path / "out"):
        assert len(names(tmp_path)) == 1  # its own
        with replacing_folder(tmp_path / "other"):
            assert len(names(tmp_path)) == 2  # that of somebody who lives stays
    assert names(tmp_path) == ["other", "out"]


def test_intervals_hold_what_they_say():
    """Of 150 logs whose rows are alike in runs, about 95 % have the true difference, 0.1, in the interval."""
    rng = np.random.default_rng(0)
    cuts, inside = blocks(100, 2_000), 0
    assert cuts.sizes.sum() == 1_900
    assert cuts.n == 44
    for seed in range(150):
        rows = np.repeat(rng.normal(0.1, 1.0, 400), 5)
        sums = np.zeros(cuts.n)
        for begin in range(0, 2_000, 170):
            cuts.add(sums, rows[begin : begin + 170], begin)
        assert sums.sum() == pytest.approx(rows[100:].sum())
        one = sums[np.newaxis]
        found = intervals(one, one, np.ones_like(one), cuts.sizes, seed)
        inside += found.low[0] <= 0.1 <= found.high[0]
    assert 0.90 <= inside / 150 <= 0.98


@pytest.mark.long
def test_per_cent_of_an_uncertain_price():
    """A policy that costs five times the baseline: both are drawn from few rows, and the interval knows it."""
    rng = np.random.default_rng(1)
    cuts, inside = blocks(0, 1_600), 0
    for seed in range(200):
        sums = np.zeros((2, cuts.n))
        for row, rate in enumerate((0.05, 0.25)):
            cuts.add(sums[row], (rng.random(1_600) < rate) * 1.0, 0)
        apart = sums[1:] - sums[:1]
        found = intervals(apart, apart, sums[:1], cuts.sizes, seed)
        inside += found.share_low[0] <= 4.0 <= found.share_high[0]
    assert 0.90 <= inside / 200 <= 0.98


@pytest.mark.long
def test_the_gates_own_luck_is_in_the_interval():
    """Runs of a gate differ by more than chance in the rows: the interval is for the next run, whatever its seed."""
    rng = np.random.default_rng(2)
    cuts, inside, without = blocks(0, 1_600), 0, 0
    for seed in range(200):
        rows = rng.normal(0.0, 0.2, 1_600)
        runs = np.zeros((4, cuts.n))
        for run in runs:
            cuts.add(run, rows + rng.normal(-0.1, 0.05), 0)
        mean = runs.mean(axis=0)[np.newaxis]
        luck = (runs - mean)[:, np.newaxis]
        found = intervals(mean, mean, np.ones_like(mean), cuts.sizes, seed, luck)
        plain = intervals(mean, mean, np.ones_like(mean), cuts.sizes, seed)
        another = rng.normal(-0.1, 0.05)
        inside += found.low[0] <= another <= found.high[0]
        without += plain.low[0] <= another <= plain.high[0]
    assert 0.92 <= inside / 200 <= 0.98
    assert without / 200 <= 0.40


def test_pieces_of_any_log():
    for n in (100, 199, 200, 201, 12_345):
        cuts = pieces(n)
        assert cuts.sizes.sum() == n
        assert cuts.sizes.min() >= 1
        assert cuts.n == min(n, 200)


@pytest.mark.parametrize(
    ("difference", "retuned", "given", "words"),
    [
        (-0.03, 0.15, {}, "than today's threshold, gbm above 0.85 (1.00 EUR). It saves 13,500 EUR on 90,000 cases."),
        (-0.03, 0.15, {}, "15 % less (95 % interval: 10 % to 20 %) than today's"),
        (-0.03, 0.15, {"stretch": EVENT}, "It would have saved 13,500 EUR on 90,000 cases. All of it came between 11 "
         "March 2026 and 15 March 2026, in 17 % of the cases: one event says little about other months."),
        (-0.03, 0.15, {"share": 0.1}, "cases; today's threshold sends 30 % to review, more than the 10 % there is"),
        (0.0001, 0.15, {}, "about as much"),
        (0.0001, 0.15, {"share": 0.1}, "within chance (95 % interval: 5.0 % less to 5.0 % more); today's "
         "threshold sends 30 % to review"),
        (0.0001, 0.2, {}, "5.0 % less to 5.0 % more); nothing drifts here"),
        (0.03, 0.15, {}, "15 % more (95 % interval: 10 % to 20 %) than today's threshold"),
        (0.03, 0.15, {}, "above 0.85 (1.00 EUR): the log does not tell why."),
        (0.03, 0.15, {"lead": "decided"}, "What was decided costs 1.15 EUR per case, 15 % more (95 % interval: 10 % to "
         "20 %) than today's threshold, gbm above 0.85 (1.00 EUR)."),
        (0.03, 0.15, {"stretch": START}, "above 0.85 (1.00 EUR). All of the loss came between 11 March 2026 and 15 "
         "March 2026, in 17 % of the cases, the first that count: the gate had learnt least there."),
        (-0.03, 0.15, {"stretch": START}, "in 17 % of the cases: one event says little about other months."),
        (0.03, 0.2, {}, "nothing drifts"),
        (0.03, 0.15, {"rows": 2_000}, "2,000 rows are few"),
        (0.03, 0.15, {"labels": "reviewed"}, "learning has to be paid for"),
        (0.03, 0.15, {"share": 0.1}, "10 % there is capacity for, so it could not have been kept"),
        (0.03, 0.15, {"late": 0.12}, "labels come late, on average after 12 % of the log"),
        (0.03, 0.15, {"late": 0.09}, "the log does not tell why."),
    ],
)  # fmt: skip
def test_verdict(difference, retuned, given, words):
    setting = {"rows": 100_000, "scored_rows": 90_000, "labels": "answered", "share": None, "late": 0.0,
               "price": 5.0, "unit": "EUR", "baseline": "today"}  # fmt: skip
    policies = [
        a_policy(given.get("lead", "gate"), 0.2 + difference, difference, 0.01),
        Policy("today", "today: gbm above 0.85", 0.2, 0.3, 0.1, None, None, None),
        Policy("retuned-all", "re-tuned", retuned, 0.3, 0.1, retuned - 0.2, 0.0, 0.0),
    ]
    text = verdict(policies, Setting(**{**setting, **given}))
    assert words in text
    assert text.endswith(".")


def test_verdict_without_a_threshold_of_today():
    policies = [a_policy("gate", 0.17, -0.03, 0.01), Policy("tuned", "tuned", 0.2, 0.3, 0.1, None, None, None),
                a_policy("retuned-all", 0.15, -0.05, 0.01)]  # fmt: skip
    text = verdict(policies, Setting(100_000, 90_000, "answered", None, 0.0, 5.0, "EUR"))
    assert "less (95 % interval: 10 % to 20 %) than one threshold, set once on the first tenth of the log" in text


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ((-0.05, -0.01), "it would have saved at least 4,500 EUR on 90,000 cases. With both prices in the middle of "
         "their bounds it costs 0.15 EUR less per case; all of that came between 11 March 2026 and 15 March 2026"),
        ((0.01, 0.05), "would have lost at least 4,500 EUR on 90,000 cases. With both prices in the middle of their "
         "bounds it costs 0.15 EUR more"),
        ((-0.05, 0.03), "0.25 EUR less and 0.15 EUR more. With both prices in the middle of their bounds it "
         "costs 0.050 EUR less"),
    ],
)  # fmt: skip
def test_one_event_is_named_where_labels_are_missing(ends, words):
    lead = Policy("gate", "gate", 0.2, 0.3, 0.1, sum(ends) / 2, *ends, 0.1, 0.3)
    base = Policy("tuned", "tuned", 0.2, 0.3, 0.1, None, None, None, 0.1, 0.3)
    policies = [lead, base, a_policy("retuned-all", 0.15, -0.05, 0.01)]
    setting = Setting(100_000, 90_000, "answered", None, 0.0, 5.0, "EUR", unlabelled=0.2, stretch=EVENT)
    text = verdict(policies, setting)
    assert words in text
    assert "in 17 % of the cases: one event says little about other months." in text
    assert "event" not in verdict(policies, replace(setting, stretch=None))


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ((-0.05, -0.03, -0.01), "25 % less (95 % interval: 5.0 % to 15 % less)."),
        ((0.05, 0.01, 0.09), "25 % more (95 % interval: 5.0 % to 45 % more)."),
        ((0.0, -0.01, 0.01), "0 % more (95 % interval: 5.0 % less to 5.0 % more); the difference is within chance."),
    ],
)
def test_every_rival_has_a_sentence(ends, words):
    setting = Setting(100_000, 90_000, "answered", None, 0.0, 5.0, "EUR")
    found = [Versus(kind, kind, *ends, *(end / 0.2 for end in ends)) for kind in ("retuned-own", "stack")]
    own, stack = against_rivals(found, setting)
    assert own.startswith(
        "Compared with a threshold re-tuned every 500 rows on the labels of its own answers, the gate costs "
    )
    assert stack.startswith("Compared with a logistic stack of the models")
    assert own.endswith(words)
    (text,) = against_rivals([Versus("stack", "stack", *ends, None, None, None)], setting)
    assert ("the log does not tell" in text) == (ends[1] < 0.0 < ends[2])


def test_per_month_and_year():
    lead, base = a_policy("gate", 0.17, -0.03, 0.01), Policy("tuned", "tuned", 0.2, 0.3, 0.1, None, None, None)
    given = Setting(100_000, 90_000, "answered", None, 0.0, 5.0, "EUR", days=90.0)
    (text,) = per_year([lead, base], given)
    assert "these 90 days, the saving would be 4,600 EUR a month and 55,000 EUR a year" in text
    assert "(95 % interval of the year: 37,000 EUR to 73,000 EUR)" in text
    (text,) = per_year([replace(lead, low=-0.0305, high=-0.0295), base], given)
    assert "4,570 EUR a month and 54,800 EUR a year (95 % interval of the year: 53,900 EUR to 55,700 EUR)" in text
    (text,) = per_year([replace(lead, low=-0.07, high=-0.00001), base], given)
    assert "(95 % interval of the year: 20.00 EUR to 128,000 EUR)" in text
    assert per_year([lead, base], replace(given, days=None)) == []
    assert per_year([lead, replace(base, lowest=0.1, highest=0.3)], given) == []  # half of it would be guessed
    assert per_year([a_policy("gate", 0.2, 0.0, 0.01), base], given) == []
    (text,) = per_year([lead, base], replace(given, stretch=EVENT))
    assert text.endswith("is given, because nearly all of the difference comes from one stretch of the log.")


@pytest.mark.parametrize("long", [False, True])
def test_compiling_gets_a_line_if_it_takes_long(monkeypatch, long):
    """Without a terminal. The timer is started by hand, so that the test does not depend on the machine's speed."""
    started = []

    class Timer:
        def __init__(self, seconds, act):
            self.seconds, self.act, self.cancelled = seconds, act, False
            started.append(self)

        def start(self):
            pass

        def cancel(self):
            self.cancelled = True

    monkeypatch.setattr(terminal.threading, "Timer", Timer)
    console = terminal.console(file=io.StringIO(), force_terminal=False)
    with terminal.progress(console, quiet=COMPILING) as report:
        report(COMPILING, 0, 1)
        (timer,) = started
        if long:
            timer.act()
        assert not timer.cancelled
        report("playing", 10, 20)
        assert timer.cancelled
    assert timer.seconds == terminal.SOON
    assert console.file.getvalue() == (f"{COMPILING} ...\n" if long else "")


MEMORY = """
import sys
from dataclasses import replace
from pathlib import Path
from abstain.replay.options import Options
from abstain.replay.run import replay
replay(Path(sys.argv[1]), Options(), Path(sys.argv[2]))
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(status["VmHWM"].split()[0])  # getrusage would tell the peak of the process that started this one, too
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")
def test_memory(tmp_path):
    """A million rows stay below 1 GiB, and take little more than 10^5 do."""
    peaks = []
    for n in (100_000, 1_000_000):
        log = small_log(100_000)
        with (tmp_path / "log.csv").open("wb") as stream:
            for k in range(n // 100_000):
                log.write_csv(stream, include_header=k == 0)
        ran = subprocess.run([sys.executable, "-c", MEMORY, tmp_path / "log.csv", tmp_path / "out"], check=True,
                             capture_output=True, text=True, timeout=600)  # fmt: skip
        peaks.append(int(ran.stdout) / 2**10)
    assert peaks[1] < peaks[0] + 300.0, peaks
    assert peaks[1] < 1024.0, peaks


@pytest.mark.parametrize(
    ("ends", "rival", "words"),
    [
        ((-0.04, -0.02), ("stack", -0.02), ["Let the gate watch first", "Then let it decide"]),
        ((-0.04, -0.02), ("stack", 0.01), ["--combine", "Let the gate watch first", "Then let it decide"]),
        (
            (-0.04, -0.02),
            ("retuned-own", 0.01),
            ["Consider a threshold re-tuned", "Let the gate", "Then let it decide"],
        ),
        ((-0.02, 0.02), ("stack", -0.02), ["Keep today's threshold for now, and replay a longer log"]),
        ((0.02, 0.04), ("stack", -0.02), ["Keep today's threshold: on this log the gate, as it is, costs"]),
        ((0.02, 0.04), ("stack", 0.02), ["with --combine", "Keep today's threshold until a replay shows that another"]),
        (
            (-0.02, 0.02),
            ("stack", 0.02),
            ["with --combine", "Keep today's threshold until a replay shows that another"],
        ),
    ],
)
def test_what_to_do_next(ends, rival, words):
    kind, low = rival
    setting = Setting(100_000, 90_000, "answered", None, 0.0, 5.0, "EUR", baseline="today")
    lead = Policy("gate", "gate", 0.2, 0.1, 0.1, sum(ends) / 2, *ends)
    versus = [Versus(kind, kind, low + 0.01, low, low + 0.02, None, None, None)]
    found = next_steps(lead, versus, setting, may_combine=True)
    assert len(found) == len(words)
    for sentence, word in zip(found, words, strict=True):
        assert word in sentence
    assert not any("--combine" in one for one in next_steps(lead, versus, setting, may_combine=False))


@pytest.mark.parametrize(
    ("ends", "rival", "words"),
    [
        ((-0.04, -0.02), ("stack", 0.02), ["next month"]),
        ((-0.02, 0.02), ("stack", 0.02), ["next month"]),
        ((0.02, 0.04), ("stack", 0.02), ["Find out when it lost before you carry on: today's threshold was cheaper."]),
        ((-0.04, -0.02), ("tuned", 0.02), ["it is cheaper than what was decided here"]),
        ((0.02, 0.04), ("tuned", 0.02), ["it is cheaper than what was decided", "Find out when it lost"]),
    ],
)
def test_what_to_do_after_what_was_decided(ends, rival, words):
    kind, low = rival
    setting = Setting(100_000, 90_000, "answered", None, 0.0, 5.0, "EUR", baseline="today", lead="decided")
    lead = Policy("decided", "as it was decided", 0.2, 0.1, 0.1, sum(ends) / 2, *ends)
    versus = [Versus(kind, kind, low + 0.01, low, low + 0.02, None, None, None)]
    found = next_steps(lead, versus, setting, may_combine=True)
    assert len(found) == len(words)
    assert all(word in sentence for sentence, word in zip(found, words, strict=True))


@pytest.mark.parametrize(("kind", "known"), [("gate", False), ("decided", False), ("decided", True)])
def test_what_to_do_where_labels_are_missing(kind, known):
    """A longer log, or another month, would not tell either."""
    setting = Setting(
        100_000, 90_000, "answered", None, 0.0, 5.0, "EUR", lead=kind, unlabelled=0.2, probabilities=known
    )
    lead = Policy(kind, kind, 0.2, 0.1, 0.1, 0.0, -0.02, 0.02, 0.1, 0.3)
    (step,) = next_steps(lead, [], setting, may_combine=False)
    assert step.startswith("Have a random share of the cases without a label checked")
    assert ("--observed" in step) == (not known)
    assert ("--decided" in step) == (kind == "gate")  # --observed alone is refused
    (step,) = next_steps(lead, [Versus("stack", "stack", 0.03, 0.01, 0.05, None, None, None)], setting, True)
    assert ("--combine" in step) == (kind == "gate")
    same = next_steps(replace(lead, low=0.0, high=0.0), [], setting, may_combine=False)
    assert not any("does not tell" in one for one in same)
    sure = next_steps(replace(lead, high=-0.01), [], setting, may_combine=False)
    assert not any("random share" in one for one in sure)

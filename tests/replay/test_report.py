"""The report: what it says, what its figures show, and that it is whole, safe and by itself."""

import errno
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import plotly.graph_objects as go
import polars as pl
import pytest

import abstain as ab
from abstain.errors import FileError
from abstain.replay.policies import Curve, Policy, Saved, Timeline, Versus
from abstain.replay.report import figures, page
from abstain.replay.report.page import MINUS, meanings, rows, sections
from abstain.replay.run import replay as play

from .logs import options, small_log
from .replays import KINDS, NASTY, a_replay, replays

REPLAYS = replays()
CHROMIUM = Path("/usr/bin/chromium")
ADDRESSES = ("src", "href", "srcset", "action", "data", "poster", "style")


class Reader(HTMLParser):
    """Words outside of scripts, and attributes; checks that tags close in order."""

    VOID = ("meta", "br", "img", "path", "rect", "circle", "input")

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.attributes, self.words, self.scripts = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag == "script":
            self.scripts.append("")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "script" in self.open:
            self.scripts[-1] += data
        elif "style" not in self.open:
            self.words.append(data)


def read(page):
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader, " ".join("".join(reader.words).split())


def small():
    """Twelve cases in four pieces, the first three cases for tuning; all numbers can be checked by hand."""
    return replace(
        a_replay(price=10.0, share=0.5),
        rows=12, first=3, scored_rows=9, models=["a", "b"], operating=(0.5, 0.2),
        timeline=Timeline(
            row=[0, 3, 6, 10], time=None,
            loss={"tuned": [0.1, 0.2, 0.3, 0.4], "gate": [0.4, 0.3, 0.2, 0.1]},
            reviewed={"gate": [0.0, 0.1, 0.2, 0.3], "tuned": [0.5] * 4},
            model={"a": [0.25] * 4, "b": [0.75] * 4}, threshold=[0.9, 0.8, 0.7, 0.1],
            answered={"a": [1.0, 0.5, 1.0, 1.0], "b": [1.0] * 4},
        ),
        curves=[Curve("a", [0.5, 1.0], [0.1, 0.3]), Curve("b", [1.0], [0.2])],
        mistakes=[("x", 4, 1, 2), ("y", 0, 0, 0)],
    )  # fmt: skip


@pytest.mark.parametrize("name", REPLAYS)
def test_every_replay_has_a_page(name, tmp_path):
    replay, path = REPLAYS[name], tmp_path / "report.html"
    page.write(replay, path)
    reader, seen = read(path.read_text(encoding="utf-8"))
    everything = [
        replay.verdict,
        replay.log,
        replay.command,
        replay.delay,
        *replay.notes,
        *replay.unknown,
        *replay.models,
    ]
    everything += [policy.name for policy in replay.policies] + [name for name, *_ in replay.mistakes]
    for words in everything:
        assert words in seen
    drawn = {section.key: section.drawn.figure for section in sections(replay)}
    assert json.loads(reader.scripts[0]) == json.loads(json.dumps(drawn))
    assert "NaN" not in reader.scripts[0]
    for figure in drawn.values():
        go.Figure(figure)  # refuses what Plotly does not know


def test_sentences_are_apart_and_options_are_whole():
    text = page.html(replace(a_replay(price=10.0), left_out=12))
    assert re.search(r"in twenty\.\s+A price", text)
    assert '<span class="word">--review-price</span>' in text
    assert '<span class="amount">EUR per case</span>' not in text  # bounds have no such column
    assert '<span class="amount">EUR per case</span>' in page.html(a_replay(price=10.0))


def test_lines_break_neither_options_nor_percentages():
    found = replace(
        a_replay(), verdict="50 % have none (--decided).", unknown=["None in 3 %."], notes=["Say --positive."]
    )
    text = page.html(found)
    assert '50\xa0% have none <span class="word">(--decided</span>).' in text
    assert "<li>None in 3\xa0%.</li>" in text
    assert '<li>Say <span class="word">--positive</span>.</li>' in text


def test_the_order_of_the_page():
    _, seen = read(page.html(REPLAYS["capacity"]))
    words = (
        "The gate would have cost", "Saved per 1,000 cases", "All policies", "What the words mean",
        "Price over time", "Reviews over time",
        "Model followed over time", "Threshold over time", "Model availability", "Price of mistakes by",
        "Mistakes by class", "What was unknown", "Worth knowing", "How it was computed",
        "abstain replay orders-2024.csv", "5 MB",
    )  # fmt: skip
    places = [seen.index(word) for word in words]
    assert places == sorted(places)
    assert "capacity for reviews8% of cases, bursts of 200" in seen


@pytest.mark.parametrize("name", REPLAYS)
def test_no_jargon(name):
    _, seen = read(page.html(REPLAYS[name]))
    assert not re.search(r"\b(regret|expert|FS|risk|coverage|loss in|R_T|bootstrap|cells?)\b", seen, re.IGNORECASE)


def test_nothing_is_loaded():
    reader, _ = read(page.html(REPLAYS["wins"]))
    assert [one for one in reader.attributes if one[1] in ADDRESSES] == []
    policy = next(value for tag, name, value in reader.attributes if tag == "meta" and "default-src" in (value or ""))
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy


def test_nothing_of_the_log_is_taken_for_markup():
    text = page.html(REPLAYS["nasty"])
    reader, seen = read(text)
    assert seen.count(NASTY) > 10
    assert len(reader.scripts) == 3
    assert "<script>alert" not in text
    shown = [section.drawn.figure for section in sections(REPLAYS["nasty"])]
    names = [trace["name"] for figure in shown for trace in figure["data"]]
    names += [text for figure in shown for text in figure["layout"]["yaxis"].get("ticktext", [])]
    names += [text for figure in shown for trace in figure["data"] for text in trace.get("customdata", [])]
    assert any("&lt;script" in name for name in names)
    assert not any("<" in name for name in names)


def test_without_javascript_the_sentence_and_the_tables_are_there():
    text = re.sub(r"(?s)<script.*?</script>", "", page.html(REPLAYS["wins"]))
    _, seen = read(text)
    assert REPLAYS["wins"].verdict in seen
    assert "The figures need JavaScript" in seen
    assert text.count("<table") == 3
    assert '<section id="what-if" class="screen" hidden>' in text  # a slider would do nothing


def test_an_old_report_stays_until_the_new_one_is_whole(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(FileError, match="No space left"):
            page.write(REPLAYS["wins"], path)
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text() == "old"
    before = path.stat().st_ino
    page.write(REPLAYS["wins"], path)
    assert path.stat().st_ino != before  # another file got the name
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(FileError, match="cannot be written"):
        page.write(REPLAYS["wins"], tmp_path / "nowhere" / "report.html")


def against_tuned(loss, low, high, price=10.0, unit="EUR"):
    tuned = Policy("tuned", "tuned", 0.2, 0.1, 0.1, None, None, None)
    gate = Policy("gate", "gate", loss, 0.1, 0.1, loss - 0.2, low, high)
    if low is not None:
        gate = replace(gate, share=loss / 0.2 - 1.0, share_low=low / 0.2, share_high=high / 0.2)
    return replace(a_replay(price=price, unit=unit), policies=[gate, tuned])


def test_money_saved():
    found = page.money(against_tuned(0.15, -0.06, -0.04))
    assert (found.gate, found.tuned) == ("1.50 EUR", "2.00 EUR")
    assert (found.title, found.amount, found.interval) == ("Saved per 1,000 cases", "500 EUR", "400 to 600 EUR")
    assert "saves 500 EUR for every 1,000 cases, 25 % of what one threshold costs" in found.sentence
    assert "side of a saving" in found.sentence


def test_money_lost():
    found = page.money(against_tuned(0.25, 0.02, 0.08, price=1.0, unit=""))
    assert (found.title, found.amount, found.interval) == (
        "Lost per 1,000 cases", "50.00 mistakes", "20.00 to 80.00 mistakes"
    )  # fmt: skip
    assert "The gate loses: it costs 50.00 mistakes more than one threshold" in found.sentence
    assert "side of a loss" in found.sentence


def test_money_that_may_be_luck():
    """Nothing is called a loss, or a saving, that may be either."""
    less, more = (page.money(against_tuned(*given)) for given in ((0.19, -0.03, 0.01), (0.21, -0.01, 0.03)))
    assert (less.title, less.amount) == ("Difference per 1,000 cases", "100 EUR less")
    assert (more.amount, more.interval) == ("100 EUR more", "100 EUR less to 300 EUR more")
    assert less.interval == "300 EUR less to 100 EUR more"
    assert more.sentence.startswith("The gate costs 100 EUR more than one threshold for every 1,000 cases, 5.0 %")
    assert "may be luck" in less.sentence


def test_money_without_a_difference_or_an_interval():
    assert "exactly as much" in page.money(against_tuned(0.2, 0.0, 0.0)).sentence
    assert page.money(against_tuned(0.1, None, None)).interval == ""
    none = replace(a_replay(), policies=[policy for policy in a_replay().policies if policy.kind != "tuned"])
    assert page.money(none) is None
    assert "Saved per" not in page.html(none)


def test_the_table_is_in_the_unit():
    found = rows(against_tuned(0.15, -0.06, -0.04))
    gate, tuned = found
    assert gate[:5] == ("gate", "gate", "1.50", "10 %", "10 %")
    assert (gate.difference, gate.interval) == (f"{MINUS}25.0 %", f"{MINUS}30.0 to {MINUS}20.0")
    assert gate.money == f"{MINUS}0.50"
    assert (tuned.difference, tuned.interval, tuned.money) == ("", "", "")
    assert [name for name, _ in meanings(a_replay())][:3] == ["always ...", "gate", "tuned"]


def test_a_live_gate_is_not_taken_for_the_replayed_one():
    """Estimates are called so, and figures of the gate that was played say which gate that is."""
    one, tuned = a_replay().policies[0], next(one for one in a_replay().policies if one.kind == "tuned")
    decided = replace(one, kind="decided", name="as it was decided", lowest=0.1, highest=0.2)
    gate = next(one for one in a_replay().policies if one.kind == "gate")
    found = replace(a_replay(), policies=[decided, gate, tuned], lead="decided", left_out=500, effective=100.0)
    texts = {section.key: section.text for section in sections(found)}
    assert texts["models"].startswith("Which model the replayed gate followed.")
    assert "points are estimates" in page.html(found)
    assert "compare classes with each other, not policies" in page.html(found)
    assert dict(meanings(found))["gate"].startswith("a new gate, played from the start of the log; it learns")
    assert "Labels are missing, so prices are estimates" in page.html(found)
    assert "replayed gate" not in page.html(a_replay())


def test_policies_beyond_the_capacity_are_marked():
    found = against_tuned(0.15, -0.06, -0.04)
    gate, tuned = found.policies
    assert not any(row.beyond for row in rows(replace(found, share=0.05)))  # both keep to it, but for bursts
    found = replace(found, share=0.05, policies=[gate, replace(tuned, kind="today")], baseline="today")
    assert [row.beyond for row in rows(found)] == [False, True]
    assert "could not have been kept" in page.html(found)
    assert not any(row.beyond for row in rows(replace(found, share=0.1)))
    assert "could not have been kept" not in page.html(replace(found, share=0.1))


def test_warnings_and_what_is_beside_the_verdict_come_first():
    _, seen = read(page.html(REPLAYS["doubtful"]))
    words = (
        "Warning: gbm is never right.",
        "The gate would have cost",
        "Saved per",
        "Re-tuned is cheaper.",
        "Another.",
    )
    places = [seen.index(word) for word in words]
    assert places == sorted(places)
    assert seen.count("Re-tuned is cheaper.") == 1


def test_rows_that_were_left_out_are_said_at_the_top():
    _, seen = read(page.html(REPLAYS["number"]))
    assert "18,000 of 20,000 rows are counted, those after the first tenth; 12 rows of the log have no label." in seen
    assert "left out" not in page.html(REPLAYS["one"]).split("<script", 1)[0]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "A review costs 1 EUR, a mistake 5 EUR"),
        ({"stakes": True}, "a mistake what is at stake in the case"),
        ({"max_error": 20.0}, "a whole mistake, an error of 20 or more, 5 EUR"),
        ({"unit": "", "price": 1.0}, "A review costs 0.2 of a mistake"),
        ({"unit": "", "price": 1.0, "max_error": 20.0}, "0.2 of a whole mistake, an error of 20 or more"),
    ],
)
def test_prices_in_words(given, words):
    assert page.prices(replace(a_replay(), **given)).endswith(words)


def test_the_work_of_reviewers():
    gate = Policy("gate", "gate", 0.1, 0.5, 0.1, -0.1, -0.1, -0.1)
    tuned = Policy("tuned", "tuned", 0.2, 0.41, 0.1, None, None, None)
    found = replace(a_replay(), policies=[gate, tuned], scored_rows=18_000, days=90.0)
    sentence = "With the gate your reviewers see 50 of 100 counted cases instead of 41"
    assert page.reviews(found) == f"{sentence}; that is 100 a day instead of 82."
    assert sentence in read(page.html(found))[1]
    for days in (None, 0.5):
        assert page.reviews(replace(found, days=days)) == f"{sentence}."
    same = replace(found, policies=[gate, replace(tuned, reviewed=0.5)])
    assert page.reviews(same).endswith("50 of 100 counted cases, as many as with one threshold; that is 100 a day.")
    assert page.reviews(replace(found, policies=[gate])) is None
    assert "50 of 100 counted cases (mean of 4 gates) instead of 41;" in page.reviews(replace(found, runs=4))


def test_the_axis_of_thresholds_shows_where_they_are():
    def span(*values):
        return figures.span(figures.OverTime([0], [figures.Line("gate", "", list(values))], None))

    assert span(0.9982, None, 0.9992) == pytest.approx([0.9981, 0.9993])
    assert span(0.9, 0.9) == pytest.approx([0.85, 0.95])
    assert span(0.0, 1.0) == [0.0, 1.02]
    assert span(1.0) == [0.95, 1.0]
    assert span() == [0.0, 1.02]
    lines = [figures.Line("gate", "", [0.1, 0.9, 0.8])]
    for x, scored in (([0, 9, 10], 9), (["2026-01-01", "2026-01-02", "2026-01-03"], "2026-01-02")):
        assert figures.span(figures.OverTime(x, lines, scored)) == pytest.approx([0.79, 0.91])


def test_few_points_are_no_curve():
    found = figures.curves(figures.trade(REPLAYS["doubtful"]), figures.model_looks(["gbm", "logreg", "rules"]))
    modes = {trace["name"]: trace["mode"] for trace in found.figure["data"]}
    assert modes == {"gbm": "markers", "rules": "lines", "the gate": "markers"}
    assert {key.label: key.swatch for key in found.legend} == {"gbm": "dot", "rules": "line", "the gate": "point"}


def test_lines_over_time():
    shows = figures.prices(small())
    assert shows.x == [0, 3, 6, 10]
    assert shows.scored == 3
    assert [line.key for line in shows.lines] == ["gate", "tuned"]
    assert [line.y for line in shows.lines] == [
        pytest.approx([4.0, 3.0, 2.0, 1.0]),
        pytest.approx([1.0, 2.0, 3.0, 4.0]),
    ]
    *_, capacity = figures.reviews(small()).lines
    assert (capacity.key, capacity.y) == ("capacity", [0.5] * 4)
    assert [line.key for line in figures.reviews(replace(small(), share=None)).lines] == ["gate", "tuned"]
    assert [(line.label, line.y[0]) for line in figures.followed(small()).lines] == [("b", 0.75), ("a", 0.25)]
    assert figures.thresholds(small()).lines[0].y == [0.9, 0.8, 0.7, 0.1]
    assert [(line.label, line.y) for line in figures.answers(small()).lines] == [("a", [1.0, 0.5, 1.0, 1.0])]
    assert figures.answers(REPLAYS["one"]) is None


def test_pieces_are_put_together_by_their_rows(monkeypatch):
    monkeypatch.setattr(figures, "MOST_POINTS", 2)
    found = figures.coarse(small().timeline, 12)
    assert found.row == [0, 6]
    assert found.loss["gate"] == pytest.approx([0.35, (4 * 0.2 + 2 * 0.1) / 6])  # 3 and 3 rows, 4 and 2
    assert found.threshold == pytest.approx([0.85, 0.4])
    assert figures.prices(small()).scored == 3


def test_nothing_is_shown_where_the_gate_was_only_taught():
    """A warm start: the gate decides nothing there, and has NaN."""
    replay, nan = small(), float("nan")
    timeline = replace(
        replay.timeline, loss={"gate": [nan, nan, 0.2, 0.1], "tuned": [0.1] * 4}, threshold=[nan, nan, 0.7, 0.1],
        model={"a": [nan, nan, 0.25, 0.25], "b": [nan, nan, 0.75, 0.75]},
    )  # fmt: skip
    replay = replace(replay, timeline=timeline)
    gate, tuned = figures.prices(replay).lines
    assert gate.y == [None, None, pytest.approx(2.0), pytest.approx(1.0)]
    assert None not in tuned.y
    assert figures.thresholds(replay).lines[0].y == [None, None, 0.7, 0.1]
    assert figures.most_followed(replay) == ["b", "a"]
    reader, _ = read(page.html(replay))
    json.loads(reader.scripts[0], parse_constant=pytest.fail)  # NaN is no JSON


def test_a_point_half_of_which_is_unknown_shows_the_other_half(monkeypatch):
    monkeypatch.setattr(figures, "MOST_POINTS", 2)
    nan = float("nan")
    timeline = replace(small().timeline, loss={"gate": [nan, 0.3, nan, nan]}, threshold=[nan, 0.8, nan, nan])
    replay = replace(small(), timeline=timeline)
    assert figures.prices(replay).lines[0].y == [pytest.approx(3.0), None]
    assert figures.thresholds(replay).lines[0].y == [0.8, None]


def test_long_logs_have_few_points_and_short_ones_fewer():
    for rows_, pieces, points in ((1_000_000, 200, 60), (5_000, 200, 20), (300, 200, 12), (40, 7, 7)):
        shows = figures.prices(a_replay(rows=rows_, pieces=pieces))
        assert len(shows.x) == points == len(shows.lines[0].y)


def test_times():
    shows = figures.prices(REPLAYS["wins"])
    assert (shows.x[0], shows.scored) == ("2024-01-08 06:30:00", "2024-01-28 06:30:00")  # 20 days of 200
    assert figures.prices(replace(REPLAYS["wins"], first=0)).scored is None
    timeline = replace(small().timeline, time=["17", "18", "19", "20"])
    assert figures.prices(replace(small(), timeline=timeline)).x == [0, 3, 6, 10]  # no calendar knows these
    axis = {name: figures.lines(figures.prices(REPLAYS[name]), figures.POLICIES, {}).figure["layout"]["xaxis"]["type"]
            for name in ("wins", "loses")}  # fmt: skip
    assert axis == {"wins": "date", "loses": "linear"}


def test_many_models_are_put_together():
    shows = figures.followed(REPLAYS["many"])
    assert [line.label for line in shows.lines][-1] == "6 other models"
    assert len(shows.lines) == figures.MOST_AREAS + 1
    for values in zip(*(line.y for line in shows.lines), strict=True):
        assert sum(values) == pytest.approx(1.0)
    looks = figures.model_looks([str(k) for k in range(30)])
    assert len(set(looks.values())) == 31
    assert figures.POLICIES["gate"].colour not in {look.colour for look in looks.values()}
    assert len({look.dash for kind, look in figures.POLICIES.items() if kind in KINDS}) == 5


def test_one_model_has_no_figure_of_models():
    assert "models" not in [section.key for section in sections(REPLAYS["one"])]
    assert "One model answers" in page.html(REPLAYS["one"])


def test_the_trade_is_in_money():
    shows = figures.trade(small())
    assert shows.curves == [("b", [(1.0, 2.0)]), ("a", [(0.5, 1.0), (1.0, 3.0)])]
    assert shows.gate == (0.5, 2.0)
    last = figures.curves(shows, figures.model_looks(["a", "b"])).figure["data"][-1]
    assert (last["x"], last["y"], last["name"]) == ([50.0], [2.0], "the gate")


def test_mistakes_by_class():
    shows = figures.mistakes(small())
    assert shows == [("x", 4, 0.25, 0.5), ("y", 0, 0.0, 0.0)]
    both = figures.bars(shows, "decided", "today").figure["data"]
    assert both[0]["marker"] != both[1]["marker"]  # two bars that look alike tell nothing
    gate, tuned = figures.bars(shows).figure["data"]
    assert (gate["x"], tuned["x"]) == ([25.0, 0.0], [50.0, 0.0])
    assert tuned["customdata"][0] == "x, tuned once: 50.0 % of 4"
    assert "classes" not in [section.key for section in sections(REPLAYS["number"])]


def test_the_legend_has_an_entry_a_trace():
    for replay in REPLAYS.values():
        for section in sections(replay):
            assert len(section.drawn.legend) == len(section.drawn.figure["data"])


def test_bounds_in_the_report():
    """Where labels are missing, a price goes from the least to the largest, and no saving is on a tile."""
    gate, tuned = against_tuned(0.15, -0.06, 0.04).policies
    policies = [
        replace(gate, lowest=0.1, highest=0.2, share=None, most_mistakes=0.3),
        replace(tuned, lowest=0.15, highest=0.25),
    ]
    found = replace(against_tuned(0.15, -0.06, 0.04), policies=policies, left_out=500)
    one, other = rows(found)
    assert (one.price, other.price) == ("1.00 to 2.00", "1.50 to 2.50")
    assert (one.mistakes, other.mistakes) == ("10 to 30 %", "10 %")
    assert (one.difference, one.interval, one.money) == (f"{MINUS}0.60 to +0.40", "", "")
    _, seen = read(page.html(found))
    assert "Saved per" not in seen
    assert "500 rows of the log have no label" in seen
    assert '<span class="interval">' not in page.html(found)  # which would keep its width
    assert "your reviewers see" in seen
    assert "Where the saving came from" not in seen


def test_where_the_saving_came_from():
    parts = [Saved("11 March 2026", 100, 4.0), Saved("12 March 2026", 90, -1.0)]
    found = replace(a_replay(), saved=parts, baseline="today", lead="decided")
    assert "Where the saving came from" in read(page.html(replace(found, baseline="tuned", lead="gate")))[1]
    lost = [parts[0], replace(parts[1], saved=-5.0)]
    assert "Where the loss came from" in read(page.html(replace(found, saved=lost)))[1]
    drawn = figures.saved(found)
    assert [one["y"] for one in drawn.figure["data"]] == [[20.0, None], [None, -5.0]]
    assert [key.label for key in drawn.legend] == ["saved", "lost"]
    assert drawn.figure["layout"]["xaxis"]["ticktext"] == ["Mar 11", "Mar 12"]
    assert len(figures.saved(replace(found, saved=parts[:1])).legend) == 1
    assert "from 11 March 2026, 100 cases: 20" in drawn.figure["data"][0]["customdata"]
    axis = figures.saved(replace(found, saved=[Saved("row 1,151", 9, 1.0)])).figure["layout"]["xaxis"]
    assert (axis["ticktext"], axis["title"]["text"]) == (["1,151"], "row of the log")  # five "row 1,151" would overlap


def test_when_it_was_made_and_what_to_do_next():
    found = replace(a_replay(), period="1 March 2026 to 30 March 2026", next=["Let the gate watch first."])
    _, seen = read(page.html(found))
    assert "Replay of orders-2024.csv, 1 March 2026 to 30 March 2026. Made on " in seen
    assert f"with abstain {ab.__version__}" in seen
    assert seen.index("What to do next Let the gate watch first.") < seen.index("All policies")
    assert "What to do next" not in read(page.html(a_replay()))[1]


def test_what_one_types_is_code():
    steps = [
        'gate = abstain.load("gate.abstain"), then gate.peek(answers).',
        "Run it with --combine, or abstain serve.",
    ]
    text = page.html(replace(a_replay(), next=steps))
    found = re.findall(r"<code>(.*?)</code>", text[text.index('id="next"') : text.index('id="policies"')])
    load = "gate = abstain.load(&#34;gate.abstain&#34;)"
    assert found == [load, "gate.peek(answers)", "--combine", "abstain serve"]


def test_a_month_is_no_question_of_what_would_have_been():
    assert "What would a gate have saved?" in read(page.html(a_replay()))[1]
    assert "What was saved?" in read(page.html(replace(a_replay(), lead="decided")))[1]


def test_labels_of_an_audit_are_shares():
    seen = read(page.html(replace(a_replay(), labels="0.1,1")))[1]
    assert "labels that came backof 10 % of the answers and 100 % of the reviews" in seen


def test_the_retuned_threshold_is_in_the_headline():
    rival = Versus("retuned-own", "re-tuned", -0.01, -0.02, -0.005, -0.1, -0.2, -0.05)
    price, told = page.retuned(replace(a_replay(), rivals=[rival]))
    assert price.endswith(" EUR")
    assert told == "the gate: 10 % less (95 % interval: 5.0 % to 20 % less)"
    assert page.retuned(a_replay()) is None


def test_shares_are_written_as_in_the_text():
    """28 %, not 28%: on axes, below the pointer and in words."""
    drawn = {section.key: section.drawn.figure for section in sections(small())}
    assert {drawn[key]["layout"]["yaxis"]["ticksuffix"] for key in ("reviews", "models", "answers")} == {" %"}
    assert {drawn[key]["layout"]["xaxis"]["ticksuffix"] for key in ("curves", "classes")} == {" %"}
    assert drawn["reviews"]["data"][0]["y"] == [0.0, 10.0, 20.0, 30.0]
    assert drawn["models"]["layout"]["yaxis"]["range"] == [0.0, 100.0]
    assert drawn["thresholds"]["data"][0]["y"] == [0.9, 0.8, 0.7, 0.1]
    for replay in (one for one in REPLAYS.values() if one.capacity is None):
        assert not re.search(r"\d%", json.dumps([section.drawn.figure for section in sections(replay)]))


@pytest.mark.long
def test_no_two_parts_of_the_page_have_one_name():
    for replay in REPLAYS.values():
        reader, _ = read(page.html(replay))
        ids = [value for _, name, value in reader.attributes if name == "id"]
        assert len(set(ids)) == len(ids)


def test_other_review_prices():
    """What was decided keeps its reviews and its mistakes; only the fixed threshold is chosen again."""
    replay = replace(small(), share=None)
    found = page.what_if(replay)
    gate, tuned, own = found.policies
    assert (gate.name, tuned.name, own.name) == ("gate", replay.policies[4].name, "retuned-own")
    assert found.now == pytest.approx(2.0)  # a fifth of a mistake of 10
    for priced, policy in zip(found.policies, (replay.policies[3], *replay.policies[4:6]), strict=True):
        assert priced.at(found.now) == pytest.approx(policy.loss * 10.0)
        assert priced.at(3.0) == pytest.approx(policy.loss * 10.0 + policy.reviewed)
    # Model a answers half of the cases for 0.5 per case, or all for 3; b answers all for 2.
    assert found.fixed == [("b", 2.0, 0.0), ("a", pytest.approx(0.5), 0.5), ("", 0.0, 1.0)]
    assert found.most == 3 * found.steps
    assert found.digits == 0
    few = [replace(policy, reviewed=policy.reviewed / 1_000.0) for policy in replay.policies]
    assert page.what_if(replace(replay, policies=few)).digits > 0
    assert page.what_if(replace(replay, cost=0.5)).most == 2 * found.steps  # a review never costs more than a mistake


def test_the_cheapest_fixed_threshold_at_every_price():
    for replay in REPLAYS.values():
        found = page.what_if(replace(replay, share=None, left_out=0))
        points = [(c, r) for curve in replay.curves for c, r in zip(curve.coverage, curve.risk, strict=True)]
        for step in range(found.most + 1):
            review = found.now * step / found.steps
            best = min(review, *(replay.price * c * r + (1.0 - c) * review for c, r in points))
            assert min(one.at(review) for one in found.fixed) == pytest.approx(best)


@pytest.mark.parametrize("staked", [False, True])
@pytest.mark.usefixtures("no_page")
def test_at_its_own_price_the_best_fixed_threshold_is_the_hindsight_of_the_replay(staked, tmp_path):
    """Of a played log, every threshold that was tried is in the report, so nothing is estimated."""
    log = small_log(600).with_columns(amount=(pl.int_range(pl.len()) % 7 + 2) * 1.0)
    log.write_csv(tmp_path / "log.csv")
    prices = {"cost": None, "review_price": 1.0, "mistake_column": "amount"} if staked else {}
    replay = play(tmp_path / "log.csv", options(**prices), tmp_path / "out")
    found = page.what_if(replay)
    hindsight = next(one for one in replay.policies if one.kind == "hindsight")
    assert min(one.at(found.now) for one in found.fixed) == pytest.approx(hindsight.loss * replay.price)
    gate = next(one for one in replay.policies if one.kind == "gate")
    assert found.policies[0].at(found.now) == pytest.approx(gate.loss * replay.price)


def test_other_review_prices_are_shown_only_if_they_are_known():
    assert 'id="what-if" class="screen" hidden' in page.html(REPLAYS["wins"])  # the script shows it
    for replay in (
        REPLAYS["capacity"],
        replace(REPLAYS["wins"], left_out=3),
        replace(REPLAYS["wins"], effective=100.0),
        replace(REPLAYS["wins"], curves=[]),
        replace(REPLAYS["wins"], cost=0.0),
    ):
        assert page.what_if(replay) is None
        assert 'id="what-if"' not in page.html(replay)


@pytest.mark.long
def test_the_slider_in_a_browser(tmp_path):
    sync = pytest.importorskip("playwright.sync_api", reason="the slider is tested with Playwright, which is not here")
    if not CHROMIUM.exists():
        pytest.skip(f"the slider is tested with Chromium, and there is no {CHROMIUM}")
    replay = REPLAYS["wins"]
    found, path = page.what_if(replay), tmp_path / "report.html"
    page.write(replay, path)
    with sync.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page()
        wrong = []
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.goto(path.as_uri())
        slider = tab.get_by_label("Price of a review")
        slider.focus()
        for presses in (0, 5):
            for _ in range(presses):
                tab.keyboard.press("ArrowRight")
            review = found.now * (1.0 + presses / found.steps)
            assert slider.get_attribute("aria-valuetext") == page.plain_price(replay, review)
            cells = tab.locator("#what-if tbody td:nth-child(2)").all_inner_texts()
            costs = [*(one.at(review) for one in found.policies), min(one.at(review) for one in found.fixed)]
            assert cells == [f"{cost:.{found.decimals}f}" for cost in costs]
        assert f"the gate costs {cells[0]} EUR per case" in tab.locator("#what-if output").inner_text()
        browser.close()
        assert wrong == []


def test_every_dash_has_a_swatch():
    """A line that is dashed in a figure is dashed in its legend."""
    stacked = replace(small(), timeline=replace(small().timeline, loss={"stack": [0.1] * 4, "gate": [0.2] * 4}))
    text = page.html(stacked).split("Price over time", 1)[1].split("Reviews over time", 1)[0]
    assert 'stroke-dasharray="14 4 2.5 4"' in text
    assert text.count('stroke-dasharray="none"') == 1  # the gate


def test_axes_of_prices_begin_at_zero():
    drawn = {section.key: section.drawn.figure["layout"]["yaxis"] for section in sections(small())}
    assert {drawn[key]["rangemode"] for key in ("prices", "curves")} == {"tozero"}


def test_shares_below_each_other_have_the_same_decimals():
    for row in zip(*((one.mistakes, one.reviews) for one in rows(a_replay())), strict=True):
        assert len({cell.partition(".")[2] for cell in row}) == 1
    patterns = [key.pattern for key in figures.areas(figures.followed(small()), figures.model_looks(["a", "b"])).legend]
    assert len(set(patterns)) == len(patterns)  # areas can be told apart in grey


def test_without_prices_a_unit_is_a_mistake():
    _, seen = read(page.html(REPLAYS["loses"]))
    assert "Without prices, everything is counted in mistakes." in seen
    assert "mistakes more than one threshold" in seen

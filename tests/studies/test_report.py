"""The report: whole, by itself, and safe."""

import base64
import re
from html.parser import HTMLParser
from types import SimpleNamespace

import polars as pl
import pytest

from abstain.errors import FileError
from abstain.studies import claims, report
from abstain.studies.report import figures
from abstain.studies.report.numbers import finals
from abstain.studies.results import summary
from abstain.studies.spec import LearnerSpec, Study

from .frames import ORDERED, empty, grid, setting

NASTY = '<script>alert("x")</script> & "quotes" \'too\''
FACTS = {"versions": {"abstain": "1.2.3", "Python": "3.99"}}


class Reader(HTMLParser):
    """Collects tags and checks that they close in order."""

    VOID = ("meta", "br", "img", "circle", "path")

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.words = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)


def read(page):
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    return reader


@pytest.fixture
def drawn(tmp_path):
    """Two figures, the second of which has a large SVG."""
    found = []
    for number, size in ((7, 10), (2, figures.LARGEST_SVG + 1)):
        svg, png = tmp_path / f"{number}.svg", tmp_path / f"{number}.png"
        svg.write_bytes(b"<svg" + b" " * size + b"/>")
        png.write_bytes(b"\x89PNG" + bytes([number]))
        found.append(
            SimpleNamespace(number=number, title=f"T{number} {NASTY}", caption=f"C{number} {NASTY}", paths=(svg, png))
        )
    return found


def study(**values):
    learners = (LearnerSpec("UCB", "UCB"), LearnerSpec(NASTY, "UCBGT"))
    return Study(**{"name": "regret", "title": f"Title {NASTY}", "sets": ("synthetic",), "costs": (0.1, 0.2),
                    "learners": learners, "rounds": 12_345, "seed": 77, **values})  # fmt: skip


def everything(drawn):
    swapped = {**ORDERED, "UCB-NT": 0.4321}
    curves = pl.concat(
        [
            setting("regret", "eye", 0.1, {**ORDERED, "UCB-GT": 0.2}),
            setting("regret", NASTY, 0.2, {**swapped, "UCB-GT": 0.5}),
            setting("main", "eye", 0.1),
            grid("readings-balls", ("eye", "skin"), (0.1,), regrets=swapped),
        ]
    )
    verdicts = claims.judge(curves)
    facts = report.Facts(
        command="abstain reproduce all",
        made="yesterday",
        seconds=125.0,
        summary=summary(curves),
        readings=claims.breaks(curves, verdicts, {"readings-balls": f"Balls {NASTY}"}),
        missing=[f"cifar {NASTY}: run `abstain datasets get cifar`"],
        **FACTS,
    )
    return verdicts, drawn, [study()], facts


def test_all_is_there(drawn, tmp_path):
    verdicts, pictures, studies, facts = everything(drawn)
    path = report.write(tmp_path / "report.html", verdicts, pictures, studies, facts)
    page = path.read_text(encoding="utf-8")
    seen = " ".join("".join(read(page).words).split())
    for verdict in verdicts:
        assert verdict.claim in seen
        assert verdict.rule in seen
        assert verdict.numbers.replace("`", "") in seen
        assert all(str(failure) in seen for failure in verdict.fails_at)
    assert sum(len(verdict.fails_at) for verdict in verdicts) > 3
    order = [
        seen.index(word)
        for word in ("Claims", "Figure 2.", "Figure 7.", "Average regret R", "Balls", "12,345", "1.2.3")
    ]
    assert order == sorted(order)
    for word in (
        "0.4321",
        "holds in part",
        "2 min 5 s",
        "abstain reproduce all",
        "yesterday",
        "77",
        "synthetic: 0.1, 0.2",
    ):
        assert word in seen
    assert seen.count("eye, 0.1") == 1  # main and regret share their runs
    assert "<code>abstain datasets get cifar</code>" in page
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_it_needs_nothing_else(drawn):
    reader = read(report.page(*everything(drawn)))
    assert not {"script", "link", "iframe", "object", "base"} & set(reader.tags)
    loads = [value for _, name, value in reader.attributes if name in ("src", "href", "srcset", "data", "action")]
    assert len(loads) > 2
    assert all(value.startswith(("#", "data:image/")) for value in loads)
    assert not [name for _, name, _ in reader.attributes if name.startswith("on") or name == "style"]
    page = report.page(*everything(drawn))
    assert "url(" not in page
    assert "@import" not in page
    assert not re.search("https?://", page)


def test_anchors_lead_somewhere(drawn):
    attributes = read(report.page(*everything(drawn))).attributes
    ids = [value for _, name, value in attributes if name == "id"]
    assert len(set(ids)) == len(ids)
    assert {value[1:] for _, name, value in attributes if name == "href"} <= set(ids)


def test_names_are_escaped(drawn):
    page = report.page(*everything(drawn))
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 10
    assert "&amp;amp;" not in page


def test_images(drawn):
    attributes = read(report.page(*everything(drawn))).attributes
    sources = [value for tag, name, value in attributes if (tag, name) == ("img", "src")]
    kinds = [source.split(";")[0] for source in sources]
    assert kinds == ["data:image/png", "data:image/svg+xml"]  # by number; the large drawing as PNG
    assert base64.b64decode(sources[0].split(",")[1]) == b"\x89PNG\x02"
    assert all(value for tag, name, value in attributes if (tag, name) == ("img", "alt"))
    drawn[1].paths = drawn[1].paths[:1]
    assert "svg+xml" in figures.figure(drawn[1])  # nothing smaller is there
    drawn[1].paths[0].unlink()
    assert "not there" in figures.figure(drawn[1])


def test_it_opens_with_nothing():
    verdicts = claims.judge(empty())
    seen = "".join(read(report.page(verdicts, [], [], report.Facts(**FACTS))).words)
    for heading in ("Figures", "Final numbers", "Other readings", "Settings", "Missing"):
        assert heading not in seen
    assert f"{sum(verdict.verdict == 'not judged' for verdict in verdicts)} not judged" in seen


def test_verdicts_have_a_word_and_a_shape(drawn):
    page = report.page(*everything(drawn))
    shapes = dict(re.findall(r'<span class="verdict ([a-z-]+)"><svg[^>]*>(.*?)</svg>', page))
    assert set(shapes) == {"holds", "holds-in-part", "fails", "not-judged"}
    assert len(set(shapes.values())) == 4


def test_least_regret_is_bold_but_not_of_fs():
    table = report.page([], [], [], report.Facts(summary=summary(setting("regret", "eye", 0.1)), **FACTS))
    assert re.findall("<strong>(.*?)</strong>", table) == ["0.0200"]
    heads = re.findall('<th scope="col">(.*?)</th>', table)
    assert heads[heads.index("Set, cost") :][:5] == ["Set, cost", "UCB", "UCB-NT", "UCB-GT", "FS"]


def test_a_deviation_needs_several_expert_sets():
    pages = [
        report.page([], [], [], report.Facts(summary=summary(setting("regret", "eye", 0.1, spread=spread)), **FACTS))
        for spread in (0.0, 0.003)
    ]
    assert '<span class="sd">' not in pages[0]
    assert pages[1].count('<span class="sd"> ± 0.0042</span>') == 4
    loss = setting("regret", "eye", 0.1, {"UCB": -0.00001})
    assert "-0.0000" not in report.page([], [], [], report.Facts(summary=summary(loss), **FACTS))


def test_the_same_page_again(drawn):
    assert report.page(*everything(drawn)) == report.page(*everything(drawn))


def test_the_old_page_stays_when_the_new_cannot_be_made(drawn, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(AttributeError):
        report.write(path, *everything([None])[:3], None)
    assert path.read_text() == "old"
    with pytest.raises(FileError, match="cannot be written"):
        report.write(tmp_path / "no" / "report.html", *everything(drawn))


def test_versions():
    found = report.versions()
    assert {"abstain", "Python", "numpy", "numba", "platform"} <= set(found)
    assert all(found.values())


def test_how_often_exp3_is_below_ucb_gt():
    def table(**regrets):
        rows = [(learner, cost, regret) for learner, by_cost in regrets.items() for cost, regret in by_cost.items()]
        return pl.DataFrame(
            {
                "study": ["regret"] * len(rows),
                "dataset": ["guide"] * len(rows),
                "cost": [cost for _, cost, _ in rows],
                "learner": [learner.replace("_", "-") for learner, _, _ in rows],
                "t": [100] * len(rows),
                "regret": [regret for _, _, regret in rows],
                "regret_sd": [0.0] * len(rows),
            }
        )

    shown = finals(table(EXP3_ABS={0.1: 0.1, 0.2: 0.3, 0.3: 0.1}, UCB_GT={0.1: 0.2, 0.2: 0.2}), {})
    assert "EXP3-ABS has less than UCB-GT in 1 of 2 settings." in shown
    assert "EXP3-ABS has less" not in finals(table(EXP3_ABS={0.1: 0.1}), {})

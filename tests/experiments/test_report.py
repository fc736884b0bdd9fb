"""The report: whole, by itself, and safe."""

import base64
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from types import SimpleNamespace

import polars as pl
import pytest

from abstain._core.pages import environment
from abstain.errors import FileError, InputError
from abstain.experiments import Results, claims, registry, report
from abstain.experiments.curves import StudyCurves
from abstain.experiments.report import sections
from abstain.experiments.results import summary
from abstain.experiments.specs import LearnerSpec, SetSpec
from abstain.experiments.study import LearnerStudy
from abstain.paper import paper, readings

from .frames import ORDERED, empty, grid, rows, setting
from .small import tables

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
    for number, size in ((7, 10), (2, sections.LARGEST_SVG + 1)):
        svg, png = tmp_path / f"{number}.svg", tmp_path / f"{number}.png"
        svg.write_bytes(b"<svg" + b" " * size + b"/>")
        png.write_bytes(b"\x89PNG" + bytes([number]))
        found.append(
            SimpleNamespace(number=number, title=f"T{number} {NASTY}", caption=f"C{number} {NASTY}", paths=(svg, png))
        )
    return found


def study(**values):
    learners = (LearnerSpec("UCB", "UCB"), LearnerSpec(NASTY, "UCBGT"))
    return LearnerStudy(**{"name": "regret", "title": f"Title {NASTY}", "sets": ("synthetic",), "costs": (0.1, 0.2),
                    "learners": learners, "rounds": 12_345, "seed": 77, **values})  # fmt: skip


def section(found):
    return sections.Shown("readings", "Other readings", readings.html(found), None)


@cache
def judged():
    swapped = {**ORDERED, "UCB-NT": 0.4321}
    curves = pl.concat(
        [
            setting("regret", "eye", 0.1, {**ORDERED, "UCB-GT": 0.2}),
            setting("regret", NASTY, 0.2, {**swapped, "UCB-GT": 0.5}),
            setting("main", "eye", 0.1),
            grid("readings-balls", ("eye", "skin"), (0.1,), regrets=swapped),
        ]
    )
    balls = paper()["readings-balls"].replace(title=f"Balls {NASTY}")
    results = Results(curves, [*(paper()[name] for name in ("main", "regret")), balls])
    verdicts = claims.judge(results)
    return verdicts, report.show_sections(results, verdicts, []), summary(curves)


def everything(drawn):
    verdicts, shown, table = judged()
    facts = report.Facts(
        command="abstain reproduce all",
        made="yesterday",
        seconds=125.0,
        summary=table,
        sections=shown,
        missing=[f"cifar {NASTY}: run `abstain datasets get cifar`"],
        **FACTS,
    )
    studies = [study(), study(name="main", costs=(0.1,)), study(name="readings-balls", role="reading")]
    return verdicts, drawn, studies, facts


def test_all_is_there(drawn, tmp_path):
    verdicts, pictures, studies, facts = everything(drawn)
    path = report.write(tmp_path / "report.html", verdicts, pictures, studies, facts)
    page = path.read_text(encoding="utf-8")
    seen = " ".join("".join(read(page).words).split())
    for verdict in verdicts:
        assert verdict.claim in seen
        assert verdict.rule
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
    assert page.count("Final numbers of") == 1  # main and regret share their runs
    assert "<code>abstain datasets get cifar</code>" in page
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_the_page_is_dark_at_night_and_its_figures_can_be_read_on_a_phone(drawn, tmp_path):
    page = report.write(tmp_path / "report.html", *everything(drawn)).read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in page
    assert len(re.findall(r'<div class="drawing" tabindex="0" [^>]*><img', page)) == page.count("<img ") > 0
    assert re.search(r"\.drawing \{ overflow-x: auto;", page)
    assert not re.search(r"\d%<", page), "a per cent sign has a space before it"


def test_names_in_a_table_of_numbers_are_not_aligned_as_numbers():
    cells = [SimpleNamespace(text=text, strong=False, after="") for text in ("digits", "UCB", "0.3")]
    table = SimpleNamespace(heads=["set", "learner", "R_T / T"], bodies=[[cells]])
    templates = environment("abstain.experiments.report")
    templates.filters["pieces"] = str.split
    html = str(templates.get_template("pieces.html").module.numbers("Numbers", table))
    assert '<th scope="col" class="name">learner</th>' in html
    assert '<td class="name">UCB</td>' in html
    assert "<td>0.3</td>" in html


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


def test_every_table_is_in_a_box_of_its_own(drawn):
    """In which it scrolls, where it is wider than the page; those of words say their heads again where they stack."""
    page = report.page(*everything(drawn))
    boxes = re.findall(
        r'<div class="wide" tabindex="0" role="region" aria-label="[^"]+">\s*<table class="(\w+)">', page
    )
    assert len(boxes) == page.count("<table") > 5
    assert {"claims", "numbers", "readings", "studies", "run"} <= set(boxes)
    style = page.partition("<style>")[2].partition("</style>")[0]
    assert "attr(data-head)" in style
    shown = page.partition('<section id="studies">')[2].partition("</section>")[0]
    heads = re.findall('<th scope="col">(.*?)</th>', shown)
    assert re.findall('data-head="(.*?)"', shown) == 3 * heads[1:]  # of three studies


def test_images(drawn):
    attributes = read(report.page(*everything(drawn))).attributes
    sources = [value for tag, name, value in attributes if (tag, name) == ("img", "src")]
    kinds = [source.split(";")[0] for source in sources]
    assert kinds == ["data:image/png", "data:image/svg+xml"]  # by number; the large drawing as PNG
    assert base64.b64decode(sources[0].split(",")[1]) == b"\x89PNG\x02"
    assert all(value for tag, name, value in attributes if (tag, name) == ("img", "alt"))
    drawn[1].paths = drawn[1].paths[:1]
    assert "svg+xml" in sections.image(drawn[1].paths)  # nothing smaller is there
    drawn[1].paths[0].unlink()
    assert report.page(*everything(drawn)).count("The files of this figure are missing.") == 1


def test_it_opens_with_nothing():
    verdicts = claims.judge(Results(empty()))
    seen = "".join(read(report.page(verdicts, [], [], report.Facts(**FACTS))).words)
    for heading in ("Figures", "Final numbers", "Other readings", "Studies", "Missing"):
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

    both = table(EXP3_ABS={0.1: 0.1, 0.2: 0.3, 0.3: 0.1}, UCB_GT={0.1: 0.2, 0.2: 0.2})
    said = "EXP3-ABS has less than UCB-GT in 1 of 2 settings."
    assert said in report.page([], [], [], report.Facts(summary=both, **FACTS))
    alone = report.page([], [], [], report.Facts(summary=table(EXP3_ABS={0.1: 0.1}), **FACTS))
    assert "EXP3-ABS has less" not in alone


def script(name):
    return f"<script>{name}</script>"


def test_every_name_from_outside_is_escaped(tmp_path):
    """Each is there, once or more often, and never as markup."""
    learners = [script(f"learner {k}") for k in (1, 2)]
    place, title = script("set"), script("title")
    frame = pl.concat([rows(script("study"), place, 0.1, learner, 0.2, draw=k) for learner in learners for k in (0, 1)])
    played = LearnerStudy(
        script("study"), title=title, figure=script("figure"), costs=(0.1,),
        sets=(SetSpec(place, table=([[0.0], [1.0]], [-1, 1])),),
        learners=tuple(LearnerSpec(label, "UCBGT") for label in learners),
    )  # fmt: skip
    picture = SimpleNamespace(
        number=3, title=script("picture"), caption=script("caption"), paths=(tmp_path / "no.svg",)
    )
    failure = claims.Failure(place, 0.1, script("note"))
    verdict = claims.Verdict(
        number=1, claim=script("claim"), rule=script("rule"), verdict="fails", numbers=script("numbers"),
        fails_at=[failure], studies=(script("used"),),
    )  # fmt: skip
    sizes = (readings.Sizes(place, 0.1, None, {"UCB-NT": 0.3, "UCB-GT": 0.1}),)
    facts = report.Facts(
        command=script("command"), made=script("made"), parts=script("parts"), missing=[script("missing")],
        summary=summary(frame), tables=tables(frame, [played]), versions={script("package"): script("version")},
        curves=[StudyCurves(script("study"), script("curve"), script("below"), (tmp_path / "no.svg",))],
        sections=[section([readings.Reading("readings-x", script("reading"), [verdict], (1,), sizes)])],
        files=[report.DataFile(place, script("file"), 1, 1, 0.5, (script("odd"),))],
    )  # fmt: skip
    page = report.page([verdict], [picture], [played], facts)
    assert "<script" not in page.lower()
    assert "&amp;lt;" not in page  # nor escaped twice
    names = (
        "learner 1", "learner 2", "set", "title", "study", "figure", "picture", "caption", "claim", "numbers", "used",
        "rule", "note", "command", "made", "parts", "missing", "package", "version", "curve", "below", "reading",
        "file", "odd",
    )  # fmt: skip
    assert [name for name in names if f"&lt;script&gt;{name}&lt;/script&gt;" not in page] == []


def regrets(nt, gt):
    return {"UCB-NT": nt, "UCB-GT": gt}


def test_sizes_under_other_readings():
    sizes = (
        readings.Sizes("eye", 0.1, regrets(0.3, 0.1), regrets(0.2, 0.1)),
        readings.Sizes("eye", 0.2, regrets(0.5, 0.1), regrets(0.1, 0.2)),
        readings.Sizes("skin", 0.1, regrets(0.4, -0.1), regrets(0.3, 0.1)),
    )
    grid = readings.content([readings.Reading("readings-x", "x", [], (), sizes)])
    assert [[cell.text for cell in row] for body in grid.sizes[0].table.bodies for row in body] == [
        ["eye, 0.1", "0.3000", "0.2000", "0.1000", "0.1000", "0.33", "0.50"],
        ["eye, 0.2", "0.5000", "0.1000", "0.1000", "0.2000", "0.20", "2.00"],
        ["skin, 0.1", "0.4000", "0.3000", "-0.1000", "0.1000", "-0.25", "0.33"],
    ]
    assert len(grid.sizes[0].table.bodies) == 2  # one body per set
    assert [cell.text for cell in grid.medians.bodies[0][0]] == [
        "x", "0.4000", "0.2000", "0.1000", "0.1000", "0.20", "0.50", "2 of 3",
    ]  # fmt: skip
    alone = readings.content(
        [readings.Reading("readings-x", "x", [], (), (readings.Sizes("eye", 0.1, None, regrets(0.2, 0.1)),))]
    )
    assert [cell.text for cell in alone.medians.bodies[0][0]] == ["x", "", "0.2000", "", "0.1000", "", "0.50", "1 of 1"]
    assert readings.content([readings.Reading("readings-x", "x", [], ())]).medians is None


def test_long_tables_of_sizes_are_folded():
    def folds(n):
        sizes = tuple(readings.Sizes("eye", k / 100, None, regrets(0.2, 0.1)) for k in range(n))
        facts = report.Facts(sections=[section([readings.Reading("readings-x", "x", [], (), sizes)])], **FACTS)
        return re.findall(r"<details( open)?><summary>x:", report.page([], [], [], facts))

    assert (folds(12), folds(13)) == ([" open"], [""])


def test_claim_1_says_what_it_rests_on(drawn):
    verdicts, pictures, studies, facts = everything(drawn)
    page = report.page(verdicts, pictures, studies, facts)
    assert page.count("Empty rings act as experts that never abstain") == 1
    assert page.count('<a href="#readings">See below</a>') == 1
    without = report.page(verdicts, pictures, studies, replace(facts, sections=()))
    assert without.count("<code>abstain reproduce readings</code>") == 1
    assert "#readings" not in without
    assert "Empty rings" not in report.page(claims.judge(Results(empty())), [], [], facts)


def test_a_section_of_another_package(monkeypatch, tmp_path):
    """A registered section is shown; one that fails is reported and takes nothing with it."""
    (tmp_path / "my_sections.py").write_text(
        "from abstain.experiments import Section\n"
        "GOOD = Section(101, 'runs', 'Runs', lambda results, _: len(results.curves), '<p>{} rows</p>'.format, str)\n"
        "BAD = Section(102, 'bad', 'Bad', lambda results, _: 1 / 0, str, str)\n"
        "NONE = Section(103, 'none', 'None', lambda results, _: None, str, str)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    registry.register(registry.SECTIONS, "mine", "my_sections")
    failed = []
    (shown,) = report.show_sections(Results(setting("regret", "eye", 0.1)), [], failed)
    assert failed == ["Section Bad could not be drawn (ZeroDivisionError: division by zero)."]
    page = report.page([], [], [], report.Facts(sections=[shown], **FACTS))
    assert '<section id="runs">\n<h2>Runs</h2>\n<p>20 rows</p>' in page
    with pytest.raises(InputError, match="section 101: html: expected a function, got None"):
        report.Section(101, "runs", "Runs", len, None, len)

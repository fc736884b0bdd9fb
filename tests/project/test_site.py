"""The checks of the built site: they find what is wrong with pages, and nothing in pages that are right."""

from pathlib import Path

import pytest

from .test_docs import ROOT, hook

CHROMIUM = Path("/usr/bin/chromium")


def write(folder, name, title, text=""):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    head = '<meta name="description" content="About it" />'
    path.write_text(f"<html>{head}<article><h1>{title}</h1>{text}</article></html>", encoding="utf-8")


@pytest.fixture
def site(tmp_path):
    write(tmp_path, "index.html", "Start", '<a href="guide/first.html#here">first</a><img src="x.png" alt="A line" />')
    write(tmp_path, "guide/first.html", "First", '<p id="here"></p><a href="../index.html">back</a>')
    (tmp_path / "x.png").write_bytes(b"")
    return tmp_path


def test_a_good_site_has_no_faults(site):
    assert hook("crawl").faults(site) == []


@pytest.mark.parametrize(
    ("title", "text", "fault"),
    [
        ("Other", '<a href="gone.html">x</a>', "other.html: gone.html leads nowhere"),
        (
            "Other",
            '<a href="guide/first.html#gone">x</a>',
            "guide/first.html#gone leads to no place of guide/first.html",
        ),
        ("Other", '<img src="x.png" />', "expected words for the picture x.png"),
        ("Other", "<h1>Twice</h1>", "expected one title, got 2"),
        ("First", "", "guide/first.html and other.html are both called 'First'"),
        ("Other", "", "other.html: no text links it"),
    ],
)
def test_faults_are_found(site, title, text, fault):
    write(site, "other.html", title, text)
    if "no text" not in fault:
        index = site / "index.html"
        index.write_text(index.read_text().replace("</article>", '<a href="other.html">o</a></article>'))
    (found,) = hook("crawl").faults(site)
    assert fault in found


def test_a_page_without_a_description_is_found(site):
    path = site / "index.html"
    path.write_text(path.read_text().replace("About it", ""))
    assert hook("crawl").faults(site) == ["index.html: expected a description"]


def test_links_elsewhere_are_left_alone():
    target = hook("crawl").target
    assert target("a/b.html", "https://arxiv.org/abs/1") is None
    assert target("a/b.html", "mailto:x@example.org") is None
    assert target("a/b.html", "../c.html#d") == ("c.html", "d")
    assert target("a/b.html", "#d") == ("a/b.html", "d")


def test_what_opens_a_part_of_the_menu_has_a_name():
    menu = '<details><summary><span class="toctree-toggle" role="presentation">'
    assert hook("contents").with_names(menu).startswith('<details><summary aria-label="More pages"><span')


def test_a_description_is_the_first_paragraph_cut_after_a_word():
    nodes = pytest.importorskip("docutils.nodes")
    utils = pytest.importorskip("docutils.utils")
    page = utils.new_document("page")
    page += [nodes.paragraph(text="Short."), nodes.paragraph(text="many words " * 40)]
    words = hook("descriptions").first_words(page)
    assert words.startswith("many words many")
    assert words.endswith("words ...") or words.endswith("many ...")
    assert len(words) <= 204


def test_blocks_of_code_can_be_scrolled_by_keyboard():
    assert hook("breaks").scrollable('<div class="highlight"><pre>x') == '<div class="highlight"><pre tabindex="0">x'


def test_pictures_that_scroll_can_be_reached_by_keyboard():
    scrollable = hook("breaks").scrollable
    assert scrollable('<p><img alt="A" src="a/bias.svg"></p>').startswith('<p tabindex="0"><img')
    assert scrollable('<p><img alt="A" src="a/demo.svg"></p>').startswith("<p><img")


def test_the_next_page_is_named_with_a_place_to_break():
    context = {"body": "", "prev": None, "next": {"title": "abstain.DoublyRobust", "link": "x.html"}}
    hook("breaks").change(None, "page", "", context, None)
    assert context["next"] == {"title": "abstain.<wbr>DoublyRobust", "link": "x.html"}


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<p>0.3 to 2.4 % more</p><td>-1 %</td>", "<p>0.3 to 2.4&#160;% more</p><td>-1&#160;%</td>"),
        ("<td>+20.2 ± 0.6</td>", "<td>+20.2&#160;±&#160;0.6</td>"),
        ("<pre>5 % 2</pre><code>7 % 2</code>", "<pre>5 % 2</pre><code>7 % 2</code>"),
        (
            '<span class="formula"><svg>g</svg></span>, and V',
            '<span class="whole"><span class="formula"><svg>g</svg></span>,</span> and V',
        ),
        ('<span class="formula"><svg>g</svg></span> and, V', '<span class="formula"><svg>g</svg></span> and, V'),
    ],
)
def test_what_belongs_together_stays_on_one_line(page, expected):
    assert hook("breaks").whole(page) == expected


def test_on_a_phone_a_wide_table_scrolls_by_itself_and_its_first_column_stays():
    playwright = pytest.importorskip("playwright.sync_api")
    if not CHROMIUM.exists():
        pytest.skip(f"widths are measured with Chromium, and there is no {CHROMIUM}")
    cells = "".join(
        f"<td>{text}</td>" for text in ("conformal", "no", "by the size of the prediction set, or so " * 3) * 2
    )
    style = (ROOT / "docs" / "style" / "site.css").read_text(encoding="utf-8")
    table = f'<table class="table"><tbody><tr>{cells}</tr></tbody></table>'
    page = f'<style>{style}</style><body style="margin: 16px"><div style="overflow-x: auto">{table}</div>'
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page(viewport={"width": 390, "height": 800})
        tab.set_content(page)
        widths = tab.evaluate("[...document.querySelectorAll('td')].map(cell => cell.offsetWidth)")
        scrolls = tab.evaluate("(box => box.scrollWidth > box.clientWidth)(document.querySelector('div'))")
        tab.evaluate("document.querySelector('div').scrollLeft = 200")
        first = tab.evaluate("document.querySelector('td').getBoundingClientRect().left")
        whole = tab.evaluate("document.documentElement.scrollWidth")
        browser.close()
    assert min(widths[2], widths[5]) >= 150
    assert widths[1] < 60, "a narrow column stays narrow"
    assert scrolls
    assert first == 16
    assert whole <= 390

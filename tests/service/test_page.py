"""The page in a browser: it renders, escapes, asks before it changes anything, and can be used by keyboard alone."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import pytest

pytest.importorskip("fastapi", reason="the service needs abstain[service]")

from abstain.service.bodies import GateReply
from abstain.service.keys import new_key
from abstain.service.page import routes, views
from abstain.service.problems import GateStopped

from .serving import serving, sqlite

CHROMIUM = Path("/usr/bin/chromium")
HOSTILE = '<img src=x onerror="document.title=1">'
SCRIPT = "</script><script>document.title=1</script>"
MODELS = ["a", HOSTILE]
GATE = {"models": MODELS, "review_price": 1.0, "mistake_price": 5.0, "today": ["a", 0.8], "seed": 1}


def case(name: str, k: int = 0, **more) -> dict:
    said = {"answer": "x" if k % 3 else HOSTILE, "confidence": 0.5 + 0.49 * (k % 10) / 10}
    return {"case": name, "answers": {"a": said, HOSTILE: {"answer": "y", "confidence": 0.7}}, **more}


def fill(api, gate: str, cases: int = 130) -> None:
    """A gate that has decided some cases and knows most of their labels, and that has two reviews to do."""
    assert api.put(f"/v1/gates/{gate}", json=GATE).status_code == 201
    bodies = [case(f"c{k}", k) for k in range(cases)]
    assert api.post(f"/v1/gates/{gate}/decisions", json={"decisions": bodies}).status_code == 200
    labels = [{"case": f"c{k}", "label": "x"} for k in range(cases)]
    assert api.post(f"/v1/gates/{gate}/labels", json={"labels": labels}).status_code == 200
    assert api.post(f"/v1/gates/{gate}/mode", json={"mode": "paused"}).status_code == 200
    context = {"text": HOSTILE, SCRIPT: {"nested": [SCRIPT, None]}, "lines": "one\ntwo"}
    for name in ("first", f"{SCRIPT}/second ?#"):
        assert api.post(f"/v1/gates/{gate}/decisions", json=case(name, context=context)).json()["action"] == "review"
    assert api.post(f"/v1/gates/{gate}/mode", json={"mode": "live"}).status_code == 200


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with sqlite(tmp_path_factory.mktemp("store") / "gates.db") as store, serving(store) as client:
        fill(client, "g")
        yield client


@pytest.fixture(scope="module")
def browser():
    sync = pytest.importorskip("playwright.sync_api", reason="the page is tested with Playwright, which is not here")
    if not CHROMIUM.exists():
        pytest.skip(f"the page is tested with Chromium, and there is no {CHROMIUM}")
    with sync.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()


class Tab:
    """A tab, and what went wrong in it."""

    def __init__(self, browser, api, width: int = 1280, scheme: str = "light") -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.page.on("console", lambda one: self.wrong.append(one.text) if one.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda one: self.wrong.append(str(one)))
        self.page.on("dialog", lambda one: (self.wrong.append(one.message), one.dismiss()))
        self.page.on(
            "request", lambda one: None if one.url.startswith(str(api.base_url)) else self.wrong.append(one.url)
        )
        self.base = str(api.base_url).rstrip("/")

    def go(self, path: str) -> "Tab":
        self.page.goto(self.base + path)
        return self

    def wait(self, script: str) -> None:
        """Wait until something holds; Playwright's own waiting needs eval, which the page's policy forbids."""
        for _ in range(300):
            if self.page.evaluate(script):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(script)


@pytest.fixture
def tab(browser, api):
    tab = Tab(browser, api)
    yield tab
    tab.context.close()
    assert tab.wrong == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (768, "dark"), (390, "light"), (390, "dark")])
@pytest.mark.sample(1)
def test_pages_render_without_errors_and_fit(browser, api, width, scheme):
    tab = Tab(browser, api, width, scheme)
    for path in ("/ui", "/ui/gates/g", "/ui/gates/g?period=all", "/ui/gates/g/review", "/ui/login"):
        tab.go(path)
        if path.startswith("/ui/gates/g") and "review" not in path:
            tab.wait("document.querySelectorAll('#price .main-svg').length > 0")
            assert tab.page.locator("#price .trace").count() == 4  # the gate, today, each model alone
        wide = tab.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide == 0, path
        dark = tab.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 28)"
        assert dark == (scheme == "dark")
        assert tab.page.locator("main h1").count() == 1
        assert tab.page.locator("html[lang=en] header nav[aria-label]").count() == 1
        assert tab.page.locator("[aria-live=polite]").count() >= 1
        assert tab.page.locator("input:not([type=hidden])").evaluate_all("all => all.every(one => one.labels.length)")
    tab.context.close()
    assert tab.wrong == []


@pytest.mark.long
def test_markup_in_names_labels_and_context_stays_text(tab):
    for path in ("/ui", "/ui/gates/g", "/ui/gates/g/review", "/ui/gates/g/review?after=132"):
        tab.go(path)
        tab.page.wait_for_timeout(300)
        assert tab.page.title() != "1", path
        assert tab.page.locator("img").count() == 0
        assert tab.page.locator("script:not([src])").count() == 0
    assert HOSTILE in tab.go("/ui/gates/g/review").page.inner_text(".context")
    assert HOSTILE in tab.page.inner_text(".answers")
    tab.go("/ui/gates/g").wait("document.querySelectorAll('#price-legend li').length > 0")
    assert HOSTILE in tab.page.inner_text("#price-legend")


def test_reviews_are_labelled_by_keyboard_alone(tab, api):
    fill(api, "keys", 3)
    tab.go("/ui/gates/keys/review")
    assert tab.page.inner_text("h1") == "first"
    shown = tab.page.locator(".classes button").all_inner_texts()
    assert any("x" in text for text in shown)
    key = tab.page.locator(".classes button", has_text="x").last.get_attribute("data-key")
    tab.page.keyboard.press("n")  # skip ...
    tab.wait("document.querySelector('h1').textContent !== 'first'")
    tab.go("/ui/gates/keys/review")  # ... and back
    tab.page.keyboard.press(key)
    tab.wait("document.querySelector('h1').textContent !== 'first'")
    found = api.get("/v1/gates/keys/decisions/first").json()
    assert (found["label"], found["label_source"], found["state"]) == ("x", "review", "closed")
    assert tab.page.evaluate("document.activeElement.id") == "case-title"  # where a screen reader goes on
    assert "first: x" in tab.page.inner_text("#last")
    tab.page.keyboard.press("/")
    tab.page.keyboard.type("a new class")
    tab.page.keyboard.press("Enter")
    tab.wait("document.querySelector('h1').textContent === 'Nothing to review'")
    closed = api.get("/v1/gates/keys/reviews", params={"state": "closed"}).json()
    assert {one["case"]: one["label"] for one in closed}[f"{SCRIPT}/second ?#"] == "a new class"
    tab.page.keyboard.press("Backspace")  # that was wrong
    tab.wait("document.querySelector('h1').textContent.startsWith('Correct ')")
    tab.page.keyboard.press(tab.page.locator(".classes button", has_text="x").last.get_attribute("data-key"))
    tab.wait("document.querySelector('h1').textContent === 'Nothing to review'")
    corrected = api.get("/v1/gates/keys/reviews", params={"state": "closed", "after": found["seq"]}).json()[0]["case"]
    path = "/v1/gates/keys/decisions/" + quote(corrected, safe="")
    assert (api.get(path).json()["label"], api.get(path).json()["correction"]) == ("a new class", "x")
    api.delete("/v1/gates/keys")


def review(api, gate, settings, answers, cases=("one",)):
    """A paused gate with some cases to review."""
    assert api.put(
        f"/v1/gates/{gate}", json={"models": ["a", "b"], "cost": 0.2, "mode": "paused", **settings}
    ).is_success
    said = {model: {"answer": one, "confidence": 0.5} for model, one in zip("ab", answers, strict=True)}
    for name in cases:
        assert api.post(f"/v1/gates/{gate}/decisions", json={"case": name, "answers": said}).is_success


def type_label(tab, text):
    tab.page.keyboard.press("/")
    tab.page.keyboard.type(text)
    tab.page.keyboard.press("Enter")


def test_every_one_of_many_classes_can_be_chosen(tab, api):
    review(api, "many", {"classes": [f"c{k}" for k in range(40)]}, ("c35", "c36"))
    tab.go("/ui/gates/many/review")
    shown = tab.page.locator(".classes button").evaluate_all("all => all.map((one) => one.dataset.label)")
    assert shown[:3] == ['"c35"', '"c36"', '"c0"']
    assert len(shown) == views.MOST_CLASSES
    type_label(tab, "nothing")
    assert "none of the classes" in tab.page.inner_text("#review-error")
    tab.page.fill("#other input", "c39")
    tab.page.keyboard.press("Enter")
    tab.wait("document.querySelector('h1').textContent === 'Nothing to review'")
    assert api.get("/v1/gates/many/decisions/one").json()["label"] == "c39"
    api.delete("/v1/gates/many")


def test_a_typed_number_is_a_number_where_the_answers_are(tab, api):
    review(api, "digits", {}, (3, 4), ("one", "two"))
    tab.go("/ui/gates/digits/review")
    type_label(tab, "3")
    tab.wait("document.querySelector('h1').textContent === 'two'")
    type_label(tab, "7")
    tab.wait("document.querySelector('h1').textContent === 'Nothing to review'")
    labels = [api.get(f"/v1/gates/digits/decisions/{name}").json()["label"] for name in ("one", "two")]
    assert json.dumps(labels) == "[3, 7]"
    api.delete("/v1/gates/digits")


def test_a_case_that_somebody_else_has_labelled_makes_room_for_the_next(tab, api):
    review(api, "shared", {}, ("x", "y"), ("one", "two", ".."))
    tab.go("/ui/gates/shared/review")
    api.put("/v1/gates/shared/decisions/one/label", json={"label": "y"})
    tab.page.keyboard.press("x")
    tab.wait("document.querySelector('h1').textContent === 'two'")
    assert tab.page.inner_text("#review-error") == "one: somebody else has labelled it."
    tab.page.keyboard.press("n")
    tab.wait("document.querySelector('h1').textContent === '..'")
    assert tab.page.inner_text("#review-error") == ""
    tab.page.keyboard.press("x")
    tab.wait("document.querySelector('h1').textContent === 'Nothing to review'")
    assert ".." in [one["case"] for one in api.get("/v1/gates/shared/reviews?state=closed").json()]
    api.delete("/v1/gates/shared")


@pytest.mark.long
def test_the_mode_changes_only_after_a_confirmation(tab, api):
    fill(api, "modes", 3)
    page = tab.go("/ui/gates/modes").page
    page.get_by_role("button", name="Change mode").focus()
    page.keyboard.press("Enter")
    assert page.locator("dialog[open] h2").inner_text() == "Change the mode of modes"
    go = page.get_by_role("button", name="Switch mode")
    assert go.is_disabled()
    page.get_by_label("paused").check()
    assert "from live to paused?" in page.inner_text("dialog[open] .confirm")
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    assert api.get("/v1/gates/modes").json()["mode"] == "live"
    page.get_by_role("button", name="Change mode").click()
    page.keyboard.press("Enter")  # nothing is chosen yet: it does nothing
    assert page.locator("dialog[open]").count() == 1
    page.get_by_label("paused").check()
    page.keyboard.press("Enter")
    page.wait_for_selector("h1 .badge.paused")
    assert api.get("/v1/gates/modes").json()["mode"] == "paused"
    api.delete("/v1/gates/modes")


@pytest.mark.long
def test_prices_change_only_after_a_confirmation(tab, api):
    fill(api, "prices", 3)
    page = tab.go("/ui/gates/prices").page
    page.get_by_role("button", name="Change prices").click()
    go = page.locator("dialog[open]").get_by_role("button", name="Change prices")
    assert go.is_disabled()
    page.get_by_label("Price of a review").fill("2")
    assert page.inner_text("dialog[open] .confirm").startswith("Price of a review: from 1 to 2.")
    go.click()
    page.wait_for_selector('[name=review_price][data-was="2.0"]', state="attached")
    assert api.get("/v1/gates/prices").json()["settings"]["review_price"] == 2.0
    page.get_by_role("button", name="Change prices").click()
    page.get_by_label("Price of a review").fill("9")
    go.click()
    page.wait_for_selector("dialog[open] .error:not(:empty)")
    assert "review_price" in page.inner_text("dialog[open] .error")  # more than a mistake
    assert [text for text in tab.wrong if "422" not in text] == []
    tab.wrong.clear()
    api.delete("/v1/gates/prices")


@pytest.mark.long
def test_numbers_move_by_themselves(tab, api):
    fill(api, "moves", 3)
    tab.go("/ui/gates/moves")
    api.post("/v1/gates/moves/decisions", json={"decisions": [case(f"d{k}", k) for k in range(20)]})
    before = tab.page.inner_text("#live-counts dd")
    tab.wait(f"document.querySelector('#live-counts dd').textContent !== '{before}'")
    api.delete("/v1/gates/moves")


@pytest.mark.long
def test_a_key_is_asked_for_and_kept_out_of_reach_of_scripts(browser, tmp_path):
    with sqlite(tmp_path / "gates.db") as store:
        admin, record = new_key(["admin"])
        store.add_key(record)
        reader, record = new_key(["read"], gate="mine")
        store.add_key(record)
        with serving(store, keys_required=True) as api:
            api.headers["authorization"] = f"Bearer {admin}"
            for name in ("mine", "other"):
                assert api.put(f"/v1/gates/{name}", json=GATE).status_code == 201
            del api.headers["authorization"]
            assert api.get("/ui").headers["location"] == "/ui/login?next=/ui"
            tab = Tab(browser, api).go("/ui/gates/mine")
            tab.page.get_by_label("API key").fill("abk_wrong")
            tab.page.keyboard.press("Enter")
            tab.page.wait_for_selector("#wrong")
            tab.wrong.clear()  # the browser's own word on 401
            tab.page.get_by_label("API key").fill(reader)
            tab.page.keyboard.press("Enter")
            tab.page.wait_for_url("**/ui/gates/mine")
            cookie = tab.context.cookies()[0]
            assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
            assert tab.page.get_by_role("button", name="Change mode").count() == 0  # the key may only read
            assert "needs the scope review" in tab.go("/ui/gates/mine/review").page.inner_text("main") or (
                "Nothing to review" in tab.page.inner_text("main")
            )
            tab.go("/ui")
            assert tab.page.locator(".card").count() == 1  # not the other gate
            tab.page.get_by_role("button", name="Log out").click()
            tab.page.wait_for_url("**/ui/login")
            assert tab.context.cookies() == []
            assert tab.wrong == []
            tab.context.close()


# Without a browser.


def test_every_reply_forbids_scripts_from_elsewhere(api):
    for path in ("/ui", "/ui/gates/g", "/ui/gates/g/review", "/ui/login", "/ui/static/page.js", "/ui/gates/none"):
        policy = api.get(path).headers["content-security-policy"]
        assert policy == routes.POLICY
        assert "unsafe" not in policy


def test_nothing_comes_from_a_network():
    folder = Path(routes.__file__).parent
    files = [*folder.glob("static/*"), *folder.glob("templates/*")]
    assert len(files) > 10
    for path in files:
        found = re.findall(r"https?://[^\"'\s)]+|@import|url\(", path.read_text())
        assert [one for one in found if "www.w3.org" not in one] == [], path.name
        assert not re.search(r"<script(?![^>]* src=)|\son\w+=|\sstyle=", path.read_text()) or path.suffix == ".js", (
            path.name
        )


def test_static_files_are_packed_and_known_by_their_tag(api):
    reply = api.get("/ui/static/plotly.js")
    assert reply.headers["content-encoding"] == "gzip"
    assert api.get("/ui/static/plotly.js", headers={"if-none-match": reply.headers["etag"]}).status_code == 304
    assert api.get("/ui/static/..%2froutes.py").status_code == 404


def test_the_form_leads_nowhere_else(api):
    for target in ("https://example.org", "//example.org", "/ui//example.org", "/\\example.org", "/v1/gates"):
        reply = api.post("/ui/login", data={"next": target, "key": "x"})
        assert reply.headers["location"] == "/ui"
    assert api.post("/ui/login", data={"next": "/ui/gates/g"}).headers["location"] == "/ui/gates/g"


def test_behind_a_proxy_with_tls_the_cookie_is_secure(api):
    for header, secure in (({}, False), ({"x-forwarded-proto": "https"}, True)):
        reply = api.post("/ui/login", data={"key": "x"}, headers=header)
        assert ("Secure" in reply.headers["set-cookie"]) is secure


def test_a_page_of_another_site_cannot_use_the_page(api):
    label = {"label": "x", "source": "review"}
    path = "/v1/gates/g/decisions/first/label"
    assert api.put(path, json=label, headers={"origin": "https://example.org"}).status_code == 403
    assert api.put(path, json=label, headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert api.get("/ui", headers={"host": "rebound.example.org"}).status_code == 400


def test_a_gate_that_is_not_there_is_a_page(api):
    reply = api.get("/ui/gates/none")
    assert reply.status_code == 404
    assert "text/html" in reply.headers["content-type"]
    assert "Not found" in reply.text


def test_a_gate_that_cannot_be_read_hides_no_others(api, monkeypatch):
    async def broken(name):
        raise GateStopped(f"gate {name!r} is stopped")

    monkeypatch.setattr(api.service, "health", broken)
    reply = api.get("/ui")
    assert reply.status_code == 200
    assert "/ui/gates/g" in reply.text
    assert "Not all of its numbers can be shown" in reply.text


def test_an_unexpected_error_of_one_gate_leaves_the_others_on_the_page(tmp_path, monkeypatch, caplog):
    async def savings_of(service, name, **rest):
        if name == "broken":
            raise ZeroDivisionError("of no case")
        return await measured(service, name, **rest)

    measured = routes.savings_of
    monkeypatch.setattr(routes, "savings_of", savings_of)
    with sqlite(tmp_path / "gates.db") as store, serving(store) as client:
        for name in ("broken", "fine"):
            assert client.put(f"/v1/gates/{name}", json=GATE).status_code == 201
        reply = client.get("/ui")
    assert reply.status_code == 200
    broken, fine = reply.text.split("/ui/gates/broken")[1].split("/ui/gates/fine")
    assert "Not all of its numbers can be shown" in broken
    assert "can be shown" not in fine
    assert "Prices and savings are those of the last 30 days" in reply.text
    logged = [one for one in caplog.records if one.message == "gate not shown"]
    assert [(one.fields["gate"], one.exc_info[0]) for one in logged] == [("broken", ZeroDivisionError)]


def test_a_gate_that_was_stopped_says_why():
    state = f"stopped: event 17 decided {HOSTILE}"
    gate = GateReply(name="g", settings=GATE, mode="live", state=state, created=0.0, seq=17, decided=1, open=0)
    text = routes.page("stopped.html", gate=gate, has_key=False).body.decode()
    assert "stopped: event 17 decided &lt;img" in text
    assert "abstain gates accept g" in text


def test_keys_of_classes_do_not_collide():
    many = views.keys_of([f"class {k}" for k in range(50)])
    assert len({key for key in many if key}) == len([key for key in many if key])
    assert "n" not in many
    assert views.keys_of(["n", "y"]) == ["1", "2"]
    assert views.keys_of([1, 1.0, "1"]) == ["1", "2", "3"]


def test_savings_are_in_the_interface(api):
    found = api.get("/v1/gates/g/savings", params={"model": "a", "threshold": 0.9}).json()
    assert found["baseline"]["model"] == "a"
    assert found["cases"] == 130
    assert json.dumps(found)


def test_lines_differ_in_their_dashes_too():
    """Not everybody can tell the colours of models apart."""
    models = ["a", "b", "c", "d", "e"]
    rows = [SimpleNamespace(kind="always", name=f"{name} alone", model=name, price=1.0) for name in models]
    rows += [SimpleNamespace(kind=kind, name=kind, model="a", price=1.0) for kind in ("gate", "today")]
    over = SimpleNamespace(at=[0.0], price={row.name: [1.0] for row in rows}, reviewed=[], followed={}, threshold=[])
    shown = views.figures(SimpleNamespace(policies=rows, over_time=over), {}, models)["price"]
    dashes = {line["name"]: line["dash"] for line in shown}
    assert len({dashes[f"{name} alone"] for name in models} | {dashes["today: today"]}) == 6
    assert dashes["gate"] == "solid"

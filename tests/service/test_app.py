import json
import logging
import re
import socket

import httpx
import pytest

from abstain.service.keys import new_key

from .serving import GATE, case, serving, sqlite

DECISION = {
    "case", "action", "answer", "model", "threshold", "probability", "explored", "over_capacity", "mode", "replayed"
}  # fmt: skip


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with sqlite(tmp_path_factory.mktemp("store") / "gates.db") as store, serving(store) as client:
        yield client


@pytest.fixture
def gate(api, request):
    """The path of a new gate."""
    path = "/v1/gates/" + re.sub(r"[^A-Za-z0-9]+", "-", request.node.name)[-60:].strip("-")
    assert api.put(path, json=GATE).status_code == 201
    yield path
    api.delete(path)


def problem(reply: httpx.Response, status: int, *paths: str) -> dict:
    assert reply.status_code == status, reply.text
    assert reply.headers["content-type"] == "application/problem+json"
    body = reply.json()
    assert set(body) == {"type", "title", "status", "detail", "errors"}
    assert body["status"] == status
    assert body["detail"]
    assert [error["path"] for error in body["errors"]] == list(paths)
    return body


def test_the_smallest_bodies_create_decide_and_label(api):
    created = api.put("/v1/gates/g", json={"models": ["a", "b"], "cost": 0.2})
    assert created.status_code == 201
    body = {"case": "c1", "answers": {"a": {"answer": "x", "confidence": 0.9}, "b": None}}
    decided = api.post("/v1/gates/g/decisions", json=body)
    assert decided.status_code == 200
    assert set(decided.json()) == DECISION
    assert decided.json()["case"] == "c1"
    assert decided.json()["replayed"] is False
    label = {"label": "x", "source": "outcome" if decided.json()["action"] == "answer" else "review"}
    learnt = api.put("/v1/gates/g/decisions/c1/label", json=label)
    assert (learnt.status_code, learnt.json()) == (200, {"status": "learnt"})
    assert api.put("/v1/gates/g/decisions/c1/label", json=label).json()["status"] == "duplicate"
    assert api.delete("/v1/gates/g").status_code == 204
    problem(api.get("/v1/gates/g"), 404)


def test_the_same_gate_again_changes_nothing_and_a_new_price_changes_it(api, gate):
    before = api.get(gate).json()
    again = api.put(gate, json=GATE)
    assert again.status_code == 200
    assert again.json() == before
    changed = api.put(gate, json={**GATE, "cost": 0.3})
    assert changed.status_code == 200
    assert changed.json()["settings"]["cost"] == 0.3


def test_a_setting_that_cannot_change_is_a_conflict_with_its_path(api, gate):
    problem(api.put(gate, json={**GATE, "seed": 2}), 409, "seed")


def test_all_gates_are_listed(api, gate):
    assert gate.rpartition("/")[2] in [row["name"] for row in api.get("/v1/gates").json()]


def test_the_same_case_is_replayed_and_another_payload_is_a_conflict(api, gate):
    first = api.post(f"{gate}/decisions", json=case("c")).json()
    again = api.post(f"{gate}/decisions", json=case("c")).json()
    assert again == {**first, "replayed": True}
    problem(api.post(f"{gate}/decisions", json=case("c", 0.5)), 409)


def test_another_label_is_a_conflict_and_a_correction_is_kept(api, gate):
    api.post(f"{gate}/decisions", json=case("c"))
    assert api.put(f"{gate}/decisions/c/label", json={"label": "x"}).json()["status"] == "learnt"
    problem(api.put(f"{gate}/decisions/c/label", json={"label": "y"}), 409, "label")
    corrected = api.put(f"{gate}/decisions/c/label", json={"label": "y", "correction": True})
    assert corrected.json()["status"] == "corrected"
    found = api.get(f"{gate}/decisions/c").json()
    assert (found["state"], found["label"], found["correction"]) == ("closed", "x", "y")


def test_a_label_of_an_unknown_case_is_held(api, gate):
    held = api.put(f"{gate}/decisions/later/label", json={"label": "x"})
    assert (held.status_code, held.json()["status"]) == (202, "unknown")
    api.post(f"{gate}/decisions", json=case("later"))
    assert api.get(f"{gate}/decisions/later").json()["label"] == "x"


def test_many_decisions_and_labels_have_one_row_each(api, gate):
    rows = [case("a"), case("b"), case("a", 0.1)]
    decided = api.post(f"{gate}/decisions", json={"decisions": rows}).json()["decisions"]
    assert [set(row) == DECISION for row in decided] == [True, True, False]
    assert (decided[2]["status"], decided[2]["case"]) == (409, "a")
    labels = [{"case": name, "label": "x"} for name in ("a", "a", "nobody")] + [{"case": "a", "label": "y"}]
    reply = api.post(f"{gate}/labels", json={"labels": labels}).json()
    assert [row["status"] for row in reply["labels"]] == ["learnt", "duplicate", "unknown", "conflict"]
    assert reply["counts"] == {"learnt": 1, "duplicate": 1, "unknown": 1, "conflict": 1}


@pytest.mark.parametrize("name", ["a/b", "%2F", "a b?c#d", "..", "ümlaut-€-\U0001f600", "x/label", "'\"<script>"])
def test_a_case_id_may_be_any_text(api, gate, name):
    decided = api.post(f"{gate}/decisions", json=case(name))
    assert decided.json()["case"] == name
    quoted = "".join(f"%{byte:02X}" for byte in name.encode())
    assert api.get(f"{gate}/decisions/{quoted}").json()["case"] == name
    assert api.put(f"{gate}/decisions/{quoted}/label", json={"label": "x"}).json()["status"] == "learnt"


def test_paused_sends_everything_to_review_and_shadow_returns_the_baseline(api, gate):
    assert api.post(f"{gate}/mode", json={"mode": "paused"}).json()["mode"] == "paused"
    paused = api.post(f"{gate}/decisions", json=case("p")).json()
    assert (paused["action"], paused["model"], paused["mode"]) == ("review", None, "paused")
    assert api.post(f"{gate}/mode", json={"mode": "shadow"}).json()["mode"] == "shadow"
    problem(api.post(f"{gate}/decisions", json=case("s")), 422, "baseline")
    baseline = {"action": "answer", "model": "a", "probability": 1.0}
    shadow = api.post(f"{gate}/decisions", json={**case("s"), "baseline": baseline}).json()
    assert (shadow["action"], shadow["answer"], shadow["mode"]) == ("answer", "x", "shadow")


def test_open_reviews_come_oldest_first_with_their_context(api, gate):
    api.post(f"{gate}/mode", json={"mode": "paused"})
    for name in ("r1", "r2", "r3"):
        api.post(f"{gate}/decisions", json={**case(name), "context": {"text": f"about {name}"}})
    api.put(f"{gate}/decisions/r2/label", json={"label": "x", "source": "review"})
    found = api.get(f"{gate}/reviews", params={"state": "open"}).json()
    assert [row["case"] for row in found] == ["r1", "r3"]
    assert found[0]["context"] == {"text": "about r1"}
    after = api.get(f"{gate}/reviews", params={"after": found[0]["seq"], "limit": 1}).json()
    assert [row["case"] for row in after] == ["r3"]
    assert [row["case"] for row in api.get(f"{gate}/reviews", params={"state": "closed"}).json()] == ["r2"]


@pytest.mark.long
def test_events_are_lines_in_their_order(api, gate):
    api.post(f"{gate}/decisions", json={"decisions": [case(f"c{i}") for i in range(1, 1000)]})
    api.post(f"{gate}/decisions", json={"decisions": [case(f"d{i}") for i in range(200)]})
    reply = api.get(f"{gate}/events")
    assert reply.headers["content-type"].startswith("application/x-ndjson")
    events = [json.loads(line) for line in reply.text.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert sum(event["kind"] == "decided" for event in events) == 1199
    later = [json.loads(line) for line in api.get(f"{gate}/events?after=5&limit=3").text.splitlines()]
    assert [event["seq"] for event in later] == [6, 7, 8]


def test_policy_health_and_savings_are_json_without_nan(api, gate):
    api.post(f"{gate}/decisions", json={"decisions": [case(f"c{i}") for i in range(50)]})
    api.post(f"{gate}/labels", json={"labels": [{"case": f"c{i}", "label": "x"} for i in range(50)]})
    for what in ("policy", "health", "savings", "savings?model=a&threshold=0.5"):
        reply = api.get(f"{gate}/{what}")
        assert reply.status_code == 200, reply.text
        json.loads(reply.text, parse_constant=pytest.fail)
    problem(api.get(f"{gate}/savings?model=a"), 422, "threshold")
    assert api.get(f"{gate}/savings?model=nobody&threshold=0.5").status_code == 422


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"answers": {}}, "case"),
        ({"case": "", "answers": {}}, "case"),
        ({"case": "c", "answers": {"a": {"answer": "x", "confidence": 2}}}, "answers.a.confidence"),
        ({"case": "c", "answers": {"a": {"answer": "x", "confidence": "0.5"}}}, "answers.a.confidence"),
        ({"case": "c", "answers": {"a": None}, "else": 1}, "else"),
        ({"decisions": [case("c"), {"case": "d"}]}, "decisions.1.answers"),
        ({"decisions": []}, "decisions"),
    ],
)
def test_a_wrong_field_is_named_by_its_path(api, gate, body, path):
    problem(api.post(f"{gate}/decisions", json=body), 422, path)
    assert api.get(gate).json()["decided"] == 0


@pytest.mark.parametrize(
    ("setting", "path", "message"),
    [
        ({"capacity": -0.1}, "capacity", "a share in [0, 1]"),
        ({"capacity": {"share": 0.1, "per_day": 5}}, "capacity", "either a share or a number per_day"),
        ({"today": ["a", 7]}, "today", "a threshold from -1 to 1"),
        ({"start": [1, 0.5]}, "start", "a threshold from -1 to 1"),
        ({"window": "x"}, "window", "expected seconds, or a span such as"),
        ({"window": "0 days"}, "window", "got '0 days'"),
        ({"window": "14"}, "window", "got '14'"),
    ],
)
def test_a_wrong_setting_is_named_by_its_path(api, setting, path, message):
    [error] = problem(api.put("/v1/gates/wrong", json={**GATE, **setting}), 422, path)["errors"]
    assert message in error["message"]


def test_a_list_in_place_of_a_body_is_told_so(api, gate):
    [error] = problem(api.post(f"{gate}/decisions", json=[]), 422, "")["errors"]
    assert error["message"] == "expected an object, got []"


def test_a_gate_needs_models_and_a_name_that_can_be_written(api):
    assert api.put("/v1/gates/h", json={"cost": 0.2}).status_code == 422
    problem(api.put("/v1/gates/-h", json=GATE), 422, "gate")
    problem(api.put(f"/v1/gates/{'h' * 65}", json=GATE), 422, "gate")
    problem(api.put("/v1/gates/a%2Fb", json=GATE), 422, "gate")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""), ("DELETE", ""), ("POST", "/decisions"), ("GET", "/decisions/c"), ("PUT", "/decisions/c/label"),
        ("POST", "/labels"), ("GET", "/reviews"), ("POST", "/mode"), ("GET", "/events"), ("GET", "/policy"),
        ("GET", "/health"), ("GET", "/savings"),
    ],
)  # fmt: skip
def test_every_path_of_an_unknown_gate_is_not_found(api, method, path):
    bodies = {
        "/decisions": case("c"), "/decisions/c/label": {"label": "x"}, "/mode": {"mode": "live"},
        "/labels": {"labels": [{"case": "c", "label": "x"}]},
    }  # fmt: skip
    body = bodies.get(path) if method in ("POST", "PUT") else None
    problem(api.request(method, f"/v1/gates/nobody{path}", json=body), 404)


def test_unknown_paths_and_methods_are_problems(api, gate):
    problem(api.get("/v2"), 404)
    problem(api.get(f"{gate}/decisions/c/label/x"), 404)
    problem(api.get(f"{gate}/"), 404)
    problem(api.get(f"{gate}/decisions/unknown"), 404)
    refused = api.patch(gate)
    problem(refused, 405)
    assert refused.headers["allow"] == "DELETE, GET, PUT"


def test_health_readiness_metrics_and_the_document_answer(api, gate):
    api.post(f"{gate}/decisions", json=case("c"))
    api.put(f"{gate}/decisions/c/label", json={"label": "x"})
    assert api.get("/healthz").json() == {"status": "ok"}
    assert api.get("/readyz").json() == {"status": "ready"}
    document = api.get("/openapi.json").json()
    assert "/v1/gates/{gate}/decisions/{case}/label" in document["paths"]
    text = api.get("/metrics").text
    name = gate.rpartition("/")[2]
    for metric in (
        "decisions_total", "labels_total", "price_total", "reviewed_share", "open_reviews", "pending_labels", "alarms",
        "gate_running",
    ):  # fmt: skip
        assert any(line.startswith(f"abstain_{metric}{{") and f'gate="{name}"' in line for line in text.split("\n")), (
            metric
        )
    for metric in ("commit_seconds_count", "http_requests_total", "ready 1.0", "commits_total"):
        assert f"\nabstain_{metric}" in text


def test_a_request_id_is_kept_or_made_and_logged_with_the_case(api, gate, caplog):
    with caplog.at_level(logging.INFO, logger="abstain.service"):
        named = api.post(f"{gate}/decisions", json=case("logged"), headers={"X-Request-ID": "mine-1"})
        made = api.get("/healthz", headers={"X-Request-ID": "bad id\x7f"})
    assert named.headers["x-request-id"] == "mine-1"
    assert len(made.headers["x-request-id"]) == 16
    fields = [record.fields for record in caplog.records if getattr(record, "fields", {}).get("request_id") == "mine-1"]
    assert fields[0]["case"] == "logged"
    assert fields[0]["status"] == 200


def test_other_hosts_and_pages_of_other_sites_are_refused(api, gate):
    problem(api.get("/healthz", headers={"Host": "evil.example"}), 400)
    problem(api.get("/healthz", headers={"Host": "127.0.0.1.evil.example"}), 400)
    problem(api.delete(gate, headers={"Origin": "http://evil.example"}), 403)
    problem(api.delete(gate, headers={"Sec-Fetch-Site": "cross-site"}), 403)
    own = str(api.base_url).rstrip("/")
    assert api.put(gate, json=GATE, headers={"Origin": own, "Sec-Fetch-Site": "same-origin"}).status_code == 200


def test_errors_nobody_expected_show_nothing_of_the_inside(api, gate, monkeypatch):
    async def broken(name):
        raise RuntimeError("secret")

    monkeypatch.setattr(api.service, "health", broken)
    reply = api.get(f"{gate}/health")
    assert "secret" not in json.dumps(problem(reply, 500))
    assert reply.headers["x-request-id"] in reply.text


def test_a_service_that_starts_is_not_ready(api, gate, monkeypatch):
    monkeypatch.setattr(api.service, "ready", False)
    for path in ("/readyz", gate, "/v1/gates"):
        reply = api.get(path)
        problem(reply, 503)
        assert reply.headers["retry-after"] == "1"
    assert api.get("/healthz").status_code == 200


# Keys.


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    """A server whose store has keys for gates g and h, by what they are for."""
    with sqlite(tmp_path_factory.mktemp("keys") / "gates.db") as store:
        keys = {}
        for name, scopes, gate in (
            ("admin", ["admin"], "*"), ("read", ["read"], "g"), ("review", ["review"], "g"),
            ("decide", ["decide"], "g"), ("other", ["admin"], "h"), ("revoked", ["admin"], "*"), ("watch", ["read"],
            "*"),
        ):  # fmt: skip
            keys[name], record = new_key(scopes, gate=gate, name=name)
            store.add_key(record)
            if name == "revoked":
                store.revoke_key(record.id, 1.0)
        with serving(store) as client:
            headers = {name: {"Authorization": f"Bearer {key}"} for name, key in keys.items()}
            assert client.put("/v1/gates/g", json=GATE, headers=headers["admin"]).status_code == 201
            assert client.put("/v1/gates/h", json=GATE, headers=headers["other"]).status_code == 201
            client.post("/v1/gates/g/decisions", json=case("c"), headers=headers["decide"])
            yield client, headers


CALLS = {
    "read": ("GET", "/v1/gates/g", None),
    "reviews": ("GET", "/v1/gates/g/reviews", None),
    "case": ("GET", "/v1/gates/g/decisions/c", None),
    "label": ("POST", "/v1/gates/g/labels", {"labels": [{"case": "unknown", "label": "x"}]}),
    "decide": ("POST", "/v1/gates/g/decisions", case("c")),
    "mode": ("POST", "/v1/gates/g/mode", {"mode": "live"}),
    "put": ("PUT", "/v1/gates/g", GATE),
    "delete": ("DELETE", "/v1/gates/nobody", None),
    "metrics": ("GET", "/metrics", None),
}
ALLOWED = {
    "admin": set(CALLS),
    "read": {"read", "reviews", "case"},
    "review": {"read", "reviews", "case", "label"},
    "decide": {"case", "label", "decide"},
    "other": set(),
    "watch": {"read", "reviews", "case", "metrics"},
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("key", ALLOWED)
def test_a_key_permits_what_its_scopes_say_for_its_gate(locked, key, call):
    client, headers = locked
    method, path, body = CALLS[call]
    reply = client.request(method, path, json=body, headers=headers[key])
    if call in ALLOWED[key]:
        assert reply.status_code == (404 if call == "delete" else 200)
    else:
        problem(reply, 403)


@pytest.mark.parametrize("call", CALLS)
def test_without_a_valid_key_nobody_comes_in(locked, call):
    client, headers = locked
    method, path, body = CALLS[call]
    right = headers["admin"]["Authorization"]
    for header in (None, "", "Bearer", "Bearer x", "Basic eDp5", right[:-1], right + "x", right.replace("abk", "abc")):
        reply = client.request(method, path, json=body, headers={} if header is None else {"Authorization": header})
        problem(reply, 401)
        assert reply.headers["www-authenticate"].startswith("Bearer")
    problem(client.request(method, path, json=body, headers=headers["revoked"]), 401)


def test_the_key_is_checked_before_the_body_is_read(locked):
    client, _ = locked
    problem(client.post("/v1/gates/g/decisions", content=b"{"), 401)


def test_health_and_readiness_need_no_key_and_lists_show_the_keys_own_gate(locked):
    client, headers = locked
    assert client.get("/healthz").status_code == client.get("/readyz").status_code == 200
    assert [gate["name"] for gate in client.get("/v1/gates", headers=headers["read"]).json()] == ["g"]
    assert [gate["name"] for gate in client.get("/v1/gates", headers=headers["admin"]).json()] == ["g", "h"]
    problem(client.get("/v1/gates", headers=headers["decide"]), 403)


def test_the_page_shows_nothing_to_a_key_that_may_not_read(locked):
    client, headers = locked
    for path in ("/ui", "/ui/gates/g", "/ui/gates/g/review"):
        reply = client.get(path, headers=headers["decide"])
        assert reply.status_code == 403
        assert "it needs scope read or review or admin" in reply.text
        assert "Use another key" in reply.text
        assert client.get(path, headers=headers["read"]).status_code == 200


def test_the_cookie_reads_and_changes_something_only_for_the_page_itself(locked):
    client, headers = locked
    cookie = {"Cookie": f"abstain_key={headers['admin']['Authorization'].removeprefix('Bearer ')}"}
    assert client.get("/v1/gates/g", headers=cookie).status_code == 200
    mode = {"mode": "live"}
    problem(client.post("/v1/gates/g/mode", json=mode, headers=cookie), 403)
    problem(client.post("/v1/gates/g/mode", json=mode, headers={**cookie, "Origin": "http://evil.example"}), 403)
    own = {**cookie, "Origin": str(client.base_url).rstrip("/")}
    assert client.post("/v1/gates/g/mode", json=mode, headers=own).status_code == 200


def test_the_store_keeps_no_key_but_its_hash(locked):
    client, headers = locked
    stored = client.service.store.keys()
    for record in stored:
        assert len(record.hash) == 64
        assert all(record.hash not in header["Authorization"] for header in headers.values())


def test_a_server_that_requires_keys_lets_nobody_in_without_any(tmp_path):
    with sqlite(tmp_path / "gates.db") as store, serving(store, keys_required=True) as client:
        problem(client.get("/v1/gates"), 401)
        key, record = new_key(["admin"])
        store.add_key(record)
        client.app.state.door._keys._read = 0.0  # a second later
        assert client.get("/v1/gates", headers={"Authorization": f"Bearer {key}"}).status_code == 200


# Replicas.


def test_a_call_for_another_replicas_gate_is_passed_on_once(api, gate, locked, monkeypatch):
    client, headers = locked

    async def elsewhere(name):
        return str(client.base_url)

    monkeypatch.setattr(api.service, "owner_of", elsewhere)
    reply = api.post("/v1/gates/g/decisions", json=case("a/b"), headers=headers["decide"])
    assert reply.status_code == 200
    found = client.get("/v1/gates/g/decisions/a%2Fb", headers=headers["read"])
    assert found.json()["case"] == "a/b"
    problem(api.get("/v1/gates/g/decisions/a%2Fb"), 401)
    assert api.get("/v1/gates/g/events?limit=2", headers=headers["read"]).text.count("\n") == 2
    monkeypatch.setattr(client.service, "owner_of", elsewhere)  # each takes the other for the owner
    problem(api.get("/v1/gates/g", headers=headers["read"]), 503)


def test_a_call_for_a_replica_that_does_not_answer_may_be_repeated(api, gate, monkeypatch):
    async def nowhere(name):
        return "http://127.0.0.1:9"

    monkeypatch.setattr(api.service, "owner_of", nowhere)
    reply = api.get(gate)
    problem(reply, 503)
    assert reply.headers["retry-after"] == "1"


def test_a_call_does_not_wait_for_a_replica_that_has_lost_the_gate(api, gate, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as silent:  # it takes the call, and never answers
        owners = [f"http://127.0.0.1:{silent.getsockname()[1]}"] * 3 + [None]

        async def lost(name):
            return owners.pop(0)

        monkeypatch.setattr(api.service, "owner_of", lost)
        monkeypatch.setattr(api.service, "lease", 0.2)
        assert "moved to another replica" in problem(api.get(gate), 503)["detail"]
        assert owners == []


def test_savings_go_by_the_clock_of_the_service(tmp_path):
    """Where the clock says that labels are still on their way, cases without one wait; the demo sets the clock."""
    now = [1_000_000.0]
    with sqlite(tmp_path / "gates.db") as store, serving(store, clock=lambda: now[0]) as client:
        client.put("/v1/gates/g", json=GATE)
        client.post("/v1/gates/g/decisions", json=case("old"))
        now[0] += 1_000.0
        client.put("/v1/gates/g/decisions/old/label", json={"label": "x"})
        client.post("/v1/gates/g/decisions", json=case("new"))
        found = client.get("/v1/gates/g/savings").json()
        assert (found["cases"], found["settled"]) == (2, 1)

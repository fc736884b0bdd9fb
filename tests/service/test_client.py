"""The client: what it sends, how it reads answers and problems, and when it tries again."""

import asyncio
import inspect
import json
import pickle
from datetime import UTC, datetime

import numpy as np
import pytest

httpx = pytest.importorskip("httpx")
pytest.importorskip("pydantic")

from abstain import client as module  # noqa: E402
from abstain.client import AsyncClient, Client, ServiceProblem  # noqa: E402
from abstain.errors import InputError  # noqa: E402

DECISION = {
    "case": "c1", "action": "answer", "answer": "x", "model": "a", "threshold": 0.5, "probability": 0.9,
    "explored": False, "over_capacity": False, "mode": "live", "replayed": False,
}  # fmt: skip
GATE = {
    "name": "g",
    "settings": {},
    "mode": "live",
    "state": "running",
    "created": 0.0,
    "seq": 1,
    "decided": 0,
    "open": 0,
}
CASE = {"case": "c1", "seq": 2, "at": 0.0, "state": "open", "decision": DECISION, "request": {}}
REVIEW = {"case": "c1", "seq": 2, "at": 0.0, "age": 1.0, "time": None, "stake": None, "answers": {}, "context": None,
          "state": "open"}  # fmt: skip
EVENT = {"seq": 1, "kind": "created", "case": None, "at": 0.0, "version": "0", "body": {"text": "a\u2028b"}}


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(module, "FIRST_WAIT", 0.0)


class Server:
    """Answers in turn; keeps what was asked."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def __call__(self, request):
        self.asked.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)

    @property
    def body(self):
        return json.loads(self.asked[-1].content)

    @property
    def path(self):
        return self.asked[-1].url.raw_path.decode()


def ok(body, status=200):
    return httpx.Response(status, json=body)


def problem(status, **more):
    return httpx.Response(status, json={"title": "No", "status": status, **more})


def client(server, **options):
    return Client(transport=httpx.MockTransport(server), **options)


def test_a_decision_is_sent_as_the_contract_says():
    server = Server(ok(DECISION))
    with client(server, key="k") as one:
        reply = one.decide(
            "g", "c1", {"a": ("x", np.float32(0.5)), "b": None, "c": 0.25, "d": {"answer": 1, "error": 2}}
        )
    assert server.path == "/v1/gates/g/decisions"
    assert server.body == {
        "case": "c1",
        "answers": {
            "a": {"answer": "x", "confidence": 0.5},
            "b": None,
            "c": {"probability": 0.25},
            "d": {"answer": 1, "error": 2},
        },
    }
    assert server.asked[0].headers["Authorization"] == "Bearer k"
    assert server.asked[0].headers["Content-Type"] == "application/json"
    assert (reply.action, reply.answer, reply.threshold) == ("answer", "x", 0.5)


def test_times_are_sent_as_text_and_options_only_if_given():
    server = Server(ok(DECISION))
    client(server).decide("g", "c1", {}, stake=0.0, time=datetime(2026, 1, 2, tzinfo=UTC), context={"text": "☃"})
    assert server.body == {
        "case": "c1", "answers": {}, "stake": 0.0, "time": "2026-01-02T00:00:00+00:00", "context": {"text": "☃"},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("case", "path"), [("a/b", "a%2Fb"), ("..", "%2E%2E"), ("ä?#%", "%C3%A4%3F%23%25"), ("a.b", "a.b"), (" ", "%20")]
)
def test_case_ids_keep_to_their_place_in_the_path(case, path):
    server = Server(ok({"case": case, "status": "learnt"}))
    client(server).label("g", case, "x")
    assert server.path == f"/v1/gates/g/decisions/{path}/label"


@pytest.mark.parametrize("wrong", ["", None, 7, "\ud800"])
def test_what_is_no_id_is_refused_before_it_is_sent(wrong):
    server = Server(ok({}))
    with pytest.raises(InputError, match=r"case: expected a text"):
        client(server).decision("g", wrong)
    assert not server.asked


@pytest.mark.parametrize("wrong", [float("nan"), object(), np.ones(3)])
def test_what_json_cannot_hold_is_refused_before_it_is_sent(wrong):
    server = Server(ok({}))
    with pytest.raises(InputError, match="expected what JSON can hold"):
        client(server).decide("g", "c", {"a": ("x", wrong)})
    assert not server.asked


def test_a_pair_of_three_is_refused():
    with pytest.raises(InputError, match="expected an answer and a confidence"):
        client(Server(ok({}))).decide("g", "c", {"a": ("x", 0.5, 1)})


def test_a_problem_has_its_status_title_and_errors():
    errors = [{"path": "answers.a.confidence", "message": "expected at most 1"}]
    with pytest.raises(ServiceProblem) as caught:
        client(Server(problem(422, detail="Wrong.", errors=errors))).decide("g", "c", {})
    found = caught.value
    assert (found.status, found.title, found.detail, found.errors) == (422, "No", "Wrong.", errors)
    assert str(found) == "422: No: Wrong. (answers.a.confidence: expected at most 1)"
    assert isinstance(found, ValueError)
    again = pickle.loads(pickle.dumps(found))
    assert (again.status, again.errors, str(again)) == (found.status, found.errors, str(found))


@pytest.mark.parametrize("answer", [httpx.Response(404, text="<html>proxy</html>"), httpx.Response(400, json=[1])])
def test_an_answer_of_somebody_else_is_a_problem_too(answer):
    with pytest.raises(ServiceProblem, match="the answer is not the service's"):
        client(Server(answer)).gate("g")


@pytest.mark.parametrize("body", [{"nothing": 1}, [1], "text", 7])
def test_success_with_another_body_is_a_problem(body):
    with pytest.raises(ServiceProblem, match="the answer is not the service's"):
        client(Server(ok(body))).gates()


@pytest.mark.parametrize(
    "failure", [httpx.ConnectError("refused"), httpx.ReadTimeout("slow"), problem(503), problem(429)]
)
def test_calls_are_sent_again_and_are_the_same(failure):
    server = Server(failure, failure, ok(DECISION))
    assert client(server).decide("g", "c1", {"a": ("x", 0.9)}).case == "c1"
    assert len(server.asked) == 3
    assert len({(one.method, str(one.url), one.content) for one in server.asked}) == 1


def test_it_gives_up_after_its_retries():
    server = Server(problem(503, detail="Full."))
    with pytest.raises(ServiceProblem, match="503: No: Full"):
        client(server, retries=2).gates()
    assert len(server.asked) == 3
    with pytest.raises(ServiceProblem, match="no answer: the service did not answer: ConnectError: refused") as caught:
        client(Server(httpx.ConnectError("refused")), retries=0).gates()
    assert caught.value.status == 0


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 422, 500])
def test_what_was_refused_is_not_sent_again(status):
    server = Server(problem(status))
    with pytest.raises(ServiceProblem):
        client(server).gates()
    assert len(server.asked) == 1


def test_a_stopped_gate_is_not_waited_for():
    from abstain.service.problems import GateStopped

    server = Server(httpx.Response(503, json=GateStopped("event 17 decided otherwise").body))
    with pytest.raises(ServiceProblem, match="503: Gate stopped: event 17"):
        client(server).gate("g")
    assert len(server.asked) == 1


def test_waits_double_and_the_service_may_ask_for_one(monkeypatch):
    monkeypatch.setattr(module, "FIRST_WAIT", 0.2)
    for attempt in range(10):
        longest = min(module.LONGEST_WAIT, 0.2 * 2**attempt)
        assert longest / 2 <= module._wait(attempt, None) <= longest
    asks = [module._wait(0, httpx.Response(503, headers={"Retry-After": text})) for text in ("3", "1e9", "-1", "soon")]
    assert asks[:2] == [3.0, module.LONGEST_WAIT]
    assert all(wait <= 0.2 for wait in asks[2:])


def test_a_gate_that_the_first_attempt_deleted_counts_as_deleted():
    client(Server(httpx.ReadError("cut"), problem(404))).delete_gate("g")
    with pytest.raises(ServiceProblem, match="404"):
        client(Server(problem(404))).delete_gate("g")


def test_fields_of_a_newer_service_are_left_out():
    newer = {**CASE, "more": 1, "decision": {**DECISION, "more": 2}}
    assert client(Server(ok(newer))).decision("g", "c1").decision.action == "answer"


def test_many_decisions_have_problems_in_their_places():
    refused = {"case": "c2", "status": 409, "title": "Conflict", "detail": "Other answers.", "errors": []}
    server = Server(ok({"decisions": [DECISION, refused]}))
    rows = [{"case": "c1", "answers": {"a": ("x", 0.9)}}, {"case": "c2", "answers": {"a": 0.5}, "stake": 3.0}]
    first, second = client(server).decide_many("g", rows)
    assert first.case == "c1"
    assert (second.status, second.detail) == (409, "Other answers.")
    assert server.body["decisions"][1] == {"case": "c2", "answers": {"a": {"probability": 0.5}}, "stake": 3.0}


def test_events_are_read_page_by_page():
    lines = ["\n".join(json.dumps({**EVENT, "seq": k}, ensure_ascii=False) for k in ks) for ks in ((1, 2), (3,))]
    server = Server(*(httpx.Response(200, text=text) for text in (*lines, "")))
    found = list(client(server).events("g"))
    assert [one.seq for one in found] == [1, 2, 3]
    assert found[0].body == {"text": "a\u2028b"}
    assert [one.url.params["after"] for one in server.asked] == ["0", "2", "3"]


@pytest.mark.parametrize("since", [datetime(2026, 1, 2), datetime(2026, 1, 2, tzinfo=UTC), 1767312000.0])
def test_a_period_is_asked_for_in_seconds(since):
    server = Server(ok({}))
    client(server).savings("g", since=since)
    assert dict(server.asked[0].url.params) == {"since": "1767312000.0"}


CALLS = {
    "put_gate": (("g",), {"models": ["a"], "cost": 0.2}, ok(GATE, 201)),
    "gates": ((), {}, ok([GATE])),
    "gate": (("g",), {}, ok(GATE)),
    "delete_gate": (("g",), {}, httpx.Response(204)),
    "set_mode": (("g", "paused"), {}, ok(GATE)),
    "decide": (("g", "c1", {"a": ("x", 0.9)}), {}, ok(DECISION)),
    "decide_many": (("g", [{"case": "c1", "answers": {}}]), {}, ok({"decisions": [DECISION]})),
    "decision": (("g", "c1"), {}, ok(CASE)),
    "label": (("g", "c1", "x"), {"source": "review", "correction": True}, ok({"case": "c1", "status": "corrected"})),
    "label_many": (("g", [{"case": "c1", "label": "x"}]), {}, ok({"labels": [{"case": "c1", "status": "learnt"}]})),
    "reviews": (("g",), {"limit": 5, "after": 3}, ok([REVIEW])),
    "policy": (("g",), {}, ok([{"model": "a"}])),
    "health": (("g",), {}, ok({"alarms": []})),
    "savings": (("g",), {"since": datetime(2026, 1, 2, tzinfo=UTC), "model": "a", "threshold": 0.8}, ok({"saved": 1})),
}


@pytest.mark.parametrize("name", CALLS)
def test_both_clients_send_the_same_and_read_the_same(name):
    args, options, answer = CALLS[name]
    one, other = Server(answer), Server(answer)
    read = getattr(client(one), name)(*args, **options)

    async def call():
        async with AsyncClient(transport=httpx.MockTransport(other)) as asynchronous:
            return await getattr(asynchronous, name)(*args, **options)

    assert asyncio.run(call()) == read
    first, second = one.asked[0], other.asked[0]
    assert (first.method, first.url, first.content) == (second.method, second.url, second.content)


def test_the_asynchronous_client_tries_again_and_reads_events():
    server = Server(httpx.ConnectError("refused"), problem(503), httpx.Response(200, text=json.dumps(EVENT)),
                    httpx.Response(200, text=""))  # fmt: skip

    async def call():
        async with AsyncClient(transport=httpx.MockTransport(server)) as asynchronous:
            return [event.seq async for event in asynchronous.events("g")]

    assert asyncio.run(call()) == [1]
    with pytest.raises(ServiceProblem, match="no answer"):
        asyncio.run(AsyncClient(transport=httpx.MockTransport(Server(httpx.ConnectError("no"))), retries=1).gates())


def test_the_clients_have_the_same_methods_with_the_same_arguments():
    def public(kind):
        methods = inspect.getmembers(kind, inspect.isfunction)
        return {name: list(inspect.signature(one).parameters) for name, one in methods if not name.startswith("_")}

    assert public(Client) == public(AsyncClient)
    assert set(CALLS) | {"events", "close"} == set(public(Client))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"url": "127.0.0.1:8000"}, "url: expected one that begins with http://"),
        ({"key": "bad\nkey"}, "key: expected an API key"),
        ({"key": "kéy"}, "key: expected an API key"),
    ],
)
def test_a_wrong_url_or_key_is_an_error_at_once_that_does_not_print_the_key(options, message):
    for kind in (Client, AsyncClient):
        with pytest.raises(InputError, match=message) as caught:
            kind(**options)
        assert options.get("key", "none") not in str(caught.value)


def test_retries_are_checked():
    with pytest.raises(InputError, match="retries: expected a whole number"):
        Client(retries=-1)


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    pytest.importorskip("fastapi")
    from .serving import serving, sqlite

    file = tmp_path_factory.mktemp("store") / "gates.db"
    with sqlite(file) as store, serving(store) as served, Client(str(served.base_url)) as one:
        yield one


@pytest.mark.parametrize("case", ["c1", "a/b", ".", "..", "ä?#% ;&+", "100%2F", "\u2028"])
def test_a_case_with_any_id_goes_to_the_service_and_back(real, case):
    real.put_gate("ids", models=["a", "b"], cost=0.2)
    decision = real.decide("ids", case, {"a": ("x", np.float32(0.9)), "b": None}, context={"text": case})
    assert (decision.case, decision.replayed) == (case, False)
    assert real.decide("ids", case, {"a": ("x", np.float32(0.9)), "b": None}, context={"text": case}).replayed
    assert real.label("ids", case, "x").status == "learnt"
    assert real.label("ids", case, "x").status == "duplicate"
    found = real.decision("ids", case)
    assert (found.case, found.label, found.request["context"]) == (case, "x", {"text": case})
    assert case in {event.case for event in real.events("ids")}


def test_the_service_refuses_in_words(real):
    real.put_gate("words", models=["a", "b"], cost=0.2)
    real.decide("words", "c", {"a": ("x", 0.9)})
    with pytest.raises(ServiceProblem, match="another payload") as caught:
        real.decide("words", "c", {"a": ("x", 0.8)})
    assert caught.value.status == 409
    with pytest.raises(ServiceProblem) as caught:
        real.decide("words", "d", {"a": ("x", 1.5)})
    assert (caught.value.status, caught.value.errors[0]["path"]) == (422, "answers.a.confidence")
    with pytest.raises(ServiceProblem) as caught:
        real.gate("nobody")
    assert caught.value.status == 404


def test_the_service_takes_many_and_tells_what_it_learnt(real):
    real.put_gate("many", models=["a", "b"], cost=0.2, today=["a", 0.5])
    rows = [{"case": f"c{k}", "answers": {"a": ("x", 0.9), "b": None}} for k in range(40)]
    assert [one.case for one in real.decide_many("many", rows)] == [f"c{k}" for k in range(40)]
    labels = [{"case": f"c{k}", "label": "x"} for k in range(39)]
    assert {one.status for one in real.label_many("many", labels)} == {"learnt"}
    assert real.label_many("many", [{"case": "c0", "label": "y"}])[0].status == "conflict"
    assert real.gate("many").decided == 40
    assert {row["model"] for row in real.policy("many")} == {"a", "b"}
    assert real.health("many")["pending"] == 1
    assert real.savings("many")["cases"] == 40
    assert real.savings("many", model="b", threshold=0.5)["baseline"]["model"] == "b"
    assert real.savings("many", since=4e9)["cases"] == 0
    assert [event.seq for event in real.events("many", after=1)] == list(range(2, 81))
    assert real.set_mode("many", "paused").mode == "paused"
    assert "many" in {gate.name for gate in real.gates()}
    real.delete_gate("many")
    assert "many" not in {gate.name for gate in real.gates()}


def test_the_asynchronous_client_shares_commits(real):
    real.put_gate("fast", models=["a", "b"], cost=0.2)

    async def load():
        async with AsyncClient(str(real._http.base_url)) as one:
            calls = (one.decide("fast", f"c{k}", {"a": ("x", 0.9), "b": None}) for k in range(50))
            return await asyncio.gather(*calls)

    assert len({one.case for one in asyncio.run(load())}) == 50
    assert real.gate("fast").decided == 50

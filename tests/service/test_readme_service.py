"""The README's block on the service, and the programs of its pages: they run as they are printed."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")

from abstain.client import Client
from abstain.service.bodies import DecisionReply

from .serving import serving, sqlite

ROOT = Path(__file__).parents[2]


def shown(page, name):
    """A file that a page shows after a comment with its name."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.search(rf"<!-- {re.escape(name)} -->\n```\w+\n(.*?)```", text, re.DOTALL)[1]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def environment(tmp_path):
    """Where ``abstain`` is this one, and ``pip`` has nothing to do."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, line in {"pip": "exit 0", "abstain": f'exec "{sys.executable}" -m abstain "$@"'}.items():
        (programs / name).write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    python = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PATH": path, "PYTHONPATH": python, "no_proxy": "*"}


def curl_takes_json():
    if shutil.which("curl") is None or shutil.which("bash") is None or sys.platform == "win32":
        return False
    return "--json" in subprocess.run(["curl", "--help", "http"], capture_output=True, text=True).stdout


@pytest.mark.skipif(not curl_takes_json(), reason="bash, or a curl that knows --json, is missing")
def test_the_block_of_the_readme_runs_as_printed(tmp_path):
    block = shown("README.md", "service.sh")
    assert [line for line in block.splitlines() if line.startswith("pip install")] == ['pip install ".[service]"']
    block = block.replace("8000", str(free_port()))
    ended = f"set -euo pipefail\n{block}\nset +e\nkill %1\nwait %1\necho ended $?\n"
    done = subprocess.run(
        ["bash", "-c", ended], cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    decoder, found, rest = json.JSONDecoder(), [], done.stdout
    while "{" in rest:
        one, end = decoder.raw_decode(rest, rest.index("{"))
        found.append(one)
        rest = rest[end:]
    ready, gate, decision, label = found
    assert ready == {"status": "ready"}
    assert (gate["name"], gate["settings"]["models"]) == ("g", ["a", "b"])
    assert set(decision) == set(DecisionReply.model_fields)
    assert label == {"status": "learnt"}
    assert rest.split() == ["ended", "0"]
    assert (tmp_path / "gates.db").exists()


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    with sqlite(tmp_path_factory.mktemp("store") / "gates.db") as store, serving(store) as client:
        yield str(client.base_url)


def test_every_page_is_in_the_menu_and_shows_no_dead_file():
    menu = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    for page in (ROOT / "docs" / "service").glob("*.md"):
        assert f'"{page.stem}"' in menu or f"service/{page.stem}" in menu, page.name
        text = page.read_text(encoding="utf-8")
        for link in re.findall(r"\]\(([^)#:]+?\.md)", text):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
        for file in re.findall(r"`(deploy/\S+?)`", text):
            assert (ROOT / file).exists(), f"{page.name}: {file}"


def test_the_metrics_of_the_page_exist():
    from abstain.service import metrics

    source = Path(metrics.__file__).read_text(encoding="utf-8")
    text = (ROOT / "docs" / "service" / "operations.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`abstain_(\w+)`", text))
    assert len(named) > 20
    assert {name for name in named if f'"abstain_{name.removesuffix("_total")}"' not in source} <= {
        name for name in named if f'("{name.removesuffix("_total")}"' in source
    }


def test_every_command_of_the_pages_parses():
    import shlex

    import typer

    from abstain.cli import app

    found = 0
    for page in (ROOT / "docs" / "service").glob("*.md"):
        for block in re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            for line in block.replace("\\\n", " ").splitlines():
                if not line.startswith("abstain "):
                    continue
                words = shlex.split(line, comments=True)
                command, rest = typer.main.get_command(app), words[1:]
                while hasattr(command, "commands"):
                    command, rest = command.commands[rest[0]], rest[1:]
                command.make_context("abstain", rest, resilient_parsing=False)
                found += 1
    assert found > 10


@pytest.mark.parametrize("page", ["index", "shadow", "moving"])
def test_every_call_of_the_pages_is_taken(url, page):
    import argparse
    import shlex

    import httpx

    text = (ROOT / "docs" / "service" / f"{page}.md").read_text(encoding="utf-8")
    curl = argparse.ArgumentParser()
    curl.add_argument("-X", dest="method")
    curl.add_argument("--json")
    curl.add_argument("url")
    calls = re.findall(
        r"^curl (.*?)(?=^\S|\Z)", "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL)), re.DOTALL | re.MULTILINE
    )
    with Client(url) as client:
        for gate in client.gates():
            if gate.name in ("spam", "invoices"):
                client.delete_gate(gate.name)
    for call in calls:
        asked = curl.parse_args(shlex.split(call.replace("\\\n", " ")))
        where = asked.url.replace("http://127.0.0.1:8000", url.rstrip("/"))
        reply = httpx.request(asked.method or "POST", where, json=json.loads(asked.json), timeout=60, trust_env=False)
        assert reply.status_code in (200, 201), f"{call}: {reply.text}"
    assert calls


def test_shadow_mode_takes_what_the_page_sends(url):
    text = (ROOT / "docs" / "service" / "shadow.md").read_text(encoding="utf-8")
    with Client(url) as client:
        client.put_gate("watched", models=["gbm", "rules"], review_price=1, mistake_price=5, mode="shadow")
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            block = re.sub(r'"spam",(\s+"mail)', r'"watched",\1', block)
            exec(compile(block, "shadow.md", "exec"), {"client": client})
        assert client.decision("watched", "mail-17").decision.answer == "spam"
        assert client.decision("watched", "mail-18").decision.action == "review"


def test_a_whole_integration_has_less_than_25_lines_and_runs(url, monkeypatch):
    program = shown("docs/service/index.md", "integration.py")
    assert len(program.splitlines()) < 25
    monkeypatch.setattr(sys, "argv", ["integration.py", url])
    made = {}
    exec(compile(program, "integration.py", "exec"), made)
    outcomes = {made["handle"](f"mail-{k}", "Hello", ("spam", 0.6), None) for k in range(200)}
    assert outcomes == {"spam", "wait for a reviewer"}
    client = made["client"]
    review = client.reviews("mail")[0]
    assert review.context == {"text": "Hello"}
    made["reviewed"](review.case, "ham")
    answered = next(f"mail-{k}" for k in range(200) if client.decision("mail", f"mail-{k}").decision.action == "answer")
    made["complained"](answered, "ham")
    assert client.decision("mail", answered).label == "ham"
    assert client.decision("mail", review.case).label_source == "review"
    client.close()


@pytest.mark.long
def test_two_gates_in_series_route_tickets(url, monkeypatch):
    import random
    import runpy
    from collections import Counter

    monkeypatch.setenv("ABSTAIN_URL", url)
    made = {}
    exec(compile(shown("docs/service/routing.md", "routing.py"), "routing.py", "exec"), made)
    tickets = list(runpy.run_path(str(ROOT / "docs" / "llm_answers.py"))["answers"](n=60))
    rng, asked, found = random.Random(0), [], Counter()
    for number, ticket in enumerate(tickets):

        def expensive(text, ticket=ticket, number=number):
            asked.append(number)
            answer, votes = Counter(ticket.expensive).most_common(1)[0]
            return answer, votes / len(ticket.expensive)

        queue = made["route"](
            f"t{number}", "text", lambda text, t=ticket: (t.cheap.strip(".").lower(), rng.random()), expensive
        )
        found["person" if queue is None else "answer"] += 1
        made["solved"](f"t{number}", ticket.queue)
    client = made["client"]
    assert 0 < len(asked) < len(tickets)
    assert client.gate("tickets").decided == len(asked)
    assert client.gate("tickets-cheap").open == client.gate("tickets").open == 0
    assert len(client.reviews("tickets", state="closed")) == found["person"]
    made["reprice"]()
    assert client.gate("tickets-cheap").settings["review_price"] > 0.1
    client.close()


@contextmanager
def label_studio():
    """A project of Label Studio: what is imported is exported; `tasks` has it."""
    tasks = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self, body):
            text = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def do_GET(self):
            assert self.path == "/api/projects/7/export?exportType=JSON&download_all_tasks=true"
            assert self.headers["Authorization"] == "Token secret"
            self.answer(tasks)

        def do_POST(self):
            assert self.path == "/api/projects/7/import"
            for task in json.loads(self.rfile.read(int(self.headers["Content-Length"]))):
                tasks.append({"id": len(tasks), **task, "annotations": []})
            self.answer({"task_count": len(tasks)})

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", tasks
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.long
def test_reviews_go_to_label_studio_and_annotations_come_back(url, tmp_path):
    with Client(url) as client, label_studio() as (studio, tasks):
        client.put_gate("inbox", models=["a", "b"], cost=0.2, mode="paused")  # every case to review
        for k in range(3):
            client.decide("inbox", f"c/{k}", {"a": ("ham", 0.75), "b": None}, context={"text": f"Mail {k}"})
        (tmp_path / "label_studio.py").write_text(
            shown("docs/service/label-studio.md", "label_studio.py"), encoding="utf-8"
        )
        asked = {"GATE": "inbox", "PROJECT": "7", "ABSTAIN_URL": url, "LABEL_STUDIO_URL": studio, "no_proxy": "*"}
        python = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
        variables = {**os.environ, **asked, "LABEL_STUDIO_TOKEN": "secret", "PYTHONPATH": python}

        def run():
            command = [sys.executable, str(tmp_path / "label_studio.py")]
            done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, done.stderr
            return done.stdout.splitlines()

        assert run() == ["3 new tasks"]
        assert tasks[1]["data"] == {"case": "c/1", "text": "Mail 1", "models": "a: ham (75%)"}
        chosen = {"from_name": "label", "to_name": "text", "type": "choices", "value": {"choices": ["spam"]}}
        tasks[1]["annotations"] = [{"result": [], "was_cancelled": True}, {"result": [chosen], "was_cancelled": False}]
        assert run() == ["c/1 spam unused", "0 new tasks"]
        assert client.decision("inbox", "c/1").label == "spam"
        assert [one.case for one in client.reviews("inbox")] == ["c/0", "c/2"]
        assert run() == ["0 new tasks"]

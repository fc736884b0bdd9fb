"""The files of deploy/: each can be read by what it is for, and names only metrics and options that exist."""

import asyncio
import configparser
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("prometheus_client")
yaml = pytest.importorskip("yaml")

from typer.main import get_command  # noqa: E402

from abstain.cli import app  # noqa: E402
from abstain.service.commits import Counters  # noqa: E402
from abstain.service.metrics import Metrics  # noqa: E402

DEPLOY = Path(__file__).parents[2] / "deploy"
METRIC = re.compile(r"\babstain_\w+")
RULES = [
    rule
    for group in yaml.safe_load((DEPLOY / "alerts.yml").read_text(encoding="utf-8"))["groups"]
    for rule in group["rules"]
]
DASHBOARD = json.loads((DEPLOY / "dashboard.json").read_text(encoding="utf-8"))
UNIT = (DEPLOY / "abstain.service").read_text(encoding="utf-8")
CONTAINER = (DEPLOY / "Containerfile").read_text(encoding="utf-8")


class OneGate:
    """A service with one gate that has counted something of everything."""

    ready = True

    def __init__(self):
        self.counters = Counters()
        self.counters.decisions["g", "review", "a", False, False] += 1
        self.counters.labels["g", "review", "learnt"] += 1
        self.counters.prices["g", "review"] += 1
        for name in ("expired", "held", "unmatched", "mismatches"):
            getattr(self.counters, name)["g"] += 1
        self.counters.commit_times.append(0.01)

    async def gates(self):
        class Gate:
            name, state = "g", "running"

        return [Gate]

    async def health(self, name):
        return {"open": 1, "oldest": 3.0, "pending": 2, "capacity_left": 7.0, "alarms": ["a"]}


@pytest.fixture(scope="module")
def served():
    """Metrics as the service prints them: names, and labels of each."""
    metrics = Metrics(OneGate())
    metrics.observe("/v1/gates/{gate}", "GET", 200, 0.1)
    text, _ = asyncio.run(metrics.render())
    found = {}
    for name, labels in re.findall(r"^(\w+)(?:\{(.*)\})? \S+$", text.decode(), re.MULTILINE):
        found.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
    return found


def expressions():
    panels = [(panel["title"], target["expr"]) for panel in DASHBOARD["panels"] for target in panel["targets"]]
    variables = [
        (one["name"], one["query"]["query"]) for one in DASHBOARD["templating"]["list"] if one["type"] == "query"
    ]
    return [(rule["alert"], rule["expr"]) for rule in RULES] + panels + variables


@pytest.mark.parametrize(("where", "expression"), expressions())
def test_every_metric_of_alerts_and_dashboard_exists_with_its_labels(served, where, expression):
    named = METRIC.findall(expression)
    assert named or expression == 'up{job="abstain"} == 0', where
    assert set(named) <= set(served), where
    for name, selected in re.findall(r"(abstain_\w+)\{(.*?)\}", expression):
        assert set(re.findall(r'(\w+)=~?"', selected)) <= served[name], where
    for grouped in re.findall(r"by \((.*?)\)", expression):
        allowed = set().union(*(served[name] for name in named), {"instance", "le"})
        assert set(re.split(r",\s*", grouped)) <= allowed, where
    assert expression.count("(") == expression.count(")")


def test_every_gauge_of_the_gates_is_shown(served):
    shown = set(METRIC.findall(json.dumps(DASHBOARD)))
    gauges = ("open_reviews", "oldest_review_seconds", "pending_labels", "capacity_left", "alarms", "reviewed_share")
    assert {f"abstain_{name}" for name in gauges} <= shown <= set(served)


def test_a_gate_without_incidents_counts_from_zero():
    service = OneGate()
    service.counters = Counters()
    text, _ = asyncio.run(Metrics(service).render())
    for name in ("expired", "held_labels", "unmatched_labels", "replay_mismatches"):
        assert f'abstain_{name}_total{{gate="g"}} 0.0' in text.decode()


CALM = {
    'up{job="abstain", instance="i"}': "1",
    'abstain_ready{instance="i"}': "1",
    'abstain_gate_running{gate="g"}': "1",
    'abstain_replay_mismatches_total{gate="g"}': "0",
    "abstain_failed_commits_total": "0",
    'abstain_commit_seconds_bucket{instance="i", le="0.1"}': "0+1000x200",
    'abstain_commit_seconds_bucket{instance="i", le="1.0"}': "0+1000x200",
    'abstain_commit_seconds_bucket{instance="i", le="+Inf"}': "0+1000x200",
    'abstain_http_requests_total{instance="i", status="200", route="/v1/gates/{gate}"}': "0+1000x200",
    'abstain_http_requests_total{instance="i", status="503", route="/v1/gates/{gate}"}': "0+1x200",
    'abstain_http_requests_total{instance="i", status="503", route="/readyz"}': "0+100x200",
    'abstain_alarms{gate="g"}': "0",
    'abstain_oldest_review_seconds{gate="g"}': "86000",
    'abstain_decisions_total{gate="g", over_capacity="false"}': "0+100x200",
    'abstain_decisions_total{gate="g", over_capacity="true"}': "0+1x200",
    'abstain_labels_total{gate="g", status="learnt"}': "0+1x200",
    'abstain_unmatched_labels_total{gate="g"}': "0",
}
"""A service without any trouble: what Prometheus read from it, once a minute for three hours."""

TROUBLE = {
    "AbstainDown": {'up{job="abstain", instance="i"}': "0"},
    "AbstainNotReady": {'abstain_ready{instance="i"}': "0"},
    "AbstainGateStopped": {'abstain_gate_running{gate="g"}': "0"},
    # A replay counts before the first scrape, so this series never rises.
    "AbstainReplayMismatch": {'abstain_replay_mismatches_total{gate="g"}': "3"},
    "AbstainCommitsFail": {"abstain_failed_commits_total": "0+1x200"},
    "AbstainCommitsSlow": {'abstain_commit_seconds_bucket{instance="i", le="0.1"}': "0+900x200"},
    "AbstainErrors": {'abstain_http_requests_total{instance="i", status="503", route="/v1/gates/{gate}"}': "0+20x200"},
    "AbstainModelInAlarm": {'abstain_alarms{gate="g"}': "2"},
    "AbstainReviewsWait": {'abstain_oldest_review_seconds{gate="g"}': "86401"},
    "AbstainOverCapacity": {'abstain_decisions_total{gate="g", over_capacity="true"}': "0+10x200"},
    "AbstainNoLabels": {'abstain_labels_total{gate="g", status="learnt"}': "7"},
    "AbstainLabelsUnmatched": {'abstain_unmatched_labels_total{gate="g"}': "0+1x200"},
}
"""What is otherwise in each trouble. It sets off one alert, and no other."""


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool (of Prometheus) is not installed")
def test_each_alert_fires_in_its_trouble_and_in_no_other(tmp_path):
    alerts = {rule["alert"]: rule for rule in RULES}
    assert set(TROUBLE) == set(alerts)
    cases = []
    for trouble, otherwise in [(None, {}), *TROUBLE.items()]:
        assert set(otherwise) <= set(CALM)
        series = [
            {"series": name, "values": value if "x" in value else f"{value}x200"}
            for name, value in {**CALM, **otherwise}.items()
        ]
        expected = []
        for name in alerts:
            found = {"eval_time": "190m", "alertname": name}
            expected.append(found if name != trouble else {**found, "exp_alerts": [said(alerts[name])]})
        cases.append({"name": str(trouble), "interval": "1m", "input_series": series, "alert_rule_test": expected})
    tests = {"rule_files": [str(DEPLOY / "alerts.yml")], "evaluation_interval": "1m", "tests": cases}
    (tmp_path / "tests.yml").write_text(yaml.safe_dump(tests), encoding="utf-8")
    done = subprocess.run(["promtool", "test", "rules", str(tmp_path / "tests.yml")], capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3_000:]


LABELS_OF = {
    "AbstainDown": {"job": "abstain", "instance": "i"},
    "AbstainNotReady": {"instance": "i"},
    "AbstainCommitsFail": {},
    "AbstainCommitsSlow": {"instance": "i"},
    "AbstainErrors": {"instance": "i"},
}
"""The labels of an alert that is not about a gate."""


def said(rule):
    """The alert as promtool expects it."""
    labels = LABELS_OF.get(rule["alert"], {"gate": "g"})

    def filled(text):
        text = re.sub(r"\{\{ \$labels\.(\w+) \}\}", lambda found: labels[found[1]], text)
        return text.replace("{{ $value }}", "2")

    told = {name: filled(text) for name, text in rule["annotations"].items()}
    return {"exp_labels": {**labels, **rule["labels"]}, "exp_annotations": told}


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool (of Prometheus) is not installed")
@pytest.mark.parametrize("command", [("check", "rules", str(DEPLOY / "alerts.yml")), ("check", "metrics")])
def test_prometheus_takes_the_rules_and_the_metrics(command):
    text, _ = asyncio.run(Metrics(OneGate()).render())
    given = text if command[1] == "metrics" else None
    done = subprocess.run(["promtool", *command], input=given, capture_output=True)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()


def test_every_alert_says_what_is_wrong_and_how_urgent_it_is():
    assert len({rule["alert"] for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule["annotations"]["summary"].endswith(".")
        assert rule["labels"]["severity"] in ("page", "ticket")


def test_panels_do_not_overlap():
    taken = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert at["x"] + at["w"] <= 24
        assert not cells & taken, panel["title"]
        taken |= cells
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


def options_of(command):
    return {name for option in get_command(app).commands[command].params for name in option.opts}


def unit():
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str
    parser.read_string(UNIT)
    return parser


def test_the_unit_calls_the_command_with_options_that_exist():
    started = unit()["Service"]["ExecStart"].split()
    assert started[1] == "serve"
    assert {word for word in started if word.startswith("--")} <= options_of("serve")
    assert "ABSTAIN_STORE=sqlite:////var/lib/abstain/gates.db" in UNIT
    assert unit()["Service"]["StateDirectory"] == "abstain"


def test_the_unit_is_hardened():
    service = unit()["Service"]
    for name in ("NoNewPrivileges", "PrivateTmp", "PrivateDevices", "DynamicUser", "ProtectHome", "LockPersonality"):
        assert service[name] == "yes"
    assert service["ProtectSystem"] == "strict"
    assert service["CapabilityBoundingSet"] == ""
    assert "MemoryDenyWriteExecute" not in service  # compiled kernels would not run


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_takes_the_unit(tmp_path):
    here = UNIT.replace("/opt/abstain/bin/abstain", shutil.which("true"))  # systemd looks whether the program exists
    (tmp_path / "abstain.service").write_text(here, encoding="utf-8")
    command = ["systemd-analyze", "verify", "--man=no", str(tmp_path / "abstain.service")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "abstain.service" not in done.stderr, done.stderr


def test_the_image_runs_without_rights_and_with_its_kernels():
    lines = CONTAINER.replace("\\\n", " ").splitlines()
    steps = [line.split(maxsplit=1) for line in lines if line.strip() and not line.startswith("#")]
    last = len(steps) - 1 - [step[0] for step in reversed(steps)].index("FROM")
    built, image = steps[:last], steps[last:]
    compiled = next(step[1] for step in built if step[0] == "RUN" and "abstain warmup Gate" in step[1])
    assert "abstain serve --check" in compiled  # what the service itself compiles at its start
    named = dict(image)
    assert named["USER"].split(":")[0] not in ("root", "0")
    assert json.loads(named["ENTRYPOINT"]) == ["abstain"]
    command = json.loads(named["CMD"])
    assert command[0] == "serve"
    assert {word for word in command if word.startswith("--")} <= options_of("serve")
    assert named["STOPSIGNAL"] == "SIGTERM"
    folder = re.search(r"NUMBA_CACHE_DIR=(\S+)", named["ENV"])[1]
    assert any(step == ["ENV", f"NUMBA_CACHE_DIR={folder}"] for step in built)
    assert folder.startswith(re.search(r"--from=build (\S+)", named["COPY"])[1])

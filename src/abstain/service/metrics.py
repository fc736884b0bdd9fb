"""Metrics for Prometheus, in a registry of their own."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from .. import __version__
from .front import LOG
from .problems import ServiceError
from .service import Service

COMMIT_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
REQUEST_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

HEALTH_SECONDS = 10.0
"""How old the gauges that need a look into the store may be."""

PATIENCE_SECONDS = 2.0
"""How long a scrape waits for them; else it shows the last ones."""

METHODS = frozenset({"GET", "PUT", "POST", "DELETE"})


class Metrics:
    """What Prometheus reads: HTTP calls as they are observed, and the service's counters as they are now.

    Args:
        service: The gates.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._gauges = _Gates(service)
        self._lock = asyncio.Lock()
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "abstain_http_requests", "Calls.", ["route", "method", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "abstain_http_request_seconds",
            "Seconds from the first byte of a call to the last of its reply.",
            ["route", "method"],
            buckets=REQUEST_BUCKETS,
            registry=self._registry,
        )
        self._commits = Histogram(
            "abstain_commit_seconds", "Seconds of a commit.", buckets=COMMIT_BUCKETS, registry=self._registry
        )
        ready = Gauge("abstain_ready", "1 once kernels are compiled and journals replayed.", registry=self._registry)
        ready.set_function(lambda: float(service.ready))
        Gauge("abstain_build_info", "The version.", ["version"], registry=self._registry).labels(__version__).set(1)
        self._registry.register(self._gauges)

    def observe(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a call.

        Args:
            route: The path of its route, with the names of parameters.
            method: The method.
            status: The status of the reply; 0 if there was none.
            seconds: How long it took.
        """
        method = method if method in METHODS else "other"
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route, method).observe(seconds)

    async def render(self) -> tuple[bytes, str]:
        """All metrics as text.

        Returns:
            The text and its content type.
        """
        async with self._lock:
            await self._gauges.look()
            counters = self._service.counters
            taken, counters.commit_times = counters.commit_times, []
            for seconds in taken:
                self._commits.observe(seconds)
            return generate_latest(self._registry), CONTENT_TYPE_LATEST


class _Gates(Collector):
    """The numbers of all gates."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._next = 0.0
        self._looking: asyncio.Task[None] | None = None
        self._health: dict[str, Mapping[str, Any]] = {}
        self._states: dict[str, bool] = {}

    async def look(self) -> None:
        """Read anew what needs a look at every gate, if that is old; do not wait for it for long."""
        if self._looking is None and self._service.ready and time.monotonic() > self._next:
            self._looking = asyncio.create_task(self._look())
        if self._looking is not None:
            await asyncio.wait({self._looking}, timeout=PATIENCE_SECONDS)

    async def _look(self) -> None:
        began = time.monotonic()
        try:
            gates = await self._service.gates()
            found: dict[str, Mapping[str, Any]] = {}
            for gate in gates:
                with contextlib.suppress(ServiceError):  # stopped, deleted meanwhile, or another replica's
                    found[gate.name] = await self._service.health(gate.name)
            self._states = {gate.name: gate.state == "running" for gate in gates}
            self._health = found
        except Exception:
            LOG.exception("gauges not read")
        finally:
            # With many gates a look takes a while: it may take a tenth of the time.
            self._next = time.monotonic() + max(HEALTH_SECONDS, 10.0 * (time.monotonic() - began))
            self._looking = None

    def describe(self) -> Iterable[Metric]:
        """Return nothing: what is collected depends on the gates."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield every metric of the gates."""
        counters = self._service.counters
        decisions = CounterMetricFamily(
            "abstain_decisions", "Decisions.", labels=["gate", "action", "model", "explored", "over_capacity"]
        )
        decided: dict[str, int] = {}
        reviewed: dict[str, int] = {}
        for (gate, action, model, explored, over), n in list(counters.decisions.items()):
            decisions.add_metric([gate, action, model, _flag(explored), _flag(over)], n)
            decided[gate] = decided.get(gate, 0) + n
            reviewed[gate] = reviewed.get(gate, 0) + (n if action == "review" else 0)
        yield decisions
        yield _family(
            GaugeMetricFamily,
            "abstain_reviewed_share",
            "Share of the decisions since the start that were sent to review.",
            {gate: reviewed[gate] / n for gate, n in decided.items() if n},
        )
        labels = CounterMetricFamily("abstain_labels", "Labels.", labels=["gate", "source", "status"])
        for (gate, source, status), n in list(counters.labels.items()):
            labels.add_metric([gate, source, status], n)
        yield labels
        prices = CounterMetricFamily(
            "abstain_price", "What decisions cost, in the gate's money, as first known.", labels=["gate", "action"]
        )
        for (gate, action), total in list(counters.prices.items()):
            prices.add_metric([gate, action], total)
        yield prices
        for name, about, values in (
            ("expired", "Cases whose window passed without a label.", counters.expired),
            ("held_labels", "Labels that came before their case.", counters.held),
            ("unmatched_labels", "Held labels without a case that fits.", counters.unmatched),
            ("replay_mismatches", "Events that were decided otherwise in a replay.", counters.mismatches),
        ):
            # From 0 on for every gate: Prometheus does not see the first step of a series that begins with it.
            yield _family(CounterMetricFamily, f"abstain_{name}", about, {**dict.fromkeys(self._states, 0), **values})
        yield CounterMetricFamily("abstain_commits", "Commits.", value=counters.commits)
        yield CounterMetricFamily("abstain_failed_commits", "Commits that failed.", value=counters.failed_commits)
        yield CounterMetricFamily("abstain_events", "Events that were committed.", value=counters.committed_events)
        yield _family(GaugeMetricFamily, "abstain_gate_running", "0 if the gate is stopped.", dict(self._states))
        for name, about, key in (
            ("open_reviews", "Cases sent to review that have no label yet.", "open"),
            ("oldest_review_seconds", "Age of the oldest of them.", "oldest"),
            ("pending_labels", "Cases whose label is awaited.", "pending"),
            ("capacity_left", "Reviews that the capacity allows now.", "capacity_left"),
            ("alarms", "Models in alarm.", "alarms"),
        ):
            found = {gate: health.get(key) for gate, health in self._health.items()}
            yield _family(GaugeMetricFamily, f"abstain_{name}", about, found)


def _family(kind: Any, name: str, about: str, values: Mapping[str, Any]) -> Metric:
    family: Metric = kind(name, about, labels=["gate"])
    for gate, value in values.items():
        if value is not None:
            family.add_metric([gate], float(len(value) if isinstance(value, (list, tuple)) else value))  # type: ignore[attr-defined]
    return family


def _flag(value: bool) -> str:
    return "true" if value else "false"

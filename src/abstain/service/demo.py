"""`abstain serve --demo`: the month of `abstain demo` passes through a gate in two minutes, so that the page is alive.

Three models read pictures of digits. From day 10 to 15 the best one is shown other pictures and stays as certain as
ever; then it is off for a day. Labels come a day and a half late. Reviews of the last day and a half stay open, for
whoever watches.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import tempfile
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.extras import need
from ..replay import demo as month
from .bodies import DecisionBody, GateBody, LabelRow
from .problems import NotFound, ServiceError

if TYPE_CHECKING:
    from fastapi import FastAPI

    from .service import Service

GATE = "demo"
SETTINGS: dict[str, Any] = {
    "models": list(month.NAMES), "review_price": 1.0, "mistake_price": 5.0, "classes": list(range(10)),
    "today": ["boosting", 0.8], "labels": "both", "seed": 0,
}  # fmt: skip
ROWS = 20_000
SECONDS = 90.0
"""How long the month takes."""
BATCH = 50
SHADES = " ░▒▓█"
START = month.START.replace(tzinfo=UTC).timestamp()
LOG = logging.getLogger("abstain.service")


class DemoClock:
    """The time in the demo's month; it is set while cases pass, and runs as usual before and after."""

    def __init__(self) -> None:
        self._now, self._set = START, time.monotonic()

    def __call__(self) -> float:
        """Return the time in seconds since 1970."""
        return self._now + time.monotonic() - self._set

    def set(self, now: float) -> None:
        """Set the time; it never goes back."""
        self._now, self._set = max(now, self()), time.monotonic()


class Shown(NamedTuple):
    """A case of the month."""

    time: float
    due: float
    """When its label comes."""
    label: int
    body: DecisionBody


def cases(rows: int = ROWS, seed: int = 0) -> Iterator[Shown]:
    """The cases of the demo's month, in their order.

    Args:
        rows: How many cases there are.
        seed: The seed of the month.
    """
    import polars as pl

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log.csv")
        drawn = month.write(path, rows, seed)
        table = pl.read_csv(path, try_parse_dates=True)
    for number, row in enumerate(table.iter_rows(named=True), 1):
        moment = row["time"].replace(tzinfo=UTC)
        answers = {
            name: None if row[name] is None else {"answer": row[name], "confidence": row[f"{name}_confidence"]}
            for name in month.NAMES
        }
        context = {"picture": picture(drawn[number - 1])}
        body = DecisionBody.model_validate(
            {"case": f"digit {number:05}", "answers": answers, "time": moment.isoformat(), "context": context}
        )
        due = row["label_time"].replace(tzinfo=UTC).timestamp()
        yield Shown(moment.timestamp(), due, int(row["label"]), body)


def picture(points: Any) -> str:
    """A picture of 8 x 8 points as text.

    >>> print(picture(np.linspace(0, 16, 64)).splitlines()[1])
    ░░░░░░░░░░░░░░░░
    """
    levels = np.clip(np.round(points.reshape(8, 8) / 16.0 * (len(SHADES) - 1)), 0, len(SHADES) - 1).astype(int)
    return "\n".join("".join(2 * SHADES[level] for level in line) for line in levels.tolist())


def start_demo(app: FastAPI, service: Service) -> None:
    """Let the month pass as soon as the service is ready, and end with the application.

    Args:
        app: The application.
        service: The gates. If there are no others, its clock shows the month's times.

    Raises:
        ImportError: If scikit-learn is not installed, which has the digits.
    """
    need("sklearn", "abstain serve --demo", "sklearn")
    around = app.router.lifespan_context

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[Any]:
        async with around(app) as state:
            task = asyncio.create_task(_play(service))
            try:
                yield state
            finally:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task

    app.router.lifespan_context = lifespan


async def _play(service: Service) -> None:
    while not service.ready:
        await asyncio.sleep(0.05)
    try:
        clock = None
        if all(gate.name == GATE for gate in await service.gates()):  # the time of other gates is the real one
            clock = DemoClock()
            service.clock = clock
        await stream(service, clock)
    except ServiceError as error:
        LOG.warning("the demo ended: %s", error)


async def stream(
    service: Service, clock: DemoClock | None = None, *, rows: int = ROWS, seconds: float = SECONDS, seed: int = 0
) -> None:
    """Make the demo's gate, unless the store has it, and let the month pass through it.

    Args:
        service: The gates.
        clock: The clock that the service was made with.
        rows: How many cases there are.
        seconds: How long that takes.
        seed: The seed of the month.
    """
    try:
        kept = await service.gate(GATE)
        if kept.decided > 0:  # in a store that was kept
            if clock is not None:
                clock.set((await service.events(GATE, after=kept.seq - 1))[-1].at)
            return
    except NotFound:
        await service.put_gate(GATE, GateBody.model_validate(SETTINGS))
    coming = await asyncio.to_thread(lambda: list(cases(rows, seed)))
    waiting: deque[tuple[Shown, str]] = deque()
    began, end = time.monotonic(), coming[-1].time
    for first in range(0, len(coming), BATCH):
        batch = coming[first : first + BATCH]
        await asyncio.sleep(max(0.0, began + seconds * first / len(coming) - time.monotonic()))
        now = batch[-1].time
        if clock is not None:
            clock.set(now)
        due = [waiting.popleft() for _ in range(len(waiting)) if waiting[0][0].due <= now]
        await _tell(service, due)
        replies = await service.decide_many(GATE, [one.body for one in batch])
        waiting.extend((one, getattr(reply, "action", "")) for one, reply in zip(batch, replies, strict=True))
    if clock is not None:
        clock.set(end + month.LATE.total_seconds())
    await _tell(service, [one for one in waiting if one[1] == "answer"])


async def _tell(service: Service, due: list[tuple[Shown, str]]) -> None:
    """Bring labels; some may be there already, from whoever watches."""
    for first in range(0, len(due), BATCH):
        sources = {"review": "review", "answer": "outcome"}
        rows = [
            LabelRow.model_validate({"case": one.body.case, "label": one.label, "source": sources[action]})
            for one, action in due[first : first + BATCH]
            if action
        ]
        if rows:
            await service.label_many(GATE, rows)

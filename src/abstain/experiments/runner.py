"""Running studies: jobs that the folder does not have yet run on all cores or a Dask cluster."""

import importlib
import os
import platform
import re
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..datasets.loading import as_folder
from ..errors import AbstainError, InputError
from ..paper import growth
from ..paper.logs import study as log_studies
from . import outputs
from .jobs import DrawJob, Job, Record, batches, comparators, dataset_of, draw_jobs, run_batch
from .results import RESULTS, Log, collect
from .results import write as write_results
from .sets import check_same
from .study import LearnerStudy, described
from .toml import AnyStudy

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

EVERY = 10.0
"""Seconds between two lines."""
BURST = 1.0
"""Seconds in which jobs that come together are reported."""
ENOUGH = 10
"""Jobs after which the time left is told, or a twentieth of all, if that is less, but more than a few."""
FEW = 3


class Left:
    """The time left, in words: told once enough is done, by what came after the first jobs, for which all is compiled.

    >>> left = Left(10.0, n_jobs=6)
    >>> [left.after(1.0, seconds) for seconds in (60.0, 61.5, 63.0, 64.5)]
    ['', '', '', ', about 9 s left']
    """

    def __init__(self, total: float, n_jobs: int) -> None:
        self.left, self.n_done = total, 0
        self.enough = max(FEW + 1, min(ENOUGH, n_jobs / 20))
        self.start, self.whole = 0.0, total

    def after(self, weight: float, now: float) -> str:
        """When one more job of that weight is done."""
        self.left, self.n_done = self.left - weight, self.n_done + 1
        if self.n_done == 1:
            self.start = now
        if now - self.start < BURST:  # those that came with the first
            self.whole = self.left
        if self.n_done < self.enough or self.left >= self.whole:
            return ""
        return f", about {(now - self.start) * self.left / (self.whole - self.left):,.0f} s left"


def slow_ones(jobs: Sequence[Job]) -> str:
    """Which learners of these are written in Python, as a clause; they take most of the time."""
    labels = dict.fromkeys(
        spec.label for job in jobs if isinstance(job, DrawJob) for spec in job.learners if spec.in_python
    )
    if not labels:
        return ""
    one = len(labels) == 1
    return f"; {', '.join(labels)} {'is' if one else 'are'} written in Python: the slow one{'' if one else 's'}"


@contextmanager
def progress(
    wanted: Mapping[str, Job], todo: Mapping[str, Job], console: "Console | None"
) -> Iterator[Callable[[Job], None]]:
    """What is called with each job that is finished."""
    if console is None or not todo:
        yield lambda job: None
        return
    done, slow = len(wanted) - len(todo), slow_ones(list(todo.values()))
    total = sum(job.weight for job in todo.values())
    if not console.is_terminal:
        last, left = time.monotonic(), Left(total, len(todo))
        console.print(f"{done:,} of {len(wanted):,} jobs{slow}", markup=False, highlight=False, soft_wrap=True)

        def line(job: Job) -> None:
            nonlocal done, last
            done += 1
            now = time.monotonic()
            told = left.after(job.weight, now)
            if now - last >= EVERY and done < len(wanted):
                last = now
                text = f"{done:,} of {len(wanted):,} jobs{told}{slow}"
                console.print(text, markup=False, highlight=False, soft_wrap=True)

        yield line
        return
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"),
               TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())  # fmt: skip
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(f"{done:,} of {len(wanted):,} jobs{escape(slow)}", total=total)

        def advance(job: Job) -> None:
            nonlocal done
            done += 1
            bar.update(task, advance=job.weight, description=f"{done:,} of {len(wanted):,} jobs{escape(slow)}")

        yield advance


CONNECT_SECONDS = 10
"""How long to wait for a Dask scheduler."""


def run_all(
    batches: Sequence[list[Job]], data: str | None, jobs: int, dask: str | None
) -> Generator[list[Record], None, None]:
    """The records of each batch, in the order they come."""
    if dask is not None:
        return _on_dask(batches, data, dask)
    if jobs == 1 or len(batches) <= 1:
        return (run_batch(batch, data) for batch in batches)
    return _on_cores(batches, data, jobs)


def _on_cores(batches: Sequence[list[Job]], data: str | None, jobs: int) -> Generator[list[Record], None, None]:
    import joblib
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    # A worker that has grown, by the tables it keeps, is replaced by a new one; nothing is lost.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
    pool = joblib.Parallel(n_jobs=min(jobs, len(batches)), return_as="generator_unordered", batch_size=1)
    with _ctrl_c_kept_from_children():  # they end with this process
        results = pool(joblib.delayed(_in_worker)(batch, data, os.getpid()) for batch in batches)
    try:
        for records in results:  # noqa: UP028 (`yield from` would close them before the warning is silenced)
            yield records
    except TerminatedWorkerError:
        raise AbstainError(
            "a worker was ended from outside, perhaps for want of memory; what is finished is kept: run it again, "
            "with fewer jobs if need be"
        ) from None
    finally:
        with warnings.catch_warnings():  # that tasks are given up is what was asked for
            warnings.simplefilter("ignore")
            results.close()


@contextmanager
def _ctrl_c_kept_from_children() -> Iterator[None]:
    """Processes started inside never get Ctrl-C, not even while they start; this one gets it afterwards.

    A terminal sends it to all its processes, and each would print a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):  # not on this system
        yield
        return
    from multiprocessing import resource_tracker as of_python

    from joblib.externals.loky.backend import resource_tracker as of_joblib

    for tracker in (of_python, of_joblib):  # whose start would let it through again
        tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _in_worker(batch: list[Job], data: str | None, parent: int) -> list[Record]:
    if not _watching:
        _watching.append(threading.Thread(target=_end_with, args=(parent,), daemon=True))
        _watching[0].start()
    return run_batch(batch, data)


_watching: list[threading.Thread] = []


def _end_with(parent: int) -> None:
    """End this worker soon after the process that started it was killed: it could not end it itself."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _on_dask(batches: Sequence[list[Job]], data: str | None, address: str) -> Generator[list[Record], None, None]:
    """A batch whose worker dies is run again on another."""
    if not re.fullmatch(r"((tcp|tls|ucx|ws|wss)://)?[^/\s]+:\d+", address):
        raise InputError(f"dask: expected the address of a scheduler, such as tcp://host:8786, got {address!r}")
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise InputError(
            "dask: expected dask and distributed to be installed (the extra 'dask'), got neither"
        ) from None
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"dask: expected the address of a scheduler, got {address!r} ({error})") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError:
            raise InputError(f"dask: expected workers at {address}, got none in {CONNECT_SECONDS} seconds") from None
        futures = {client.submit(run_batch, batch, data, pure=False): batch for batch in batches}
        for future in distributed.as_completed(futures, loop=client.loop):
            yield future.result() if future.status == "finished" else _lost(futures[future], future)


def _lost(batch: list[Job], future: Any) -> list[Record]:
    """Records that say why a batch has none."""
    error = future.exception() if future.status == "error" else f"the task was {future.status}"
    why = f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else error
    return [{"key": job.key, "what": str(job), "failed": why, "traceback": f"{why}\n"} for job in batch]


FAILURES = "failures.txt"


@dataclass
class Session:
    """What a run did."""

    studies: tuple[AnyStudy, ...]
    curves: "pl.DataFrame"
    path: Path
    """Where the curves are."""
    n_kept: int = 0
    n_run: int = 0
    n_missing: int = 0
    """How many jobs were in the log, were run now, and have no data."""
    missing: dict[str, str] = field(default_factory=dict)
    """The data sets that are not here, and what `datasets.load` said."""
    failures: list[Record] = field(default_factory=list)
    """The jobs that failed: ``what``, ``failed`` (why), ``traceback``. They are tried again by the next run."""
    seconds: float = 0.0
    grown: list[growth.Row] = field(default_factory=list)
    """Runs of ContEXP3-ABS."""
    logged: "pl.DataFrame" = field(default=None)  # type: ignore[assignment]
    """Runs on logs."""


def run(
    studies: Sequence[AnyStudy],
    out: Path,
    *,
    data: Path | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    console: "Console | None" = None,
) -> Session:
    """Run what is not in the folder ``out`` yet, and write all curves of the studies to its ``results.parquet``.

    ``data`` is the folder of the data sets, ``jobs`` the number of processes (all cores, if None), ``dask`` the address
    of a Dask scheduler to be used instead. Sets that are not here are left out; see the session's ``missing``.
    """
    start = time.perf_counter()
    names = [study.name for study in studies]
    if len(set(names)) < len(names):
        raise InputError(f"studies: expected no name twice, got {', '.join(names)}")
    if data is not None:
        data = as_folder(data)
    folder = None if data is None else str(Path(data).absolute())
    wanted: dict[str, Job] = {}
    for study in studies:
        wanted |= {job.key: job for job in _jobs_of(study)}
    session = Session(tuple(studies), None, Path(out) / RESULTS)  # type: ignore[arg-type]
    with Log(Path(out)) as log:
        todo = {key: job for key, job in wanted.items() if key not in log.records}
        session.n_kept = len(wanted) - len(todo)
        kept = [
            (dataset, log.records[key])
            for key, job in wanted.items()
            if key in log.records and (dataset := dataset_of(job)) is not None
        ]
        check_same(kept, folder, Path(out))
        if todo:
            log.note(
                {"abstain": __version__, "host": platform.node(), "studies": [described(study) for study in studies]}
            )
        with (
            progress(wanted, todo, console) as advance,
            closing(run_all(batches(todo.values()), folder, jobs or _n_cores(), dask)) as results,
        ):
            for records in results:
                for record in records:
                    _take(record, log, session)
                    advance(todo[record["key"]])
        session.curves = collect([study for study in studies if isinstance(study, LearnerStudy)], log.records)
        session.grown = growth.collect(studies, log.records)
        session.logged = log_studies.collect(studies, log.records)
        write_results(session.path, session.curves, studies, session.grown)
        _write_failures(session)
    session.seconds = time.perf_counter() - start
    return session


def _jobs_of(study: AnyStudy) -> list[Job]:
    """All that a study needs."""
    if isinstance(study, growth.GrowthStudy):
        return [*growth.jobs(study)]
    if isinstance(study, log_studies.LogStudy):
        return [*log_studies.jobs(study)]
    return [*draw_jobs(study), *comparators(study)]


def _n_cores() -> int:
    import joblib

    return int(joblib.cpu_count())


def _take(record: Record, log: Log, session: Session) -> None:
    if "missing" in record:
        session.missing[record["missing"]] = record["why"]
        session.n_missing += 1
    elif "failed" in record:
        session.failures.append(record)
    else:
        log.append(record)
        session.n_run += 1


def _write_failures(session: Session) -> None:
    path = session.path.with_name(FAILURES)
    if session.failures:
        text = "\n".join(f"{record['what']}\n{record['traceback']}" for record in session.failures)
        outputs.write(path, text.encode())
    else:
        with outputs.writing(path):
            path.unlink(missing_ok=True)

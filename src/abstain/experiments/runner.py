"""Running studies: jobs that the folder does not have yet run on all cores or a Dask cluster."""

import importlib
import os
import platform
import re
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from .._core import terminal
from .._core.files import write_bytes, writing
from ..datasets.loading import as_folder
from ..errors import AbstainError, FileError, InputError
from .jobs import Job, Record, batches, run_batch
from .results import Journal, collect, write_all
from .sets import check_same
from .study import LearnerStudy, Study

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

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


def slow_ones(jobs: Iterable[Job]) -> str:
    """Which learners of these are written in Python, as a clause; they take most of the time."""
    labels = dict.fromkeys(label for job in jobs for label in job.slow)
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
    slow, total, n_done, weight = slow_ones(todo.values()), sum(job.weight for job in todo.values()), 0, 0.0
    left = Left(total, len(todo))

    def text(more: str = "") -> str:
        return f"{len(wanted) - len(todo) + n_done:,} of {len(wanted):,} jobs{more}{slow}"

    with terminal.progress(console, keep=True) as report:
        if not console.is_terminal:
            terminal.say(console, text())

        def advance(job: Job) -> None:
            nonlocal n_done, weight
            n_done, weight = n_done + 1, weight + job.weight
            told = left.after(job.weight, time.monotonic())
            if console.is_terminal or n_done < len(todo):
                report("jobs", 100.0 * weight / total, 100.0, text=text("" if console.is_terminal else told))

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

    studies: tuple[Study, ...]
    out: Path
    """The folder of the results."""
    frames: "dict[str, pl.DataFrame]" = field(default_factory=dict)
    """The results by kind of study: `Study.kind`."""
    records: dict[str, Record] = field(default_factory=dict)
    """What every job came to, by key."""
    paths: list[Path] = field(default_factory=list)
    """The files of the results."""
    n_kept: int = 0
    """How many jobs were in the journal."""
    n_run: int = 0
    """How many were run now."""
    n_missing: int = 0
    """How many have no data."""
    missing: dict[str, str] = field(default_factory=dict)
    """The data sets that are not here, and what `datasets.load` said."""
    failures: list[Record] = field(default_factory=list)
    """The jobs that failed: ``what``, ``failed`` (why), ``traceback``. They are tried again by the next run."""
    seconds: float = 0.0

    @property
    def curves(self) -> "pl.DataFrame":
        """The learners' curves: see `LearnerStudy.collect`."""
        return self.frames[LearnerStudy.kind]


def run(
    studies: Sequence[Study],
    out: Path,
    *,
    data: Path | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    more: Sequence[Job] = (),
    console: "Console | None" = None,
) -> Session:
    """Run the jobs that the folder does not have yet, and write the results of the studies: one file for each kind.

    Args:
        studies: The studies; those of learners on data sets write ``results.parquet``.
        out: The folder; a run goes on where another stopped.
        data: The folder of the data sets.
        jobs: The number of processes; all cores, if None.
        dask: The address of a Dask scheduler to be used instead.
        more: Jobs beside those of the studies; their records are in the session's.
        console: Where to show how far it is.

    Returns:
        The session. Data sets that are not here are left out, and are in its ``missing``.

    Raises:
        InputError: If two studies have the same name.
        FileError: If the folder has results of other data files, or cannot be written.
    """
    start = time.perf_counter()
    names = [study.name for study in studies]
    if len(set(names)) < len(names):
        raise InputError(f"studies: expected no name twice, got {', '.join(names)}")
    if data is not None:
        data = as_folder(data)
    folder = None if data is None else str(Path(data).absolute())
    wanted = {job.key: job for study in studies for job in study.jobs()} | {job.key: job for job in more}
    session = Session(tuple(studies), Path(out))
    with Journal(session.out) as journal:
        kept = {key: job for key, job in wanted.items() if key in journal.records}
        todo = {key: job for key, job in wanted.items() if key not in kept}
        session.n_kept, session.records = len(kept), journal.records
        for key, job in kept.items():
            if not set(job.fields) <= journal.records[key].keys():
                raise FileError(
                    f"{journal.path}: the record of {job} is damaged; remove its line ({key}) to run it again"
                )
        check_same(
            ((job.dataset, journal.records[key]) for key, job in kept.items() if job.dataset is not None),
            folder,
            session.out,
        )
        if todo:
            asked = [study.described() for study in studies]
            journal.note({"abstain": __version__, "host": platform.node(), "studies": asked})
        with (
            progress(wanted, todo, console) as advance,
            closing(run_all(batches(todo.values()), folder, jobs or _n_cores(), dask)) as results,
        ):
            for records in results:
                for record in records:
                    _take(record, journal, session)
                    advance(todo[record["key"]])
        session.frames = collect(studies, journal.records)
        session.paths = write_all(session.out, session.frames, studies)
        _write_failures(session)
    session.seconds = time.perf_counter() - start
    return session


def _n_cores() -> int:
    import joblib

    return int(joblib.cpu_count())


def _take(record: Record, journal: Journal, session: Session) -> None:
    if "missing" in record:
        session.missing[record["missing"]] = record["why"]
        session.n_missing += 1
    elif "failed" in record:
        session.failures.append(record)
    else:
        journal.append(record)
        session.n_run += 1


def _write_failures(session: Session) -> None:
    path = session.out / FAILURES
    if session.failures:
        text = "\n".join(f"{record['what']}\n{record['traceback']}" for record in session.failures)
        write_bytes(path, text.encode())
    else:
        with writing(path):
            path.unlink(missing_ok=True)

"""Where batches run: in this process, on all cores, or on a Dask cluster."""

import importlib
import os
import re
import signal
import threading
import time
import warnings
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..errors import AbstainError, InputError
from .batch import Record, run_batch
from .jobs import Job

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

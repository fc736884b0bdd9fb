"""Running studies: what is not in the folder's log yet is run and added to it."""

import platform
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .. import __version__
from ..datasets.loading import as_folder
from ..errors import InputError
from . import growth, metadata, outputs
from .batch import Record
from .described import described
from .jobs import Job, batches, comparators, dataset_of, draw_jobs
from .log import Log
from .logs import results as logged
from .logs import study as log_studies
from .progress import progress
from .results import collect
from .sources import check_same
from .spec import AnyStudy
from .study import Study
from .workers import run_all

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

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
    session = Session(tuple(studies), None, Path(out) / metadata.NAME)  # type: ignore[arg-type]
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
        session.curves = collect([study for study in studies if isinstance(study, Study)], log.records)
        session.grown = growth.collect(studies, log.records)
        session.logged = logged.collect(studies, log.records)
        metadata.write(session.path, session.curves, studies, session.grown)
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

"""What a folder of results holds: the journal of finished jobs, the curves, and what they are results of."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import __version__
from ..errors import FileError
from . import outputs
from .jobs import Comparator, Record, draw_jobs
from .outputs import make_folder, writing
from .study import LearnerStudy, described, shown_rounds
from .toml import AnyStudy

if TYPE_CHECKING:
    import polars as pl

    from ..paper.growth import Row

JOBS = "jobs.jsonl"
HEADER = b'{"format": "abstain-jobs", "version": 1}\n'
OLD_NAME = "cells.jsonl"
OLD_HEADER = b'{"format": "abstain-cells", "version": 1}\n'
"""What they were at first; such a log is taken over."""


class Log:
    """The finished jobs of a folder, by key. Lines are added by one process at a time, each in one piece.

    What stands behind the last end of line was being written when the process was killed; it is overwritten.
    """

    def __init__(self, folder: Path) -> None:
        self.path = make_folder(folder) / JOBS
        self.records: dict[str, Record] = {}
        old = self.path.with_name(OLD_NAME)
        if old.is_file() and not self.path.exists():
            with writing(old):
                old.rename(self.path)
        if self.path.exists() and not self.path.is_file():
            raise FileError(f"{self.path}: expected a file, got something else")
        with writing(self.path):
            self._stream = self.path.open("a+b", buffering=0)
        try:
            self._lock()
            self._read()
        except BaseException:
            self._stream.close()
            raise

    def _lock(self) -> None:
        try:
            import fcntl
        except ImportError:  # not on this system: nothing keeps two runs apart
            return
        try:
            fcntl.flock(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FileError(f"{self.path}: another run is writing here; wait for it, or use another folder") from None
        except OSError:
            pass  # a file system without locks

    def _read(self) -> None:
        self._stream.seek(0)
        content = self._stream.readall()
        end = content.rfind(b"\n") + 1
        if not any(content.startswith(head) if end > 0 else head.startswith(content) for head in (HEADER, OLD_HEADER)):
            raise FileError(f"{self.path}: expected the log of a study, version 1, got another file")
        for number, line in enumerate(content[:end].splitlines()[1:], start=2):
            try:
                record = json.loads(line)
                if "run" not in record:
                    if "regret" not in record and not ("data" in record and ("runs" in record or "best" in record)):
                        raise KeyError("what was found")
                    self.records[record["key"]] = record
            except (ValueError, TypeError, KeyError):
                raise FileError(f"{self.path}: line {number} is damaged; remove it, and its job is run again") from None
        with writing(self.path):
            self._stream.truncate(end)
        if end == 0:
            self._write(HEADER)

    def _write(self, line: bytes) -> None:
        with writing(self.path):
            while line:
                line = line[self._stream.write(line) :]

    def append(self, record: Record) -> None:
        """Add a finished job."""
        self._write(json.dumps(record, separators=(",", ":")).encode() + b"\n")
        self.records[record["key"]] = record

    def note(self, settings: Mapping[str, Any]) -> None:
        """Add what a run was asked for; it is there for who reads the log."""
        self._write(json.dumps({"run": settings}, ensure_ascii=False).encode() + b"\n")

    def close(self) -> None:
        """Let others write here."""
        self._stream.close()

    def __enter__(self) -> "Log":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()


ORDER = ("study", "dataset", "cost", "expert_set", "draw", "learner", "t")
MACHINE = ("seconds_run", "host")
"""The columns that depend on the machine; all others are the same wherever and however often a study is run."""


def collect(studies: Sequence[LearnerStudy], records: Mapping[str, Record]) -> "pl.DataFrame":
    """The curves of the studies, as far as there are records of them.

    A row is a learner at a round t: its cumulative loss, that of the best expert (``best``) and of the best sequence of
    experts, one for each regime of a stream (``tracked``: the same where nothing moves), the rounds abstained, the
    edges of the graph in use. Its regret is ``loss - best``, its tracking regret ``loss - tracked``.
    """
    import polars as pl

    runs: dict[str, list[Any]] = {name: [] for name in _schema()}
    for study in studies:
        t = shown_rounds(study.rounds, study.checkpoints).tolist()
        for job in draw_jobs(study):
            played = records.get(job.key)
            compared = records.get(Comparator(job.stage, job.cost, study.draws).key)
            if played is not None and compared is not None:
                for spec, run in zip(study.learners, played["runs"], strict=True):
                    values = (
                        study.name, job.stage.dataset, job.cost, job.stage.expert_set, job.draw, spec.label,
                        t, run["loss"], compared["best"][job.draw],
                        compared["tracked" if "tracked" in compared else "best"][job.draw], run["abstained"],
                        run["edges"], run["seconds_run"], played["host"],
                    )  # fmt: skip
                    for name, value in zip(runs, values, strict=True):
                        runs[name].append(value)
    along = [name for name, kind in _schema().items() if isinstance(kind, pl.List)]
    return pl.DataFrame(runs, schema=_schema()).explode(along).sort(ORDER)


def _schema() -> "dict[str, Any]":
    import polars as pl

    return {
        "study": pl.String, "dataset": pl.String, "cost": pl.Float64, "expert_set": pl.Int64, "draw": pl.Int64,
        "learner": pl.String, "t": pl.List(pl.Int64), "loss": pl.List(pl.Float64), "best": pl.List(pl.Float64),
        "tracked": pl.List(pl.Float64), "abstained": pl.List(pl.Int64), "edges": pl.List(pl.Int64),
        "seconds_run": pl.Float64, "host": pl.String,
    }  # fmt: skip


def over_units(curves: "pl.DataFrame") -> "pl.DataFrame":
    """The curves with each draw as an expert set of its own where there is but one: for deviations over draws."""
    import polars as pl

    alone = pl.col("expert_set").n_unique().over("study", "dataset", "cost") == 1
    return curves.with_columns(expert_set=pl.when(alone).then(pl.col("draw")).otherwise(pl.col("expert_set")))


def summary(curves: "pl.DataFrame") -> "pl.DataFrame":
    """Mean and standard deviation over the expert sets, of the means over each one's draws.

    Average regret R_t/t, fraction abstained so far, edges, average loss; the deviation (ddof 1) of a single expert set
    is 0.
    """
    import polars as pl

    group = ("study", "dataset", "cost", "learner", "t")
    shown = curves.select(
        *group,
        "expert_set",
        regret=(pl.col("loss") - pl.col("best")) / pl.col("t"),
        abstained=pl.col("abstained") / pl.col("t"),
        edges=pl.col("edges").cast(pl.Float64),
        loss=pl.col("loss") / pl.col("t"),
    )
    columns = ("regret", "abstained", "edges", "loss")
    of_sets = shown.group_by(*group, "expert_set", maintain_order=True).agg(pl.col(columns).mean())
    parts = [
        part
        for name in columns
        for part in (pl.col(name).mean(), pl.col(name).std(ddof=1).fill_null(0.0).alias(f"{name}_sd"))
    ]
    return of_sets.group_by(group, maintain_order=True).agg(*parts).sort(group)


RESULTS = "results.parquet"
KEY = "abstain"
"""Of the metadata; JSON is under it."""


class Results(NamedTuple):
    """What a file of results holds."""

    curves: "pl.DataFrame"
    about: Mapping[str, Any]
    """``version`` of the library; ``studies``, all their fields (seeds, learners and their options among them);
    ``growth``, runs of ContEXP3-ABS (`growth.Row`). Empty for files of earlier versions."""


def write(path: Path, curves: "pl.DataFrame", studies: Sequence[AnyStudy], grown: "Sequence[Row]") -> None:
    """Write a file of results."""
    about = {"version": __version__, "studies": [described(study) for study in studies], "growth": grown}
    stream = io.BytesIO()
    curves.write_parquet(stream, metadata={KEY: json.dumps(about)})
    outputs.write(path, stream.getvalue())


def read(path: Path) -> Results:
    """Read the file, or that of a folder."""
    import polars as pl

    file = path / RESULTS if path.is_dir() else path
    if not file.is_file():
        raise FileError(f"{file}: expected results of a study, got no such file")
    try:
        about = json.loads(pl.read_parquet_metadata(file).get(KEY, "{}"))
        return Results(pl.read_parquet(file), about)
    except OSError as error:
        raise FileError(f"{file}: cannot be read ({error.strerror or error})") from None
    except Exception as error:  # whatever bytes that are no such file make the readers raise
        raise FileError(f"{file}: expected results of a study ({error})") from None

"""What a folder of results holds: the journal of finished jobs, and a frame of results for each kind of study."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import __version__
from .._core.files import lock, make_folder, writing
from .._core.files import write_bytes as write
from ..errors import FileError
from .jobs import Record
from .study import Columns, LearnerStudy, Study, curves_frame

if TYPE_CHECKING:
    import polars as pl

JOURNAL = "jobs.jsonl"
HEADER = b'{"format": "abstain-jobs", "version": 1}\n'
MACHINE = LearnerStudy.columns.machine


class Journal:
    """The finished jobs of a folder, by key. Lines are added by one process at a time, each in one piece.

    What stands behind the last end of line was being written when the process was killed; it is overwritten.
    """

    def __init__(self, folder: Path) -> None:
        self.path = make_folder(folder) / JOURNAL
        self.records: dict[str, Record] = {}
        if self.path.exists() and not self.path.is_file():
            raise FileError(f"{self.path}: expected a file, got something else")
        with writing(self.path):
            self._stream = self.path.open("a+b", buffering=0)
        try:
            lock(self._stream, f"{self.path}: another run is writing here; wait for it, or use another folder")
            self._read()
        except BaseException:
            self._stream.close()
            raise

    def _read(self) -> None:
        self._stream.seek(0)
        content = self._stream.readall()
        end = content.rfind(b"\n") + 1
        if not (content.startswith(HEADER) if end > 0 else HEADER.startswith(content)):
            raise FileError(f"{self.path}: expected the journal of a study, version 1, got another file")
        for number, line in enumerate(content[:end].splitlines()[1:], start=2):
            try:
                record = json.loads(line)
                if "run" not in record:
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
        """Add what a run was asked for, for people who read the journal."""
        self._write(json.dumps({"run": settings}, ensure_ascii=False).encode() + b"\n")

    def close(self) -> None:
        """Let others write here."""
        self._stream.close()

    def __enter__(self) -> "Journal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()


def over_units(curves: "pl.DataFrame") -> "pl.DataFrame":
    """The curves with each draw as an expert set of its own where there is but one: for deviations over draws."""
    import polars as pl

    alone = pl.col("expert_set").n_unique().over("study", "dataset", "cost") == 1
    return curves.with_columns(expert_set=pl.when(alone).then(pl.col("draw")).otherwise(pl.col("expert_set")))


def with_pseudo(curves: "pl.DataFrame") -> "pl.DataFrame":
    """The curves with a column of pseudo-regret, which results of an earlier version lack."""
    import polars as pl

    return curves if "pseudo" in curves.columns else curves.with_columns(pseudo=pl.lit(None, pl.Float64))


LOW, HIGH = 0.1, 0.9
"""The quantiles of a summary."""


def summary(curves: "pl.DataFrame") -> "pl.DataFrame":
    """Mean, standard deviation and two quantiles (`LOW`, `HIGH`) over the expert sets, of the means over each one's
    draws.

    Average regret R_t/t, fraction abstained so far, edges, average loss, average pseudo-regret where it is known; the
    deviation (ddof 1) of a single expert set is 0.
    """
    import polars as pl

    curves = with_pseudo(curves)

    group = ("study", "dataset", "cost", "learner", "t")
    shown = curves.select(
        *group,
        "expert_set",
        regret=(pl.col("loss") - pl.col("best")) / pl.col("t"),
        abstained=pl.col("abstained") / pl.col("t"),
        edges=pl.col("edges").cast(pl.Float64),
        loss=pl.col("loss") / pl.col("t"),
        pseudo=pl.col("pseudo") / pl.col("t"),
    )
    columns = ("regret", "abstained", "edges", "loss", "pseudo")
    of_sets = shown.group_by(*group, "expert_set", maintain_order=True).agg(pl.col(columns).mean())
    parts = [
        part
        for name in columns
        for part in (
            pl.col(name).mean(),
            pl.col(name).std(ddof=1).fill_null(0.0).alias(f"{name}_sd"),
            pl.col(name).quantile(LOW, "linear").alias(f"{name}_low"),
            pl.col(name).quantile(HIGH, "linear").alias(f"{name}_high"),
        )
    ]
    return of_sets.group_by(group, maintain_order=True).agg(*parts).sort(group)


def path_of(folder: Path, kind: str) -> Path:
    """The file with the results of studies of a kind."""
    return folder / f"{kind}.parquet"


KEY = "abstain"
"""Of the files' metadata, which is JSON under it."""


class Results(NamedTuple):
    """What a file of results holds."""

    frame: "pl.DataFrame"
    version: str
    """Of the library that wrote it."""
    studies: list[dict[str, Any]]
    """All fields of the studies, seeds, learners and their options among them."""
    columns: Columns
    """What the columns of the frame are."""


def collect(studies: Sequence[Study], records: Mapping[str, Record]) -> "dict[str, pl.DataFrame]":
    """The results of the studies, as far as there are records of their jobs: a frame for each kind of study."""
    import polars as pl

    frames: dict[str, pl.DataFrame] = {LearnerStudy.kind: curves_frame()}
    for kind in dict.fromkeys(study.kind for study in studies):
        some = [study for study in studies if study.kind == kind]
        frame = pl.concat(study.collect(records) for study in some)
        frames[kind] = frame.sort(some[0].columns.keys) if some[0].is_sorted else frame
    return frames


def write_all(folder: Path, frames: "Mapping[str, pl.DataFrame]", studies: Sequence[Study]) -> list[Path]:
    """Write a file for each kind of study, and remove those of an earlier command."""
    paths = []
    for kind, frame in frames.items():
        some = [study for study in studies if study.kind == kind]
        columns = some[0].columns if some else LearnerStudy.columns
        about = {"version": __version__, "studies": [study.described() for study in some], "columns": columns._asdict()}
        stream = io.BytesIO()
        frame.write_parquet(stream, metadata={KEY: json.dumps(about)})
        paths.append(write(path_of(folder, kind), stream.getvalue()))
    for path in set(folder.glob("*.parquet")) - set(paths):
        if _about(path) is not None:
            with writing(path):
                path.unlink()
    return paths


def _about(path: Path) -> Any:
    """The metadata of a file; None if it is no file of results."""
    import polars as pl

    try:
        return json.loads(pl.read_parquet_metadata(path)[KEY])
    except Exception:  # whatever bytes that are no such file make the readers raise
        return None


def read(path: Path) -> Results:
    """Read a file of results; raise a `FileError` if it is not there, or no such file."""
    import polars as pl

    if not path.is_file():
        raise FileError(f"{path}: expected results of a study, got no such file")
    about = _about(path)
    try:
        columns = Columns(**{name: tuple(values) for name, values in about["columns"].items()})
        return Results(pl.read_parquet(path), about["version"], about["studies"], columns)
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error})") from None
    except Exception as error:
        raise FileError(f"{path}: expected results of a study ({error})") from None


def read_all(path: Path) -> dict[str, Results]:
    """Read the files of results of a folder, by kind of study, or one file; raise a `FileError` if there are none."""
    if not path.is_dir():
        return {path.stem: read(path)}
    found = {file.stem: read(file) for file in sorted(path.glob("*.parquet")) if _about(file) is not None}
    return found or {LearnerStudy.kind: read(path_of(path, LearnerStudy.kind))}

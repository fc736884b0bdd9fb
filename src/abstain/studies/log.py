"""The log of a folder: a line of JSON for each finished job, so that a killed run goes on where it stopped."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from ..errors import FileError
from .batch import Record
from .outputs import make_folder, writing

NAME = "jobs.jsonl"
HEADER = b'{"format": "abstain-jobs", "version": 1}\n'
OLD_NAME = "cells.jsonl"
OLD_HEADER = b'{"format": "abstain-cells", "version": 1}\n'
"""What they were at first; such a log is taken over."""


class Log:
    """The finished jobs of a folder, by key. Lines are added by one process at a time, each in one piece.

    What stands behind the last end of line was being written when the process was killed; it is overwritten.
    """

    def __init__(self, folder: Path) -> None:
        self.path = make_folder(folder) / NAME
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

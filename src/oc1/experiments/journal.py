"""Results kept line by line, so that a run that was interrupted at any moment can be continued."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..evaluation.protocol import FoldRecord, ImpossibleRecord
from ..files.atomic import locked
from ..files.problems import FileProblem, explained

#: The file that processes lock while they write into a folder of results.
LOCK = ".lock"


class Journal:
    """A file of JSON lines: the fingerprint of the run, then one record per line, each on disk before the next.

    Parameters
    ----------
    path : Path
        The file; made if it does not exist. A last line that was not written completely is dropped.
    fingerprint : dict
        Everything that the results depend on, in JSON's types.
    check : callable, optional
        Raises ValueError for a record that cannot be of this run.

    Raises
    ------
    ValueError
        If the file belongs to a run with another fingerprint, or is not a journal. What is impossible in a line is
        said with its number, and nothing in the file is counted.

    Attributes
    ----------
    records : dict of key to FoldRecord
        What is in the file.
    """

    def __init__(
        self,
        path: Path,
        fingerprint: dict[str, Any],
        check: Callable[[FoldRecord], None] | None = None,
    ) -> None:
        self.path, self.fingerprint, self._check = path, fingerprint, check
        self.records: dict[tuple[str, str, int, int], FoldRecord] = {}
        with explained(path, "written"):
            path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path.parent / LOCK):
            content = path.read_bytes() if path.exists() else b""
            whole = content[: content.rfind(b"\n") + 1]
            if len(whole) < len(content):
                os.truncate(path, len(whole))
            if not whole:
                self._write({"fingerprint": fingerprint})
        for number, line in enumerate(whole.splitlines(), start=1):
            self._read(number, line)

    def _read(self, number: int, line: bytes) -> None:
        """Take a line of the file. The fingerprint may come again: journals of the same run can be joined."""
        try:
            entry = json.loads(line)
            if number > 1 and "fingerprint" not in entry:
                self._take(FoldRecord(**entry))
                return
            found: dict[str, Any] = dict(entry["fingerprint"])
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            reason = f" ({error})" if isinstance(error, ImpossibleRecord) else ""
            problem = f"not a line of a journal{reason}; delete the file to start over"
            raise FileProblem(self.path, problem, line=number) from None
        if found != self.fingerprint:
            names = found.keys() | self.fingerprint.keys()
            other = sorted(name for name in names if found.get(name) != self.fingerprint.get(name))
            problem = f"holds the results of another run (other {', '.join(other)}); delete it or use another folder"
            raise FileProblem(self.path, problem)

    def _take(self, record: FoldRecord) -> None:
        known = self.records.get(record.key)
        if known is not None and known.without_times() != record.without_times():
            raise ImpossibleRecord("the same fold has another result above")
        if self._check is not None:
            self._check(record)
        self.records[record.key] = record

    def append(self, record: FoldRecord) -> None:
        """Write a record; when this returns it is on disk."""
        with locked(self.path.parent / LOCK):
            self._write(asdict(record))
        self.records[record.key] = record

    def _write(self, entry: dict[str, Any]) -> None:
        with explained(self.path, "written"), self.path.open("ab") as file:
            before = file.tell()
            try:
                file.write(json.dumps(entry, sort_keys=True).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                os.truncate(self.path, before)  # half a line would spoil the next one
                raise


def journal_path(folder: Path, name: str, fingerprint: dict[str, Any]) -> Path:
    """Return where the journal of a run is kept: runs that differ in anything have files of their own."""
    digest = hashlib.sha256(json.dumps(fingerprint, sort_keys=True).encode()).hexdigest()
    return folder / f"{name}-{digest[:10]}.jsonl"

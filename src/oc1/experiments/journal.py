"""Results kept line by line, so that a run that is interrupted at any moment can go on where it was."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path

from ..evaluation.protocol import FoldRecord


class Journal:
    """A file of JSON lines: the fingerprint of the run, then one record a line, each on disk before the next.

    Parameters
    ----------
    path : Path
        The file; it is made if it is not there. A last line that was not written to its end is dropped.
    fingerprint : dict
        All that the results depend on, in JSON's types.
    record_type : type, default=FoldRecord
        What the records are: a dataclass.

    Raises
    ------
    ValueError
        If the file is of a run with another fingerprint, or is not a journal.

    Attributes
    ----------
    records : dict of key to FoldRecord
        What is in the file.
    """

    def __init__(self, path: Path, fingerprint: dict, record_type: type[FoldRecord] = FoldRecord):
        self.path = path
        self._record_type = record_type
        self.records: dict[tuple, FoldRecord] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a+b")
        try:
            self._file.seek(0)
            content = self._file.read()
            whole = content[: content.rfind(b"\n") + 1]
            if len(whole) < len(content):
                self._file.truncate(len(whole))
            if not whole:
                self._write({"fingerprint": fingerprint})
            else:
                self._read(whole.splitlines(), fingerprint)
        except BaseException:
            self._file.close()
            raise

    def _read(self, lines: list[bytes], fingerprint: dict) -> None:
        for number, line in enumerate(lines, start=1):
            try:
                entry = json.loads(line)
                if number == 1:
                    found = entry["fingerprint"]
                else:
                    record = self._record_type(**entry)
                    self.records[record.key] = record
            except (ValueError, TypeError, KeyError):
                raise ValueError(
                    f"{self.path}, line {number}: not a line of a journal; delete the file to start over"
                ) from None
            if number == 1 and found != fingerprint:
                names = sorted(n for n in found.keys() | fingerprint.keys() if found.get(n) != fingerprint.get(n))
                raise ValueError(
                    f"{self.path} holds the results of another run (other {', '.join(names)}); "
                    "delete it or use another folder"
                )

    def append(self, record: FoldRecord) -> None:
        """Write a record; when this returns it is on disk."""
        self._write(asdict(record))
        self.records[record.key] = record

    def _write(self, entry: dict) -> None:
        self._file.write(json.dumps(entry, sort_keys=True).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def journal_path(folder: Path, name: str, fingerprint: dict) -> Path:
    """Return where the journal of a run is kept: runs that differ in anything have files of their own."""
    digest = hashlib.sha256(json.dumps(fingerprint, sort_keys=True).encode()).hexdigest()
    return folder / f"{name}-{digest[:10]}.jsonl"

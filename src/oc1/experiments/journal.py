"""Results kept line by line, so that a run that was interrupted at any moment can be continued."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..evaluation.protocol import FoldRecord


class Journal:
    """A file of JSON lines: the fingerprint of the run, then one record per line, each on disk before the next.

    Parameters
    ----------
    path : Path
        The file; made if it does not exist. A last line that was not written completely is dropped.
    fingerprint : dict
        Everything that the results depend on, in JSON's types.
    record_type : type, default=FoldRecord
        What the records are: a dataclass.

    Raises
    ------
    ValueError
        If the file belongs to a run with another fingerprint, or is not a journal.

    Attributes
    ----------
    records : dict of key to FoldRecord
        What is in the file.
    """

    def __init__(self, path: Path, fingerprint: dict[str, Any], record_type: type[FoldRecord] = FoldRecord) -> None:
        self.path = path
        self.records: dict[tuple[str, str, int, int], FoldRecord] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        content = path.read_bytes() if path.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            os.truncate(path, len(whole))
        if whole:
            self._read(whole.splitlines(), fingerprint, record_type)
        else:
            self._write({"fingerprint": fingerprint})

    def _read(self, lines: list[bytes], fingerprint: dict[str, Any], record_type: type[FoldRecord]) -> None:
        for number, line in enumerate(lines, start=1):
            try:
                entry = json.loads(line)
                if number == 1:
                    found = entry["fingerprint"]
                else:
                    record = record_type(**entry)
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

    def _write(self, entry: dict[str, Any]) -> None:
        with self.path.open("ab") as file:
            file.write(json.dumps(entry, sort_keys=True).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())


def journal_path(folder: Path, name: str, fingerprint: dict[str, Any]) -> Path:
    """Return where the journal of a run is kept: runs that differ in anything have files of their own."""
    digest = hashlib.sha256(json.dumps(fingerprint, sort_keys=True).encode()).hexdigest()
    return folder / f"{name}-{digest[:10]}.jsonl"

"""The bytes of files, unpacked."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from .problems import FilePath, FileProblem, explained


class ByteSource:
    """The bytes of a file or of standard input ("-"), unpacked if they are compressed by gzip.

    Parameters
    ----------
    path : str or path-like
    content : bytes, optional
        What to read instead of the file.
    encoding : str, optional
        Of text that is to be read as UTF-8; by default bytes stay as they are.
    """

    def __init__(self, path: FilePath, content: bytes | None = None, encoding: str | None = None) -> None:
        is_stdin = os.fspath(path) == "-"
        self.path, self.total = "standard input" if is_stdin else os.fspath(path), 0
        self._is_shared = is_stdin and content is None
        self._encoding, self._decoder = encoding, None
        with explained(self.path):
            if encoding is not None:
                self._decoder = _make_decoder(encoding)
            if content is not None:
                raw: Any = io.BytesIO(content)
                self.total = len(content)
            elif is_stdin:
                raw = sys.stdin.buffer
            else:
                raw = open(path, "rb", buffering=0)  # noqa: SIM115
                self.total = os.fstat(raw.fileno()).st_size
        self._file = io.BufferedReader(raw, 1 << 16)
        self._stream: IO[bytes] = self._file
        self.is_gzip = self.peek(2) == b"\x1f\x8b"
        if self.is_gzip:
            self._stream = gzip.GzipFile(fileobj=self._file)  # type: ignore[assignment]
        elif self.path.lower().endswith(".gz") and self.total:
            raise self.problem("is not a gzip file, although its name ends in .gz")

    @property
    def n_bytes(self) -> int:
        """Bytes read so far, packed ones if the file is; 0 for standard input, which has no known size."""
        return self._file.tell() if self.total else 0

    def problem(self, text: str, **place: Any) -> FileProblem:
        """Return a complaint about this file."""
        return FileProblem(self.path, text, **place)

    def peek(self, size: int) -> bytes:
        """Return the first bytes, which stay to be read; not for gzip files."""
        with self._guarded():
            return self._file.peek(size)[:size]

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, fewer than `size` only at the end."""
        with self._guarded():
            if self._decoder is None:
                return self._stream.read(size)
            text = block = b""
            while size < 0 or len(text) < size:
                block = self._stream.read(size)
                text += self._decoder.decode(block, final=not block).encode("utf-8", "surrogatepass")
                if not block:
                    break
            return text

    def read_all(self, limit: int) -> bytes:
        """Return all bytes; refuse more than `limit`."""
        blocks: list[bytes] = []
        while sum(map(len, blocks)) <= limit:
            # Asked for all of them at once, Python would make room for the limit.
            blocks.append(self.read(max(1 << 20, sum(map(len, blocks)))))
            if not blocks[-1]:
                return b"".join(blocks)
        raise self.problem(f"is larger than {limit:,} bytes, the most that a model file may have")

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        with explained(self.path):
            try:
                yield
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                state = "cut off" if isinstance(error, EOFError) else "damaged"
                raise self.problem(f"the gzip file is {state}: it cannot be unpacked") from None
            except UnicodeError:
                raise self.problem(f"is not text in the encoding {self._encoding}") from None

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self._is_shared:
            self._file.detach()
        else:
            self._file.close()


def _make_decoder(encoding: str) -> codecs.IncrementalDecoder:
    """Return what makes text of bytes; ValueError for what is no encoding of text."""
    try:
        "".encode(encoding)  # some codecs are from bytes to bytes
        return codecs.getincrementaldecoder(encoding)()
    except (LookupError, ValueError):
        raise ValueError(f"the encoding {encoding!r:.60} is not known") from None

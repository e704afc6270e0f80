"""What the user sees: tables, JSON, errors in one sentence, progress bars, and what Ctrl-C does."""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
import sys
import textwrap
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import typer

from ..tree.printable import MINUS, printable

Result = TypeVar("Result")

#: The longest line of a table, in characters.
MAX_TABLE_WIDTH = 100_000
#: Exit codes: the input is at fault, the command line is, the user stopped it.
BAD_INPUT, BAD_USAGE, INTERRUPTED = 1, 2, 130


class UsageError(Exception):
    """The command line asks for something impossible; the message says what, in one sentence."""


class ClusterFailure(Exception):
    """The cluster did not do its work; the message says why, in one sentence."""


def say(text: str = "", finish: Callable[[str], str] | None = None) -> None:
    """Print to stdout, without characters that could do harm; `finish` may then add some that do good."""
    text = _encodable(printable(text))
    typer.echo(text if finish is None else finish(text))


def say_words(text: str) -> None:
    """Print a sentence to stdout; in a terminal, lines end between words."""
    say(_fitting(text, sys.stdout))


def _fitting(text: str, stream: Any) -> str:
    """Return a sentence in lines that a terminal has room for; as it is, where it goes elsewhere."""
    if not stream.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return textwrap.fill(text, max(width, 20), subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _encodable(text: str) -> str:
    """Return text that stdout can take: a file on Windows may have no minus sign."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        plainer = text.replace(MINUS, "-").replace("\N{HORIZONTAL ELLIPSIS}", "...")
        return plainer.encode(encoding, "replace").decode(encoding)
    return text


def note(text: str) -> None:
    """Print a line to stderr, for people."""
    typer.echo(_fitting(printable(text), sys.stderr), err=True)


def print_json(value: Any) -> None:
    """Print a value for programs. Numbers that JSON does not have become null."""
    typer.echo(json.dumps(plain(value), ensure_ascii=False, allow_nan=False, indent=2))


def plain(value: Any) -> Any:
    """Turn numpy's values, and what holds them, into JSON's types."""
    if isinstance(value, dict):
        return {str(key): plain(own) for key, own in value.items()}
    if isinstance(value, list | tuple):
        return [plain(own) for own in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], title: str | None = None) -> None:
    """Print a table: the first column to the left, the others to the right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, title_justify="left")
    if title:
        say(title)
    for number, name in enumerate(header):
        table.add_column(Text(printable(name)), justify="right" if number else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    # A table that does not fit is wrapped by the terminal, not cut by us: it may go to a file.
    Console(markup=False, highlight=False, emoji=False, file=sys.stdout, width=MAX_TABLE_WIDTH).print(table)


def reporting_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Report errors in the input in one sentence on stderr and by an exit code; bugs keep their traceback."""

    @functools.wraps(command)
    def run(**values: Any) -> None:
        try:
            with _warnings_as_notes():
                command(**values)
        except UsageError as problem:
            fail(str(problem), BAD_USAGE)
        except ClusterFailure as problem:
            fail(str(problem), BAD_INPUT)
        except KeyboardInterrupt:
            end_at_once()
        except BrokenPipeError:
            # Whoever read our output has stopped. Nothing more must be written, not even when Python exits.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(BAD_INPUT) from None
        except MemoryError as problem:
            fail(f"not enough memory ({str(problem) or 'the data are too large'})", BAD_INPUT)
        except OSError as problem:
            file = f"{problem.filename}: " if problem.filename else ""
            fail(f"{file}{problem.strerror or problem}", BAD_INPUT)
        except ImportError as problem:
            fail(str(problem), BAD_INPUT)
        except ValueError as problem:
            is_parameter = type(problem).__name__ == "InvalidParameterError"
            fail(_one_sentence(str(problem)), BAD_USAGE if is_parameter else BAD_INPUT)

    return run


def _one_sentence(message: str) -> str:
    return " ".join(message.split())


def check_choice(option: str, given: str, choices: Iterable[str]) -> None:
    """Refuse a name that is not among the choices."""
    if given not in choices:
        raise UsageError(f"unknown {option} {given!r}; choose from {', '.join(choices)}")


def check_used(selector: str, chosen: str, given: Mapping[str, Any], uses: Mapping[str, Sequence[str]]) -> None:
    """Refuse options that were given although what was chosen does not use them."""
    for option, value in given.items():
        if value is not None and chosen not in uses[option]:
            *some, last = uses[option]
            words = f"{', '.join(some)} and {last}" if some else last
            raise UsageError(f"{option} is for {selector} {words}, not {chosen}")


def check_output(out: Path | None, *inputs: str | os.PathLike[str] | None) -> None:
    """Refuse an output that cannot be written, or that is one of the input files."""
    if out is None:
        return
    if out.is_dir():
        raise UsageError(f"--output {out} is a folder")
    if not out.parent.is_dir():
        raise UsageError(f"--output {out}: there is no folder {out.parent}")
    for given in inputs:
        if given is not None and os.fspath(given) != "-" and os.path.realpath(given) == os.path.realpath(out):
            raise UsageError(f"--output {out} is one of the input files")


def fail(problem: str, code: int, mark: str = "error: ") -> NoReturn:
    """Say what is wrong and exit with a code."""
    note(mark + problem)
    raise typer.Exit(code)


def end_at_once() -> NoReturn:
    """End the process at the user's request, whatever other threads are doing: one may be waiting for input."""
    note("stopped; nothing was left half-written")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INTERRUPTED)


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Print warnings as plain sentences, each once."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        note(f"note: {_one_sentence(str(message))}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def stop_when_terminated() -> None:
    """Let SIGTERM end the command as Ctrl-C does, so that temporary files go too."""

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, stop)


def hear_interrupts() -> None:
    """Let Ctrl-C interrupt a wait for input: importing polars made the system go on waiting."""
    if threading.current_thread() is threading.main_thread() and hasattr(signal, "siginterrupt"):
        signal.siginterrupt(signal.SIGINT, True)
        signal.siginterrupt(signal.SIGTERM, True)


def in_background(work: Callable[[], Result], title: str) -> Result:
    """Do work that grows trees, behind a progress bar; Ctrl-C stops it at once, even inside compiled code.

    The work is done in a thread, so that the main one can react to the user and move the bar. The thread cannot be
    stopped, so the whole process ends: nothing may be written inside `work`.
    """
    from ..growing.progress import growth_bar

    outcome: Future[Result] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as problem:
            outcome.set_exception(problem)

    with growth_bar(title) as bar:
        try:
            threading.Thread(target=run, daemon=True).start()
            while not wait([outcome], 0.1).done:
                pass
        except KeyboardInterrupt:
            bar.stop()
            end_at_once()
    return outcome.result()

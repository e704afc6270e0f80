"""What the user sees: tables, JSON, errors in one sentence, progress bars, and what Ctrl-C does."""

from __future__ import annotations

import functools
import json
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import typer

from ..tree.printable import printable

Result = TypeVar("Result")

#: Letters in a line of a table, at most.
WIDEST = 100_000
#: Exit codes: the input is at fault, the command line is, the user stopped it.
FAULTY_INPUT, WRONG_USE, STOPPED = 1, 2, 130


class Refusal(Exception):
    """The command line asks for something that cannot be; the message says what, in one sentence."""


class ClusterFailure(Exception):
    """The cluster that was to do the work did not; the message says how, in one sentence."""


def say(text: str = "") -> None:
    """Print to stdout, as it is."""
    typer.echo(printable(text))


def note(text: str) -> None:
    """Print a line to stderr, for people."""
    typer.echo(printable(text), err=True)


def print_json(value: Any) -> None:
    """Print a value for programs. Numbers that JSON does not have become null."""
    typer.echo(json.dumps(plain(value), ensure_ascii=False, allow_nan=False, indent=2))


def plain(value: Any) -> Any:
    """Turn what numpy and dataclasses gave into JSON's types."""
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
    Console(markup=False, highlight=False, emoji=False, file=sys.stdout, width=WIDEST).print(table)


def refusing(command: Callable) -> Callable:
    """Make errors of the input one sentence on stderr and an exit code; bugs keep their traceback."""

    @functools.wraps(command)
    def run(*arguments: Any, **named: Any) -> Any:
        try:
            with _warnings_as_notes():
                return command(*arguments, **named)
        except Refusal as problem:
            fail(str(problem), WRONG_USE)
        except ClusterFailure as problem:
            fail(str(problem), FAULTY_INPUT)
        except KeyboardInterrupt:
            end_at_once()
        except BrokenPipeError:
            # Whoever read our output has had enough. Nothing more must be written, not even when Python ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(FAULTY_INPUT) from None
        except MemoryError as problem:
            fail(f"not enough memory ({str(problem) or 'the data are too large'})", FAULTY_INPUT)
        except OSError as problem:
            place = f"{problem.filename}: " if problem.filename else ""
            fail(f"{place}{problem.strerror or problem}", FAULTY_INPUT)
        except ImportError as problem:
            fail(str(problem), FAULTY_INPUT)
        except ValueError as problem:
            is_parameter = type(problem).__name__ == "InvalidParameterError"
            fail(_one_sentence(str(problem)), WRONG_USE if is_parameter else FAULTY_INPUT)

    return run


def _one_sentence(message: str) -> str:
    return " ".join(message.split())


def check_output(out: Path | None, *inputs: Any) -> None:
    """Refuse an output that cannot be, or that is one of the files that are read."""
    if out is None:
        return
    if out.is_dir():
        raise Refusal(f"--output {out} is a folder")
    if not out.parent.is_dir():
        raise Refusal(f"--output {out}: there is no folder {out.parent}")
    for given in inputs:
        if given is not None and os.fspath(given) != "-" and os.path.realpath(given) == os.path.realpath(out):
            raise Refusal(f"--output {out} is one of the files that are read")


def fail(problem: str, code: int, mark: str = "error: ") -> None:
    """Say what is wrong and end with an exit code."""
    note(mark + problem)
    raise typer.Exit(code)


def end_at_once() -> None:
    """End the process as the user wishes, whatever other threads are doing: one may be waiting for input."""
    note("stopped; nothing was left half-written")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(STOPPED)


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Print warnings as plain sentences, each once."""

    def show(message, category, *_, **__) -> None:
        note(f"note: {_one_sentence(str(message))}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def stop_when_terminated() -> None:
    """Let SIGTERM end the command as Ctrl-C does, so that temporary files go too."""

    def stop(number, frame) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, stop)


def hear_interrupts() -> None:
    """Let Ctrl-C interrupt a wait for input: importing polars has made the system go on waiting."""
    if threading.current_thread() is threading.main_thread() and hasattr(signal, "siginterrupt"):
        signal.siginterrupt(signal.SIGINT, True)
        signal.siginterrupt(signal.SIGTERM, True)


def in_background(work: Callable[[], Result], title: str) -> Result:
    """Do work that grows trees, with a bar; Ctrl-C stops it at once, even inside compiled code.

    The work is done in a thread: the main one is free to hear the user and to move the bar. The thread cannot be
    stopped, so the whole process ends: nothing may be written inside `work`.
    """
    from ..growing.progress import Growth, watching
    from ..growing.progress_bar import progress_bar

    outcome: dict[str, Any] = {}
    done = threading.Event()

    def run() -> None:
        try:
            outcome["result"] = work()
        except BaseException as problem:
            outcome["problem"] = problem
        finally:
            done.set()

    with progress_bar(title, None) as bar:

        def watch(growth: Growth) -> None:
            bar.update(growth.settled, growth.started)

        try:
            with watching(watch):
                threading.Thread(target=run, daemon=True).start()
                while not done.wait(0.1):
                    pass
        except KeyboardInterrupt:
            bar.stop()
            end_at_once()
    if "problem" in outcome:
        raise outcome["problem"]
    return outcome["result"]

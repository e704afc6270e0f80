"""A progress bar on stderr, where there is someone to look at it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(title: str, total: int, done: int = 0) -> Iterator[Callable[[], None]]:
    """Show a bar with the time left, if stderr is a terminal and rich is installed; yield what moves it by one."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        yield lambda: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty())
    with bar:
        number = bar.add_task(title, total=total, completed=done)
        yield lambda: bar.advance(number)

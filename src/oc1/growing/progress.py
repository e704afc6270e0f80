"""What a fit tells while it is going on: lines of text for those who asked (`verbose`), and how far it has come."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import NamedTuple

import numpy as np

from ..kernels import layout
from ..tree.printable import printable
from ..tree.wording import feature_name, write_test
from .progress_bar import Bar, has_bar, in_notebook, progress_bar

#: Moves of one search of a node that are noted at most; there may be a hundred thousand at large nodes.
MOST_MOVES = 20_000
#: The level of `verbose` from which each move is told.
MOVES = 2


class Move(NamedTuple):
    """One step of the search at a node.

    Attributes
    ----------
    run : int
        Which start it belongs to.
    which : int
        The coefficient that moved (the constant is the last), ``layout.A_JUMP`` or ``layout.A_START``.
    before, after : float
        Impurity.
    plane : float array (n_features + 1,)
        Coefficients after the move, the constant last, in search space.
    """

    run: int
    which: int
    before: float
    after: float
    plane: np.ndarray


class Reporter:
    """Tell of a growing tree.

    Parameters
    ----------
    verbose : int
        0 tells nothing, 1 each inner node, 2 also each move of the search with the impurity before and after.
    feature_names : sequence of str
        Empty if the attributes have no names.
    write : callable, default=print
        Gets each line.
    """

    def __init__(self, verbose: int, feature_names: Sequence[str] = (), write: Callable[[str], None] = print) -> None:
        self.verbose = int(verbose)
        self.write: Callable[[str], None] = lambda line: write(printable(line))  # names come from files
        self.names = tuple(feature_names)

    def on_attributes(self, chosen: Sequence[int]) -> Reporter:
        """Return a reporter of searches on some of the attributes."""
        return Reporter(self.verbose, [feature_name(self.names, m) for m in chosen], self.write)

    @property
    def n_moves(self) -> int:
        """Room for moves that the kernels need."""
        return MOST_MOVES if self.verbose >= MOVES else 0

    def node(self, depth: int, counts: np.ndarray, n: int, test: str, gain: float) -> None:
        """Tell of an inner node."""
        if self.verbose:
            shown = " ".join(f"{count:g}" for count in counts)
            self.write(f"depth {depth}: {n} examples [{shown}], {test} (gain {gain:.4g})")

    def linear_node(
        self,
        depth: int,
        counts: np.ndarray,
        n: int,
        features: np.ndarray,
        coefficients: np.ndarray,
        threshold: float,
        gain: float,
    ) -> None:
        """Tell of an inner node whose test is a linear combination."""
        if self.verbose:
            self.node(depth, counts, n, write_test(self.names, features, coefficients, threshold), gain)

    def moves(self, moves: Sequence[Move], n_made: int) -> None:
        """Tell how the search of a node went."""
        for run, which, before, after, plane in moves:
            if which == layout.A_START:
                self.write(f"  run {run + 1}: starts at impurity {after:.6g}")
                continue
            what = "constant" if which == len(plane) - 1 else feature_name(self.names, which)
            self.write(f"  run {run + 1}: {'jump' if which < 0 else what} {before:.6g} -> {after:.6g}")
        if n_made > len(moves):
            self.write(f"  ... and {n_made - len(moves)} more moves")


def noted_moves(noted: np.ndarray) -> tuple[list[Move], int]:
    """Return the moves that a search has noted (``Workspace.moves``), and how many it made; forget them there."""
    if len(noted) == 0:
        return [], 0
    n_made = int(noted[0, layout.NEXT_MOVE])
    noted[0, layout.NEXT_MOVE] = 0.0
    moves = [
        Move(
            int(row[layout.MOVED_RUN]),
            int(row[layout.MOVED_WHICH]),
            float(row[layout.MOVED_FROM]),
            float(row[layout.MOVED_TO]),
            row[layout.MOVED_PLANE :].copy(),
        )
        for row in noted[:n_made]
    ]
    return moves, n_made


# ------------------------------------------------------------------------------------------------ how far it has come


class Growth(NamedTuple):
    """How far all trees have come together: examples in finished leaves, and examples in all."""

    settled: int
    started: int


_lock = threading.Lock()
_watchers: list[Callable[[Growth], None]] = []
_growth = Growth(0, 0)


@contextmanager
def watching(watcher: Callable[[Growth], None]) -> Iterator[None]:
    """Call `watcher`, from whatever thread, as trees grow inside the block."""
    global _growth
    with _lock:
        _growth = Growth(0, 0)
        _watchers.append(watcher)
    try:
        yield
    finally:
        with _lock:
            _watchers.remove(watcher)


def advance(settled: int = 0, started: int = 0) -> None:
    """Say that a tree of so many examples has been started, or that so many have reached their leaf."""
    global _growth
    if not _watchers:
        return
    with _lock:
        _growth = Growth(_growth.settled + settled, _growth.started + started)
        for watcher in _watchers:
            watcher(_growth)


@contextmanager
def growth_bar(title: str) -> Iterator[Bar]:
    """Give a bar that shows how far the trees have come that grow inside the block."""
    with progress_bar(title, None) as bar, watching(lambda growth: bar.update(growth.settled, growth.started)):
        yield bar


@contextmanager
def fit_bar(title: str) -> Iterator[None]:
    """Show how far a fit has come: in a notebook, unless it is a part of something that has a bar already.

    Elsewhere, stderr belongs to the program that calls the fit.
    """
    with growth_bar(title) if in_notebook() and not has_bar() else nullcontext():
        yield

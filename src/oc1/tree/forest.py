"""Many trees of linear tests as one set of flat arrays, which compiled code walks; a tree is cut out when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.categories import replace_by_codes
from .linear import Tree
from .regression import RegressionTree
from .structure import as_floats

#: Fewer walks of a row through a tree than this are not worth a thread.
MIN_WALKS_PER_THREAD = 50_000
#: Fields of trees, one after the other in a forest: of all nodes, of all terms, and of the nodes where numbers are
#: predicted.
OF_NODES, OF_TERMS = ("children", "counts", "gains", "thresholds", "gaps"), ("features", "coefficients")
OF_NUMBERS = ("values", "losses")


@dataclass(frozen=True, eq=False)
class Forest:
    """The trees of a forest, one after the other.

    Attributes
    ----------
    sizes : int64 array (n_trees,)
        Nodes of each tree.
    children, counts, gains, thresholds, gaps, missing : arrays
        As those of `Tree`, for all nodes; ``children`` counts from the root of each tree.
    n_terms : int64 array (n_nodes,)
        Terms of each test.
    features, coefficients : arrays (all terms,)
    values, losses : float64 arrays (n_nodes,)
        As those of `RegressionTree`; empty if the trees predict classes.
    """

    sizes: npt.NDArray[np.int64]
    children: npt.NDArray[np.int32]
    counts: npt.NDArray[np.float64]
    gains: npt.NDArray[np.float64]
    thresholds: npt.NDArray[np.float64]
    gaps: npt.NDArray[np.float64]
    missing: npt.NDArray[np.int8]
    n_terms: npt.NDArray[np.int64]
    features: npt.NDArray[np.int32]
    coefficients: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]
    losses: npt.NDArray[np.float64]

    @classmethod
    def joined(cls, forests: Iterable[Forest]) -> Forest:
        """Return one forest of the trees of several."""
        several = list(forests)
        return cls(*(np.concatenate([getattr(own, field.name) for own in several]) for field in fields(cls)))

    @classmethod
    def of_trees(cls, trees: Sequence[Tree]) -> Forest:
        """Return a forest of trees."""
        return cls.joined(cls.of_tree(tree) for tree in trees)

    @classmethod
    def of_tree(cls, tree: Tree) -> Forest:
        """Return a forest of one tree."""
        nothing: Any = np.empty(0)
        return cls(
            sizes=np.array([tree.n_nodes]),
            n_terms=np.diff(tree.terms),
            missing=np.asarray(tree.directions, dtype=np.int8),
            **{name: getattr(tree, name) for name in (*OF_NODES, *OF_TERMS)},
            **{name: getattr(tree, name, nothing) for name in OF_NUMBERS},
        )

    def with_numbers(self, values: np.ndarray, losses: np.ndarray, gains: np.ndarray) -> Forest:
        """Return the forest with other predictions, and what belongs to them."""
        return replace(self, values=values, losses=losses, gains=gains)

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.sizes)

    @cached_property
    def roots(self) -> np.ndarray:
        """Where each tree begins, and the last one ends."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    @cached_property
    def terms(self) -> np.ndarray:
        """Where the terms of each node begin, and those of the last one end."""
        return np.concatenate([[0], np.cumsum(self.n_terms)]).astype(np.int64)

    @property
    def is_leaf(self) -> np.ndarray:
        """Whether each node is a leaf."""
        return self.children[:, 0] < 0

    @cached_property
    def outputs(self) -> np.ndarray:
        """What each node says as a leaf: the shares of the classes, or a number, a row each."""
        if len(self.values):
            return self.values[:, None]
        return np.asarray(self.counts / self.counts.sum(axis=1, keepdims=True))

    @cached_property
    def depths(self) -> np.ndarray:
        """Depth of the deepest leaf of each tree."""
        return np.array([self._depth(number) for number in range(self.n_trees)])

    def _depth(self, number: int) -> int:
        first, last = self.roots[number : number + 2]
        level, depth, children = np.array([0]), -1, self.children[first:last]
        while len(level):
            below = children[level]
            level, depth = below[below >= 0], depth + 1
        return depth

    def tree(self, number: int, **common: Any) -> Tree:
        """Cut out one tree; `common` is what all trees share: fill values, classes, names, codes, scale."""
        first, last = self.roots[number : number + 2].tolist()
        terms = self.terms[first : last + 1]
        nodes, span = slice(first, last), slice(terms[0], terms[-1])
        kind, names = (RegressionTree, (*OF_NODES, *OF_NUMBERS)) if len(self.values) else (Tree, OF_NODES)
        own = {name: getattr(self, name)[nodes] for name in names}
        own |= {name: getattr(self, name)[span] for name in OF_TERMS}
        missing = self.missing[nodes]
        directions = missing if missing.any() else np.empty(0, np.int8)
        return kind(**own, **common, missing=directions, terms=terms - terms[0])

    # ------------------------------------------------------------------------------------------------ prediction

    @cached_property
    def _walk(self) -> Any:
        from ..kernels.predict import Walk  # Numba takes half a second to import

        starts = np.repeat(self.roots[:-1], self.sizes)
        right = np.where(self.is_leaf, -1, self.children[:, 1] + starts)
        tests = (self.terms, self.features, self.coefficients, self.thresholds, self.missing)
        return Walk.of(self.roots[:-1], right, *tests)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds: what can be computed again is left out."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def sums(self, X: np.ndarray, fill: np.ndarray, codes: Any, n_jobs: int = 1) -> np.ndarray:
        """Return the sum of what all trees say of each row, a column for each output."""
        from ..kernels.predict import add_outputs

        source, out = _source(X, fill, codes), np.zeros((len(X), self.outputs.shape[1]))
        _in_threads(add_outputs, (source, self._walk, self.outputs), out, self.n_trees, n_jobs)
        return out

    def apply(
        self,
        X: np.ndarray,
        fill: np.ndarray,
        codes: Any,
        first: int = 0,
        last: int | None = None,
        n_jobs: int = 1,
    ) -> np.ndarray:
        """Return the leaf of each row in the trees from `first` up to `last`, a column each."""
        from ..kernels.predict import find_leaves

        last = self.n_trees if last is None else last
        source, out = _source(X, fill, codes), np.empty((len(X), last - first), dtype=np.int64)
        _in_threads(find_leaves, (source, self._walk, first, last), out, last - first, n_jobs)
        return out

    def importances(self, scale: np.ndarray) -> np.ndarray:
        """Return the mean of the trees' relative importances: the gain of the tests by attribute, as trees have it."""
        weights = self.counts.sum(axis=1) if not len(self.values) else self.counts[:, 0]
        sizes = np.abs(self.coefficients * scale[self.features])
        owner = np.repeat(np.arange(len(self.n_terms)), self.n_terms)
        totals = np.bincount(owner, weights=sizes, minlength=len(self.n_terms))
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = np.where(totals[owner] > 0, sizes / totals[owner], 1.0 / self.n_terms[owner])
        worth = (self.gains * weights)[owner] * shares
        of_tree = np.searchsorted(self.roots, owner, side="right") - 1
        table = np.zeros((self.n_trees, len(scale)))
        np.add.at(table, (of_tree, self.features), worth)
        own = table.sum(axis=1, keepdims=True)
        relative = np.divide(table, own, out=np.zeros_like(table), where=own > 0).mean(axis=0)
        return np.asarray(relative / relative.sum() if relative.sum() > 0 else relative)


def _source(X: np.ndarray, fill: np.ndarray, codes: Any) -> Any:
    """Return rows as compiled code takes them."""
    from ..kernels.records import Source

    return Source.of(replace_by_codes(X, codes) if codes else as_floats(X), fill)


def _in_threads(kernel: Callable[..., Any], args: tuple[Any, ...], out: np.ndarray, n_trees: int, n_jobs: int) -> None:
    """Call a kernel with its arguments, for all rows of `out`: in parts, in threads, where that is worth it."""
    n = len(out)
    n_parts = max(1, min(n_jobs, n * n_trees // MIN_WALKS_PER_THREAD))
    if n_parts == 1:
        kernel(*args, 0, n, out)
        return
    ends = np.linspace(0, n, n_parts + 1).astype(int).tolist()
    with ThreadPoolExecutor(n_parts) as pool:
        list(pool.map(lambda part: kernel(*args, *part, out), pairwise(ends)))

"""What all trees have in common: nodes, their children, what they saw, and how to count, walk and prune them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ..data.categories import replace_by_codes
from ..data.sparse_input import by_blocks
from . import validation
from .node_arrays import NodeArrays
from .notebooks import ShownInNotebooks
from .text import text
from .wording import MaxTerms, feature_name

if TYPE_CHECKING:
    from scipy import sparse


def as_floats(X: Any) -> np.ndarray:
    """Return an array as compiled code takes it: doubles or single floats, in this machine's order of bytes."""
    array: np.ndarray = np.asarray(X)
    if array.dtype.kind not in "biufOSU":
        raise ValueError(f"X must hold numbers, but its type is {array.dtype}")
    return array if array.dtype in (np.float64, np.float32) else array.astype(np.float64)


def descend(children: np.ndarray, n_rows: int, choose: Callable[[int, np.ndarray], np.ndarray]) -> np.ndarray:
    """Return the leaf of each row; `choose` tells the branches that some rows take at an inner node."""
    out = np.empty(n_rows, dtype=np.int64)
    rows = {0: np.arange(n_rows)}
    for node, own in enumerate(children.tolist()):  # preorder: children come after their parents
        here = rows.pop(node)
        if own[0] < 0:
            out[here] = node
            continue
        branches = choose(node, here)
        rows |= {child: here[branches == branch] for branch, child in enumerate(own) if child >= 0}
    return out


class NodeFunctions(NamedTuple):
    """The linear functions by which a node sends examples to its branches.

    Attributes
    ----------
    features : int array (n_features,)
        The attributes that any of them uses, in order.
    coefficients : float64 array (n_functions, n_features)
    constants : float64 array (n_functions,)
        The threshold of a test, or what is added to each function of a linear machine.
    """

    features: np.ndarray
    coefficients: np.ndarray
    constants: np.ndarray


class BranchRule(NamedTuple):
    """What is true of exactly the examples that take a branch: linear inequalities, or categories of one attribute.

    Attributes
    ----------
    features : int array (n_features,)
    coefficients : float64 array (n_inequalities, n_features)
    bounds : float64 array (n_inequalities,)
        ``coefficients @ x[features]`` is at least this, and more where the inequality is strict.
    strict : bool array (n_inequalities,)
    categories : bool array or None
        Which categories of the only attribute take the branch; there are no inequalities then.
    """

    features: np.ndarray
    coefficients: np.ndarray
    bounds: np.ndarray
    strict: np.ndarray
    categories: np.ndarray | None = None

    @classmethod
    def of_categories(cls, feature: int, categories: np.ndarray) -> BranchRule:
        """Return the rule that a categorical attribute is one of the marked categories."""
        return cls(np.array([feature]), np.empty((0, 1)), np.empty(0), np.empty(0, dtype=bool), categories)


@dataclass(frozen=True, eq=False, repr=False)
class TreeStructure(NodeArrays, ShownInNotebooks):
    """Nodes, their children and what they saw, and all that can be asked of a tree of any kind.

    Nodes are numbered in preorder: the root is 0, and children come after their parents. How a node sends examples to
    its branches is up to the subclasses, and so is what a leaf predicts.

    Attributes
    ----------
    children : int32 array (n_nodes, n_branches)
        Children of each node, from the first branch on; -1 where there is none (all of them at leaves).
    counts : float64 array (n_nodes, n_classes)
        Weight of the training examples of each class.
    gains : float64 array (n_nodes,)
        Purity gained by each test (0 for leaves).
    fill : float64 array (n_features,)
        What missing values count as.
    classes : array (n_classes,)
        Labels, for printing.
    feature_names : tuple of str
    codes : tuple with a float64 array or None for each attribute
        What stands for each category of a categorical attribute: rows hold category numbers 0, 1, ... (anything else
        counts as missing), and the tests are on their codes. Empty if no attribute is categorical.
    categories : tuple with a tuple of str or None for each attribute
        What the categories are called, for printing.
    missing : int8 array (n_nodes,)
        Where each node sends missing values: see `directions`. Empty if all count as ``fill``.
    scale : float64 array (n_features,)
        Spread of each attribute among the training examples, which makes coefficients comparable. Empty if not known.
    """

    #: What a tree's dictionary calls its kind.
    kind: ClassVar[str]
    #: Whether an inner node has a linear test with a threshold, and thus two sides.
    has_thresholds: ClassVar[bool]
    #: Arrays with an entry for each node, leaves included.
    _NODE_ARRAYS: ClassVar[tuple[str, ...]] = ("counts",)
    #: Of a kind's own: where the parts of each node's test begin, the arrays of these parts, and those of whole tests.
    _OFFSETS: ClassVar[str]
    _PARTS: ClassVar[tuple[str, ...]]
    _TESTS: ClassVar[tuple[str, ...]] = ()

    children: npt.NDArray[np.int32]
    counts: npt.NDArray[np.float64]
    gains: npt.NDArray[np.float64]
    fill: npt.NDArray[np.float64]
    classes: np.ndarray
    feature_names: tuple[str, ...]
    codes: Any = field(default=(), kw_only=True)
    categories: Any = field(default=(), kw_only=True)
    missing: Any = field(default=(), kw_only=True)
    scale: Any = field(default=(), kw_only=True)

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.children)

    @property
    def is_leaf(self) -> np.ndarray:
        """Whether each node is a leaf."""
        return self.children[:, 0] < 0

    @property
    def n_leaves(self) -> int:
        """Number of leaves: the paper's tree size."""
        return int(self.is_leaf.sum())

    @property
    @abstractmethod
    def terms_of_nodes(self) -> np.ndarray:
        """Number of coefficients in the test of each node, 0 for leaves."""

    @property
    def n_terms(self) -> int:
        """Number of coefficients in all tests: how much there is to read."""
        return int(self.terms_of_nodes.sum())

    @property
    def depths(self) -> np.ndarray:
        """Depth of each node; the root's is 0."""
        depths = np.zeros(self.n_nodes, dtype=np.int64)
        parents = self.parents
        for node in range(1, self.n_nodes):  # preorder: children come after their parents
            depths[node] = depths[parents[node]] + 1
        return depths

    @property
    def max_depth(self) -> int:
        """Depth of the deepest leaf."""
        return int(self.depths.max())

    @property
    def parents(self) -> np.ndarray:
        """Parent of each node, -1 for the root."""
        parents = np.full(self.n_nodes, -1, dtype=np.int64)
        nodes, branches = np.nonzero(self.children >= 0)
        parents[self.children[nodes, branches]] = nodes
        return parents

    @property
    def costs(self) -> np.ndarray:
        """Cost of each node as a leaf, for pruning, a share from 0 to 1: of weight that is misclassified."""
        return np.asarray((self.counts.sum(axis=1) - self.counts.max(axis=1)) / self.counts[0].sum())

    @property
    def impurities(self) -> np.ndarray:
        """Impurity of each node times its share of the examples, as scikit-learn prunes by: Gini."""
        sizes = self.counts.sum(axis=1)
        return np.asarray((sizes - (self.counts**2).sum(axis=1) / np.maximum(sizes, np.finfo(float).tiny)) / sizes[0])

    @property
    def majority(self) -> np.ndarray:
        """Most frequent class of each node, as an index."""
        return np.asarray(self.counts.argmax(axis=1))

    # ------------------------------------------------------------------ what leaves predict

    @property
    def predicts_classes(self) -> bool:
        """Whether leaves predict classes, and not numbers."""
        return len(self.classes) > 0

    def outputs(self, smoothing: float = 0.0) -> np.ndarray:
        """Return what each node predicts as a leaf, a row each: the share of each class, or one number.

        The shares are those with `smoothing` more examples of every class.
        """
        counts = self.counts + smoothing
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    @property
    def leaf_scores(self) -> np.ndarray:
        """How well each node does as a leaf on its training examples: the weight of those that it classifies right."""
        return np.asarray(self.counts.max(axis=1))

    def score_nodes(self, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """Return how well each node does as a leaf: the weight of the examples that reach it and are classified right.

        Parameters
        ----------
        X : float array (n_samples, n_features)
        y : int array (n_samples,)
            Class indices.
        weights : array (n_samples,), optional
        """
        n_nodes, n_classes = self.counts.shape
        seen = np.bincount(self.apply(X) * n_classes + y, weights=weights, minlength=n_nodes * n_classes)
        return np.asarray(self.sum_upwards(seen.reshape(n_nodes, n_classes))[np.arange(n_nodes), self.majority])

    def label(self, node: int, digits: int = 4) -> str:
        """Write what a node predicts: its most frequent class, or a number."""
        return str(self.classes[self.counts[node].argmax()])

    # ------------------------------------------------------------------ tests

    def apply(self, X: Any, n_jobs: int = 1) -> np.ndarray:
        """Return the leaf that each row of an array, or a sparse matrix, ends in; threads share large ones."""
        return by_blocks(lambda rows: self._apply(self.rows(rows), n_jobs), X)

    @abstractmethod
    def _apply(self, X: np.ndarray, n_jobs: int) -> np.ndarray:
        """Return the leaf that each row of a float array ends in."""

    @abstractmethod
    def importances(self, scale: np.ndarray) -> np.ndarray:
        """Return the gain of the tests by attribute; `scale` makes coefficients comparable."""

    def relative_importances(self, scale: np.ndarray) -> np.ndarray:
        """Return the importances as shares of their sum; all are 0 for a single leaf."""
        importances = self.importances(scale)
        total = importances.sum()
        return importances / total if total > 0 else importances

    @abstractmethod
    def node_functions(self, node: int) -> NodeFunctions:
        """Return the linear functions of an inner node."""

    @abstractmethod
    def branch_rule(self, node: int, branch: int) -> BranchRule:
        """Return what sends an example without missing values to a branch of an inner node."""

    def on_columns(self, columns: np.ndarray, feature_names: tuple[str, ...], classes: np.ndarray) -> Self:
        """Return the tree for wider rows, whose `columns` are its attributes, without codes of categories."""
        fill = np.zeros(len(feature_names))
        fill[columns] = self.fill
        own: dict[str, Any] = self._tests_on_columns(columns, len(fill))
        if len(self.scale):
            own["scale"] = np.zeros(len(fill))
            own["scale"][columns] = self.scale
        return replace(self, **own, fill=fill, feature_names=feature_names, classes=classes, codes=(), categories=())

    @abstractmethod
    def _tests_on_columns(self, columns: np.ndarray, n_columns: int) -> dict[str, np.ndarray]:
        """Return the fields that refer to attributes, for rows in which these are the `columns`."""

    @property
    @abstractmethod
    def used_features(self) -> np.ndarray:
        """The attributes that any test uses, in order."""

    @property
    def directions(self) -> np.ndarray:
        """Where each node sends missing values: -1 left, 1 right, 0 where they count as ``fill``."""
        return self.missing if len(self.missing) else np.zeros(self.n_nodes, dtype=np.int8)

    def threshold_of(self, node: int) -> float | None:
        """Return the threshold of a node; None for leaves, linear machines, and tests for missing values alone."""
        return None

    def asks_the_same(self, other: Self) -> bool:
        """Whether two trees have the same nodes and tests."""
        names = ("children", *self._PARTS, *self._TESTS)
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)

    def rows(self, X: Any) -> np.ndarray:
        """Return rows as floats; refuse those that do not have a value for each attribute."""
        floats = as_floats(X)
        if floats.ndim != 2 or floats.shape[1] != len(self.fill):
            raise ValueError(f"the tree has {len(self.fill)} attributes, but the shape of X is {floats.shape}")
        return floats

    def coded(self, X: np.ndarray) -> np.ndarray:
        """Return rows as float64, with the codes of categories in place of their numbers."""
        return replace_by_codes(self.rows(X), self.codes)

    # ------------------------------------------------------------------ words

    def feature_name(self, feature: int) -> str:
        """Return an attribute's name, ``x1``, ``x2``, ... where it has none."""
        return feature_name(self.feature_names, feature)

    def is_categorical(self, feature: int) -> bool:
        """Whether an attribute is categorical."""
        return bool(self.codes) and self.codes[feature] is not None

    @abstractmethod
    def equation_words(self, node: int, digits: int = 3, max_terms: MaxTerms = None) -> list[str]:
        """Write what an inner node asks, in words that stay whole where lines are short.

        Parameters
        ----------
        node : int
        digits : int, default=3
            Significant digits of the numbers; a threshold gets more where it needs them to stay between the examples.
        max_terms : int, "auto" or None, default=None
            How many terms are written, the largest ones: see `oc1.tree.wording.write_terms`.

        Returns
        -------
        list of str
            Of a test with a threshold, one for each term, and last the comparison, like ``> 0.4``.
        """

    def equation(self, node: int, digits: int = 3) -> str:
        """Write what an inner node asks, like ``0.37 petal_len − 1.2 petal_wid > 0.4``."""
        return " ".join(self.equation_words(node, digits))

    def question(self, node: int, digits: int = 3, max_terms: MaxTerms = None) -> list[str]:
        """Write what an inner node asks, where its branches are written below it, as `equation_words` does."""
        return self.equation_words(node, digits, max_terms)

    @abstractmethod
    def branch_names(self, node: int) -> list[str]:
        """Return what the branches of an inner node are called."""

    def branch_functions(self, node: int, digits: int = 3, max_terms: MaxTerms = None) -> list[str]:
        """Write the function that stands for each branch of a linear machine; there are none at other nodes."""
        return []

    @abstractmethod
    def conditions(self, node: int) -> list[str]:
        """Write what is true of the examples that take each branch of an inner node."""

    # ------------------------------------------------------------------ walking and counting

    def decision_path(self, X: np.ndarray) -> sparse.csr_matrix:
        """Return a sparse matrix (rows, nodes) that marks the nodes each row passes through."""
        from scipy import sparse

        parents = self.parents
        leaves, places = np.unique(self.apply(X), return_inverse=True)
        indices, starts = [], [0]
        for leaf in leaves:
            path = [leaf]
            while parents[path[-1]] >= 0:
                path.append(parents[path[-1]])
            indices += path[::-1]
            starts.append(len(indices))
        ones = np.ones(len(indices), dtype=np.int64)
        return sparse.csr_matrix((ones, indices, starts), shape=(len(leaves), self.n_nodes))[places]

    def sum_upwards(self, at_leaves: np.ndarray) -> np.ndarray:
        """Add up values given at the leaves (zero elsewhere) so that each node has the sum over its subtree."""
        totals = np.array(at_leaves, dtype=float)
        parents = self.parents
        for node in range(self.n_nodes - 1, 0, -1):
            totals[parents[node]] += totals[node]
        return totals

    @property
    def leaves_below(self) -> np.ndarray:
        """Number of leaves of the subtree of each node."""
        return self.sum_upwards(self.is_leaf).astype(np.int64)

    def cut(self, nodes: np.ndarray) -> Self:
        """Return a new tree in which the marked nodes (a boolean for each) are leaves."""
        keep = np.ones(self.n_nodes, dtype=bool)
        parents = self.parents
        for node in range(1, self.n_nodes):
            keep[node] = keep[parents[node]] and not nodes[parents[node]]
        leaf = (self.is_leaf | nodes)[keep]
        number = np.append(np.cumsum(keep) - 1, -1)  # -1 stays -1
        sizes = np.diff(getattr(self, self._OFFSETS))
        kept_parts = np.repeat(keep & ~(self.is_leaf | nodes), sizes)
        arrays: dict[str, Any] = {
            "children": np.where(leaf[:, None], -1, number[self.children[keep]]).astype(np.int32),
            self._OFFSETS: np.concatenate([[0], np.cumsum(np.where(leaf, 0, sizes[keep]))]).astype(np.int64),
            **{name: getattr(self, name)[keep] for name in self._NODE_ARRAYS},
            **{name: getattr(self, name)[kept_parts] for name in self._PARTS},
        }
        for name in ("gains", "gaps", "missing", *self._TESTS):  # 0 at leaves
            if len(own := getattr(self, name)):
                arrays[name] = np.where(leaf, 0, own[keep]).astype(own.dtype)
        return replace(self, **arrays)

    # ------------------------------------------------------------------ dictionaries

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as a plain dictionary of lists, strings and numbers, exact to the last bit."""
        own = (self._OFFSETS, *self._PARTS, *self._TESTS, *self._NODE_ARRAYS)
        names = ("children", *own, "gains", "gaps", "fill", "classes")
        data: dict[str, Any] = {name: getattr(self, name).tolist() for name in names}
        data["feature_names"] = list(self.feature_names)
        if self.codes:
            data["codes"] = [None if own is None else own.tolist() for own in self.codes]
            data["categories"] = [None if own is None else list(own) for own in self.categories]
        data |= {name: getattr(self, name).tolist() for name in ("missing", "scale") if len(getattr(self, name))}
        kind = {} if self.kind == "tests" else {"kind": self.kind}
        return {"format": validation.FORMAT, **kind, **data}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Make a tree from what `to_dict` returned; a ValueError says what is wrong with anything else."""
        return cls(**validation.tree_fields(data, cls.kind))

    # ------------------------------------------------------------------ showing

    def __str__(self) -> str:
        """Print the tree as text, in the user's names and units."""
        return text(self)

    def __repr__(self) -> str:
        size = f"{self.n_leaves} {'leaf' if self.n_leaves == 1 else 'leaves'}, depth {self.max_depth}"
        return f"<{type(self).__name__}: {size}, {self.n_terms} {'term' if self.n_terms == 1 else 'terms'}>"

    def _repr_html_(self) -> str:
        """Return the tree as a small piece of HTML."""
        from .html import small_html  # which is about trees

        return small_html(self)

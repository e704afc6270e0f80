"""Tree alternating optimisation (TAO) of a grown tree (Carreira-Perpiñán & Tavallali 2018), by OC1's line search.

Growing never looks back: a test is chosen for what it purifies, before anything below it is known. Here every test is
looked at again, from the bottom up, with all else fixed. An example *cares* at a node if one of the two subtrees
classifies it right and the other wrong; the best test sends those that care to their side, which is a problem of two
classes with the 0/1 loss. Then the leaves are relabelled by the examples that reach them, superfluous branches are
removed, and so on until no node can be improved.

Nodes are values: a change makes new nodes where something changed and keeps the others, so a comparison says what is
left to look at, and a change that does not pay is simply dropped.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..data.categories import replace_by_codes
from ..data.sampling import weight_of_one
from ..data.search_space import SearchSpace
from ..impurity import MEASURES, ImpurityFunction, get_measure, gini, information_gained
from ..kernels._notice import announce_compiling
from ..kernels.elimination import Descent, descend
from ..kernels.layout import CUSTOM, GINI, INFO_GAIN, TWOING
from ..kernels.line_search import compiled_line_search
from ..kernels.linear_fits import MAX_ROWS_PER_FIT
from ..kernels.records import Criterion, Examples, Node, Workspace
from ..tree.linear import Tree, project
from .blas import one_blas_thread
from .linear_models import ridge_logistic
from .linear_tests import LinearTest
from .nodes import GrownNode, build_tree
from .simplifying import round_numbers

#: Shares of misclassified weight closer than this are equal.
EQUAL_LOSS = 1e-10
#: Most cycles over the coefficients of a test.
MAX_CYCLES = 20
#: Ridge of the logistic regression that gives a second start.
RIDGE = 1.0
#: A subtree of penalised growth is left as it is if it misclassifies no larger share of its weight than this.
MAX_SETTLED_ERROR_SHARE = 0.01
#: A leaf must have an example.
NO_LIMITS = (1, 0.0)
#: The rows of a node before any examples were sent to it.
NO_ROWS = np.empty(0, dtype=np.int64)

Gain = Callable[[np.ndarray, np.ndarray], float]


@dataclass(eq=False)
class _Node:
    """A subtree and the training examples in it; never changed but for the last two fields."""

    rows: np.ndarray  # ascending
    predictions: np.ndarray  # class of each of them by this subtree
    counts: np.ndarray  # weight of each class
    errors: float  # weight that the subtree misclassifies
    n_leaves: int = 1
    test: LinearTest | None = None
    children: tuple[_Node, ...] = ()
    tried: bytes = b""  # which examples wanted to go where when its test was looked for
    settled: bool = False  # whether every node of the subtree has been tried in vain

    @property
    def label(self) -> int:
        """Class that a leaf predicts."""
        return int(self.counts.argmax())


class _Draft(NamedTuple):
    """A subtree that could take the place of a node, once the node's examples are sent down it."""

    node: _Node
    errors: float  # what it misclassifies if its leaves keep their labels
    roomy: bool = False  # whether its test leaves room on both sides: then it is welcome if it is equally good


def refine(
    tree: Tree,
    X: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    alpha: float = 0.0,
    max_rounds: int = 20,
    min_samples_leaf: int = 1,
    min_weight_leaf: float = 0.0,
    criterion: str | ImpurityFunction = "twoing",
    widen: bool = True,
    max_terms: int | None = None,
    rounding: bool = False,
) -> Tree:
    """Improve the tests of a tree, with its shape given, on training examples; return the new tree.

    The loss is the share of the weight that is misclassified plus `alpha` for each leaf (the cost-complexity of
    pruning). A change is made only if it lowers the loss, or leaves it as it is and saves a leaf or makes room: among
    tests that are equally good, that of a logistic regression on the examples that care is taken. So the tree never
    gets worse on these examples, nor larger. Attributes that a test does not have are not added. There is no
    randomness.

    Parameters
    ----------
    tree : Tree
        For classes; grown on these examples or others.
    X : float array (n_samples, n_features)
        As `Tree.apply` takes it: NaN where a value is missing, category numbers where the tree has codes.
    y : int array (n_samples,)
        Class indices.
    weights : array (n_samples,) or None
        Of the examples; None if all count alike.
    alpha : float, default=0.0
        Price of a leaf.
    max_rounds : int, default=20
        Most rounds over the tree. It ends before that when a round changes nothing.
    min_samples_leaf : int, default=1
        No change leaves fewer examples than this in a leaf.
    min_weight_leaf : float, default=0.0
        ... nor examples of less weight in all.
    criterion : str or callable, default="twoing"
        The measure in which the gains of the tests are given (see `OC1Classifier`).
    widen : bool, default=True
        Whether room is made: equally good tests give way to logistic regressions, and thresholds are put midway between
        the nearest examples. False is for a tree of penalised growth, whose tests are wide already: only what lowers
        the loss is changed, where more than one example in a hundred is misclassified.
    max_terms : int or None, default=None
        Where a test has as many attributes, others may take their place. None: attributes are never added.
    rounding : bool, default=False
        Whether tests that have changed get the shortest numbers that leave every example on its side.

    Returns
    -------
    Tree
        Its counts, gains and gaps are those of these examples.

    Examples
    --------
    >>> from oc1 import OC1Classifier
    >>> from oc1.datasets import make_rcb
    >>> from oc1.growing.tao import refine
    >>> X, y = make_rcb(random_state=0)
    >>> clf = OC1Classifier(max_depth=3, n_restarts=0, n_jumps=0, prune=None, random_state=0).fit(X, y)
    >>> refined = refine(clf.tree_, X, y - 1)
    >>> bool(refined.costs[refined.is_leaf].sum() < clf.tree_.costs[clf.tree_.is_leaf].sum())
    True
    """
    if len(tree.missing):
        raise ValueError(
            "a tree that has learned where missing values go cannot be refined; grow it with missing='mean'"
        )
    X, y, weights = examples_of(tree, X, y, weights)
    # Threads would take longer to meet than such small matrices take.
    with announce_compiling(), one_blas_thread(), np.errstate(all="ignore"):  # the last for NUMBA_DISABLE_JIT
        limits = min_samples_leaf, min_weight_leaf
        refiner = _Refiner(X, y, weights, tree.counts.shape[1], alpha, limits, widen, max_terms)
        root = refiner.placed(_nodes_of(tree), np.arange(len(y)), NO_LIMITS)
        for _ in range(max_rounds):
            if root.settled:
                break
            root = refiner.improved(root)
        grown = _grown(root, _gain_of(criterion, len(tree.classes)), refiner.rounded if rounding else None)
    return _built(grown, tree)


def with_tests(
    tree: Tree,
    tests: Sequence[tuple[LinearTest, bool] | None],
    X: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray | None,
    *,
    min_samples_leaf: int = 1,
    min_weight_leaf: float = 0.0,
    criterion: str | ImpurityFunction = "twoing",
    rounding: bool = False,
) -> Tree:
    """Return a tree of the same shape with other tests, and with what these examples make of it.

    Branches that too few examples take are removed, and those that say the same are joined. For the other parameters
    see `refine`.

    Parameters
    ----------
    tests : list of (LinearTest, bool) or None
        For each node of the tree its test, and whether its branches change places; None where it stays as it is.
    """
    X, y, weights = examples_of(tree, X, y, weights)
    with np.errstate(all="ignore"):
        refiner = _Refiner(X, y, weights, tree.counts.shape[1], 0.0, NO_LIMITS, False, None)
        root = refiner.placed(_nodes_of(tree, tests), np.arange(len(y)), (min_samples_leaf, min_weight_leaf))
        return _built(_grown(root, _gain_of(criterion, len(tree.classes)), refiner.rounded if rounding else None), tree)


def _built(root: GrownNode, tree: Tree) -> Tree:
    """Return the tree of some nodes, of the same data as another tree."""
    new = build_tree(root, tree.fill, tree.classes, tree.feature_names)
    return replace(new, codes=tree.codes, categories=tree.categories, scale=tree.scale)


class _Refiner:
    """The examples, and what can be done to nodes with them."""

    def __init__(self, X, y, weights, n_classes, alpha, limits, widen, max_terms):
        self.widen, self.max_terms = widen, max_terms
        self.X, self.y, self.n_classes, self.limits = X, y, n_classes, limits
        self.weights = np.ones(len(y)) if weights is None else weights
        self.total, self.unit = float(self.weights.sum()), weight_of_one(weights)
        self.alpha = alpha
        everyone, no_fill = np.arange(len(y)), np.zeros(X.shape[1])  # nothing is missing here
        self.space = SearchSpace.make(X, everyone, no_fill, weights, "standard")
        self.columns = self.space.columns(X, everyone, no_fill)
        measure = MEASURES["sum_minority"]
        self.criterion = Criterion(measure.code, 1, *measure.pointers())
        self.work = Workspace.make(len(y), 2, X.shape[1], 1)
        self.work.line.places[:2] = 0, 1

    def leaf(self, rows: np.ndarray) -> _Node:
        """Make a leaf of examples."""
        counts = np.bincount(self.y[rows], weights=self.weights[rows], minlength=self.n_classes)
        predictions = np.full(len(rows), counts.argmax())
        return _Node(rows, predictions, counts, float(counts.sum() - counts.max()), settled=True)

    def joined(self, node: _Node, rows: np.ndarray, test: LinearTest, children: tuple[_Node, ...]) -> _Node:
        """Make an inner node like another, or a leaf where its children are leaves of one class."""
        low, high = children
        if low.n_leaves == high.n_leaves == 1 and low.label == high.label:
            return self.leaf(rows)
        predictions = np.empty_like(rows)
        for child in children:
            predictions[np.searchsorted(rows, child.rows)] = child.predictions
        counts, errors, n_leaves = low.counts + high.counts, low.errors + high.errors, low.n_leaves + high.n_leaves
        return _Node(rows, predictions, counts, errors, n_leaves, test, children, node.tried)

    def has_room(self, rows: np.ndarray, limits: tuple[int, float]) -> bool:
        """Whether some examples are enough for a leaf, by their number and by their weight."""
        min_leaf, min_weight = limits
        return len(rows) >= min_leaf and (min_weight == 0.0 or bool(self.weights[rows].sum() >= min_weight))

    def placed(self, top: _Node, rows: np.ndarray, limits: tuple[int, float]) -> _Node:
        """Send other examples down a subtree; branches that are too small are removed, thresholds centred."""
        visits: list[tuple[_Node, np.ndarray, LinearTest | None, int]] = []
        stack = [(top, rows, -1)]
        while stack:
            node, rows, parent = stack.pop()
            goes_right, test = np.empty(0, dtype=bool), node.test
            while test is not None and not np.array_equal(rows, node.rows):
                values = project(self.X[rows], test.features, test.coefficients)
                goes_right = values > test.threshold
                n_right = int(goes_right.sum())
                if all(self.has_room(own, limits) for own in (rows[goes_right], rows[~goes_right])):
                    test = test.centred(values, self.widen)
                    break
                node = node.children[int(2 * n_right > len(rows))]
                test = node.test
            else:
                visits.append((node, rows, None, parent))
                continue
            number = len(visits)
            visits.append((node, rows, test, parent))
            stack.append((node.children[1], rows[goes_right], number))
            stack.append((node.children[0], rows[~goes_right], number))
        made: list[list[_Node]] = [[] for _ in visits]
        for number in range(len(visits) - 1, -1, -1):
            node, rows, test, parent = visits[number]
            if test is not None:
                new = self.joined(node, rows, test, tuple(made[number][::-1]))  # the right child was made first
            else:
                new = node if np.array_equal(rows, node.rows) else self.leaf(rows)
            if parent >= 0:
                made[parent].append(new)
        return new

    def predicted(self, top: _Node, rows: np.ndarray) -> np.ndarray:
        """Return what a subtree predicts for examples."""
        out = np.empty(len(rows), dtype=np.int64)
        stack = [(top, np.arange(len(rows)))]
        while stack:
            node, places = stack.pop()
            if node.test is None:
                out[places] = node.label
            elif len(places):
                values = project(self.X[rows[places]], node.test.features, node.test.coefficients)
                goes_right = values > node.test.threshold
                stack += [(node.children[0], places[~goes_right]), (node.children[1], places[goes_right])]
        return out

    def loss(self, errors: float, n_leaves: int) -> float:
        """Return the loss of a subtree as a share of the whole tree's weight, and the price of its leaves."""
        return errors / self.total + self.alpha * n_leaves

    def is_better(self, errors: float, n_leaves: int, node: _Node, roomy: bool) -> bool:
        """Whether a subtree of this error and size should replace a node; a roomy one also if it is only as good."""
        difference = self.loss(errors, n_leaves) - self.loss(node.errors, node.n_leaves)
        return difference < -EQUAL_LOSS or (difference <= EQUAL_LOSS and n_leaves < node.n_leaves + roomy)

    def improved(self, root: _Node) -> _Node:
        """Improve every node of a tree in turn, from the bottom up."""
        order, stack = [], [root]
        while stack:
            node = stack.pop()
            order.append(node)
            if not node.settled:
                stack.extend(node.children)
        new: dict[int, _Node] = {}
        for node in reversed(order):
            if node.settled:
                new[id(node)] = node
                continue
            assert node.test is not None
            children = tuple(new[id(child)] for child in node.children)
            kept = children == node.children
            new[id(node)] = self.refitted(node if kept else self.joined(node, node.rows, node.test, children))
        return new[id(root)]

    def refitted(self, node: _Node) -> _Node:
        """Return the best that can be made of a node with the subtrees below it, or the node itself."""
        if node.test is None:
            return node
        if not self.widen and node.errors <= MAX_SETTLED_ERROR_SHARE * node.counts.sum():
            node.settled = True
            return node
        rows, low, high = node.rows, *node.children
        goes_right = np.zeros(len(rows), dtype=bool)
        goes_right[np.searchsorted(rows, high.rows)] = True
        predictions = np.array([node.predictions, node.predictions])
        predictions[0, goes_right] = self.predicted(low, high.rows)
        predictions[1, ~goes_right] = self.predicted(high, low.rows)
        wrong = predictions != self.y[rows]
        costs = wrong * self.weights[rows]  # of sending an example to either side
        cares = wrong[0] != wrong[1]
        wants_right = wrong[0][cares]

        as_leaf = self.leaf(rows)
        drafts = [_Draft(as_leaf, as_leaf.errors)]
        drafts += [_Draft(child, float(own.sum())) for child, own in zip(node.children, costs, strict=True)]
        problem = _digest(rows[cares], wants_right)
        if wants_right.any() and not wants_right.all() and problem != node.tried:
            node.tried = problem
            swapped_problem = _digest(rows[cares], ~wants_right)
            content = np.array_equal(wants_right, goes_right[cares]) or (not self.widen and node.n_leaves <= 2)
            for test, roomy in self.tests(node.test, rows[cares], wants_right, content):
                values = project(self.X[rows], test.features, test.coefficients)
                up = values > test.threshold
                if up.any() and not up.all():
                    test = test.centred(values)
                    for children, own in (((low, high), problem), ((high, low), swapped_problem)):
                        tried = own if roomy else b""  # what a search has found, another may improve
                        errors = float(np.where(up == (children[0] is low), costs[1], costs[0]).sum())
                        new = _Node(NO_ROWS, NO_ROWS, node.counts, errors, node.n_leaves, test, children, tried)
                        drafts.append(_Draft(new, errors, roomy and self.widen))
        drafts = [draft for draft in drafts if self.is_better(draft.errors, draft.node.n_leaves, node, draft.roomy)]
        for draft in sorted(drafts, key=self.rank):
            new = self.placed(draft.node, rows, self.limits)
            if self.is_better(new.errors, new.n_leaves, node, draft.roomy):
                return new
        node.settled = low.settled and high.settled
        return node

    def rank(self, draft: _Draft) -> tuple[int, int, bool]:
        """Return what orders drafts, the best first."""
        loss = self.loss(draft.errors, draft.node.n_leaves)
        return round(loss / EQUAL_LOSS), draft.node.n_leaves, not draft.roomy

    def tests(
        self, test: LinearTest, rows: np.ndarray, wants_right: np.ndarray, content: bool
    ) -> Iterator[tuple[LinearTest, bool]]:
        """Make tests that try to part examples as they want, with the attributes of a given test.

        That of a logistic regression comes first, marked by True; then, unless the examples are content with the given
        test, what the line search makes of both.
        """
        d = self.X.shape[1]
        sizes = test.coefficients * self.space.scale[test.features]
        if not sizes.any():
            return
        used = np.zeros(d + 1)
        used[test.features] = sizes != 0
        present = self.space.plane_of(test.features, test.coefficients, test.threshold)
        planes = [present / np.abs(sizes).max()]
        if used.sum() > 1:
            planes.insert(0, self.logistic(rows, wants_right, used))
            yield from ((made, True) for made in [self.test_of(planes[0])] if made is not None)
        if content:
            return
        order = np.argsort(wants_right, kind="stable")
        rows, labels = rows[order], wants_right[order].astype(np.int32)
        weights = self.weights[rows]
        totals = np.bincount(labels, weights=weights, minlength=2)
        bounds = np.array([0, len(labels) - labels.sum(), len(labels)])
        own_weights = np.empty(0) if (weights == 1).all() else weights
        examples = Examples.of_columns(np.ascontiguousarray(self.columns[:, rows]), labels, own_weights)
        node = Node(0, labels, own_weights, totals, np.array([1.0, 2.0]), np.array([0, 1]), bounds)
        line, how = compiled_line_search(), Descent(False, True, MAX_CYCLES, EQUAL_LOSS)
        places = [used] * len(planes)
        if self.max_terms is not None and self.max_terms < np.count_nonzero(self.space.scale):
            places.append(self.forward(rows, labels, weights))
            planes.append(self.logistic(rows, labels == 1, places[-1]))
        for plane, used in zip(planes, places, strict=True):
            self.work.line.stream[0] = 1  # the same for all nodes: no randomness
            descend(examples, node, self.criterion, line, np.zeros(1), how, plane, used, self.work)
            yield from ((made, False) for made in [self.test_of(plane)] if made is not None)

    def logistic(self, rows: np.ndarray, wants_right: np.ndarray, used: np.ndarray) -> np.ndarray:
        """Return the plane of a logistic regression."""
        features = np.flatnonzero(used[:-1])
        Z = np.ones((len(rows), len(features) + 1))
        Z[:, :-1] = self.columns[np.ix_(features, rows)].T
        fit = ridge_logistic(Z, wants_right, self.weights[rows] / self.unit, RIDGE)
        plane = np.zeros(len(used))
        plane[features], plane[-1] = fit.plane[:-1], fit.plane[-1]
        return plane

    def forward(self, rows: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Choose attributes one by one, each the one by which least squares gain most; return which are chosen."""
        Z = self.columns[:-1, rows].astype(np.float64)
        Z -= (Z @ weights / weights.sum())[:, None]
        target = (labels - labels @ weights / weights.sum()) * weights
        squares, products, used = (Z * weights) @ Z.T, Z @ target, np.zeros(len(self.columns))
        squares[np.diag_indices_from(squares)] += RIDGE * self.unit
        for _ in range(self.max_terms):
            best = int(np.argmax(np.where(used[:-1] == 0, products**2 / squares.diagonal().clip(1e-9), -1.0)))
            used[best] = 1.0
            products = products - squares[best] * (products[best] / squares[best, best])
            squares = squares - np.outer(squares[best], squares[best]) / squares[best, best]
        return used

    def rounded(self, node: _Node) -> LinearTest | None:
        """Return the test of a node with short numbers."""
        if node.test is None or len(node.rows) > MAX_ROWS_PER_FIT:
            return node.test
        return round_numbers(node.test, self.X[node.rows], scale=self.space.scale)

    def test_of(self, plane: np.ndarray) -> LinearTest | None:
        """Write a plane as a test in the user's units, as growing does; None where there is none."""
        if not plane[:-1][self.space.scale > 0].any():
            return None
        features, coefficients, threshold = self.space.test_of(plane)
        if len(features) == 1:
            coefficients, threshold = np.ones(1), threshold / coefficients[0]
        if not (np.isfinite(coefficients).all() and np.isfinite(threshold)):
            return None
        return LinearTest(features, coefficients, threshold)


def examples_of(tree: Tree, X, y, weights) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the examples that count, as the tests of the tree see them."""
    if weights is not None:
        counted = weights > 0
        X, y, weights = X[counted], y[counted], weights[counted]
    X = replace_by_codes(X, tree.codes) if tree.codes else X.astype(np.float64)
    return np.where(np.isnan(X), tree.fill, X), y, weights


def _digest(rows: np.ndarray, wants_right: np.ndarray) -> bytes:
    """Return what stands for the problem of parting these examples so."""
    return hashlib.blake2b(rows.tobytes() + wants_right.tobytes(), digest_size=16).digest()


def _nodes_of(tree: Tree, tests: Sequence[tuple[LinearTest, bool] | None] = ()) -> _Node:
    """Return the root of a tree, perhaps with other tests, as nodes that hold no examples yet."""
    nodes: list[_Node] = []
    for number in range(tree.n_nodes - 1, -1, -1):
        if tree.is_leaf[number]:
            nodes.append(_Node(NO_ROWS, NO_ROWS, tree.counts[number], 0.0))
        else:
            children = tuple(nodes[tree.n_nodes - 1 - child] for child in tree.children[number])
            test, is_turned = (tests[number] if tests else None) or (LinearTest(*tree.test(number)), False)
            children = children[::-1] if is_turned else children
            nodes.append(_Node(NO_ROWS, NO_ROWS, tree.counts[number], 0.0, 2, test, children))
    return nodes[-1]


def _grown(root: _Node, gain: Gain, rounded: Callable[[_Node], LinearTest | None] | None) -> GrownNode:
    """Return the nodes as those that growing makes, with rounded tests if that is wanted."""
    order, stack = [], [root]
    while stack:
        order.append(stack.pop())
        stack.extend(order[-1].children)
    made: dict[int, GrownNode] = {}
    for node in reversed(order):
        children = [made[id(child)] for child in node.children]
        gained = gain(children[0].counts, children[1].counts) if children else 0.0
        test = node.test if rounded is None else rounded(node)
        made[id(node)] = GrownNode(node.rows, np.empty(0), 0, 0, node.counts, test, gained, children)
    return made[id(root)]


def _gain_of(criterion: str | ImpurityFunction, n_classes: int) -> Gain:
    """Return what a test gains as a function of the class weights on its two sides, as the kernels give it."""
    measure = get_measure(criterion, n_classes)
    # A measure of the user's own says nothing of a node that is not split: Gini's decrease stands for its gain.
    is_gini = measure.code in (GINI, CUSTOM)
    impurity = gini if is_gini else measure.impurity

    def gain(left: np.ndarray, right: np.ndarray) -> float:
        n_left, n_right = left.sum(), right.sum()
        if measure.code == TWOING:
            apart = np.abs(left / n_left - right / n_right).sum()
            return float(apart**2 * n_left * n_right / (n_left + n_right) ** 2)
        if measure.code == INFO_GAIN:
            return information_gained(np.array([left, right]))
        decrease = impurity(left + right, np.zeros_like(left)) - impurity(left, right)
        return float(decrease if is_gini else decrease / (n_left + n_right))

    return gain

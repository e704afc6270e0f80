import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oc1 import OC1Classifier
from oc1.baselines import CARTClassifier
from oc1.datasets import POL_LINES, make_pol
from oc1.growing.linear_tests import LinearTest
from oc1.growing.nodes import GrownNode, build_tree
from oc1.growing.tao import refine
from oc1.impurity import MEASURES
from oc1.tree.linear import Tree
from oc1.tree.pruning import prune_sequence


def clouds(seed, n=200, d=3, k=3):
    """Overlapping classes, on a coarse grid so that values coincide."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    X = rng.normal(size=(k, d))[y] + rng.normal(size=(n, d))
    return np.round(X, 1), y


def loss(tree, X, y, weights=None, alpha=0.0):
    wrong = tree.majority[tree.apply(X)] != y
    return np.average(wrong, weights=weights) + alpha * tree.n_leaves


def assert_valid(tree, X, y, weights=None):
    """Check that a tree is what `Tree` documents, on the examples it is said to be of."""
    if weights is not None:
        X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
    inner = np.flatnonzero(~tree.is_leaf)
    parents = tree.parents
    assert (tree.children[inner, 0] == inner + 1).all()
    assert (tree.children[inner, 1] > inner + 1).all()
    assert (parents[1:] >= 0).all()
    seen = np.zeros_like(tree.counts)
    np.add.at(seen, (tree.apply(X), y), 1.0 if weights is None else weights)
    np.testing.assert_allclose(tree.sum_upwards(seen), tree.counts)
    assert (tree.counts.sum(axis=1) > 0).all()
    paths = tree.decision_path(X).toarray().astype(bool)
    filled = np.where(np.isnan(X), tree.fill, X)
    for node in inner:
        features, coefficients, threshold = tree.test(node)
        assert (np.diff(features) > 0).all()
        assert coefficients[0] > 0
        values = filled[paths[:, node]][:, features] @ coefficients
        below, above = values[values <= threshold].max(), values[values > threshold].min()
        np.testing.assert_allclose(threshold, (below + above) / 2, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(tree.gaps[node], above - below, rtol=1e-6, atol=1e-9)
        assert tree.gains[node] > 0
        leaves = tree.children[node]
        assert not (tree.is_leaf[leaves].all() and np.ptp(tree.majority[leaves]) == 0)
    assert (tree.gains[tree.is_leaf] == 0).all()
    assert Tree.from_dict(tree.to_dict()).n_nodes == tree.n_nodes


def pol_tree(X, y, tilt):
    """The true tree of POL, its lines tilted one way and the other, with the counts of these examples."""
    counts = np.bincount(y, minlength=2).astype(float)

    def node(low, high):
        if low == high:
            return GrownNode(np.empty(0, int), np.empty(0), 0, 0, np.eye(2)[low % 2])
        middle = (low + high) // 2
        slant = tilt if middle % 2 else -tilt
        test = LinearTest(np.array([0, 1]), np.array([1.0, 1.0 + slant]), POL_LINES[middle] + slant / 2)
        return GrownNode(
            np.empty(0, int), np.empty(0), 0, 0, counts, test, 1.0, [node(low, middle), node(middle + 1, high)]
        )

    return build_tree(node(0, 4), np.zeros(2), np.array([1, 2]), ())


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 5),
    k=st.integers(2, 5),
    depth=st.sampled_from([1, 2, 4, None]),
    missing=st.booleans(),
    weighted=st.booleans(),
    alpha=st.sampled_from([0.0, 0.01]),
)
def test_the_tree_is_never_worse_nor_larger_and_stays_valid(seed, d, k, depth, missing, weighted, alpha):
    X, y = clouds(seed, 120, d, k)
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, size=len(y)).astype(float) if weighted else None
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    clf = OC1Classifier(max_depth=depth, n_restarts=2, prune=None, random_state=0)
    # Grown on some of the examples and refined on all, as after pruning.
    grown = clf.fit(X[:80], y[:80]).tree_
    labels = np.searchsorted(clf.classes_, y)
    known = np.isin(y, clf.classes_)
    X, labels, weights = X[known], labels[known], None if weights is None else weights[known]
    refined = refine(grown, X, labels, weights, alpha=alpha)
    assert loss(refined, X, labels, weights, alpha) <= loss(grown, X, labels, weights, alpha) + 1e-9
    assert refined.n_leaves <= grown.n_leaves
    assert_valid(refined, X, labels, weights)
    again = refine(grown, X, labels, weights, alpha=alpha)
    assert again.to_dict() == refined.to_dict()


def test_it_does_improve_trees_that_were_grown_too_small():
    gains = []
    for seed in range(5):
        X, y = clouds(seed, 400, 6, 6)
        tree = OC1Classifier(max_depth=3, n_restarts=0, n_jumps=0, prune=None, random_state=0).fit(X, y).tree_
        gains.append(loss(tree, X, y) - loss(refine(tree, X, y), X, y))
    assert min(gains) >= 0
    assert np.mean(gains) > 0.02


@pytest.mark.parametrize("tilt", [0.1, 0.3])
def test_a_tilted_perfect_tree_is_repaired(tilt):
    X, y = make_pol(1000, random_state=1)
    y = y - 1
    tilted = pol_tree(X, y, tilt)
    assert loss(pol_tree(X, y, 0.0), X, y) == 0
    assert loss(tilted, X, y) > 0.02
    repaired = refine(tilted, X, y)
    assert loss(repaired, X, y) <= 0.1 * loss(tilted, X, y)
    assert repaired.n_leaves == 5
    assert_valid(repaired, X, y)


def test_dead_branches_go():
    X, y = make_pol(500, random_state=0)
    y = y - 1
    tree = pol_tree(X, y, 0.0)
    below = X.sum(axis=1) < POL_LINES[2]
    refined = refine(tree, X[below], y[below])  # nobody gets to the last two stripes
    assert refined.n_leaves == 3
    assert loss(refined, X[below], y[below]) == 0
    assert_valid(refined, X[below], y[below])


def test_branches_of_one_class_go():
    X, _ = make_pol(300, random_state=0)
    y = (X.sum(axis=1) > POL_LINES[1]).astype(int)
    refined = refine(pol_tree(X, y, 0.0), X, y)
    assert refined.n_leaves == 2
    assert loss(refined, X, y) == 0


def test_a_high_price_leaves_the_root():
    X, y = clouds(0)
    tree = OC1Classifier(prune=None, random_state=0).fit(X, y).tree_
    assert refine(tree, X, y, alpha=1.0).n_leaves == 1
    sizes = [refine(tree, X, y, alpha=alpha).n_leaves for alpha in (0.0, 0.01, 0.1)]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) > 1


def test_it_is_no_worse_than_pruning_at_the_same_price():
    X, y = clouds(1)
    tree = OC1Classifier(prune=None, random_state=0).fit(X, y).tree_
    alpha = 0.01
    sequence = prune_sequence(tree)
    pruned = sequence.subtree(sequence.step_of(alpha))
    assert loss(refine(pruned, X, y, alpha=alpha), X, y, alpha=alpha) <= loss(pruned, X, y, alpha=alpha) + 1e-12
    assert loss(refine(tree, X, y, alpha=alpha), X, y, alpha=alpha) <= loss(tree, X, y, alpha=alpha) + 1e-12


def test_weight_two_is_the_row_twice():
    for seed in range(5):
        X, y = clouds(seed)
        weights = np.random.default_rng(seed).integers(1, 3, size=len(y))
        tree = OC1Classifier(max_depth=3, n_restarts=1, prune=None, random_state=0).fit(X, y).tree_
        heavy = refine(tree, X, y, weights.astype(float))
        twice = refine(tree, np.repeat(X, weights, axis=0), np.repeat(y, weights))
        np.testing.assert_array_equal(heavy.apply(X), twice.apply(X))
        np.testing.assert_allclose(heavy.counts, twice.counts)
        np.testing.assert_allclose(heavy.gains, twice.gains)


def test_weight_zero_is_no_row():
    X, y = clouds(3)
    weights = (np.arange(len(y)) % 3 > 0).astype(float)
    tree = OC1Classifier(max_depth=3, prune=None, random_state=0).fit(X, y).tree_
    without = refine(tree, X[weights > 0], y[weights > 0])
    np.testing.assert_allclose(refine(tree, X, y, weights).counts, without.counts)


def test_units_do_not_matter():
    for seed in range(5):
        X, y = clouds(seed)
        unit, shift = np.array([1024.0, 2.0**-10, 1.0]), np.array([0.0, 0.0, 64.0])
        other = X * unit + shift
        one, two = (
            refine(OC1Classifier(max_depth=3, n_restarts=2, prune=None, random_state=0).fit(Z, y).tree_, Z, y)
            for Z in (X, other)
        )
        assert one.n_nodes == two.n_nodes
        np.testing.assert_array_equal(one.counts, two.counts)
        np.testing.assert_array_equal(one.apply(X), two.apply(other))


def test_leaf_only_trees_and_one_class_are_unharmed():
    X, y = clouds(0)
    leaf = OC1Classifier(max_depth=0, prune=None).fit(X, y).tree_
    assert refine(leaf, X, y).to_dict() == leaf.to_dict()
    tree = OC1Classifier(max_depth=2, prune=None, random_state=0).fit(X, y).tree_
    one_class = refine(tree, X, np.zeros(len(y), dtype=int))
    assert one_class.n_leaves == 1
    assert one_class.counts.tolist() == [[len(y), 0, 0]]


def test_attributes_are_not_added_to_a_test():
    X, y = clouds(5, d=6)
    sparse = OC1Classifier(max_terms=2, max_depth=3, prune=None, random_state=0).fit(X, y).tree_
    tests = {tuple(sparse.test(node)[0]) for node in np.flatnonzero(~sparse.is_leaf)}
    refined = refine(sparse, X, y)
    for node in np.flatnonzero(~refined.is_leaf):
        assert any(set(refined.test(node)[0]) <= set(test) for test in tests)


def test_thresholds_of_axis_parallel_tests_are_moved():
    gains = []
    for seed in range(5):
        X, y = clouds(seed, 400, 6, 6)
        axis = CARTClassifier(max_depth=3, prune=None).fit(X, y).tree_
        refined = refine(axis, X, y)
        gains.append(loss(axis, X, y) - loss(refined, X, y))
        assert (refined.coefficients == 1).all()
        assert (np.diff(refined.terms)[~refined.is_leaf] == 1).all()
    assert max(gains) > 0


def test_leaves_hold_enough_examples():
    gains, smallest = [], []
    for seed in range(5):
        X, y = clouds(seed, 300, 4, 5)
        tree = OC1Classifier(min_samples_leaf=15, prune=None, random_state=0).fit(X, y).tree_
        refined, free = refine(tree, X, y, min_samples_leaf=15), refine(tree, X, y)
        gains.append(loss(tree, X, y) - loss(refined, X, y))
        assert refined.counts[refined.is_leaf].sum(axis=1).min() >= 15
        smallest.append(free.counts[free.is_leaf].sum(axis=1).min())
    assert max(gains) > 0
    assert min(smallest) < 15  # the limit does limit


@pytest.mark.parametrize("criterion", [*MEASURES, lambda left, right: (left * right).sum()])
def test_gains_are_those_of_growing(criterion):
    X, y = clouds(4)
    clf = OC1Classifier(criterion=criterion, max_depth=4, n_restarts=1, prune=None, random_state=0).fit(X, y)
    same = refine(clf.tree_, X, y, max_rounds=0, criterion=criterion)
    gains = dict(zip(map(tuple, clf.tree_.counts), clf.tree_.gains, strict=True))
    assert same.n_leaves > 2
    inner = ~same.is_leaf
    np.testing.assert_allclose(same.gains[inner], [gains[tuple(own)] for own in same.counts[inner]])


@pytest.mark.parametrize("seed", range(5))
def test_a_refined_tree_is_as_good_as_it_gets(seed):
    X, y = clouds(seed)
    tree = OC1Classifier(max_depth=3, prune=None, random_state=0).fit(X, y).tree_
    refined = refine(tree, X, y, max_rounds=100)
    again = refine(refined, X, y)
    assert loss(again, X, y) == loss(refined, X, y)
    assert again.n_leaves == refined.n_leaves


def test_codes_of_categories_are_kept():
    X, y = clouds(0)
    X[:, 1] = np.random.default_rng(0).integers(5, size=len(y)) + 5 * (y == 1)
    clf = OC1Classifier(categorical_features=[1], max_depth=2, prune=None, random_state=0).fit(X, y)
    numbers = X.copy()
    numbers[:, 1] = [list(clf.categories_[1]).index(value) for value in X[:, 1]]
    refined = refine(clf.tree_, numbers, y)
    assert refined.codes is clf.tree_.codes
    assert loss(refined, numbers, y) <= loss(clf.tree_, numbers, y)
    leaves = np.bincount(refined.apply(numbers), minlength=refined.n_nodes)
    np.testing.assert_array_equal(leaves[refined.is_leaf], refined.counts[refined.is_leaf].sum(axis=1))


def test_deep_trees_do_not_run_out_of_stack():
    n = 1200
    X, y = np.arange(n, dtype=float)[:, None], np.arange(n) % 2

    def chain():
        node = GrownNode(np.empty(0, int), np.empty(0), 0, 0, np.eye(2)[(n - 1) % 2])
        for i in range(n - 2, -1, -1):
            leaf = GrownNode(np.empty(0, int), np.empty(0), 0, 0, np.eye(2)[i % 2])
            test = LinearTest(np.array([0]), np.ones(1), i + 0.5)
            node = GrownNode(np.empty(0, int), np.empty(0), 0, 0, np.ones(2), test, 1.0, [leaf, node])
        return build_tree(node, np.zeros(1), np.array([0, 1]), ())

    refined = refine(chain(), X, y, max_rounds=1)
    assert refined.max_depth == n - 1
    assert loss(refined, X, y) == 0

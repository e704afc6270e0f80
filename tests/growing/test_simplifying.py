from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc1 import OC1Classifier
from oc1.data.training import Training
from oc1.datasets import make_ls10, make_pol
from oc1.growing.linear_tests import LinearTest
from oc1.growing.nodes import build_tree
from oc1.growing.simplifying import simplify
from oc1.growing.splitters import Limits, Splitter, SplitterGrower


def purity(test, X, y, weights=None):
    """The Twoing value, as the paper defines it."""
    weights = np.ones(len(X)) if weights is None else weights
    right = test.branches(X).astype(bool)
    counts = np.array([np.bincount(y[side], weights[side], y.max() + 1) for side in (~right, right)])
    sizes = counts.sum(axis=1)
    return np.abs(counts[0] / sizes[0] - counts[1] / sizes[1]).sum() ** 2 * sizes.prod() / sizes.sum() ** 2


def halving(X, plane, share=0.5):
    """A test with some share of the examples on its left."""
    plane = np.asarray(plane, dtype=float)
    return LinearTest.of_plane(plane, np.quantile(X @ plane, share), X)


def best_test(X, y, plane, weights=None, min_leaf=1):
    """The purest test on a plane, so that any other place of the threshold costs purity."""
    values = np.sort(X @ plane)
    middles = ((values[1:] + values[:-1]) / 2)[min_leaf - 1 : len(X) - min_leaf]
    tests = [LinearTest.of_plane(plane, middle, X) for middle in middles]
    return max(tests, key=lambda test: purity(test, X, y, weights))


def nodes_of(clf, X, y):
    """The tests of a fitted tree, each with the examples that get there."""
    tree, labels = clf.tree_, np.searchsorted(clf.classes_, y)
    path = tree.decision_path(X).toarray().astype(bool)
    for node in np.flatnonzero(~tree.is_leaf):
        yield LinearTest(*tree.test(int(node))), X[path[:, node]], labels[path[:, node]]


def significant_digits(value):
    return len(np.format_float_scientific(abs(value), trim="-").split("e")[0].replace(".", "").rstrip("0"))


def blobs(seed, n=120, d=5, k=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, d)
    return X + X.std(axis=0) * rng.normal(size=(k, d))[y], y, rng


cases = pytest.mark.parametrize("seed", range(12))


@cases
@pytest.mark.parametrize("rounding", [True, False])
@pytest.mark.parametrize("tolerance", [None, 0.0, 0.01, 0.2])
@pytest.mark.parametrize("min_leaf", [1, 50])
def test_no_more_purity_is_lost_than_allowed(seed, rounding, tolerance, min_leaf):
    X, y, rng = blobs(seed)
    weights = rng.uniform(0.1, 3.0, len(X)) ** 2
    test = best_test(X, y, rng.normal(size=5) / X.std(axis=0), weights, min_leaf)
    simple = simplify(
        test, X, y, weights, 3, scale=X.std(axis=0), tolerance=tolerance, rounding=rounding, min_leaf=min_leaf
    )
    assert purity(simple, X, y, weights) >= (1 - (tolerance or 0.0)) * purity(test, X, y, weights) * (1 - 1e-9)
    right = simple.branches(X)
    assert min_leaf <= right.sum() <= len(X) - min_leaf
    assert simple.coefficients[0] > 0
    assert set(simple.features) <= set(test.features)
    assert (np.diff(simple.features) > 0).all()
    if tolerance is None:
        assert len(simple.features) == len(test.features)


def test_a_tolerance_makes_tests_shorter():
    sizes = dict.fromkeys((None, 0.0, 0.2), 0)
    for seed in range(12):
        X, y, rng = blobs(seed)
        test = halving(X, rng.normal(size=5) / X.std(axis=0))
        for tolerance in sizes:
            sizes[tolerance] += len(simplify(test, X, y, None, 3, scale=X.std(axis=0), tolerance=tolerance).features)
    assert sizes[None] > sizes[0.0] > sizes[0.2]


def test_terms_that_do_nothing_are_dropped_and_others_stand_in_for_copies():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    X[:, 3] = X[:, 0] + 1e-3 * rng.normal(size=500)
    y = (X[:, 0] + X[:, 1] > 0.1).astype(int)
    test = halving(X, [0.5, 1.0, 1e-4, 0.5], 0.53)
    simple = simplify(test, X, y, None, 2, scale=X.std(axis=0), tolerance=0.01)
    assert simple.features.tolist() in ([0, 1], [1, 3])
    np.testing.assert_allclose(simple.coefficients, 1.0, atol=0.1)


@pytest.mark.parametrize("seed", range(5))
def test_the_planes_of_pol_become_exact(seed):
    X, y = make_pol(2000, random_state=seed)
    clf = OC1Classifier(prune=None, random_state=seed).fit(X, y)
    simple = [simplify(test, X_node, y_node, None, 2, scale=clf._scale) for test, X_node, y_node in nodes_of(clf, X, y)]
    exact = [test.coefficients.tolist() == [1.0, 1.0] for test in simple]
    assert np.mean(exact) >= 0.75
    assert exact[0]


def test_the_plane_of_ls10_becomes_exact():
    X, y = make_ls10(2000, random_state=1)
    clf = OC1Classifier(prune=None, random_state=0).fit(X, y)
    test, X, y = next(nodes_of(clf, X, y))
    simple = simplify(test, X, y, None, 2, scale=clf._scale)
    assert simple.coefficients.tolist() == [1] * 5 + [-1] * 5
    assert simple.threshold == 0


@cases
def test_numbers_are_short_and_stored_as_they_are_printed(seed):
    X, y, rng = blobs(seed, n=60, k=2)
    direction = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    test = halving(X, direction / X.var(axis=0) * rng.uniform(0.9, 1.1, 5))
    simple = simplify(test, X, y, None, 2, scale=X.std(axis=0), tolerance=0.1)
    assert max(significant_digits(c) for c in simple.coefficients) <= 3
    assert 1.0 in np.abs(simple.coefficients)
    values = X[:, simple.features] @ simple.coefficients
    below, above = values[values <= simple.threshold].max(), values[values > simple.threshold].min()
    assert simple.gap == pytest.approx(above - below)
    assert 0.199 < (simple.threshold - below) / (above - below) < 0.801
    # No number with a digit less would do.
    if simple.threshold:
        place = np.floor(np.log10(abs(simple.threshold))) - significant_digits(simple.threshold) + 2
        shorter = np.round((below + above) / 2 / 10**place) * 10**place
        assert not 0.201 < (shorter - below) / (above - below) < 0.799


@cases
def test_what_is_simple_stays_as_it_is(seed):
    X, y, rng = blobs(seed)
    scale = X.std(axis=0)
    test = halving(X, rng.normal(size=5) / scale)
    once = simplify(test, X, y, None, 3, scale=scale)
    twice = simplify(once, X, y, None, 3, scale=scale)
    assert purity(twice, X, y) >= purity(once, X, y) * (1 - 1e-9)
    if len(twice.features) == len(once.features):
        digits = [sum(map(significant_digits, test.coefficients)) for test in (once, twice)]
        assert digits[1] <= digits[0]
    given = LinearTest(np.array([1], np.int32), np.array([1.0]), float(np.float32(np.median(X[:, 1]))))
    again = simplify(simplify(given, X, y, None, 3, scale=scale), X, y, None, 3, scale=scale)
    assert again == simplify(given, X, y, None, 3, scale=scale)


def test_a_short_test_is_returned_as_given():
    X = np.array([[0.0, 0.1], [0.2, 0.1], [0.1, 0.6], [0.5, 0.4]])
    test = LinearTest(np.array([0, 1], np.int32), np.array([1.0, 1.0]), 0.5)
    simple = simplify(test, X, np.array([0, 0, 1, 1]), None, 2, scale=np.ones(2), tolerance=None)
    assert (simple.coefficients.tolist(), simple.threshold) == ([1.0, 1.0], 0.5)


@cases
def test_rows_may_come_in_any_order_and_twice_is_weight_two(seed):
    X, y, rng = blobs(seed)
    weights = rng.integers(1, 4, len(X)).astype(float)
    scale = X.std(axis=0)
    test = halving(X, rng.normal(size=5) / scale)
    simple = simplify(test, X, y, weights, 3, scale=scale)
    order = rng.permutation(np.repeat(np.arange(len(X)), weights.astype(int)))
    shuffled = simplify(test, X[order], y[order], None, 3, scale=scale)
    one_by_one = rng.permutation(len(X))
    same = simplify(test, X[one_by_one], y[one_by_one], weights[one_by_one], 3, scale=scale)
    assert describe(same) == describe(simple)
    assert abs(len(shuffled.features) - len(simple.features)) <= 1  # what is chance in a gap depends on the number


def describe(test):
    return test.features.tolist(), test.coefficients.tolist(), test.threshold


@cases
def test_powers_of_ten_as_units_change_nothing(seed):
    X, y, rng = blobs(seed)
    scale = X.std(axis=0)
    test = halving(X, rng.normal(size=5) / scale)
    units = 10.0 ** rng.integers(-3, 4, 5)
    moved = LinearTest(test.features, test.coefficients / units, test.threshold)
    simple = simplify(test, X, y, None, 3, scale=scale)
    other = simplify(moved, X * units, y, None, 3, scale=scale * units)
    assert other.features.tolist() == simple.features.tolist()
    assert np.mean(other.branches(X * units) == simple.branches(X)) in (0.0, 1.0)


@given(st.integers(-300, 300), st.integers(-300, 300), st.integers(0, 1000))
def test_extreme_units_do_no_harm(a, b, seed):
    rng = np.random.default_rng(seed)
    units = 10.0 ** np.array([a, b], dtype=float)
    X = rng.normal(size=(20, 2))
    y = (X.sum(axis=1) > 0).astype(int)
    test = halving(X, [1.0, 0.97])
    with np.errstate(all="ignore"):
        test = LinearTest(test.features, test.coefficients / units, test.threshold)
        simple = simplify(test, X * units, y, None, 2, scale=units)
        assert np.isfinite(simple.coefficients).all()
        assert np.isfinite(simple.threshold)
        assert purity(simple, X * units, y) >= purity(test, X * units, y) * (1 - 1e-9)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_two_examples(scale):
    X = np.array([[0.1, 0.3], [0.4, 0.35]]) * scale
    test = LinearTest(np.array([0, 1], np.int32), np.array([1.0, 0.123456]), 0.3 * scale)
    simple = simplify(test, X, np.array([0, 1]), None, 2, scale=np.full(2, scale))
    assert simple.branches(X).tolist() == [0, 1]
    assert np.abs(simple.coefficients).max() == 1.0


def test_neighbours_without_a_number_between_them():
    X = np.array([[1.0], [1.0], [np.nextafter(1.0, 2.0)], [2.0]])
    test = LinearTest(np.array([0], np.int32), np.array([1.0]), 1.0)
    simple = simplify(test, X, np.array([0, 0, 1, 1]), None, 2, scale=np.ones(1))
    assert simple.branches(X).tolist() == [0, 0, 1, 1]


def test_duplicates_are_never_torn_apart():
    X = np.repeat(np.array([[0.0, 0.0], [0.3, 0.1], [1.0, 1.0]]), 5, axis=0)
    y = np.array([0] * 5 + [0, 1, 0, 1, 0] + [1] * 5)
    test = LinearTest(np.array([0, 1], np.int32), np.array([1.0, 0.87654]), 1.2)
    assert len(np.unique(simplify(test, X, y, None, 2, scale=np.ones(2)).branches(X).reshape(3, 5), axis=1).T) == 1


@pytest.mark.parametrize("threshold", [-5.0, 5.0])
def test_a_test_that_splits_nothing_is_left_alone(threshold):
    X = np.array([[0.0], [1.0], [2.0]])
    test = LinearTest(np.array([0], np.int32), np.array([0.5]), threshold)
    assert simplify(test, X, np.array([0, 1, 1]), None, 2, scale=np.ones(1)) is test
    nothing = LinearTest(np.empty(0, np.int32), np.empty(0), 0.0)
    assert simplify(nothing, X, np.array([0, 1, 1]), None, 2, scale=np.ones(1)) is nothing


def test_wide_margins_stay_wide():
    X = np.random.default_rng(0).uniform(-1, 1, size=(2000, 2))
    X = X[np.abs(X @ [1.0, 0.55]) > 0.1]
    y = (X @ [1.0, 0.55] > 0).astype(int)
    test = LinearTest(np.array([0, 1], np.int32), np.array([1.0, 0.5512]), 0.0)
    simple = simplify(test, X, y, None, 2, scale=np.ones(2))
    assert simple.coefficients.tolist() == [1.0, 0.55]  # 0.6 separates the classes too, by half the gap
    assert purity(LinearTest(test.features, np.array([1.0, 0.6]), 0.0), X, y) == purity(test, X, y)


def test_large_nodes_are_judged_by_all_examples():
    X, y = make_pol(60_000, random_state=0)
    X = np.column_stack([X, np.random.default_rng(0).uniform(size=len(X))])
    test = halving(X, [1.0, 0.9931, 0.001], 0.55)
    simple = simplify(test, X, y - 1, None, 2, scale=X.std(axis=0), tolerance=0.01)
    assert simple.features.tolist() == [0, 1]
    assert purity(simple, X, y - 1) >= 0.99 * purity(test, X, y - 1)


@dataclass
class SimpleSplits(Splitter):
    """Splits between the means of two classes, simplified."""

    scale: np.ndarray

    def split(self, node):
        means = [node.X[node.y == c].mean(axis=0) for c in np.unique(node.y)]
        plane = (means[0] - means[-1]) / self.scale**2
        values = node.X @ plane
        test = LinearTest.of_plane(plane, np.median(values), node.X)
        return simplify(test, node.X, node.y, node.weights, node.n_classes, scale=self.scale, min_leaf=node.min_leaf)


def test_examples_go_where_the_tree_sends_them():
    X, y, _ = blobs(5, n=300)
    data = Training(X, y, None, np.zeros(5), np.arange(3), (), seed=0)
    root = SplitterGrower(SimpleSplits(X.std(axis=0)), data, np.arange(300), None, Limits(max_depth=6)).grow()
    tree = build_tree(root, np.zeros(5), np.arange(3), ())
    leaves = np.bincount(tree.apply(X) * 3 + y, minlength=3 * tree.n_nodes).reshape(-1, 3)
    np.testing.assert_array_equal(leaves[tree.is_leaf], tree.counts[tree.is_leaf])
    assert tree.n_leaves > 8

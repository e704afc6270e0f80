import json

import naive
import numpy as np
import pytest

from oc1 import OC1Classifier, OC1ForestClassifier
from oc1.tree import forest
from oc1.tree.linear import Tree


@pytest.fixture(scope="module")
def fitted(rcb):
    X, y = rcb
    return OC1Classifier(prune=None, n_restarts=2, random_state=0).fit(X, y), X, y


def test_apply_equals_the_walk(fitted):
    clf, X, _ = fitted
    expected = [naive.node_of(clf.tree_, x)[-1] for x in X[:100]]
    assert clf.apply(X[:100]).tolist() == expected


@pytest.mark.parametrize("max_terms", [1, 2, None])
@pytest.mark.parametrize("layout", ["C", "F", "strided", "float32"])
def test_large_trees_in_all_layouts_equal_the_walk(max_terms, layout):
    # Random classes: some two hundred nodes, so that rows leave the part of the tree that asks everyone.
    rng = np.random.default_rng(1)
    X = rng.normal(size=(700, 3))
    X[rng.random(X.shape) < 0.05] = np.nan
    tree = (
        OC1Classifier(prune=None, n_restarts=1, max_terms=max_terms, random_state=0)
        .fit(X, X[:, 0] * 37 % 1 > 0.5)
        .tree_
    )
    assert tree.n_leaves > 60
    rows = {
        "C": X,
        "F": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=1)[:, ::2],
        "float32": X.astype(np.float32),
    }[layout]
    expected = [naive.node_of(tree, x)[-1] for x in rows]
    assert tree.apply(rows).tolist() == expected
    assert tree.apply(rows[:1]).tolist() == expected[:1]
    assert tree.apply(rows[:0]).tolist() == []


def test_terms_out_of_order_are_refused(fitted):
    data = fitted[0].tree_.to_dict()
    first, second = data["terms"][:2]
    assert second - first == 2
    data["features"][:2] = data["features"][:2][::-1]
    with pytest.raises(ValueError, match="order of the attributes"):
        Tree.from_dict(data)


def test_decision_path_equals_the_walk(fitted):
    clf, X, _ = fitted
    paths = clf.decision_path(X[:50])
    assert paths.shape == (50, clf.tree_.n_nodes)
    for row, x in enumerate(X[:50]):
        assert sorted(paths[row].indices) == naive.node_of(clf.tree_, x)


def test_preorder_and_counts(fitted):
    clf, X, y = fitted
    tree = clf.tree_
    inner = np.flatnonzero(~tree.is_leaf)
    assert (tree.children[inner, 0] == inner + 1).all()
    assert (tree.children[inner, 1] > inner + 1).all()
    np.testing.assert_array_equal(
        tree.counts[inner], tree.counts[tree.children[inner, 0]] + tree.counts[tree.children[inner, 1]]
    )
    np.testing.assert_array_equal(tree.counts[0], np.bincount(np.searchsorted(clf.classes_, y)))
    assert tree.n_leaves == (tree.n_nodes + 1) // 2
    assert tree.max_depth == max(len(naive.node_of(tree, x)) - 1 for x in X)


def test_round_trip_through_json(fitted):
    clf, X, _ = fitted
    again = Tree.from_dict(json.loads(json.dumps(clf.tree_.to_dict())))
    np.testing.assert_array_equal(again.apply(X), clf.tree_.apply(X))
    np.testing.assert_array_equal(again.coefficients, clf.tree_.coefficients)
    assert str(again) == str(clf.tree_)


def test_unknown_format_is_refused(fitted):
    data = fitted[0].tree_.to_dict() | {"format": 99}
    with pytest.raises(ValueError, match="format 99"):
        Tree.from_dict(data)


def test_cut(fitted):
    clf, X, _ = fitted
    tree = clf.tree_
    marked = np.zeros(tree.n_nodes, dtype=bool)
    marked[tree.children[0, 1]] = True
    cut = tree.cut(marked)
    assert cut.n_nodes < tree.n_nodes
    depth_one = np.array([naive.node_of(tree, x)[1] for x in X])
    leaves = cut.apply(X)
    right = depth_one == tree.children[0, 1]
    assert len(set(leaves[right])) == 1
    np.testing.assert_array_equal(cut.counts[leaves[right][0]], tree.counts[tree.children[0, 1]])
    np.testing.assert_array_equal(
        cut.apply(X[~right]), tree.apply(X[~right])
    )  # preorder: the left part keeps its numbers
    assert tree.cut(np.ones(tree.n_nodes, dtype=bool)).n_nodes == 1


def test_threads_share_large_inputs_and_change_nothing(fitted, monkeypatch):
    clf, X, y = fitted
    monkeypatch.setattr(forest, "MIN_WALKS_PER_THREAD", 100)
    shared = []
    pool = forest.ThreadPoolExecutor
    monkeypatch.setattr(forest, "ThreadPoolExecutor", lambda n: shared.append(n) or pool(n))
    np.testing.assert_array_equal(clf.tree_.apply(X, n_jobs=3), clf.tree_.apply(X))
    model = OC1ForestClassifier(n_estimators=5, random_state=0).fit(X, y)
    alone = model.predict_proba(X)
    np.testing.assert_array_equal(model.set_params(n_jobs=3).predict_proba(X), alone)
    assert shared == [3, 3]

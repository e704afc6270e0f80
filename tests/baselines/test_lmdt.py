"""LMDT: thermal training against its slow version, trees of linear machines, and the paper's figures in small."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from expected_failures import repetitions_are_evidence
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import lmdt
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.utils.estimator_checks import parametrize_with_checks

from oc1.baselines.lmdt import LMDTClassifier, Standardised
from oc1.datasets import make_ls10
from oc1.growing.splitters import NodeExamples
from oc1.impurity import information_gained
from oc1.kernels import linear_machine as _machines
from oc1.tree.machine import MachineTree
from oc1.tree.pruning import prune_sequence


@pytest.mark.slow
@parametrize_with_checks([LMDTClassifier(eliminate=True)], expected_failed_checks=repetitions_are_evidence)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


# ------------------------------------------------------------------------------------------------ training


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 25),
    d=st.integers(1, 4),
    k=st.integers(2, 4),
    equal=st.booleans(),
    min_leaf=st.integers(1, 3),
    small=st.sampled_from([0.0, 0.01, 0.2]),
    factor=st.sampled_from([0.999, 0.9, 0.5]),
)
def test_training_equals_the_slow_version_pass_by_pass(seed, n, d, k, equal, min_leaf, small, factor):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, d)), np.ones(n)])
    y = rng.integers(0, k, n)
    weights = np.ones(n) if equal else rng.uniform(0.1, 3, n)
    sizes = rng.integers(1, 3, n)
    fixed = (X, y, weights, sizes, k, min_leaf, 2.0, 0.1, factor, 0.0005, 0.001, small, 2 * d)
    passes = 0
    for passes, (machine, best, n_corrections) in enumerate(lmdt.train(*fixed, 15, seed), 1):
        fast = _machines.train(*fixed, passes, np.array([seed], dtype=np.uint64))
        np.testing.assert_array_equal(fast[0], machine)
        np.testing.assert_array_equal(fast[1], best)
        assert fast[3] == n_corrections
    # Where the slow one ended before its last pass, so does the fast one.
    more = 15 if passes == 15 else 1000
    assert _machines.train(*fixed, more, np.array([seed], dtype=np.uint64))[3] == n_corrections


def test_one_correction_by_hand():
    # Zero weights give all to class 0. The example (1, 1) of class 1 has k = 0.1 and gets c = 4 / 2.1.
    X, y = np.array([[1.0, 1.0]]), np.array([1])
    machine, *_, n = _machines.train(
        X, y, np.ones(1), np.ones(1, dtype=np.int64), 2, 1, 2.0, 0.1, 0.999, 0.0005, 0.001, 0.0, 2, 1,
        np.zeros(1, dtype=np.uint64),
    )  # fmt: skip
    assert n == 1
    np.testing.assert_allclose(machine, 4 / 2.1 * np.array([[-1.0, -1.0], [1.0, 1.0]]))


def test_heavier_examples_come_up_more_often():
    # Two contradicting examples: the heavier one is right in the end more often.
    X, y = np.ones((2, 1)), np.array([0, 1])
    ends = []
    for weights in ([1.0, 9.0], [9.0, 1.0]):
        won = 0
        for seed in range(200):
            machine = _machines.train(
                X, y, np.array(weights), np.ones(2, dtype=np.int64), 2, 1, 2.0, 0.1, 0.999, 0.0005, 0.001, 0.0, 10**6,
                20, np.array([seed], dtype=np.uint64),
            )[0]  # fmt: skip
            won += machine[1, 0] > machine[0, 0]
        ends.append(won)
    assert ends[0] > 140 > 60 > ends[1]


def test_equal_examples_are_merged():
    X = np.array([[2.0, 7.0], [0.0, 7.0], [2.0, 7.0], [2.0, 7.0]])
    y = np.array([1, 0, 1, 0])
    merged = Standardised.of(NodeExamples(X, y, np.array([1.0, 1.0, 2.0, 4.0]), 2, 1, 0))
    np.testing.assert_array_equal(merged.weights, [1, 4, 3])
    np.testing.assert_array_equal(merged.sizes, [1, 1, 2])
    np.testing.assert_array_equal(merged.classes[merged.labels], [0, 0, 1])
    np.testing.assert_allclose(merged.mean[0], 7 * 2 / 8)
    np.testing.assert_allclose(np.average(merged.X[:, 0] ** 2, weights=merged.weights), 1)
    assert merged.scale[1] == 0
    assert not merged.X[:, 1].any()


# ------------------------------------------------------------------------------------------------ trees


def walk(tree, x):
    """The nodes that one example passes."""
    x = np.append(np.where(np.isnan(x), tree.fill, x), 1.0)
    path = [0]
    while tree.children[path[-1], 0] >= 0:
        node = path[-1]
        functions = tree.functions[tree.machines[node] : tree.machines[node + 1]]
        path.append(int(tree.children[node, np.argmax(functions @ x)]))
    return path


@pytest.fixture(scope="module")
def grown():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.array(["low", "middle", "high"])[np.digitize(X[:, 0] + 0.5 * rng.normal(size=300), [-0.5, 0.5])]
    return LMDTClassifier(prune=None, random_state=0).fit(X, y), X, y


def test_apply_and_paths_equal_the_walk(grown):
    clf, X, _ = grown
    new = np.random.default_rng(1).normal(size=(200, 2))
    new[::7, 0] = np.nan
    for rows in (X, new):
        assert clf.apply(rows).tolist() == [walk(clf.tree_, x)[-1] for x in rows]
    paths = clf.decision_path(X[:30])
    for row, x in enumerate(X[:30]):
        assert sorted(paths[row].indices) == walk(clf.tree_, x)


def test_nodes_have_a_branch_for_each_class_predicted(grown):
    clf, X, y = grown
    tree = clf.tree_
    branches = (tree.children >= 0).sum(axis=1)
    assert branches.max() > 2
    np.testing.assert_array_equal(branches, np.diff(tree.machines))
    for node in np.flatnonzero(~tree.is_leaf):
        children = tree.children[node, : branches[node]]
        np.testing.assert_array_equal(tree.counts[children].sum(axis=0), tree.counts[node])
        labels = tree.machine(node)[1]
        assert len(set(labels)) == len(labels)
        assert (tree.counts[node, labels] > 0).all()
        assert tree.gains[node] == pytest.approx(information_gained(tree.counts[children]))
        np.testing.assert_allclose(tree.machine(node)[0].sum(axis=0), 0, atol=1e-9)
    seen = np.zeros_like(tree.counts)
    np.add.at(seen, (clf.apply(X), np.searchsorted(clf.classes_, y)), 1)
    np.testing.assert_array_equal(seen[tree.is_leaf], tree.counts[tree.is_leaf])


def test_three_classes_by_one_machine():
    X, y = load_wine(return_X_y=True)
    clf = LMDTClassifier(prune=None, random_state=0).fit(X, y)
    assert clf.get_depth() == 1
    assert clf.get_n_leaves() == 3
    assert clf.score(X, y) == 1.0
    assert clf.tree_.machine(0)[1].tolist() == [0, 1, 2]


@pytest.mark.parametrize("scale", [1e-300, 1e-5, 1.0, 1e300])
@pytest.mark.parametrize("seed", range(5))
def test_separable_data_give_one_machine(seed, scale):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(100, 3))
    margin = X @ rng.normal(size=3)
    X, y = X[np.abs(margin) > 0.2] * scale, (margin > 0)[np.abs(margin) > 0.2]
    clf = LMDTClassifier(prune=None, random_state=seed).fit(X, y)
    assert clf.get_n_leaves() == 2
    assert clf.score(X, y) == 1.0


def test_what_no_machine_divides_is_a_leaf():
    same = LMDTClassifier(prune=None).fit([[1.0, 2.0]] * 5, [0, 1, 1, 1, 0])
    assert same.get_n_leaves() == 1
    np.testing.assert_allclose(same.predict_proba([[1.0, 2.0]]), [[0.4, 0.6]])
    assert same.feature_importances_.sum() == 0
    assert str(same.tree_) == "1  60% of 5"
    assert same.n_hyperplanes_ == 0
    again = MachineTree.from_dict(json.loads(json.dumps(same.tree_.to_dict())))
    assert again.functions.shape == (0, 3)
    assert again.apply(np.ones((2, 2))).tolist() == [0, 0]


def test_limits_hold(noisy):
    X, y = noisy
    whole = LMDTClassifier(prune=None, random_state=0).fit(X, y)
    assert whole.get_n_leaves() > 10
    small = LMDTClassifier(prune=None, min_samples_leaf=15, random_state=0).fit(X, y)
    assert small.get_n_leaves() > 1
    assert small.tree_.counts.sum(axis=1).min() >= 15
    assert LMDTClassifier(prune=None, max_leaf_nodes=4, random_state=0).fit(X, y).get_n_leaves() == 4
    assert LMDTClassifier(prune=None, max_depth=1, random_state=0).fit(X, y).get_depth() == 1


def test_round_trip_through_json_and_pickle(grown):
    clf, X, _ = grown
    again = MachineTree.from_dict(json.loads(json.dumps(clf.tree_.to_dict())))
    np.testing.assert_array_equal(again.apply(X), clf.tree_.apply(X))
    np.testing.assert_array_equal(again.functions, clf.tree_.functions)
    assert str(again) == str(clf.tree_)
    assert str(pickle.loads(pickle.dumps(clf)).tree_) == str(clf.tree_)
    for change in ({"format": 99}, {"kind": "tests"}):
        with pytest.raises(ValueError, match=str(next(iter(change.values())))):
            MachineTree.from_dict(clf.tree_.to_dict() | change)


def test_cut(grown):
    clf, X, _ = grown
    tree = clf.tree_
    inner = [int(child) for child in tree.children[0] if child >= 0 and not tree.is_leaf[child]]
    marked = np.zeros(tree.n_nodes, dtype=bool)
    marked[inner[0]] = True
    cut = tree.cut(marked)
    paths, leaves = [walk(tree, x) for x in X], cut.apply(X)
    inside = np.array([inner[0] in path for path in paths])
    assert len(set(leaves[inside])) == 1
    np.testing.assert_array_equal(cut.counts[leaves[inside][0]], tree.counts[inner[0]])
    np.testing.assert_array_equal(cut.counts[leaves[~inside]], tree.counts[[path[-1] for path in paths]][~inside])
    assert [walk(cut, x)[-1] for x in X] == leaves.tolist()
    below = {node for path in paths if inner[0] in path for node in path[path.index(inner[0]) + 1 :]}
    kept = [node for node in range(tree.n_nodes) if node not in below]
    assert len(cut.labels) == len(cut.functions) < len(tree.functions)
    for new, old in enumerate(kept):
        if old != inner[0]:
            for one, other in zip(cut.machine(new), tree.machine(old), strict=True):
                np.testing.assert_array_equal(one, other)
    root = tree.cut(np.ones(tree.n_nodes, dtype=bool))
    assert root.n_nodes == 1
    assert len(root.functions) == 0


def all_subtrees(tree, node=0):
    """The leaves of every way to cut a subtree."""
    if tree.is_leaf[node]:
        return [(node,)]
    ways = [()]
    for child in tree.children[node]:
        if child >= 0:
            ways = [a + b for a in ways for b in all_subtrees(tree, child)]
    return [(node,), *ways]


def test_cost_complexity_pruning_with_many_branches():
    multiway = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(70, 2))
        y = np.digitize(X[:, 0] + rng.normal(size=70), [-0.5, 0.5])
        tree = LMDTClassifier(prune=None, max_leaf_nodes=9, random_state=seed).fit(X, y).tree_
        multiway += (tree.children >= 0).sum(axis=1).max() > 2
        sequence = prune_sequence(tree)
        costs = (tree.counts.sum(axis=1) - tree.counts.max(axis=1)) / len(y)
        right = sequence.sum_over_leaves(sequence.tree.score_nodes(X, y))
        for step, alpha in enumerate(sequence.alphas):
            inside = 0.5 * (alpha + (sequence.alphas[step + 1] if step + 1 < len(sequence.alphas) else alpha + 1))
            best = min(
                (round(costs[list(leaves)].sum() + inside * len(leaves), 10), len(leaves))
                for leaves in all_subtrees(tree)
            )
            subtree = sequence.subtree(step)
            assert subtree.n_leaves == sequence.n_leaves[step] == best[1]
            np.testing.assert_array_equal(subtree.counts[subtree.is_leaf].sum(axis=0), np.bincount(y))
            assert right[step] == (subtree.majority[subtree.apply(X)] == y).sum()
    assert multiway


@pytest.mark.parametrize("prune", ["holdout", "cv"])
def test_pruning_shrinks_noisy_trees(noisy, prune):
    X, y = noisy
    clf = LMDTClassifier(prune=prune, random_state=0).fit(X[:300], y[:300])
    assert clf.get_n_leaves() < clf.unpruned_tree_.n_leaves
    assert clf.get_n_leaves() in clf.pruning_path_.leaves


# ------------------------------------------------------------------------------------------------ manners


def test_same_seed_same_tree(noisy):
    X, y = noisy
    trees = [LMDTClassifier(random_state=seed).fit(X, y).tree_.to_dict() for seed in (1, 1, 2)]
    assert trees[0] == trees[1] != trees[2]
    model = LMDTClassifier(beta=1.5, eliminate=True)
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize("parameters", [{}, {"prune": "cv"}, {"prune": None, "eliminate": True}])
def test_weights_of_zero_and_of_one_size_and_rows_have_no_order(noisy, parameters):
    X, y = noisy
    times = np.minimum(np.random.default_rng(0).integers(0, 4, len(y)), 1)
    order = np.random.default_rng(1).permutation(times.sum())
    many, labels = X.repeat(times, axis=0)[order], y.repeat(times)[order]
    weighted = LMDTClassifier(random_state=0, **parameters).fit(X, y, sample_weight=3.0 * times)
    repeated = LMDTClassifier(random_state=0, **parameters).fit(many, labels)
    assert weighted.get_n_leaves() > 1
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X))


def test_class_weight_shifts_the_balance(noisy):
    X, y = noisy
    shares = []
    for weight in (0.05, 1, 20):
        clf = LMDTClassifier(max_depth=1, prune=None, class_weight={0: 1, 1: weight}, random_state=0).fit(X, y)
        shares.append((clf.predict(X) == 1).mean())
    assert shares[0] <= shares[1] <= shares[2]
    assert shares[0] < shares[2]


def test_units_do_not_matter(rcb):
    X, y = rcb
    clf = LMDTClassifier(prune=None, random_state=0).fit(X, y)
    moved = X * [8.0, 0.25] + [64.0, -2.0]
    other = LMDTClassifier(prune=None, random_state=0).fit(moved, y)
    assert (clf.predict(X) == other.predict(moved)).mean() > 0.99
    scaled = X * [8.0, 0.25]  # powers of two: exact
    np.testing.assert_array_equal(LMDTClassifier(prune=None, random_state=0).fit(scaled, y).apply(scaled), clf.apply(X))


def test_missing_values_count_as_the_mean(noisy):
    X, y = noisy
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    clf = LMDTClassifier(prune=None, random_state=0).fit(holes, y)
    filled = np.where(np.isnan(holes), clf.tree_.fill, holes)
    same = LMDTClassifier(prune=None, random_state=0).fit(filled, y)
    np.testing.assert_array_equal(clf.apply(holes), same.apply(filled))


@pytest.mark.parametrize(
    "parameters",
    [
        {"beta": 0.0},
        {"epsilon": -0.1},
        {"beta_factor": 1.5},
        {"beta_decrement": -1.0},
        {"min_beta": -1.0},
        {"small": -0.1},
        {"patience": 0},
        {"max_passes": 0},
        {"eliminate": "yes"},
        {"tolerance": 1.0},
        {"prune": "none"},
    ],
)
def test_bad_parameters(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"'{name}' parameter of LMDTClassifier"):
        LMDTClassifier(**parameters).fit([[0.0], [1.0]], [0, 1])


# ------------------------------------------------------------------------------------------------ elimination


def test_elimination_drops_noise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    y = (X[:, 1] - X[:, 4] > 0).astype(int)
    whole = LMDTClassifier(prune=None, random_state=0, max_depth=1).fit(X, y)
    assert (whole.tree_.functions[:, :-1] != 0).all()
    fewer = LMDTClassifier(prune=None, eliminate=True, random_state=0, max_depth=1).fit(X, y)
    assert np.flatnonzero(fewer.tree_.functions[:, :-1].any(axis=0)).tolist() == [1, 4]
    assert fewer.score(X, y) > 0.97
    assert fewer.feature_importances_[[1, 4]].sum() == pytest.approx(1)
    assert fewer.n_hyperplanes_ > whole.n_hyperplanes_


def test_tolerance_is_the_price_of_an_attribute():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    y = (X @ [3.0, 1.0, 0.0] > 0).astype(int)
    used = [
        LMDTClassifier(prune=None, eliminate=True, tolerance=t, max_depth=1, random_state=0)
        .fit(X, y)
        .tree_.functions[:, :-1]
        .any(axis=0)
        .tolist()
        for t in (0.1, 0.7)
    ]
    assert used == [[True, True, False], [True, False, False]]


# ------------------------------------------------------------------------------------------------ words and science


def test_text_shows_a_function_for_each_branch():
    iris = load_iris(as_frame=True)
    X = pd.DataFrame({"length": iris.data.iloc[:, 2], "width": iris.data.iloc[:, 3]})
    clf = LMDTClassifier(prune=None, random_state=0, max_depth=1).fit(X, iris.target_names[iris.target])
    lines = str(clf.tree_).splitlines()
    assert lines[0] == "largest of"
    assert [line.split()[:2] for line in lines[1:]] == [
        ["|--", "setosa"],
        ["|--", "versicolor"],
        ["`--", "virginica"],
    ]
    assert all("length" in line and "width" in line for line in lines[1:])


def test_linearly_separable_data_in_ten_dimensions():
    scores, sizes = [], []
    for fold in range(3):
        X, y = make_ls10(random_state=100 + fold)
        test = np.arange(len(y)) % 5 == fold
        clf = LMDTClassifier(prune=None, random_state=fold).fit(X[~test], y[~test])
        scores.append(clf.score(X[test], y[test]))
        sizes.append(clf.get_n_leaves())
    assert np.mean(scores) >= 0.99
    assert np.mean(sizes) <= 3

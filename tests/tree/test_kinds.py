"""Trees of all kinds answer the same questions, each in its own way."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from oc1 import OC1Classifier, OC1ForestClassifier, OC1Regressor
from oc1.baselines import LMDTClassifier
from oc1.datasets import make_rcb
from oc1.kernels.records import Source
from oc1.tree.linear import Tree
from oc1.tree.machine import MachineTree
from oc1.tree.regression import RegressionTree
from oc1.tree.structure import TreeStructure
from oc1.tree.wording import terms_of

KINDS = {"tests": Tree, "regression": RegressionTree, "machines": MachineTree}


@pytest.fixture(scope="module")
def trees():
    X, y = make_rcb(300, random_state=0)
    learners = {"tests": OC1Classifier(random_state=0), "machines": LMDTClassifier(prune=None, random_state=0)}
    grown = {kind: learner.fit(X, y).tree_ for kind, learner in learners.items()}
    return {**grown, "regression": OC1Regressor(random_state=0).fit(X, X[:, 0] + y).tree_}


@pytest.fixture(params=KINDS)
def tree(request, trees):
    return trees[request.param]


def follow(tree, x):
    """Walk down by the functions that a tree says it has."""
    node = 0
    while not tree.is_leaf[node]:
        features, coefficients, constants = tree.node_functions(node)
        sums = coefficients @ x[features]
        branch = int(sums[0] > constants[0]) if tree.has_thresholds else int((sums + constants).argmax())
        node = tree.children[node, branch]
    return node


def test_the_class_belongs_to_the_kind(tree):
    assert isinstance(tree, TreeStructure)
    assert type(tree) is KINDS[tree.kind]
    assert tree.n_leaves > 2


def test_node_functions_lead_where_apply_does(tree):
    rows = np.random.default_rng(0).random((100, 2))
    assert [follow(tree, x) for x in rows] == tree.apply(rows).tolist()


def test_used_features_are_those_of_the_functions(tree):
    inner = np.flatnonzero(~tree.is_leaf).tolist()
    used = {feature for node in inner for feature in tree.node_functions(node).features.tolist()}
    assert tree.used_features.tolist() == sorted(used)


def test_terms_are_the_coefficients_of_the_functions(tree):
    functions = [tree.node_functions(node).coefficients for node in np.flatnonzero(~tree.is_leaf).tolist()]
    assert tree.n_terms == sum(np.count_nonzero(coefficients) for coefficients in functions) > 2


def test_a_branch_has_a_name_a_condition_and_a_child(tree):
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        n_branches = int((tree.children[node] >= 0).sum())
        assert len(tree.branch_names(node)) == len(tree.conditions(node)) == n_branches
        assert len(tree.branch_functions(node)) == (0 if tree.has_thresholds else n_branches)
        assert tree.equation(node) == " ".join(tree.equation_words(node))
        assert " ".join(tree.question(node)) in tree.equation(node)


def test_thresholds_and_terms_are_there_where_tests_are(tree):
    scale = np.ones(2)
    for node in range(tree.n_nodes):
        has_test = tree.has_thresholds and not tree.is_leaf[node]
        assert (tree.threshold_of(node) is not None) == has_test
        terms = terms_of(tree, node, scale)
        assert bool(terms) == has_test
        assert not has_test or sum(own.share for own in terms) == pytest.approx(1)


def test_outputs_are_shares_or_numbers(tree):
    outputs = tree.outputs(0.5)
    if tree.predicts_classes:
        np.testing.assert_array_equal(outputs, tree.outputs(0.5))
        labels = tree.classes[outputs.argmax(axis=1)].astype(str).tolist()
    else:
        np.testing.assert_array_equal(outputs[:, 0], tree.values)
        labels = [f"{value:.4g}" for value in tree.values]
    assert [tree.label(node) for node in range(tree.n_nodes)] == labels


def test_scores_of_the_training_examples_are_those_of_the_leaves(tree):
    X, y = make_rcb(300, random_state=0)
    truth = np.searchsorted(tree.classes, y) if tree.predicts_classes else X[:, 0] + y
    np.testing.assert_allclose(tree.score_nodes(X, truth), tree.leaf_scores, atol=1e-9)
    doubled = tree.score_nodes(X, truth, np.full(len(X), 2.0))
    np.testing.assert_allclose(doubled, 2 * tree.score_nodes(X, truth), atol=1e-9)


def test_a_tree_on_other_columns_answers_as_before(tree):
    rows = np.random.default_rng(1).random((100, 2))
    wide = np.full((100, 4), np.nan)
    wide[:, [3, 1]] = rows
    moved = tree.on_columns(np.array([3, 1]), ("a", "b", "c", "d"), tree.classes)
    np.testing.assert_array_equal(moved.apply(wide), tree.apply(rows))
    assert set(moved.used_features.tolist()) <= {1, 3}
    assert not moved.asks_the_same(tree)


def test_cut_trees_stop_where_they_are_cut(tree):
    rows = np.random.default_rng(2).random((200, 2))
    nodes = np.zeros(tree.n_nodes, dtype=bool)
    nodes[tree.children[0, 0]] = True
    cut = tree.cut(nodes)
    assert type(cut) is type(tree)
    assert cut.n_leaves == tree.n_leaves - tree.leaves_below[tree.children[0, 0]] + 1
    below = tree.decision_path(rows)[:, tree.children[0, 0]].toarray().ravel() > 0
    np.testing.assert_array_equal(cut.apply(rows) == 1, below)
    again = type(tree).from_dict(cut.to_dict())
    assert again.asks_the_same(cut)
    assert again.to_dict() == cut.to_dict()


def test_a_tree_is_read_by_its_own_kind_only(tree):
    for kind, other in KINDS.items():
        if kind != tree.kind:
            with pytest.raises(ValueError, match="this is a tree of"):
                other.from_dict(tree.to_dict())


def test_rows_of_another_width_are_refused(tree):
    d = len(tree.fill)
    for X in (np.zeros((4, d - 1)), np.zeros((4, d + 1)), np.zeros((4, 1)), np.zeros((0, 0)), np.zeros(d)):
        for ask in (tree.apply, tree.coded, tree.decision_path):
            with pytest.raises(ValueError, match=f"the tree has {d} attributes, but the shape of X is"):
                ask(X)


def test_kernels_see_only_rows_of_the_width_they_expect():
    for X in (np.zeros((4, 2)), np.zeros(3)):
        with pytest.raises(ValueError, match="X must have 3 columns"):
            Source.of(X, np.zeros(3))


@pytest.mark.parametrize("dtype", [">f8", ">f4", "<f4", "i8", ">i2", "u1", "f2", "longdouble", "object", "bool", "U8"])
def test_arrays_of_other_types_and_layouts_are_converted(tree, dtype):
    rows = np.random.default_rng(3).integers(0, 2, (60, len(tree.fill))).astype(float)
    own = rows.astype(bool).astype(dtype) if dtype == "bool" else rows.astype(dtype)
    expected = tree.apply(rows)
    for X in (own, np.asfortranarray(own), np.repeat(own, 2, axis=1)[:, ::2], own[::-1][::-1], own.tolist()):
        np.testing.assert_array_equal(tree.apply(X), expected)
    assert tree.apply(np.zeros((0, len(tree.fill)), dtype)).tolist() == []


def test_what_is_no_number_is_refused(tree):
    d = len(tree.fill)
    with pytest.raises(ValueError, match="X must hold numbers, but its type is complex128"):
        tree.apply(np.zeros((4, d), dtype=complex))
    with pytest.raises(ValueError, match="could not convert"):
        tree.apply(np.full((4, d), "red"))


@pytest.mark.parametrize("dtype", [">f8", ">f4", "i8", "u1", "f2", "object"])
def test_predictions_do_not_depend_on_the_type_of_the_array(dtype):
    X, y = load_iris(return_X_y=True)
    X = np.round(X)
    for learner in (OC1Classifier(random_state=0), OC1ForestClassifier(n_estimators=3, random_state=0)):
        model = learner.fit(X, y)
        np.testing.assert_array_equal(model.predict(X.astype(dtype)), model.predict(X))
        np.testing.assert_array_equal(model.apply(X.astype(dtype)), model.apply(X))

"""What a grown tree must be, checked node by node against the slow version."""

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oc1 import OC1Classifier
from oc1.data.sampling import as_ratios
from oc1.growing import options as growth_options
from oc1.growing import policy
from oc1.impurity import MEASURES


@st.composite
def problems(draw):
    """Small data with ties, duplicates, constant attributes, awkward scales, contradictory labels, weights."""
    n, d = draw(st.integers(2, 40)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(0, draw(st.sampled_from([2, 5, 1000])), (n, d)).astype(float)
    scale = 10.0 ** draw(st.sampled_from([-200, -5, 0, 5, 200]))
    X = X * scale + draw(st.sampled_from([0.0, -3.0])) * scale
    if draw(st.booleans()):
        X[:, 0] = X[0, 0]
    y = rng.integers(0, draw(st.integers(1, 5)), n)
    weights = None if draw(st.booleans()) else rng.integers(1, 4, n).astype(float)
    return X, y, weights


@pytest.mark.parametrize("name", sorted(MEASURES))
@settings(max_examples=40, deadline=None)
@given(problem=problems(), min_leaf=st.integers(1, 3))
def test_axis_trees_take_the_best_split_everywhere(name, problem, min_leaf):
    X, y, weights = problem
    clf = OC1Classifier(criterion=name, splits="axis", prune=None, min_samples_leaf=min_leaf, random_state=0)
    clf.fit(X, y, sample_weight=weights)
    check_every_node(clf, X, y, weights, name, min_leaf, exact=True)


@pytest.mark.parametrize("name", sorted(MEASURES))
@settings(max_examples=25, deadline=None)
@given(
    problem=problems(),
    splits=st.sampled_from(["auto", "oblique"]),
    order=st.sampled_from(["sequential", "best", "random"]),
)
def test_oblique_trees_are_never_worse_than_the_best_axis_split(name, problem, splits, order):
    X, y, weights = problem
    clf = OC1Classifier(
        criterion=name, splits=splits, order=order, prune=None, n_restarts=3, min_samples_oblique=2, random_state=0
    )
    clf.fit(X, y, sample_weight=weights)
    check_every_node(clf, X, y, weights, name, 1, exact=False, floor=splits == "auto")


def check_every_node(clf, X, y, weights, name, min_leaf, exact, floor=True):
    tree = clf.tree_
    labels = np.searchsorted(clf.classes_, y)
    weights = as_ratios(weights, counts_evidence=False)  # as the search takes them: rounded
    mass = np.ones(len(y)) if weights is None else weights
    k = len(clf.classes_)
    paths = [naive.node_of(tree, x) for x in X]
    for node in range(tree.n_nodes):
        here = np.array([node in path for path in paths])
        counts = naive.class_weights(labels, mass, here, k)
        # Every training example ends in prediction where it was in growing.
        np.testing.assert_allclose(tree.counts[node], counts)
        best = naive.best_axis_gain(X[here], labels[here], mass[here], k, name, min_leaf)
        if tree.is_leaf[node]:
            if floor and np.count_nonzero(counts) > 1:
                assert best is None  # pure, or nothing tells the examples apart
            continue
        right = np.array([tree.children[node, 1] in path for path in paths]) & here
        left = here & ~right
        assert min(left.sum(), right.sum()) >= min_leaf
        gain = naive.gain(name, naive.class_weights(labels, mass, left, k), naive.class_weights(labels, mass, right, k))
        assert tree.gains[node] == pytest.approx(gain, rel=1e-6, abs=1e-9)
        if exact:
            assert gain == pytest.approx(best, rel=1e-9, abs=1e-12)
            sides = (naive.class_weights(labels, mass, side, k) for side in (left, right))
            liked = naive.best_axis_preference(X[here], labels[here], mass[here], k, name, min_leaf, best)
            assert naive.preference(name, *sides) == pytest.approx(liked, rel=1e-6, abs=1e-9)
            assert len(tree.test(node)[0]) == 1
        elif floor:
            assert gain >= best - 1e-9


def test_thresholds_are_midpoints():
    clf = OC1Classifier(splits="axis", prune=None).fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    assert clf.tree_.thresholds[0] == 2.5
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.2], [1.0, 2.2]] * 3)
    clf = OC1Classifier(splits="oblique", prune=None, min_samples_oblique=2, random_state=0).fit(X, [0, 0, 1, 1] * 3)
    features, coefficients, threshold = clf.tree_.test(0)
    values = X[:, features] @ coefficients
    right = values > threshold
    assert threshold == pytest.approx((values[right].min() + values[~right].max()) / 2)


def test_neighbouring_floats_are_told_apart():
    X = np.array([[1.0], [np.nextafter(1.0, 2.0)]] * 3)
    clf = OC1Classifier(splits="axis", prune=None).fit(X, [0, 1] * 3)
    assert clf.score(X, [0, 1] * 3) == 1.0


def test_small_nodes_get_no_oblique_split(ls10):
    X, y = ls10
    clf = OC1Classifier(prune=None, min_samples_oblique=10_000, random_state=0).fit(X, y)
    assert (np.diff(clf.tree_.terms) <= 1).all()
    clf = OC1Classifier(prune=None, random_state=0).fit(X[:19], y[:19])  # fewer than 2 d
    assert (np.diff(clf.tree_.terms) <= 1).all()


def test_axis_bias_prefers_axis_parallel_splits(ls10):
    X, y = ls10
    shares = []
    for bias in (1.0, 1.5, 1e6):
        clf = OC1Classifier(prune=None, axis_bias=bias, n_restarts=3, random_state=0).fit(X, y)
        sizes = np.diff(clf.tree_.terms)[~clf.tree_.is_leaf]
        shares.append(np.mean(sizes > 1))
    assert shares[0] >= shares[1] >= shares[2]
    assert shares[0] > shares[2]


def test_a_perfect_oblique_split_beats_any_bias(ls10):
    # Impurity zero times any bias is zero, as in the paper.
    X, y = ls10
    clf = OC1Classifier(prune=None, axis_bias=100.0, n_restarts=30, n_jumps=30, random_state=0).fit(X, y)
    assert clf.get_n_leaves() == 2


def test_limits(noisy):
    X, y = noisy
    whole = OC1Classifier(prune=None, n_restarts=1, random_state=0).fit(X, y)
    assert whole.score(X, y) == 1.0
    assert OC1Classifier(prune=None, max_depth=3, random_state=0).fit(X, y).get_depth() <= 3
    assert OC1Classifier(prune=None, max_depth=0, random_state=0).fit(X, y).get_n_leaves() == 1
    assert OC1Classifier(prune=None, max_leaf_nodes=5, random_state=0).fit(X, y).get_n_leaves() == 5
    leafy = OC1Classifier(prune=None, min_samples_leaf=20, random_state=0).fit(X, y)
    assert np.unique(leafy.apply(X), return_counts=True)[1].min() >= 20
    split = OC1Classifier(prune=None, min_samples_split=100, random_state=0).fit(X, y)
    inner = split.tree_.counts[~split.tree_.is_leaf].sum(axis=1)
    assert inner.min() >= 100
    decrease = OC1Classifier(prune=None, min_impurity_decrease=0.01, random_state=0).fit(X, y)
    assert 1 < decrease.get_n_leaves() < whole.get_n_leaves()


def test_best_first_growth_is_a_cut_of_the_whole_tree(noisy):
    X, y = noisy
    whole = OC1Classifier(prune=None, random_state=0).fit(X, y).tree_
    part = OC1Classifier(prune=None, max_leaf_nodes=whole.n_leaves, random_state=0).fit(X, y).tree_
    assert part.to_dict() == whole.to_dict()


@pytest.mark.parametrize("parameters", [{}, {"order": "best"}, {"splits": "axis"}, {"prune": "cv", "n_restarts": 2}])
def test_the_same_tree_for_any_number_of_threads(parameters):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=3000) > 0).astype(int)
    clf = {"n_restarts": 3, **parameters}
    trees = [OC1Classifier(n_jobs=n, random_state=5, **clf).fit(X, y) for n in (None, 2, 4)]
    assert trees[0].tree_.to_dict() == trees[1].tree_.to_dict() == trees[2].tree_.to_dict()
    assert trees[0].n_hyperplanes_ == trees[1].n_hyperplanes_
    other = OC1Classifier(random_state=6, **clf).fit(X, y)
    assert parameters == {"splits": "axis"} or other.unpruned_tree_.to_dict() != trees[0].unpruned_tree_.to_dict()


@pytest.mark.parametrize("preset", [None, "paper"])
@pytest.mark.parametrize(
    ("usual", "own"),
    [
        ({}, {"n_restarts": 1}),
        ({}, {"n_jumps": 0}),
        ({}, {"stagnation": 0.5}),
        ({}, {"max_stagnant": 1}),
        ({}, {"order": "best"}),
        ({"order": "random"}, {"n_perturbations": 3}),
        ({}, {"min_samples_oblique": 100}),
        ({"normalize": "standard"}, {"normalize": "positive"}),
        ({}, {"criterion": "info_gain"}),
    ],
    ids=str,
)
def test_every_parameter_of_the_search_reaches_it(noisy, preset, usual, own):
    X, y = noisy
    fixed = {"preset": preset, "prune": None, "random_state": 0}
    one, other = (OC1Classifier(**fixed | usual | further).fit(X, y) for further in ({}, own))
    assert one.n_hyperplanes_ != other.n_hyperplanes_


def test_hyperplanes_are_counted(pol):
    X, y = pol
    axis = OC1Classifier(splits="axis", prune=None, random_state=0).fit(X, y)
    assert axis.n_hyperplanes_ == 2 * (axis.get_n_leaves() - 1)  # one for each attribute of each inner node
    counts = [
        OC1Classifier(prune=None, n_restarts=r, n_jumps=j, random_state=0).fit(X, y).n_hyperplanes_
        for r, j in ((0, 0), (20, 20))
    ]
    assert 20 < counts[0] < counts[1]


def test_verbose_tells_of_each_node(pol, capsys):
    X, y = pol
    OC1Classifier(prune=None, verbose=1, random_state=0).fit(X, y)
    assert capsys.readouterr().out.count("depth") == 4  # five leaves, four tests


@pytest.mark.parametrize("options", [{}, {"n_jobs": 2}, {"max_leaf_nodes": 6}, {"splits": "axis"}, {"order": "best"}])
def test_a_read_only_array_by_columns_gives_the_tree_of_one_by_rows(noisy, monkeypatch, options):
    X, y = noisy
    X = X.astype(np.float32)
    X[::7, 1] = np.nan
    X[:, 3] = 5.0
    monkeypatch.setattr(policy, "MIN_SINGLE_ROWS", 20)
    monkeypatch.setattr(growth_options, "MIN_SHARED_ROWS", 100)
    clf = OC1Classifier(prune=None, n_restarts=3, random_state=0, **options)
    by_rows = clf.fit(X, y).tree_.to_dict()
    columns = np.asfortranarray(X)
    columns.flags.writeable = False
    assert clf.fit(columns, y).tree_.to_dict() == by_rows
    if "n_jobs" in options:
        assert clf.set_params(n_jobs=1).fit(columns, y).tree_.to_dict() == by_rows
    np.testing.assert_array_equal(columns, X)


@pytest.mark.parametrize("options", [{}, {"n_jumps": 0}, {"criterion": "info_gain", "order": "best"}, {"max_terms": 1}])
def test_threads_that_share_a_node_find_what_one_finds(rcb, monkeypatch, options):
    X, y = rcb
    monkeypatch.setattr(policy, "MIN_SINGLE_ROWS", 60)
    monkeypatch.setattr(growth_options, "MIN_SHARED_ROWS", 60)
    models = [
        OC1Classifier(prune=None, n_restarts=6, random_state=0, n_jobs=n_jobs, **options).fit(X, y)
        for n_jobs in (1, 2, 3)
    ]
    assert models[0].tree_.to_dict() == models[1].tree_.to_dict() == models[2].tree_.to_dict()
    assert models[0].n_hyperplanes_ == models[1].n_hyperplanes_ == models[2].n_hyperplanes_


def test_runs_that_meet_do_not_jump_twice(pol):
    X, y = pol
    one = OC1Classifier(prune=None, n_restarts=1, n_jumps=50, max_depth=1, random_state=0).fit(X, y)
    many = OC1Classifier(prune=None, n_restarts=20, n_jumps=50, max_depth=1, random_state=0).fit(X, y)
    # Twenty runs that each jumped in vain would consider 1000 hyperplanes more than their climbs do.
    assert many.n_hyperplanes_ < 20 * one.n_hyperplanes_ / 2

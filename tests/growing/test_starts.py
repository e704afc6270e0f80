"""The starts of a node's search: what each of them yields, alone and through the classifier."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from oc1 import OC1Classifier
from oc1.growing import calls
from oc1.growing import options as growth_options
from oc1.growing.starts import LINEAR_STARTS, STARTS, NodeView, twoing
from oc1.kernels import layout


def view(X, y, weights=None):
    """A node with standardised attributes, as the grower shows it."""
    weights = np.ones(len(X)) if weights is None else np.asarray(weights, float)
    mean = np.average(X, axis=0, weights=weights)
    X = X - mean
    spread = np.sqrt(np.average(X**2, axis=0, weights=weights))
    Z = np.column_stack([np.divide(X, spread, out=np.zeros_like(X), where=spread > 1e-9), np.ones(len(X))])
    node = NodeView(Z, np.unique(y, return_inverse=True)[1], weights, mean, spread)
    node.axis = np.append(np.eye(X.shape[1])[0], -0.1)
    return node


def blobs(n=60, d=3, k=2, spread=0.2, seed=0):
    """Groups in a row, far apart: any two of them, and the first ones against the others, can be told by a plane."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return y[:, None] * np.linspace(1.0, 2.0, d) + spread * rng.normal(size=(n, d)), y


AWKWARD = {
    "two classes": blobs(),
    "five classes": blobs(k=5),
    "overlapping": blobs(k=5, spread=5.0),
    "fewer than attributes": blobs(8, 30, 3),
    "constant attribute": (blobs()[0] * [1, 0, 1], blobs()[1]),
    "all constant": (np.zeros((6, 2)), np.arange(6) % 3),
    "one of a class": (blobs()[0], (np.arange(60) == 0).astype(int)),
    "two examples": (np.array([[0.0, 1.0], [1.0, 3.0]]), np.array([0, 1])),
    "one attribute": blobs(d=1, k=3),
    "twin attributes": (np.repeat(blobs()[0], 2, axis=1), blobs()[1]),
}


@pytest.mark.parametrize("name", LINEAR_STARTS)
@pytest.mark.parametrize("data", AWKWARD)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_all_planes_are_finite(name, data, is_weighted):
    X, y = AWKWARD[data]
    weights = np.random.default_rng(0).uniform(0.1, 3.0, len(y)) if is_weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        node = view(X, y, weights)
        node.axis = None  # with one that is far better, linear ones are not made
        planes = list(LINEAR_STARTS[name](node))
    for plane in planes:
        assert plane.shape == (X.shape[1] + 1,)
        assert np.isfinite(plane).all()
    assert planes or data == "all constant"


@pytest.mark.parametrize("name", LINEAR_STARTS)
@pytest.mark.parametrize("k", [2, 3, 5])
def test_what_can_be_separated_is_separated(name, k):
    X, y = blobs(n=120, k=k)
    node = view(X, y)
    best = max(node.value(node.Z @ plane) for plane in LINEAR_STARTS[name](node))
    # An outer class against all others.
    assert best >= 4 * (1 / k) * (1 - 1 / k) - 1e-9


@pytest.mark.parametrize("name", LINEAR_STARTS)
def test_a_small_group_is_separated_too(name):
    X, y = blobs(n=200, k=10)
    y = (y == 9).astype(int)
    X[y == 1] += 5.0
    node = view(X, y)
    assert max(node.value(node.Z @ plane) for plane in LINEAR_STARTS[name](node)) == pytest.approx(4 * 0.1 * 0.9)


@pytest.mark.parametrize("name", LINEAR_STARTS)
def test_a_weight_of_two_is_a_row_twice(name):
    X, y = blobs(40, 3, 3, spread=1.0)
    times = np.random.default_rng(0).integers(1, 4, len(y))
    weighted = list(LINEAR_STARTS[name](view(X, y, times)))
    repeated = list(LINEAR_STARTS[name](view(X.repeat(times, axis=0), y.repeat(times))))
    np.testing.assert_allclose(weighted, repeated, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["logistic", "least_squares"])
def test_linear_classifiers_leave_their_judgement(name):
    X, y = blobs(spread=1.0)
    node = view(X, y)
    (plane,) = LINEAR_STARTS[name](node)
    ((fit, _),) = node.fits
    np.testing.assert_array_equal(fit.plane, plane)
    # What is said of examples that were left out is no better than what the plane does on those it has seen.
    assert node.value(fit.left_out) <= node.value(node.Z @ plane) + 1e-9


def test_logistic_regression_chooses_the_ridge():
    """Few noisy examples of many attributes call for a larger one than many clean examples of few."""
    rng = np.random.default_rng(0)
    noisy, clean = rng.normal(size=(60, 20)), rng.normal(size=(300, 2))
    nodes = [view(noisy, rng.integers(0, 2, 60)), view(clean, (clean @ [1, 2] > 0).astype(int))]
    nodes[0].axis = None
    planes = [next(LINEAR_STARTS["logistic"](node)) for node in nodes]
    assert np.abs(planes[0][:-1]).max() < 0.5 < 5.0 < np.abs(planes[1][:-1]).max()


def test_no_linear_start_where_one_attribute_is_far_better():
    X = np.random.default_rng(0).normal(size=(200, 2))
    y = (np.abs(X[:, 0]) < 0.5).astype(int)  # a stripe
    node = view(X, y)
    node.axis = np.array([1.0, 0.0, 0.5])
    assert not node.is_linear
    assert not list(LINEAR_STARTS["logistic"](node)) + list(LINEAR_STARTS["least_squares"](node))


def test_twoing_is_the_measure():
    rng = np.random.default_rng(0)
    for _ in range(20):
        totals = rng.integers(1, 20, rng.integers(2, 6)).astype(float)
        left = np.floor(totals * rng.random(len(totals)))
        right, n = totals - left, totals.sum()
        if left.sum() == 0:
            continue
        apart = np.abs(left / left.sum() - right / right.sum()).sum()
        assert twoing(left, totals) == pytest.approx(left.sum() * right.sum() / n**2 * apart**2)
    assert twoing(np.zeros(2), np.ones(2)) == twoing(np.ones(2), np.ones(2)) == 0.0


@pytest.mark.parametrize("k", [2, 3, 4, 6])
def test_each_class_is_separated_from_the_rest(k):
    node = view(*blobs(120, 3, k))
    assert len(node.groups) == (k if k > 2 else 1)
    assert all(right.shape == (k,) and right.sum() == 1 for right in node.groups)
    values, promising = (
        [node.value(node.least_squares.margins(right[node.y])[1], right) for right in groups]
        for groups in (node.groups, node.promising)
    )
    assert promising == sorted(values, reverse=True)[:2]


# ------------------------------------------------------------------------------------------------ in the classifier


@pytest.mark.parametrize("name", STARTS)
@pytest.mark.parametrize(
    "options", [{}, {"prune": None}, {"complexity_penalty": 0.0}, {"prune": None, "splits": "oblique"}], ids=str
)
def test_each_start_alone(name, options):
    X, y = load_iris(return_X_y=True)
    trees = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n_jobs in (1, 2):
            clf = OC1Classifier(starts=[name], n_restarts=2, n_jumps=2, random_state=0, n_jobs=n_jobs, **options)
            trees.append(clf.fit(X, y).tree_)
    assert trees[0].to_dict() == trees[1].to_dict()
    assert 3 <= trees[0].n_leaves <= 12
    assert clf.score(X, y) > 0.94
    alone = OC1Classifier(starts=name, n_restarts=2, n_jumps=2, random_state=0, **options).fit(X, y)
    assert alone.tree_.to_dict() == trees[0].to_dict()


def test_all_starts_together():
    X, y = load_wine(return_X_y=True)
    for options in ({}, {"prune": None}):
        clf = OC1Classifier(starts=STARTS, n_restarts=1, random_state=0, **options).fit(X, y)
        assert clf.score(X, y) > 0.97
        assert clf.get_n_leaves() <= 5


def test_a_start_given_again_and_again_is_one_start():
    X, y = load_wine(return_X_y=True)
    for options in ({}, {"prune": None}):
        once = OC1Classifier(starts=["logistic"], n_restarts=1, random_state=0, **options).fit(X, y)
        often = OC1Classifier(starts=["logistic"] * 40, n_restarts=1, random_state=0, **options).fit(X, y)
        assert often.tree_.to_dict() == once.tree_.to_dict()


def test_without_a_search_a_start_decides_the_split(ls10):
    """One run that begins at a separating plane ends there: it is pure."""
    X, y = ls10
    clf = OC1Classifier(starts="logistic", prune=None, n_jumps=0, random_state=0).fit(X, y)
    assert clf.get_n_leaves() == 2
    random = OC1Classifier(starts="random", n_restarts=1, prune=None, n_jumps=0, random_state=0).fit(X, y)
    assert random.get_n_leaves() > 2


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("options", [{"prune": None}, {}], ids=str)
def test_every_run_begins_at_its_own_plane(ls10, monkeypatch, options, n_jobs):
    """With the axis-parallel start before them or without it, in one thread or several."""
    X, y = ls10
    y = np.where(np.random.default_rng(0).random(len(y)) < 0.1, 3 - y, y)
    monkeypatch.setattr(growth_options, "MIN_SHARED_ROWS", 100)
    begun = []
    search = calls.search_node

    def spy(*arguments):
        how, (stage, first, last, work) = arguments[2], arguments[-4:]
        if stage != layout.JUMP and how.n_given:
            rows = range(max(first, how.axis_starts), min(last, how.axis_starts + how.n_given))
            begun.extend(tuple(work.runs[row, layout.PLANE :]) for row in rows)
        return search(*arguments)

    monkeypatch.setattr(calls, "search_node", spy)
    names = ["axis", "logistic", "least_squares"]
    OC1Classifier(starts=names, max_depth=1, n_restarts=1, random_state=0, n_jobs=n_jobs, **options).fit(X, y)
    assert len(set(begun)) == len(begun) >= 2


@pytest.mark.parametrize("given", ["guess", ["guess"], ["random", "guess"]])
def test_wrong_names_are_answered_with_the_known_ones(given):
    with pytest.raises(ValueError, match="starts") as caught:
        OC1Classifier(starts=given).fit([[0.0], [1.0]], [0, 1])
    assert "guess" in str(caught.value)
    assert all(repr(name) in str(caught.value) for name in STARTS)
    with pytest.raises(ValueError, match="none is given"):
        OC1Classifier(starts=[]).fit([[0.0], [1.0]], [0, 1])

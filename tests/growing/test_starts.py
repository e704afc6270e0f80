"""The starts of a node's search, through the classifier."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from oc1 import OC1Classifier
from oc1.growing import calls
from oc1.growing import options as growth_options
from oc1.growing.options import STARTS
from oc1.kernels import layout


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
        once = OC1Classifier(starts=["linear"], n_restarts=1, random_state=0, **options).fit(X, y)
        often = OC1Classifier(starts=["linear"] * 40, n_restarts=1, random_state=0, **options).fit(X, y)
        assert often.tree_.to_dict() == once.tree_.to_dict()


def test_without_a_search_a_start_decides_the_split(ls10):
    """One run that begins at a separating plane ends there: it is pure."""
    X, y = ls10
    clf = OC1Classifier(starts="linear", prune=None, n_jumps=0, random_state=0).fit(X, y)
    assert clf.get_n_leaves() == 2
    random = OC1Classifier(starts="random", n_restarts=1, prune=None, n_jumps=0, random_state=0).fit(X, y)
    assert random.get_n_leaves() > 2


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_one_run_begins_at_a_linear_classifier(ls10, monkeypatch, n_jobs):
    """After the axis-parallel start, in one thread or several."""
    X, y = ls10
    y = np.where(np.random.default_rng(0).random(len(y)) < 0.1, 3 - y, y)
    monkeypatch.setattr(growth_options, "MIN_SHARED_ROWS", 100)
    begun, search = [], calls.search_node

    def spy(*arguments):
        how, (stage, first, last, work) = arguments[2], arguments[-4:]
        if stage != layout.JUMP and how.n_given:
            rows = range(max(first, how.axis_starts), min(last, how.axis_starts + how.n_given))
            begun.extend(work.runs[row, layout.PLANE :].copy() for row in rows)
        return search(*arguments)

    monkeypatch.setattr(calls, "search_node", spy)
    options = {"prune": None, "max_depth": 1, "n_restarts": 1, "random_state": 0, "n_jobs": n_jobs}
    OC1Classifier(starts=["axis", "linear"], **options).fit(X, y)
    (plane,) = begun
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    goes_right = Z @ plane[:-1] + plane[-1] > 0
    assert max(np.mean(goes_right == (y == 1)), np.mean(goes_right == (y == 2))) > 0.85


@pytest.mark.parametrize("given", ["guess", ["guess"], ["random", "guess"]])
def test_wrong_names_are_answered_with_the_known_ones(given):
    with pytest.raises(ValueError, match="starts") as caught:
        OC1Classifier(starts=given).fit([[0.0], [1.0]], [0, 1])
    assert "guess" in str(caught.value)
    assert all(repr(name) in str(caught.value) for name in STARTS)
    with pytest.raises(ValueError, match="none is given"):
        OC1Classifier(starts=[]).fit([[0.0], [1.0]], [0, 1])

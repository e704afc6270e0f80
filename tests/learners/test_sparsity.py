"""What short tests cost: `OC1Classifier.sparsity_path`."""

import numpy as np
import pandas as pd
import pytest
from reading_html import Rows
from sklearn.datasets import load_wine
from sklearn.model_selection import ShuffleSplit, StratifiedKFold, cross_val_score

from oc1 import OC1Classifier
from oc1.learners.sparsity import SparsityPath, usual_limits

QUICK = {"n_restarts": 1, "splits": "best", "random_state": 0}
ARRAYS = ("max_terms", "accuracy", "standard_error", "n_leaves", "n_terms")


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def same(one, other):
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize(
    ("n_features", "limits"), [(1, [1]), (2, [1, 2]), (5, [1, 2, 3, 5]), (13, [1, 2, 3, 5, 8, 13]), (4, [1, 2, 3, 4])]
)
def test_limits_grow_by_sums_up_to_none(n_features, limits):
    assert list(usual_limits(n_features)) == limits


def test_figures_are_those_of_scikit_learns_cross_validation(wine):
    clf = OC1Classifier(**QUICK)
    path = clf.sparsity_path(*wine)
    assert path.max_terms.tolist() == [1, 2, 3, 5, 8, 13]
    assert not hasattr(clf, "tree_")
    assert clf.max_terms is None
    for place, max_terms in ((1, 2), (-1, None)):
        limited = OC1Classifier(**QUICK, max_terms=max_terms)
        scores = cross_val_score(limited, *wine, cv=5)
        assert path.accuracy[place] == pytest.approx(scores.mean())
        assert path.standard_error[place] == pytest.approx(scores.std(ddof=1) / np.sqrt(5))
        X, y = wine
        trees = [limited.fit(X[rows], y[rows]).tree_ for rows, _ in StratifiedKFold(5).split(X, y)]
        assert path.n_leaves[place] == np.mean([tree.n_leaves for tree in trees])
        assert path.n_terms[place] == np.mean([tree.terms[-1] for tree in trees])


def test_folds_and_seeds_are_the_same_for_all_limits(wine, monkeypatch):
    fits = []

    def fit(self, X, y, sample_weight=None):
        fits.append((self.max_terms, self.random_state, X.sum()))
        return own(self, X, y, sample_weight)

    own = OC1Classifier.fit
    monkeypatch.setattr(OC1Classifier, "fit", fit)
    clf = OC1Classifier(**QUICK | {"random_state": None})
    path = clf.sparsity_path(*wine, max_terms=[99, 2, 13, 2], cv=ShuffleSplit(2, test_size=0.3))
    assert path.max_terms.tolist() == [2, 13]
    assert path.labels == ["2", "no limit"]
    assert [limit for limit, *_ in fits] == [2, 2, 13, 13]
    assert [rest for _, *rest in fits[:2]] == [rest for _, *rest in fits[2:]]


def test_the_same_seed_gives_the_same_path(wine):
    paths = [
        OC1Classifier(**QUICK | {"random_state": np.random.RandomState(3)}).sparsity_path(*wine, max_terms=2, cv=3)
        for _ in range(2)
    ]
    same(*paths)


def test_neither_threads_nor_verbosity_change_the_answer(wine, capsys):
    path = OC1Classifier(**QUICK).sparsity_path(*wine, max_terms=[1, 3], cv=3)
    capsys.readouterr()
    same(path, OC1Classifier(**QUICK, n_jobs=2, verbose=1).sparsity_path(*wine, max_terms=[1, 3], cv=3))
    assert not capsys.readouterr().out


def test_frames_lists_and_given_folds(wine):
    X, y = wine
    folds = list(StratifiedKFold(2, shuffle=True, random_state=1).split(X, y))
    clf = OC1Classifier(**QUICK)
    path = clf.sparsity_path(X, y, max_terms=2, cv=folds)
    same(path, clf.sparsity_path(pd.DataFrame(X), pd.Series(y), max_terms=(2,), cv=iter(folds)))
    same(path, clf.sparsity_path(X.tolist(), y.tolist(), max_terms=np.array([2]), cv=folds))
    single = clf.sparsity_path(X, y, max_terms=2, cv=folds[:1])
    assert np.isnan(single.standard_error).all()
    assert "±" not in str(single)


def test_weights_count_in_growing_and_in_the_accuracy(wine):
    X, y = wine
    twice = np.arange(len(y)) % 3 == 0
    repeated = np.repeat(np.arange(len(y)), 1 + twice)
    rows, held = np.arange(0, len(y), 2), np.arange(1, len(y), 2)
    parts = [np.flatnonzero(np.isin(repeated, part)) for part in (rows, held)]
    clf = OC1Classifier(**QUICK)
    weighted = clf.sparsity_path(X, y, 1.0 + twice, max_terms=[1, 2], cv=[(rows, held)])
    same(weighted, clf.sparsity_path(X[repeated], y[repeated], max_terms=[1, 2], cv=[tuple(parts)]))
    assert (weighted.accuracy != clf.sparsity_path(X, y, max_terms=[1, 2], cv=[(rows, held)]).accuracy).any()


@pytest.mark.parametrize("limits", [0, [], [1.5], [2, -1], ["2"], [None], [True]])
def test_limits_are_whole_numbers(wine, limits):
    with pytest.raises(ValueError, match="max_terms must be whole numbers of at least 1, got"):
        OC1Classifier().sparsity_path(*wine, max_terms=limits)


def test_wrong_input_is_refused(wine):
    X, y = wine
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        OC1Classifier().sparsity_path(X, y[:-1])
    with pytest.raises(ValueError, match="'n_jumps' parameter"):
        OC1Classifier(n_jumps=-1).sparsity_path(X, y, max_terms=1)


def made_path(accuracy, n_terms):
    figures = np.array(accuracy, dtype=float), np.full(len(accuracy), 0.01), np.full(len(accuracy), 2.0)
    return SparsityPath(np.array([1, 2, 3, 13])[: len(accuracy)], *figures, np.array(n_terms, dtype=float), 13)


def test_the_frontier_has_what_no_other_beats():
    assert made_path([0.8, 0.9, 0.85, 0.95], [5, 6, 7, 20]).on_frontier.tolist() == [True, True, False, True]
    assert made_path([0.9, 0.9, 0.9, 0.8], [5, 5, 6, 5]).on_frontier.tolist() == [True, True, False, False]
    assert made_path([0.3, 0.1 + 0.2], [5, 6]).on_frontier.tolist() == [True, False]  # not more accurate, but rounded


def test_a_path_is_printed_as_a_table():
    assert str(made_path([0.8, 0.9, 0.85, 0.95], [5, 6, 7, 20])).splitlines() == [
        "max_terms  accuracy %  leaves   terms",
        "        1  80.0 ± 1.0     2.0     5.0",
        "        2  90.0 ± 1.0     2.0     6.0",
        "        3  85.0 ± 1.0     2.0     7.0",
        " no limit  95.0 ± 1.0     2.0    20.0",
    ]


def test_a_notebook_shows_a_path_with_its_frontier_marked():
    path = made_path([0.8, 0.9, 0.85, 0.95], [5, 6, 7, 20])
    table = Rows(path._repr_mimebundle_()["text/html"])
    assert [row[0] for row in table.rows[1:]] == path.labels
    assert table.rows[4] == ["no limit", "95.0 ± 1.0", "2.0", "20.0"]
    assert table.marked[1:] == path.on_frontier.tolist()
    assert repr(path) == str(path)

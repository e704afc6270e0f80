"""Votes of trees that are grown in windows (Quinlan 1993)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import windowing as slow

from oc1 import OC1Classifier, OC1EnsembleClassifier, load_model, save_model
from oc1.baselines import C45Classifier, LMDTClassifier
from oc1.learners.windowing import first_window, grow_in_windows

QUICK = OC1Classifier(n_restarts=2, prune=None)


class Nearest:
    """A model that knows some numbers, and answers with the label of the nearest one."""

    def __init__(self, x, labels, known):
        self.known = list(known)
        self.answers = [labels[min(self.known, key=lambda i: (abs(x[i] - here), i))] for here in x]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 60), k=st.integers(1, 4), size=st.integers(1, 70))
def test_windows_grow_as_the_slow_ones_do(seed, n, k, size):
    rng = np.random.default_rng(seed)
    x, labels = rng.normal(size=n), rng.integers(0, k, n)
    expected = slow.grow(
        lambda window: Nearest(x, labels, window),
        lambda model: model.answers,
        labels,
        size,
        np.random.default_rng(seed),
    )
    fits = []

    def fit(inside):
        fits.append(Nearest(x, labels, np.flatnonzero(inside)))
        return fits[-1]

    draws = np.random.default_rng(seed)
    model = grow_in_windows(fit, lambda model: model.answers != labels, labels, np.ones(n), size, draws)
    assert [own.known for own in fits] == [own.known for _, own in expected]
    assert model.known == min(expected, key=lambda own: own[0])[1].known


def test_the_first_window_holds_the_classes_equally():
    labels = np.repeat([0, 1, 2], [500, 60, 5])
    inside = first_window(labels, 100, np.random.default_rng(0))
    assert np.bincount(labels[inside]).tolist() == [48, 47, 5]
    assert first_window(labels, 1, np.random.default_rng(0)).sum() == 3  # one of each class


@pytest.mark.parametrize("base", [QUICK, C45Classifier(), LMDTClassifier()])
def test_trees_differ_by_their_windows(rcb, base):
    X, y = rcb
    clf = OC1EnsembleClassifier(base, n_estimators=3, window=0.2, random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.9
    sizes = [tree.tree_.counts[0].sum() for tree in clf.estimators_]
    assert all(0.2 * len(y) <= size < len(y) for size in sizes)
    assert len({str(tree.tree_) for tree in clf.estimators_}) == 3


def test_a_tree_without_noise_ends_when_nothing_outside_is_wrong(pol):
    X, y = pol
    clf = OC1EnsembleClassifier(
        OC1Classifier(splits="axis", prune=None), n_estimators=2, window=100, random_state=0
    ).fit(X, y)  # fmt: skip
    for tree in clf.estimators_:
        assert 100 < tree.tree_.counts[0].sum() < 0.5 * len(y)
        assert tree.score(X, y) > 0.97


def test_same_seed_same_vote_on_any_number_of_threads(noisy, tmp_path):
    X, y = noisy
    votes = [
        OC1EnsembleClassifier(QUICK, n_estimators=4, window=0.3, max_features=3, random_state=0, n_jobs=n).fit(X, y)
        for n in (1, 2)
    ]
    shares = [vote.predict_proba(X) for vote in votes]
    np.testing.assert_array_equal(*shares)
    save_model(votes[0], tmp_path / "vote.json")
    again = load_model(tmp_path / "vote.json")
    assert again.window == 0.3
    np.testing.assert_array_equal(again.predict_proba(X), shares[0])


def test_weights_are_those_of_the_examples(noisy):
    X, y = noisy
    weights = np.where(np.arange(len(y)) % 2, 2.0, 0.0)
    clf = OC1EnsembleClassifier(QUICK, n_estimators=2, window=50, random_state=0).fit(X, y, sample_weight=weights)
    half = OC1EnsembleClassifier(QUICK, n_estimators=2, window=50, random_state=0)
    half.fit(X[1::2], y[1::2], sample_weight=weights[1::2])
    np.testing.assert_array_equal(clf.predict_proba(X), half.predict_proba(X))


def test_what_does_not_go_together(noisy):
    with pytest.raises(ValueError, match="not both"):
        OC1EnsembleClassifier(QUICK, window=0.2, bootstrap=True).fit(*noisy)
    with pytest.raises(ValueError, match="'window' parameter"):
        OC1EnsembleClassifier(QUICK, window=0).fit(*noisy)
    with pytest.raises(ValueError, match="window=10000 is more than there are"):
        OC1EnsembleClassifier(QUICK, window=10_000).fit(*noisy)

"""The contest between kinds of trees: who wins, when nobody need compete, and that it is fair."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from oc1 import OC1Classifier
from oc1.datasets import make_ls10
from oc1.learners import contest, softening

SEEDED = {"random_state": 0}


def grid(n=10):
    """A chessboard of two by two fields on a grid of points: no first split gains anything."""
    values = np.repeat(np.arange(float(n)), n), np.tile(np.arange(float(n)), n)
    X = np.column_stack(values)
    return X, ((X[:, 0] < n / 2) ^ (X[:, 1] < n / 2)).astype(int)


def rules(n=600, seed=0):
    """Classes by rules on three of six categories, one-hot: made for axis-parallel splits."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, size=(n, 6))
    y = np.where(codes[:, 0] == codes[:, 1], 0, np.where(codes[:, 2] == 2, 1, 2))
    return np.column_stack([codes == value for value in range(3)]).astype(float), y


def clusters(n=900, k=12, d=6, seed=0):
    """Many classes with few examples each, of several clusters."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    centres = rng.normal(size=(k, 3, d)) * 1.6
    return centres[y, rng.integers(0, 3, n)] + 0.7 * rng.normal(size=(n, d)), y


def test_interactions_on_a_grid_are_found():
    X, y = grid()
    assert OC1Classifier(**SEEDED).fit(X, y).score(X, y) > 0.95


@pytest.mark.parametrize("make", [rules, clusters])
def test_the_default_is_as_good_as_the_best_kind_of_tree(make):
    scores = []
    for seed in range(3):
        X, Xt, y, yt = train_test_split(*make(seed=seed), test_size=0.3, random_state=0)
        kinds = [OC1Classifier(splits=kind, **SEEDED).fit(X, y).score(Xt, yt) for kind in ("best", "axis", "linear")]
        clf = OC1Classifier(**SEEDED).fit(X, y)
        scores.append([clf.score(Xt, yt), *kinds])
        assert set(clf.cv_accuracies_) == {"best", "axis", "linear"}
        assert clf.cv_accuracies_[clf.splits_] == pytest.approx(clf.score(Xt, yt), abs=0.1)
    own, *others = np.mean(scores, axis=0)
    assert own > max(others) - 0.05  # the first kind stays unless another is clearly better


def test_the_first_kind_stays_where_it_is_good_enough():
    X, y = make_ls10(600, random_state=0)
    clf = OC1Classifier(**SEEDED).fit(X, y)
    assert clf.splits_ == "best"
    assert clf.tree_.to_dict() == OC1Classifier(splits="best", **SEEDED).fit(X, y).tree_.to_dict()


@pytest.mark.parametrize(
    "options",
    [{"preset": "paper"}, {"prune": "cv"}, {"sparsity": 0.01}, {"max_leaf_nodes": 5}, {"axis_bias": 1.2}],
    ids=str,
)
def test_there_is_no_contest_where_not_all_can_compete(options):
    X, y = rules(200)
    clf = OC1Classifier(**options, **SEEDED).fit(X, y)
    assert (clf.splits_, clf.cv_accuracies_) == ("best", {})
    assert clf.tree_.to_dict() == OC1Classifier(splits="best", **options, **SEEDED).fit(X, y).tree_.to_dict()


def test_the_winner_does_not_depend_on_threads_or_on_whole_weights():
    X, y = rules(300)
    clf = OC1Classifier(**SEEDED).fit(X, y)
    assert clf.splits_ != "best"
    assert OC1Classifier(n_jobs=3, **SEEDED).fit(X, y).tree_.to_dict() == clf.tree_.to_dict()
    times = np.random.default_rng(0).integers(1, 4, len(y))
    weighted = OC1Classifier(**SEEDED).fit(X, y, sample_weight=times)
    repeated = OC1Classifier(**SEEDED).fit(X.repeat(times, axis=0), y.repeat(times))
    assert weighted.splits_ == repeated.splits_
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X))


def test_those_far_behind_leave_early(monkeypatch):
    entered = []
    enter = contest.Entrant.enter

    def spy(self, *arguments):
        entered.append(self.model.splits)
        enter(self, *arguments)

    monkeypatch.setattr(contest.Entrant, "enter", spy)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 8))
    y = (X.sum(axis=1) + 0.5 * rng.normal(size=1000) > 0).astype(int)
    clf = OC1Classifier(**SEEDED).fit(X, y)
    assert clf.splits_ in ("best", "linear")
    assert entered.count("axis") < contest.N_FOLDS


def test_large_data_compete_by_a_sample(monkeypatch):
    sizes = []
    enter = contest.Entrant.enter

    def spy(self, data, *arguments):
        sizes.append(data.n_examples)
        enter(self, data, *arguments)

    monkeypatch.setattr(contest.Entrant, "enter", spy)
    monkeypatch.setattr(softening, "MAX_ROWS", 150)
    clf = OC1Classifier(**SEEDED).fit(*rules(600))
    assert sizes
    assert max(sizes) <= 170
    assert clf.score(*rules(600)) > 0.8


def test_a_copy_holds_the_same_contest():
    X, y = clusters(300, 6)
    clf = OC1Classifier(**SEEDED).fit(X, y)
    assert clone(clf).fit(X, y).tree_.to_dict() == clf.tree_.to_dict()


def test_verbose_fits_tell_of_the_contest(capsys):
    clf = OC1Classifier(verbose=1, **SEEDED).fit(*rules(300))
    (told,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("kinds of trees"))
    assert f"chosen: {clf.splits_}" in told
    assert all(kind in told for kind in clf.cv_accuracies_)


@pytest.mark.parametrize("prune", ["auto", "cv", "holdout", None])
def test_the_linear_kind_is_pruned_as_one_likes(prune):
    X, y = clusters(300, 4)
    clf = OC1Classifier(splits="linear", prune=prune, **SEEDED).fit(X, y)
    assert clf.splits_ == "linear"
    assert clf.unpruned_tree_.n_leaves >= clf.get_n_leaves() > 3
    if prune is None:
        assert clf.score(X, y) == 1.0


@pytest.mark.parametrize(
    "options", [{"preset": "paper"}, {"normalize": "positive"}, {"complexity_penalty": 0.0}], ids=str
)
def test_the_linear_kind_says_what_it_needs(options):
    with pytest.raises(ValueError, match="splits='linear' needs normalize='standard'"):
        OC1Classifier(splits="linear", **options).fit(*clusters(60, 3))


@pytest.mark.parametrize("make", [rules, clusters])
def test_the_contest_is_the_same_in_several_threads(make):
    X, y = make(seed=0)
    one, several = (OC1Classifier(n_jobs=n_jobs, **SEEDED).fit(X, y) for n_jobs in (1, 3))
    assert one.cv_accuracies_ == several.cv_accuracies_
    assert one.tree_.asks_the_same(several.tree_)


def test_what_fails_in_a_thread_is_raised():
    class Failing:
        def enter(self, *fold):
            raise ValueError("no tree")

    with pytest.raises(ValueError, match="no tree"):
        contest.enter_all([Failing(), Failing()], 2, None)


def test_where_a_sample_decides_no_tree_of_all_examples_is_grown_in_vain(monkeypatch):
    monkeypatch.setattr(softening, "MAX_ROWS", 300)
    grown_on = []
    grow = OC1Classifier._grow

    def noted(self, data, share):
        grown_on.append(data.n_examples)
        return grow(self, data, share)

    monkeypatch.setattr(OC1Classifier, "_grow", noted)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    noisy = (X[:, 0] > 0.0) != (rng.random(900) < 0.2)
    assert OC1Classifier(random_state=0).fit(X, noisy).cv_accuracies_
    assert grown_on.count(900) == 1
    grown_on.clear()
    parted = X[:, 0] > 0.0
    X[:, 0] += np.where(parted, 1.0, -1.0)
    clf = OC1Classifier(random_state=0).fit(X, parted)  # the other kinds leave at once
    assert clf.splits_ == "best"
    assert grown_on.count(900) == 1
    assert 0 < len(grown_on) - 1 <= 3

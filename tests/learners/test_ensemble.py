"""The vote of trees."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from oc1 import OC1Classifier, OC1EnsembleClassifier, load_model, save_model
from oc1.baselines import C45Classifier, LMDTClassifier
from oc1.datasets import make_pol
from oc1.tree.text import text

QUICK = OC1Classifier(n_restarts=2, prune=None)


@parametrize_with_checks([OC1EnsembleClassifier(QUICK, n_estimators=3)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_trees_differ_by_their_search_alone(noisy):
    X, y = noisy
    clf = OC1EnsembleClassifier(QUICK, n_estimators=3, random_state=0).fit(X, y)
    trees = [model.tree_ for model in clf.estimators_]
    assert all(tree.counts[0].tolist() == np.bincount(y).tolist() for tree in trees)
    assert len({str(tree) for tree in trees}) == 3
    # What cannot be random is the same in all of them.
    same = OC1EnsembleClassifier(OC1Classifier(splits="axis", prune=None), n_estimators=2, random_state=0).fit(X, y)
    assert same.estimators_[0].get_n_leaves() == same.estimators_[1].get_n_leaves()


def test_probabilities_are_shares_of_votes(noisy):
    X, y = noisy
    clf = OC1EnsembleClassifier(QUICK, n_estimators=5, random_state=0).fit(X[:200], y[:200])
    votes = np.array([model.predict(X[200:]) for model in clf.estimators_])
    shares = np.column_stack([(votes == c).mean(axis=0) for c in clf.classes_])
    np.testing.assert_allclose(clf.predict_proba(X[200:]), shares)
    np.testing.assert_array_equal(clf.predict(X[200:]), clf.classes_[shares.argmax(axis=1)])


def test_smoothed_shares_of_votes(noisy):
    X, y = noisy
    clf = OC1EnsembleClassifier(QUICK, n_estimators=5, random_state=0).fit(X[:200], y[:200])
    shares, answers = clf.predict_proba(X), clf.predict(X)
    clf.set_params(smoothing=1.0)
    np.testing.assert_allclose(clf.predict_proba(X), (5 * shares + 1) / 7)
    np.testing.assert_array_equal(clf.predict(X), answers)


@pytest.mark.parametrize("options", [{}, {"bootstrap": True, "max_samples": 0.7, "oob_score": True, "max_features": 3}])
def test_same_seed_same_vote_on_any_number_of_threads(noisy, options):
    X, y = noisy
    votes = [
        OC1EnsembleClassifier(QUICK, n_estimators=4, random_state=0, n_jobs=n, **options).fit(X, y).predict_proba(X)
        for n in (1, 2)
    ]
    np.testing.assert_array_equal(*votes)


def test_out_of_bag_votes_come_from_trees_that_did_not_see_the_example(noisy):
    X, y = noisy
    clf = OC1EnsembleClassifier(QUICK, n_estimators=15, bootstrap=True, oob_score=True, random_state=0).fit(X, y)
    assert 0.6 < clf.oob_score_ < clf.score(X, y)
    assert np.nanmin(clf.oob_decision_function_.sum(axis=1)) == pytest.approx(1.0)
    # A class at random cannot be learned: the score out of bag must not know it.
    rng = np.random.default_rng(0)
    clf.fit(X, rng.integers(0, 2, len(y)))
    assert abs(clf.oob_score_ - 0.5) < 0.12
    few = OC1EnsembleClassifier(QUICK, n_estimators=1, bootstrap=True, oob_score=True, random_state=0).fit(X, y)
    seen = np.isnan(few.oob_decision_function_).any(axis=1)
    assert 0.5 < seen.mean() < 0.75  # 1 - 1/e of them


def test_attribute_subsets(noisy):
    X, y = noisy
    clf = OC1EnsembleClassifier(QUICK, n_estimators=6, max_features=2, random_state=0).fit(X, y)
    assert {len(features) for features in clf.estimators_features_} == {2}
    assert len({tuple(features) for features in clf.estimators_features_}) > 1
    assert clf.feature_importances_.sum() == pytest.approx(1.0)


def test_any_learner_and_its_text(rcb):
    X, y = rcb
    for base in (LMDTClassifier(), C45Classifier(), OC1Classifier(n_restarts=1)):
        clf = OC1EnsembleClassifier(base, n_estimators=3, random_state=0).fit(X, y)
        assert clf.score(X, y) > 0.9
        assert clf.get_n_leaves() == sum(model.get_n_leaves() for model in clf.estimators_)
        assert clf.get_depth() == max(model.get_depth() for model in clf.estimators_)
        assert clf.n_hyperplanes_ > 0
        assert text(clf).count("tree ") == 3


def test_trees_know_the_names_of_their_attributes():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=["age", "bmi", "chol", "dose"])
    y = (frame["dose"] > 0).to_numpy()
    base = OC1Classifier(splits="axis", prune=None)
    named = OC1EnsembleClassifier(base, n_estimators=4, max_features=2, random_state=1).fit(frame, y)
    plain = OC1EnsembleClassifier(base, n_estimators=4, max_features=2, random_state=1).fit(frame.to_numpy(), y)
    for model, features in zip(named.estimators_, named.estimators_features_, strict=True):
        assert model.tree_.feature_names == tuple(frame.columns[features])
    assert "dose > " in text(named)
    assert "x4 > " in text(plain)


def test_bootstrap_draws_no_example_without_weight(noisy):
    X, y = noisy
    weights = np.zeros(len(y))
    weights[[np.argmax(y == 0), np.argmax(y == 1)]] = 100.0
    clf = OC1EnsembleClassifier(QUICK, bootstrap=True, random_state=0).fit(X, y, sample_weight=weights)
    # Weights are ratios: what a tree counts is the effective number of samples, of two at most.
    assert all(1.0 <= model.tree_.counts[0].sum() < 2.001 for model in clf.estimators_)


def test_seeds_reach_into_pipelines(noisy):
    X, y = noisy
    base = make_pipeline(StandardScaler(), OC1Classifier(n_restarts=2, prune=None))
    votes = [OC1EnsembleClassifier(base, n_estimators=3, random_state=0).fit(X, y).predict_proba(X) for _ in range(2)]
    np.testing.assert_array_equal(*votes)


def test_a_failed_fit_leaves_the_model_as_it_was(noisy):
    X, y = noisy
    clf = OC1EnsembleClassifier(QUICK, n_estimators=2, random_state=0).fit(X, y)
    before = clf.predict(X)
    with pytest.raises(ValueError, match="Unknown label type"):
        clf.fit(X[:, :2], np.linspace(0, 1, len(y)))
    np.testing.assert_array_equal(clf.predict(X), before)


def test_a_vote_is_better_than_its_trees():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(600, 4))
    y = (X @ [1.0, -1.0, 0.5, 0.0] + 0.7 * rng.normal(size=600) > 0).astype(int)
    clf = OC1EnsembleClassifier(QUICK, n_estimators=15, random_state=0).fit(X[:300], y[:300])
    single = np.mean([model.score(X[300:], y[300:]) for model in clf.estimators_])
    assert clf.score(X[300:], y[300:]) > single + 0.01


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"oob_score": True}, "needs bootstrap=True"),
        ({"max_samples": 0.5}, "needs bootstrap=True"),
        ({"max_features": 9}, "max_features=9 is more than there are"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"smoothing": -1}, "smoothing"),
        ({"estimator": 3}, "estimator"),
    ],
)
def test_bad_parameters(noisy, options, message):
    with pytest.raises(ValueError, match=message):
        OC1EnsembleClassifier(**options).fit(*noisy)


def test_a_vote_of_randomised_axis_parallel_trees(tmp_path):
    X, y = make_pol(600, random_state=0)
    X_new, y_new = make_pol(2000, random_state=1)
    vote = OC1EnsembleClassifier(n_estimators=31, n_choices=20, random_state=0).fit(X, y)
    assert all(type(tree) is C45Classifier for tree in vote.estimators_)
    assert all((np.diff(tree.tree_.terms) <= 1).all() for tree in vote.estimators_)
    assert len({tree.tree_.thresholds[0] for tree in vote.estimators_}) > 5
    # Trees that are alike have nothing to vote on; random ones make up for each other's steps.
    alike = OC1EnsembleClassifier(n_estimators=3, n_choices=1, random_state=0).fit(X, y)
    assert len({str(tree.tree_) for tree in alike.estimators_}) == 1
    assert vote.score(X_new, y_new) > alike.score(X_new, y_new) + 0.01
    again = OC1EnsembleClassifier(n_estimators=31, n_choices=20, random_state=0, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(vote.predict_proba(X_new), again.predict_proba(X_new))
    save_model(vote, tmp_path / "vote.json")
    np.testing.assert_array_equal(load_model(tmp_path / "vote.json").predict(X_new), vote.predict(X_new))
    with pytest.raises(ValueError, match="leave estimator at None"):
        OC1EnsembleClassifier(OC1Classifier(), n_choices=20).fit(X, y)
    with pytest.raises(ValueError, match="'n_choices' parameter"):
        OC1EnsembleClassifier(n_choices=0).fit(X, y)

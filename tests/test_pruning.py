import naive
import numpy as np
import pytest

from oc1 import OC1Classifier
from oc1.pruning import choose_step, prune_sequence


def small_trees():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 2))
        y = (X[:, 0] + X[:, 1] + rng.normal(size=60) > 0).astype(int) + (rng.random(60) < 0.2)
        clf = OC1Classifier(prune=None, splits="axis", max_leaf_nodes=9, random_state=seed).fit(X, y)
        yield clf, X, y


def test_the_sequence_is_optimal_for_its_alphas():
    for clf, _, _ in small_trees():
        sequence = prune_sequence(clf.tree_)
        assert sequence.n_leaves[-1] == 1
        assert (np.diff(sequence.alphas) > 0).all()
        assert (np.diff(sequence.n_leaves) < 0).all()
        for step, alpha in enumerate(sequence.alphas):
            upper = sequence.alphas[step + 1] if step + 1 < len(sequence.alphas) else alpha + 1
            inside = alpha + 0.5 * (upper - alpha)
            best = naive.best_subtree(clf.tree_, inside)
            assert len(best) == sequence.n_leaves[step]
            assert sequence.subtree(step).n_leaves == len(best)
            assert sequence.step_of(inside) == step


def test_all_subtrees_are_scored_in_one_pass():
    for clf, X, y in small_trees():
        sequence = prune_sequence(clf.tree_)
        labels = np.searchsorted(clf.classes_, y)
        weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
        right = sequence.correct(X, labels, weights)
        for step in range(len(sequence.alphas)):
            tree = sequence.subtree(step)
            assert right[step] == pytest.approx(weights[tree.majority[tree.apply(X)] == labels].sum())


def test_the_k_se_rule():
    accuracies = np.array([0.80, 0.90, 0.88, 0.70])  # from the whole tree to the root
    assert choose_step(accuracies, 100, 0.0) == 1
    assert choose_step(accuracies, 100, 1.0) == 2  # one standard error is 0.03
    assert choose_step(np.array([0.9, 0.9, 0.5]), 100, 0.0) == 1  # equal accuracy: the smaller tree


@pytest.mark.parametrize("prune", ["holdout", "cv"])
def test_pruning_shrinks_noisy_trees(noisy, prune):
    X, y = noisy
    clf = OC1Classifier(prune=prune, n_restarts=3, random_state=0).fit(X[:300], y[:300])
    assert clf.get_n_leaves() < clf.unpruned_tree_.n_leaves
    path = clf.pruning_path_
    assert path.leaves[0] <= clf.unpruned_tree_.n_leaves
    assert path.leaves[-1] == 1
    assert clf.get_n_leaves() in path["leaves"]
    chosen = path[path.leaves == clf.get_n_leaves()]
    assert chosen.accuracy[0] == path.accuracy.max()
    whole = OC1Classifier(prune=None, n_restarts=3, random_state=0).fit(X[:300], y[:300])
    assert clf.score(X[300:], y[300:]) > whole.score(X[300:], y[300:]) - 0.05
    smaller = OC1Classifier(prune=prune, prune_se=1.0, n_restarts=3, random_state=0).fit(X[:300], y[:300])
    assert smaller.get_n_leaves() <= clf.get_n_leaves()


def test_a_one_leaf_tree_is_possible():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 3)), (rng.random(200) < 0.1).astype(int)
    clf = OC1Classifier(prune="cv", n_restarts=2, random_state=0).fit(X, y)
    assert clf.get_n_leaves() == 1
    assert clf.get_depth() == 0
    assert (clf.predict(X) == 0).all()
    assert clf.feature_importances_.sum() == 0


def test_without_pruning_the_path_is_still_there(noisy):
    X, y = noisy
    clf = OC1Classifier(prune=None, n_restarts=1, random_state=0).fit(X, y)
    assert clf.tree_ is clf.unpruned_tree_
    assert np.isnan(clf.pruning_path_.accuracy).all()
    assert clf.pruning_path_.leaves[-1] == 1

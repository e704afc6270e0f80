import naive
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

from oc1 import OC1Classifier, OC1ForestClassifier, load_model, save_model
from oc1.baselines import C45Classifier, CARTClassifier, LMDTClassifier
from oc1.tree.pruning import choose_step, prune_sequence


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


def test_with_prices_the_sequence_is_optimal_too():
    for clf, _, _ in small_trees():
        tree = clf.tree_
        rng = np.random.default_rng(tree.n_nodes)
        for prices in (rng.uniform(0.1, 3.0, tree.n_nodes), 1.0 + rng.integers(0, 3, tree.n_nodes)):
            sequence = prune_sequence(tree, prices=prices)
            assert sequence.n_leaves[-1] == 1
            assert (np.diff(sequence.alphas) > 0).all()
            assert (np.diff(sequence.n_leaves) < 0).all()
            for step, alpha in enumerate(sequence.alphas):
                upper = sequence.alphas[step + 1] if step + 1 < len(sequence.alphas) else alpha + 1
                inside = alpha + 0.5 * (upper - alpha)
                best = naive.best_subtree(tree, inside, prices)
                cut = sequence.subtree(step)
                assert set(np.flatnonzero(naive.stays(tree, sequence.steps <= step))) == set(best)
                assert cut.n_leaves == len(best) == sequence.n_leaves[step]
                assert cut.n_terms == sequence.n_terms[step]
                assert sequence.step_of(inside) == step


def test_prices_of_one_are_leaves():
    for clf, _, _ in small_trees():
        plain, priced = prune_sequence(clf.tree_), prune_sequence(clf.tree_, prices=np.ones(clf.tree_.n_nodes))
        for name in ("alphas", "n_leaves", "n_terms", "steps"):
            np.testing.assert_array_equal(getattr(plain, name), getattr(priced, name))


def test_leaves_of_subtrees_are_those_of_cut_trees():
    for clf, X, _ in small_trees():
        sequence = prune_sequence(clf.tree_)
        alphas = np.array([0.0, *sequence.alphas, *(0.5 * (sequence.alphas[1:] + sequence.alphas[:-1])), 1.0])
        leaves = sequence.leaves_of(clf.tree_.apply(X), alphas)
        assert leaves.shape == (len(X), len(alphas))
        for column, alpha in zip(leaves.T, alphas, strict=True):
            cut = sequence.subtree(sequence.step_of(alpha))
            np.testing.assert_array_equal(clf.tree_.counts[column], cut.counts[cut.apply(X)])
            np.testing.assert_array_equal(clf.tree_.majority[column], cut.majority[cut.apply(X)])


def test_all_subtrees_are_scored_in_one_pass():
    for clf, X, y in small_trees():
        sequence = prune_sequence(clf.tree_)
        labels = np.searchsorted(clf.classes_, y)
        weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
        right = sequence.sum_over_leaves(sequence.tree.score_nodes(X, labels, weights))
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


# ------------------------------------------------------------------------------------------------ scikit-learn's scale


def same_splits():
    """Data on which scikit-learn grows the same trees: with such weights no two splits are equally good."""
    X, y = load_breast_cancer(return_X_y=True)
    yield X, y, None
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(300, 4))
        y = np.digitize(X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=300), [-0.8, 0.8])
        yield X, y, rng.uniform(0.5, 2, 300)


def test_the_path_by_impurity_is_scikit_learns():
    for X, y, weights in same_splits():
        ours = OC1Classifier(splits="axis", criterion="gini", prune=None, random_state=0)
        theirs = DecisionTreeClassifier(random_state=0)
        path = ours.cost_complexity_pruning_path(X, y, weights)
        expected = theirs.cost_complexity_pruning_path(X, y, weights)
        last = np.append(np.diff(expected.ccp_alphas) > 1e-12, True)  # it lists equal prices one by one
        np.testing.assert_allclose(path.ccp_alphas, expected.ccp_alphas[last], atol=1e-15)
        np.testing.assert_allclose(path.impurities, expected.impurities[last], atol=1e-15)
        assert len(path.ccp_alphas) > 10
        assert not hasattr(ours, "tree_")
        alphas = path.ccp_alphas[[1, 3, -6, -3, -2, -1]]

        def size(model, alpha):
            return model.set_params(ccp_alpha=alpha).fit(X, y, weights).get_n_leaves()  # noqa: B023

        for alpha in alphas:
            below, above = alpha * 0.9999, alpha * 1.0001
            assert size(ours, below) == size(theirs, below)
            assert size(ours, above) == size(theirs, above) < size(ours, below)
            assert size(ours, alpha) == size(ours, above)  # at a price itself the tree is cut
        assert size(ours, 0.0) == ours.unpruned_tree_.n_leaves


@pytest.mark.parametrize("prune", ["auto", "cv"])
def test_the_price_of_a_leaf_comes_after_pruning(noisy, prune):
    X, y = noisy
    clf = OC1Classifier(splits="axis", prune=prune, random_state=0)
    last = clf.cost_complexity_pruning_path(X, y).ccp_alphas[-2]
    sizes = [clf.set_params(ccp_alpha=alpha).fit(X, y).get_n_leaves() for alpha in (0.0, 0.5 * last, last, 1.0)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[2] >= sizes[3] == 1
    assert clf.unpruned_tree_.n_leaves > sizes[0]


@pytest.mark.parametrize("learner", [CARTClassifier(), C45Classifier(), LMDTClassifier(random_state=0)])
def test_every_tree_has_a_path(noisy, learner):
    path = learner.cost_complexity_pruning_path(*noisy)
    assert path.ccp_alphas[0] == 0
    assert (np.diff(path.ccp_alphas) > 0).all()
    assert (np.diff(path.impurities) > 0).all()
    counts = np.bincount(noisy[1]) / len(noisy[1])
    assert path.impurities[-1] == pytest.approx(1 - (counts**2).sum())
    assert learner.set_params(ccp_alpha=path.ccp_alphas[-2]).fit(*noisy).get_n_leaves() >= 2
    assert learner.set_params(ccp_alpha=path.ccp_alphas[-1]).fit(*noisy).get_n_leaves() == 1


def test_the_path_of_a_single_leaf():
    path = OC1Classifier().cost_complexity_pruning_path([[0.0], [1.0]], ["a", "a"])
    assert (path.ccp_alphas.tolist(), path.impurities.tolist()) == ([0.0], [0.0])
    assert OC1Classifier(ccp_alpha=0.1).fit([[0.0], [1.0]], ["a", "a"]).get_n_leaves() == 1


def test_no_accuracy_is_above_one_whatever_the_weights(tmp_path):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(80, 2))
        weights = rng.random(80) ** 3 * 10.0 ** rng.integers(-3, 4)
        model = CARTClassifier(random_state=0).fit(X, X[:, 0] > 0, sample_weight=weights)
        assert np.nanmax(model.pruning_path_["accuracy"]) <= 1
        save_model(model, tmp_path / "model.json")
        np.testing.assert_array_equal(load_model(tmp_path / "model.json").pruning_path_, model.pruning_path_)


@pytest.mark.parametrize("learner", [OC1Classifier, OC1ForestClassifier])
def test_what_gets_all_weighted_examples_right_can_be_stored(learner, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    for exponent in (-30, -3, 0, 3, 30):
        weights = rng.random(40) ** 3 * 10.0**exponent
        model = learner(random_state=0).fit(X, X[:, 0] > 0, sample_weight=weights)
        save_model(model, tmp_path / "model.json")
        again = load_model(tmp_path / "model.json")
        assert getattr(again, "cv_accuracies_", None) == getattr(model, "cv_accuracies_", None)

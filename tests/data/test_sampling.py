import numpy as np
import pytest

from oc1 import OC1Classifier
from oc1.data.sampling import content_hashes, deal_folds, hold_out


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(500, 3)), rng.integers(0, 3, 500)


def test_the_share_is_right_and_depends_on_the_seed(data):
    X, y = data
    for seed in range(20):
        grow, back = hold_out(X, y, None, 0.1, seed)
        assert back.sum() == 50
        assert set(back) == {0.0, 1.0}
        np.testing.assert_array_equal(grow + back, 1)
    assert (hold_out(X, y, None, 0.1, 0)[1] != hold_out(X, y, None, 0.1, 1)[1]).any()


def test_what_is_held_out_is_not_stratified(data):
    X, y = data
    held = {int(hold_out(X, y, None, 0.1, seed)[1][y == 0].sum()) for seed in range(30)}
    assert len(held) > 5  # of a class, more or fewer by chance


def test_order_units_names_and_repetition_do_not_matter(data):
    X, y = data
    _, back = hold_out(X, y, None, 0.1, 4)
    order = np.random.default_rng(1).permutation(len(X))
    np.testing.assert_array_equal(hold_out(X[order], y[order], None, 0.1, 4)[1], back[order])
    np.testing.assert_array_equal(hold_out(X * [3.0, 0.1, 7.0] + 100, y, None, 0.1, 4)[1], back)
    np.testing.assert_array_equal(hold_out(X, np.array([2, 0, 1])[y], None, 0.1, 4)[1], back)
    times = np.random.default_rng(2).integers(1, 4, len(X))
    repeated = hold_out(X.repeat(times, axis=0), y.repeat(times), None, 0.1, 4)[1]
    weighted = hold_out(X, y, times.astype(float), 0.1, 4)[1] * times
    np.testing.assert_allclose(np.add.reduceat(repeated, np.cumsum(times) - times), weighted)


def test_equal_examples_are_shared_out():
    X, y = np.array([[0.0], [1.0]] * 100), np.array([0, 1] * 100)
    _, back = hold_out(X, y, None, 0.1, 0)
    assert back[y == 0].sum() == pytest.approx(10, abs=1)
    assert back[y == 1].sum() == pytest.approx(10, abs=1)
    assert (content_hashes(X, y, 0)[::2] == content_hashes(X, y, 0)[0]).all()
    for _, part in deal_folds(X, y, None, 10, 0):
        assert part[y == 0].sum() == 10


@pytest.mark.parametrize("prune", ["holdout", "cv"])
def test_data_with_few_different_rows_are_learned(prune):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (1000, 3)).astype(float)
    y = (X.sum(axis=1) >= 2).astype(int)
    for seed in range(5):
        assert OC1Classifier(prune=prune, n_restarts=2, random_state=seed).fit(X, y).score(X, y) == 1.0
    noisy = np.where(rng.random(1000) < 0.1, 1 - y, y)
    assert OC1Classifier(prune=prune, n_restarts=2, random_state=0).fit(X, noisy).score(X, y) == 1.0


def test_tiny_sets_always_leave_something_to_grow_on():
    for n in range(2, 12):
        for fraction in (1e-9, 0.1, 0.99):
            grow, back = hold_out(np.arange(float(n))[:, None], np.arange(n) % 2, None, fraction, n)
            assert back.sum() >= 1
            assert grow.sum() >= 1
    assert hold_out(np.ones((1, 2)), np.zeros(1, int), None, 0.1, 0)[1].sum() == 0


def test_fractional_weights_keep_examples_whole(data):
    X, y = data
    weights = np.random.default_rng(0).uniform(0.001, 0.01, len(y))
    back = hold_out(X, y, weights, 0.1, 0)[1]
    assert set(back) == {0.0, 1.0}
    assert back.sum() == 50


def test_folds_are_stratified_and_complete(data):
    X, y = data
    folds = [back for _, back in deal_folds(X, y, None, 10, 0)]
    assert len(folds) == 10
    np.testing.assert_array_equal(np.sum(folds, axis=0), 1)
    for c in range(3):
        sizes = [part[y == c].sum() for part in folds]
        assert max(sizes) - min(sizes) <= 1
    renamed = [back for _, back in deal_folds(X, np.array([2, 0, 1])[y], None, 10, 0)]
    np.testing.assert_array_equal(folds, renamed)
    assert len(list(deal_folds(X[:4], y[:4], None, 10, 0))) == 4
    times = np.random.default_rng(2).integers(1, 4, len(X)).astype(float)
    weighted = [back * times for _, back in deal_folds(X, y, times, 10, 0)]
    np.testing.assert_allclose(np.sum(weighted, axis=0), times)

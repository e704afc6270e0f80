import numpy as np
import pytest

from oc1.sampling import content_hashes, deal_folds, hold_out


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(500, 3)), rng.integers(0, 3, 500)


def test_the_share_is_right_and_depends_on_the_seed(data):
    X, _ = data
    shares = [hold_out(X, None, 0.1, seed).mean() for seed in range(20)]
    assert np.allclose(shares, 0.1, atol=0.003)
    assert (hold_out(X, None, 0.1, 0) != hold_out(X, None, 0.1, 1)).any()


def test_order_units_and_repetition_do_not_matter(data):
    X, _ = data
    held = hold_out(X, None, 0.1, 4)
    order = np.random.default_rng(1).permutation(len(X))
    np.testing.assert_array_equal(hold_out(X[order], None, 0.1, 4), held[order])
    np.testing.assert_array_equal(hold_out(X * [3.0, 0.1, 7.0] + 100, None, 0.1, 4), held)
    times = np.random.default_rng(2).integers(1, 4, len(X))
    repeated = hold_out(X.repeat(times, axis=0), None, 0.1, 4)
    np.testing.assert_array_equal(repeated, hold_out(X, times.astype(float), 0.1, 4).repeat(times))


def test_equal_rows_stay_together(data):
    X, _ = data
    X = np.vstack([X, X[:100]])
    assert (content_hashes(X, 0)[500:] == content_hashes(X, 0)[:100]).all()
    held = hold_out(X, None, 0.2, 0)
    np.testing.assert_array_equal(held[500:], held[:100])


def test_tiny_sets_always_leave_something_to_grow_on():
    for n in range(2, 12):
        held = hold_out(np.arange(float(n))[:, None], None, 0.1, n)
        assert 1 <= held.sum() < n
    assert not hold_out(np.ones((5, 2)), None, 0.1, 0).any()
    assert not hold_out(np.ones((1, 2)), None, 0.1, 0).any()


def test_folds_are_stratified_and_complete(data):
    X, y = data
    folds = deal_folds(X, y, 10, 0)
    assert len(folds) == 10
    np.testing.assert_array_equal(np.sort(np.concatenate(folds)), np.arange(500))
    for c in range(3):
        sizes = [(y[fold] == c).sum() for fold in folds]
        assert max(sizes) - min(sizes) <= 1
    renamed = deal_folds(X, np.array([2, 0, 1])[y], 10, 0)
    assert sorted(map(tuple, folds)) == sorted(map(tuple, renamed))
    assert len(deal_folds(X[:4], y[:4], 10, 0)) == 4

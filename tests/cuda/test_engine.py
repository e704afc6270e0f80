"""A tree whose large nodes are counted by a GPU is the tree of the processor. Numpy stands for the GPU here."""

import numpy as np
import pytest
from device_fits import OPTIONS, assert_same_tree, waves
from numpy_device import NumpyDevice

from oc1 import OC1Classifier
from oc1.cuda import arrays, engine


@pytest.fixture
def device(monkeypatch):
    monkeypatch.setattr(OC1Classifier, "_large", 400)
    monkeypatch.setattr(engine, "MAX_ROWS_PER_PIECE", 257)
    own = NumpyDevice()
    monkeypatch.setattr(arrays, "open_device", lambda: own)
    return own


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_the_tree_is_that_of_the_processor(device, options):
    X, y = waves()
    expected = OC1Classifier(random_state=0, **options).fit(X, y)
    clf = OC1Classifier(random_state=0, device="cuda", **options).fit(X, y)
    assert device.n_counted > 0
    assert_same_tree(clf, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_all_kinds_and_missing_values(device, dtype, order):
    X, y = waves(k=2)
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    X = np.array(X, dtype=dtype, order=order)
    expected = OC1Classifier(random_state=0, missing="direction").fit(X, y)
    clf = OC1Classifier(random_state=0, missing="direction", device="cuda").fit(X, y)
    assert device.n_counted > 0
    assert_same_tree(clf, expected)


def test_whole_weights_add_up_exactly_and_others_nearly(device):
    X, y = waves(k=2)
    rng = np.random.default_rng(2)
    whole, shares = rng.integers(0, 4, len(y)), rng.random(len(y))
    for weights in (whole, shares):
        expected = OC1Classifier(random_state=0).fit(X, y, sample_weight=weights)
        clf = OC1Classifier(random_state=0, device="cuda").fit(X, y, sample_weight=weights)
        if weights is whole:
            assert_same_tree(clf, expected)
        else:
            np.testing.assert_allclose(clf.tree_.counts, expected.tree_.counts, rtol=1e-9)
            assert (clf.predict(X) == expected.predict(X)).all()


def test_a_file_of_values_is_copied_piece_by_piece(device, tmp_path):
    X, y = waves(k=2)
    np.save(tmp_path / "X.npy", X)
    clf = OC1Classifier(random_state=0, device="cuda").fit(np.load(tmp_path / "X.npy", mmap_mode="r"), y)
    assert_same_tree(clf, OC1Classifier(random_state=0).fit(X, y))


def test_too_little_memory_is_said_before_anything_is_copied(device):
    X, y = waves()
    device.free_bytes = 10_000
    clf = OC1Classifier(random_state=0, device="cuda")
    with pytest.raises(MemoryError, match=r"1,500 examples of 4 attributes need .* GiB are free"):
        clf.fit(X, y)
    assert device.n_counted == 0
    assert not hasattr(clf, "tree_")


def test_small_data_stay_with_the_processor(device):
    X, y = waves(300)
    OC1Classifier(random_state=0, device="cuda").fit(X, y)
    assert device.n_counted == 0

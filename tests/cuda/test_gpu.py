"""The same on a real GPU; skipped where there is none."""

import numpy as np
import pytest
from device_fits import OPTIONS, assert_same_tree, waves
from numpy_device import NumpyDevice

from oc1 import OC1Classifier
from oc1.cuda.device import DeviceSlice, NoGPU, open_device
from oc1.growing.rounds import Line, packed

cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
try:
    DEVICE = open_device()
except NoGPU as problem:
    pytest.skip(str(problem), allow_module_level=True)


@pytest.mark.parametrize("weighted", [False, True], ids=["alike", "weighted"])
@pytest.mark.parametrize("half", [0, 8, 2048])
def test_counts_are_those_of_the_slow_version(weighted, half):
    rng, d, n = np.random.default_rng(0), 3, 5000
    columns = rng.normal(size=(d, n)).astype(np.float32)
    columns[rng.random(columns.shape) < 0.1] = 0.0
    mask = (rng.random((d, n)) < 0.1).astype(np.uint8)
    bounds = np.array([7, 1000, 1000, 4900])
    weights = rng.integers(1, 2**40, n) if weighted else None
    units, planes = np.eye(d + 1), rng.normal(size=(2, d + 1))
    lines = [Line(plane, units[m], m, 0.3, 0.5) for plane in planes for m in range(d + 1)]
    lines += [Line(planes[1], rng.normal(size=d + 1), -1, 0.0, 0.5)]
    lines += [Line(units[m], units[d], d, 0.1, 0.5, side) for m in range(d) for side in (-1, 0, 1)]
    if half == 0:
        lines = [Line(plane, 0.0 * plane, -1) for plane in (*planes, *units[:d])]
    host = DeviceSlice(columns, bounds, weights, 2.0**-10, mask)
    there = host._replace(
        columns=cupy.asarray(columns),
        weights=None if weights is None else cupy.asarray(weights),
        missing_mask=cupy.asarray(mask),
    )
    expected = NumpyDevice().count_lines(host, packed(lines), half)
    for one, other in zip(DEVICE.count_lines(there, packed(lines), half), expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_tree_is_that_of_the_processor(monkeypatch, options, dtype):
    monkeypatch.setattr(OC1Classifier, "_large", 2000)
    X, y = waves(20_000)
    X = X.astype(dtype)
    X[np.random.default_rng(1).random(X.shape) < 0.01] = np.nan
    expected = OC1Classifier(random_state=0, **options).fit(X, y)
    for data in ((X, y), (cupy.asarray(X), cupy.asarray(y)), (cupy.asfortranarray(cupy.asarray(X)), y)):
        assert_same_tree(OC1Classifier(random_state=0, device="cuda", **options).fit(*data), expected)


def test_predictions_stay_on_the_device():
    X, y = waves(5000)
    X[::7, 1] = np.nan
    clf = OC1Classifier(random_state=0, missing="direction").fit(X, y)
    there = cupy.asarray(X)
    for method in (clf.predict, clf.predict_proba, clf.apply):
        answers = method(there)
        assert isinstance(answers, cupy.ndarray)
        np.testing.assert_array_equal(answers.get(), method(X))
    names = np.array(["no", "maybe", "yes"])[y]
    np.testing.assert_array_equal(OC1Classifier(random_state=0).fit(X, names).predict(there)[:5], names[:5])
    with pytest.raises(ValueError, match="expecting 4 features"):
        clf.predict(there[:, :2])


def test_tensors_are_taken_and_given_back():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    X, y = waves(5000)
    tensor = torch.tensor(X, device="cuda")
    clf = OC1Classifier(random_state=0, device="auto").fit(tensor, torch.tensor(y, device="cuda"))
    assert_same_tree(clf, OC1Classifier(random_state=0).fit(X, y))
    answers = clf.predict(tensor)
    assert answers.is_cuda
    np.testing.assert_array_equal(answers.cpu().numpy(), clf.predict(X))
    with pytest.raises(ValueError, match="device='cpu'"):
        OC1Classifier().fit(tensor, y)

"""Which device is taken, what is said where there is none, and arrays on one. Numpy stands for the GPU here."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from device_fits import assert_same_tree, waves
from numpy_device import NumpyDevice

from oc1 import OC1Classifier, OC1EnsembleClassifier
from oc1.cuda import arrays
from oc1.cuda.device import NoGPU, make_chunks, open_device, terms_of


class ArrayThere(np.ndarray):
    """An array that says it is on a GPU."""

    __cuda_array_interface__ = None

    def get(self):
        return np.asarray(self).view(np.ndarray)


def there(array):
    return np.asarray(array).view(ArrayThere)


class DeviceOfArraysThere(NumpyDevice):
    """Its arrays are `ArrayThere`."""

    def __init__(self):
        super().__init__()
        own = {name: getattr(np, name) for name in ("arange", "ascontiguousarray", "isinf", "inf")}
        self.xp = SimpleNamespace(ndarray=ArrayThere, asarray=there, zeros=lambda shape: there(np.zeros(shape)), **own)

    def find_leaves(self, X, tree):
        return there(tree.apply(np.asarray(X).view(np.ndarray)))


@pytest.fixture
def device(monkeypatch):
    own = DeviceOfArraysThere()
    monkeypatch.setattr(arrays, "open_device", lambda: own)
    return own


def failing(number, text):
    """A CuPy that fails to count devices."""

    class CUDARuntimeError(RuntimeError):
        pass

    def count():
        if text:
            raise CUDARuntimeError(text)
        return number

    runtime = SimpleNamespace(CUDARuntimeError=CUDARuntimeError, getDeviceCount=count)
    cupy = ModuleType("cupy")
    cupy.cuda = SimpleNamespace(runtime=runtime)
    return cupy


@pytest.mark.parametrize(
    ("cupy", "said"),
    [
        (None, r"CuPy is not installed .* pip install 'oc1\[cuda\]'"),
        (failing(0, ""), "CUDA finds no GPU"),
        (failing(0, "cudaErrorNoDevice: no CUDA-capable device is detected"), "finds no GPU .*no CUDA-capable"),
        (failing(0, "cudaErrorInsufficientDriver: CUDA driver version is insufficient"), "driver is older than CuPy"),
    ],
    ids=["no CuPy", "none", "error", "old driver"],
)
def test_it_is_said_why_there_is_no_gpu(monkeypatch, capsys, cupy, said):
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(arrays, "open_device", open_device.__wrapped__)  # not what was found before
    X, y = waves(60)
    with pytest.raises(NoGPU, match=f"device='cuda': .*{said}"):
        OC1Classifier(device="cuda").fit(X, y)
    expected = OC1Classifier(random_state=0).fit(X, y)
    assert_same_tree(OC1Classifier(random_state=0, device="auto").fit(X, y), expected)
    assert "GPU" not in capsys.readouterr().err
    OC1Classifier(random_state=0, device="auto", verbose=1).fit(X, y)
    assert "no GPU that can be used" in "".join(capsys.readouterr())


def test_an_unknown_device_is_an_error():
    with pytest.raises(ValueError, match="'device' parameter of OC1Classifier must be a str among"):
        OC1Classifier(device="tpu").fit(*waves(20))


def test_arrays_that_are_there_need_a_device_that_is(device):
    X, y = waves(200)
    with pytest.raises(ValueError, match="the data are on a GPU, but device='cpu'"):
        OC1Classifier().fit(there(X), y)
    for name in ("auto", "cuda"):
        clf = OC1Classifier(random_state=0, device=name).fit(there(X), there(y))
        assert_same_tree(clf, OC1Classifier(random_state=0).fit(X, y))


@pytest.mark.parametrize("labels", [np.arange(3), np.array(["no", "maybe", "yes"])], ids=["numbers", "text"])
@pytest.mark.parametrize(
    "model", [OC1Classifier(random_state=0), OC1EnsembleClassifier(n_estimators=3, max_features=3, random_state=0)]
)
def test_predictions_of_what_is_there_stay_there(device, model, labels):
    X, y = waves(300)
    model.fit(X, labels[y])
    answers = model.predict(there(X))
    assert isinstance(answers, ArrayThere) == (labels.dtype.kind == "i")
    np.testing.assert_array_equal(answers, model.predict(X))
    shares = model.predict_proba(there(X))
    assert isinstance(shares, ArrayThere)
    np.testing.assert_array_equal(shares, model.predict_proba(X))
    np.testing.assert_array_equal(model.predict(there(X.astype(int))), model.predict(X.astype(int)))
    with pytest.raises(ValueError, match="expecting 4 features"):
        model.predict(there(X[:, :2]))
    with pytest.raises(ValueError, match="infinity"):
        model.predict(there(np.where(X > 1.0, np.inf, X)))


def test_the_vote_takes_the_device_to_its_trees(device, monkeypatch):
    monkeypatch.setattr(OC1Classifier, "_large", 100)
    X, y = waves(300)
    device.xp = np
    votes = [OC1EnsembleClassifier(n_estimators=2, random_state=0, device=name).fit(X, y) for name in ("cpu", "cuda")]
    assert device.n_counted > 0
    for one, other in zip(*(vote.estimators_ for vote in votes), strict=True):
        assert_same_tree(one, other)


def test_chunks_hold_every_example_once_and_one_class_each():
    bounds = np.array([5, 5, 20_000, 20_001, 90_000])
    chunks = make_chunks(bounds, 3, 100)
    np.testing.assert_array_equal(np.concatenate([np.arange(*span) for _, *span in chunks]), np.arange(5, 90_000))
    for label, begin, end in chunks:
        assert bounds[label] <= begin < end <= bounds[label + 1]


def test_planes_are_lists_of_terms():
    planes = np.array([[0.0, 2.0, 0.5], [0.0, 0.0, 1.0], [3.0, 4.0, 0.0]], dtype=np.float32)
    starts, attributes, coefficients, constants = terms_of(planes)
    assert starts.tolist() == [0, 1, 1, 3]
    assert attributes.tolist() == [1, 0, 1]
    assert coefficients.tolist() == [2.0, 3.0, 4.0]
    assert constants.tolist() == [0.5, 1.0, 0.0]

import pickle

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("distributed")
import dask
import dask.array as da
import dask.dataframe as dd
from distributed import Client, LocalCluster

from oc1 import OC1Classifier
from oc1.dask.inputs import is_collection
from oc1.dask.predict import METHODS, predict

N = 60
LABELS = {
    "text": np.array(["no", "perhaps", "yes"]),
    "objects": np.array(["no", "perhaps", "yes"], dtype=object),
    "int": np.array([3, 5, 7]),
    "bool": np.array([False, True, True]),
}


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def numbers(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 3))
    return X, (X @ [1.0, 1.0, -1.0] > 0).astype(int) + (X[:, 0] > 1)


def fitted(X, y):
    return OC1Classifier(n_restarts=1, random_state=0).fit(X, y)


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("chunks", [((N,), 3), ((20, 40), 3), ((0, 7, 0, 53), 2)])
def test_arrays_give_what_numpy_gives(client, kind, method, chunks):
    X, y = numbers()
    model = fitted(X, LABELS[kind][y])
    lazy = predict(model, method, da.from_array(X, chunks=chunks))
    expected = getattr(model, method)(X)
    assert isinstance(lazy, da.Array)
    assert lazy.chunks[0] == chunks[0]
    assert lazy.shape == expected.shape
    answer = lazy.compute()
    assert lazy.dtype == answer.dtype == expected.dtype
    assert np.array_equal(answer, expected)


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("method", METHODS)
def test_frames_give_series_and_frames_with_the_same_index(client, kind, method):
    X, y = numbers()
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=np.arange(N) * 2 + 1)
    model = fitted(frame, LABELS[kind][y])
    parts = [frame.iloc[:10], frame.iloc[10:10], frame.iloc[10:]]
    given = dd.from_delayed([dask.delayed(part) for part in parts], meta=frame.iloc[:0])
    lazy = predict(model, method, given)
    expected = getattr(model, method)(frame)
    answer = lazy.compute()
    assert np.array_equal(answer.to_numpy(), expected)
    assert np.array_equal(answer.index, frame.index)
    if expected.ndim == 2:
        assert list(lazy.columns) == list(answer.columns) == list(model.classes_)
    else:
        assert isinstance(lazy, dd.Series)
        assert lazy.dtype == answer.dtype
    for part in lazy.partitions:
        assert type(part.compute()) is type(answer)


def test_categories(client):
    colours = np.array(["red", "green", "blue"])[np.arange(N) % 3]
    frame = pd.DataFrame({"size": np.random.default_rng(0).normal(size=N), "colour": colours})
    y = (frame["size"] > (colours == "red")).astype(int)
    model = OC1Classifier(n_restarts=1, random_state=0, categorical_features="from_dtype").fit(frame, y)
    answer = predict(model, "predict", dd.from_pandas(frame, npartitions=3)).compute()
    assert np.array_equal(answer, model.predict(frame))


def test_unknown_numbers_of_rows(client):
    X, y = numbers()
    model = fitted(X, y)
    array = da.from_array(X, chunks=(25, 3))
    array = array[array[:, 0] > 0]
    assert np.isnan(array.shape[0])
    lazy = predict(model, "predict_proba", array)
    assert lazy.shape[1] == 3
    assert np.array_equal(lazy.compute(), model.predict_proba(X[X[:, 0] > 0]))


def never(*_):
    raise AssertionError("this was computed")


def test_nothing_is_computed_until_asked_for():
    X, y = numbers()
    model = fitted(X, y)
    array = da.from_array(X, chunks=(25, 3)).map_blocks(never, dtype=float, meta=np.empty((0, 0)))
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=3)
    frame = frame.map_partitions(never, meta=frame._meta)
    for method in METHODS:
        predict(model, method, array)
        predict(model, method, frame)
    with pytest.raises(AssertionError, match="this was computed"):
        predict(model, "predict", array).compute(scheduler="sync")


@pytest.mark.parametrize("is_frame", [False, True])
def test_the_model_travels_once(is_frame):
    X, y = numbers()
    model = fitted(X, y)
    model.burden_ = np.random.default_rng(0).bytes(100_000)
    sizes = []
    for n_parts in (1, 20):
        rows = np.zeros((20, 3))
        given = (
            dd.from_pandas(pd.DataFrame(rows), npartitions=n_parts)
            if is_frame
            else da.from_array(rows, chunks=(20 // n_parts, 3))
        )
        (lazy,) = dask.optimize(predict(model, "predict", given))
        tasks = dict(lazy.__dask_graph__()).values()
        sizes.append(sum(len(pickle.dumps(task)) for task in tasks))
    assert sizes[0] > 100_000
    assert sizes[1] < 200_000


def test_what_cannot_be_predicted_is_said_at_once():
    X, y = numbers()
    model = fitted(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    with pytest.raises(ValueError, match="X has 2 features, but OC1Classifier is expecting 3"):
        predict(model, "predict", da.ones((4, 2)))
    with pytest.raises(ValueError, match="feature names"):
        predict(model, "predict", dd.from_pandas(pd.DataFrame(X, columns=["a", "c", "b"]), npartitions=2))
    with pytest.raises(ValueError, match="a row for each example"):
        predict(model, "predict", da.ones(4))
    with pytest.raises(TypeError, match="must be a Dask array"):
        predict(model, "predict", X)
    with pytest.raises(ValueError, match="method must be one of"):
        predict(model, "fit", da.ones((4, 3)))


def test_collections_are_recognised():
    frame = dd.from_pandas(pd.DataFrame({"a": [1.0]}), npartitions=1)
    assert is_collection(da.ones((2, 2)))
    assert is_collection(frame)
    for other in (np.ones((2, 2)), pd.DataFrame({"a": [1.0]}), [[1.0]], dask.delayed(np.ones)((2, 2)), None):
        assert not is_collection(other)

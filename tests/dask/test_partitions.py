import gc
import math
import time

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("distributed")
import dask
import dask.array as da
import dask.dataframe as dd
from distributed import Client, LocalCluster, get_worker, wait

from oc1 import OC1Classifier
from oc1.dask.partitions import prepare
from oc1.dask.session import Session
from oc1.data.categories import class_weights, exact_class_weights

N = 60
COLOURS = np.array(["red", "green", "blue", "grey"])
CUTS = [(), (20, 40), (0, 17, 17, 60), (1, 2, 3, 59)]


class Spy(OC1Classifier):
    """A local fit that comes as far as the cluster's preparation."""

    def _learn(self, data):
        self.seen = data


def learnt_locally(X, y, sample_weight=None, **parameters):
    return Spy(**parameters).fit(X, y, sample_weight)


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def session(client):
    with Session(client) as session:
        yield session


def bounds(cuts, n=N):
    return list(zip((0, *cuts), (*cuts, n), strict=True))


def as_array(values, cuts):
    chunks = tuple(stop - start for start, stop in bounds(cuts, len(values)))
    return da.from_array(values, chunks=(chunks, *values.shape[1:]))


def as_frame(frame, cuts):
    parts = [dask.delayed(frame.iloc[start:stop]) for start, stop in bounds(cuts, len(frame))]
    return dd.from_delayed(parts, meta=frame.iloc[:0], verify_meta=False)


def numbers(seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 3)).astype(dtype)
    X[rng.random((N, 3)) < 0.1] = np.nan
    return X, rng.integers(3, size=N)


def mixed(seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({
        "size": rng.normal(size=N),
        "colour": COLOURS[rng.integers(4, size=N)],
        "level": rng.integers(3, size=N),
        "kind": pd.Categorical(rng.choice(["x", "y", "z"], size=N)),
    })  # fmt: skip
    X.loc[::9, "colour"] = None
    return X, pd.Series(np.where(rng.random(N) < 0.5, "yes", "no"))


def arrays_of(prepared, session):
    """Return the partitions with arrays in the place of futures."""
    return [session.submit(lambda part: part, one).result() for one in prepared.partitions]


def assert_same(prepared, session, spy):
    parts, data = arrays_of(prepared, session), spy.seen
    X = np.concatenate([part.X for part in parts])
    assert X.dtype == data.X.dtype
    assert np.array_equal(X, data.X, equal_nan=True)
    assert np.array_equal(np.concatenate([part.y for part in parts]), data.y)
    assert all(part.y.dtype == np.int32 for part in parts)
    weights = np.concatenate([part.weights for part in parts])
    assert np.array_equal(weights, np.empty(0) if data.weights is None else data.weights)
    assert prepared.class_counts.sum(axis=1).tolist() == [len(part.X) for part in parts]
    assert prepared.classes.dtype == data.classes.dtype
    assert np.array_equal(prepared.classes, data.classes)
    assert [row.tolist() for row in prepared.class_counts] == [
        np.bincount(part.y, minlength=len(data.classes)).tolist() for part in parts
    ]
    assert prepared.categories == data.categories


# ---------------------------------------------------------------------------------------------------- as locally


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
def test_arrays_are_what_a_local_fit_learns_from(session, cuts, dtype):
    X, y = numbers(dtype=np.float64 if dtype == np.int16 else dtype)
    X = np.nan_to_num(X * 10).astype(dtype) if dtype == np.int16 else X
    assert_same(prepare(session, as_array(X, cuts), as_array(y, cuts)), session, learnt_locally(X, y))


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("class_weight", [None, "balanced", {"no": 2.5, "yes": 0.3}])
def test_frames_with_categories_and_weights_are_what_a_local_fit_learns_from(session, cuts, class_weight):
    X, y = mixed()
    weights = np.random.default_rng(1).random(N).round(1)
    for w in (None, weights):
        given = {"class_weight": class_weight, "categorical_features": "from_dtype"}
        sample_weight = None if w is None else as_array(w, cuts)
        prepared = prepare(session, as_frame(X, cuts), as_frame(y, cuts), sample_weight, **given)
        assert_same(prepared, session, learnt_locally(X, y, w, **given))


@pytest.mark.parametrize("columns", [["level", "colour", "kind"], [1, 2, 3], [False, True, True, True], "from_dtype"])
def test_categorical_columns_are_named_as_locally(session, columns):
    X, y = mixed(3)
    prepared = prepare(session, as_frame(X, (10, 10)), as_frame(y, (10, 10)), categorical_features=columns)
    assert_same(prepared, session, learnt_locally(X, y, categorical_features=columns))


@pytest.mark.parametrize("cuts", CUTS)
def test_equal_weights_of_categories_tie_for_every_partitioning(session, cuts):
    # 0.1 three times is not 0.3, but for the order of equal categories it must be.
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], N // 2)
    X = np.stack([rng.permutation(np.repeat(np.arange(6), 5)) for _ in range(2)]).ravel()[:, None].astype(float)
    given = {"class_weight": {0: 0.1, 1: 0.7}, "categorical_features": [0]}
    assert_same(prepare(session, as_array(X, cuts), as_array(y, cuts), **given), session, learnt_locally(X, y, **given))


def test_a_column_of_objects_is_categorical_if_any_partition_has_text_in_it(session):
    X = pd.DataFrame({"a": np.arange(N) % 5, "b": np.arange(N) % 3}).astype(object)
    y = np.arange(N) % 2
    X.loc[3, "b"] = None
    for text in (False, True):
        if text:
            X.loc[N - 1, "a"] = "many"
        with dask.config.set({"dataframe.convert-string": False}):
            prepared = prepare(session, as_frame(X, (20,)), as_array(y, (20,)), categorical_features="from_dtype")
        assert_same(prepared, session, learnt_locally(X, y, categorical_features="from_dtype"))


@pytest.mark.parametrize(
    "kind", ["object", "str", "string[pyarrow]", "category", "U", "int8", "bool", "float", "Int64"]
)
def test_labels_of_all_kinds(session, kind):
    X, y = numbers()
    if kind in ("object", "str", "string[pyarrow]", "category", "U"):
        y = np.array(["left", "right", "straight on"])[y]
    y = pd.Series(y).astype(kind) if kind != "U" else y
    labels = as_array(y, (25,)) if kind == "U" else as_frame(y, (25,))
    assert_same(
        prepare(session, as_array(X, (25,)), labels), session, learnt_locally(X, np.asarray(y) if kind == "U" else y)
    )


def test_labels_that_grow_longer_or_wider_in_later_partitions(session):
    X, _ = numbers()
    for y in (np.repeat(["a", "abc"], N // 2), np.repeat(np.array([True, False]), N // 2)):
        parts = [y[:30], y[30:].astype(int) if y.dtype == bool else y[30:]]
        parts[0] = parts[0].astype("U1") if y.dtype.kind == "U" else parts[0]
        labels = da.concatenate([da.from_array(part, chunks=-1) for part in parts])
        assert_same(prepare(session, as_array(X, (30,)), labels), session, learnt_locally(X, np.concatenate(parts)))


def test_one_class_and_one_row(session):
    X, y = numbers()
    for n in (1, N):
        prepared = prepare(session, as_array(X[:n], (1,)), as_array(0 * y[:n], (1,)))
        assert_same(prepared, session, learnt_locally(X[:n], 0 * y[:n]))


def test_columns_in_chunks_and_labels_in_other_chunks(session):
    X, y = numbers()
    collections = da.from_array(X, chunks=(20, 2)), da.from_array(y, chunks=7), da.from_array(y + 1.0, chunks=13)
    assert_same(prepare(session, *collections), session, learnt_locally(X, y, y + 1.0))


def test_unknown_chunk_sizes_and_one_column_frames(session):
    X, y = mixed()
    X = X[["size", "level"]]
    frame = as_frame(X.assign(y=y), (20, 20))
    spy = learnt_locally(X, y)
    assert_same(prepare(session, frame[["size", "level"]], frame[["y"]]), session, spy)
    array = frame[["size", "level"]].values
    assert np.isnan(array.shape[0])
    for labels in (frame["y"], da.from_array(y.to_numpy(), chunks=((20, 0, 40),))):
        prepared = prepare(session, array, labels)
        assert np.array_equal(np.concatenate([p.X for p in arrays_of(prepared, session)]), spy.seen.X)
        assert np.array_equal(np.concatenate([p.y for p in arrays_of(prepared, session)]), spy.seen.y)


def test_parquet(session, tmp_path):
    X, y = mixed()
    X = X.drop(columns="kind").assign(y=y)
    for part, (start, stop) in enumerate(bounds((20, 45))):
        X.iloc[start:stop].to_parquet(tmp_path / f"{part}.parquet")
    frame = dd.read_parquet(tmp_path)
    own = prepare(session, frame.drop(columns="y"), frame["y"], categorical_features="from_dtype")
    assert_same(own, session, learnt_locally(X.drop(columns="y"), y, categorical_features="from_dtype"))
    assert len(own.partitions) == frame.npartitions


# ---------------------------------------------------------------------------------------------------- where data are


def test_persisted_numbers_are_used_as_they_are_and_stay(client, session):
    X, y = numbers()
    X, y = as_array(X, (15, 30)).persist(), as_array(y, (15, 30)).persist()
    own_keys = [part.key for part in X.to_delayed().ravel()]
    with Session(client) as first:
        assert [part.X.key for part in prepare(first, X, y).partitions] == own_keys
    assert_same(prepare(session, X, y), session, learnt_locally(*dask.compute(X, y)))
    # Where examples weigh nothing, the others are copied.
    weights = da.where(da.arange(len(X), chunks=X.chunks[0]) == 20, 0.0, 1.0)
    keys = [part.X.key for part in prepare(session, X, y, weights).partitions]
    assert [key == own for key, own in zip(keys, own_keys, strict=True)] == [True, False, True]
    del first
    gc.collect()
    assert client.gather(client.compute(X)).shape == X.shape


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_persisted_numbers_outlive_an_error(client, error):
    X, y = numbers()
    X, y = as_array(X, (15,)).persist(), as_array(y, (15,)).persist()
    with pytest.raises(error) as kept, Session(client) as session:  # noqa: PT012
        mine = prepare(session, X, y).partitions
        raise error
    assert kept.tb is not None
    assert mine
    where = client.who_has(X)
    assert len(where) == 2
    assert all(where.values())
    assert client.gather(client.compute(X)).shape == X.shape


CALLS = []


def make_frame(start):
    CALLS.append(start)
    return pd.DataFrame({"a": np.arange(start, start + 5.0), "y": np.arange(5) % 2})


def make_block(rows):
    CALLS.append(len(rows))
    return np.stack([rows, rows % 2], axis=1)


def test_what_x_and_y_are_made_of_is_computed_once(session):
    frame = dd.from_map(make_frame, [0, 5, 10], meta=make_frame(0).iloc[:0])
    CALLS.clear()
    prepare(session, frame[["a"]], frame["y"], frame["a"] + 1.0)
    assert sorted(CALLS) == [0, 5, 10]
    CALLS.clear()
    both = da.arange(12, chunks=4).map_blocks(make_block, new_axis=1, chunks=((4, 4, 4), (2,)), meta=np.empty((0, 0)))
    prepare(session, both[:, :1], both[:, 1])
    assert CALLS == [4, 4, 4]


def keys_on(client):
    return client.run_on_scheduler(lambda dask_scheduler: sorted(map(str, dask_scheduler.tasks)))


def wait_until_gone(client):
    for _ in range(100):
        if not keys_on(client):
            return []
        time.sleep(0.05)
    return keys_on(client)


def test_only_the_partitions_are_left_and_then_nothing(client):
    X, y = numbers()
    gc.collect()
    assert wait_until_gone(client) == []
    with Session(client) as session:
        prepared = prepare(session, as_array(X, (15, 30)), as_array(y, (15, 30)))
        wait([future for part in prepared.partitions for future in part[:2]])
        for _ in range(100):
            in_memory = sum(client.run(lambda dask_worker: len(dask_worker.data)).values())
            if in_memory == 6:  # X and y of three partitions
                break
            time.sleep(0.05)
        assert in_memory == 6
    assert wait_until_gone(client) == []


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_nothing_is_left_after_an_error_whose_traceback_is_kept(client, error):
    X, y = numbers()
    gc.collect()
    with pytest.raises(error) as kept, Session(client) as session:  # noqa: PT012
        mine = prepare(session, as_array(X, (15,)), as_array(y, (15,))).partitions
        session.submit(time.sleep, 0.01)
        raise error
    assert wait_until_gone(client) == []
    assert kept.tb is not None
    assert all(future.cancelled() for one in mine for future in (one.X, one.y))


def test_leaving_when_the_scheduler_is_gone_hides_no_error_and_raises_none():
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50)
    client = Client(cluster)
    with pytest.raises(KeyError, match="of the fit"), Session(client) as session:  # noqa: PT012
        future = session.submit(np.zeros, 3)
        assert session._futures == {future.key: future}
        cluster.close()
        raise KeyError("of the fit")
    assert session._futures == {}
    client.close()
    with Session(client) as session:
        session._futures["left"] = future
    assert session._futures == {}


def address(part):
    return get_worker().address


def test_a_question_is_answered_where_the_data_are(client, session):
    workers = sorted(client.nthreads())
    parts = [session.submit(np.ones, 10, workers=[worker]) for worker in workers]
    wait(parts)
    # Dask deals many tasks of one name out anew, to whoever has nothing to do.
    for order in (slice(None), slice(None, None, -1)):
        assert [session.ask([(address, part) for part in parts[order]]) for _ in range(20)] == [workers[order]] * 20


def test_a_round_is_counted(session):
    part = session.submit(np.ones, 1000)
    question = np.arange(500.0)
    answers = session.ask([(np.multiply, part, 2.0), (np.multiply, question, 3.0), (np.multiply, question, 2.0)])
    assert [answer.tolist() for answer in answers] == [
        [2.0] * 1000,
        (3.0 * question).tolist(),
        (2.0 * question).tolist(),
    ]
    traffic = session.traffic
    assert (traffic.rounds, traffic.tasks) == (1, 3)
    assert 16_000 <= traffic.received < 17_000
    assert session.ask([(np.sum, [part, part])]) == [2000.0]
    assert traffic.rounds == 2


# ---------------------------------------------------------------------------------------------------- what is wrong


def frame_of(*parts):
    return dd.from_delayed([dask.delayed(part) for part in parts], meta=parts[0].iloc[:0], verify_meta=False)


def array_of(*parts, dtype=None):
    meta = parts[0] if dtype is None else np.empty(0, dtype)
    blocks = [da.from_delayed(dask.delayed(part), part.shape, meta=meta[:0]) for part in parts]
    return da.concatenate(blocks)


PAIR = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
TWO = pd.Series([0, 1])
MIXED = np.array(["a", "b", "a", 1], dtype=object)  # not a series: Dask may turn its labels into text


def replaced(**columns):
    return PAIR.assign(**columns)


@pytest.mark.parametrize(
    ("X", "y", "weights", "message"),
    [
        (frame_of(PAIR, PAIR, PAIR.rename(columns={"b": "c"})), frame_of(TWO, TWO, TWO), None,
         r"partition 2 of X has columns \['a', 'c'\], the others have \['a', 'b'\]"),
        (frame_of(PAIR, PAIR[["b", "a"]]), frame_of(TWO, TWO), None, r"partition 1 of X has columns \['b', 'a'\]"),
        (frame_of(PAIR, replaced(b=[np.inf, 1])), frame_of(TWO, TWO), None,
         "partition 1 of X has an infinite value in column 'b'"),
        (array_of(np.ones((2, 3)), np.array([[1, 2, -np.inf]])), array_of(np.ones(2), np.ones(1)), None,
         "partition 1 of X has an infinite value in column 2"),
        (frame_of(PAIR, replaced(a=["one", "2"])), frame_of(TWO, TWO), None,
         ("partition 1 of X: could not convert string to float: column 'a' holds text .'one'.; "
          ".*name it in categorical_features, or encode it$")),
        (frame_of(*[replaced(a=["one", "2"])] * 2), frame_of(TWO, TWO), None,
         ("partition 0 of X: could not convert string to float: column 'a' holds text .'one'.; "
          'use categorical_features="from_dtype", name it in categorical_features, or encode it$')),
        (frame_of(PAIR, PAIR), frame_of(TWO, pd.Series([1.0, np.nan])), None, "partition 1 of y has a missing label"),
        (frame_of(PAIR, PAIR), frame_of(pd.Series(["a", None]), pd.Series(["a", "b"])), None,
         "partition 0 of y has a missing label"),
        (frame_of(PAIR, PAIR), frame_of(TWO, pd.Series([1.0, 2.5])), None,
         "partition 1 of y has the label 2.5: .*continuous"),
        (frame_of(PAIR, PAIR), frame_of(TWO, pd.Series(["a", "b"])), None,
         "labels are text in partition 1 of y and numbers in partition 0"),
        (frame_of(PAIR, PAIR), array_of(MIXED[:2], MIXED[2:]), None,
         "partition 1 of y has labels of type int and str"),
        (frame_of(PAIR, PAIR), frame_of(TWO, TWO), frame_of(TWO, pd.Series([1.0, -2.0])),
         r"partition 1 of sample_weight has a weight that is negative \(-2.0\)"),
        (frame_of(PAIR, PAIR), frame_of(TWO, TWO), frame_of(pd.Series([np.nan, 1.0]), TWO),
         r"partition 0 of sample_weight has a weight that is not a finite number \(nan\)"),
        (frame_of(PAIR, PAIR), frame_of(TWO, TWO), frame_of(0 * TWO, 0 * TWO), "all weights are zero"),
        (frame_of(PAIR, PAIR), frame_of(TWO, TWO[:1]), None, "partition 1 of X has 2 rows, that of y has 1"),
        (frame_of(PAIR, PAIR), frame_of(TWO), None, "X has 2 partitions, but y has 1"),
        (frame_of(PAIR, PAIR), frame_of(TWO, TWO), frame_of(TWO), "but sample_weight has 1"),
        (da.ones((4, 2)), da.ones(5), None, "X has 4 rows, but y has 5"),
        (da.ones(4), da.ones(4), None, "X must have a row for each example"),
        (da.ones((4, 2)), da.ones((4, 2)), None, "y must have one column"),
        (da.ones((0, 2)), da.ones(0), None, "X has no rows"),
        (frame_of(PAIR.iloc[:0]), frame_of(TWO[:0]), None, "X has no rows"),
        (da.ones((4, 0)), da.ones(4), None, "X has no columns"),
    ],
    ids=range(23),
)  # fmt: skip
def test_what_is_wrong_is_said_with_the_partition(session, X, y, weights, message):
    with pytest.raises(ValueError, match=message):
        prepare(session, X, y, weights)


def test_data_in_memory_are_for_the_local_classifier(session):
    for X in (PAIR, PAIR.to_numpy(), [[1.0]], dask.delayed(PAIR)):
        with pytest.raises(TypeError, match="OC1Classifier"):
            prepare(session, X, frame_of(TWO))
    for y in (TWO, TWO.to_numpy(), None):
        with pytest.raises(TypeError, match="y must be a Dask"):
            prepare(session, frame_of(PAIR), y)


def test_negative_class_weights_and_unknown_columns(session):
    with pytest.raises(ValueError, match="class_weight must be finite and not negative"):
        prepare(session, frame_of(PAIR), frame_of(TWO), class_weight={0: -1.0, 1: 1.0})
    with pytest.raises(ValueError, match="no such column"):
        prepare(session, frame_of(PAIR), frame_of(TWO), categorical_features=["c"])


# ---------------------------------------------------------------------------------------------------- exact weights


@pytest.mark.parametrize("scale", [1e-300, 1e-5, 1.0, 1e300])
def test_weights_of_classes_add_up_exactly(scale):
    rng = np.random.default_rng(0)
    column = rng.integers(5, size=200).astype(float)
    column[::11] = np.nan
    y, weights = rng.integers(3, size=200), scale * 10.0 ** rng.uniform(-6, 6, size=200)
    whole = exact_class_weights(column, 5, y, 3, weights)
    parts = [exact_class_weights(column[a:b], 5, y[a:b], 3, weights[a:b]) for a, b in bounds((0, 33, 150), 200)]
    assert (np.sum(parts, axis=0) == whole).all()
    order = rng.permutation(200)
    rounded = class_weights(column, 5, y, 3, weights)
    assert np.array_equal(class_weights(column[order], 5, y[order], 3, weights[order]), rounded)
    for cell in np.ndindex(5, 3):
        assert rounded[cell] == math.fsum(weights[(column == cell[0]) & (y == cell[1])])

"""`DaskOC1Classifier`: the local tree, wherever the rows are; clear errors, and nothing left on the workers."""

import asyncio
import copy
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

pytest.importorskip("distributed")

import dask
import dask.array as da
import dask.dataframe as dd
from distributed import Client, Future, LocalCluster, futures_of
from waiting import MAX_WAIT_SECONDS, comes_true, workers_return

from oc1 import OC1Classifier, load_model, save_model
from oc1.dask import ClusterError, DaskOC1Classifier, clusters
from oc1.dask import session as holding
from oc1.dask.engine import ClusterEngine, ClusterExamples
from oc1.dask.session import Session
from oc1.data import sampling
from oc1.data import search_space as scaling

N, LARGE = 2100, 700
QUICK = {"n_restarts": 2, "n_jumps": 1, "max_depth": 2, "random_state": 0}
SHALLOW = {**QUICK, "max_depth": 1}
QUIET = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
WHOLE, EVEN = (), (500, 1000, 1500)
UNEVEN = (0, 30, 900, 900, 901, 2090, N)  # the first, one in the middle and the last are empty


@pytest.fixture(scope="module")
def clients():
    """Clients of clusters in this process, by the number of workers; none is the default one."""
    kept = {}

    def make(n_workers):
        if n_workers not in kept:
            cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=False, **QUIET)
            kept[n_workers] = cluster, Client(cluster, set_as_default=False)
        return kept[n_workers][1]

    yield make
    for cluster, client in kept.values():
        client.close()
        cluster.close()


@pytest.fixture
def client(clients):
    return clients(2)


@pytest.fixture(scope="module")
def processes():
    """A client of two worker processes that are started again when they die."""
    with dask.config.set({"distributed.comm.timeouts.connect": MAX_WAIT_SECONDS}):  # a busy machine needs a while
        own = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, memory_limit="1GiB", **QUIET)
    with own as cluster, Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture
def small(monkeypatch):
    """Let small data be treated as large ones are."""
    monkeypatch.setattr(OC1Classifier, "_large", LARGE)
    monkeypatch.setattr(DaskOC1Classifier, "_max_moved_bytes", 0)
    monkeypatch.setattr(scaling, "MAX_SAMPLED_ROWS", 300)
    monkeypatch.setattr(sampling, "MAX_RANKED_EXAMPLES", LARGE)


def rows(n=N, n_classes=2, seed=0):
    """Return examples that no single plane divides."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    value = X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.5 * X[:, 2] * X[:, 3] + 0.2 * rng.normal(size=n)
    return X, np.digitize(value, np.quantile(value, np.arange(1, n_classes) / n_classes))


def with_holes(X, y, seed=1):
    """Leave values out, of one attribute mostly in one class."""
    rng = np.random.default_rng(seed)
    X = X.copy()
    X[rng.random(len(X)) < 0.1, 0] = np.nan
    X[rng.random(len(X)) < np.where(y == 1, 0.5, 0.05), 3] = np.nan
    return X


def with_categories(n=N, seed=0):
    X, y = rows(n, seed=seed)
    rng = np.random.default_rng(seed + 1)
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"])
    frame["colour"] = np.array(["red", "green", "blue", "grey"])[(2 * y + rng.integers(3, size=n)) % 4]
    frame["kind"] = pd.Categorical(np.array(["x", "y", "z"])[rng.integers(3, size=n)])
    frame.loc[::17, "colour"] = None
    return frame, pd.Series(np.where(y == 1, "yes", "no"), name="answer")


def spread(values, cuts=EVEN):
    """Return a Dask collection whose partitions end at the cuts."""
    bounds = list(zip((0, *cuts), (*cuts, len(values)), strict=True))
    if isinstance(values, np.ndarray):
        return da.from_array(values, chunks=(tuple(stop - start for start, stop in bounds), *values.shape[1:]))
    parts = [dask.delayed(values.iloc[start:stop]) for start, stop in bounds]
    return dd.from_delayed(parts, meta=values.iloc[:0], verify_meta=False)


def learn(client, X, y, cuts=EVEN, weights=None, **parameters):
    own = None if weights is None else spread(weights, cuts)
    return DaskOC1Classifier(client=client, **parameters).fit(spread(X, cuts), spread(y, cuts), own)


def assert_same(there, here):
    """Compare all that a fit learns; `there` was searched by all workers together."""
    assert there.tree_.to_dict() == here.tree_.to_dict()
    assert there.unpruned_tree_.to_dict() == here.unpruned_tree_.to_dict()
    np.testing.assert_array_equal(np.array(there.pruning_path_.tolist()), np.array(here.pruning_path_.tolist()))
    if here.max_leaf_nodes is None:  # a cluster searches more nodes than are kept then
        assert there.n_hyperplanes_ == here.n_hyperplanes_
    assert np.array_equal(there.feature_importances_, here.feature_importances_)
    assert there.classes_.dtype == here.classes_.dtype
    assert here.get_n_leaves() > 1


def n_held(client):
    return sum(client.run(lambda dask_worker: len(dask_worker.data)).values())


def n_tasks(client):
    return client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))


def assert_nothing_left(client, but=0):
    assert comes_true(lambda: n_held(client) == but and n_tasks(client) == but), (n_held(client), n_tasks(client))


# ---------------------------------------------------------------------------------------------------- parameters


def test_the_constructors_are_equal_but_for_the_client():
    local, here = (dict(signature(kind).parameters) for kind in (OC1Classifier, DaskOC1Classifier))
    client = here.pop("client")
    assert client.default is None
    assert here == local
    assert list(here) == list(local)
    assert DaskOC1Classifier().get_params() == {"client": None, **OC1Classifier().get_params()}
    for name in local:
        assert DaskOC1Classifier(**{name: "something"}).get_params()[name] == "something"
    with pytest.raises(TypeError, match="unknown"):
        DaskOC1Classifier(unknown=1)


def test_parameters_are_checked_as_locally(client):
    for wrong in ({"n_restarts": -1}, {"criterion": "none"}, {"client": "tcp://host:8786"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            DaskOC1Classifier(**{"client": client, **wrong}).fit(*map(spread, rows()))


def test_a_clone_has_the_client_and_a_copy_the_tree(client):
    X, y = rows(200)
    clf = DaskOC1Classifier(client=client).set_params(n_restarts=3, random_state=0, class_weight={0: 2.0})
    assert repr(clf).startswith("DaskOC1Classifier(")
    assert "n_restarts=3" in repr(clf)
    clf.fit(spread(X, (50,)), spread(y, (50,)))
    cloned = clone(clf)
    assert cloned.client is client
    assert cloned.get_params() == clf.get_params()
    assert not hasattr(cloned, "tree_")
    for other in (pickle.loads(pickle.dumps(clf)), copy.copy(clf), copy.deepcopy(clf)):
        assert type(other) is DaskOC1Classifier
        assert other.client is None
        assert {**other.get_params(), "client": client} == clf.get_params()
        assert np.array_equal(other.predict(X), clf.predict(X))
    assert clf.client is client


# ---------------------------------------------------------------------------------------------------- the same tree


@pytest.mark.parametrize(("n_workers", "cuts"), [(1, UNEVEN), (2, UNEVEN), (4, EVEN)])
def test_any_number_of_workers_and_any_partitioning_give_the_local_tree(clients, small, n_workers, cuts):
    X, y = rows()
    there = learn(clients(n_workers), X, y, cuts, random_state=0)
    assert_same(there, OC1Classifier(random_state=0).fit(X, y))
    assert there.n_searched_ > 1
    assert there.get_n_leaves() > there.n_searched_ + 1  # some nodes were finished by one worker


def test_threads_of_a_worker_share_its_partitions(small):
    X, y = rows()
    with (
        LocalCluster(n_workers=1, threads_per_worker=3, processes=False, **QUIET) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        there = learn(client, X, y, UNEVEN, **QUICK)
    assert_same(there, OC1Classifier(**QUICK).fit(X, y))
    assert there.n_searched_ > 0


def test_small_nodes_wait_until_all_large_ones_are_divided(client, small, monkeypatch):
    seen = []

    def note(kind, name):
        original = getattr(kind, name)

        def noted(self, *args):
            seen.append(name)
            return original(self, *args)

        monkeypatch.setattr(kind, name, noted)

    note(ClusterExamples, "divide")
    note(ClusterEngine, "_grow_on_a_worker")
    learn(client, *rows())
    assert seen.count("divide") > 2
    assert seen == sorted(seen, reverse=True)
    assert seen[-1] == "_grow_on_a_worker"


def test_many_answers_are_added_up_by_the_workers(client, small, monkeypatch):
    # As if each partition were on a worker of its own: where they are is for Dask to say.
    monkeypatch.setattr(Session, "together", lambda self, futures: [[number] for number in futures])
    X, y = rows()
    here = OC1Classifier(**QUICK).fit(X, y)
    usual = learn(client, X, y, **QUICK)
    monkeypatch.setattr(holding, "MAX_CALLS_PER_SUM", 1)
    there = learn(client, X, y, **QUICK)
    assert_same(there, here)
    assert there.traffic_.rounds == usual.traffic_.rounds
    assert there.traffic_.tasks > usual.traffic_.tasks


def test_partitions_of_one_class_each_give_the_local_tree(client, small):
    X, y = rows(n_classes=3)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    cuts = tuple(np.cumsum(np.bincount(y))[:-1].tolist())
    assert_same(learn(client, X, y, cuts, **QUICK), OC1Classifier(**QUICK).fit(X, y))


def misplaced(left, right):
    return min(left[0], left[1]) + min(right[0], right[1]) + 0.01 * (left.sum() - right.sum()) ** 2 / 1000.0


OPTIONS = {
    "gini": {"criterion": "gini"},
    "info_gain": {"criterion": "info_gain", "prune": None},
    "max_minority": {"criterion": "max_minority", "prune": None},
    "own measure": {"criterion": misplaced, "prune": None},
    "axis": {"splits": "axis"},
    "oblique": {"splits": "oblique"},
    "holdout": {"prune": "holdout", "max_depth": 4},
    "cv": {"prune": "cv", "splits": "axis", "max_depth": 1},
    "unpruned": {"prune": None, "max_depth": 3, "ccp_alpha": 0.01},
    "best": {"order": "best"},
    "random": {"order": "random", "n_perturbations": 5, "prune": None},
    "positive": {"normalize": "positive", "prune": None},
    "terms": {"max_terms": 2},
    "terms of the purest": {"max_terms": 2, "prune": None},
    "bias": {"axis_bias": 1.5, "prune": None},
    "leaves": {"max_leaf_nodes": 3, "max_depth": 3},
    "leaves of the purest": {"max_leaf_nodes": 4, "max_depth": 3, "prune": None},
    "least leaf": {"min_samples_leaf": 400, "max_depth": None},
    "least share": {"min_samples_leaf": 0.07, "min_samples_split": 0.2, "max_depth": None},
    "least weight": {"min_weight_fraction_leaf": 0.07, "max_depth": None},
    "least split": {"min_samples_split": 900, "min_impurity_decrease": 0.01, "max_depth": None, "prune": None},
    "as in the paper": {"normalize": "positive", "prune": "holdout", "n_restarts": 3},
    "classes": {"class_weight": {0: 2, 1: 3}},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_give_the_local_tree(client, small, name):
    X, y = rows()
    parameters = {**QUICK, **OPTIONS[name]}
    there = learn(client, X, y, UNEVEN, **parameters)
    assert_same(there, OC1Classifier(**parameters).fit(X, y))
    assert there.n_searched_ > 0


def test_the_papers_preset_searches_in_rounds_on_a_cluster(client, small):
    X, y = rows()
    there, here = learn(client, X, y, UNEVEN, preset="paper", **QUICK), OC1Classifier(preset="paper", **QUICK).fit(X, y)
    assert there.n_searched_ > 0
    assert there.to_local().score(X, y) == pytest.approx(here.score(X, y), abs=0.05)


@pytest.mark.parametrize(
    ("missing", "splits", "prune"),
    [("mean", "auto", "auto"), ("direction", "auto", "auto"), ("mean", "auto", None), ("direction", "axis", None)],
)
def test_missing_values_give_the_local_tree(client, small, missing, splits, prune):
    X, y = rows()
    X = with_holes(X, y)
    parameters = {**QUICK, "missing": missing, "splits": splits, "prune": prune, "n_restarts": 1}
    here = OC1Classifier(**parameters).fit(X, y)
    assert_same(learn(client, X, y, UNEVEN, **parameters), here)
    assert (missing == "direction" and splits == "axis") <= bool(len(here.unpruned_tree_.missing))


@pytest.mark.parametrize("criterion", ["twoing", "sum_of_variances"])
def test_three_classes_give_the_local_tree(client, small, criterion):
    X, y = rows(n_classes=3)
    parameters = {**QUICK, "criterion": criterion}
    assert_same(learn(client, X, y, UNEVEN, **parameters), OC1Classifier(**parameters).fit(X, y))


@pytest.mark.parametrize("prune", ["auto", "holdout"])
def test_categories_give_the_local_tree(client, small, prune):
    X, y = with_categories()
    parameters = {**QUICK, "categorical_features": "from_dtype", "missing": "direction", "prune": prune}
    there, here = learn(client, X, y, UNEVEN, **parameters), OC1Classifier(**parameters).fit(X, y)
    assert_same(there, here)
    assert [None if own is None else own.tolist() for own in there.categories_] == [
        None if own is None else own.tolist() for own in here.categories_
    ]
    assert there.feature_names_in_.tolist() == ["a", "b", "colour", "kind"]
    assert np.array_equal(there.predict(spread(X)).compute(), here.predict(X))
    assert_nothing_left(client)


def test_whole_weights_give_the_local_tree(client, small):
    X, y = rows()
    weights = np.random.default_rng(2).integers(4, size=N)  # some are 0: these are left out
    for prune in ("auto", "holdout"):
        parameters = {**QUICK, "prune": prune}
        here = OC1Classifier(**parameters).fit(X, y, weights)
        assert_same(learn(client, X, y, UNEVEN, weights, **parameters), here)
        # Counts are in effective samples, without what is held out.
        effective = weights.sum() ** 2 / (weights**2).sum()
        expected = effective if prune == "auto" else 0.9 * effective
        assert here.unpruned_tree_.counts[0].sum() == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("prune", ["auto", None])
@pytest.mark.parametrize("cuts", [WHOLE, UNEVEN])
def test_fractional_weights_give_the_local_tree_up_to_rounding(client, small, cuts, prune):
    X, y = rows(n_classes=3)
    weights = np.random.default_rng(2).random(N) + 0.1
    parameters = {**QUICK, "class_weight": "balanced", "prune": prune}
    here = OC1Classifier(**parameters).fit(X, y, weights).tree_.to_dict()
    there = learn(client, X, y, cuts, weights, **parameters).tree_.to_dict()
    for name in ("children", "terms", "features", "classes"):
        assert there[name] == here[name]
    for name in ("coefficients", "thresholds", "counts", "gains", "gaps", "fill"):
        np.testing.assert_allclose(there[name], here[name], rtol=1e-9, atol=1e-9)
    assert len(here["children"]) > 1


@pytest.mark.parametrize("more", [0, 1])
def test_at_the_threshold_both_ways_give_the_local_tree(client, small, more):
    X, y = rows(LARGE + more)
    there = learn(client, X, y, (0, 100, 300), random_state=0)
    assert_same(there, OC1Classifier(random_state=0).fit(X, y))
    assert (there.n_searched_ > 0) == bool(more)
    assert there.traffic_.rounds > 0


def test_small_data_are_fitted_by_one_worker_as_locally(processes):
    X, y = with_categories(400)
    weights = np.arange(400) % 3
    parameters = {"categorical_features": "from_dtype", "random_state": 3, "class_weight": "balanced"}
    there = learn(processes, X, y, (0, 100), weights, **parameters)
    here = OC1Classifier(**parameters).fit(X, y, weights)
    assert_same(there, here)
    assert there.n_searched_ == 0
    assert np.array_equal(there.predict_proba(X), here.predict_proba(X))


def test_other_processes_give_the_local_tree(processes, small):
    """Nothing that is patched here is patched there: what workers need comes with the tasks."""
    X, y = rows()
    X = with_holes(X, y)

    def uneven(left, right):  # what workers cannot import
        return min(left[0], left[1]) + min(right[0], right[1]) + 1e-6 * left.sum() * right.sum()

    for own in ({"missing": "direction"}, {"criterion": uneven, "prune": "holdout"}):
        parameters = {**QUICK, **own}
        assert_same(learn(processes, X, y, UNEVEN, **parameters), OC1Classifier(**parameters).fit(X, y))
    assert_nothing_left(processes)


def test_one_class_is_a_leaf(client, small):
    X, _ = rows()
    clf = learn(client, X, np.full(N, 7), UNEVEN, **QUICK)
    assert clf.get_n_leaves() == 1
    assert set(clf.predict(X)) == {7}


def test_a_random_state_goes_on_as_locally(client, small):
    X, y = rows()
    parameters = {**SHALLOW, "prune": "holdout"}
    one, other = np.random.RandomState(5), np.random.RandomState(5)
    local = OC1Classifier(**{**parameters, "random_state": one})
    clf = DaskOC1Classifier(client=client, **{**parameters, "random_state": other})
    trees = []
    for _ in range(2):
        assert_same(clf.fit(spread(X), spread(y)), local.fit(X, y))
        trees.append(clf.tree_.to_dict())
    assert trees[0] != trees[1]
    assert one.randint(10**9) == other.randint(10**9)


# ---------------------------------------------------------------------------------------------------- collections


def test_arrays_frames_and_files_give_the_same_tree(client, small, tmp_path):
    X, y = rows()
    labels = np.where(y == 1, "yes", "no")
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    both = frame.assign(answer=labels)
    for part, (start, stop) in enumerate(((0, 900), (900, N))):
        both.iloc[start:stop].to_parquet(tmp_path / f"{part}.parquet")
    stored = dd.read_parquet(tmp_path)
    unknown = spread(frame).to_dask_array()
    assert np.isnan(unknown.shape[0])
    here = OC1Classifier(**SHALLOW).fit(frame, labels)
    plain = OC1Classifier(**SHALLOW).fit(X, labels)
    given = [
        (spread(frame), spread(pd.Series(labels)), here),
        (stored[["a", "b", "c", "d"]], stored["answer"], here),
        (stored[["a", "b", "c", "d"]], stored[["answer"]], here),
        (spread(X), spread(labels), plain),
        (da.from_array(X, chunks=(700, 2)), da.from_array(labels, chunks=999), plain),
        (unknown, spread(labels), plain),
        (spread(np.asfortranarray(X)), spread(labels), plain),
    ]
    for own_X, own_y, local in given:
        clf = DaskOC1Classifier(client=client, **SHALLOW).fit(own_X, own_y)
        assert clf.tree_.to_dict() == local.tree_.to_dict()
        assert clf.classes_.tolist() == ["no", "yes"]
        assert clf.n_features_in_ == 4
        assert hasattr(clf, "feature_names_in_") == hasattr(local, "feature_names_in_")
        assert clf.score(own_X, own_y) == pytest.approx(local.score(X if local is plain else frame, labels))


def test_float32_and_whole_numbers_give_the_local_tree(client, small):
    X, y = rows()
    for own in (X.astype(np.float32), np.round(5.0 * X).astype(np.int16)):
        assert_same(learn(client, own, y, UNEVEN, **SHALLOW), OC1Classifier(**SHALLOW).fit(own, y))


def test_another_fit_forgets_the_names(client, small):
    X, y = rows()
    clf = DaskOC1Classifier(client=client, **SHALLOW)
    clf.fit(spread(pd.DataFrame(X, columns=["a", "b", "c", "d"])), spread(y))
    assert clf.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    clf.fit(spread(X), spread(y))
    assert not hasattr(clf, "feature_names_in_")


def test_to_local_is_the_local_model(client, small, tmp_path):
    X, y = rows(n_classes=3)
    frame, labels = pd.DataFrame(X, columns=["a", "b", "c", "d"]), np.array(["low", "middle", "high"])[y]
    clf = learn(client, frame, labels, **QUICK)
    here, local = OC1Classifier(**QUICK).fit(frame, labels), clf.to_local()
    assert type(local) is OC1Classifier
    assert local.get_params() == here.get_params()
    assert local.__dict__.keys() == here.__dict__.keys()
    assert_same(local, here)
    assert local.feature_names_in_.tolist() == here.feature_names_in_.tolist()
    with pytest.raises(TypeError, match=r"not DaskOC1Classifier: give what its \.to_local\(\) returns"):
        save_model(clf, tmp_path / "model.json")
    save_model(local, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    collection = spread(frame, (0, 800, 1600))
    for method in ("predict", "predict_proba", "predict_log_proba", "apply"):
        expected = getattr(here, method)(frame)
        for model in (local, clf, loaded, pickle.loads(pickle.dumps(clf))):
            assert np.array_equal(getattr(model, method)(frame), expected)
        lazy = getattr(clf, method)(collection)
        assert dask.is_dask_collection(lazy)
        assert np.array_equal(client.gather(client.compute(lazy)), expected)
    with pytest.raises(ValueError, match="not fitted"):
        DaskOC1Classifier().to_local()


def test_a_notebook_shows_the_tree_without_its_examples(client, small):
    X, y = rows()
    shown = learn(client, X, y, **QUICK)._repr_mimebundle_()["text/html"]
    assert "oc1-tree" in shown
    assert "<svg" not in shown  # the examples stayed on the workers


def test_scores_are_those_of_the_local_model(client):
    X, y = rows(300)
    weights = np.random.default_rng(0).random(300)
    clf = learn(client, X, y, (100,), random_state=0, max_depth=2)
    here, frame = clf.to_local(), pd.DataFrame(X)
    cuts = (0, 120)
    for own_X in (spread(X, cuts), spread(frame, cuts)):
        for own_y, own_weights in (
            (spread(y, cuts), spread(weights, cuts)),
            (spread(pd.Series(y), cuts), spread(pd.Series(weights), cuts)),
        ):
            assert clf.score(own_X, own_y) == pytest.approx(here.score(X, y), rel=1e-12)
            assert clf.score(own_X, own_y, own_weights) == pytest.approx(here.score(X, y, weights), rel=1e-12)
    assert clf.score(X, y, weights) == here.score(X, y, weights)
    assert here.score(X, y) < 1.0


# ---------------------------------------------------------------------------------------------------- what it costs


def test_verbose_tells_rounds_and_bytes(client, small, capsys):
    X, y = rows()
    quiet = learn(client, X, y, **QUICK)
    assert capsys.readouterr().out == ""
    clf = learn(client, X, y, verbose=1, **QUICK)
    *nodes, last = capsys.readouterr().out.splitlines()
    assert last == str(clf.traffic_)
    assert last.startswith(f"cluster: {clf.traffic_.rounds} rounds with {clf.traffic_.tasks} tasks, ")
    assert last.endswith(" MB received")
    assert len([line for line in nodes if line.startswith("depth")]) == clf.unpruned_tree_.n_nodes // 2
    OC1Classifier(verbose=1, **QUICK).fit(X, y)
    assert sorted(nodes) == sorted(capsys.readouterr().out.splitlines())
    assert clf.tree_.to_dict() == quiet.tree_.to_dict()


def test_rounds_and_bytes_do_not_grow_with_the_rows(client, small, monkeypatch):
    ask, sizes = Session.ask, []

    def weighed(self, calls):
        calls = list(calls)
        sizes[-1].extend(pickled_size(args) for _, *args in calls)
        return ask(self, calls)

    monkeypatch.setattr(Session, "ask", weighed)
    traffic = []
    for n in (2000, 16_000):
        sizes.append([])
        traffic.append(learn(client, *rows(n), (n // 2,), **SHALLOW).traffic_)
        assert 0 < traffic[-1].rounds <= traffic[-1].tasks
        assert 0 < max(sizes[-1]) < 10e6
    assert traffic[1].rounds < 4 * traffic[0].rounds
    assert sum(sizes[1]) < 4 * sum(sizes[0])


def pickled_size(argument):
    """Return the bytes that an argument takes on its way to a worker; futures take none."""
    if isinstance(argument, Future):
        return 0
    if isinstance(argument, list | tuple):
        return sum(map(pickled_size, argument))
    return len(pickle.dumps(argument))


# ---------------------------------------------------------------------------------------------------- faults


def in_round(monkeypatch, number, what):
    """Do something once, when a fit asks for the given time."""
    ask, lock, done = Session.ask, threading.Lock(), []

    def interfered(self, calls):
        with lock:
            now = self.traffic.rounds >= number and not done
            if now:
                done.append(number)
        if now:
            what()
        return ask(self, calls)

    monkeypatch.setattr(Session, "ask", interfered)
    return done


@pytest.mark.slow
@pytest.mark.parametrize(("number", "persisted"), [(1, False), (12, False), (12, True)])
def test_a_killed_worker_does_not_change_the_tree(processes, small, monkeypatch, number, persisted):
    assert workers_return(processes.cluster, 2)
    X, y = rows()
    parameters = {**QUICK, "max_depth": 4}
    here = OC1Classifier(**parameters).fit(X, y)
    before = processes.run(os.getpid)
    killed = in_round(monkeypatch, number, lambda: os.kill(min(before.values()), signal.SIGKILL))
    collections = [spread(X, UNEVEN), spread(y, UNEVEN)]
    if persisted:
        collections = processes.persist(collections)
        processes.gather(futures_of(collections))
    there = DaskOC1Classifier(client=processes, **parameters).fit(*collections)
    assert killed
    assert there.traffic_.rounds > number + 5
    assert_same(there, here)
    assert workers_return(processes.cluster, 2)
    assert min(before.values()) not in processes.run(os.getpid).values()
    del collections
    assert_nothing_left(processes)


CLUSTER = """
from distributed import LocalCluster
options = dict(n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=":0")
with LocalCluster(**options) as cluster:
    print(cluster.scheduler_address, flush=True)
    input()
"""


def test_a_lost_scheduler_is_told_and_the_estimator_stays_as_it_was(small, monkeypatch):
    monkeypatch.setattr(clusters, "MAX_SILENT_SECONDS", 3.0)
    X, y = rows()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-c", CLUSTER], text=True, **pipes) as process:
        try:
            with Client(process.stdout.readline().strip(), set_as_default=False) as client:
                clf = learn(client, X[:200], y[:200], (50,), **QUICK)
                tree = clf.tree_
                done = in_round(monkeypatch, 6, process.kill)
                with pytest.raises(ClusterError, match="the connection to the Dask scheduler was lost"):
                    clf.set_params(max_depth=5).fit(spread(X), spread(y))
                assert done
                assert clf.tree_ is tree
                assert clf.predict(X[:5]).shape == (5,)
        finally:
            process.kill()


class Broken(Exception):
    """What a user's own code may raise."""


def fails_in_one(block, block_info=None):
    if block_info[0]["chunk-location"][0] == 2:
        raise Broken("cannot read")
    return block


def wrong(kind):
    """Return (X, y, further arguments, error, what it says) of data that cannot be fitted."""
    X, y = rows()
    frame, half = pd.DataFrame(X, columns=["a", "b", "c", "d"]), N // 2
    if kind == "columns":
        parts = [frame[:half], frame[half:].rename(columns={"c": "e"})]
        X = dd.from_delayed([dask.delayed(part) for part in parts], meta=frame[:0], verify_meta=False)
        return X, spread(y, (half,)), {}, ValueError, r"partition 1 of X has columns \['a', 'b', 'e', 'd'\]"
    if kind == "labels":
        parts = [pd.Series(y[:half].astype(float)), pd.Series(np.where(y[half:] == 1, "yes", "no"))]
        y = dd.from_delayed([dask.delayed(part) for part in parts], meta=parts[0][:0], verify_meta=False)
        return spread(frame, (half,)), y, {}, ValueError, "labels are text in partition 1 of y and numbers in"
    return spread(X).map_blocks(fails_in_one, dtype=float, meta=X[:0]), spread(y), {}, Broken, "cannot read"


@pytest.mark.parametrize("kind", ["columns", "labels", "task"])
def test_what_is_wrong_is_said_and_nothing_is_left_behind(client, small, kind):
    X, y = rows()
    clf = learn(client, X, y, **QUICK)
    assert_nothing_left(client)
    before = dict(clf.__dict__)
    given = wrong(kind)
    with pytest.raises(given[3], match=given[4]) as caught:
        clf.fit(*given[:2], **given[2])
    assert_nothing_left(client)  # though the traceback is still there
    assert caught.tb is not None
    assert clf.__dict__ == before
    assert clf.score(X, y) > 0.6


@pytest.mark.parametrize("error", [Broken, KeyboardInterrupt])
@pytest.mark.parametrize("number", [4, 15])
def test_nothing_is_left_behind_where_a_fit_is_interrupted(client, small, monkeypatch, error, number):
    X, y = rows()

    def interrupt():
        raise error("enough")

    done = in_round(monkeypatch, number, interrupt)
    clf = DaskOC1Classifier(client=client, **{**QUICK, "max_depth": 5})
    with pytest.raises(error) as caught:
        clf.fit(spread(X), spread(y))
    assert done
    assert_nothing_left(client)
    assert caught.tb is not None
    assert not hasattr(clf, "tree_")


def test_only_what_the_user_persisted_stays(client, small):
    X, y = rows()
    X, y = client.persist([spread(X), spread(y)])
    client.gather(futures_of([X, y]))
    n_kept = n_held(client)
    assert n_kept > 0
    clf = DaskOC1Classifier(client=client, **{**QUICK, "prune": "holdout", "max_depth": 4})
    assert clf.fit(X, y) is clf
    assert comes_true(lambda: n_held(client) == n_kept)
    with pytest.raises(ValueError, match="not negative"):
        clf.set_params(class_weight={0: -1.0}).fit(X, y)
    assert comes_true(lambda: n_held(client) == n_kept)
    assert clf.score(X, y) > 0.6


# ---------------------------------------------------------------------------------------------------- refusals


def test_the_client_may_be_the_one_that_was_made_last(client):
    X, y = rows(200)
    clf = DaskOC1Classifier(random_state=0)
    with pytest.raises(ValueError, match=r"there is no Dask client: make one with dask\.distributed\.Client"):
        clf.fit(spread(X, ()), spread(y, ()))
    with client.as_current():
        assert clf.fit(spread(X, ()), spread(y, ())).get_n_leaves() > 1
    assert clf.client is None


def test_an_asynchronous_client_is_refused(client):
    X, y = rows(200)

    async def attempt():
        async with Client(client.scheduler.address, asynchronous=True, set_as_default=False) as own:
            DaskOC1Classifier(client=own).fit(spread(X, ()), spread(y, ()))

    with pytest.raises(ValueError, match="the client is asynchronous"):
        asyncio.run(attempt())


def test_data_in_memory_are_for_the_local_classifier(client):
    X, y = rows(200)
    with pytest.raises(TypeError, match="for data in memory use OC1Classifier"):
        DaskOC1Classifier(client=client).fit(X, y)
    with pytest.raises(TypeError, match="y must be a Dask array or a Dask series"):
        DaskOC1Classifier(client=client).fit(spread(X, ()), y)


def test_drawing_attributes_needs_all_examples_in_one_place(client, small):
    X, y = rows(LARGE + 1)
    clf = DaskOC1Classifier(client=client, max_features=1, **QUICK)
    with pytest.raises(ValueError, match="max_features=1 needs all examples in one place, at most 700 on a cluster"):
        clf.fit(spread(X, (100,)), spread(y, (100,)))
    assert_nothing_left(client)
    here = OC1Classifier(max_features=1, **QUICK).fit(X[:LARGE], y[:LARGE])
    assert_same(clf.fit(spread(X[:LARGE], (100,)), spread(y[:LARGE], (100,))), here)

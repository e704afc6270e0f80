"""Fits on the workers of a cluster: the same numbers, also when workers die; clear errors when the cluster does."""

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError
from dataclasses import asdict

import joblib
import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

pytest.importorskip("distributed")

import dask
from command_line import start
from distributed import Client, LocalCluster, wait
from waiting import MAX_WAIT_SECONDS, comes_true, obeying_ctrl_c, workers_return

from oc1 import OC1Classifier, OC1EnsembleClassifier, OC1ForestClassifier, compare, load_model
from oc1.cli.app import app
from oc1.dask import clusters
from oc1.dask.clusters import ClusterError, clear_failures, connect, find_address, on_cluster
from oc1.evaluation.protocol import cross_validate
from oc1.experiments import definitions
from oc1.experiments import reproduce as runner
from oc1.experiments.definitions import Experiment, cross
from oc1.tree.text import text

QUICK = {"n_restarts": 1, "n_jumps": 0}
QUIET = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes that are started again when they die."""
    with dask.config.set({"distributed.comm.timeouts.connect": MAX_WAIT_SECONDS}):  # a busy machine needs a while
        own = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **QUIET)
    with own:
        yield own


@pytest.fixture(scope="module")
def address(cluster):
    return cluster.scheduler_address


@pytest.fixture(scope="module")
def threads():
    """Two workers in this process: quick to start."""
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, **QUIET) as own:
        yield own


@pytest.fixture
def csv(tmp_path, rcb):
    path = tmp_path / "rcb.csv"
    X, y = rcb
    path.write_text("a,b,class\n" + "".join(f"{a!r},{b!r},{c}\n" for (a, b), c in zip(X.tolist(), y, strict=True)))
    return path


@pytest.fixture
def plan():
    small, smaller = OC1Classifier(**QUICK), OC1Classifier(max_depth=1, **QUICK)
    return Experiment("tiny", "A tiny plan", "none", cross(("POL", "RCB"), {"small": small, "smaller": smaller}), ())


def timeless(records):
    return [{name: value for name, value in asdict(record).items() if name != "seconds"} for record in records]


def run(*arguments, code=0):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == code, done.stderr
    return done


def without_seconds(value):
    if isinstance(value, dict):
        return {key: without_seconds(own) for key, own in value.items() if key != "seconds"}
    return [without_seconds(own) for own in value] if isinstance(value, list) else value


# --- the same numbers


def test_joblib_runs_on_the_workers_whatever_it_is_asked_for(address):
    with on_cluster(address) as client:
        workers = set(client.run(os.getpid).values())
        for options in ({}, {"n_jobs": 1}, {"n_jobs": 2, "prefer": "threads"}):
            assert set(Parallel(**options)(delayed(os.getpid)() for _ in range(4))) <= workers
    assert set(Parallel(n_jobs=1)(delayed(os.getpid)() for _ in range(2))) == {os.getpid()}


def test_records_are_the_same_as_on_one_machine(address, rcb):
    learners = {
        "OC1": OC1Classifier(**QUICK),
        "vote": OC1EnsembleClassifier(n_estimators=3),
        "other": LogisticRegression(),
    }
    here = cross_validate(learners, *rcb, repeats=2)
    with on_cluster(address):
        there = cross_validate(learners, *rcb, repeats=2)
    assert timeless(here) == timeless(there)


def test_compare_is_the_same_as_on_one_machine(address, pol):
    options = {"repeats": 1, "folds": 2, "random_state": 0, "progress": False}
    here = compare(*pol, **options)
    with on_cluster(address):
        there = compare(*pol, **options)
    assert timeless(here.records) == timeless(there.records)
    assert (here.findings, here.advice) == (there.findings, there.advice)


def test_a_forest_is_the_same(address, noisy):
    X, y = noisy
    forest = OC1ForestClassifier(n_estimators=6, bootstrap=True, oob_score=True, random_state=0)
    here, score = forest.fit(X, y).apply(X), forest.oob_score_
    with on_cluster(address):
        there = forest.fit(X, y)
        assert np.array_equal(here, there.apply(X))
        assert there.oob_score_ == score


@pytest.mark.parametrize("where", ["ours", "joblib's"])
def test_a_vote_has_the_same_trees(address, noisy, where):
    X, y = noisy
    weights = np.arange(len(y)) % 3
    vote = OC1EnsembleClassifier(n_estimators=4, bootstrap=True, oob_score=True, max_features=3, random_state=0)
    here = vote.fit(X, y, weights)
    trees, score, votes = [text(tree) for tree in here.estimators_], here.oob_score_, here.predict_proba(X)
    if where == "ours":
        with on_cluster(address):
            there = vote.fit(X, y, weights)
            again = there.predict_proba(X)
    else:
        with Client(address) as client, joblib.parallel_config(backend="dask", client=client):
            there = vote.fit(X, y, weights)
            again = there.predict_proba(X)
    assert [text(tree) for tree in there.estimators_] == trees
    assert there.oob_score_ == score
    assert np.array_equal(votes, again)


def test_an_error_of_the_work_stays_what_it_is(address, rcb):
    X, y = rcb
    with on_cluster(address), pytest.raises(ValueError, match=r"max_samples=0\.5 needs bootstrap"):
        cross_validate({"vote": OC1EnsembleClassifier(max_samples=0.5)}, X, y, repeats=1)


# --- what is sent


def test_data_are_sent_once_and_forgotten_afterwards(threads, monkeypatch):
    X = np.random.default_rng(0).normal(size=(50_000, 6))
    monkeypatch.setattr(clusters, "MAX_BYTES_PER_TASK", 500_000)
    sent = []
    with Client(threads) as client:
        submit = client.submit

        def weigh(function, *arguments, **options):
            sent.append(sum(len(argument) for argument in arguments if isinstance(argument, bytes)))
            return submit(function, *arguments, **options)

        monkeypatch.setattr(client, "submit", weigh)
        with on_cluster(client):
            sums = Parallel()(delayed(lambda power: float((X**power).sum()))(power) for power in range(8))
            assert sums == [float((X**power).sum()) for power in range(8)]
            assert comes_true(lambda: not threads.scheduler.tasks)
    assert X.nbytes <= sum(sent) < 1.1 * X.nbytes
    assert max(sent) <= 500_000


def test_frames_reach_the_workers(address):
    polars = pytest.importorskip("polars")
    X = np.random.default_rng(0).normal(size=(2000, 3))
    frame = polars.DataFrame(X, schema=["a", "b", "c"])
    y = np.where(X[:, 0] > X[:, 1], "yes", "no")
    with on_cluster(address):
        there = OC1EnsembleClassifier(n_estimators=2, random_state=0).fit(frame, y)
    here = OC1EnsembleClassifier(n_estimators=2, random_state=0).fit(frame, y)
    assert [text(tree) for tree in there.estimators_] == [text(tree) for tree in here.estimators_]


# --- faults


def reproduce(plan, out, **options):
    return runner.reproduce(plan, out, repeats=2, n_samples=150, say=lambda line: None, **options)


def interfere(monkeypatch, after, what):
    """Do something when so many records have come, while others are still to come."""
    run_tasks = runner.run_tasks

    def interfered(tasks, n_jobs):
        assert len(tasks) > after + 4
        for number, record in enumerate(run_tasks(tasks, n_jobs)):
            if number == after:
                what()
            yield record

    monkeypatch.setattr(runner, "run_tasks", interfered)


@pytest.mark.slow
def test_killed_workers_do_not_change_the_results(cluster, address, plan, tmp_path, monkeypatch):
    here = reproduce(plan, tmp_path / "here")
    monkeypatch.setattr(clusters, "MIN_SHARED_BYTES", 0)  # so that the workers that die hold all the data
    with on_cluster(address) as client:
        before = client.run(os.getpid)

        def kill():
            for process in before.values():
                os.kill(process, signal.SIGKILL)

        interfere(monkeypatch, 3, kill)
        there = reproduce(plan, tmp_path / "there")
        assert workers_return(cluster, 2)
        assert not set(before.values()) & set(client.run(os.getpid).values())
    assert json.dumps(here) == json.dumps(there)


@pytest.mark.slow
def test_a_run_that_lost_the_scheduler_goes_on_later(plan, tmp_path, monkeypatch):
    monkeypatch.setattr(clusters, "MAX_CONNECTING_SECONDS", 60.0)
    monkeypatch.setattr(definitions, "make_experiments", lambda: {"tiny": plan})
    file = tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    tool = [sys.executable, "-m", "dask"]
    scheduler = subprocess.Popen(
        [*tool, "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)], **quiet
    )
    worker = None
    command = ("reproduce", "tiny", "--quick", "--repeats", 2)
    try:
        assert comes_true(lambda: (file.exists() and bool(file.read_text())) or scheduler.poll() is not None)
        worker = subprocess.Popen(
            [*tool, "worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-dashboard", "--no-nanny"], **quiet
        )
        connect(str(file), timeout=MAX_WAIT_SECONDS).close()  # as soon as there is a worker
        with monkeypatch.context() as only_now:
            interfere(only_now, 3, scheduler.kill)
            failed = run(*command, "-o", tmp_path / "out", "--dask", file, code=1)
        problem = "error: the connection to the Dask scheduler was lost; run the same command to continue"
        assert failed.stderr.splitlines()[-1] == problem
        assert "Traceback" not in failed.stderr
        monkeypatch.setattr(clusters, "MAX_CONNECTING_SECONDS", 2.0)
        assert "answers at" in run(*command, "-o", tmp_path / "out", "--dask", _address(file), code=1).stderr
    finally:
        for process in filter(None, (worker, scheduler)):
            process.kill()
            process.wait()
    went_on = run(*command, "-o", tmp_path / "out")
    assert "of 40 folds are already in" in went_on.stderr
    run(*command, "-o", tmp_path / "whole")
    results = [(tmp_path / name / "results.json").read_text() for name in ("out", "whole")]
    assert results[0] == results[1]


def _address(file):
    return json.loads(file.read_text())["address"]


def test_a_cluster_without_workers_is_given_up_but_not_what_others_began():
    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, **QUIET) as own,
        Client(own) as client,
    ):
        earlier = client.submit(int, 5)
        wait(earlier)
        own.scale(0)
        with pytest.raises(ClusterError, match="no workers left"), clear_failures(client, patience=0.5):
            client.submit(int, 7).result()
        assert earlier.status != "cancelled"
        with pytest.raises(ClusterError, match="has no workers: start some"):
            connect(own.scheduler_address, timeout=2.0)


@pytest.mark.slow
def test_work_that_kills_its_workers_is_told_as_such(cluster, address, monkeypatch):
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    with pytest.raises(ClusterError, match="memory"), on_cluster(address) as client:
        client.submit(os._exit, 1, pure=False).result()
    with connect(address) as client:
        assert workers_return(cluster, 2)


def test_cancelled_work_is_told_as_such(threads):
    with Client(threads) as client:
        future = client.submit(time.sleep, 1)
        future.cancel()
        with pytest.raises(ClusterError, match="gave up the work"), clear_failures(client):
            future.result()
        with pytest.raises(ZeroDivisionError), clear_failures(client):
            client.submit(divmod, 1, 0).result()


def test_cancelled_elsewhere_is_still_an_error(threads):
    with Client(threads) as client, pytest.raises(ClusterError) as caught, clear_failures(client):
        raise CancelledError
    assert isinstance(caught.value.__cause__, CancelledError)


@pytest.mark.parametrize("address", ["", "nonsense", "tcp://host", "http://host:80", "host:port", "no/such/file.json"])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(ValueError, match="no address of a Dask scheduler, such as tcp://host:8786, and no scheduler"):
        find_address(address)


@pytest.mark.parametrize("answer", [b"", b"SSH-2.0-OpenSSH_9.6\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
def test_a_server_of_another_kind_is_told_as_such(answer):
    with socket.create_server(("127.0.0.1", 0)) as server:
        kept = []
        threading.Thread(target=lambda: kept.append(_answer(server, answer)), daemon=True).start()
        with pytest.raises(ClusterError, match="no Dask scheduler answers at tcp://127"):
            connect(f"tcp://127.0.0.1:{server.getsockname()[1]}", timeout=0.5)
        for one in kept:
            one.close()


def _answer(server, answer):
    """Say something to the first who asks, and keep the connection open."""
    connection, _ = server.accept()
    connection.sendall(answer)
    return connection


def test_a_file_that_is_no_scheduler_file_is_refused(tmp_path):
    path = tmp_path / "scheduler.json"
    for content in ("{", "{}", "[]"):
        path.write_text(content)
        with pytest.raises(ValueError, match="is no scheduler file"):
            connect(str(path))


def test_workers_must_have_the_same_version(threads, monkeypatch):
    with monkeypatch.context() as only_now:
        only_now.setattr(clusters, "__version__", "0.0.0")
        with pytest.raises(ClusterError, match=r"has oc1 .+, here is 0\.0\.0: they must be the same"):
            connect(threads.scheduler_address)
    monkeypatch.setitem(sys.modules, "oc1", None)
    with pytest.raises(ClusterError, match="has no oc1: install oc1"):
        connect(threads.scheduler_address)


# --- the command line


def test_cv_and_compare_print_the_same_numbers(csv, address):
    for command in (("cv", csv, "-l", "oc1", "-l", "vote", "-k", 2), ("compare", csv, "-k", 2, "-r", 1)):
        here, there = (
            json.loads(run(*command, "--json", *more).stdout) for more in ((), ("--dask", address, "--jobs", 1))
        )
        assert without_seconds(here) == without_seconds(there)


def test_train_grows_votes_on_the_cluster(csv, address, tmp_path):
    command = ("train", csv, "-l", "vote", "-P", "n_estimators=3", "--json")
    here = json.loads(run(*command, "-o", tmp_path / "here.json").stdout)
    there = json.loads(run(*command, "-o", tmp_path / "there.json", "--dask", address).stdout)
    assert without_seconds(here | {"model": ""}) == without_seconds(there | {"model": ""})
    assert [text(tree) for tree in load_model(tmp_path / "here.json").estimators_] == [
        text(tree) for tree in load_model(tmp_path / "there.json").estimators_
    ]


def test_train_says_what_the_option_is_for(csv):
    assert "--dask is for --learner vote" in run("train", csv, "--dask", "tcp://host:8786", code=2).stderr


@pytest.mark.parametrize("command", [("cv",), ("compare",), ("train", "-l", "vote")])
def test_commands_refuse_bad_addresses(csv, command, tmp_path, monkeypatch):
    monkeypatch.setattr(clusters, "MAX_CONNECTING_SECONDS", 0.3)
    name, *more = command
    out = ("-o", tmp_path / "model.json") if name == "train" else ()
    refused = run(name, csv, *more, *out, "--dask", "nonsense", code=2)
    target, error = refused.stderr.splitlines()
    assert target.startswith("target: class")
    assert error.startswith("error: --dask 'nonsense' is no address of a Dask scheduler")
    unreachable = run(name, csv, *more, *out, "--dask", "tcp://127.0.0.1:1", code=1)
    assert unreachable.stderr.splitlines()[-1] == "error: no Dask scheduler answers at tcp://127.0.0.1:1"
    assert not (tmp_path / "model.json").exists()


def test_without_dask_the_commands_say_how_to_get_it(csv, monkeypatch):
    for name in [name for name in sys.modules if name == "oc1.dask" or name.startswith("oc1.dask.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "distributed", None)
    refused = run("cv", csv, "--dask", "tcp://host:8786", code=1)
    assert 'pip install "oc1[dask]"' in refused.stderr.splitlines()[-1]


@pytest.mark.slow
def test_ctrl_c_stops_the_work_on_the_cluster_too(cluster, address, csv):
    with obeying_ctrl_c():
        process = start("cv", str(csv), "--repeats", "500", "--dask", address)
    has_begun = lambda: any("_call" in str(key) for key in list(cluster.scheduler.tasks))  # noqa: E731
    assert comes_true(lambda: has_begun() or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=MAX_WAIT_SECONDS)
    assert process.returncode == 130, err
    assert out == ""
    assert "Traceback" not in err
    assert comes_true(lambda: not cluster.scheduler.tasks)

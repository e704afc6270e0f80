"""A tree on a cluster: against the same fit on one machine, and on more rows than it would like to hold.

    python benchmarks/bench_dask.py --persist            # 1,000,000 x 10, local and on two workers, in one run
    python benchmarks/bench_dask.py --rows 20e6 --alone  # 20,000,000 x 10, on two workers of 4 GiB each
    python benchmarks/bench_dask.py --data clean --workers 4

Rows are made on the workers, a partition at a time. What is printed: seconds and their ratio, whether the two trees are
equal, rounds and bytes, the largest task that the scheduler was given, and the peak memory of the client (which runs
the scheduler, too) and of the workers.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait
from distributed.diagnostics.plugin import SchedulerPlugin
from distributed.protocol import pickle

from oc1 import OC1Classifier, warmup
from oc1.dask import DaskOC1Classifier

#: Rows of a partition.
PARTITION = 250_000


def make_rows(kind: str, n: int, d: int, seed: int) -> np.ndarray:
    """Make rows whose last column is the class."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    if kind == "wavy":  # no plane is right: many nodes
        y = X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.5 * X[:, 2] * X[:, 3] > 0.0
    else:
        direction = np.random.default_rng(99).normal(size=d)
        y = X @ direction > 0.0 if kind != "bands" else np.floor(X @ direction / 3.0) % 2 > 0
    if kind in ("noisy", "wavy"):
        y ^= rng.random(n) < 0.05
    return np.column_stack([X, y])


class LargestTask(SchedulerPlugin):
    """Notes the size of the largest task that the scheduler is given."""

    name = "largest-task"

    def __init__(self) -> None:
        self.largest = 0

    def transition(self, key, start, finish, *args, **kwargs) -> None:  # noqa: D102
        if start == "released" and finish in ("waiting", "no-worker", "queued", "processing"):
            task = self.scheduler.tasks.get(key)
            if task is not None and task.run_spec is not None:
                self.largest = max(self.largest, len(pickle.dumps(task.run_spec)))

    async def start(self, scheduler) -> None:  # noqa: D102
        self.scheduler = scheduler


def peak_mib() -> float:
    """Return the peak memory of this process, as Linux tells it; that of getrusage is inherited from the parent."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024.0


def collection(kind: str, n: int, d: int):
    """Return (X, y) as Dask arrays that are made on the workers."""
    sizes = [PARTITION] * (n // PARTITION) + ([n % PARTITION] if n % PARTITION else [])
    make = dask.delayed(make_rows)
    blocks = [da.from_delayed(make(kind, m, d, i), (m, d + 1), float) for i, m in enumerate(sizes)]
    rows = da.concatenate(blocks)
    return rows[:, :d], rows[:, d].astype(np.int64)


def warm_up() -> None:
    """Load compiled code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # joblib thinks of processes where we ask for threads
        warmup()


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--data", choices=("noisy", "clean", "bands", "wavy"), default="wavy")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="4GiB")
    parser.add_argument("--alone", action="store_true", help="only on the cluster")
    parser.add_argument("--persist", action="store_true", help="make the rows before the fit, which else makes them")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    n, d = int(given.rows), given.columns
    print(f"{n:,} x {d}, {given.data}")
    local = None
    if not given.alone:
        sizes = [PARTITION] * (n // PARTITION) + ([n % PARTITION] if n % PARTITION else [])
        rows = np.concatenate([make_rows(given.data, m, d, i) for i, m in enumerate(sizes)])
        X, y = rows[:, :d].copy(), rows[:, d].astype(np.int64)
        warm_up()
        begin = time.perf_counter()
        local = OC1Classifier(random_state=given.seed, n_jobs=given.workers).fit(X, y)
        local_seconds = time.perf_counter() - begin
        print(f"local, {given.workers} threads: {local_seconds:.1f} s, {local.get_n_leaves()} leaves", flush=True)
    with (
        LocalCluster(
            n_workers=given.workers, threads_per_worker=1, memory_limit=given.memory, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        plugin = LargestTask()
        cluster.scheduler.add_plugin(plugin)
        plugin.scheduler = cluster.scheduler
        client.run(warm_up)
        X, y = collection(given.data, n, d)
        if given.persist:
            begin = time.perf_counter()
            X, y = dask.persist(X, y)
            wait([X, y])
            print(f"rows made on the workers: {time.perf_counter() - begin:.1f} s", flush=True)
        begin = time.perf_counter()
        model = DaskOC1Classifier(random_state=given.seed).fit(X, y)
        seconds = time.perf_counter() - begin
        print(f"{given.workers} workers of {given.memory}: {seconds:.1f} s, {model.get_n_leaves()} leaves")
        if local is not None:
            print(f"ratio {seconds / local_seconds:.2f}, trees equal: {local.tree_.to_dict() == model.tree_.to_dict()}")
        print(f"accuracy {model.score(X, y):.4f} on these rows")
        print(model.traffic_)
        searched = max(1, model.n_searched_)
        print(
            f"{model.n_searched_} nodes searched by all workers, {model.traffic_.rounds / searched:.0f} rounds a node"
        )
        print(f"largest task that the scheduler was given: {plugin.largest / 1e6:.3f} MB")
        workers = " ".join(f"{peak:.0f}" for peak in client.run(peak_mib).values())
        print(f"peak memory: client and scheduler {peak_mib():.0f} MiB, workers {workers} MiB")


if __name__ == "__main__":
    main()

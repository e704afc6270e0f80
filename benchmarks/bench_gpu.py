"""Fits with the examples on a GPU: seconds, the same tree or not, memory of the device, and how fast it counts.

::

    python benchmarks/bench_gpu.py                       # all fits; --fit waves for some of them
    python benchmarks/bench_gpu.py --counting            # the bandwidth of the counting kernel instead
    python benchmarks/bench_gpu.py --fit plane10 --where # where the time of a fit goes instead

Kernels are compiled before anything is measured. Absolute times count here, of one machine, which is named.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import platform
import pstats
import time
from importlib.util import find_spec
from typing import Any

import cupy
import numpy as np
from bench_cores import MILLION, drawn, plane, waves
from sklearn.ensemble import HistGradientBoostingClassifier

from oc1 import OC1Classifier, warmup
from oc1.cuda.device import DeviceSlice, open_device
from oc1.growing.rounds import Line, packed

#: Name: examples, attributes, boundary, whether the processor fits it, too.
FITS = {
    "plane": (MILLION, 10, plane, True),
    "waves": (MILLION, 10, waves, True),
    "plane10": (10 * MILLION, 10, plane, True),
    "waves10": (10 * MILLION, 10, waves, False),
}
N_CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def fit(X: Any, y: Any, device: str) -> tuple[float, OC1Classifier]:
    """Fit once; return the seconds and the model."""
    model, start = OC1Classifier(random_state=0, n_jobs=N_CORES, device=device), time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start, model


def peak_bytes() -> int:
    """Return what the pool of the device has had to ask for, since it was emptied."""
    return int(cupy.get_default_memory_pool().total_bytes())


def compare(names: list[str]) -> None:
    """Print a table of fits."""
    print("| fit, float32 | processor | GPU, from numpy | GPU, data there | same tree | leaves | peak memory / data |")
    print("|---" * 7 + "|", flush=True)
    pool = cupy.get_default_memory_pool()
    for name in names:
        n, d, boundary, is_compared = FITS[name]
        X, y = drawn(n, d, boundary, "float32")
        there = cupy.asarray(X), cupy.asarray(y)
        models, cells = [], []
        for device, data in (("cpu", (X, y)), ("cuda", (X, y)), ("cuda", there)):
            if device == "cpu" and not is_compared:
                cells.append("-")
                continue
            pool.free_all_blocks()
            before = peak_bytes()
            seconds, model = fit(*data, device)
            models.append(model.tree_.to_dict())
            cells.append(f"{seconds:.2f}")
            if data is not there and device == "cuda":
                share = (peak_bytes() - before) / X.nbytes
        is_same = all(tree == models[0] for tree in models)
        print(
            f"| {name} {n:,} x {d} | {' | '.join(cells)} | {is_same} | {model.get_n_leaves()} | {share:.2f} |",
            flush=True,
        )
        seen = model.predict(there[0])
        assert isinstance(seen, cupy.ndarray)
        start = time.perf_counter()
        model.predict(there[0]).sum().get()
        on_device = time.perf_counter() - start
        start = time.perf_counter()
        answers = model.predict(X)
        print(
            f"  predict: {1e3 * on_device:.1f} ms on the device, {1e3 * (time.perf_counter() - start):.0f} ms on the "
            f"processor; equal: {bool((seen.get() == answers).all())}",
            flush=True,
        )


def compare_with_peers(names: list[str]) -> None:
    """Print what other learners on this machine take for one tree, and which could not be had."""
    absent = [name for name in ("cuml", "xgboost", "lightgbm") if find_spec(name) is None]
    print(f"not to be had here: {', '.join(absent) or 'nothing'}", flush=True)
    for name in names:
        n, d, boundary, _ = FITS[name]
        X, y = drawn(n, d, boundary, "float32")
        fresh, _ = drawn(100_000, d, boundary, "float32", seed=1)
        clean = boundary(fresh) > 0.0
        ours = OC1Classifier(random_state=0, n_jobs=N_CORES, device="cuda")
        tree = HistGradientBoostingClassifier(max_iter=1, max_leaf_nodes=1000, learning_rate=1.0, early_stopping=False)
        for what, model in (("ours", ours), ("one tree of scikit-learn's histogram boosting", tree)):
            start = time.perf_counter()
            model.fit(X, y)
            seconds, right = time.perf_counter() - start, np.mean(model.predict(fresh) == clean)
            print(f"{name} {n:,} x {d}, {what}: {seconds:.2f} s, {right:.2%} right without noise", flush=True)


def seconds_of(task: Any, repeat: int = 20) -> float:
    """Return the time that the device takes, the median of several."""
    times = []
    for _ in range(repeat):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        task()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(begin, end) / 1e3)
    return float(np.median(times))


def bandwidth(n: int, d: int = 10) -> None:
    """Print how fast attributes are counted, beside how fast they are copied."""
    device, rng = open_device(), cupy.random.default_rng(0)
    columns = rng.standard_normal((d, n), dtype=np.float32)
    target = cupy.empty_like(columns)
    copied = seconds_of(lambda: cupy.copyto(target, columns))
    units, half = np.eye(d + 1), int(np.clip(2.0 ** np.round(np.log2(0.7 * np.sqrt(n / 2))), 64, 2048))
    lines = packed([Line(units[m], units[-1], d, 0.01, 0.7) for m in range(d)])
    part = DeviceSlice(columns, np.array([0, n // 2, n]), None, 1.0, None)
    launched: list[Any] = []
    function = device._functions["count_lines<unsigned int>"]

    def note(*arguments: Any, **options: Any) -> None:
        launched.append((arguments, options))
        function(*arguments, **options)

    device._functions["count_lines<unsigned int>"] = note
    start = time.perf_counter()
    counts, _ = device.count_lines(part, lines, half)
    whole = time.perf_counter() - start
    device._functions["count_lines<unsigned int>"] = function
    ((arguments, options),) = launched
    counted = seconds_of(lambda: function(*arguments, **options))
    assert counts.sum() == d * n
    print(
        f"{n:,} x {d}, {2 * half} buckets: copy {2 * columns.nbytes / copied / 1e12:.2f} TB/s (read and written), "
        f"count {columns.nbytes / counted / 1e12:.2f} TB/s (read), {1e6 * counted / d:.1f} us a line; "
        f"with launching and the answer {1e3 * whole:.2f} ms",
        flush=True,
    )


def where(name: str) -> None:
    """Print where the time of a fit goes."""
    n, d, boundary, _ = FITS[name]
    X, y = drawn(n, d, boundary, "float32")
    there = cupy.asarray(X), cupy.asarray(y)
    profile = cProfile.Profile()
    profile.enable()
    seconds, _ = fit(*there, "cuda")
    profile.disable()
    print(f"{name}: {seconds:.2f} s, this thread:", flush=True)
    pstats.Stats(profile).sort_stats("cumulative").print_stats(45)


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fit", choices=list(FITS), action="append", help="one of the fits; several times for several")
    parser.add_argument("--counting", action="store_true", help="the bandwidth of the counting kernel instead")
    parser.add_argument("--peers", action="store_true", help="other learners instead")
    parser.add_argument("--where", action="store_true", help="where the time goes instead")
    given = parser.parse_args()
    print(
        f"{open_device().name}, {N_CORES} cores, CuPy {cupy.__version__}, Python {platform.python_version()}",
        flush=True,
    )
    if given.counting:
        for n in (MILLION, 10 * MILLION, 50 * MILLION):
            bandwidth(n)
        return
    warmup()
    for device in ("cpu", "cuda"):  # what only large nodes need
        fit(*drawn(300_000, 4, plane, "float32"), device)
    if given.peers:
        compare_with_peers(given.fit or ["plane10", "waves"])
    elif given.where:
        for name in given.fit or list(FITS):
            where(name)
    else:
        compare(given.fit or list(FITS))


if __name__ == "__main__":
    main()

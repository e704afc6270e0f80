"""Time of converted models in onnxruntime (100,000 rows) and SQLite, beside the models themselves, and their sizes.

::

    python benchmarks/bench_to_onnx.py [FOLDER]

The folder has ``letter.csv``; without it that row is left out. All run in one thread.
"""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
import onnxruntime
from bench_classifier import best_time
from sklearn.datasets import load_digits, load_iris

from oc1 import OC1Classifier, OC1EnsembleClassifier
from oc1.baselines import LMDTClassifier
from oc1.conversion import to_onnx, to_python, to_sql
from oc1.datasets import make_rcb

N_ROWS = 100_000


def contestants(folder: Path):
    """Yield (name, model, rows)."""
    rcb, iris, digits = make_rcb(2000, random_state=0), load_iris(return_X_y=True), load_digits(return_X_y=True)
    yield "RCB", OC1Classifier(random_state=0).fit(*rcb), rcb[0]
    yield "iris", OC1Classifier(random_state=0).fit(*iris), iris[0]
    yield "digits", OC1Classifier(random_state=0).fit(*digits), digits[0]
    yield "digits, LMDT", LMDTClassifier(random_state=0).fit(*digits), digits[0]
    if (folder / "letter.csv").is_file():
        table = np.genfromtxt(folder / "letter.csv", delimiter=",", skip_header=1, dtype=str)
        X, y = table[:, :-1].astype(float), table[:, -1]
        yield "letter, axis-parallel", OC1Classifier(splits="axis", random_state=0).fit(X, y), X
    yield "RCB, vote of 11", OC1EnsembleClassifier(random_state=0).fit(*rcb), rcb[0]
    yield (
        "digits, vote of 11",
        OC1EnsembleClassifier(OC1Classifier(n_restarts=2), random_state=0).fit(*digits),
        digits[0],
    )


def sqlite_seconds(model, X: np.ndarray) -> float:
    """Return the time of a query on rows that are in memory, for each row."""
    connection = sqlite3.connect(":memory:")
    columns = [f"x{m + 1}" for m in range(X.shape[1])]
    connection.execute(f"CREATE TABLE rows ({', '.join(columns)})")
    connection.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * len(columns))})", X.tolist())
    query = to_sql(model, table="rows")
    start = perf_counter()
    connection.execute(query).fetchall()
    return (perf_counter() - start) / len(X)


def main() -> None:
    """Print a table."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    rng = np.random.default_rng(0)
    print(
        "| model | leaves | depth | ONNX, kB | Python, kB | SQL, kB | load, ms "
        "| model, ms | onnxruntime, ms | SQLite, us a row |"
    )
    print("|---" * 10 + "|")
    for name, model, examples in contestants(folder):
        X = examples[rng.integers(len(examples), size=N_ROWS)]
        X = X + 0.1 * examples.std(axis=0) * rng.normal(size=X.shape)
        content = to_onnx(model)
        start = perf_counter()
        session = onnxruntime.InferenceSession(content, options)
        load = perf_counter() - start
        assert np.array_equal(session.run(None, {"X": X})[1], model.predict_proba(X))
        own = best_time(lambda m=model, X=X: m.predict_proba(X), 5)
        other = best_time(lambda s=session, X=X: s.run(None, {"X": X}), 3)
        sizes = " | ".join(f"{len(one) / 1000:.0f}" for one in (content, to_python(model), to_sql(model, table="rows")))
        times = f"{load * 1e3:.0f} | {own * 1e3:.1f} | {other * 1e3:.0f} | {sqlite_seconds(model, X[:2000]) * 1e6:.0f}"
        print(f"| {name} | {model.get_n_leaves()} | {model.get_depth()} | {sizes} | {times} |", flush=True)


if __name__ == "__main__":
    main()

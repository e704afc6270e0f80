"""How large models are as C, and what rounding costs, on data sets of the paper.

::

    python benchmarks/bench_to_c.py [--data FOLDER]

The folder holds ``iris.csv`` and ``cancer.csv``: attributes, then a column ``class``. Needs gcc.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.table import Table

from oc1 import OC1Classifier, OC1EnsembleClassifier
from oc1.conversion import to_c
from oc1.datasets import make_rcb

KINDS = {
    "double": {"numbers": "double"},
    "float": {"numbers": "float"},
    "fixed 16": {"numbers": "fixed", "bits": 16},
    "fixed 32": {"numbers": "fixed", "bits": 32},
}


def object_size(text: str) -> int:
    """Return the bytes of code and tables of the function that returns the class, compiled for size."""
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder, "model.c"), Path(folder, "model.o")
        kind = text.split("With a row ")[1].split()[0]
        source.write_text(
            text + f"int predict(const {kind} *x);\nint predict(const {kind} *x) {{ return oc1_tree_predict(x); }}\n"
        )
        subprocess.run(["gcc", "-std=c99", "-Os", "-c", source, "-o", made], check=True)
        sizes = (
            subprocess.run(["size", made], check=True, capture_output=True, text=True).stdout.splitlines()[1].split()
        )
        return int(sizes[0]) + int(sizes[1])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    folder = parser.parse_args().data
    problems = {"RCB": make_rcb(random_state=0)}
    for name in ("iris", "cancer") if folder else ():
        frame = pd.read_csv(folder / f"{name}.csv")
        problems[name] = frame.drop(columns="class").to_numpy(float), frame["class"].to_numpy()
    table = Table("set", "model", "numbers", "leaves", "bytes", "rows", "different", "seconds to write")
    for name, (X, y) in problems.items():
        for title, model in (
            ("tree", OC1Classifier(random_state=0)),
            ("vote of 11", OC1EnsembleClassifier(random_state=0)),
        ):
            model.fit(X, y)
            for kind, options in KINDS.items():
                begin = time.perf_counter()
                file = to_c(model, data=X, **options)
                took = time.perf_counter() - begin
                cells = (model.get_n_leaves(), object_size(file.text), file.n_rows, file.n_different)
                table.add_row(name, title, kind, *("" if one is None else str(one) for one in cells), f"{took:.3f}")
    Console(width=120).print(table)


if __name__ == "__main__":
    main()

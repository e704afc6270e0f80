"""OC1 beside other tree learners on the same folds, in one run: accuracy, leaves, depth, fit and predict time.

Peers that are not installed are named and left out (``pip install ".[peers]"``; where one cannot share an environment
with the others, run this in an environment of its own). The table is Markdown::

    python benchmarks/bench_peers.py [--sets iris wine] > table.md
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec

import numpy as np
from bench_classifier import noisy_linear
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from oc1 import OC1Classifier, warmup
from oc1.datasets import make_ls10, make_pol, make_rcb

SETS: dict[str, Callable] = {
    "LS10": lambda: make_ls10(random_state=0),
    "POL": lambda: make_pol(random_state=0),
    "RCB": lambda: make_rcb(random_state=0),
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "10,000 x 10, 5% noise": noisy_linear,
}


class Ydf:
    """Yggdrasil's CART with sparse oblique splits, in scikit-learn's manner."""

    def fit(self, X, y):
        """Train on arrays."""
        import ydf

        self.names = [f"x{i}" for i in range(X.shape[1])]
        data = dict(zip(self.names, X.T, strict=True)) | {"label": y.astype(str)}
        learner = ydf.CartLearner(label="label", split_axis="SPARSE_OBLIQUE", include_all_columns=True)
        self.model = learner.train(data, verbose=0)
        self.classes = np.array(self.model.label_classes())
        return self

    def predict(self, X):
        """Return labels."""
        scores = self.model.predict(dict(zip(self.names, X.T, strict=True)))
        best = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0.5).astype(int)
        return self.classes[best].astype(int)

    def get_n_leaves(self):
        """Count the leaves."""
        stack, leaves = [self.model.get_tree(0).root], 0
        while stack:
            node = stack.pop()
            if node.is_leaf:
                leaves += 1
            else:
                stack += [node.neg_child, node.pos_child]
        return leaves


def contestants() -> Iterator[tuple[str, Callable]]:
    """List what is installed, each with a function that makes a fresh model."""
    yield "oc1", lambda: OC1Classifier(random_state=0)
    yield "oc1, unpruned 20:20", lambda: OC1Classifier(n_jumps=20, prune=None, random_state=0)
    yield "oc1, axis-parallel", lambda: OC1Classifier(splits="axis", random_state=0)
    yield "scikit-learn", lambda: DecisionTreeClassifier(random_state=0)
    yield "scikit-learn, ccp_alpha=0.005", lambda: DecisionTreeClassifier(ccp_alpha=0.005, random_state=0)
    peers = {
        "stree": lambda: __import__("stree").Stree(random_state=0),
        "obliquetree": lambda: __import__("obliquetree").Classifier(random_state=0),
        "treeple": lambda: __import__("treeple.tree", fromlist=["x"]).ObliqueDecisionTreeClassifier(random_state=0),
        "ydf": Ydf,
    }
    for name, make in peers.items():
        if find_spec(name) is None:
            print(f"{name} is not installed: left out", file=sys.stderr)
        else:
            yield name, make


def size(model, what: str) -> float:
    """Return leaves or depth where a peer tells them."""
    method = getattr(model, f"get_{what}", None)
    if method is None and what == "n_leaves" and hasattr(model, "nodes_leaves"):
        return model.nodes_leaves()[1]
    try:
        return method() if method else np.nan
    except Exception:
        return np.nan


def main(names: list[str]) -> None:
    """Print a table for each data set."""
    from rich.progress import Progress

    warmup()
    rivals = list(contestants())
    with Progress(transient=True) as progress:
        bar = progress.add_task("fits", total=len(names) * len(rivals) * 5)
        for name in names:
            X, y = SETS[name]()
            y = np.unique(y, return_inverse=True)[1]
            folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
            rows, base = [], None
            for rival, make in rivals:
                right, measured = 0, []
                try:
                    for train, test in folds:
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore")
                            model = make()
                            start = time.perf_counter()
                            model.fit(X[train], y[train])
                            fitted = time.perf_counter()
                            right += (np.asarray(model.predict(X[test])) == y[test]).sum()
                            done = time.perf_counter()
                        measured.append((size(model, "n_leaves"), size(model, "depth"), fitted - start, done - fitted))
                        progress.advance(bar)
                except Exception as error:
                    rows.append(f"| {rival} | failed: {type(error).__name__} | | | | | |")
                    continue
                leaves, depth, fit, predict = np.mean(measured, axis=0)
                base = fit if rival == "scikit-learn" else base
                rows.append((rival, 100 * right / len(y), leaves, depth, fit, predict))
            print(f"\n### {name}: {X.shape[0]} x {X.shape[1]}, {y.max() + 1} classes\n")
            print(
                "| learner | accuracy | leaves | depth | fit, ms | against scikit-learn | predict, ms |\n"
                + "|---" * 7
                + "|"
            )
            for row in rows:
                if isinstance(row, str):
                    print(row)
                    continue
                rival, accuracy, leaves, depth, fit, predict = row
                print(
                    f"| {rival} | {accuracy:.1f} | {leaves:.1f} | {depth:.1f} | {fit * 1e3:.1f} "
                    f"| {fit / (base or np.nan):.1f} | {predict * 1e3:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    main(parser.parse_args().sets)

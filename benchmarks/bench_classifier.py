"""Accuracy and size on LS10, POL and RCB (the paper's Table 2), and fit time against scikit-learn's tree.

Five-fold cross-validation, unpruned, Twoing, 2000 points, mean over several draws of the data::

    python benchmarks/bench_classifier.py accuracy [--draws 5] [--normalize positive]
    python benchmarks/bench_classifier.py speed
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from oc1 import OC1Classifier
from oc1.datasets import make_ls10, make_pol, make_rcb
from oc1.experiments.data import noisy_linear

SETS = {"LS10": make_ls10, "POL": make_pol, "RCB": make_rcb}
#: What the authors' own program reached on such data: accuracy, leaves.
PROGRAM = {
    (0, 0): {"LS10": (89.6, 62.7), "POL": (98.5, 22.9), "RCB": (94.4, 81.3)},
    (0, 20): {"LS10": (92.1, 44.7), "POL": (99.5, 7.6), "RCB": (97.3, 32.4)},
    (20, 0): {"LS10": (94.7, 27.4), "POL": (99.65, 8.0), "RCB": (98.05, 24.0)},
    (20, 20): {"LS10": (98.2, 11.6), "POL": (99.7, 5.0), "RCB": (99.3, 8.1)},
}


def cross_validate(X, y, draw: int, **parameters) -> tuple[float, float, float]:
    """Return accuracy (%), leaves and hyperplanes of one 5-fold cross-validation."""
    right, leaves, planes = 0, [], []
    for fold, (train, test) in enumerate(StratifiedKFold(5, shuffle=True, random_state=draw).split(X, y)):
        model = OC1Classifier(prune=None, random_state=100 * draw + fold, **parameters).fit(X[train], y[train])
        right += (model.predict(X[test]) == y[test]).sum()
        leaves.append(model.get_n_leaves())
        planes.append(model.n_hyperplanes_)
    return 100 * right / len(y), float(np.mean(leaves)), float(np.mean(planes))


def accuracy(draws: int, normalize: str) -> None:
    """Print the grid of restarts and jumps, beside the authors' program."""
    print(f"normalize={normalize!r}: accuracy / leaves (hyperplanes); in brackets the authors' program\n")
    print("| R:J | " + " | ".join(SETS) + " |\n|---|" + "---|" * len(SETS))
    for (restarts, jumps), program in PROGRAM.items():
        cells = []
        for name, make in SETS.items():
            results = [
                cross_validate(*make(random_state=draw), draw, n_restarts=restarts, n_jumps=jumps, normalize=normalize)
                for draw in range(draws)
            ]
            mean = np.mean(results, axis=0)
            cells.append(f"{mean[0]:.2f} / {mean[1]:.1f} ({mean[2]:.0f}) [{program[name][0]} / {program[name][1]}]")
        print(f"| {restarts}:{jumps} | " + " | ".join(cells) + " |", flush=True)


def best_time(fit, repeats: int) -> float:
    """Return the shortest of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        fit()
        times.append(time.perf_counter() - start)
    return min(times)


def speed() -> None:
    """Print fit times as ratios to scikit-learn's tree on the same data."""
    cases = [(name, make(random_state=0), 20, 20) for name, make in SETS.items()]
    cases.append(("10,000 x 10, 5% noise", noisy_linear(), 20, 5))
    OC1Classifier(prune=None, random_state=0).fit(*make_pol(100, random_state=0))
    print(
        "| data | R:J | scikit-learn | OC1 | ratio | OC1-AP ratio | leaves: scikit-learn, OC1, OC1-AP |\n"
        + "|---" * 7
        + "|"
    )
    for name, (X, y), restarts, jumps in cases:
        peer = DecisionTreeClassifier(random_state=0)
        ours = OC1Classifier(n_restarts=restarts, n_jumps=jumps, prune=None, random_state=0)
        axis = OC1Classifier(splits="axis", prune=None, random_state=0)
        base = best_time(lambda: peer.fit(X, y), 5)  # noqa: B023
        mine = best_time(lambda: ours.fit(X, y), 3)  # noqa: B023
        plain = best_time(lambda: axis.fit(X, y), 3)  # noqa: B023
        leaves = ", ".join(str(m.get_n_leaves()) for m in (peer, ours, axis))
        print(
            f"| {name} | {restarts}:{jumps} | {base * 1e3:.1f} ms | {mine * 1e3:.1f} ms "
            f"| {mine / base:.2f} | {plain / base:.2f} | {leaves} |",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["accuracy", "speed"])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--normalize", default="standard", choices=["standard", "positive"])
    chosen = parser.parse_args()
    accuracy(chosen.draws, chosen.normalize) if chosen.what == "accuracy" else speed()

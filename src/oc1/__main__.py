"""``python -m oc1`` shows OC1 on iris; ``python -m oc1 warmup`` compiles the kernels (a command line is to come)."""

from __future__ import annotations

import argparse
from dataclasses import replace

from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold, cross_val_score

from . import OC1Classifier, __version__, warmup
from .export import text


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(prog="oc1", description=__doc__)
    parser.add_argument("command", nargs="?", choices=["demo", "warmup"], default="demo", help="default: demo")
    if parser.parse_args().command == "warmup":
        print(f"kernels compiled in {warmup():.1f} seconds")
    else:
        demonstrate()


def demonstrate() -> None:
    """Show what OC1 does on data that ships with scikit-learn."""
    iris = load_iris()
    X, y = iris.data, iris.target_names[iris.target]
    model = OC1Classifier(random_state=0)
    folds = StratifiedKFold(n_splits=5, shuffle=True, random_state=0)
    scores = cross_val_score(model, X, y, cv=folds)
    model.fit(X, y)
    print(f"OC1 {__version__} on iris: {len(y)} flowers, {X.shape[1]} measurements, {len(set(y))} species\n")
    print(text(replace(model.tree_, feature_names=tuple(iris.feature_names))))
    print(
        f"\nleaves   {model.get_n_leaves()}  (depth {model.get_depth()}, {model.n_hyperplanes_} hyperplanes considered)"
    )
    print(f"accuracy {scores.mean():.1%} +- {scores.std():.1%}  (5-fold cross-validation)")


if __name__ == "__main__":
    main()

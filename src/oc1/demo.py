"""OC1 on iris: what a newcomer sees first."""

from __future__ import annotations

from dataclasses import replace

from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold, cross_val_score

from . import __version__
from .learners.classifier import OC1Classifier
from .tree.text import text


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

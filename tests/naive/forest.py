"""Forests, said slowly: what a test gains, and what a forest says by asking each tree."""

import numpy as np


def impurity(y, weights, criterion):
    """Return the weighted impurity of some examples: Gini, entropy, or the squared error."""
    if weights.sum() == 0:
        return 0.0
    if criterion == "squared_error":
        return float((weights * (y - np.average(y, weights=weights)) ** 2).sum())
    shares = np.array([weights[y == c].sum() for c in np.unique(y)]) / weights.sum()
    own = 1 - (shares**2).sum() if criterion == "gini" else -(shares * np.log(shares)).sum()
    return float(weights.sum() * own)


def decrease(y, weights, right, criterion):
    """Return by how much a division lowers the impurity, for each unit of weight."""
    parts = (impurity(y[side], weights[side], criterion) for side in (right, ~right))
    return (impurity(y, weights, criterion) - sum(parts)) / weights.sum()


def mean_answer(forest, X):
    """Return the mean of what the leaves of all trees say of rows without categories."""
    return sum(model.tree_.outputs()[model.tree_.apply(X)] for model in forest.estimators_) / len(forest.estimators_)

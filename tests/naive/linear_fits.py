"""Linear classifiers of a node, slowly: which classes they tell from which, and which terms matter."""

import itertools

import numpy as np
from scipy.linalg import eigh

from oc1.kernels.class_views import SHRINKAGE


def standardised(X, weights):
    """Return the features with mean 0 and standard deviation 1."""
    mean = np.average(X, axis=0, weights=weights)
    return (X - mean) / np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))


def moments(Z, y, weights):
    """Return the means of the classes and the covariance within them, shrunk."""
    k = y.max() + 1
    means = np.array([np.average(Z[y == c], axis=0, weights=weights[y == c]) for c in range(k)])
    rest = Z - means[y]
    return means, (rest * weights[:, None]).T @ rest / weights.sum() + SHRINKAGE * np.eye(Z.shape[1])


def widest_gap(Z, y, weights):
    """Return the classes above the widest gap along the first discriminant, and how clear that is (1: not at all).

    A gap counts as much as the smaller of the two groups weighs.
    """
    means, within = moments(Z, y, weights)
    totals = np.bincount(y, weights)
    values, vectors = eigh((means * totals[:, None]).T @ means, within)
    places = means @ vectors[:, -1]
    order = np.argsort(places)
    widths = []
    for (i, one), other in zip(enumerate(order[:-1]), order[1:], strict=True):
        below = totals[order[: i + 1]].sum()
        widths.append((places[other] - places[one]) * min(below, totals.sum() - below))
    second = sorted(widths)[-2] if len(widths) > 1 else 0.0
    vague = max(second / max(widths), values[-2] / values[-1] if len(values) > 1 else 0.0)
    return set(order[int(np.argmax(widths)) + 1 :].tolist()), vague


def without_one(Z, plane, weights):
    """Return the features but the one that matters least to a logistic regression, and its plane without it."""
    A = np.column_stack([Z, np.ones(len(Z))])
    share = 1 / (1 + np.exp(-A @ plane))
    inverse = np.linalg.inv(
        (A * (weights * share * (1 - share))[:, None]).T @ A + np.diag([*np.ones(Z.shape[1]), 1e-6])
    )
    least = int(np.argmin(plane[:-1] ** 2 / inverse.diagonal()[:-1]))
    rest = plane - inverse[:, least] * plane[least] / inverse[least, least]
    return [m for m in range(Z.shape[1]) if m != least], np.delete(rest, least)


def nats(left, totals):
    """Return the nats of information that a split gives of the classes of its examples."""

    def entropy(counts):
        shares = counts / counts.sum() if counts.sum() > 0 else counts
        shares = shares[shares > 0]  # the smallest numbers have none
        return -counts.sum() * (shares * np.log(shares)).sum()

    return entropy(totals) - entropy(left) - entropy(totals - left)


def class_totals(y, weights, chosen):
    """Return the weight of each class among some examples."""
    return np.bincount(y[chosen], weights[chosen], minlength=y.max() + 1)


def best_positions(values, y, weights, gain):
    """Return the class weights on the left of all thresholds that have the largest gain by a measure."""
    found = []
    ordered = np.unique(values)
    for low, high in itertools.pairwise(ordered):
        left = class_totals(y, weights, values <= low)
        if high > low:
            found.append((gain(left, class_totals(y, weights, values > low)), left))
    best = max((own for own, _ in found), default=-np.inf)
    return [left for own, left in found if own >= best * (1 - 1e-9)]

"""Linear classifiers of a node, slowly: which groupings discriminants separate best, and which terms matter."""

import itertools

import numpy as np

from oc1.kernels.class_views import REST, SHRINKAGE


def twoing(left, totals):
    """Return the Twoing value of a split from the class weights on its left and in all."""
    n, n_left = totals.sum(), left.sum()
    if not 0 < n_left < n:
        return 0.0
    return np.abs(left - totals * n_left / n).sum() ** 2 / (n_left * (n - n_left))


def standardised(X, weights):
    """Return the attributes with mean 0 and standard deviation 1."""
    mean = np.average(X, axis=0, weights=weights)
    return (X - mean) / np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))


def moments(Z, y, weights):
    """Return the means of the classes and the covariance within them, shrunk."""
    k = y.max() + 1
    means = np.array([np.average(Z[y == c], axis=0, weights=weights[y == c]) for c in range(k)])
    rest = Z - means[y]
    return means, (rest * weights[:, None]).T @ rest / weights.sum() + SHRINKAGE * np.eye(Z.shape[1])


def grouping_values(Z, y, weights):
    """Return the Twoing value of the discriminant of each grouping, as (class, other class or REST) -> value."""
    means, within = moments(Z, y, weights)
    k, totals = len(means), np.bincount(y, weights)
    pairs = [(a, b) for a, b in itertools.product(range(k), range(REST, k)) if b < a]
    values = {}
    for right, other in pairs if k > 2 else [(1, REST)]:
        far = (totals[:, None] * means)[np.arange(k) != right].sum(axis=0) / (totals.sum() - totals[right])
        opposite = far if other == REST else means[other]
        slopes = np.linalg.solve(within, means[right] - opposite)
        margins = (Z - (means[right] + opposite) / 2) @ slopes
        left = np.bincount(y, weights * (margins <= 0), minlength=k)
        values[right, other] = twoing(left, totals)
    return values


def short_discriminant(Z, right, weights, n_terms):
    """Return the attributes by which the distance between one class and the rest grows most, and their coefficients."""
    means = [np.average(Z[side], axis=0, weights=weights[side]) for side in (right, ~right)]
    rest = Z - np.where(right[:, None], *means)
    within = (rest * weights[:, None]).T @ rest / weights.sum() + SHRINKAGE * np.eye(Z.shape[1])
    difference = means[0] - means[1]

    def slopes(chosen):
        return np.linalg.solve(within[np.ix_(chosen, chosen)], difference[chosen])

    chosen = []
    while len(chosen) < n_terms:
        left = [m for m in range(Z.shape[1]) if m not in chosen]
        chosen.append(max(left, key=lambda m: difference[[*chosen, m]] @ slopes([*chosen, m])))
    return chosen, slopes(chosen)


def least_squares(Z, y, weights, ridge=1.0):
    """Return the coefficients and the constant of a ridge regression, and what it is about: loss and penalty."""
    A = np.column_stack([Z, np.ones(len(Z))])
    penalty = np.diag([*np.full(Z.shape[1], ridge), 1e-6])
    plane = np.linalg.solve((A * weights[:, None]).T @ A + penalty, A.T @ (weights * y))
    return plane, weights @ (y - A @ plane) ** 2 + plane @ penalty @ plane


def backward(Z, y, weights, n_kept):
    """Drop attributes one by one, each the one without which least squares lose least."""
    chosen = list(range(Z.shape[1]))
    while len(chosen) > n_kept:
        trials = [[other for other in chosen if other != m] for m in chosen]
        chosen = min(trials, key=lambda trial: least_squares(Z[:, trial], y, weights)[1])
    return chosen, least_squares(Z[:, chosen], y, weights)[0][:-1]


def without_one(Z, plane, weights):
    """Return the attributes but the one that matters least to a logistic regression, and its plane without it."""
    A = np.column_stack([Z, np.ones(len(Z))])
    share = 1 / (1 + np.exp(-A @ plane))
    inverse = np.linalg.inv(
        (A * (weights * share * (1 - share))[:, None]).T @ A + np.diag([*np.ones(Z.shape[1]), 1e-6])
    )
    least = int(np.argmin(plane[:-1] ** 2 / inverse.diagonal()[:-1]))
    rest = plane - inverse[:, least] * plane[least] / inverse[least, least]
    return [m for m in range(Z.shape[1]) if m != least], np.delete(rest, least)


def left_out_logits(Z, y):
    """Return the logits of examples by discriminants that least squares fit without them."""
    values = np.empty(len(y))
    for j in range(len(y)):
        kept = np.arange(len(y)) != j
        plane, _ = least_squares(Z[kept], y[kept], np.ones(len(y) - 1))
        values[j] = Z[j] @ plane[:-1] + plane[-1]
    means = [values[y == c].mean() for c in (0, 1)]
    spread = np.mean((values - np.array(means)[y]) ** 2)
    slope = (means[1] - means[0]) / spread
    return slope * (values - np.mean(means)) + np.log((y == 1).sum() / (y == 0).sum())

"""A random threshold along one direction, and what it is worth, for classes and for numbers.

Values are distances from that of the node's first example, rounded to float32. A score is what the impurity of the two
sides falls short of that of the node, but for terms that are the same for all tests of the node: larger is better.
"""

import numpy as np

from ._jit import inlined, inner
from .random import uniform


@inlined
def shortened(value, origin):
    """Return a value as thresholds are drawn among."""
    return np.float32(value - origin)


@inlined
def x_log_x(x):
    """Return x log x."""
    return x * np.log(x) if x > 0.0 else 0.0


@inner
def score_classes(counts, entropy):
    """Return the score of a whole node."""
    total, own = 0.0, 0.0
    for c in range(counts.size):
        total += counts[c]
        own += x_log_x(counts[c]) if entropy else counts[c] * counts[c]
    return own - x_log_x(total) if entropy else own / total


@inner
def draw_threshold(line, origin, n, short, stream):
    """Draw a threshold between the smallest and the largest value; return NaN if all values are equal."""
    low, high = np.float32(np.inf), np.float32(-np.inf)
    for i in range(n):
        value = shortened(line[i], origin)
        short[i] = value
        low, high = min(low, value), max(high, value)
    if not low < high:
        return np.float32(np.nan)
    if low == -np.inf or high == np.inf:  # missing values stand apart
        finite_low, finite_high = np.float32(np.inf), np.float32(-np.inf)
        for i in range(n):
            if -np.inf < short[i] < np.inf:
                finite_low, finite_high = min(finite_low, short[i]), max(finite_high, short[i])
        if not finite_low <= finite_high:
            return low
        threshold = np.float32(finite_low + uniform(stream) * (finite_high - finite_low))
        if threshold >= finite_high and high < np.inf:
            threshold = low
    else:
        threshold = np.float32(low + uniform(stream) * (high - low))
        if threshold >= high:
            threshold = low
    return threshold


@inner
def judge_classes(short, threshold, n, labels, weights, totals, entropy, min_leaf, left):
    """Return the score of a threshold, and -inf if a side has too few examples."""
    n_left, whole, weight_left, own_left, own_right = 0, 0.0, 0.0, 0.0, 0.0
    for c in range(totals.size):
        left[c] = 0.0
    for i in range(n):
        is_left = short[i] <= threshold
        n_left += is_left
        left[labels[i]] += weights[i] if is_left else 0.0
    if n_left < min_leaf or n - n_left < min_leaf:
        return -np.inf
    for c in range(totals.size):
        right = totals[c] - left[c]
        whole += totals[c]
        weight_left += left[c]
        own_left += x_log_x(left[c]) if entropy else left[c] * left[c]
        own_right += x_log_x(right) if entropy else right * right
    if entropy:
        return own_left - x_log_x(weight_left) + own_right - x_log_x(whole - weight_left)
    return own_left / weight_left + own_right / (whole - weight_left)


@inner
def judge_numbers(short, threshold, n, numbers, weights, weight, total, min_leaf):
    """Return the score of a threshold, and -inf if a side has too few examples."""
    n_left, weight_left, sum_left = 0, 0.0, 0.0
    for i in range(n):
        is_left = short[i] <= threshold
        n_left += is_left
        weight_left += weights[i] if is_left else 0.0
        sum_left += weights[i] * numbers[i] if is_left else 0.0
    if n_left < min_leaf or n - n_left < min_leaf:
        return -np.inf
    rest = total - sum_left
    return sum_left * sum_left / weight_left + rest * rest / (weight - weight_left)

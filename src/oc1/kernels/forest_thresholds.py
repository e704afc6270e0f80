"""A random threshold along one direction, and what it is worth, for classes and for numbers.

Values are distances from that of the node's first example, rounded to float32. A score is what the impurity of the two
sides falls short of that of the node, but for terms that are the same for all tests of the node: larger is better.
"""

import numpy as np

from ._jit import allocating, inlined, inner
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
    low, high, far = np.float32(np.inf), np.float32(-np.inf), np.float32(0.0)
    for i in range(n):
        value = shortened(line[i], origin)
        short[i] = value
        if abs(value) < np.inf:
            low, high = min(low, value), max(high, value)
        else:  # missing values stand apart
            far = value
    if low == high and far == np.inf:
        return low
    if not low < high:
        return np.float32(np.nan)
    threshold = np.float32(low + uniform(stream) * (high - low))
    return low if threshold >= high and far < np.inf else threshold


@allocating
def judge_classes(short, threshold, n, labels, weights, entropy, min_leaf, sides):
    """Return the score of a threshold, and -inf if a side has too few examples."""
    sides[:] = 0.0
    n_right = 0
    for i in range(n):
        is_right = np.int64(short[i] > threshold)
        n_right += is_right
        sides[is_right, labels[i]] += weights[i]
    if n_right < min_leaf or n - n_right < min_leaf:
        return -np.inf
    return score_classes(sides[0], entropy) + score_classes(sides[1], entropy)


@inner
def judge_numbers(short, threshold, n, numbers, weights, min_leaf):
    """Return the score of a threshold, and -inf if a side has too few examples."""
    # Each side by itself: what is left of a sum without the other side may be nothing but rounding.
    n_left, left, right, sum_left, sum_right = 0, 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        is_left, product = short[i] <= threshold, weights[i] * numbers[i]
        n_left += is_left
        left += weights[i] if is_left else 0.0
        right += 0.0 if is_left else weights[i]
        sum_left += product if is_left else 0.0
        sum_right += 0.0 if is_left else product
    if n_left < min_leaf or n - n_left < min_leaf:
        return -np.inf
    return sum_left * sum_left / left + sum_right * sum_right / right

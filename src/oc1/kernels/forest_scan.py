"""The best threshold along one direction, or a random one, for classes and for numbers.

A score is what the impurity of the two sides falls short of that of the node, but for terms that are the same for all
tests of the node: larger is better. With Gini and variances it is updated in constant time from one example to the
next, however many classes there are.
"""

import numpy as np

from ._jit import inlined, inner
from .forest_sort import HALF, PLACE, key_of, shortened
from .random import uniform


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
def scan_classes(keys, row, n, labels, weights, totals, entropy, min_leaf, left):
    """Return (score, position) of the best threshold: after which of the sorted examples; -1 if there is none."""
    whole, own_left, own_right, weight_left, best, position = 0.0, 0.0, 0.0, 0.0, -np.inf, -1
    for c in range(totals.size):
        left[c] = 0.0
        whole += totals[c]
        own_right += x_log_x(totals[c]) if entropy else totals[c] * totals[c]
    for i in range(n - min_leaf):
        key = keys[row, i]
        place = np.int64(key & PLACE)
        c, weight = labels[place], weights[place]
        before, rest = left[c], totals[c] - left[c]
        left[c] = before + weight
        weight_left += weight
        if entropy:
            own_left += x_log_x(before + weight) - x_log_x(before)
            own_right += x_log_x(rest - weight) - x_log_x(rest)
        else:
            own_left += weight * (2.0 * before + weight)
            own_right -= weight * (2.0 * rest - weight)
        if i + 1 >= min_leaf and keys[row, i + 1] >> HALF != key >> HALF:
            weight_right = whole - weight_left
            if entropy:
                score = own_left - x_log_x(weight_left) + own_right - x_log_x(weight_right)
            else:
                score = own_left / weight_left + own_right / weight_right
            if score > best:
                best, position = score, i
    return best, position


@inner
def scan_numbers(keys, row, n, numbers, weights, weight, total, min_leaf):
    """Return (score, position) of the threshold that leaves the least squared error; -1 if there is none."""
    weight_left, sum_left, best, position = 0.0, 0.0, -np.inf, -1
    for i in range(n - min_leaf):
        key = keys[row, i]
        place = np.int64(key & PLACE)
        weight_left += weights[place]
        sum_left += weights[place] * numbers[place]
        if i + 1 >= min_leaf and keys[row, i + 1] >> HALF != key >> HALF:
            rest = total - sum_left
            score = sum_left * sum_left / weight_left + rest * rest / (weight - weight_left)
            if score > best:
                best, position = score, i
    return best, position


@inner
def draw_threshold(line, origin, n, short, stream):
    """Draw a threshold between the smallest and the largest value; return its key, 0 if all values are equal."""
    low, high = np.float32(np.inf), np.float32(-np.inf)
    for i in range(n):
        value = shortened(line[i], origin)
        short[i] = value
        low, high = min(low, value), max(high, value)
    if not low < high:
        return np.uint32(0)
    if low == -np.inf or high == np.inf:  # missing values stand apart
        finite_low, finite_high = np.float32(np.inf), np.float32(-np.inf)
        for i in range(n):
            if -np.inf < short[i] < np.inf:
                finite_low, finite_high = min(finite_low, short[i]), max(finite_high, short[i])
        if not finite_low <= finite_high:
            return key_of(low)
        threshold = np.float32(finite_low + uniform(stream) * (finite_high - finite_low))
        if threshold >= finite_high and high < np.inf:
            threshold = low
    else:
        threshold = np.float32(low + uniform(stream) * (high - low))
        if threshold >= high:
            threshold = low
    return key_of(threshold + np.float32(0.0))


@inner
def judge_classes(short, key, n, labels, weights, totals, entropy, min_leaf, left):
    """Return the score of a threshold, and -inf if a side has too few examples."""
    n_left, whole, weight_left, own_left, own_right = 0, 0.0, 0.0, 0.0, 0.0
    for c in range(totals.size):
        left[c] = 0.0
    for i in range(n):
        is_left = key_of(short[i]) <= key
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
def judge_numbers(short, key, n, numbers, weights, weight, total, min_leaf):
    """Return the score of a threshold, and -inf if a side has too few examples."""
    n_left, weight_left, sum_left = 0, 0.0, 0.0
    for i in range(n):
        is_left = key_of(short[i]) <= key
        n_left += is_left
        weight_left += weights[i] if is_left else 0.0
        sum_left += weights[i] * numbers[i] if is_left else 0.0
    if n_left < min_leaf or n - n_left < min_leaf:
        return -np.inf
    rest = total - sum_left
    return sum_left * sum_left / weight_left + rest * rest / (weight - weight_left)

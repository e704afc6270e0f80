"""One tree of a forest, grown in one call.

A node draws some attributes that vary, and a threshold along each of them and along a few directions that combine them
(`forest_directions`), and takes the purest test (`forest_thresholds`). Nothing is pruned. The stream of a tree comes
from (seed, number of the tree) alone, so the forest does not depend on who grows which tree.
"""

import numpy as np

from . import layout
from ._jit import allocating, inner, kernel
from .forest_directions import below, fit_direction, is_usable, prepare
from .forest_records import SQUARES, SUM, WEIGHT
from .forest_thresholds import draw_threshold, judge_classes, judge_numbers, score_classes, shortened
from .random import mix, uniform

#: A test must gain more than this share of the node's score: less is rounding.
MIN_GAIN = 1e-12
#: What a test is, in `search`: nothing; the q-th attribute drawn is q; a combination of them.
NOTHING, COMBINED = -2, -1


@inner
def draw_examples(drawable, n_draws, stream, times):
    """Draw a bootstrap sample: write how often each example is in it."""
    for i in range(times.size):
        times[i] = 0
    for _ in range(n_draws):
        times[drawable[below(stream, drawable.size)]] += 1


@kernel
def sample_of_tree(drawable, n_draws, seed, number, stream, times):
    """Write the bootstrap sample of a tree, as growing it draws it."""
    stream[0] = mix(np.uint64(seed), number)
    draw_examples(drawable, n_draws, stream, times)


@inner
def weigh(data, rules, work):
    """Draw the examples of a tree and weigh them; return how many different ones there are."""
    n, n_rows = data.labels.size, 0
    if rules.n_bootstrap > 0:
        draw_examples(data.drawable, rules.n_bootstrap, work.stream, work.times)
    else:
        for i in range(n):
            work.times[i] = 1
    if rules.balanced:
        for c in range(work.class_weights.size):
            work.class_weights[c] = 0.0
        for i in range(n):
            work.class_weights[data.labels[i]] += work.times[i]
        total, present = 0.0, 0
        for c in range(work.class_weights.size):
            total += work.class_weights[c]
            present += work.class_weights[c] > 0.0
        for c in range(work.class_weights.size):
            work.class_weights[c] = total / (present * max(work.class_weights[c], 1.0))
    for i in range(n):
        weight = work.times[i] * data.weights[i]
        if rules.balanced:
            weight *= work.class_weights[data.labels[i]]
        work.tree_weights[i] = weight
        if weight > 0.0:
            work.rows[n_rows] = i
            n_rows += 1
    return n_rows


@inner
def look_at(data, work, start, n, statistics):
    """Copy what is known of a node's examples, and sum it up; return how many classes (or different numbers) it has."""
    for c in range(statistics.size):
        statistics[c] = 0.0
    for i in range(n):
        row = work.rows[start + i]
        work.weights[i] = work.tree_weights[row]
    if data.n_classes == 0:
        differ = 1
        for i in range(n):
            number, weight = data.numbers[work.rows[start + i]], work.weights[i]
            work.numbers[i] = number
            statistics[WEIGHT] += weight
            statistics[SUM] += weight * number
            statistics[SQUARES] += weight * number * number
            if number != work.numbers[0]:
                differ = 2
        return differ
    for i in range(n):
        work.labels[i] = data.labels[work.rows[start + i]]
        statistics[work.labels[i]] += work.weights[i]
    present = 0
    for c in range(statistics.size):
        present += statistics[c] > 0.0
    return present


@inner
def draw_attributes(data, work, n_wanted, start, n):
    """Draw attributes that vary in a node and copy their values; return how many there are."""
    n_drawn, n_left = 0, work.permutation.size
    while n_drawn < n_wanted and n_left > 0:
        at = below(work.stream, n_left)
        feature = work.permutation[at]
        n_left -= 1
        work.permutation[at], work.permutation[n_left] = work.permutation[n_left], feature
        n_known, low, high = 0, np.inf, -np.inf
        for i in range(n):
            value = data.columns[feature, work.rows[start + i]]
            if np.isnan(value):
                value = data.fill[feature]
            else:
                n_known += 1
                low, high = min(low, value), max(high, value)
            work.values[n_drawn, i] = value
        work.is_complete[n_drawn] = n_known == 0 or n_known == n
        if low < high or not work.is_complete[n_drawn]:
            place = n_drawn
            while place > 0 and work.drawn[work.order[place - 1]] > feature:
                work.order[place] = work.order[place - 1]
                place -= 1
            work.order[place], work.drawn[n_drawn] = n_drawn, feature
            n_drawn += 1
    return n_drawn


@inner
def put_on_line(data, work, q, side, start, n):
    """Write the values of a drawn attribute to `work.line`, missing ones beyond all others on their side."""
    for i in range(n):
        work.line[i] = work.values[q, i]
    if side != layout.BY_FILL:
        feature, far = work.drawn[q], np.inf if side == layout.MISSING_RIGHT else -np.inf
        first = -1
        for i in range(n):
            if np.isnan(data.columns[feature, work.rows[start + i]]):
                work.line[i] = far
            elif first < 0:
                first = i
        return work.line[first]
    return work.line[0]


@inner
def combine(work, direction, n_drawn, n):
    """Write the values along a direction to `work.line`, added up in the order of the attributes."""
    for i in range(n):
        work.line[i] = 0.0
    for place in range(n_drawn):
        q = work.order[place]
        coefficient = direction[q]
        if coefficient != 0.0:
            for i in range(n):
                work.line[i] += coefficient * work.values[q, i]


@allocating
def search_line(data, rules, work, origin, n):
    """Draw a threshold among the values of `work.line`; return (score, threshold), -inf if there is none."""
    threshold = draw_threshold(work.line, origin, n, work.short, work.stream)
    if np.isnan(threshold):
        return -np.inf, threshold
    if data.n_classes == 0:
        score = judge_numbers(work.short, threshold, n, work.numbers, work.weights, rules.min_leaf)
    else:
        score = judge_classes(
            work.short, threshold, n, work.labels, work.weights, rules.entropy, rules.min_leaf, work.sides
        )
    return score, threshold


@allocating
def search(data, rules, work, statistics, start, n, n_present, least):
    """Find the best test of a node: return (what it is, threshold, side of missing values, score, attributes drawn).

    The coefficients of a combination are in `work.best`. A test must score more than `least`.
    """
    what, at, best_side, best = NOTHING, np.float32(np.nan), layout.BY_FILL, least
    n_drawn = draw_attributes(data, work, rules.n_drawn, start, n)
    for q in range(n_drawn):
        for side in range(layout.MISSING_RIGHT, layout.MISSING_LEFT - 1, -1):
            if (side == layout.BY_FILL) == work.is_complete[q]:
                origin = put_on_line(data, work, q, side, start, n)
                score, threshold = search_line(data, rules, work, origin, n)
                if score > best:
                    what, at, best_side, best = q, threshold, side, score
    if n_drawn < 2 or rules.n_linear == 0:
        return what, at, best_side, best, n_drawn
    is_number = data.n_classes == 0
    prepare(work, n_drawn, n, work.totals[0], statistics, is_number)
    # Two classes, and numbers, have one discriminant.
    n_linear = rules.n_linear if n_present > 2 and not is_number else min(rules.n_linear, 1)
    for _ in range(n_linear):
        fit_direction(work, n_drawn, statistics, n_present, is_number)
        if not is_usable(work.direction, n_drawn):
            continue
        combine(work, work.direction, n_drawn, n)
        score, threshold = search_line(data, rules, work, work.line[0], n)
        if best < score < np.inf:
            what, at, best_side, best = COMBINED, threshold, layout.BY_FILL, score
            for q in range(n_drawn):
                work.best[q] = work.direction[q]
    return what, at, best_side, best, n_drawn


@inner
def write_terms(work, what, n_drawn, first):
    """Write the terms of a test from a place on; return where they end."""
    if what >= 0:
        work.features[first], work.coefficients[first] = work.drawn[what], 1.0
        return first + 1
    for place in range(n_drawn):
        q = work.order[place]
        if work.best[q] != 0.0:
            work.features[first], work.coefficients[first] = work.drawn[q], work.best[q]
            first += 1
    return first


@inner
def divide(work, node, threshold, side, origin, start, n):
    """Place the threshold of a test and divide its node's examples; return how many go left.

    The threshold may come to lie anywhere between the nearest examples.
    """
    low, high, n_left, n_right = -np.inf, np.inf, 0, 0
    for i in range(n):
        value, row = work.line[i], work.rows[start + i]
        if shortened(value, origin) <= threshold:
            low = max(low, value)
            work.rows[start + n_left] = row
            n_left += 1
        else:
            high = min(high, value)
            work.spare[n_right] = row
            n_right += 1
    if low == -np.inf:  # only missing values are on the left: a test that asks for them has them on the right
        for i in range(n_left):
            work.spare[n_right + i] = work.rows[start + i]
        for i in range(n):
            work.rows[start + i] = work.spare[i]
        work.thresholds[node], work.gaps[node], work.missing[node] = layout.ABOVE_ALL, 0.0, layout.MISSING_RIGHT
        return n_right
    for i in range(n_right):
        work.rows[start + n_left + i] = work.spare[i]
    if high == np.inf:  # all known values are on the left
        work.thresholds[node], work.gaps[node] = layout.ABOVE_ALL, 0.0
    else:
        between = low + uniform(work.stream) * (high - low)
        work.thresholds[node] = between if low <= between < high else low
        work.gaps[node] = high - low
    work.missing[node] = side
    return n_left


@kernel(allocates=True)
def grow_tree(data, rules, work, seed, number):
    """Grow the tree of that number; return (nodes, terms) that are now in the buffers.

    Nodes are numbered in preorder, as trees have them.
    """
    work.stream[0] = mix(np.uint64(seed), number)
    for m in range(work.permutation.size):  # the last tree has left its own
        work.permutation[m] = m
    stack, n_nodes, n_terms, waiting = work.stack, 0, 0, 1
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3], stack[0, 4] = 0, weigh(data, rules, work), 0, -1, 0
    while waiting > 0:
        waiting -= 1
        start, stop, depth = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
        parent, branch = stack[waiting, 3], stack[waiting, 4]
        node, n, n_nodes = n_nodes, stop - start, n_nodes + 1
        if parent >= 0:
            work.children[parent, branch] = node
        statistics = work.statistics[node]
        n_present = look_at(data, work, start, n, statistics)
        work.children[node, 0] = work.children[node, 1] = -1
        work.gains[node] = work.thresholds[node] = work.gaps[node] = 0.0
        work.missing[node], work.terms[node] = layout.BY_FILL, n_terms
        weight = 0.0
        for i in range(n):
            weight += work.weights[i]
        if n_present < 2 or depth >= rules.max_depth or n < max(rules.min_split, 2 * rules.min_leaf):
            continue
        work.totals[0] = weight
        if node == 0:
            work.totals[1] = weight
        if data.n_classes == 0:
            whole = statistics[SUM] * statistics[SUM] / weight
            rounding = MIN_GAIN * statistics[SQUARES]
        else:
            whole = score_classes(statistics, rules.entropy)
            rounding = MIN_GAIN * weight
        least = whole + rounding
        what, threshold, side, score, n_drawn = search(data, rules, work, statistics, start, n, n_present, least)
        if what == NOTHING or (score - whole) / work.totals[1] < rules.min_decrease:
            continue
        if what >= 0:
            origin = put_on_line(data, work, what, side, start, n)
        else:
            combine(work, work.best, n_drawn, n)
            origin = work.line[0]
        n_left = divide(work, node, threshold, side, origin, start, n)
        n_terms = write_terms(work, what, n_drawn, n_terms)
        work.gains[node] = (score - whole) / weight
        for own in range(2):  # the left child is the next node
            first, last = (start, start + n_left) if own == 1 else (start + n_left, stop)
            stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = first, last, depth + 1
            stack[waiting, 3], stack[waiting, 4] = node, 1 - own
            waiting += 1
    work.terms[n_nodes] = n_terms
    return n_nodes, n_terms

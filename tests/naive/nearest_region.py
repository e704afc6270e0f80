"""The nearest point with another answer, by trying everything."""

from itertools import combinations

import numpy as np

from oc1.data.categories import replace_by_codes


def nearest_point(normals, offsets):
    """Return the distance from the origin to ``normals @ point >= offsets``; infinite if no point is there.

    At the nearest point some half-spaces are active, no more than there are dimensions: all such sets are tried.
    """
    best = np.inf
    for size in range(min(len(offsets), normals.shape[1]) + 1):
        for chosen in map(list, combinations(range(len(offsets)), size)):
            point = np.linalg.lstsq(normals[chosen], offsets[chosen], rcond=None)[0] if chosen else 0 * normals[0]
            if (normals @ point >= offsets - 1e-9).all():
                best = min(best, np.linalg.norm(point))
    return best


def half_spaces(tree, leaf, x, scale):
    """Return the half-spaces that lead to a leaf, around an example of codes and numbers."""
    normals, offsets, parents, node = [], [], tree.parents, leaf
    while parents[node] >= 0:
        above = parents[node]
        features, coefficients, threshold = tree.test(above)
        sign = 1 if tree.children[above, 1] == node else -1
        normal = np.zeros(len(x))
        normal[features] = sign * coefficients * scale[features]
        length = np.linalg.norm(normal)
        normals.append(normal / length)
        offsets.append(sign * (threshold - coefficients @ x[features]) / length)
        node = above
    return np.array(normals).reshape(-1, len(x)), np.array(offsets)


def smallest_change(tree, row, scale):
    """Return the size of the smallest change of a row with which a tree gives it another class.

    All leaves and all categories of the first attribute, if it has any, are tried.
    """
    said = tree.majority[tree.apply(row[None])[0]]
    best = np.inf
    for category in range(len(tree.codes[0])) if tree.codes else [None]:
        other = row.copy()
        if category is not None:
            other[0] = category
        x, is_fixed = (
            replace_by_codes(other[None], tree.codes)[0],
            np.array([category is not None] + [False] * (len(row) - 1)),
        )
        for leaf in np.flatnonzero(tree.is_leaf & (tree.majority != said)):
            normals, offsets = half_spaces(tree, leaf, x, scale)
            lengths = np.linalg.norm(normals[:, ~is_fixed], axis=1)
            moving = lengths > 0  # the others are about the category alone
            if (offsets[~moving] > 0).any() or not len(offsets):
                continue
            rest = normals[moving][:, ~is_fixed] / lengths[moving, None]
            distance = nearest_point(rest, offsets[moving] / lengths[moving]) if moving.any() else 0.0
            best = min(best, np.hypot(distance, float(category is not None and category != row[0])))
    return best


def smallest_single_change(tree, row, scale):
    """Return the size of the smallest change of one number with which a tree gives a row another class."""
    said = tree.majority[tree.apply(row[None])[0]]
    best = np.inf
    for m in range(len(row)):
        places = []
        for node in np.flatnonzero(~tree.is_leaf):
            features, coefficients, threshold = tree.test(node)
            slope = coefficients[features == m].sum()
            if slope:
                rest = coefficients[features != m] @ row[features[features != m]]
                places.append((threshold - rest) / slope)
        for place in places:
            for value in (place, place - 1e-7 * scale[m], place + 1e-7 * scale[m]):
                other = row.copy()
                other[m] = value
                if tree.majority[tree.apply(other[None])[0]] != said:
                    best = min(best, abs(place - row[m]) / scale[m])
    return best

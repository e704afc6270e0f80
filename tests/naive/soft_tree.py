"""A soft tree, said slowly: the loss of one example after the other, leaf by leaf."""

from __future__ import annotations

import math

import numpy as np


def reach(tree, leaf, x, planes):
    """Return how likely an example gets to a leaf; the planes are those of the inner nodes, in their order."""
    inner, probability, node = np.flatnonzero(~tree.is_leaf).tolist(), 1.0, leaf
    while node:
        parent = int(tree.parents[node])
        plane = planes[inner.index(parent)]
        margin = sum(a * value for a, value in zip(plane[:-1], x, strict=True)) + plane[-1]
        goes_right = 1.0 / (1.0 + math.exp(-margin))
        probability *= goes_right if tree.children[parent, 1] == node else 1.0 - goes_right
        node = parent
    return probability


def loss(tree, Z, labels, weights, planes, doubt, ridge):
    """Return the negative log-likelihood of the examples' classes, and the ridge penalty of all coefficients."""
    n_classes, total = tree.counts.shape[1], 0.0
    leaves = np.flatnonzero(tree.is_leaf).tolist()
    for x, label, weight in zip(Z, labels, weights, strict=True):
        likelihood = 0.0
        for leaf in leaves:
            share = doubt / n_classes + (1.0 - doubt) * (tree.majority[leaf] == label)
            likelihood += share * reach(tree, leaf, x, planes)
        total -= weight * math.log(likelihood)
    return total + sum(0.5 * ridge * value**2 for plane in planes for value in plane[:-1])

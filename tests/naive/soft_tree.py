"""A soft tree, said slowly: the loss of one sample after the other, leaf by leaf."""

from __future__ import annotations

import math

import numpy as np


def reach(tree, leaf, x, planes):
    """Return how likely a sample gets to a leaf; `planes` has that of each inner node."""
    probability, node = 1.0, leaf
    while node:
        parent = int(tree.parents[node])
        plane = planes[parent]
        margin = sum(a * value for a, value in zip(plane[:-1], x, strict=True)) + plane[-1]
        goes_right = 1.0 / (1.0 + math.exp(-margin))
        probability *= goes_right if tree.children[parent, 1] == node else 1.0 - goes_right
        node = parent
    return probability


def loss(tree, Z, labels, weights, planes, logits, prior, ridge):
    """Return the negative log-likelihood of the samples' classes and of the prior, and the ridge penalty."""
    total = 0.0
    leaves = np.flatnonzero(tree.is_leaf).tolist()
    shares = {leaf: [math.exp(own) / sum(map(math.exp, row)) for own in row] for leaf, row in logits.items()}
    for x, label, weight in zip(Z, labels, weights, strict=True):
        total -= weight * math.log(sum(shares[leaf][label] * reach(tree, leaf, x, planes) for leaf in leaves))
    for own in shares.values():
        total -= sum(expected * math.log(share) for expected, share in zip(prior, own, strict=True))
    return total + sum(0.5 * ridge * value**2 for plane in planes.values() for value in plane[:-1])

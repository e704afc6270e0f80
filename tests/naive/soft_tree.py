"""A soft tree, said slowly: the loss of one example after the other, by recursion."""

from __future__ import annotations

import math


def soft_likelihood(node, z, label, right, planes, shares):
    """Return how likely a class is below a node, for one example."""
    if right[node] < 0:
        return shares[node][label]
    margin = sum(w * x for w, x in zip(planes[node][:-1], z, strict=True)) + planes[node][-1]
    goes_right = 1.0 / (1.0 + math.exp(-margin))
    lower = soft_likelihood(node + 1, z, label, right, planes, shares)
    upper = soft_likelihood(right[node], z, label, right, planes, shares)
    return (1.0 - goes_right) * lower + goes_right * upper


def soft_loss(Z, labels, weights, right, planes, shares, penalties, ridge):
    """Return the negative log-likelihood of all examples and the ridge penalty of all coefficients."""
    loss = 0.0
    for z, label, weight in zip(Z, labels, weights, strict=True):
        loss -= weight * math.log(soft_likelihood(0, z, label, right, planes, shares))
    for node, plane in enumerate(planes):
        if right[node] >= 0:
            loss += sum(0.5 * ridge * penalties[m] * plane[m] ** 2 for m in range(len(plane) - 1))
    return loss

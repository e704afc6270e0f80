"""Few combinations of many parameters: what fails does so for one value, or for two that meet."""

import itertools


def pairwise(*factors):
    """List combinations of one value of each factor, so that any two values of two factors occur together."""

    def pairs(indices):
        return set(itertools.combinations(enumerate(indices), 2))

    left = list(itertools.product(*(range(len(values)) for values in factors)))
    missing, chosen = set().union(*map(pairs, left)), []
    while missing:
        chosen.append(max(left, key=lambda indices: len(pairs(indices) & missing)))
        missing -= pairs(chosen[-1])
    return [tuple(values[i] for values, i in zip(factors, indices, strict=True)) for indices in chosen]

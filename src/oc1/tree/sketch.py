"""How the training examples lie along the first tests of a tree: small histograms that a fitted model keeps."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from .structure import TreeStructure
from .summaries import NodeExamples

#: Only this many nodes of a tree are shown in a notebook, and only their examples are counted.
MAX_NODES = 31
#: Of more training examples, this many are counted. (Numbers of 16 bits hold them.)
MAX_SKETCHED = 4000
#: Bars of a histogram.
BINS = 24

#: For each of the first tests: how many bars are to the left of its threshold, and how many examples of each class are
#: in each bar.
Sketch: TypeAlias = dict[int, tuple[int, np.ndarray]]


def first_levels(tree: TreeStructure, max_nodes: int = MAX_NODES) -> set[int]:
    """Return the nodes of as many levels as may be shown, the root at least."""
    level, shown = [0], {0}
    while level:
        level = [int(child) for node in level for child in tree.children[node] if child >= 0]
        if len(shown) + len(level) > max_nodes:
            break
        shown |= set(level)
    return shown


def sketch_tests(tree: TreeStructure, X: np.ndarray, y: np.ndarray) -> Sketch:
    """Count the training examples along the tests of a tree's first levels.

    Parameters
    ----------
    tree : TreeStructure
    X : float array (n_samples, n_features)
        Category numbers where the tree has codes.
    y : array (n_samples,)
        Class indices; anything where numbers are predicted.

    Returns
    -------
    dict
        Empty without examples. Tests without a threshold have no histogram.
    """
    nodes = sorted(node for node in first_levels(tree) if tree.threshold_of(node) is not None)
    if not nodes or not len(X):
        return {}
    labels = y if tree.predicts_classes else np.zeros(len(X), dtype=np.int64)
    examples = NodeExamples.of_checked(tree, X, labels)
    histograms = {node: examples.histogram(node, BINS) for node in nodes}
    return {node: (own.n_left, own.counts.astype(np.uint16)) for node, own in histograms.items()}

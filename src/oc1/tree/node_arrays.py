"""Trees under the names of scikit-learn's ``tree_``, for code that was written for it.

All of it is computed from what a tree holds when it is asked for. Left means what it means there: an example goes left
where it does not exceed the threshold. Two things are different:

- An oblique node combines several attributes. Its ``feature`` is `OBLIQUE`, its ``threshold`` is that of the
  combination, and ``test(node)`` returns its terms.
- Values are compared as they are; scikit-learn rounds them to single precision first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: The ``feature`` and the ``threshold`` of a leaf, and the child of one, as in scikit-learn.
UNDEFINED = -2
NO_CHILD = -1
#: The ``feature`` of a node whose test combines several attributes.
OBLIQUE = -3


class NodeArrays:
    """What trees of every kind have, under scikit-learn's names: an entry for each node, the root first."""

    children: Any
    counts: Any
    classes: Any
    fill: Any
    impurities: Any
    outputs: Any

    @property
    def node_count(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.children)

    @property
    def n_features(self) -> int:
        """Number of attributes."""
        return len(self.fill)

    @property
    def n_outputs(self) -> int:
        """Number of targets: one."""
        return 1

    @property
    def n_classes(self) -> np.ndarray:
        """Number of classes, 1 where numbers are predicted; an array with an entry for the only target."""
        return np.array([max(len(self.classes), 1)])

    @property
    def weighted_n_node_samples(self) -> np.ndarray:
        """Weight of the training examples of each node."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def n_node_samples(self) -> np.ndarray:
        """Number of training examples of each node.

        A tree keeps weights, which add up to the effective number of examples. This is the weight, rounded to a whole
        number.
        """
        return np.asarray(np.rint(self.weighted_n_node_samples), dtype=np.int64)

    @property
    def impurity(self) -> np.ndarray:
        """Gini impurity of each node, whatever the criterion; or its mean loss, where numbers are predicted."""
        sizes = self.weighted_n_node_samples
        return np.asarray(self.impurities * (sizes[0] / np.maximum(sizes, np.finfo(float).tiny)))

    @property
    def value(self) -> np.ndarray:
        """What each node predicts, (n_nodes, 1, n_classes): the share of each class, or one number."""
        return np.asarray(self.outputs()[:, None, :])


class BinaryNodeArrays(NodeArrays):
    """What trees of linear tests, with two branches at a node, have in addition."""

    terms: Any
    features: Any
    coefficients: Any
    thresholds: Any
    directions: Any

    @property
    def children_left(self) -> np.ndarray:
        """The child for examples that do not exceed the threshold; -1 at leaves."""
        return np.asarray(self.children[:, 0])

    @property
    def children_right(self) -> np.ndarray:
        """The child for examples that exceed the threshold; -1 at leaves."""
        return np.asarray(self.children[:, 1])

    @property
    def _is_inner(self) -> np.ndarray:
        return np.asarray(self.children[:, 0] != NO_CHILD)

    @property
    def feature(self) -> np.ndarray:
        """The attribute of an axis-parallel test; -3 where a test combines several, -2 at leaves."""
        feature = np.where(self._is_inner, OBLIQUE, UNDEFINED)
        single = np.flatnonzero(np.diff(self.terms) == 1)
        first = self.terms[single]
        feature[single] = np.where(self.coefficients[first] == 1.0, self.features[first], OBLIQUE)
        return feature

    @property
    def threshold(self) -> np.ndarray:
        """The threshold of each test, on the attribute or on the linear combination; -2 at leaves."""
        return np.where(self._is_inner, self.thresholds, float(UNDEFINED))

    @property
    def missing_go_to_left(self) -> np.ndarray:
        """Whether missing values of the attribute of an axis-parallel test go left; 0 at all other nodes."""
        feature = self.feature
        filled = self.fill[np.maximum(feature, 0)] <= self.thresholds
        goes_left = np.where(self.directions == 0, filled, self.directions < 0)
        return np.asarray(goes_left & (feature >= 0), dtype=np.uint8)

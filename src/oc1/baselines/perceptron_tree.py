"""Perceptron trees: a linear threshold unit where it converges, an attribute where it does not (Utgoff 1989)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.training import Training
from ..growing.splitters import Splitter
from ..kernels.perceptron import train_unit
from ..learners.by_splitter import SplitterClassifier
from ..learners.parameters import at_least, parameter
from .grouping import TwoClassProblem, TwoClassSplitter


@dataclass
class PerceptronSplitter(TwoClassSplitter):
    """Splits a node by a unit that converges on it, else by the best axis-parallel test."""

    learner: PerceptronTreeClassifier

    def find_plane(self, problem: TwoClassProblem, seed: int) -> tuple[np.ndarray, bool]:
        """Train the unit; it is preferred if it converges."""
        signed = np.column_stack([problem.X, np.ones(len(problem.X))]) * problem.sides[:, None]
        unit, error, n_updates = train_unit(signed, problem.weights, self.learner.max_epochs, np.uint64(seed))
        self.n_hyperplanes += n_updates
        return unit, error == 0


@dataclass(kw_only=True, eq=False, repr=False)
class PerceptronTreeClassifier(SplitterClassifier):
    """Perceptron tree (Utgoff 1989), reconstructed.

    A linear threshold unit is trained at each leaf. If it converges, it separates the leaf's classes and becomes an
    oblique test with a leaf on each side. If not, the leaf is split on the attribute with the highest information gain,
    and new units are trained below.

    The unit is trained by the perceptron rule on standardised attributes, with each distinct example once per epoch; it
    has converged when it makes no errors. If no attribute has any information gain, the best unit found is used even
    though it has not converged. (Example weights count in the errors of a unit, in the choice of the attribute and in
    the leaves.) If there are more than two classes, they are combined into two groups: the class means are projected
    onto their first principal axis, and the axis is cut where the scatter between the groups is largest. The nodes
    below a converged unit separate the classes within a group.

    Parameters
    ----------
    max_epochs : int, default=3000
        Number of passes through the examples after which training of a unit is abandoned.
    max_depth, min_samples_split, min_samples_leaf, max_leaf_nodes, prune, prune_fraction, prune_se, ccp_alpha, \
            class_weight, smoothing, random_state, verbose
        See `OC1Classifier`.
    min_impurity_decrease : float, default=0.0
        A node is split only if the information gain in bits, times its share of the examples, is at least this.

    Attributes
    ----------
    tree_, unpruned_tree_, pruning_path_, classes_, n_features_in_, feature_names_in_, feature_importances_
        See `OC1Classifier`.
    n_hyperplanes_ : int
        Number of corrections of units plus attributes searched for axis-parallel tests.

    Examples
    --------
    >>> from oc1.baselines import PerceptronTreeClassifier
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> PerceptronTreeClassifier(prune=None, random_state=0).fit(X, ["no", "yes", "yes", "yes"]).get_n_leaves()
    2
    """

    max_epochs: int = parameter(3000, at_least(1))

    def _splitter(self, data: Training, rows: np.ndarray) -> Splitter:
        return PerceptronSplitter(self)

"""MSM-T: hyperplanes by linear programming (Bennett & Mangasarian 1992)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from ..data.training import Training
from ..growing.splitters import Splitter
from ..learners.by_splitter import SplitterClassifier
from .grouping import TwoClassProblem, TwoClassSplitter


def nearest_plane(X: np.ndarray, sides: np.ndarray, weights: np.ndarray) -> np.ndarray | None:
    """Find the plane that minimises the mean distance by which the examples of each side miss their margin.

    Solves ``min sum_i c_i max(0, 1 - sides_i * plane . (x_i, 1))``, where the ``c_i`` are the weights as shares of
    their side: Bennett & Mangasarian's linear program.

    Parameters
    ----------
    X : float array (n, d)
    sides : float array (n,)
        1 or -1; both occur.
    weights : float array (n,)

    Returns
    -------
    float array (d + 1,) or None
        The coefficients and the constant; None if the solver failed.
    """
    share = np.where(sides > 0, weights / weights[sides > 0].sum(), weights / weights[sides < 0].sum())
    # The dual has a variable for each example but only d + 1 rows, which suits the simplex method: a box for each
    # multiplier, and the plane as the price of the rows. Its size is free; so the boxes are about 1, well above the
    # solver's tolerance.
    rows = np.column_stack([X, np.ones(len(X))]).T * sides
    boxes = np.column_stack([np.zeros(len(X)), share * (0.5 * len(X))])
    answer = linprog(-np.ones(len(X)), A_eq=rows, b_eq=np.zeros(len(rows)), bounds=boxes, method="highs")
    return -answer.eqlin.marginals if answer.status == 0 else None


class LinearProgramSplitter(TwoClassSplitter):
    """Splits a node by a linear program; where its plane is of no use, by the best axis-parallel test."""

    def find_plane(self, problem: TwoClassProblem, seed: int) -> tuple[np.ndarray | None, bool]:
        """Solve the linear program."""
        self.n_hyperplanes += 1
        return nearest_plane(problem.X, problem.sides, problem.weights), True


@dataclass(kw_only=True, eq=False, repr=False)
class MSMTClassifier(SplitterClassifier):
    """Decision tree by linear programming (the multisurface method tree, MSM-T; Bennett & Mangasarian 1992).

    Each test is the hyperplane that minimises the mean distance of the misclassified examples from their side's margin,
    with equal weight for both classes. A linear program finds it exactly, on standardised attributes. If it finds no
    plane, or one without information gain, the node gets the best axis-parallel split.

    If a node has more than two classes, they are combined into two groups: the class means are projected onto their
    first principal axis, and the axis is cut where the scatter between the groups is largest. The nodes below separate
    the classes within a group.

    Parameters
    ----------
    max_depth, min_samples_split, min_samples_leaf, max_leaf_nodes, prune, prune_fraction, prune_se, ccp_alpha, \
            class_weight, smoothing, random_state, verbose
        See `OC1Classifier`. Only the pruning is random.
    min_impurity_decrease : float, default=0.0
        A node is split only if the information gain in bits, times its share of the examples, is at least this.

    Attributes
    ----------
    tree_, unpruned_tree_, pruning_path_, classes_, n_features_in_, feature_names_in_, feature_importances_
        See `OC1Classifier`.
    n_hyperplanes_ : int
        Number of linear programs solved plus attributes searched for axis-parallel tests.

    Examples
    --------
    >>> from oc1.baselines import MSMTClassifier
    >>> from oc1.datasets import make_ls10
    >>> X, y = make_ls10(random_state=0)
    >>> MSMTClassifier(random_state=0).fit(X, y).get_n_leaves()
    2
    """

    def _splitter(self, data: Training, rows: np.ndarray) -> Splitter:
        return LinearProgramSplitter()

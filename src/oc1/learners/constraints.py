"""Further constraints on the growth of a tree, under the names that scikit-learn's trees have for them."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..growing.subspaces import SUBSPACE_SIZES, subspace_size
from .parameters import number_or_share, parameter
from .trees import TreeEstimator


@dataclass(kw_only=True, eq=False, repr=False)
class ConstrainedTree(TreeEstimator):
    """Base of the trees that take `max_features` and `min_weight_fraction_leaf`."""

    max_features: float | str | None = parameter(None, *number_or_share(1), StrOptions(set(SUBSPACE_SIZES)), None)
    min_weight_fraction_leaf: float = parameter(0.0, Interval(Real, 0.0, 0.5, closed="both"))

    @property
    def max_features_(self) -> int:
        """Number of attributes that are looked at, at a node."""
        check_is_fitted(self, "n_features_in_")
        return subspace_size(self.max_features, self.n_features_in_)

"""Trees that can say why they answer as they do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy.typing as npt

if TYPE_CHECKING:
    from ..explaining import Explanation


class ExplainableTree:
    """Base of the tree learners: they explain their answers."""

    #: Whether an example with a missing value goes down several branches.
    _divides_missing: ClassVar[bool] = False

    def explain(self, x: Any, *, within: npt.ArrayLike | None = None) -> Explanation:
        """Explain the answer for one example: its way through the tree, and what would change the answer.

        Parameters
        ----------
        x : array-like (n_features,) or (1, n_features), or mapping
            Values in order, one row of a table, or values by the names of the attributes.
        within : array-like (n_samples, n_features), optional
            Examples: no change leads beyond the smallest and the largest value of each attribute among them.

        Returns
        -------
        oc1.explaining.Explanation
            Print it, or let a notebook show it; ``to_dict``, ``to_html`` and ``save`` are there, too.
        """
        from ..explaining import explain_tree, one_row, ranges_of

        return explain_tree(self, one_row(self, x), ranges_of(self, within))

"""OC1 on a Dask cluster: one tree from data that no machine can hold, and many independent fits at once.

`DaskOC1Classifier` fits one tree to Dask arrays and dataframes. Inside ``with on_cluster(address):``, votes of trees,
cross-validations and experiments run on the workers.
"""

from __future__ import annotations

from .clusters import ClusterError, on_cluster
from .estimator import DaskOC1Classifier

__all__ = ["ClusterError", "DaskOC1Classifier", "on_cluster"]

"""OC1 on a Dask cluster: one tree from data that do not fit on one machine, or many independent fits.

`DaskOC1Classifier` fits one tree to Dask arrays and dataframes. Inside ``with on_cluster(address):``, ensembles,
cross-validations and experiments run on the workers.
"""

from __future__ import annotations

from .clusters import ClusterError, on_cluster
from .estimator import DaskOC1Classifier

__all__ = ["ClusterError", "DaskOC1Classifier", "on_cluster"]

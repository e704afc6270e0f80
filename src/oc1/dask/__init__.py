"""OC1 on a Dask cluster: one tree from data that do not fit on one machine, or many independent fits.

`DaskOC1Classifier` takes Dask arrays and dataframes, whose rows stay on the workers, and returns the tree that one
machine would have grown. Inside ``with on_cluster(address):``, all that joblib runs in parallel (ensembles,
cross-validations, experiments) runs on the workers; a `ClusterError` says when the cluster failed, not the work.
Begin with `estimator`; the words of errors about data are in `inputs` and `partitions`, about clusters in `clusters`.
"""

from __future__ import annotations

from .clusters import ClusterError, on_cluster
from .estimator import DaskOC1Classifier

__all__ = ["ClusterError", "DaskOC1Classifier", "on_cluster"]

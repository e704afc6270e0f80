"""`DaskOC1Classifier`: the learner of `OC1Classifier` for data that are spread over the workers of a cluster."""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import dask
import numpy as np
from distributed import Client, default_client
from sklearn.base import _fit_context, clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from ..data.exact_moments import exact_moments
from ..data.training import Training
from ..growing.grower import make_grower
from ..growing.nodes import build_tree
from ..growing.options import TreeSetup
from ..growing.progress import Reporter, fit_bar
from ..learners.base import unchanged_on_failure
from ..learners.classifier import OC1Classifier
from ..learners.parameters import parameter
from ..learners.trees import Grown
from ..tree.linear import Tree
from ..tree.pruning import PruningSequence
from .clusters import clear_failures
from .engine import MAX_MOVED_BYTES, ClusterEngine
from .inputs import delayed_rows, is_collection
from .partitions import Partition, prepare
from .predict import predict
from .session import Session
from .training import ClusterTraining


@dataclass(kw_only=True, eq=False, repr=False)
class DaskOC1Classifier(OC1Classifier):
    """OC1 on the workers of a Dask cluster.

    The data stay on the workers, and the tree is bit for bit the one that `OC1Classifier` grows on one machine, for any
    number of workers and partitions (with non-integer weights, up to the order in which they are added up).

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster. None: the client that was created last.
    **parameters
        All parameters of `OC1Classifier`, with the same names and defaults. ``n_jobs`` has no effect: all threads of
        the workers are used. `max_features` is an error above 100,000 rows, because it needs all data in one
        place.

    Attributes
    ----------
    traffic_ : Traffic
        What was sent between client and cluster during the fit: rounds, tasks, bytes.
    n_searched_ : int
        Number of nodes that all workers searched together; the others were grown in subtrees, by one worker each.
    tree_, classes_, n_features_in_, ...
        As in `OC1Classifier`.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from oc1.dask import DaskOC1Classifier
    >>> client = Client(processes=False, n_workers=1, dashboard_address=None)
    >>> X = da.random.default_rng(0).normal(size=(1000, 3), chunks=(250, 3))
    >>> clf = DaskOC1Classifier(random_state=0).fit(X, X[:, 0] + X[:, 1] > 0)
    >>> clf.get_n_leaves()
    2
    >>> clf.predict(X)[:3].compute().shape
    (3,)
    >>> client.close()
    """

    client: Client | None = parameter(None, HasMethods(["submit", "gather"]), None)

    _max_moved_bytes: ClassVar[int] = MAX_MOVED_BYTES

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy that uses the same client."""
        parameters = self.get_params(deep=False)
        client = parameters.pop("client")
        return type(self)(client=client, **{name: clone(value, safe=False) for name, value in parameters.items()})

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: not the client, which belongs to this process."""
        return {**super().__getstate__(), "client": None}

    # ------------------------------------------------------------------------------------------------ fitting

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow and prune the tree, on the workers.

        Parameters
        ----------
        X : dask Array (n_samples, n_features) or dask DataFrame
            Numbers, NaN where a value is missing; categories where ``categorical_features`` says so.
        y : dask Array (n_samples,), dask Series, or dask DataFrame of one column
            Class labels, in as many partitions as X.
        sample_weight : like y, optional
            How much the examples count beside each other; multiplying all weights changes nothing. 0 is the same as
            leaving an example out.

        Returns
        -------
        self
        """
        client = self._client()
        bar = fit_bar(type(self).__name__)
        with unchanged_on_failure(self), bar, clear_failures(client), Session(client) as session:
            prepared = prepare(session, X, y, sample_weight, self.class_weight, self.categorical_features)
            self.classes_, self.n_features_in_ = prepared.classes, X.shape[1]
            _check_feature_names(self, X._meta, reset=True)
            names = tuple(str(name) for name in getattr(self, "feature_names_in_", ()))
            seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
            data = ClusterTraining(session=session, feature_names=names, seed=seed, **prepared._asdict())
            self.n_searched_ = 0
            if data.n_examples <= self._large:
                self._learn_on_one_worker(data)
            elif self.max_features_ < self.n_features_in_:
                raise ValueError(
                    f"max_features={self.max_features!r} needs all examples in one place, at most {self._large:,} on a "
                    "cluster: leave it at None"
                )
            else:
                self._learn_in_numbers(data.with_fill())  # type: ignore[arg-type]
            self.traffic_ = session.traffic
        if self.verbose:
            Reporter(self.verbose).write(str(self.traffic_))
        return self

    def _client(self) -> Client:
        try:
            client = default_client() if self.client is None else self.client
        except ValueError:
            raise ValueError(
                "there is no Dask client: make one with dask.distributed.Client(), or give it as the parameter client"
            ) from None
        if getattr(client, "asynchronous", False):
            raise ValueError("the client is asynchronous, but fit waits for its answers: give a synchronous one")
        return client

    def _learn_on_one_worker(self, data: ClusterTraining) -> None:
        local = self._local().set_params(random_state=None, n_jobs=None, verbose=0)
        known = {name: getattr(data, name) for name in ("classes", "feature_names", "seed", "categories")}
        self.__dict__.update(data.session.ask([(fit_whole, data.partitions, local, known)])[0])

    def _grow_tree(self, data: Any, share: Any, weights: np.ndarray | None) -> Grown:
        if isinstance(data, Training):  # a sample, in this process
            return super()._grow_tree(data, share, weights)
        # A worker grows its subtrees in one thread: there are others that wait for theirs.
        # Nodes that no worker can hold are searched in rounds, also where the preset would not have it.
        options = replace(self._options(len(data.classes)), n_jobs=1, min_large_rows=self._large)
        statistics, scale = data.statistics_of(share, options.normalize, 1.0 if options.is_informative else None)
        setup = TreeSetup(options, data.fill, len(data.classes), data.coded, statistics)
        engine = ClusterEngine(data.session, data.root_groups(share, setup), setup, self._max_moved_bytes)
        grower = make_grower(engine, Reporter(self.verbose, data.feature_names))
        tree = build_tree(grower.grow(data.seed), data.fill, data.classes, data.feature_names)
        self.n_searched_ += engine.n_searched
        if options.max_leaf_nodes is not None:
            tree = best_first(tree, options.max_leaf_nodes)
        if data.coded:  # a copy, for this tree
            data.session.release(partition.X for partition in data.partitions)
        return Grown(tree, grower.n_hyperplanes, scale)

    def _judge(self, data: Any, sequence: PruningSequence, share: Any) -> np.ndarray:
        return np.asarray(data.judge(sequence, share))

    # ------------------------------------------------------------------------------------------------ using

    def to_local(self) -> OC1Classifier:
        """Return the fitted model as a plain `OC1Classifier`, independent of the cluster."""
        check_is_fitted(self)
        local = self._local()
        own = {"traffic_", "n_searched_", *self.get_params(deep=False)}
        local.__dict__.update({name: value for name, value in self.__dict__.items() if name not in own})
        return local

    def _local(self) -> OC1Classifier:
        parameters = self.get_params(deep=False)
        del parameters["client"]
        return OC1Classifier(**parameters)

    def predict(self, X: Any) -> Any:
        """Return the class of each example: the majority of its leaf.

        Parameters
        ----------
        X : dask Array or DataFrame, or array-like (n_samples, n_features)

        Returns
        -------
        dask Array or Series, not computed yet; or array (n_samples,)
        """
        return predict(self.to_local(), "predict", X) if is_collection(X) else super().predict(X)

    def predict_proba(self, X: Any) -> Any:
        """Return the share of each class in the leaf of each example, after smoothing.

        Parameters
        ----------
        X : dask Array or DataFrame, or array-like (n_samples, n_features)

        Returns
        -------
        dask Array or DataFrame, not computed yet; or array (n_samples, n_classes)
        """
        return predict(self.to_local(), "predict_proba", X) if is_collection(X) else super().predict_proba(X)

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of `predict_proba`.

        Parameters
        ----------
        X : dask Array or DataFrame, or array-like (n_samples, n_features)

        Returns
        -------
        dask Array or DataFrame, not computed yet; or array (n_samples, n_classes)
        """
        return predict(self.to_local(), "predict_log_proba", X) if is_collection(X) else super().predict_log_proba(X)

    def apply(self, X: Any) -> Any:
        """Return the number of the leaf that each example ends up in.

        Parameters
        ----------
        X : dask Array or DataFrame, or array-like (n_samples, n_features)

        Returns
        -------
        dask Array or Series, not computed yet; or int array (n_samples,)
        """
        return predict(self.to_local(), "apply", X) if is_collection(X) else super().apply(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the given examples.

        Parameters
        ----------
        X : dask Array or DataFrame, or array-like (n_samples, n_features)
        y : like X, (n_samples,)
        sample_weight : like y, optional

        Returns
        -------
        float
        """
        if not is_collection(X):
            return float(super().score(X, y, sample_weight))
        counting, model = dask.delayed(count_right), dask.delayed(self.to_local())
        parts = [counting(model, *own) for own in delayed_rows(X, y, sample_weight)[1]]
        # What the user keeps on a cluster is only to be had there.
        answers = dask.compute(*parts) if self.client is None else self.client.gather(self.client.compute(parts))
        right, total = np.sum(answers, axis=0)
        return float(right / total)


def fit_whole(partitions: list[Partition], model: OC1Classifier, known: dict[str, Any]) -> dict[str, Any]:
    """Fit a model to all partitions, in one place, given the other fields of `Training`; return what it learnt."""
    X, y, weights = map(np.concatenate, zip(*(own[:3] for own in partitions), strict=True))
    own_weights = weights if weights.size else None
    before = set(model.__dict__)
    moments = exact_moments(X, own_weights)
    model._learn_in_numbers(Training(X, y, own_weights, moments.means, moments=moments, **known))
    return {name: value for name, value in model.__dict__.items() if name not in before}


def count_right(model: OC1Classifier, X: Any, y: Any, weights: Any) -> tuple[float, float]:
    """Return the weight of the examples that a model classifies right, and of all; None: their numbers."""
    if len(X) == 0:
        return 0.0, 0.0
    right = model.predict(X) == np.asarray(y).ravel()
    own_weights = np.ones(len(right)) if weights is None else np.asarray(weights, dtype=np.float64).ravel()
    return float(own_weights[right].sum()), float(own_weights.sum())


def best_first(tree: Tree, max_leaf_nodes: int) -> Tree:
    """Keep the splits that gain most, until there are enough leaves.

    Splits do not depend on each other, so this is the tree that would have been grown best first.
    """
    order = itertools.count()
    gains = tree.gains * tree.counts.sum(axis=1)
    heap = [(-gains[0], next(order), 0)] if tree.n_nodes > 1 else []
    leaf, leaves = np.ones(tree.n_nodes, dtype=bool), 1
    while heap and leaves < max_leaf_nodes:
        node = heapq.heappop(heap)[2]
        leaf[node] = False
        leaves += 1
        for child in tree.children[node]:
            if tree.children[child, 0] >= 0:
                heapq.heappush(heap, (-gains[child], next(order), child))
    return tree.cut(leaf)

"""What OC1 is compared with: models of scikit-learn, and trees of other packages behind one interface.

No package is imported before it is needed: those that cannot share an environment are run from their own.
"""

from __future__ import annotations

from ast import literal_eval
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from harness import Learner
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

CCP_ALPHAS = (0.0, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
TREE = DecisionTreeClassifier(random_state=0)
SKLEARN = Learner("scikit-learn's tree", TREE)
SKLEARN_CV = Learner(
    "scikit-learn's tree, `ccp_alpha` by cross-validation", GridSearchCV(TREE, {"ccp_alpha": CCP_ALPHAS}, cv=5)
)
LOGISTIC = Learner("logistic regression", make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)))

#: Module and class of each package's tree.
CLASSES = {
    "scikit-learn": ("sklearn.tree", "DecisionTreeClassifier"),
    "STree": ("stree", "Stree"),
    "obliquetree": ("obliquetree", "Classifier"),
    "ydf": ("ydf", "CartLearner"),
    "ydf's forest": ("ydf", "RandomForestLearner"),
    "treeple": ("treeple.tree", "ObliqueDecisionTreeClassifier"),
}


class Peer(ClassifierMixin, BaseEstimator):
    """A tree of another package.

    Parameters
    ----------
    package : {"scikit-learn", "STree", "obliquetree", "ydf", "ydf's forest", "treeple"}
    parameters : dict or None, default=None
        As the package names them; None are its defaults.
    random_state : int or None, default=None
        None is 0.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> Peer("scikit-learn", {"max_depth": 1}).fit(*load_iris(return_X_y=True)).get_n_leaves()
    2
    """

    def __init__(self, package: str, parameters: dict[str, Any] | None = None, random_state: int | None = None) -> None:
        self.package = package
        self.parameters = parameters
        self.random_state = random_state

    def load(self) -> Any:
        """Import the package and return its class."""
        module, name = CLASSES[self.package]
        return getattr(import_module(module), name)

    def fit(self, X: np.ndarray, y: np.ndarray) -> Peer:
        """Train on arrays of numbers."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        parameters, seed = dict(self.parameters or {}), self.random_state or 0
        is_ydf = self.package.startswith("ydf")
        self._model: Any = (
            _Ydf(self.load(), parameters, seed) if is_ydf else self.load()(random_state=seed, **parameters)
        )
        self._X = X
        self._model.fit(X, codes)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class of each example."""
        return np.asarray(self.classes_[np.asarray(self._model.predict(X)).astype(np.int64)])

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        if self.package == "obliquetree":  # which does not say; but each of its leaves has training examples
            return len(np.unique(self._model.apply(self._X)))
        return int(self._model.nodes_leaves()[1] if self.package == "STree" else self._model.get_n_leaves())

    def get_n_terms(self) -> int | None:
        """Return the number of coefficients in all tests, None if it is not known."""
        if self.package == "scikit-learn":
            return self.get_n_leaves() - 1
        if self.package == "STree":
            return sum(len(node.get_features()) for node in self._model if not node.is_leaf())
        return None


class _Ydf:
    """A learner of ydf with scikit-learn's interface, on one thread as all others are."""

    def __init__(self, make: Any, parameters: dict[str, Any], seed: int) -> None:
        self.make, self.parameters, self.seed = make, parameters, seed

    def _columns(self, X: np.ndarray) -> dict[str, np.ndarray]:
        return {f"x{number}": column for number, column in enumerate(np.asarray(X, dtype=np.float32).T)}

    def fit(self, X: np.ndarray, codes: np.ndarray) -> None:
        learner = self.make(
            label="label", include_all_columns=True, num_threads=1, random_seed=self.seed, **self.parameters
        )
        self.model = learner.train(self._columns(X) | {"label": codes.astype(str)}, verbose=0)

    def predict(self, X: np.ndarray) -> np.ndarray:
        scores = self.model.predict(self._columns(X))
        best = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0.5).astype(int)
        return np.asarray(np.array(self.model.label_classes())[best].astype(int))

    def get_n_leaves(self) -> int:
        nodes, n_leaves = [tree.root for tree in self.model.get_all_trees()], 0
        while nodes:
            node = nodes.pop()
            n_leaves += node.is_leaf
            nodes += [] if node.is_leaf else [node.neg_child, node.pos_child]
        return n_leaves


#: Parameters that have another name in a configuration.
SHORTHANDS: dict[str, dict[str, Any]] = {
    "normalize": {"normalize": True},
    "liblinear": {"kernel": "liblinear", "multiclass_strategy": "ovr", "normalize": True},
    "sparse oblique": {"split_axis": "SPARSE_OBLIQUE"},
    "MHLD oblique": {"split_axis": "MHLD_OBLIQUE"},
    "continuous weights": {
        "sparse_oblique_weights": "CONTINUOUS",
        "sparse_oblique_normalization": "STANDARD_DEVIATION",
    },
    "exponent=1.5": {"sparse_oblique_num_projections_exponent": 1.5},
}
#: The configurations, by package. An empty one stands for the package's defaults.
CONFIGURATIONS = {
    "scikit-learn": "; ccp_alpha=0.002; ccp_alpha=0.005; ccp_alpha=0.02; max_depth=5; max_depth=10; min_samples_leaf=5",
    "STree": "; C=0.1, normalize; C=1, normalize; C=10, normalize; C=1, normalize, max_depth=4; liblinear, C=0.1; "
    "liblinear, C=1",
    "obliquetree": "; ccp_alpha=0.005; max_depth=5",
    "ydf": "sparse oblique; sparse oblique, continuous weights; sparse oblique, exponent=1.5; MHLD oblique",
    "treeple": "; feature_combinations=2; min_samples_leaf=5; max_depth=8",
}


def _parameters(configuration: str) -> dict[str, Any]:
    """Return the parameters of a configuration like ``C=1, normalize``."""
    parameters: dict[str, Any] = {}
    for part in configuration.split(", ") if configuration else ():
        name, _, value = part.partition("=")
        parameters |= SHORTHANDS[part] if part in SHORTHANDS else {name: literal_eval(value)}
    return parameters


def make_peers() -> dict[str, Learner]:
    """Return all configurations of single trees by name, whether or not their packages are installed."""
    return {
        name: Learner(name, Peer(package, _parameters(own)))
        for package, configurations in CONFIGURATIONS.items()
        for own in configurations.split("; ")
        for name in [f"{package}, {own}".removesuffix(", ")]
    }


YDF_FOREST = Learner(
    "ydf's forest, sparse oblique",
    Peer(
        "ydf's forest",
        {"split_axis": "SPARSE_OBLIQUE", "num_trees": 100, "compute_oob_performances": False, "winner_take_all": False},
    ),
)


def package_of(estimator: Any) -> str | None:
    """Return the package that a learner, or the one inside a pipeline or a search, is from; None if it is no peer."""
    parts = [estimator, *estimator.get_params().values()]
    return next((part.package for part in parts if isinstance(part, Peer)), None)


@cache
def why_missing(package: str) -> str | None:
    """Return why a package cannot be used here, None if it can."""
    try:
        import_module(CLASSES[package][0])
    except ModuleNotFoundError as error:
        return f"{error.name} is not installed"
    except Exception as error:  # such as one that was compiled for another scikit-learn
        return f"{package} cannot be imported ({type(error).__name__}: {error})"
    return None

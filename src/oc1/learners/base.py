"""What every learner of the package shares, trees, votes and forests: how input is checked, and how models show up.

Estimators are dataclasses of their parameters: a parameter is declared once, with its type, its default and what is
allowed (`parameter`), and inherited; the constructor and the checks that scikit-learn expects follow from it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import Field, fields
from typing import Any, ClassVar, Self, TypeVar

import joblib
import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..data.categories import encode, explain_text, learn_and_encode
from ..data.ranges import check_attributes, ordinary_weights
from ..data.sparse_input import as_dense
from ..data.training import Training
from ..growing.progress import fit_bar
from ..tree.html import small_html
from .pickling import VersionedPickle

#: More than this, times a number of classes, could be infinite.
MAX_SMOOTHING = 1e300
Record = TypeVar("Record")


def seeded(estimator: Any, seed: int) -> Any:
    """Return a copy of the estimator in which every ``random_state``, also of the parts of a pipeline, is the seed."""
    model = clone(estimator)
    names = [name for name in model.get_params() if name == "random_state" or name.endswith("__random_state")]
    return model.set_params(**dict.fromkeys(names, seed))


@contextmanager
def unchanged_on_failure(estimator: BaseEstimator) -> Iterator[None]:
    """Restore the estimator as it was where fitting it fails."""
    before = estimator.__dict__.copy()
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


class BaseOC1Estimator(VersionedPickle, BaseEstimator):
    """Base of trees and votes of trees: they check their input and show themselves in notebooks in the same way."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # Where scikit-learn looks for them: what a class says of its parameters, on top of what it inherits.
        tables = [vars(base).get("_parameter_constraints", {}) for base in reversed(cls.__mro__)]
        tables.append({name: own.metadata["allowed"] for name, own in vars(cls).items() if isinstance(own, Field)})
        cls._parameter_constraints = {name: allowed for table in tables for name, allowed in table.items()}

    def __new__(cls, *args: Any, **parameters: Any) -> Self:
        """Make an estimator; answer scikit-learn's `splitter`, which says something else here, with a sentence."""
        if "splitter" in parameters and "splits" in cls._parameter_constraints:
            raise TypeError(
                f"{cls.__name__} has no parameter splitter: every test is the best one that is found, and splits says "
                "which kinds of tests there are (splits='axis': one attribute at a time, as in scikit-learn)"
            )
        return super().__new__(cls)  # type: ignore[no-any-return]

    def __dask_tokenize__(self) -> str:
        """Return what Dask tells models apart by; of a dataclass it would only look at the parameters."""
        return str(joblib.hash(self))

    def __call__(self, X: npt.ArrayLike) -> np.ndarray:
        """Return the probabilities of the classes, or the predicted numbers: what shap.Explainer asks of a model.

        Parameters
        ----------
        X : array-like (n_samples, n_features)

        Returns
        -------
        array (n_samples, n_classes) or (n_samples,)
        """
        model: Any = self
        return np.asarray(model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X))

    def _from_parameters(self, kind: type[Record], **further: Any) -> Record:
        """Make a dataclass whose fields are parameters of the same names, but for those given here."""
        own = {field.name for field in fields(kind) if field.init} & set(self._get_param_names())  # type: ignore[arg-type]
        return kind(**{name: getattr(self, name) for name in own - further.keys()}, **further)

    def _checked(self, X: npt.ArrayLike) -> np.ndarray:
        """Return the input of a prediction as an array of numbers."""
        return as_dense(self._checked_rows(X))

    def _checked_rows(self, X: npt.ArrayLike) -> Any:
        """Return the input of a prediction as numbers: an array, or a sparse matrix."""
        check_is_fitted(self)
        if getattr(self, "categories_", None) is not None:
            X = encode(X, self.categories_, type(self).__name__)
        return self._validated(X, reset=False)

    def _validated(self, X: npt.ArrayLike, *y: npt.ArrayLike, reset: bool = True) -> Any:
        wanted = {
            "dtype": [np.float64, np.float32],
            "ensure_all_finite": "allow-nan",
            "accept_sparse": ["csr", "csc"],
        }
        try:
            return validate_data(self, X, *y, reset=reset, **wanted)
        except ValueError as error:
            if "could not convert" in str(error):
                explain_text(X, hasattr(self, "categorical_features"))
            raise

    def _weights(self, sample_weight: npt.ArrayLike | None, X: np.ndarray, y: np.ndarray) -> np.ndarray | None:
        """Return the weights of the examples, None if all count alike."""
        if sample_weight is None:
            return None
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        return ordinary_weights(weights)

    def _repr_html_inner(self) -> str:
        """Return what a notebook shows: the tree, once there is one."""
        fitted = hasattr(self, "tree_") or hasattr(self, "estimators_")
        return small_html(self) if fitted else str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Return what a notebook shows, as text and, unless scikit-learn's ``display`` is "text", as HTML."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle


class BaseOC1Classifier(ClassifierMixin, BaseOC1Estimator):
    """Base of trees and votes of trees that predict classes."""

    smoothing: float
    classes_: np.ndarray

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    def _checked_smoothing(self) -> float:
        """Return the parameter, which may have been changed since the fit."""
        if not 0 <= self.smoothing <= MAX_SMOOTHING:
            raise ValueError(f"smoothing must be from 0 to {MAX_SMOOTHING:g}, got {self.smoothing!r}")
        return self.smoothing

    @abstractmethod
    def predict_proba(self, X: npt.ArrayLike) -> np.ndarray:
        """Return the share of each class."""

    def predict_log_proba(self, X: npt.ArrayLike) -> np.ndarray:
        """Return the logarithm of `predict_proba`.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)

        Returns
        -------
        array (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))


class GrowingEstimator(BaseOC1Estimator):
    """Base of the learners that grow trees by themselves: trees and forests."""

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing values and sparse matrices are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Grow the tree, or the trees.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)
            Numbers; NaN where a value is missing. A sparse matrix is written out: it must fit into memory.
        y : array-like (n_samples,)
            Class labels, or the numbers to predict.
        sample_weight : array-like (n_samples,), optional
            How much the examples count beside each other: multiplying all weights changes nothing. What counts as
            evidence is their effective number, ``sum(w) ** 2 / sum(w ** 2)``; the parameters ``min_samples_...`` of
            most learners count rows. 0 is the same as leaving an example out.

        Returns
        -------
        self
        """
        with unchanged_on_failure(self), fit_bar(type(self).__name__):
            self._learn_in_numbers(self._validate(X, y, sample_weight))
            self.__dict__.pop("source_", None)  # of a model that was loaded from a file
        return self

    def _validate(self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None) -> Training:
        """Check the input; return it as training data."""
        X, categories = learn_and_encode(X, getattr(self, "categorical_features", None))
        checked, labels = self._validated(X, y)
        checked = as_dense(checked)
        target, classes = self._encode_target(labels)
        weights = self._weights(sample_weight, checked, labels)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        names = tuple(str(name) for name in getattr(self, "feature_names_in_", ()))
        n_jobs = joblib.effective_n_jobs(getattr(self, "n_jobs", None))
        data = Training.make(checked, target, weights, classes, names, seed, categories, n_jobs)
        assert data.moments is not None
        check_attributes(data.moments.lowest, data.moments.highest, names)
        return data

    @abstractmethod
    def _learn_in_numbers(self, data: Training) -> None:
        """Learn with numbers of examples in the place of shares."""

    @abstractmethod
    def _encode_target(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (class indices, classes), or (numbers, nothing)."""

"""What a model file holds, as Python objects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..inputs import FileColumns

FORMAT = "oc1 model"
#: Of the file format. Files of a later version are refused.
FORMAT_VERSION = 1
#: What a score may measure.
MEASURES = ("accuracy", "r2")


class Score(NamedTuple):
    """How well a model did on some examples.

    Attributes
    ----------
    measure : str
        One of `MEASURES`: the accuracy of a classifier, or the R2 of a regressor.
    value : float
    n_examples : int
    """

    measure: str
    value: float
    n_examples: int


@dataclass(frozen=True)
class Source:
    """Where a model comes from and what it is worth; stored beside it, where known.

    Attributes
    ----------
    target : str or None
        Name of the target column.
    one_hot : dict of str to tuple of str
        Text columns that were turned into columns of 0 and 1 before training, and their values.
    ranges : tuple of (float, float)
        Smallest and largest value of each attribute; NaN where none was known. Empty if not recorded.
    n_examples : int or None
    file : str or None
        Name of the data file, without its folder.
    date : str or None
        Of the training, like ``2026-11-16``.
    versions : dict of str to str
        Of the packages that trained it.
    training, held_out : Score or None
        On the training examples, and on examples that the model (or one grown on fewer of them) had not seen.
    columns : FileColumns or None
        Which columns of the training file are what; None if the target is the last, and all others are attributes.
    """

    target: str | None = None
    one_hot: dict[str, tuple[str, ...]] = field(default_factory=dict)
    ranges: tuple[tuple[float, float], ...] = ()
    n_examples: int | None = None
    file: str | None = None
    date: str | None = None
    versions: dict[str, str] = field(default_factory=dict)
    training: Score | None = None
    held_out: Score | None = None
    columns: FileColumns | None = None


@dataclass(frozen=True)
class ModelRecord:
    """A fitted model before it is an estimator, which takes scikit-learn.

    Attributes
    ----------
    learner : str
        Name of its class.
    parameters : dict
        As the file has them.
    attributes : dict
        Of the fitted estimator, by their names. The members of a vote, ``estimators_``, are records themselves.
    """

    learner: str
    parameters: dict[str, Any]
    attributes: dict[str, Any]

    @property
    def is_plain_tree(self) -> bool:
        """Whether it is one tree whose leaves answer; C4.5 divides an example with missing values among leaves."""
        return self.attributes.get("tree_") is not None and self.learner != "C45Classifier"

    @property
    def has_valid_smoothing(self) -> bool:
        """Whether the smoothing can be used; it comes from a file, and may be anything."""
        smoothing = self.parameters.get("smoothing", 0.0)
        return type(smoothing) in (int, float) and 0.0 <= smoothing < float("inf")


class RecordedTree:
    """A model of one tree as a file has it: what is asked of an estimator to print or to convert it.

    It does not take scikit-learn, whose import takes longer than printing.
    """

    tree_: Any
    n_features_in_: int
    smoothing: float
    _scale: Any
    _conversion_notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, record: ModelRecord) -> Any:
        """Return the model of a record, under the name of its class."""
        model = type(record.learner, (cls,), {})()
        model.__dict__.update(record.attributes)
        if "smoothing" in record.parameters:
            model.smoothing = record.parameters["smoothing"]
        return model

    def _tree_for_conversion(self) -> Any:
        return self.tree_

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        return int(self.tree_.n_leaves)

    def get_depth(self) -> int:
        """Return the depth of the deepest leaf."""
        return int(self.tree_.max_depth)

    @property
    def feature_importances_(self) -> Any:
        """Gain of the splits by attribute; sums to 1 (or is all zero for a single leaf)."""
        return self.tree_.relative_importances(self._scale)


@dataclass(frozen=True)
class LoadedModel:
    """A fitted estimator and what is known of its training data.

    Attributes
    ----------
    model : fitted estimator
    source : Source
    """

    model: Any
    source: Source

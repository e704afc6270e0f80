"""What a model file holds, as Python objects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

FORMAT = "oc1 model"
#: Of the file format. Files of a later version are refused.
FORMAT_VERSION = 1


@dataclass(frozen=True)
class Source:
    """What the training data of a model looked like; stored beside it, where known.

    Attributes
    ----------
    target : str or None
        Name of the target column.
    one_hot : dict of str to tuple of str
        Text columns that were turned into columns of 0 and 1 before training, and their values.
    ranges : tuple of (float, float)
        Smallest and largest value of each attribute; NaN where none was known. Empty if not recorded.
    n_examples : int or None
    """

    target: str | None = None
    one_hot: dict[str, tuple[str, ...]] = field(default_factory=dict)
    ranges: tuple[tuple[float, float], ...] = ()
    n_examples: int | None = None


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

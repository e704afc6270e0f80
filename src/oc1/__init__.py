"""OC1: small, accurate, readable oblique decision trees."""

from typing import TYPE_CHECKING

from .classifier import OC1Classifier
from .ensemble import OC1EnsembleClassifier
from .regressor import OC1Regressor
from .warmup import warmup

if TYPE_CHECKING:
    from .comparing import compare

__version__ = "0.1.0"

__all__ = ["OC1Classifier", "OC1EnsembleClassifier", "OC1Regressor", "__version__", "compare", "warmup"]


def __getattr__(name: str):
    if name == "compare":  # imported when it is asked for: it needs much more of scikit-learn than the learners do
        from .comparing import compare

        return compare
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

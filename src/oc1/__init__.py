"""OC1: small, accurate, readable oblique decision trees."""

from .classifier import OC1Classifier
from .ensemble import OC1EnsembleClassifier
from .warmup import warmup

__version__ = "0.1.0"

__all__ = ["OC1Classifier", "OC1EnsembleClassifier", "__version__", "warmup"]

"""OC1: small, accurate, readable oblique decision trees."""

from .classifier import OC1Classifier
from .warmup import warmup

__version__ = "0.1.0"

__all__ = ["OC1Classifier", "__version__", "warmup"]

"""Fitted models as files: JSON, and the ``.dt`` files of 1994.

A fitted estimator and what is known of its training data (`Source`) go in, checked field by field on the way back, and
nothing in a file is ever executed. Begin with `save_model`, `load_model`, and `read_record` in `storage` for
what needs no scikit-learn.
"""

from .record import LoadedModel, Source
from .storage import load_model, read_model, save_model

__all__ = ["LoadedModel", "Source", "load_model", "read_model", "save_model"]

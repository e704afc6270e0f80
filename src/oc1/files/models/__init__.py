"""Model files in and out."""

from .record import LoadedModel, Source
from .storage import load_model, read_model, save_model

__all__ = ["LoadedModel", "Source", "load_model", "read_model", "save_model"]

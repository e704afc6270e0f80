"""Model files in and out."""

from .record import Source, StoredModel
from .storage import load_model, model_from_bytes, read_model, save_model

__all__ = ["Source", "StoredModel", "load_model", "model_from_bytes", "read_model", "save_model"]

"""OC1: small, accurate, readable oblique decision trees."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._warmup import warmup
    from .evaluation.comparison import compare
    from .files.models.storage import load_model, save_model
    from .learners.classifier import OC1Classifier
    from .learners.ensemble import OC1EnsembleClassifier
    from .learners.forest import OC1ForestClassifier, OC1ForestRegressor
    from .learners.regressor import OC1Regressor

__version__ = "0.1.0"

__all__ = [
    "OC1Classifier",
    "OC1EnsembleClassifier",
    "OC1ForestClassifier",
    "OC1ForestRegressor",
    "OC1Regressor",
    "__version__",
    "compare",
    "load_model",
    "save_model",
    "warmup",
]

#: Where the public names live. They are imported when asked for: scikit-learn and Numba take two seconds, which
#: ``oc1 --help`` need not spend.
_HOMES = {
    "OC1Classifier": ".learners.classifier",
    "OC1EnsembleClassifier": ".learners.ensemble",
    "OC1ForestClassifier": ".learners.forest",
    "OC1ForestRegressor": ".learners.forest",
    "OC1Regressor": ".learners.regressor",
    "compare": ".evaluation.comparison",
    "load_model": ".files.models.storage",
    "save_model": ".files.models.storage",
    "warmup": "._warmup",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

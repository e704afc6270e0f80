"""OC1: small, accurate, readable oblique decision trees."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .classifier import OC1Classifier
    from .comparing import compare
    from .ensemble import OC1EnsembleClassifier
    from .files.models import load_model, save_model
    from .regressor import OC1Regressor
    from .warming import warmup

__version__ = "0.1.0"

__all__ = [
    "OC1Classifier",
    "OC1EnsembleClassifier",
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
    "OC1Classifier": ".classifier",
    "OC1EnsembleClassifier": ".ensemble",
    "OC1Regressor": ".regressor",
    "compare": ".comparing",
    "load_model": ".files.models",
    "save_model": ".files.models",
    "warmup": ".warming",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

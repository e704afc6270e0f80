"""Repeated cross-validation as in the paper, comparisons and scores."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .protocol import FoldRecord, PairedTest, Summary, corrected_t_test, cross_validate, nested, summarise

__all__ = ["FoldRecord", "PairedTest", "Summary", "corrected_t_test", "cross_validate", "nested", "summarise"]


def __getattr__(name: str) -> Any:
    # Imported when asked for: the protocol needs scikit-learn, the scores do not.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import protocol

    return getattr(protocol, name)

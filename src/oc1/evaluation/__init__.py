"""How good learners are: repeated cross-validation as in the paper, comparisons in words, scores of batches.

In go learners and examples; out come a record for each fold, and means, tests and advice made of these. Entry points:
`cross_validate` with `summarise` and `corrected_t_test`, and `oc1.compare`.
"""

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

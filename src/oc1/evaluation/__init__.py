"""The paper's protocol, comparisons and scores."""

from .protocol import FoldRecord, PairedTest, Summary, corrected_t_test, cross_validate, nested, summarise

__all__ = ["FoldRecord", "PairedTest", "Summary", "corrected_t_test", "cross_validate", "nested", "summarise"]

"""The paper's protocol, comparisons and scores."""

from .protocol import corrected_t_test, cross_validate, nested, summarise

__all__ = ["corrected_t_test", "cross_validate", "nested", "summarise"]

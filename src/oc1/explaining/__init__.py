"""Why a model answers as it does for one example, and the smallest change that would lead to another answer.

``model.explain(x)`` returns an `Explanation`. The geometry is in `half_spaces`, `regions` and `changes`, what happens
at each node in `steps`, the sentences are in `words`, and the HTML in `page`.
"""

from .explanation import Explanation, NamedChange, NewValue, Votes, explain_tree, explain_vote, one_row, ranges_of
from .steps import Alone, Evidence, Look, Side, Step

__all__ = [
    "Alone",
    "Evidence",
    "Explanation",
    "Look",
    "NamedChange",
    "NewValue",
    "Side",
    "Step",
    "Votes",
    "explain_tree",
    "explain_vote",
    "one_row",
    "ranges_of",
]

"""Why a model answers as it does for one example, and the smallest change that would lead to another answer.

A fitted model and one row go in, and an `Explanation` comes out, which is text, HTML, or plain lists and numbers.
`explain_tree` and `explain_vote` make it, behind ``model.explain(x)``. The geometry is in `half_spaces`, `regions` and
`changes`, what happens at each node in `steps`, every sentence in `words`, and the looks of the HTML in `page`.
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

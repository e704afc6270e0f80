"""A fitted model as a small piece of HTML for notebooks: no script, no page of its own."""

from __future__ import annotations

import html
from typing import Any

from .structure import TreeStructure

#: Of a larger tree only the first levels are shown.
MAX_NODES = 31
#: Longer names and tests are cut.
MAX_CHARACTERS = 120
#: The palette of Okabe and Ito.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#767676")

STYLE = """
.oc1-tree {font: 13px/1.5 system-ui, sans-serif; color: inherit; overflow-x: auto}
.oc1-tree ul {list-style: none; margin: 0; padding-left: 1.4em; border-left: 1px solid #8888}
.oc1-tree > ul {padding-left: 0; border-left: 0}
.oc1-tree li {margin: .15em 0 .15em 0; padding-left: .5em}
.oc1-tree .answer {opacity: .7; margin-right: .4em}
.oc1-tree .bar {display: inline-flex; width: 7em; height: .65em; margin: 0 .5em; vertical-align: 0; border-radius: 2px;
  overflow: hidden; background: #8883}
.oc1-tree .swatch {display: inline-block; width: .75em; height: .75em; border-radius: 2px; margin-right: .35em}
.oc1-tree .note {opacity: .7}
"""


def small_html(model: Any) -> str:
    """Return a fitted model as nested lists: tests, class counts as bars, and leaves.

    Parameters
    ----------
    model : fitted tree learner or vote of this package

    Returns
    -------
    str
        HTML without scripts. A tree of more than 31 nodes shows its first levels, a vote its first tree.

    Examples
    --------
    >>> from oc1 import OC1Classifier
    >>> from oc1.datasets import make_pol
    >>> shown = small_html(OC1Classifier(random_state=0).fit(*make_pol(random_state=0)))
    >>> "<script" in shown, shown.count("<li>") > 2
    (False, True)
    """
    members = getattr(model, "estimators_", [model])
    trees = [getattr(member, "tree_", None) for member in members]
    first = trees[0]
    if not isinstance(first, TreeStructure):
        return f"<pre>{html.escape(repr(model))}</pre>"
    notes = []
    leaves = sum(tree.n_leaves for tree in trees if tree is not None)
    if len(trees) > 1:
        notes.append(f"vote of {len(trees)} trees, {leaves} leaves; this is the first of them")
    else:
        notes.append(f"{leaves} {'leaf' if leaves == 1 else 'leaves'}, depth {first.max_depth}")
    shown = _first_levels(first)
    if len(shown) < first.n_nodes:
        notes.append(f"only the first levels are shown, {len(shown)} of {first.n_nodes} nodes")
    return (
        f'<div class="oc1-tree"><style>{STYLE}</style><b>{_escaped(repr(model), 300)}</b> '
        f'<span class="note">{"; ".join(notes)}</span><ul>{_node(first, 0, "", shown)}</ul></div>'
    )


def _first_levels(tree: TreeStructure) -> set[int]:
    """Return the nodes of as many levels as may be shown, the root at least."""
    level, shown = [0], {0}
    while level:
        level = [int(child) for node in level for child in tree.children[node] if child >= 0]
        if len(shown) + len(level) > MAX_NODES:
            break
        shown |= set(level)
    return shown


def _escaped(text: str, most: int = MAX_CHARACTERS) -> str:
    short = text if len(text) <= most else text[: most - 1] + "…"
    return html.escape(short.encode("utf-8", "replace").decode("utf-8"))


def _node(tree: TreeStructure, node: int, answer: str, shown: set[int]) -> str:
    before = f'<span class="answer">{answer}</span>' if answer else ""
    children = [int(child) for child in tree.children[node] if child >= 0]
    if not children:
        return f"<li>{before}{_leaf(tree, node)}</li>"
    test = " ".join(tree.question(node))
    if children[0] in shown:
        names, functions = tree.branch_names(node), tree.branch_functions(node)
        answers = [f"{name}: {words}" for name, words in zip(names, functions, strict=True)] if functions else names
        parts = zip(children, map(_escaped, answers), strict=True)
        below = "<ul>" + "".join(_node(tree, child, words, shown) for child, words in parts) + "</ul>"
    else:
        below = f' <span class="note">and {tree.leaves_below[node]} leaves below</span>'
    return f'<li>{before}<span title="{_escaped(test, 2000)}">{_escaped(test)}</span>{_bar(tree, node)}{below}</li>'


def _leaf(tree: TreeStructure, node: int) -> str:
    label, total = f"<b>{_escaped(tree.label(node))}</b>", tree.counts[node].sum()
    if not tree.predicts_classes:
        return f'{label} <span class="note">from {total:.6g}</span>'
    swatch = f'<span class="swatch" style="background:{COLOURS[tree.majority[node] % len(COLOURS)]}"></span>'
    counts = f'<span class="note">{tree.counts[node].max():.6g} of {total:.6g}</span>'
    return f"{swatch}{label}{_bar(tree, node)}{counts}"


def _bar(tree: TreeStructure, node: int) -> str:
    total = tree.counts[node].sum()
    if not (tree.predicts_classes and total > 0):
        return " "
    parts = [
        f'<span title="{_escaped(str(tree.classes[k]))}: {weight:.6g}" '
        f'style="width:{100 * weight / total:.2f}%;background:{COLOURS[k % len(COLOURS)]}"></span>'
        for k, weight in enumerate(tree.counts[node].tolist())
        if weight > 0
    ]
    return f'<span class="bar">{"".join(parts)}</span>'

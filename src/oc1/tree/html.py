"""A fitted model as a small piece of HTML for notebooks: no script, no page of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from .colours import class_colour, number_colour
from .notebooks import escaped
from .sketch import BINS, Sketch, first_levels
from .structure import TreeStructure
from .wording import looks_like, number, percent, terms_of

#: More classes than this are not all listed above the tree.
MAX_LISTED_CLASSES = 30
#: The terms of a test are listed with their shares if there are at least this many.
MIN_LISTED_TERMS = 3
#: Of a model's own description, this many characters are shown.
MAX_CHARACTERS = 300
#: Size of a histogram in pixels.
WIDTH, HEIGHT = 192, 36

STYLE = """
.oc1-tree {font: 13px/1.5 system-ui, sans-serif; color: inherit; overflow-x: auto}
.oc1-tree ul {list-style: none !important; margin: 0 !important; padding: 0 0 0 .8em !important;
  border-left: 1px solid #8888}
.oc1-tree > ul {padding-left: 0 !important; border-left: 0}
.oc1-tree li {margin: .3em 0; padding: 0}
.oc1-tree .note {opacity: .75}
.oc1-tree .word {display: inline-block; max-width: min(34em, 100%); overflow: hidden; text-overflow: ellipsis;
  white-space: nowrap; vertical-align: bottom}
.oc1-tree .answer {margin-right: .4em; font-style: italic}
.oc1-tree .answer::after {content: ":"}
.oc1-tree .bar {display: inline-flex; width: 7em; height: .7em; margin: 0 .5em; border-radius: 2px; overflow: hidden;
  background: #8883}
.oc1-tree .swatch {display: inline-block; width: .75em; height: .75em; border-radius: 2px; margin-right: .35em}
.oc1-tree .classes > span {display: inline-block; margin-right: 1em}
.oc1-tree .histogram {display: flex; flex-wrap: wrap; align-items: flex-end; column-gap: .4em; margin: .15em 0}
.oc1-tree .histogram svg {flex: none}
.oc1-tree .histogram .word {margin-left: .8em}
.oc1-tree details {margin: .1em 0}
.oc1-tree summary {cursor: pointer; opacity: .75; width: fit-content}
.oc1-tree table {border-collapse: collapse; margin: .2em 0 .4em; border: 0; font-variant-numeric: tabular-nums}
.oc1-tree tr, .oc1-tree td, .oc1-tree th {background: none !important; border: 0; color: inherit; font-weight: normal}
.oc1-tree td, .oc1-tree th {padding: 0 .8em 0 0; text-align: left !important; vertical-align: top; white-space: normal;
  max-width: none}
.oc1-tree td.number {text-align: right !important; white-space: nowrap}
.oc1-tree .share {display: inline-block; height: .6em; background: currentColor; opacity: .45; border-radius: 1px}
"""


def small_html(model: Any) -> str:
    """Return a fitted model, or a tree, as nested lists: tests, how the examples lie along them, and leaves.

    Parameters
    ----------
    model : fitted tree learner or vote of this package, or a tree

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
    trees = [getattr(member, "tree_", member) for member in members]
    first = trees[0]
    if not isinstance(first, TreeStructure):
        return f"<pre>{escaped(repr(model))}</pre>"
    title = repr(model)
    if len(title) > MAX_CHARACTERS:
        title = f"{title[: MAX_CHARACTERS - 1]}…"
    drawing = _Drawing(first, getattr(members[0], "_sketch", {}))
    notes = "; ".join(_notes(model, trees, len(drawing.shown)))
    return (
        f'<div class="oc1-tree"><style>{STYLE}</style><b>{escaped(title)}</b> <span class="note">{notes}</span>'
        f"{drawing.classes()}<ul>{drawing.node(0)}</ul></div>"
    )


def _notes(model: Any, trees: list[Any], n_shown: int) -> list[str]:
    """Say how large a model is, how good, and which part of it is shown."""
    first = trees[0]
    size = f"{first.n_leaves} {'leaf' if first.n_leaves == 1 else 'leaves'}, depth {first.max_depth}"
    if len(trees) > 1:
        n_leaves = sum(tree.n_leaves for tree in trees if isinstance(tree, TreeStructure))
        together = "forest" if hasattr(model, "_forest") else "vote"
        notes = [f"{together} of {len(trees)} trees, {n_leaves} leaves", f"this is the first of them: {size}"]
    else:
        notes = [size]
        if first.predicts_classes:
            notes.append(f"right in {percent(1 - float(first.costs[first.is_leaf].sum()))} of the training examples")
    held_out = getattr(getattr(model, "source_", None), "held_out", None)
    if held_out is not None:
        examples = f"{held_out.n_examples} held-out examples"
        is_share = held_out.measure == "accuracy"
        notes.append(
            f"in {percent(held_out.value)} of {examples}" if is_share else f"R² {number(held_out.value)} on {examples}"
        )
    if n_shown < first.n_nodes:
        notes.append(f"only the first levels are shown, {n_shown} of {first.n_nodes} nodes")
    return notes


class _Drawing:
    """One tree as HTML.

    Parameters
    ----------
    tree : TreeStructure
    sketch : dict
        How the training examples lie along its tests, where that is known.
    """

    def __init__(self, tree: TreeStructure, sketch: Sketch) -> None:
        self.tree, self.sketch = tree, sketch
        self.shown = first_levels(tree)
        self.leaves_below = tree.leaves_below
        if tree.predicts_classes:
            self.colours = [class_colour(k) for k in tree.majority.tolist()]
        else:
            values = tree.outputs()[:, 0]
            spread = float(np.ptp(values)) or 1.0
            self.colours = [number_colour(float(value - values.min()) / spread) for value in values]

    def classes(self) -> str:
        """List the classes with their colours."""
        tree = self.tree
        if not tree.predicts_classes:
            return ""
        names = [escaped(name) for name in tree.classes]
        listed = [
            f'<span class="word" title="{name}">{_swatch(class_colour(k))}{name}</span>' for k, name in enumerate(names)
        ]
        if len(listed) > MAX_LISTED_CLASSES:
            listed[MAX_LISTED_CLASSES:] = [f'<span class="note">and {len(listed) - MAX_LISTED_CLASSES} more</span>']
        return f'<div class="classes">{"".join(listed)}</div>'

    def node(self, node: int, answer: str = "") -> str:
        """Write a node and all below it that is shown."""
        tree = self.tree
        before = f'<span class="answer word" title="{escaped(answer)}">{escaped(answer)}</span>' if answer else ""
        children = [int(child) for child in tree.children[node] if child >= 0]
        if not children:
            return f"<li>{before}{self.leaf(node)}</li>"
        words = tree.question(node, max_terms="auto")
        test = " ".join(f'<span class="word" title="{escaped(word)}">{escaped(word)}</span>' for word in words)
        parts = [f"{before}<b>{test}</b>", self.histogram(node), self.terms(node)]
        if children[0] in self.shown:
            below = zip(children, tree.branch_names(node), strict=True)
            parts.append(f"<ul>{''.join(self.node(child, name) for child, name in below)}</ul>")
        else:
            parts.append(f'<span class="note">and {self.leaves_below[node]} leaves below</span>')
        return f"<li>{''.join(parts)}</li>"

    def leaf(self, node: int) -> str:
        """Write what a leaf predicts."""
        label, share, total = looks_like(self.tree, node)
        name = f'{_swatch(self.colours[node])}<b class="word" title="{escaped(label)}">{escaped(label)}</b>'
        if not self.tree.predicts_classes:
            return f'{name} <span class="note">from {_weight(total)} examples</span>'
        return f'{name}{self.bar(node)}<span class="note">{percent(share)} of {_weight(total)}</span>'

    def bar(self, node: int) -> str:
        """Draw the shares of the classes at a node."""
        counts, classes = self.tree.counts[node], self.tree.classes
        total = float(counts.sum())
        if total <= 0:
            return " "
        parts = [
            f'<span title="{escaped(classes[k])}: {_weight(counts[k])} ({percent(counts[k] / total)})" '
            f'style="width:{100 * counts[k] / total:.2f}%;background:{class_colour(k)}"></span>'
            for k in np.flatnonzero(counts > 0).tolist()
        ]
        return f'<span class="bar">{"".join(parts)}</span>'

    def histogram(self, node: int) -> str:
        """Draw how the examples lie along a test; without them, only the shares of the classes."""
        tree = self.tree
        label, share, total = looks_like(tree, node)
        words = f"{_weight(total)} examples"
        if tree.predicts_classes and share > 0.5:
            words += f", {percent(share)} {label}"
        elif tree.predicts_classes:
            words += f" of {np.count_nonzero(tree.counts[node])} classes"
        note = f'<span class="note word" title="{escaped(words)}">{escaped(words)}</span>'
        if node not in self.sketch:
            bar = self.bar(node) if tree.predicts_classes else ""
            return f"<div>{bar}{note}</div>"
        n_left, counts = self.sketch[node]
        no, yes = tree.branch_names(node)
        return (
            f'<div class="histogram"><span class="note">{escaped(no)}</span>{self.picture(node, n_left, counts)}'
            f'<span class="note">{escaped(yes)}</span>{note}</div>'
        )

    def picture(self, node: int, n_left: int, counts: np.ndarray) -> str:
        """Draw a histogram, stacked by classes, with a line at the threshold."""
        counts = counts.astype(float)
        tallest = max(counts.sum(axis=1).max(), 1.0)
        width = WIDTH / BINS
        floor = np.zeros(len(counts))
        paths: dict[str, list[str]] = {}
        for k in np.flatnonzero(counts.any(axis=0)).tolist():
            for place in np.flatnonzero(counts[:, k]).tolist():
                side = int(self.tree.children[node, int(place >= n_left)])
                colour = class_colour(k) if self.tree.predicts_classes else self.colours[side]
                # One example among thousands is still seen.
                height = max(HEIGHT * counts[place, k] / tallest, 0.8)
                top = HEIGHT - floor[place] - height
                floor[place] += height
                corner = f"M{place * width:g} {max(top, 0):.1f}h{width - 1:g}v{height:.1f}h-{width - 1:g}z"
                paths.setdefault(colour, []).append(corner)
        bars = "".join(f'<path fill="{colour}" d="{"".join(own)}"/>' for colour, own in paths.items())
        x = n_left * width - 0.5
        return (
            f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
            f"<title>training examples by the value of the test; the line is the threshold</title>{bars}"
            f'<path d="M{x:g} 0v{HEIGHT}" stroke="currentColor" stroke-width="1.5"/>'
            f'<path d="M0 {HEIGHT - 0.5}h{WIDTH}" stroke="currentColor" stroke-width=".5" opacity=".5"/></svg>'
        )

    def terms(self, node: int) -> str:
        """List all terms of a test, or all functions of a linear machine, behind a line to be clicked."""
        tree = self.tree
        if functions := tree.branch_functions(node):
            pairs = zip(tree.branch_names(node), functions, strict=True)
            rows = [f"<th>{escaped(name)}</th><td>{escaped(words)}</td>" for name, words in pairs]
            return _unfolded("the functions", rows)
        terms = terms_of(tree, node)
        if len(terms) < MIN_LISTED_TERMS:
            return ""
        rows = []
        for term in terms:
            row = f'<td class="number">{number(term.coefficient)}</td><th>{escaped(term.name)}</th>'
            if not np.isnan(term.share):
                bar = f'<span class="share" style="width:{12 * term.share:.2f}em"></span>'
                row += f'<td class="number">{percent(term.share)}</td><td>{bar}</td>'
            rows.append(row)
        return _unfolded(f"all {len(terms)} terms", rows)


def _weight(total: float) -> str:
    """Write how many examples there are, or what they weigh."""
    return f"{total:.0f}" if float(total).is_integer() and total < 1e9 else number(total, 4)


def _swatch(colour: str) -> str:
    return f'<span class="swatch" style="background:{colour}"></span>'


def _unfolded(title: str, rows: list[str]) -> str:
    table = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<details><summary>{escaped(title)}</summary><table>{table}</table></details>"

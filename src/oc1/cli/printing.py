"""How models and their scores are printed."""

from __future__ import annotations

import re
import shutil
import sys
from typing import Any

import typer

from .screen import print_table, say, say_words

#: A larger confusion matrix is not printed.
MAX_PRINTED_CLASSES = 100
#: Attributes whose importance is printed, the largest.
MAX_ATTRIBUTES = 10
#: Of classes, in a terminal; further ones are bold.
COLOURS = ("blue", "yellow", "green", "magenta", "cyan", "red")
#: What the kinds of tests are called that cross-validation chooses from.
KINDS = {"axis": "axis-parallel", "oblique": "oblique", "joint": "oblique and fitted together"}


def percent(share: float) -> str:
    """Write a share, a dash if there is none."""
    return "-" if share != share else f"{100 * share:.2f}%"


def print_tree(model: Any, **options: Any) -> bool:
    """Print the tree of a model, all trees of a vote or the first of a forest, in the colours of the terminal.

    Parameters
    ----------
    model : fitted estimator
    **options
        Of `oc1.tree.text.text`.

    Returns
    -------
    bool
        Whether tests have more terms than are printed.
    """
    from ..tree.text import WIDTH, text

    is_terminal = sys.stdout.isatty()
    width = max(WIDTH, shutil.get_terminal_size().columns) if is_terminal else WIDTH
    shown, n_trees = model, 0
    if hasattr(model, "_forest"):  # nobody reads a hundred trees
        shown, n_trees = model.estimators_[0], model.n_estimators
    written = text(shown, width=width, paint=_mark if is_terminal else None, **options)
    say(written, finish=_paint if is_terminal else None)
    if n_trees > 1:
        say(f"\n(the first of {n_trees} trees; oc1 explore shows each of them)")
    return "\N{HORIZONTAL ELLIPSIS}" in written


def _mark(name: str, number: int) -> str:
    """Mark the name of a class with its number."""
    # A name that holds such marks can do no more than change colours.
    return f"\u27e6{number}|{name}\u27e7"


def _paint(text: str) -> str:
    """Give the marked names their colours."""

    def paint(found: re.Match[str]) -> str:
        number = int(found[1])
        return typer.style(found[2], fg=COLOURS[number % len(COLOURS)], bold=number >= len(COLOURS))

    return re.sub("\u27e6([0-9]{1,9})[|](.*?)\u27e7", paint, text)


def print_node(tree: Any, node: int, digits: int) -> None:
    """Print where a node is, what its examples are, and each term of its test with its share."""
    from ..tree.wording import looks_like, number, percent, terms_of

    label, share, weight = looks_like(tree, node)
    mostly = f"{percent(share)} {label}" if tree.predicts_classes else f"predicted {label}"
    path, parents = [node], tree.parents
    while (above := int(parents[path[-1]])) >= 0:
        path.append(above)
    steps = []
    for above, below in zip(path[:0:-1], path[-2::-1], strict=True):
        branch = tree.children[above].tolist().index(below)
        steps.append(f"#{above} {tree.branch_names(above)[branch]}")
    way = f", reached by {', '.join(steps)}" if steps else ", the root"
    say(f"node #{node}: {number(weight, 6)} examples, {mostly}{way}")
    if terms := terms_of(tree, node):
        say()
        rows = [[term.name, number(term.coefficient, digits), percent(term.share)] for term in terms]
        print_table(["attribute", "coefficient", "share"], [[*row[:2], row[2].replace("nan%", "-")] for row in rows])
    say()


def size_of(model: Any) -> dict[str, Any]:
    """Return how large a model is."""
    trees = [one.tree_ for one in getattr(model, "estimators_", [model])]
    return {
        "leaves": int(model.get_n_leaves()),
        "depth": int(model.get_depth()),
        "n_trees": len(trees),
        "tests": sum(int((~tree.is_leaf).sum()) for tree in trees),
        "oblique_tests": sum(_n_oblique(tree) for tree in trees),
        "terms": sum(int(tree.n_terms) for tree in trees),
        "attributes": used_attributes(model),
    }


def _n_oblique(tree: Any) -> int:
    import numpy as np

    if hasattr(tree, "machine"):
        return int((~tree.is_leaf).sum())
    return int((np.diff(tree.terms) > 1).sum())


def used_attributes(model: Any) -> list[dict[str, Any]]:
    """Return the attributes that the tests use, the most important first."""
    from ..tree.text import attribute_names

    importances = model.feature_importances_
    names = attribute_names(model)
    used = sorted((m for m in range(len(names)) if importances[m] > 0), key=lambda m: (-importances[m], m))
    return [{"name": names[m], "importance": float(importances[m])} for m in used]


def print_size(model: Any, size: dict[str, Any]) -> None:
    """Print how large a model is, and which attributes it uses."""
    from ..tree.wording import percent

    votes = f" in {size['n_trees']} trees" if size["n_trees"] > 1 else ""
    say(f"leaves      {size['leaves']}{votes}, depth {size['depth']}")
    say(f"tests       {size['tests']}, {size['oblique_tests']} of them oblique; {size['terms']} terms in all")
    shown = [f"{own['name']} {own['importance']:.0%}," for own in size["attributes"][:MAX_ATTRIBUTES]]
    more = len(size["attributes"]) - len(shown)
    words = [f"{len(size['attributes'])} of {model.n_features_in_} used" + ":" * bool(shown), *shown]
    words[-1] = words[-1].removesuffix(",")
    _say_about("attributes", [*words, f"and {more} more"] if more else words)
    if rivals := getattr(model, "cv_accuracies_", None):
        shares = [f"{KINDS[kind]} {percent(own)}" for kind, own in rivals.items()]
        if list(rivals) == [model.splits_]:  # nothing to choose from
            shares = [percent(rivals[model.splits_])]
        _say_about("splits", [f"{KINDS[model.splits_]};", "accuracy by cross-validation:", *_listed(shares)])


def _listed(words: list[str]) -> list[str]:
    """Return words with commas between them."""
    return [*(f"{word}," for word in words[:-1]), *words[-1:]]


def _say_about(title: str, words: list[str]) -> None:
    """Print a line, or several, with a title before the first; words stay whole."""
    from ..tree.wording import wrapped

    first, *others = wrapped(words, 68)
    say("\n".join([f"{title:12}{first}", *(f"{'':12}{line}" for line in others)]))


def print_scores(title: str, scores: Any) -> None:
    """Print the accuracy, or the errors of predicted numbers."""
    figures = scores.to_dict()
    if "r2" in figures:
        errors = f"mean absolute error {figures['mean_absolute_error']:.4g}"
        say_words(f"{title}: R2 {figures['r2']:.4f}, {errors} ({figures['examples']} examples)")
        return
    say_words(f"{title}: {percent(figures['accuracy'])} ({figures['correct']} of {figures['examples']} examples)")


def print_classes(scores: dict[str, Any]) -> None:
    """Print the accuracy per class, of one or more scores side by side; titles stand above numbers of examples."""
    header, rows = ["class"], {str(label): [str(label)] for label in next(iter(scores.values())).classes}
    figures = [own.to_dict() for own in scores.values()]
    for label in dict.fromkeys(label for own in figures for label in own["unknown_classes"]):
        rows[f"{label} (unknown)"] = [f"{label} (unknown)"]
    for title, own in zip(scores, figures, strict=True):
        header += [title or "examples", "correct", "accuracy"]
        cells = {str(one["class"]): (one["examples"], one["correct"], one["accuracy"]) for one in own["classes"]}
        cells |= {f"{label} (unknown)": (sum(row), 0, 0.0) for label, row in own["unknown_classes"].items()}
        for name, row in rows.items():
            n, right, share = cells.get(name, (0, 0, float("nan")))
            row += [str(n), str(right), percent(share)]
    print_table(header, list(rows.values()))


def print_confusion(scores: Any) -> None:
    """Print how many examples of each class were called what, unless there are very many classes."""
    if len(scores.classes) > MAX_PRINTED_CLASSES:
        say(f"The confusion matrix of {len(scores.classes)} classes is left out; --json has it.")
        return
    labels = [str(label) for label in scores.classes]
    rows = [[label, *map(str, row)] for label, row in zip(labels, scores.counts.tolist(), strict=True)]
    rows += [[f"{label} (unknown)", *map(str, row.tolist())] for label, row in scores.unknown.items()]
    print_table(["true \\ predicted", *labels], rows)


def print_worth(source: Any) -> None:
    """Print how well a model did when it was trained, and where it comes from, as far as that is known."""
    from ..tree.wording import number, percent

    scores = []
    for score, what in ((source.held_out, "held-out examples"), (source.training, "training examples")):
        if score is not None:
            value = percent(score.value) if score.measure == "accuracy" else f"R2 {number(score.value)}"
            scores.append(f"{value} on {score.n_examples} {what}")
    if scores:
        _say_about("accuracy", _listed(scores))
    if source.n_examples is not None:
        of_what = f" of {source.target!r}" if source.target else ""
        file = f" in {source.file}" if source.file else ""
        date = f", {source.date}" if source.date else ""
        say(f"trained on  {source.n_examples} examples{of_what}{file}{date}")
    if source.versions:
        _say_about("trained by", _listed([f"{name} {version}" for name, version in source.versions.items()]))

"""``oc1 show``, and how models and scores are printed."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..options import Json, Model
from ..screen import plain, print_json, print_table, say

#: A larger confusion matrix is not printed.
MAX_PRINTED_CLASSES = 100


def percent(share: float) -> str:
    """Write a share, a dash if there is none."""
    return "-" if share != share else f"{100 * share:.2f}%"


def size_of(model: Any) -> dict[str, Any]:
    """Return how large a model is."""
    trees = [one.tree_ for one in getattr(model, "estimators_", [model])]
    return {
        "leaves": int(model.get_n_leaves()),
        "depth": int(model.get_depth()),
        "n_trees": len(trees),
        "tests": sum(int((~tree.is_leaf).sum()) for tree in trees),
        "oblique_tests": sum(_n_oblique(tree) for tree in trees),
        "attributes": used_attributes(model),
    }


def _n_oblique(tree: Any) -> int:
    import numpy as np

    if hasattr(tree, "machine"):
        return int((~tree.is_leaf).sum())
    return int((np.diff(tree.terms) > 1).sum())


def used_attributes(model: Any) -> list[dict[str, Any]]:
    """Return the attributes that the tests use, the most important first."""
    from ...tree.text import attribute_names

    importances = model.feature_importances_
    names = attribute_names(model)
    used = sorted((m for m in range(len(names)) if importances[m] > 0), key=lambda m: (-importances[m], m))
    return [{"name": names[m], "importance": float(importances[m])} for m in used]


def print_size(model: Any, size: dict[str, Any]) -> None:
    """Print how large a model is, and which attributes it uses."""
    votes = f" in {size['n_trees']} trees" if size["n_trees"] > 1 else ""
    say(f"leaves      {size['leaves']}{votes}, depth {size['depth']}")
    say(f"tests       {size['tests']}, {size['oblique_tests']} of them oblique")
    shown = [f"{own['name']} {100 * own['importance']:.0f}%" for own in size["attributes"][:10]]
    more = len(size["attributes"]) - len(shown)
    names = ", ".join(shown) + (f" and {more} more" if more else "")
    say(f"attributes  {len(size['attributes'])} of {model.n_features_in_} used: {names}".removesuffix(": "))


def print_scores(title: str, scores: Any) -> None:
    """Print the accuracy, or the errors of predicted numbers."""
    figures = scores.to_dict()
    if "r2" in figures:
        errors = f"mean absolute error {figures['mean_absolute_error']:.4g}"
        say(f"{title}: R2 {figures['r2']:.4f}, {errors} ({figures['examples']} examples)")
        return
    say(f"{title}: {percent(figures['accuracy'])} ({figures['correct']} of {figures['examples']} examples)")


def print_classes(scores: dict[str, Any]) -> None:
    """Print the accuracy per class, of one or more scores side by side by their titles."""
    header, rows = ["class"], {str(label): [str(label)] for label in next(iter(scores.values())).classes}
    figures = [own.to_dict() for own in scores.values()]
    for label in dict.fromkeys(label for own in figures for label in own["unknown_classes"]):
        rows[f"{label} (unknown)"] = [f"{label} (unknown)"]
    for title, own in zip(scores, figures, strict=True):
        header += [f"{title} examples".lstrip(), "correct", "accuracy"]
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


def show(
    model: Model,
    digits: Annotated[int, typer.Option(min=1, max=17)] = 3,
    json: Json = False,
) -> None:
    """Print a model's tree, its size and the attributes it uses.

    Example: oc1 show iris.json

    Parameters
    ----------
    digits : int
        Significant digits of the numbers.
    """
    from ...files.models.storage import read_model
    from ...tree.text import attribute_names, text

    stored = read_model(model)
    fitted = stored.model
    size = size_of(fitted)
    if json:
        classes = plain(getattr(fitted, "classes_", None))
        trees = [one.tree_.to_dict() for one in getattr(fitted, "estimators_", [fitted])]
        about = {"learner": type(fitted).__name__, "classes": classes, "feature_names": attribute_names(fitted)}
        print_json(about | size | {"text": text(fitted, digits), "trees": trees})
        return
    say(text(fitted, digits))
    say()
    say(f"learner     {type(fitted).__name__}")
    print_size(fitted, size)
    if stored.source.n_examples is not None:
        of_what = f" of {stored.source.target!r}" if stored.source.target else ""
        say(f"trained on  {stored.source.n_examples} examples{of_what}")

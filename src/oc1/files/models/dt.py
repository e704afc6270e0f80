"""Tree files of the OC1 program of 1994 (``.dt``).

A header, and for each hyperplane two lines: its place in the tree (``Root``, or the way there as a string of l and r)
with the examples of each class on its two sides, and the equation ``c1 x[1] + c3 x[3] + c0 = 0``. Where that is
negative an example goes left, else right. Leaves are not written: the counts say what they are.

Our tests ask whether a sum exceeds a threshold, so what is written is the threshold minus the sum, and "yes" is left.
"""

from __future__ import annotations

import re
import warnings
from typing import Any, NamedTuple

import numpy as np

from ...tree.linear import Tree
from ...tree.validation import described
from ..problems import FilePath, FileProblem
from .record import ModelRecord

#: A file that declares more is refused: what missing values count as is stored for each.
MAX_FEATURES = 1_000_000
#: Weight of the examples on one side of a hyperplane: the sums of any number of such counts stay finite.
MAX_WEIGHT = 1e200
MAX_LABELS_IN_WARNING = 20
#: Of a tree that is written.
MAX_DEPTH = 2000

_HEADER = re.compile(r"training set ?:(.*), ?dimensions ?: ?(\d+) ?, ?categories ?: ?(\d+) ?\.?", re.IGNORECASE)
_NODE = re.compile(r"(root|[lr]+) ?hyperplane ?: ?left ?= ?\[([^\]]*)\] ?,? ?right ?= ?\[([^\]]*)\]", re.IGNORECASE)
_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
_TERM = re.compile(
    rf"(?P<signs>([+-] ?)*)(?P<number>{_NUMBER.pattern})? ?(?P<times>\*)? ?(x ?\[ ?(?P<index>\d+) ?\])? ?",
    re.IGNORECASE,
)


class _Hyperplane(NamedTuple):
    line: int
    left: np.ndarray
    right: np.ndarray
    features: np.ndarray
    coefficients: np.ndarray
    constant: float


# ---------------------------------------------------------------------------------------------------- writing


def format_tree(model: Any, name: str) -> str:
    """Return the text of a ``.dt`` file; ValueError if the format cannot hold the tree.

    Numbers have all their digits, so that what is read again gives the same answers.

    Parameters
    ----------
    model : fitted tree for classes
    name : str
        Of the training set, for the header.
    """
    from sklearn.utils.validation import check_is_fitted  # here: reading does without scikit-learn

    from ...learners.trees import TreeClassifier

    advice = "save it as JSON (.json)"
    if not isinstance(model, TreeClassifier):
        raise ValueError(f"a .dt file holds one tree for classes, not {type(model).__name__}: {advice}")
    check_is_fitted(model)
    tree: Any = model.tree_
    refusals = {
        "holds hyperplanes with two sides, not linear machines": not tree.has_thresholds,
        "cannot hold categorical attributes": getattr(tree, "codes", ()),
        "cannot say where missing values go": np.any(getattr(tree, "missing", ())),
        "cannot hold a tree that is a single leaf": tree.n_nodes == 1,
        f"cannot hold more than {MAX_DEPTH:,} levels, since each node is called by its path": tree.max_depth
        > MAX_DEPTH,
    }
    for refusal, is_so in refusals.items():
        if is_so:
            raise ValueError(f"a .dt file {refusal}: {advice}")
    k = len(tree.classes)
    if not np.array_equal(tree.classes, np.arange(1, k + 1)):
        mapping = [f"class {i} is {described(label)}" for i, label in enumerate(tree.classes.tolist(), 1)]
        more = [f"and so on to class {k}"] if k > MAX_LABELS_IN_WARNING else []
        warnings.warn(
            f"a .dt file has no labels but 1, 2, ...: {', '.join(mapping[:MAX_LABELS_IN_WARNING] + more)}",
            UserWarning,
            stacklevel=3,
        )
    name = " ".join("".join(letter if letter.isprintable() else " " for letter in name).split())
    lines = [f"Training set: {name}, Dimensions: {len(tree.fill)}, Categories: {k}"]
    stack = [(0, "")]
    while stack:
        node, label = stack.pop()
        no, yes = tree.children[node].tolist()
        lines += ["", f"{label or 'Root'} Hyperplane: Left = {_counts(tree, yes)}, Right = {_counts(tree, no)}"]
        lines.append(_equation(*tree.test(node)))
        stack += [(child, label + side) for child, side in ((no, "r"), (yes, "l")) if not tree.is_leaf[child]]
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    return np.format_float_positional(value, trim="-")


def _counts(tree: Tree, node: int) -> str:
    return f"[{','.join(map(_number, tree.counts[node]))}]"


def _equation(features: np.ndarray, coefficients: np.ndarray, threshold: float) -> str:
    terms = [f"{_number(-c)} x[{m + 1}]" for m, c in zip(features.tolist(), coefficients.tolist(), strict=True) if c]
    return " + ".join([*terms, _number(threshold)]) + " = 0"


# ---------------------------------------------------------------------------------------------------- reading


def is_dt(data: bytes) -> bool:
    """Whether bytes begin as a ``.dt`` file does."""
    return data.removeprefix(b"\xef\xbb\xbf").lstrip()[:12].lower() == b"training set"


def parse_tree(data: bytes, path: FilePath) -> ModelRecord:
    """Return the record of an `OC1Classifier` with the tree of a ``.dt`` file.

    It has the default parameters, the classes 1, 2, ..., no names of attributes, and missing values count as 0: the
    format does not hold these. The gains of its splits are information, in bits, and its ``pruning_path_`` has the
    whole tree only.

    Parameters
    ----------
    data : bytes
    path : str or path-like
        For messages.
    """
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    # Blanks and tabs are all the same.
    numbered = [(number, " ".join(line.split())) for number, line in enumerate(lines, 1)]
    numbered = [(number, line) for number, line in numbered if line]
    if not numbered:
        raise FileProblem(path, "is empty")
    d, k = _header(*numbered[0], path)
    hyperplanes = _hyperplanes(numbered[1:], d, k, path)
    if "" not in hyperplanes:
        raise FileProblem(path, "holds no hyperplane with the label Root", line=numbered[0][0])
    for label, plane in hyperplanes.items():
        if label and label[:-1] not in hyperplanes:
            problem = f"there is a hyperplane {described(label)}, but none at {described(label[:-1])} above it"
            raise FileProblem(path, problem, line=plane.line)
    return _record(_tree(hyperplanes, d, k))


def _header(number: int, line: str, path: FilePath) -> tuple[int, int]:
    match = _HEADER.fullmatch(line)
    if match is None:
        problem = "must be like 'Training set: NAME, Dimensions: 4, Categories: 3'"
        raise FileProblem(path, f"{problem}, not {described(line)}", line=number)
    # A number that long is too large in any case.
    d, k = (int(digits[:20]) for digits in match.groups()[1:])
    if not 1 <= d <= MAX_FEATURES:
        raise FileProblem(path, f"{d} dimensions: there must be from 1 to {MAX_FEATURES:,}", line=number)
    if k < 1:
        raise FileProblem(path, "there must be at least one category", line=number)
    return d, k


def _hyperplanes(numbered: list[tuple[int, str]], d: int, k: int, path: FilePath) -> dict[str, _Hyperplane]:
    """Return the hyperplanes by their labels; the root's is empty."""
    hyperplanes: dict[str, _Hyperplane] = {}
    rest = iter(numbered)
    for number, line in rest:
        match = _NODE.fullmatch(line)
        if match is None:
            problem = f"must be like 'lr Hyperplane: Left = [3,0], Right = [1,7]', not {described(line)}"
            raise FileProblem(path, problem, line=number)
        label = "" if match[1].lower() == "root" else match[1].lower()
        if label in hyperplanes:
            raise FileProblem(path, f"the hyperplane {described(match[1])} is there twice", line=number)
        left, right = (_read_counts(match[side], k, number, path) for side in (2, 3))
        # A long equation may go over several lines.
        parts, at = [""], number
        while "=" not in parts[-1]:
            at, more = next(rest, (at, None))
            if more is None or "hyperplane" in more.lower():
                raise FileProblem(path, "the equation of this hyperplane, which ends in '= 0', is missing", line=number)
            parts.append(more)
        hyperplanes[label] = _Hyperplane(number, left, right, *_read_equation(" ".join(parts[1:]), d, at, path))
    return hyperplanes


def _read_counts(text: str, k: int, number: int, path: FilePath) -> np.ndarray:
    words = text.replace(",", " ").split()
    if len(words) != k:
        raise FileProblem(path, f"there are {len(words)} counts where there are {k} categories", line=number)
    for word in words:
        if not _NUMBER.fullmatch(word.removeprefix("+")):
            raise FileProblem(path, f"{described(word)} is not a count", line=number)
    counts = np.array([float(word) for word in words])
    if not 0 < counts.sum() <= MAX_WEIGHT:
        raise FileProblem(
            path, f"the counts of a side must add up to more than 0 and at most {MAX_WEIGHT:g}", line=number
        )
    return counts


def _read_equation(line: str, d: int, line_number: int, path: FilePath) -> tuple[np.ndarray, np.ndarray, float]:
    """Return features, coefficients and constant of an equation."""

    def problem(words: str) -> FileProblem:
        return FileProblem(path, f"{words} in the equation {described(line)}", line=line_number)

    left, _, right = line.partition("=")
    if not _NUMBER.fullmatch(right.strip()) or float(right) != 0:
        raise problem("there must be '= 0' at the end")
    left, at = left.rstrip(), 0
    terms: dict[int, float] = {}  # by number of the attribute, 0 for the constant
    while at < len(left):
        match = _TERM.match(left, at)
        assert match is not None  # everything in it is optional
        at = match.end()
        if not any(match.group("number", "times", "index")) and at < len(left):
            raise problem(f"{described(left[at : at + 10].strip())} makes no sense")
        number, index = match["number"], int((match["index"] or "0")[:20])
        if terms and not match["signs"]:
            raise problem("a sign is missing between two terms")
        if (number is None and (match["times"] or not match["index"])) or (match["times"] and not match["index"]):
            raise problem("a term is missing")
        if match["index"] and not 1 <= index <= d:
            raise problem(f"there is x[{index}], but the attributes are x[1] to x[{d}],")
        if index in terms:
            raise problem(f"{f'x[{index}]' if index else 'a constant'} is there twice")
        terms[index] = (-1.0) ** match["signs"].count("-") * float(number or 1)
        if not np.isfinite(terms[index]):
            raise problem("a number is too large")
    constant = terms.pop(0, 0.0)
    features = sorted(index for index, coefficient in terms.items() if coefficient)
    if not features:
        raise problem("there is no attribute")
    return np.array(features) - 1, np.array([terms[index] for index in features]), constant


def _tree(hyperplanes: dict[str, _Hyperplane], d: int, k: int) -> Tree:
    """Put the nodes in our order: what is on the right there is our "no", which comes first."""
    from ...impurity import information_gained  # with Numba: not for JSON

    children: list[list[int]] = []
    counts, gains, planes = [], [], []
    root = hyperplanes[""]
    stack: list[tuple[str, np.ndarray, int, int]] = [("", root.left + root.right, -1, 0)]
    while stack:
        label, own_counts, parent, side = stack.pop()
        if parent >= 0:
            children[parent][side] = len(children)
        plane = hyperplanes.get(label)
        if plane is not None:
            stack += [(label + "l", plane.left, len(children), 1), (label + "r", plane.right, len(children), 0)]
        gains.append(0.0 if plane is None else information_gained(np.array([plane.right, plane.left])))
        children.append([-1, -1])
        counts.append(own_counts)
        planes.append(plane)
    inner = [plane for plane in planes if plane is not None]
    return Tree(
        children=np.array(children, dtype=np.int32),
        counts=np.array(counts),
        gains=np.array(gains),
        fill=np.zeros(d),
        classes=np.arange(1, k + 1),
        feature_names=(),
        terms=np.cumsum([0] + [0 if plane is None else len(plane.features) for plane in planes]).astype(np.int64),
        features=np.concatenate([plane.features for plane in inner]).astype(np.int32),
        coefficients=-np.concatenate([plane.coefficients for plane in inner]),
        thresholds=np.array([0.0 if plane is None else plane.constant for plane in planes]),
        gaps=np.zeros(len(planes)),
    )


def _record(tree: Tree) -> ModelRecord:
    # The whole tree alone: for a hostile tree the sequence would take the square of its depth in memory.
    kinds = [("alpha", float), ("leaves", np.int64), ("terms", np.int64), ("accuracy", float)]
    path = np.array([(0.0, tree.n_leaves, tree.n_terms, np.nan)], dtype=kinds)
    attributes = {
        "n_features_in_": len(tree.fill),
        "classes_": tree.classes,
        "tree_": tree,
        "unpruned_tree_": tree,
        "_pruning_path": path,
        "n_hyperplanes_": 0,
        "splits_": "oblique",
        "cv_accuracies_": {},
        "categories_": None,
        "_scale": np.ones(len(tree.fill)),
    }
    return ModelRecord("OC1Classifier", {}, attributes)

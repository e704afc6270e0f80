import re

import numpy as np
import pandas as pd
import pytest

from oc1 import OC1Classifier, OC1ForestClassifier
from oc1.baselines import C45Classifier
from oc1.tree.linear import Tree
from oc1.tree.machine import MachineTree
from oc1.tree.printable import MINUS
from oc1.tree.text import MAX_DEPTH, text


def test_text_speaks_in_the_users_names_and_units():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"petal_len": rng.uniform(0, 7, 300), "petal_wid": rng.uniform(0, 2.5, 300)})
    y = np.where(0.37 * frame.petal_len - 1.2 * frame.petal_wid > 0.4, "yes", "no")
    clf = OC1Classifier(prune=None, random_state=0, n_restarts=40, n_jumps=40).fit(frame, y)
    lines = str(clf.tree_).splitlines()
    assert len(lines) == 3
    # The widths vary by 0.7 and the lengths by 2: the larger share comes first.
    found = re.fullmatch(f"{MINUS}(.*)petal_wid [+] (.*) petal_len > (.*)", lines[0])
    width, length, threshold = (float(part.replace(MINUS, "-") or 1) for part in found.groups())
    assert abs(length / width - 0.37 / 1.2) < 0.05
    assert abs(threshold / width - 0.4 / 1.2) < 0.1
    assert re.fullmatch(r"\|-- no:  no  [\d.]+% of \d+", lines[1])
    assert re.fullmatch(r"`-- yes: yes  100% of \d+", lines[2])
    assert text(clf) == text(clf.tree_) == str(clf.tree_)


def test_without_names_attributes_are_numbered():
    clf = OC1Classifier(splits="axis", prune=None).fit([[0.0, 5.0], [0.0, 6.0]], ["a", "b"])
    assert clf.tree_.equation(0) == "x2 > 5.5"
    assert str(clf.tree_) == "x2 > 5.5\n|-- no:  a  100% of 1\n`-- yes: b  100% of 1"


def test_a_single_leaf():
    clf = OC1Classifier().fit([[0.0], [1.0]], ["a", "a"])
    assert str(clf.tree_) == "a  100% of 2"


def test_every_node_has_a_line(noisy):
    X, y = noisy
    clf = OC1Classifier(prune=None, n_restarts=1, random_state=0).fit(X, y)
    assert len(text(clf, digits=6, width=10_000).splitlines()) == clf.tree_.n_nodes


def test_thresholds_have_the_digits_they_need():
    years = np.arange(1980.0, 2020.0)[:, None]
    clf = OC1Classifier(splits="axis", prune=None).fit(years, years[:, 0] >= 2001)
    assert clf.tree_.equation(0) == "x1 > 2000.5"
    assert OC1Classifier(prune=None).fit(years + 1.7e9, years[:, 0] >= 2001).tree_.equation(0) == "x1 > 1700002000.5"


def test_a_tree_of_machines():
    tree = MachineTree(
        children=np.array([[1, 2, 5], [-1, -1, -1], [3, 4, -1], [-1, -1, -1], [-1, -1, -1], [-1, -1, -1]]),
        counts=np.array([[2.0, 4, 3], [2, 0, 0], [0, 4, 1], [0, 0, 1], [0, 4, 0], [0, 0, 2]]),
        gains=np.array([1.0, 0, 0.5, 0, 0, 0]),
        fill=np.zeros(2),
        classes=np.array(["a", "b", "c"]),
        feature_names=("width", "year"),
        machines=np.array([0, 3, 3, 5, 5, 5, 5]),
        functions=np.array([[1, -0.25, 0], [0, 0.33333, -7], [-1, -0.08333, 7], [0, 1, -2000.5], [0, -1, 2000.5]]),
        labels=np.array([0, 1, 2, 0, 1]),
        gaps=np.array([0.5, 0, 1, 0, 0, 0]),
    )
    assert str(tree).splitlines() == [
        "largest of",
        f"|-- a (width {MINUS} 0.25 year + 0): a  100% of 2",
        f"|-- b (0.333 year {MINUS} 7): largest of",
        f"|   |-- a (year {MINUS} 2000.5): c  100% of 1",
        f"|   `-- b ({MINUS}year + 2000.5): b  100% of 4",
        f"`-- c ({MINUS}width {MINUS} 0.0833 year + 7): c  100% of 2",
    ]


def test_very_deep_trees_are_cut():
    n = 20_000  # a chain: node 2 i has the leaf 2 i + 1 and the next node
    children = np.array([[i + 1, i + 2] if i % 2 == 0 else [-1, -1] for i in range(2 * n)] + [[-1, -1]], dtype=np.int32)
    inner = children[:, 0] >= 0
    tree = Tree(
        children=children,
        counts=np.ones((len(children), 1)),
        gains=np.zeros(len(children)),
        fill=np.zeros(1),
        classes=np.array(["a"]),
        feature_names=(),
        terms=np.concatenate([[0], np.cumsum(inner)]),
        features=np.zeros(n, dtype=np.int32),
        coefficients=np.ones(n),
        thresholds=np.zeros(len(children)),
        gaps=np.zeros(len(children)),
    )
    lines = str(tree).splitlines()
    assert len(lines) == 2 * MAX_DEPTH + 3
    assert lines[-1].endswith(f"`-- yes: ... ({n - MAX_DEPTH} leaves)")


def long_test(n_terms=12, n_classes=2):
    """A tree of one test whose k-th attribute has the share k of the sum 1 + 2 + ... + n_terms."""
    return Tree(
        children=np.array([[1, 2], [-1, -1], [-1, -1]], dtype=np.int32),
        counts=np.array([[3.0, 5], [3, 0], [0, 5]]),
        gains=np.array([1.0, 0, 0]),
        fill=np.zeros(n_terms),
        classes=np.array(["a", "b"]),
        feature_names=tuple(f"attribute {m}" for m in range(1, n_terms + 1)),
        terms=np.array([0, n_terms, n_terms, n_terms]),
        features=np.arange(n_terms, dtype=np.int32),
        coefficients=np.array([(-1) ** m / 10 for m in range(n_terms)]),
        thresholds=np.array([4902.3, 0, 0]),
        gaps=np.array([2.0, 0, 0]),
        scale=np.arange(1.0, n_terms + 1),
    )


def test_the_largest_terms_are_shown_and_the_others_counted():
    lines = text(long_test()).splitlines()
    shown = " ".join(line.strip("| ") for line in lines[:-2])
    assert shown == (
        f"{MINUS}0.1 attribute 12 + 0.1 attribute 11 {MINUS} 0.1 attribute 10 + 0.1 attribute 9 "
        f"{MINUS} 0.1 attribute 8 + 0.1 attribute 7 + … 6 more (26.9%) > 4902"
    )
    for max_terms in (1, 3, 12):
        words = " ".join(text(long_test(), max_terms=max_terms).split())
        assert words.count("attribute") == max_terms
        assert ("more" in words) == (max_terms < 12)
    assert text(long_test(), max_terms=None).count("attribute") == 12
    assert text(long_test(8)).count("attribute") == 8


@pytest.mark.parametrize("width", [1, 40, 60, 80, 200])
def test_lines_are_wrapped_behind_those_of_the_tree(width):
    lines = text(long_test(), width=width, max_terms=None).splitlines()
    assert all(len(line) <= max(width, 42) for line in lines)
    assert all(line.startswith("| ") for line in lines[1:-2])
    joined = " ".join(" ".join(line.lstrip("| ") for line in lines[:-2]).split())
    assert joined == long_test().equation(0)


def test_a_part_of_a_tree(noisy):
    X, y = noisy
    tree = OC1Classifier(prune=None, n_restarts=1, random_state=0).fit(X, y).tree_
    whole, part = text(tree), text(tree, node=int(tree.children[0, 1]))
    assert all(line.strip("|`- ").removeprefix("yes: ") in whole for line in part.splitlines())
    cut = text(tree, max_depth=1).splitlines()
    assert sum("leaves)" in line for line in cut) == (tree.depths == 2).sum()


def test_classes_are_painted():
    painted = text(long_test(), paint=lambda name, number: f"<{number}>{name}</>").splitlines()
    assert painted[-2:] == ["|-- no:  <0>a</>  100% of 3", "`-- yes: <1>b</>  100% of 5"]


def test_deep_trees_fit_a_terminal():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 6)), rng.integers(0, 3, 300)
    model = OC1Classifier(prune=None, max_depth=11, random_state=0).fit(X, y)
    assert model.get_depth() > 9
    assert max(map(len, text(model, numbered=True).splitlines())) <= 80


def test_control_characters_of_names_are_shown_as_escapes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    X[:, 2] = rng.integers(0, 3, 120)
    hostile = "\x1b[31m", "\x1b]0;title\x07", "a\n`-- yes: b", "\u202eright to left"
    frame = pd.DataFrame(X, columns=hostile[:3])
    frame[hostile[2]] = np.array(["\x1b[2J", "\r", "plain"])[X[:, 2].astype(int)]
    y = np.array([hostile[3], "\x9b1m"])[((X[:, 0] + X[:, 1] > 0) ^ (X[:, 2] == 1)).astype(int)]
    for model in (
        OC1Classifier(categorical_features="from_dtype", random_state=0),
        OC1Classifier(categorical_features="from_dtype", splits="axis", prune=None, random_state=0),
        C45Classifier(categorical_features="from_dtype"),
        OC1ForestClassifier(categorical_features="from_dtype", n_estimators=2, random_state=0),
    ):
        shown = text(model.fit(frame, y))
        assert all(letter.isprintable() or letter == "\n" for letter in shown)
        assert r"\x1b[31m" in shown
        assert r"\u202eright" in shown
        lines = shown.splitlines()
        trees = getattr(model, "estimators_", [model])
        assert not any(line.startswith("`-- yes: b") for line in lines)
        if len(trees) == 1:
            assert str(model.tree_) == shown
            explained = str(model.explain(frame.iloc[[0]]))
            assert all(letter.isprintable() or letter == "\n" for letter in explained)

import numpy as np
import pandas as pd

from oc1 import OC1Classifier
from oc1.tree.linear import Tree
from oc1.tree.machine import MachineTree
from oc1.tree.text import MAX_DEPTH, text


def test_text_speaks_in_the_users_names_and_units():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"petal_len": rng.uniform(0, 7, 300), "petal_wid": rng.uniform(0, 2.5, 300)})
    y = np.where(0.37 * frame.petal_len - 1.2 * frame.petal_wid > 0.4, "yes", "no")
    clf = OC1Classifier(prune=None, random_state=0, n_restarts=40, n_jumps=40).fit(frame, y)
    lines = str(clf.tree_).splitlines()
    assert len(lines) == 3
    words = lines[0].split()
    assert (words[1], words[2], words[4], words[5]) == ("petal_len", "-", "petal_wid", ">")
    ratio = float(words[0]) / float(words[3])
    assert abs(ratio - 0.37 / 1.2) < 0.05
    assert abs(float(words[6]) / float(words[3]) - 0.4 / 1.2) < 0.1
    assert lines[1].startswith("|-- no:  no  [")
    assert lines[2].startswith("`-- yes: yes  [0 ")
    assert text(clf) == text(clf.tree_) == str(clf.tree_)


def test_without_names_attributes_are_numbered():
    clf = OC1Classifier(splits="axis", prune=None).fit([[0.0, 5.0], [0.0, 6.0]], ["a", "b"])
    assert clf.tree_.equation(0) == "x2 > 5.5"
    assert str(clf.tree_) == "x2 > 5.5\n|-- no:  a  [1 0]\n`-- yes: b  [0 1]"


def test_a_single_leaf():
    clf = OC1Classifier().fit([[0.0], [1.0]], ["a", "a"])
    assert str(clf.tree_) == "a  [2]"


def test_every_node_has_a_line(noisy):
    X, y = noisy
    clf = OC1Classifier(prune=None, n_restarts=1, random_state=0).fit(X, y)
    assert len(text(clf, digits=6).splitlines()) == clf.tree_.n_nodes


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
        "|-- a (width - 0.25 year + 0): a  [2 0 0]",
        "|-- b (0.333 year - 7): largest of",
        "|   |-- a (year - 2000.5): c  [0 0 1]",
        "|   `-- b (-year + 2000.5): b  [0 4 0]",
        "`-- c (-width - 0.0833 year + 7): c  [0 0 2]",
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

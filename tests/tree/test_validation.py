"""What is read from a dictionary is a valid tree, or refused with the name of the field that is wrong."""

import copy

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oc1 import OC1Classifier, OC1Regressor
from oc1.baselines import LMDTClassifier
from oc1.tree.linear import Tree
from oc1.tree.machine import MachineTree
from oc1.tree.regression import RegressionTree
from oc1.tree.validation import InvalidField, described, labels, tree_fields, within

OPTIONAL = {"scale", "codes", "categories", "missing", "kind"}


def grown():
    """Return the dictionaries of small trees of all kinds, with categories and directions of missing values."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3)).round(2)
    X[:, 2] = rng.integers(0, 3, 150)
    y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] == 1)
    holes = X.copy()
    holes[rng.random(X.shape) < 0.2] = np.nan
    common = {"prune": None, "max_depth": 3, "random_state": 0}
    return {
        "tests": OC1Classifier(**common).fit(X, y).tree_,
        "directions": OC1Classifier(missing="direction", splits="axis", **common).fit(holes, y).tree_,
        "categories": OC1Classifier(categorical_features=[2], **common).fit(X, y).tree_,
        "regression": OC1Regressor(max_depth=3, random_state=0).fit(X, X[:, 0] + y).tree_,
        "machines": LMDTClassifier(prune=None, max_depth=3, random_state=0).fit(X, y).tree_,
        "leaf": OC1Classifier().fit(X, np.zeros(150)).tree_,
    }


TREES = grown()
INNER = sorted(set(TREES) - {"leaf"})
KINDS = {"tests": Tree, "regression": RegressionTree, "machines": MachineTree}


def read(data):
    return KINDS[data.get("kind", "tests")].from_dict(data)


@pytest.mark.parametrize("name", TREES)
def test_the_round_trip_is_exact(name):
    data = TREES[name].to_dict()
    again = type(TREES[name]).from_dict(copy.deepcopy(data))
    assert again.to_dict() == data
    for field in vars(TREES[name]):
        before, after = getattr(TREES[name], field), getattr(again, field)
        if isinstance(before, np.ndarray):
            assert before.dtype == after.dtype
            np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("name", TREES)
def test_each_required_field_is_missed_by_name(name):
    data = TREES[name].to_dict()
    for field in data.keys() - OPTIONAL - {"format"}:
        without = {key: value for key, value in data.items() if key != field}
        with pytest.raises(InvalidField, match=f"^{field}: is missing$"):
            read(without)


@pytest.mark.parametrize("name", INNER)
@pytest.mark.parametrize("value", [None, "text", 1.5, {}, [[]], [None], ["x"]])
def test_each_field_of_another_type_is_refused_by_name(name, value):
    data = TREES[name].to_dict()
    for field in data.keys() - {"kind"}:
        with pytest.raises(InvalidField) as caught:
            read({**data, field: value})
        # What has a length of its own may be found not to fit another field.
        assert caught.value.where.split("[")[0] in data, (field, caught.value)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_every_mutation_of_a_list_is_refused_or_harmless(data):
    name = data.draw(st.sampled_from(INNER))
    tree = copy.deepcopy(TREES[name].to_dict())
    field = data.draw(st.sampled_from([key for key, value in tree.items() if isinstance(value, list) and value]))
    values = tree[field]
    while isinstance(values[0], list) and data.draw(st.booleans()):
        values = values[data.draw(st.integers(0, len(values) - 1))]
    at = data.draw(st.integers(0, len(values) - 1)) if values else 0
    change = data.draw(st.sampled_from(["drop", "repeat", "none", "nan", "huge", "negative", "text"]))
    if not values or change == "repeat":
        values.insert(at, copy.deepcopy(values[at]) if values else 0)
    elif change == "drop":
        del values[at]
    else:
        values[at] = {"none": None, "nan": float("nan"), "huge": 10**30, "negative": -7, "text": "x"}[change]
    problem = why_refused(tree)
    if problem is not None:
        assert problem.where.split("[")[0] in tree
        assert str(problem) == f"{problem.where}: {problem.problem}"
    else:
        # Names may be any text, an attribute that no test uses may go, and numbers may be others that are in range.
        assert field in ("feature_names", "classes", "categories", "fill") or change in ("huge", "negative")
        rows = np.random.default_rng(0).normal(size=(20, len(tree["fill"])))
        assert read(tree).apply(rows).max() < len(tree["children"])


def why_refused(data):
    try:
        read(data)
    except InvalidField as problem:
        return problem
    return None


def put(*path_and_value):
    """Return a change of a dictionary: the value at the end of a path of keys."""
    *path, last, value = path_and_value

    def change(data):
        for key in path:
            data = data[key]
        data[last] = value

    return change


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("tests", put("children", 0, [1, 1]), "children: node 1 is reached twice"),
        ("tests", put("children", 0, [1, -1]), "children: node 0 has only one branch"),
        ("tests", put("children", 0, [-1, 1]), "children: node 0 has a branch after one that is missing"),
        ("tests", put("children", 0, [0, 1]), "children: node 0 is reached twice"),
        ("tests", put("children", 0, [2, 1]), "the nodes are not in preorder: node 2 stands where 1 should"),
        ("tests", put("children", 0, [-1, -1]), "children: node 1 has no parent"),
        ("tests", put("counts", 0, [0, 0, 0]), r"counts\[0\]: must add up to a positive finite number"),
        ("tests", put("features", 0, 3), r"features\[0\]: must be 0 to 2, not 3"),
        ("tests", put("features", 0, 1.0), r"features\[0\]: must be a whole number, not 1.0"),
        ("tests", put("thresholds", 0, float("inf")), r"thresholds\[0\]: must be finite, not inf"),
        ("tests", put("gaps", 0, -1), r"gaps\[0\]: must be 0 or more, not -1"),
        ("tests", put("terms", 0, 1), "terms: must rise from 0 to"),
        ("tests", put("classes", [2, 1, 0]), "classes: the labels must be in order, each of them once"),
        ("tests", put("classes", [0, "a", 2]), "classes: must all be texts"),
        ("tests", put("fill", []), "fill: there must be at least one attribute"),
        ("tests", put("feature_names", ["a"]), "feature_names: must be none or 3"),
        ("tests", put("format", 2), "format: tree format 2 is not known; this version reads format 1"),
        ("tests", put("kind", "machines"), "functions: is missing|kind: this is a tree of machines"),
        ("tests", put("surprise", 1), "the field 'surprise' is not known"),
        ("directions", put("missing", 0, 2), r"missing\[0\]: must be -1 to 1, not 2"),
        ("categories", put("codes", 2, None), r"codes\[2\]: an attribute with codes must have categories"),
        ("categories", put("categories", 2, 0, 5), r"categories\[2\]\[0\]: must be a text, not 5"),
        ("regression", put("values", 0, None), r"values\[0\]: must be a number, not null"),
        ("regression", put("classes", [1]), "classes: a tree that predicts numbers has no classes"),
        ("machines", put("machines", 1, 1), "machines: "),
        ("machines", put("labels", 0, 99), r"labels\[0\]: must be 0 to 2, not 99"),
        ("machines", put("functions", 0, [0.0]), r"functions\[0\]: must have 4 entries, but has 1"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(name, change, message):
    data = copy.deepcopy(TREES[name].to_dict())
    change(data)
    with pytest.raises(InvalidField, match=message):
        tree_fields(data, TREES[name].kind)


@pytest.mark.parametrize("value", [None, 3, "x", [1]])
def test_a_tree_is_a_dictionary(value):
    with pytest.raises(InvalidField, match="must be an object with named fields, not"):
        Tree.from_dict(value)


def test_the_record_of_a_field_is_named_before_it():
    with pytest.raises(InvalidField, match=r"^model\.tree\.fill: is missing$"), within("model"), within("tree"):
        raise InvalidField("fill", "is missing")
    with pytest.raises(InvalidField, match=r"^tree: is empty$"), within("tree"):
        raise InvalidField("", "is empty")


def test_values_are_described_in_few_words():
    assert [described(value) for value in ([], {}, None, True, 1.5)] == ["a list", "an object", "null", "true", "1.5"]
    assert len(described("x" * 1000)) < 70


def test_one_long_label_does_not_make_all_of_them_long():
    values = [f"{i:06}" for i in range(20_000)] + ["x" * 1000]
    found = labels(values, "labels", "str")
    assert found.dtype == object
    assert found.tolist() == values
    assert labels(["a", "b"], "labels", "str").dtype.kind == "U"
    with pytest.raises(InvalidField, match=r"labels\[1\]: has 1,001 characters, more than 1,000"):
        labels(["a", "x" * 1001], "labels", "str")

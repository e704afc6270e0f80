"""Every field of a model file is checked."""

import json

import pytest

from oc1.files.models.decoding import LEARNERS_WITH_CATEGORIES
from oc1.files.models.encoding import encode_model
from oc1.files.models.storage import Source, read_model
from oc1.files.problems import FileProblem
from oc1.learners.registry import LEARNERS, learner_class
from oc1.tree import validation
from oc1.tree.linear import Tree


def changed(model, change):
    """Return the file of a model with a change made to its document."""
    document = json.loads(encode_model(model, Source()))
    change(document)
    return json.dumps(document).encode()


def put(*path_and_value):
    *path, last, value = path_and_value

    def change(document):
        for step in path:
            document = document[step]
        document[last] = value

    return change


def drop(*path):
    def change(document):
        for step in path[:-1]:
            document = document[step]
        del document[path[-1]]

    return change


CHANGES = [
    ("axis", put("version", 2), r"version: the file is in format 2, written by oc1 .*; this version .* update oc1"),
    ("axis", put("version", True), "version: must be a whole number, not true"),
    ("axis", put("learner", "os.system"), "learner: 'os.system' is not known; it must be one of .*OC1Classifier"),
    ("axis", put("learner", 3), "learner: must be a text, not 3"),
    ("axis", drop("tree"), "tree: is missing"),
    ("axis", put("treee", {}), "the field 'treee' is not known"),
    ("axis", put("tree", "colour", 1), "tree: the field 'colour' is not known"),
    ("axis", put("tree", "children", 0, [1, 1]), r"tree\.children: node 1 is reached twice"),
    ("axis", put("tree", "children", 0, [0, 1]), r"tree\.children: node 0 is reached twice"),
    ("axis", put("tree", "children", 0, [-1, 1]), r"tree\.children: node 0 has a branch after one that is missing"),
    ("axis", put("tree", "children", 0, [1, -1]), r"tree\.children: node 0 has only one branch"),
    ("axis", put("tree", "children", 0, [-1, -1]), r"tree\.children: node .* has no parent"),
    ("axis", put("tree", "children", 0, [1, 10**6]), r"tree\.children\[0\]\[1\]: must be -1 to \d+, not 1000000"),
    ("axis", put("tree", "children", 0, [1, 10**40]), r"tree\.children\[0\]\[1\]: 1000.* is too large"),
    ("axis", put("tree", "children", 0, [1, 1.0]), r"tree\.children\[0\]\[1\]: must be a whole number, not 1\.0"),
    ("axis", put("tree", "children", 0, [1]), r"tree\.children\[0\]: must have 2 entries, but has 1"),
    ("axis", put("tree", "children", []), r"tree\.children: a tree has at least one node"),
    ("axis", put("tree", "features", 0, 2), r"tree\.features\[0\]: must be 0 to 1, not 2"),
    ("axis", put("tree", "features", 0, -1), r"tree\.features\[0\]: must be 0 to 1, not -1"),
    ("axis", put("tree", "features", []), r"tree\.terms"),
    ("axis", put("tree", "terms", 1, -1), r"tree\.terms\[1\]: must be"),
    ("axis", put("tree", "terms", 0, 1), r"tree\.terms: must rise from 0"),
    ("axis", put("tree", "terms", 1, 0), r"tree\.terms: node 0 must have at least 1"),
    ("axis", put("tree", "thresholds", 0, "1"), r"tree\.thresholds\[0\]: must be a number, not '1'"),
    ("axis", put("tree", "thresholds", 0, 10**400), r"tree\.thresholds\[0\]: .* is too large"),
    ("axis", put("tree", "thresholds", [0.0]), r"tree\.thresholds: must have \d+ entries, but has 1"),
    ("axis", put("tree", "coefficients", [0.0]), r"tree\.coefficients: must have"),
    ("axis", put("tree", "counts", 0, [0, 0, 0]), r"tree\.counts\[0\]: must add up to a positive .*, not 0\.0"),
    ("axis", put("tree", "counts", 0, [1e308] * 3), r"tree\.counts\[0\]: must add up to a positive .*, not inf"),
    ("axis", put("tree", "counts", 0, [-1, 5, 5]), r"tree\.counts\[0\]\[0\]: must be 0 or more, not -1"),
    ("axis", put("tree", "counts", 0, [5, 5]), r"tree\.counts\[0\]: must have 3 entries, but has 2"),
    ("axis", put("tree", "fill", [0.0]), r"tree\.f"),
    ("axis", put("tree", "gaps", 0, -1.0), r"tree\.gaps\[0\]: must be 0 or more"),
    ("axis", put("tree", "missing", [1]), r"tree\.missing: must have"),
    ("axis", put("tree", "format", 2), r"tree\.format: tree format 2 is not known"),
    ("axis", put("tree", "kind", "machines"), r"tree\.kind: this is a tree of machines"),
    ("axis", put("tree", "codes", [[1.0], None]), r"tree\.categories"),
    ("axis", put("tree", []), "tree: must be an object, not a list"),
    ("axis", put("unpruned_tree", {"terms": [1]}), r"unpruned_tree\.terms"),
    ("axis", put("unpruned_tree", {"classes": [1]}), "unpruned_tree: the classes belong to the model"),
    ("axis", put("n_features", 3), r"tree\.fill: must have 3 entries"),
    ("axis", put("n_features", 0), "n_features: must be from 1"),
    ("axis", put("feature_names", ["a"]), "feature_names: must have 2 entries, but has 1"),
    ("axis", put("feature_names", ["a", 1]), r"feature_names\[1\]: must be a text, not 1"),
    ("axis", put("classes", "labels", [2, 1, 0]), r"classes\.labels: the labels must be in order"),
    ("axis", put("classes", "labels", [0, 1, True]), r"classes\.labels: not all labels are of type int64"),
    ("axis", put("classes", "labels", [0, 1, 2**64]), r"classes\.labels: a label is too large"),
    ("axis", put("classes", "type", "int8, then run"), r"classes\.labels: type 'int8, then run' is not known"),
    ("axis", put("classes", {"type": "uint8", "labels": [1, 2, 256]}), r"classes\.labels: a label"),
    ("axis", put("classes", {"type": "str", "labels": ["a", "b", "c\0"]}), r"classes\.labels: a label cannot be held"),
    ("axis", put("classes", {"type": "float32", "labels": [0.1, 1.0, 2.0]}), r"classes\.labels: a label cannot"),
    ("axis", put("scale", [1.0, -1.0]), r"scale\[1\]: must be 0 or more"),
    ("axis", put("n_hyperplanes", -1), "n_hyperplanes: must be from 0"),
    ("axis", put("pruning_path", "alpha", []), r"pruning_path\.alpha: must have at least one"),
    ("axis", put("pruning_path", "leaves", 0, 0.5), r"pruning_path\.leaves\[0\]: must be a whole number"),
    ("axis", put("parameters", "max_dept", 3), "parameters: OC1Classifier has no parameter 'max_dept'"),
    ("axis", put("parameters", "max_depth", -3), "parameters: The 'max_depth' parameter of .* must be .* Got -3"),
    ("axis", put("parameters", "smoothing", "1"), "parameters: The 'smoothing' parameter"),
    ("axis", put("parameters", "smoothing", 10**300), r"parameters\.smoothing: must be from"),
    ("axis", put("parameters", "n_jobs", 10**9), r"parameters\.n_jobs: must be from -1024 to 1024"),
    ("axis", put("parameters", "n_jobs", 0), r"parameters\.n_jobs: must not be 0"),
    ("axis", put("parameters", "max_features", {"call": "x"}), r"parameters\.max_features: is an object of no known"),
    ("axis", put("parameters", "splits", "linea"), "parameters: The 'splits' parameter of OC1Classifier must be"),
    ("axis", put("pruning_path", "terms", 0, -2), r"pruning_path\.terms\[0\]: must be -1 or more, not -2"),
    ("axis", put("pruning_path", "terms", [0]), r"pruning_path\.terms: must have \d+ entries, but has 1"),
    ("axis", put("kind", "joint"), "kind: must be one of 'axis', 'oblique', 'best', 'linear', not 'joint'"),
    ("axis", put("cv_accuracies", {"luck": 1.0}), "cv_accuracies: the field 'luck' is not known"),
    ("axis", put("cv_accuracies", {"joint": 1.5}), r"cv_accuracies\.accuracies\[0\]: must be 0 to 1, not 1\.5"),
    ("axis", put("cv_accuracies", {"linear": 1.5}), r"cv_accuracies\.accuracies\[0\]: must be 0 to 1, not 1\.5"),
    ("axis", put("parameters", "class_weight", {"dict": [[1, 1.0], [True, 2.0]]}), "class_weight: a key is there"),
    ("axis", put("parameters", "criterion", "\x1b[2J" * 50), r"parameters: The 'criterion' parameter"),
    ("axis", put("source", "ranges", [[1.0, 0.0]] * 2), r"source\.ranges\[0\]: the smallest value is larger"),
    ("axis", put("source", "n_examples", "many"), r"source\.n_examples: must be a whole number, not 'many'"),
    (
        "axis",
        put("source", "columns", {"n_columns": 4, "target": 1, "attributes": [1, 2]}),
        r"source\.columns\.attributes: must rise, and be without the target",
    ),
    (
        "axis",
        put("source", "columns", {"n_columns": 2, "target": 1, "attributes": [0, 1]}),
        r"source\.columns\.n_columns: must be from 3",
    ),
    ("axis", put("source", "columns", {"n_columns": 4, "target": 3}), r"source\.columns\.attributes: is missing"),
    ("axis", put("source", "one_hot", {"0": ["a", "b", "c"]}), r"source\.one_hot: the 0/1 columns are not attributes"),
    ("bag", put("oob_decision_function", [[]] * 3), r"oob_decision_function\[0\]: must have 2 entries, but has 0"),
    ("bag", put("oob_decision_function", 0, [None, 0.5]), "oob_decision_function: a row must have no null, or nothing"),
    ("axis", put("source", "target", "x" * 1001), r"source\.target: has 1,001 characters, more than 1,000"),
    ("axis", put("source", "versions", {"oc1": 1}), r"source\.versions\['oc1'\]: must be a text, not 1"),
    ("axis", put("source", "date", 2026), r"source\.date: must be a text"),
    ("axis", put("source", "held_out", {"measure": "accuracy"}), r"source\.held_out\.value: is missing"),
    (
        "axis",
        put("source", "training", {"measure": "luck", "value": 1.0, "n_examples": 3}),
        r"source\.training\.measure: must be one of accuracy, r2, not 'luck'",
    ),
    ("axis", put("source", "one_hot", {"a": [1]}), r"source\.one_hot\['a'\]\[0\]: must be a text, not 1"),
    ("axis", put("categories", [["a"], None]), r"tree\.codes: must be one for each category"),
    ("cart", put("categories", [["a"], None]), "the field 'categories' is not known"),
    ("categorical", drop("categories"), r"tree\.codes: must be one for each category"),
    ("categorical", put("categories", 2, ["red", "red", "blue"]), r"categories\[2\]: a category is there twice"),
    ("categorical", put("categories", 2, ["red", None, "blue"]), r"categories\[2\]: a category must be a text"),
    ("categorical", put("tree", "codes", 2, [0.5]), r"tree\.categories\[2\]: must have 1 entries"),
    ("categorical", put("tree", "codes", 2, None), r"tree\.codes\[2\]: an attribute with codes must have categories"),
    ("directions", put("tree", "missing", 0, 2), r"tree\.missing\[0\]: must be -1 to 1"),
    ("regressor", put("tree", "values", 0, None), r"tree\.values\[0\]: must be a number, not null"),
    ("regressor", put("classes", {"type": "int64", "labels": [1]}), "the field 'classes' is not known"),
    ("regressor", put("learner", "OC1Classifier"), "classes: is missing"),
    ("lmdt", put("tree", "machines", 1, 1), r"tree\.machines"),
    ("lmdt", put("tree", "labels", 0, 9), r"tree\.labels\[0\]: must be 0 to 2, not 9"),
    ("lmdt", put("tree", "functions", 0, [1.0]), r"tree\.functions\[0\]: must have 3 entries"),
    ("lmdt", put("learner", "OC1Classifier"), "tree.kind: this is a tree of machines, not of tests"),
    ("vote", put("members", []), "members: there must be at least one"),
    ("vote", put("members", 1, "features", [0, 7]), r"members\[1\]\.features\[1\]: must be 0 to 1, not 7"),
    ("vote", put("members", 1, "features", [1, 0]), r"members\[1\]\.features: must be in order"),
    ("vote", put("members", 1, "features", [0]), r"members\[1\]\.features: must have 2 entries, but has 1"),
    ("vote", put("members", 1, "tree", "children", 0, [1, 1]), r"members\[1\]\.tree\.children: node 1 is reached"),
    ("vote", put("members", 0, "classes", "labels", [0, 1, 3]), r"members\[0\]\.classes: are not among those"),
    ("vote", put("n_features", 10**12), "n_features: must be from 1 to 1000000"),
    ("bag", put("oob_score", 2.0), r"oob_score\[0\]: must be 0 to 1"),
    ("bag", drop("oob_score"), "oob_score: is missing"),
    ("categorical vote", put("categories", 2, ["red"]), r"members\[\d\]\.categories\[\d\]: must be numbers of"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change", "message"), CHANGES, ids=[f"{name}-{words}" for name, _, words in CHANGES])
def test_every_field_is_checked(fitted, name, change, message):
    with pytest.raises(FileProblem, match=message) as caught:
        read_model("model.json", changed(fitted[name], change))
    words = str(caught.value)
    assert words.startswith("model.json: ")
    assert words.isprintable()
    assert len(words) < 400


def test_nested_learners_have_an_end(fitted):
    def nest(document):
        inner = {"learner": "OC1EnsembleClassifier", "parameters": {}}
        for _ in range(200):
            inner = {"learner": "OC1EnsembleClassifier", "parameters": {"estimator": inner}}
        document["parameters"]["estimator"] = inner

    with pytest.raises(FileProblem, match="nested more than 4 deep"):
        read_model("model.json", changed(fitted["vote"], nest))

    def vote_of_votes(document):
        for _ in range(6):
            inner = {
                name: value
                for name, value in document.items()
                if name not in ("format", "version", "package", "source")
            }
            document["members"] = [{"features": [0, 1], **inner}]

    with pytest.raises(FileProblem, match="votes are nested more than 4 deep"):
        read_model("model.json", changed(fitted["vote"], vote_of_votes))


def test_dictionaries_of_trees_are_checked_without_a_file(fitted):
    data = fitted["axis"].tree_.to_dict()
    data["features"][0] = 99
    with pytest.raises(validation.InvalidField, match=r"features\[0\]: must be 0 to 1, not 99"):
        Tree.from_dict(data)


def test_the_learners_that_know_categories_are_listed():
    known = {name for name in (learner.class_name for learner in LEARNERS.values()) if name != "OC1EnsembleClassifier"}
    own = {name for name in known if "categorical_features" in learner_class(name)._get_param_names()}
    assert own | {"OC1EnsembleClassifier"} == set(LEARNERS_WITH_CATEGORIES)

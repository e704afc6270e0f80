import ast
from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from converted_models import NUMERIC, WITH_CATEGORIES, fitted, mixed_rows, rows_for

from oc1.conversion import to_python
from oc1.learners.classifier import OC1Classifier
from oc1.learners.reduction import reduce_model


def module(model, **options):
    source = to_python(model, **options)
    tree = ast.parse(source, feature_version=(3, 8))
    assert not any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(tree))
    names = {}
    exec(compile(tree, "model", "exec"), names)  # our own output, in a test
    return names


def check(model, rows, examples, **options):
    names = module(model, **options)
    predicted = model.predict(rows).tolist()
    answers = [names["predict"](example) for example in examples]
    assert answers == predicted
    assert {type(answer) for answer in answers} == {type(label) for label in predicted}
    if hasattr(model, "classes_"):
        assert list(names["CLASSES"]) == model.classes_.tolist()
        np.testing.assert_array_equal(
            [names["predict_proba"](example) for example in examples], model.predict_proba(rows)
        )


@pytest.mark.parametrize("name", NUMERIC)
def test_gives_the_same_bits(name):
    model = fitted(name)
    rows = rows_for(model, 10_000)
    check(model, rows, rows.tolist())


@pytest.mark.parametrize("name", WITH_CATEGORIES)
def test_takes_categories_by_place_and_by_name(name):
    model, rows = fitted(name), mixed_rows(2000)
    check(model, rows, list(rows.itertuples(index=False, name=None)))
    check(model, rows, rows.to_dict("records"))


def test_sends_missing_values_of_c45_where_its_notes_say():
    model = fitted("c45")
    rows = np.where(np.random.default_rng(0).random((500, 2)) < 0.4, np.nan, rows_for(model, 500))
    plain = reduce_model(model)
    expected = plain.classes[plain.trees[0].votes[plain.trees[0].tree.apply(rows)]]
    names = module(model)
    assert [names["predict"](row) for row in rows.tolist()] == expected.tolist()
    assert "branch" in names["__doc__"]


def test_missing_is_none_or_nan():
    names, model = module(fitted("directed")), fitted("directed")
    row = [np.nan, 3.0, np.nan]
    assert names["predict"]([None, 3, None]) == names["predict"](row) == model.predict([row])[0]
    with pytest.raises(ValueError, match="an example has 3 values, not 2"):
        names["predict"]([1.0, 2.0])
    with pytest.raises(KeyError):
        names["predict"]({"x1": 1.0})


def test_a_small_tree_is_one_function_and_a_large_one_several():
    assert "_tree_1_" not in to_python(fitted("oblique"))
    for name in ("large", "large oblique", "large machines"):
        assert "return _tree_1_" in to_python(fitted(name))


def test_a_chain_of_thousands_of_levels_can_be_called():
    model = fitted("large")
    n = 3000  # inner nodes: node 2 i has a leaf to its left, and the next of the chain to its right
    children = np.full((2 * n + 1, 2), -1, dtype=np.int32)
    children[:-1:2] = np.arange(2 * n).reshape(n, 2) + 1
    terms = np.concatenate([[0], np.cumsum(children[:, 0] >= 0)])
    chain = replace(
        model.tree_, children=children, terms=terms, features=np.zeros(n, dtype=np.int32), coefficients=np.ones(n),
        thresholds=np.arange(2 * n + 1) / 2, counts=np.eye(3)[np.arange(2 * n + 1) % 3], gains=np.zeros(2 * n + 1),
        gaps=np.zeros(2 * n + 1), missing=(),
    )  # fmt: skip
    model = copy(model)
    model.tree_ = chain
    rows = np.random.default_rng(0).uniform(-1, n + 1, size=(200, 4))
    check(model, rows, rows.tolist())


def test_awkward_names_stay_text():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    names = ["x", "import", 'a"""\nraise SystemExit', "x1", "\uff582", "float", "branch"]
    X = pandas.DataFrame(rng.normal(size=(300, len(names))), columns=names)
    y = np.where(X.sum(axis=1) > 0, "\n'''", "\\")
    model = OC1Classifier(random_state=0).fit(X, y)
    check(model, X, X.to_numpy().tolist())
    check(model, X, X.to_dict("records"))


def test_the_function_can_have_another_name():
    names = module(fitted("vote"), name="diagnose")
    assert set(names) >= {"diagnose", "diagnose_proba"}
    for name in ("if", "a b", "1x", "", "_tree_1", "list", "CLASSES", "x = 1\n"):
        with pytest.raises(ValueError, match="name"):
            to_python(fitted("vote"), name=name)

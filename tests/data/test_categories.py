import itertools
import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from oc1 import OC1Classifier, OC1EnsembleClassifier, OC1Regressor
from oc1.data.categories import class_weights, code_categories, find_categorical, learn_and_encode, response_codes
from oc1.tree.linear import Tree
from oc1.tree.regression import RegressionTree
from oc1.tree.text import text

COLOURS = ["red", "green", "blue", "grey", "black", "white", "pink", "brown"]
EFFECTS = np.array([2.0, -1.0, 0.5, -2.0, 1.0, -0.3, 0.0, 3.0])


def mixed(n=400, seed=0):
    """Make a frame of colours and numbers, and classes that depend on a sum of both."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(len(COLOURS), size=n)
    frame = pd.DataFrame({"size": rng.normal(size=n), "colour": np.array(COLOURS)[numbers]})
    y = np.where(EFFECTS[numbers] + frame["size"] + 0.3 * rng.normal(size=n) > 0.3, "yes", "no")
    return frame, y


def as_polars(frame):
    return pl.DataFrame({name: [None if pd.isna(value) else value for value in frame[name]] for name in frame})


def learner(**parameters):
    return OC1Classifier(**{"categorical_features": "from_dtype", "n_restarts": 3, "random_state": 0, **parameters})


def assert_same_tree(one, other):
    """Sums over rows in another order may differ by rounding."""
    for name in ("children", "features", "counts"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    for name in ("coefficients", "thresholds", "fill"):
        assert getattr(one, name) == pytest.approx(getattr(other, name))


def gini_cost(left, right):
    return sum(side.sum() - (side**2).sum() / side.sum() for side in (left, right))


def best_subset(counts):
    """Return the smallest impurity over all ways to part the categories in two."""
    k = len(counts)
    subsets = (np.isin(np.arange(k), s) for r in range(1, k) for s in itertools.combinations(range(k), r))
    return min(gini_cost(counts[inside].sum(axis=0), counts[~inside].sum(axis=0)) for inside in subsets)


# ---------------------------------------------------------------------------------------------------- codes


@pytest.mark.parametrize("seed", range(8))
def test_the_best_cut_is_the_best_of_all_subsets(seed):
    rng = np.random.default_rng(seed)
    k, size = int(rng.integers(2, 7)), 12  # of one size, so that smoothing does not change the order
    c = np.repeat(COLOURS[:k], size)
    y = rng.random(k * size) < np.repeat(rng.random(k), size)
    clf = learner(splits="axis", prune=None, criterion="gini", max_depth=1).fit(pd.DataFrame({"c": c}), y)
    counts = np.array([[(~y[c == one]).sum(), y[c == one].sum()] for one in COLOURS[:k]], dtype=float)
    assert gini_cost(*clf.tree_.counts[1:3]) == pytest.approx(best_subset(counts))


@pytest.mark.parametrize("seed", range(8))
def test_without_smoothing_sizes_do_not_matter(seed):
    counts = np.random.default_rng(seed).integers(1, 15, size=(6, 2)).astype(float)
    codes, _ = response_codes(counts, smoothing=0.0)
    cuts = [codes > threshold for threshold in np.unique(codes)[:-1]]
    found = min(gini_cost(counts[inside].sum(axis=0), counts[~inside].sum(axis=0)) for inside in cuts)
    assert found == pytest.approx(best_subset(counts))


def test_rare_categories_are_drawn_to_the_mean():
    counts = np.array([[30.0, 10.0], [10.0, 30.0], [0.0, 2.0], [0.0, 1.0], [0.0, 0.0]])
    codes, mean = response_codes(counts)
    assert mean == pytest.approx(43 / 83)
    assert codes[0] < codes[2] < 0.8  # CART's order would have 1.0
    assert codes[3] == codes[4] == mean
    many, _ = response_codes(1000 * counts)
    assert many[2] > 0.99


def test_codes_of_many_classes_order_by_the_main_difference():
    shares = np.array([[8, 1, 1], [6, 3, 1], [1, 4, 5], [1, 2, 7]])
    codes, mean = response_codes(10.0 * shares)
    assert (np.diff(codes) > 0).all() or (np.diff(codes) < 0).all()
    assert codes.min() < mean < codes.max()


def test_three_categories_that_are_three_classes_are_told_apart():
    frame = pd.DataFrame({"c": np.repeat(["a", "b", "c", "d"], 10)})
    clf = learner(splits="axis", prune=None).fit(frame, frame["c"])
    assert clf.score(frame, frame["c"]) == 1.0
    assert clf.get_n_leaves() == 4


def test_codes_come_from_the_given_rows_and_weights_only():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, size=(50, 1)).astype(float), rng.integers(0, 2, size=50)
    categories, rows, rest = (tuple("abcd"),), np.arange(30), np.arange(30, 50)
    codes, _ = code_categories(X, categories, y, 2, rows, None)
    flipped = y.copy()
    flipped[rest] = 1 - y[rest]
    assert (codes[0] == code_categories(X, categories, flipped, 2, rows, None)[0][0]).all()
    assert (codes[0] == code_categories(X, categories, y, 2, rows, np.ones(50))[0][0]).all()
    assert codes[0] == pytest.approx(code_categories(X, categories, y, 2, rows, np.full(50, 0.01))[0][0])
    flipped[rows] = 1 - y[rows]
    assert (codes[0] != code_categories(X, categories, flipped, 2, rows, None)[0][0]).any()


def test_class_weights_leave_out_missing_values():
    counts = class_weights(
        np.array([0.0, 1.0, np.nan, 1.0]), 3, np.array([0, 1, 1, 1]), 2, np.array([1.0, 2.0, 9.0, 3.0])
    )
    assert counts.tolist() == [[1, 0], [0, 5], [0, 0]]


# ---------------------------------------------------------------------------------------------------- fits


@pytest.mark.parametrize("prune", ["holdout", "cv", None])
def test_names_and_order_of_rows_change_nothing(prune):
    frame, y = mixed()
    clf = learner(prune=prune).fit(frame, y)
    renamed = frame.assign(colour=frame["colour"].map(dict(zip(COLOURS, reversed(COLOURS), strict=True))))
    other = learner(prune=prune).fit(renamed, y)
    assert {**clf.tree_.to_dict(), "categories": None} == {**other.tree_.to_dict(), "categories": None}
    assert (clf.predict_proba(frame) == other.predict_proba(renamed)).all()
    order = np.random.default_rng(1).permutation(len(y))
    assert_same_tree(clf.tree_, learner(prune=prune).fit(frame.iloc[order], y[order]).tree_)


def test_weight_two_is_the_row_twice_and_zero_is_none():
    frame, y = mixed(200)
    weights = np.random.default_rng(0).integers(0, 3, size=200)
    weights[frame["colour"] == "pink"] = 0
    twice = np.repeat(np.arange(200), weights)
    clf = learner(prune=None).fit(frame, y, sample_weight=weights)
    other = learner(prune=None).fit(frame.iloc[twice], y[twice])
    assert_same_tree(clf.tree_, other.tree_)
    assert "pink" not in clf.categories_[1]


def test_any_kind_of_table_gives_the_same_answer():
    frame, y = mixed()
    clf = learner().fit(frame, y)
    expected = clf.predict_proba(frame)
    backwards = pd.Categorical(frame["colour"], categories=sorted(COLOURS, reverse=True))
    polars = as_polars(frame)
    frames = [
        frame.assign(colour=backwards),
        frame.astype({"colour": object}),
        polars,
        polars.with_columns(pl.col("colour").cast(pl.Categorical)),
        polars.with_columns(pl.col("colour").cast(pl.Enum(COLOURS))),
    ]
    for other in frames:
        assert (clf.predict_proba(other) == expected).all()
        assert (clone(clf).fit(other, y).predict_proba(frame) == expected).all()
    for given in ([1], ["colour"], [False, True], np.array([1]), np.array([False, True])):
        assert_same_tree(clf.tree_, learner(categorical_features=given).fit(frame, y).tree_)
    array = frame.to_numpy(dtype=object)
    for other in (array, array.tolist()):
        unnamed = learner(categorical_features=[1]).fit(other, y)
        assert (unnamed.predict_proba(other) == expected).all()


def test_numbers_can_be_categories():
    frame, y = mixed()
    numbers = frame["colour"].map({name: 7 * i % 8 for i, name in enumerate(COLOURS)})
    X = np.column_stack([frame["size"], numbers])
    clf = learner(categorical_features=[1]).fit(X, y)
    assert_same_tree(
        Tree.from_dict({**clf.tree_.to_dict(), "feature_names": ["size", "colour"]}), learner().fit(frame, y).tree_
    )
    whole = frame.assign(colour=numbers)  # ints; floats are the same categories
    named = learner(categorical_features=["colour"]).fit(whole, y)
    assert (named.predict(whole) == named.predict(whole.astype(float))).all()
    assert named.score(whole, y) > 0.9


def test_unknown_and_missing_values_count_as_the_mean():
    frame, y = mixed()
    rng = np.random.default_rng(0)
    holes = frame.assign(colour=frame["colour"].where(rng.random(len(y)) > 0.1, None))
    clf = learner(prune=None).fit(holes, y)
    assert len(clf.categories_[1]) == len(COLOURS)
    answers = []
    for nothing in (None, np.nan, pd.NA, "mauve", 3):
        other = frame.assign(colour=pd.Series([nothing] * len(y), dtype=object))
        answers.append(clf.predict_proba(other))
        assert (answers[-1] == answers[0]).all()
    coded = np.column_stack([frame["size"], np.full(len(y), clf.tree_.fill[1])])
    plain = Tree.from_dict({**clf.tree_.to_dict(), "codes": [], "categories": []})
    assert (clf.tree_.outputs()[plain.apply(coded)] == answers[0]).all()
    assert (clf.predict(as_polars(holes)) == clf.predict(holes)).all()


def test_a_column_without_any_value():
    frame, y = mixed(60)
    clf = learner(categorical_features=["colour"]).fit(frame.assign(colour=None), y)
    assert clf.predict(frame).shape == (60,)


def test_an_order_by_response_beats_arbitrary_numbers():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(40, size=500), rng.normal(size=500)])
    y = rng.permutation(np.linspace(-2, 2, 40))[X[:, 0].astype(int)] + X[:, 1] > 0
    ours, theirs = (cross_val_score(learner(categorical_features=given), X, y, cv=3).mean() for given in ([0], None))
    assert ours > theirs + 0.02
    assert learner(categorical_features=[0]).fit(X, y).tree_.test(0)[0].tolist() == [0, 1]  # in a combination


def test_a_column_of_names_does_no_harm():
    frame, y = mixed(300)
    frame["name"] = [f"person {i}" for i in range(300)]
    assert cross_val_score(learner(), frame, y, cv=3).mean() > 0.8
    assert learner().fit(frame, y).feature_importances_[2] == 0


def test_numbers_alone_go_their_old_way():
    frame, y = mixed()
    X = frame[["size"]].to_numpy()
    clf = learner(categorical_features=None).fit(X, y)
    for nothing in ([], [False], "from_dtype"):
        assert_same_tree(clf.tree_, learner(categorical_features=nothing).fit(X, y).tree_)
    assert clf.categories_ is None
    assert clf.tree_.codes == ()
    assert "codes" not in clf.tree_.to_dict()
    assert learn_and_encode(X, None)[0] is X


def test_a_fit_forgets_the_one_before():
    frame, y = mixed()
    clf = learner().fit(frame, y)
    with pytest.raises(ValueError, match="no such column"):
        clf.set_params(categorical_features=["shape"]).fit(frame, y)
    assert clf.score(frame, y) > 0.8  # a failed fit changes nothing
    clf.set_params(categorical_features=None).fit(frame[["size"]], y)
    assert clf.categories_ is None
    assert clf.predict(frame[["size"]]).shape == y.shape


def test_dictionaries_and_pickles_keep_codes():
    frame, y = mixed()
    clf = learner(prune=None).fit(frame, y)
    back = Tree.from_dict(json.loads(json.dumps(clf.tree_.to_dict())))
    assert back.to_dict() == clf.tree_.to_dict()
    assert (back.codes[1] == clf.tree_.codes[1]).all()
    assert str(back) == str(clf.tree_)
    assert (pickle.loads(pickle.dumps(clf)).predict_proba(frame) == clf.predict_proba(frame)).all()
    pruned = clf.tree_.cut(np.arange(clf.tree_.n_nodes) == 0)
    assert pruned.codes is clf.tree_.codes
    assert clf.decision_path(frame).shape == (len(y), clf.tree_.n_nodes)


# ---------------------------------------------------------------------------------------------------- text, votes


def test_text_names_categories():
    frame = pd.DataFrame({"colour": np.repeat(["red", "green", "blue", "grey"], 5)})
    y = np.isin(frame["colour"], ["red", "grey"])
    clf = learner(splits="axis", prune=None).fit(frame, y)
    assert str(clf.tree_) == "colour in {grey, red}\n|-- no:  False  100% of 10\n`-- yes: True  100% of 10"


def test_text_of_long_sets_is_short_and_leaves_out_what_went_elsewhere():
    names = np.repeat([f"c{i:02d}" for i in range(40)], 4)
    clf = learner(splits="axis", prune=None).fit(pd.DataFrame({"c": names}), names > "c19")
    assert str(clf.tree_).splitlines()[0] == "c in {c20, c21, c22, c23, c24, c25, c26, 13 more}"
    clf = learner(splits="axis", prune=None).fit(pd.DataFrame({"c": names}), names > "c02")
    assert str(clf.tree_).splitlines()[0] == "c not in {c00, c01, c02}"
    frame = pd.DataFrame({"c": np.repeat(["a", "b", "c"], 10)})
    words = str(learner(splits="axis", prune=None).fit(frame, frame["c"]).tree_)
    assert all("," not in line for line in words.splitlines()[1:])


def test_codes_in_combinations_are_listed_once():
    frame, y = mixed()
    lines = str(learner(splits="oblique").fit(frame, y).tree_).splitlines()
    assert "code(colour)" in lines[0]
    lists = [line for line in lines if line.startswith("code(colour): ")]
    assert len(lists) == 1
    assert lists[0] == lines[-1]
    words = dict(word.rsplit(" ", 1) for word in lists[0].removeprefix("code(colour): ").split(", "))
    assert set(words) == {*COLOURS, "missing"}
    assert next(iter(words)) == "grey"  # the smallest effect
    assert list(words)[-2] == "brown"


def test_votes_take_categories():
    frame, y = mixed()
    vote = OC1EnsembleClassifier(learner(prune=None), n_estimators=3, bootstrap=True, random_state=0).fit(frame, y)
    assert vote.score(frame, y) > 0.9
    assert "code(colour)" in text(vote)
    assert set(COLOURS) >= set(vote.estimators_[0].tree_.categories[1])
    assert vote.predict(frame.assign(colour="mauve")).shape == y.shape
    partial = OC1EnsembleClassifier(learner(prune=None), n_estimators=4, max_features=1, random_state=0).fit(frame, y)
    assert partial.predict(as_polars(frame)).shape == y.shape


# ---------------------------------------------------------------------------------------------------- regression


def prices(n=400, seed=0):
    frame, _ = mixed(n, seed)
    noise = np.random.default_rng(seed).normal(size=n)
    return frame, 20 + 5 * EFFECTS[[COLOURS.index(one) for one in frame["colour"]]] + 4 * frame["size"] + 0.5 * noise


def regressor(**parameters):
    return OC1Regressor(**{"categorical_features": "from_dtype", "n_restarts": 2, "random_state": 0, **parameters})


def test_codes_of_numbers_are_their_means_drawn_to_the_mean_of_all():
    X = np.array([0.0, 0, 0, 0, 1, 1, 2, np.nan])[:, None]
    y = np.array([1.0, 3, 1, 3, 6, 10, 100, 7])
    weights = np.array([1.0, 1, 1, 1, 1, 1, 1, 5])
    (codes,), mean = code_categories(X, (tuple("abcd"),), y, 0, np.arange(8), weights)
    middle = y[:7].mean()
    assert mean[0] == pytest.approx(middle)
    assert codes == pytest.approx([(8 + 2 * middle) / 6, (16 + 2 * middle) / 4, middle, middle])


@pytest.mark.parametrize("seed", range(4))
def test_the_best_cut_of_means_is_the_best_of_all_subsets(seed):
    rng = np.random.default_rng(seed)
    c, y = np.repeat(COLOURS[:6], 12), rng.normal(size=72) + np.repeat(rng.normal(size=6), 12)
    model = regressor(splits="axis", prune=None, max_depth=1).fit(pd.DataFrame({"c": c}), y)
    subsets = (np.isin(c, s) for r in range(1, 6) for s in itertools.combinations(COLOURS[:6], r))
    best = min(sum(side.size * side.var() for side in (y[inside], y[~inside])) for inside in subsets)
    assert model.tree_.losses[1:3].sum() == pytest.approx(best)


@pytest.mark.parametrize("prune", ["holdout", "cv", None])
def test_numbers_names_rows_and_weights(prune):
    frame, y = prices(200)
    model = regressor(prune=prune, max_depth=3).fit(frame, y)
    renamed = frame.assign(colour=frame["colour"].map(dict(zip(COLOURS, reversed(COLOURS), strict=True))))
    other = regressor(prune=prune, max_depth=3).fit(renamed, y)
    assert other.predict(renamed) == pytest.approx(model.predict(frame))
    order = np.random.default_rng(1).permutation(len(y))
    assert_same_tree(model.tree_, regressor(prune=prune, max_depth=3).fit(frame.iloc[order], y[order]).tree_)
    times = np.random.default_rng(0).integers(0, 3, size=len(y))
    weighted = regressor(prune=prune, max_depth=3).fit(frame, y, sample_weight=times)
    repeated = regressor(prune=prune, max_depth=3).fit(frame.loc[frame.index.repeat(times)], np.repeat(y, times))
    assert weighted.predict(frame) == pytest.approx(repeated.predict(frame))


def test_a_regression_tree_of_categories():
    frame, y = prices()
    model = regressor().fit(frame[:300], y[:300])
    assert model.score(frame[300:], y[300:]) > 0.9
    numbers = frame.assign(colour=[7 * COLOURS.index(one) % 8 for one in frame["colour"]])
    plain = regressor(categorical_features=None).fit(numbers[:300], y[:300])
    assert model.score(frame[300:], y[300:]) > plain.score(numbers[300:], y[300:]) + 0.03
    assert model.tree_.test(0)[0].tolist() == [0, 1]  # in a combination
    assert "code(colour): grey " in text(model)
    assert len(model.categories_[1]) == len(COLOURS)
    assert model.predict(as_polars(frame)) == pytest.approx(model.predict(frame))
    unknown = [model.predict(frame.assign(colour=value)) for value in ("mauve", None)]
    assert (unknown[0] == unknown[1]).all()
    back = RegressionTree.from_dict(json.loads(json.dumps(model.tree_.to_dict())))
    assert back.to_dict() == model.tree_.to_dict()
    assert str(back) == str(model.tree_)
    with pytest.raises(ValueError, match="column 'colour' holds text"):
        regressor(categorical_features=None).fit(frame, y)


# ---------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["shape"], "names 'shape', but X has no such column; it has .'size', 'colour'."),
        ([2], "index 2, but the columns of X are 0 to 1"),
        ([-1], "index -1"),
        ([1, 1], "lists 1 more than once"),
        (["colour", "colour"], "lists 'colour' more than once"),
        ([True], "mask for 1 columns, but X has 2"),
        ([0.5], "list of names, of indices, or a mask"),
        (["colour", 1], "list of names, of indices, or a mask"),
        ([0], "column 'colour' holds text .* name it in categorical_features, or encode it"),
        (None, "column 'colour' holds text .* name it in categorical_features, or encode it"),
    ],
)
def test_errors_say_what_is_wrong(given, message):
    frame, y = mixed(50)
    for table in (frame, as_polars(frame)):
        with pytest.raises(ValueError, match=message):
            learner(categorical_features=given).fit(table, y)


def test_more_errors():
    frame, y = mixed(50)
    array = frame.to_numpy(dtype=object)
    with pytest.raises(ValueError, match="columns of X have none: give indices"):
        learner(categorical_features=["colour"]).fit(array, y)
    with pytest.raises(ValueError, match="column 1 holds text"):
        learner(categorical_features=[0]).fit(array, y)
    with pytest.raises(ValueError, match="values are not texts or numbers"):
        learner(categorical_features=[1]).fit(frame.assign(colour=[[1]] * 50), y)
    with pytest.raises(ValueError, match="'categorical_features' parameter"):
        learner(categorical_features="colour").fit(frame, y)
    clf = learner(categorical_features=[1]).fit(array, y)
    with pytest.raises(ValueError, match="X has 1 features, but OC1Classifier is expecting 2"):
        clf.predict(array[:, :1])
    with pytest.raises(ValueError, match="Expected 2D array"):
        clf.predict(array[:, 1])
    with pytest.raises(ValueError, match="feature names"):
        learner().fit(frame, y).predict(frame[["colour", "size"]])


def test_types_say_which_columns_are_categorical():
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": pd.Categorical([1, 2]), "d": [True, False], "e": [0.5, 1]})
    frame["f"] = pd.Series(["x", None], dtype=object)
    frame["g"] = pd.Series([1, None], dtype=object)
    assert find_categorical(frame, "from_dtype").tolist() == [1, 2, 5]
    polars = pl.DataFrame(
        {"a": [1, 2], "b": ["x", "y"], "c": pl.Series(["x", "y"], dtype=pl.Categorical), "d": [0.5, 1]}
    )
    assert find_categorical(polars, "from_dtype").tolist() == [1, 2]
    assert find_categorical(np.zeros((2, 3)), "from_dtype").tolist() == []

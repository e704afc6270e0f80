"""The default: what it must not depend on, where it stops, what it finds, which parameters it keeps."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import cross_validate

from oc1 import OC1Classifier
from oc1.data.training import Training
from oc1.datasets import make_ls10, make_pol, make_rcb
from oc1.growing import options as growth_options
from oc1.growing.options import PAPER_RULES
from oc1.impurity import MEASURES
from oc1.learners import classifier

SEEDED = {"random_state": 0}


def hellinger(left, right):
    shares = np.sqrt(left / left.sum()) - np.sqrt(right / right.sum())
    return 2.0 - (shares**2).sum()


def groups(clf, X):
    """The partition of the examples, without the numbering of the leaves."""
    leaves = clf.apply(X)
    return {tuple(np.flatnonzero(leaves == leaf)) for leaf in np.unique(leaves)}


def noise(n, d, k=2, seed=0):
    """Labels that have nothing to do with the attributes."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.integers(0, k, n)


def quadrants(n, n_further=0, seed=0):
    """Two classes, each in two quadrants that touch at a corner."""
    X = np.random.default_rng(seed).uniform(-1, 1, size=(n, 2 + n_further))
    return X, (X[:, 0] > 0) ^ (X[:, 1] > 0)


SETS = {
    "iris": load_iris(return_X_y=True),
    "wine": load_wine(return_X_y=True),
    "RCB": make_rcb(400, random_state=1),
    "LS10": make_ls10(300, random_state=1),
    "overlapping": (noise(300, 4)[0], (noise(300, 4)[0][:, :2].sum(axis=1) + noise(300, 1, seed=1)[0][:, 0] > 0) * 1),
}


# ------------------------------------------------------------------------------------------------ invariances


@pytest.mark.parametrize("options", [{}, {"max_terms": 2}, {"criterion": "info_gain"}, {"splits": "oblique"}], ids=str)
@pytest.mark.parametrize("shared", [8000, 60])
def test_the_same_tree_for_any_number_of_threads(monkeypatch, options, shared):
    X, y = quadrants(600, 1)
    monkeypatch.setattr(growth_options, "MIN_SHARED_ROWS", shared)
    models = [OC1Classifier(n_jobs=n_jobs, **options, **SEEDED).fit(X, y) for n_jobs in (1, 2, 3)]
    assert models[0].get_n_leaves() > 3
    assert models[0].tree_.to_dict() == models[1].tree_.to_dict() == models[2].tree_.to_dict()
    assert models[0].n_hyperplanes_ == models[1].n_hyperplanes_ == models[2].n_hyperplanes_


@pytest.mark.parametrize("name", SETS)
def test_units_order_and_names_do_not_matter(name):
    X, y = SETS[name]
    known = groups(OC1Classifier(**SEEDED).fit(X, y), X)
    assert len(known) > 1
    rng = np.random.default_rng(0)
    for scale in (2.0 ** rng.integers(-20, 20, X.shape[1]), 10 ** rng.uniform(-4, 4, X.shape[1])):
        moved = (X + X.std(axis=0) * rng.integers(-50, 50, X.shape[1])) * scale
        assert groups(OC1Classifier(**SEEDED).fit(moved, y), moved) == known
    order = rng.permutation(len(y))
    assert groups(OC1Classifier(**SEEDED).fit(X[order], y[order]), X) == known
    renamed = np.array(list("ihgfedcba"))[y]
    assert groups(OC1Classifier(**SEEDED).fit(X, renamed), X) == known


# ------------------------------------------------------------------------------------------------ where it stops


@pytest.mark.parametrize(
    ("n", "d", "k"),
    [
        (100, 10, 2),
        pytest.param(60, 30, 2, marks=pytest.mark.slow),
        (200, 10, 4),
        pytest.param(1000, 20, 3, marks=pytest.mark.slow),
    ],
)
def test_noise_is_hardly_ever_split(n, d, k):
    leaves = [OC1Classifier(random_state=seed).fit(*noise(n, d, k, seed)).get_n_leaves() for seed in range(12)]
    whole = [
        OC1Classifier(random_state=seed, prune=None).fit(*noise(n, d, k, seed)).get_n_leaves() for seed in range(2)
    ]
    assert np.mean(leaves) < 0.6 * np.mean(whole)
    assert np.mean(leaves) < 4.0


@pytest.mark.parametrize("n_further", [0, 3])
def test_quadrants_do_not_end_at_the_root(n_further):
    """No plane separates them and hardly any is worth much, but growth goes on until leaves are pure."""
    for seed in range(3):
        X, y = quadrants(1000, n_further, seed)
        clf = OC1Classifier(**SEEDED).fit(X, y)
        assert clf.score(*quadrants(4000, n_further, 100)) > 0.98
        assert clf.get_n_leaves() <= 12


def unpruned(X, y, kind, weights=None, **options):
    """Return the tree that the default prunes."""
    data = Training.make(X, y, weights, np.unique(y), (), seed=0)
    return OC1Classifier(**options, **SEEDED)._grow_kind(kind, data, data.everything)[0]


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(2, 80),
    st.integers(1, 4),
    st.integers(1, 4),
    st.sampled_from([2, 10, 10**6]),
    st.sampled_from(["axis", "auto", "oblique"]),
    st.booleans(),
)
def test_leaves_are_pure_or_of_examples_that_nothing_tells_apart(seed, n, d, k, n_values, splits, weighted):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, n_values, (n, d)).astype(float), np.unique(rng.integers(0, k, n), return_inverse=True)[1]
    weights = rng.uniform(0.1, 3.0, n) if weighted else None
    tree = unpruned(X, y, "axis" if splits == "axis" else "oblique", weights, splits=splits)
    leaves = tree.apply(X)
    for leaf in np.flatnonzero(tree.is_leaf):
        here = leaves == leaf
        assert here.any()
        assert len(np.unique(y[here])) == 1 or len(np.unique(X[here], axis=0)) == 1
    for x in np.unique(X, axis=0):
        assert len(np.unique(leaves[(x == X).all(axis=1)])) == 1


# ------------------------------------------------------------------------------------------------ weights and rows


def ties(seed):
    """Return few values, so that there are duplicates and ties; two or three classes; and weights, or none."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, rng.choice([3, 6, 1000]), (90, 3)).astype(float)
    y = (X[:, 0] + X[:, 1] > np.median(X[:, 0] + X[:, 1])).astype(int) + (rng.random(90) < 0.15)
    y = y if seed % 2 else np.minimum(y, 1)
    return X, y, rng.choice([0.5, 1.0, 2.0], 90) if seed % 3 else None


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_the_rows_changes_nothing(seed):
    X, y, weights = ties(seed)
    expected = OC1Classifier(**SEEDED).fit(X, y, weights)
    for other in range(2):
        order = np.random.default_rng(other).permutation(len(y))
        own = None if weights is None else weights[order]
        clf = OC1Classifier(**SEEDED).fit(X[order], y[order], own)
        assert clf.tree_.to_dict() == expected.tree_.to_dict()
        assert clf.cv_accuracies_ == expected.cv_accuracies_


@pytest.mark.parametrize("factor", [1e-6, 0.5, 2.0, 3.7, 1e6])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_factor_of_all_weights_changes_nothing(seed, factor):
    X, y, weights = ties(seed)
    expected = OC1Classifier(**SEEDED).fit(X, y, weights)
    given = np.full(len(y), factor) if weights is None else factor * weights
    clf = OC1Classifier(**SEEDED).fit(X, y, given)
    assert clf.tree_.to_dict() == expected.tree_.to_dict()
    assert clf.pruning_path_.leaves.tolist() == expected.pruning_path_.leaves.tolist()
    assert clf.cv_accuracies_ == expected.cv_accuracies_


@pytest.mark.parametrize("name", ["iris", "RCB", "overlapping"])
def test_class_weights_that_hardly_differ_give_trees_that_hardly_differ(name):
    X, y = SETS[name]
    whole, other = (OC1Classifier(class_weight={np.unique(y)[0]: weight}, **SEEDED).fit(X, y) for weight in (5, 5.0001))
    assert np.mean(whole.predict(X) == other.predict(X)) > 0.98
    assert abs(whole.get_n_leaves() - other.get_n_leaves()) <= 2


def test_on_ties_the_axis_parallel_tree_wins():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X[:, 1] > 0.3).astype(int)
    X[:, 1] += np.where(y, 0.5, -0.5)  # both kinds part the classes
    clf = OC1Classifier(**SEEDED).fit(X, y)
    assert clf.cv_accuracies_["axis"] == clf.cv_accuracies_["oblique"] == 1.0
    assert (clf.splits_, clf.get_n_leaves(), clf.tree_.n_terms) == ("axis", 2, 1)


def test_categories_and_missing_values():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 5, 400), rng.normal(size=(400, 2))])
    y = ((X[:, 0] % 2) + X[:, 1] + 0.3 * rng.normal(size=400) > 0.5).astype(int)
    X[rng.random(400) < 0.1, 1] = np.nan
    for missing in ("mean", "direction"):
        clf = OC1Classifier(categorical_features=[0], missing=missing, **SEEDED).fit(X, y)
        assert clf.score(X, y) > 0.8
        order = rng.permutation(400)
        again = OC1Classifier(categorical_features=[0], missing=missing, **SEEDED).fit(X[order], y[order])
        np.testing.assert_array_equal(again.predict(X), clf.predict(X))


@pytest.mark.parametrize("splits", ["auto", "axis", "oblique"])
def test_one_class_two_examples_and_nothing_to_tell(splits):
    clf = OC1Classifier(splits=splits, **SEEDED)
    assert clf.fit([[0.0, 1.0], [2.0, 3.0]], ["a", "a"]).get_n_leaves() == 1
    assert clf.fit([[0.0, 1.0], [1.0, 3.0]], ["a", "b"]).predict([[0.0, 1.0], [1.0, 3.0]]).tolist() == ["a", "b"]
    assert clf.fit(np.ones((20, 3)), np.arange(20) % 2).get_n_leaves() == 1
    assert clf.fit(np.ones((2, 1)), [0, 1]).get_n_leaves() == 1


def test_six_examples_are_told_apart():
    X = np.array([[0.0, 0.0], [1.0, 0.5], [0.5, 1.0], [4.0, 4.0], [5.0, 4.5], [4.5, 5.0]])
    clf = OC1Classifier(**SEEDED).fit(X, list("aaabbb"))
    assert clf.get_n_leaves() == 2
    assert clf.score(X, list("aaabbb")) == 1.0
    assert OC1Classifier(**SEEDED).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]).get_n_leaves() == 2


# ------------------------------------------------------------------------------------------------ what it finds


@pytest.mark.parametrize(("make", "leaves"), [(make_ls10, 2), (make_pol, 5), (make_rcb, 8)])
def test_the_papers_concepts_are_found(make, leaves):
    scores = []
    for seed in (0, 2):
        clf = OC1Classifier(**SEEDED).fit(*make(1000, random_state=seed))
        assert leaves <= clf.get_n_leaves() <= leaves + (make is make_rcb)
        scores.append(clf.score(*make(2000, random_state=100)))
        path = clf.pruning_path_
        assert clf.unpruned_tree_.n_leaves >= path.leaves[0] >= leaves
        assert path.terms[0] == path.terms.max()
        assert path.accuracy.max() > 0.95
    assert np.mean(scores) > 0.98


def test_what_a_linear_classifier_does_better_is_left_to_it():
    folds = cross_validate(OC1Classifier(**SEEDED), *load_breast_cancer(return_X_y=True), return_estimator=True)
    assert folds["test_score"].mean() > 0.965
    assert np.mean([clf.get_n_leaves() for clf in folds["estimator"]]) <= 2.4


# ------------------------------------------------------------------------------------------------ parameters


def rough(n=500, seed=4):
    """Three classes that overlap a little, with a border that bends: trees of many leaves."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 4))
    return X, np.digitize(X[:, 0] + X[:, 1] ** 2 - 0.5 * X[:, 2] + 0.1 * rng.normal(size=n), [0.0, 0.6])


@pytest.mark.parametrize(
    "criterion",
    ["twoing", hellinger, *(pytest.param(own, marks=pytest.mark.slow) for own in sorted({*MEASURES} - {"twoing"}))],
)
def test_limits_are_kept_with_any_criterion(criterion):
    X, y = rough()
    whole = OC1Classifier(criterion=criterion, **SEEDED).fit(X, y)
    assert whole.get_n_leaves() >= 3
    assert whole.score(X, y) > 0.8
    limited = {
        "min_samples_leaf": (60, lambda clf: np.unique(clf.apply(X), return_counts=True)[1].min() >= 60),
        "min_samples_split": (300, lambda clf: clf.tree_.counts[~clf.tree_.is_leaf].sum(axis=1).min() >= 300),
        "max_depth": (1, lambda clf: clf.get_depth() == 1),
        "max_leaf_nodes": (2, lambda clf: clf.get_n_leaves() == 2),
        "max_terms": (2, lambda clf: np.diff(clf.tree_.terms).max() <= 2),
        "min_samples_oblique": (10_000, lambda clf: np.diff(clf.tree_.terms).max() == 1),
    }
    for name, (value, holds) in limited.items():
        options = {name: value}
        clf = OC1Classifier(criterion=criterion, **options, **SEEDED).fit(X, y)
        # What this measure likes best of single attributes is, for Twoing, worth nothing.
        assert clf.get_n_leaves() > (criterion is not hellinger or name != "min_samples_oblique"), name
        if clf.get_n_leaves() > 1:
            assert holds(clf), name


def test_the_gain_of_a_split_can_be_asked_for():
    X, y = rough()
    sizes = [
        OC1Classifier(min_impurity_decrease=least, **SEEDED).fit(X, y).get_n_leaves() for least in (0.0, 0.3, 10.0)
    ]
    assert sizes[0] > sizes[1] > sizes[2] == 1


def test_best_first_growth_is_a_cut_of_the_whole_tree():
    X, y = rough()
    whole = OC1Classifier(**SEEDED).fit(X, y)
    part = OC1Classifier(max_leaf_nodes=whole.unpruned_tree_.n_leaves, **SEEDED).fit(X, y)
    assert part.unpruned_tree_.to_dict() == whole.unpruned_tree_.to_dict()


def test_axis_bias_prefers_axis_parallel_splits():
    X, y = rough()
    shares = []
    for bias in (1.0, 1.5, 1e6):
        sizes = np.diff(OC1Classifier(axis_bias=bias, **SEEDED).fit(X, y).tree_.terms)
        shares.append(np.mean(sizes[sizes > 0] > 1))
    assert min(shares[:2]) > shares[2] == 0.0


def test_class_weights_shift_the_balance():
    X, y = SETS["overlapping"]
    shares = [
        (OC1Classifier(class_weight={0: 1, 1: weight}, **SEEDED).fit(X, y).predict(X) == 1).mean()
        for weight in (0.1, 1, 10)
    ]
    assert shares[0] < shares[1] < shares[2]
    balanced = OC1Classifier(class_weight="balanced", **SEEDED).fit(X, y)
    assert balanced.tree_.counts[0, 0] == pytest.approx(balanced.tree_.counts[0, 1])


@pytest.mark.parametrize("name", ["iris", "RCB"])
def test_the_papers_preset_is_what_it_says(name, monkeypatch):
    X, y = SETS[name]
    default = OC1Classifier(**SEEDED).fit(X, y)
    monkeypatch.setitem(classifier.RULES, None, PAPER_RULES)
    paper = {"normalize": "positive", "prune": "holdout", "n_restarts": 20, "n_jumps": 5, "order": "sequential"}
    preset = OC1Classifier(preset="paper", **SEEDED).fit(X, y)
    spelled = OC1Classifier(**paper, **SEEDED).fit(X, y)
    assert preset.unpruned_tree_.to_dict() == spelled.unpruned_tree_.to_dict()
    assert preset.tree_.to_dict() == spelled.tree_.to_dict()
    assert preset.n_hyperplanes_ == spelled.n_hyperplanes_
    assert preset.tree_.to_dict() != default.tree_.to_dict()
    for own in ({"n_jumps": 0}, {"prune": None}, {"prune": "cv", "n_restarts": 2}, {"order": "best", "n_restarts": 2}):
        mixed = OC1Classifier(preset="paper", **own, **SEEDED).fit(X, y)
        assert mixed.tree_.to_dict() == OC1Classifier(**{**paper, **own}, **SEEDED).fit(X, y).tree_.to_dict()


@pytest.mark.parametrize(
    "own",
    [
        {"normalize": "standard"},
        {"normalize": "positive"},
        {"prune": None},
        {"prune": "cv"},
        {"prune": "holdout"},
        {"n_restarts": 20},
        {"n_restarts": 3},
        {"n_jumps": 5},
        {"n_jumps": 0},
        {"order": "sequential"},
        {"order": "best", "n_restarts": 2},
        {"normalize": "standard", "prune": None},
    ],
    ids=str,
)
def test_what_is_said_explicitly_wins_over_a_preset(own, monkeypatch):
    X, y = rough()
    monkeypatch.setitem(classifier.RULES, None, PAPER_RULES)
    fit = OC1Classifier(preset="paper", **own, **SEEDED).fit(X, y)
    spelled = OC1Classifier(**{"normalize": "positive", "prune": "holdout"} | own, **SEEDED).fit(X, y)
    assert fit.tree_.to_dict() == spelled.tree_.to_dict()
    assert fit.n_hyperplanes_ == spelled.n_hyperplanes_


def test_the_papers_preset_keeps_to_its_figures():
    X, y = SETS["RCB"]
    options = OC1Classifier(preset="paper")._options(2)
    assert options.rules == PAPER_RULES
    assert options.min_large_rows > 10**12  # no node is climbed on a sample
    settings = options.settings(2, 1.0, 1.0)
    assert settings.whole_rounds
    assert settings.falls_at_ties
    assert settings.min_rows_to_meet > 10**12  # every run goes to its end
    loose = OC1Classifier(normalize="positive", prune="holdout", **SEEDED).fit(X, y)
    literal = OC1Classifier(preset="paper", **SEEDED).fit(X, y)
    assert literal.n_hyperplanes_ != loose.n_hyperplanes_


def test_presets_and_explicit_values_are_told_apart_by_scikit_learn():
    clf = OC1Classifier(preset="paper", normalize="standard")
    assert repr(clf) == "OC1Classifier(normalize='standard', preset='paper')"
    assert clone(clf).get_params()["normalize"] == "standard"
    assert clf.set_params(normalize="auto").get_params()["normalize"] == "auto"
    assert repr(clf) == "OC1Classifier(preset='paper')"


def test_parameters_are_scikit_learns_way():
    clf = OC1Classifier(preset="paper", max_terms=3, axis_bias=2.0)
    assert clone(clf).get_params() == clf.get_params()
    assert clone(clf).fit(*SETS["iris"]).get_params() == clf.get_params()  # fit resolves, but does not change them
    assert clf.set_params(preset=None, axis_bias=1).get_params()["axis_bias"] == 1
    for wrong in ({"preset": "modern"}, {"axis_bias": -1}, {"prune": "never"}, {"splits": "best"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            OC1Classifier(**wrong).fit(*SETS["iris"])


def test_prune_auto_is_the_default_or_what_the_preset_says(monkeypatch):
    X, y = SETS["overlapping"]
    auto = OC1Classifier(normalize="positive", n_restarts=2, **SEEDED).fit(X, y)
    same = OC1Classifier(normalize="positive", n_restarts=2, prune="cv", **SEEDED).fit(X, y)
    assert auto.tree_.to_dict() == same.tree_.to_dict()
    assert auto.cv_accuracies_ == same.cv_accuracies_ == {}
    monkeypatch.setattr("oc1.learners.trees.MAX_EXAMPLES_FOR_CV", 100)
    auto = OC1Classifier(normalize="positive", splits="axis", **SEEDED).fit(X, y)
    same = OC1Classifier(normalize="positive", splits="axis", prune="holdout", **SEEDED).fit(X, y)
    assert auto.tree_.to_dict() == same.tree_.to_dict()
    assert set(OC1Classifier(**SEEDED).fit(X, y).cv_accuracies_) == {"axis", "oblique", "joint"}
    assert set(OC1Classifier(splits="axis", **SEEDED).fit(X, y).cv_accuracies_) == {"axis"}


def test_a_leaf_has_its_price_under_the_default():
    X, y = rough()
    path = OC1Classifier(**SEEDED).cost_complexity_pruning_path(X, y)
    assert path.ccp_alphas[0] == 0.0
    assert (np.diff(path.ccp_alphas) > 0).all()
    assert (np.diff(path.impurities) > 0).all()
    sizes = [OC1Classifier(ccp_alpha=alpha, **SEEDED).fit(X, y).get_n_leaves() for alpha in path.ccp_alphas[-3:]]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 1


# ------------------------------------------------------------------------------------------------ awkward data


def test_missing_values_and_constant_attributes():
    X, y = SETS["wine"]
    holes = np.column_stack([X, np.full(len(y), 3.0), np.full(len(y), np.nan)])
    holes[np.random.default_rng(0).random(holes.shape) < 0.1] = np.nan
    clf = OC1Classifier(**SEEDED).fit(holes, y)
    assert clf.score(holes, y) > 0.9
    assert not {13, 14} & set(clf.tree_.features.tolist())
    filled = np.where(np.isnan(holes), clf.tree_.fill, holes)
    # What a row holds decides in which fold it is.
    assert np.mean(OC1Classifier(**SEEDED).fit(filled, y).predict(filled) == clf.predict(holes)) > 0.97
    grown = [OC1Classifier(prune=None, **SEEDED).fit(own, y).apply(own) for own in (holes, filled)]
    np.testing.assert_array_equal(*grown)
    assert OC1Classifier(**SEEDED).fit(np.ones((20, 3)), np.arange(20) % 2).get_n_leaves() == 1


@pytest.mark.parametrize("splits", ["auto", "axis", "oblique"])
@pytest.mark.parametrize("n_constant", [0, 1])
def test_one_attribute(splits, n_constant):
    X, y = SETS["iris"]
    one = np.column_stack([X[:, 2], *np.ones((n_constant, len(y)))])
    clf = OC1Classifier(splits=splits, **SEEDED).fit(one, y)
    # Nothing can be combined: each kind gives the tree of axis-parallel tests on that attribute.
    usual = OC1Classifier(splits="axis", **SEEDED).fit(X[:, [2]], y).tree_
    assert usual.n_leaves == 3
    for name in ("children", "features", "coefficients", "thresholds", "counts"):
        np.testing.assert_array_equal(getattr(clf.tree_, name), getattr(usual, name))


def test_many_attributes_many_classes_and_float32():
    rng = np.random.default_rng(0)
    wide, label = rng.normal(size=(60, 100)), np.arange(60) % 2
    wide[:, 0] += 6 * label
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = OC1Classifier(**SEEDED).fit(wide, label)
        centres = rng.normal(size=(30, 5)) * 10
        y = np.arange(900) % 30
        X = centres[y] + rng.normal(size=(900, 5))
        many = OC1Classifier(n_restarts=3, **SEEDED).fit(X[:450], y[:450])
        single = OC1Classifier(n_restarts=3, **SEEDED).fit(X[:450].astype(np.float32), y[:450])
    assert clf.get_n_leaves() == 2
    assert clf.score(wide, label) == 1.0
    assert 30 <= many.get_n_leaves() <= 40
    assert many.score(X[450:], y[450:]) > 0.9
    assert single.score(X[450:].astype(np.float32), y[450:]) > 0.9


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e300])
def test_huge_and_tiny_values(scale):
    X, y = SETS["iris"]
    clf = OC1Classifier(**SEEDED).fit(X * scale, y)
    assert groups(clf, X * scale) == groups(OC1Classifier(**SEEDED).fit(X, y), X)

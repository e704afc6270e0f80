"""The penalised default: what it must not depend on, where it stops, what it finds, which parameters it keeps."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import cross_validate

from oc1 import OC1Classifier
from oc1.datasets import make_ls10, make_pol, make_rcb
from oc1.growing import calls, engines
from oc1.growing import options as growth_options
from oc1.growing.options import PAPER_RULES
from oc1.impurity import MEASURES
from oc1.learners import classifier

SEEDED = {"random_state": 0}
#: Without a contest with other kinds of trees.
BEST = {"splits": "best", **SEEDED}


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


@pytest.mark.parametrize(
    "options", [{}, {"n_jobs": 2}, {"max_leaf_nodes": 4}, {"prune": None, "starts": "linear"}], ids=str
)
def test_a_borrowed_array_gives_the_tree_of_a_copied_one(monkeypatch, options):
    X, y = quadrants(500, 2)
    X = X.astype(np.float32)
    X[::7, 1] = np.nan
    X[:, 3] = 5.0
    monkeypatch.setattr(growth_options, "MIN_SHARED_ROWS", 100)
    clf = OC1Classifier(**options, **SEEDED)
    copied = clf.fit(X, y).tree_.to_dict()
    assert len(copied["thresholds"]) >= 5
    monkeypatch.setattr(engines, "MIN_BORROWED_BYTES", 0)
    monkeypatch.setattr(engines, "MAX_ROWS_PER_PIECE", 37)
    columns = np.asfortranarray(X)
    columns.flags.writeable = False
    assert clf.fit(columns, y).tree_.to_dict() == copied


@pytest.mark.parametrize("name", SETS)
def test_units_order_and_names_do_not_matter(name):
    X, y = SETS[name]
    known = groups(OC1Classifier(**BEST).fit(X, y), X)
    assert len(known) > 1
    rng = np.random.default_rng(0)
    for scale in (2.0 ** rng.integers(-20, 20, X.shape[1]), 10 ** rng.uniform(-4, 4, X.shape[1])):
        moved = (X + X.std(axis=0) * rng.integers(-50, 50, X.shape[1])) * scale
        assert groups(OC1Classifier(**BEST).fit(moved, y), moved) == known
    order = rng.permutation(len(y))
    assert groups(OC1Classifier(**BEST).fit(X[order], y[order]), X) == known
    renamed = np.array(list("ihgfedcba"))[y]
    assert groups(OC1Classifier(**BEST).fit(X, renamed), X) == known


@pytest.mark.parametrize("name", SETS)
def test_whole_weights_are_repetitions(name):
    X, y = SETS[name]
    times = np.random.default_rng(0).integers(0, 4, len(y))
    options = {"min_samples_oblique": 2, **BEST}  # not by the size of a node, which is a number of rows
    weighted = OC1Classifier(**options).fit(X, y, sample_weight=times)
    repeated = OC1Classifier(**options).fit(X.repeat(times, axis=0), y.repeat(times))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X))


@pytest.mark.parametrize("name", ["iris", "wine", "RCB"])
@pytest.mark.parametrize("factor", [1e-11, 1e-3, 0.37, 1234.5])
def test_other_weights_count_by_what_they_are_to_each_other(name, factor):
    X, y = SETS[name]
    plain = OC1Classifier(refine=False, **SEEDED).fit(X, y)
    weighted = OC1Classifier(refine=False, **SEEDED).fit(X, y, sample_weight=np.full(len(y), factor))
    assert groups(weighted, X) == groups(plain, X)
    uneven = np.random.default_rng(0).uniform(0.2, 2.0, len(y))
    one, other = (
        OC1Classifier(refine=False, **SEEDED).fit(X, y, sample_weight=uneven * times) for times in (1.0, factor)
    )
    assert np.mean(one.predict(X) == other.predict(X)) > 0.97  # the search goes other ways by rounding


# ------------------------------------------------------------------------------------------------ where it stops


@pytest.mark.parametrize(("n", "d", "k"), [(100, 10, 2), (60, 30, 2), (200, 10, 4), (1000, 20, 3)])
def test_noise_is_hardly_ever_split(n, d, k):
    leaves = [OC1Classifier(random_state=seed).fit(*noise(n, d, k, seed)).get_n_leaves() for seed in range(12)]
    whole = [
        OC1Classifier(random_state=seed, prune=None).fit(*noise(n, d, k, seed)).get_n_leaves() for seed in range(2)
    ]
    assert np.mean(leaves) < 0.35 * np.mean(whole)
    assert np.mean(leaves) < 3.0


def test_six_examples_are_told_apart():
    X = np.array([[0.0, 0.0], [1.0, 0.5], [0.5, 1.0], [4.0, 4.0], [5.0, 4.5], [4.5, 5.0]])
    clf = OC1Classifier(**SEEDED).fit(X, list("aaabbb"))
    assert clf.get_n_leaves() == 2
    assert clf.score(X, list("aaabbb")) == 1.0
    assert OC1Classifier(**SEEDED).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]).get_n_leaves() == 2


def test_more_complexity_penalty_means_smaller_trees():
    sizes = []
    for complexity_penalty in (0.3, 1.0, 3.0, 10.0, 1000.0):
        fits = [
            OC1Classifier(complexity_penalty=complexity_penalty, n_restarts=5, refine=False, **BEST).fit(X, y)
            for X, y in SETS.values()
        ]
        sizes.append(np.mean([clf.get_n_leaves() for clf in fits]))
    assert all(later <= 1.1 * earlier for earlier, later in pairwise(sizes))
    assert sizes[0] > 1.5 * sizes[2]


# ------------------------------------------------------------------------------------------------ what it finds


@pytest.mark.parametrize(("make", "leaves"), [(make_ls10, 2), (make_pol, 5), (make_rcb, 8)])
@pytest.mark.parametrize("seed", [0, 2])
def test_the_papers_concepts_are_found_without_pruning(make, leaves, seed):
    X, y = make(1000, random_state=seed)
    clf = OC1Classifier(**SEEDED).fit(X, y)
    assert clf.get_n_leaves() == leaves
    assert clf.score(*make(2000, random_state=100)) > 0.98
    assert clf.unpruned_tree_.n_leaves >= leaves
    assert np.isnan(clf.pruning_path_["accuracy"]).all()


@pytest.mark.parametrize("n_further", [0, 3])
def test_quadrants_do_not_end_at_the_root(n_further):
    """No plane separates them and hardly any is worth much, but the search finds one to begin with."""
    for seed in range(3):
        X, y = quadrants(1000, n_further, seed)
        clf = OC1Classifier(**SEEDED).fit(X, y)
        assert clf.score(*quadrants(4000, n_further, 100)) > 0.95
        assert clf.get_n_leaves() <= 30


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


@pytest.mark.parametrize("criterion", [*sorted(MEASURES), hellinger])
def test_limits_are_kept_with_any_criterion(criterion):
    X, y = rough()
    whole = OC1Classifier(criterion=criterion, **BEST).fit(X, y)
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
        options = {name: value, "refine": name != "min_samples_split"}
        clf = OC1Classifier(criterion=criterion, **options, **BEST).fit(X, y)
        # What this measure likes best of single attributes is, for Twoing, worth nothing.
        assert clf.get_n_leaves() > (criterion is not hellinger or name != "min_samples_oblique"), name
        if clf.get_n_leaves() > 1:
            assert holds(clf), name


@pytest.mark.parametrize("short", [{"rounding": True}, {"sparsity": 0.01}, {"starts": "linear"}], ids=str)
def test_short_tests_stay_short_where_the_purest_split_wins(short):
    X, y = rough(200)
    models = [OC1Classifier(prune=None, max_terms=2, n_jobs=n_jobs, **short, **SEEDED).fit(X, y) for n_jobs in (1, 2)]
    assert np.diff(models[0].tree_.terms).max() == 2
    models += [OC1Classifier(prune=None, n_jobs=n_jobs, **short, **SEEDED).fit(X, y) for n_jobs in (1, 2)]
    assert models[0].n_hyperplanes_ == models[1].n_hyperplanes_
    assert models[2].n_hyperplanes_ == models[3].n_hyperplanes_


def test_the_gain_of_a_split_can_be_asked_for():
    X, y = rough()
    sizes = [
        OC1Classifier(min_impurity_decrease=least, refine=False, **BEST).fit(X, y).get_n_leaves()
        for least in (0.0, 0.3, 10.0)
    ]
    assert sizes[0] > sizes[1] > sizes[2] == 1


def test_best_first_growth_is_a_cut_of_the_whole_tree():
    X, y = rough()
    whole = OC1Classifier(refine=False, **BEST).fit(X, y).tree_
    part = OC1Classifier(refine=False, max_leaf_nodes=whole.n_leaves, **BEST).fit(X, y).tree_
    assert part.to_dict() == whole.to_dict()


def test_axis_bias_prefers_axis_parallel_splits():
    X, y = rough()
    shares = []
    for bias in (1.0, 1.5, 1e6):
        sizes = np.diff(OC1Classifier(axis_bias=bias, refine=False, **BEST).fit(X, y).tree_.terms)
        shares.append(np.mean(sizes[sizes > 0] > 1))
    assert min(shares[:2]) > shares[2] == 0.0


def test_class_weights_shift_the_balance():
    X, y = SETS["overlapping"]
    shares = [
        (OC1Classifier(class_weight={0: 1, 1: weight}, **BEST).fit(X, y).predict(X) == 1).mean()
        for weight in (0.1, 1, 10)
    ]
    assert shares[0] < shares[1] < shares[2]
    balanced = OC1Classifier(class_weight="balanced", **BEST).fit(X, y)
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
    settings = options.settings(2, 1.0)
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
    clf = OC1Classifier(preset="paper", starts=["linear"], complexity_penalty=2.0)
    assert clone(clf).get_params() == clf.get_params()
    assert clone(clf).fit(*SETS["iris"]).get_params() == clf.get_params()  # fit resolves, but does not change them
    assert clf.set_params(preset=None, complexity_penalty=0).get_params()["complexity_penalty"] == 0
    for wrong in ({"preset": "modern"}, {"complexity_penalty": -1}, {"prune": "never"}, {"starts": 3}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            OC1Classifier(**wrong).fit(*SETS["iris"])


def test_prune_auto_is_the_complexity_penalty_or_cross_validation(monkeypatch):
    X, y = SETS["overlapping"]
    for options in ({"splits": "axis"}, {"complexity_penalty": 0.0}, {"normalize": "positive"}):
        auto = OC1Classifier(n_restarts=2, **options, **SEEDED).fit(X, y)
        same = OC1Classifier(n_restarts=2, prune="cv", **options, **SEEDED).fit(X, y)
        assert auto.tree_.to_dict() == same.tree_.to_dict()
    monkeypatch.setattr("oc1.learners.base.MAX_EXAMPLES_FOR_CV", 100)
    auto = OC1Classifier(splits="axis", **SEEDED).fit(X, y)
    assert auto.tree_.to_dict() == OC1Classifier(splits="axis", prune="holdout", **SEEDED).fit(X, y).tree_.to_dict()


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
    np.testing.assert_array_equal(OC1Classifier(**SEEDED).fit(filled, y).predict(filled), clf.predict(holes))
    assert OC1Classifier(**SEEDED).fit(np.ones((20, 3)), np.arange(20) % 2).get_n_leaves() == 1


@pytest.mark.parametrize("splits", ["best", "oblique"])
@pytest.mark.parametrize("n_constant", [0, 1])
def test_one_attribute(splits, n_constant):
    X, y = SETS["iris"]
    one = np.column_stack([X[:, 2], *np.ones((n_constant, len(y)))])
    clf = OC1Classifier(splits=splits, **SEEDED).fit(one, y)
    assert 3 <= clf.get_n_leaves() <= 5
    assert clf.score(one, y) > 0.94


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


def test_linear_classifiers_of_large_nodes_see_their_sample(monkeypatch):
    X, y = make_ls10(2000, random_state=0)
    monkeypatch.setattr(OC1Classifier, "_large", 1000)
    monkeypatch.setattr(engines, "MAX_ROWS_PER_PIECE", 128)
    seen, fit = [], calls.NodeKernels.linear_classifier

    def spy(self, node):
        seen.append((node.size, node.class_weights.copy(), fit(self, node)))
        return seen[-1][-1]

    monkeypatch.setattr(calls.NodeKernels, "linear_classifier", spy)
    clf = OC1Classifier(**BEST).fit(X, y)
    assert clf.score(X, y) > 0.97
    assert clf.get_n_leaves() <= 4
    size, totals, (plane, value, astray) = seen[0]
    assert size == totals.sum() <= 2000
    np.testing.assert_allclose(totals / size, np.bincount(y)[1:] / 2000, atol=0.01)
    assert plane.any()
    assert value > 0.9
    assert astray < 0.02

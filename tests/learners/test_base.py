import inspect
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from oc1 import OC1Classifier, OC1EnsembleClassifier, OC1Regressor, baselines
from oc1.data.training import Training
from oc1.datasets import make_pol
from oc1.learners import trees
from oc1.learners.base import BaseOC1Estimator, seeded
from oc1.learners.parameters import parameter
from oc1.learners.trees import CostComplexityTree
from oc1.tree import pruning

TREES = [OC1Classifier, OC1Regressor, *(getattr(baselines, name) for name in baselines.__all__)]
LEARNERS = [*TREES, OC1EnsembleClassifier]
COST_COMPLEXITY = [learner for learner in TREES if issubclass(learner, CostComplexityTree)]
QUICK = {
    OC1Classifier: {"n_restarts": 1, "n_jumps": 0},
    OC1EnsembleClassifier: {"n_estimators": 2, "estimator": OC1Classifier(splits="axis", prune=None)},
    OC1Regressor: {"n_restarts": 1, "n_jumps": 0},
    baselines.SADTClassifier: {"patience": 50},
    baselines.LMDTClassifier: {"max_passes": 20},
    baselines.PerceptronTreeClassifier: {"max_epochs": 20},
}


def quick(learner, **parameters):
    return learner(**{"random_state": 0} | QUICK.get(learner, {}) | parameters)


@pytest.fixture(scope="module")
def noisy():
    X, y = make_pol(150, random_state=0)
    rng = np.random.default_rng(0)
    return X, np.where(rng.uniform(size=len(y)) < 0.15, 3 - y, y)


# ---------------------------------------------------------------------------------------------------- parameters


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_parameter_has_a_constraint_and_a_description(learner):
    assert set(learner().get_params(deep=False)) == set(learner._parameter_constraints)
    described = inspect.getdoc(learner).split("Attributes\n---")[0]
    assert [name for name in learner().get_params(deep=False) if name not in described] == []


@pytest.mark.parametrize("learner", [OC1Classifier, OC1Regressor])
def test_splitter_is_answered_with_a_sentence(learner):
    with pytest.raises(TypeError, match=rf"{learner.__name__} has no parameter splitter: .*splits says.*splits='axis'"):
        learner(splitter="best")
    with pytest.raises(TypeError, match="unexpected keyword argument 'splitting'"):
        learner(splitting="best")
    assert list(inspect.signature(learner).parameters) == list(inspect.signature(learner.__init__).parameters)[1:]


@pytest.mark.parametrize("learner", [own for own in LEARNERS if own is not OC1Regressor])
def test_the_number_of_classes(learner):
    model = quick(learner)
    assert not hasattr(model, "n_classes_")
    assert model.fit([[0.0], [1.0], [2.0], [3.0]] * 5, ["a", "b", "c", "c"] * 5).n_classes_ == 3


@pytest.mark.parametrize("learner", TREES)
def test_common_parameters_have_common_defaults(learner):
    own = {
        OC1Regressor: {"min_samples_leaf": 5, "prune": "auto"},
        OC1Classifier: {"prune": "auto"},
        baselines.C45Classifier: {"min_samples_leaf": 2, "prune": "error"},
        baselines.CARTClassifier: {"prune": "cv"},
    }
    common = {
        "max_depth": None,
        "min_samples_split": 2,
        "min_samples_leaf": 1,
        "max_leaf_nodes": None,
        "ccp_alpha": 0.0,
    }
    common |= {"min_impurity_decrease": 0.0, "prune": "holdout", "random_state": None, "verbose": 0}
    common |= {"prune_fraction": 0.1, "prune_se": 0.0} if learner in COST_COMPLEXITY else {}
    common |= {"class_weight": None, "smoothing": 0.0} if learner is not OC1Regressor else {}
    parameters = learner().get_params()
    assert {name: parameters[name] for name in common} == common | own.get(learner, {})


@pytest.mark.parametrize("learner", LEARNERS)
def test_parameters_are_kept_as_they_are_given(learner):
    marks = {name: object() for name in learner().get_params(deep=False)}
    model = learner(**marks)
    assert all(getattr(model, name) is mark for name, mark in marks.items())
    assert vars(model) == marks
    with pytest.raises(TypeError, match="unexpected keyword"):
        learner(no_such_parameter=1)


def test_models_are_neither_equal_nor_hashed_by_their_parameters():
    one, other = OC1Classifier(), OC1Classifier()
    assert one != other
    assert len({one, other}) == 2
    assert repr(OC1Classifier(n_jumps=5, max_depth=3)) == "OC1Classifier(max_depth=3)"


def test_constraints_are_inherited_unless_they_are_changed():
    @dataclass
    class Base(BaseOC1Estimator):
        a: int = parameter(1, int)
        b: int | None = parameter(2, int, None)

    @dataclass
    class Derived(Base):
        a: int = 3
        b: int | None = parameter(None, str, None)
        c: str = parameter("", str)

    assert Base._parameter_constraints == {"a": [int], "b": [int, None]}
    assert Derived._parameter_constraints == {"a": [int], "b": [str, None], "c": [str]}
    assert Derived().get_params() == {"a": 3, "b": None, "c": ""}


def test_dask_tells_models_apart_that_have_the_same_parameters(noisy):
    tokenize = pytest.importorskip("dask.base").tokenize
    X, y = noisy
    one = OC1Classifier(splits="axis", random_state=0).fit(X, y)
    other = clone(one).fit(X[::2], y[::2])
    assert tokenize(one) == tokenize(one)
    assert tokenize(one) != tokenize(other)
    assert tokenize(clone(one)) != tokenize(one)


# ---------------------------------------------------------------------------------------------------- a fit that fails


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_failed_fit_leaves_the_estimator_as_it_was(learner, noisy, monkeypatch):
    X, y = noisy
    model = quick(learner)
    before = model.__dict__.copy()
    for bad in ((X, y[:-1]), (X[:, :0], y), (np.full_like(X, np.inf), y)):
        with pytest.raises(ValueError, match=r"inconsistent|0 feature|infinity"):
            model.fit(*bad)
        assert model.__dict__ == before
    fitted = model.fit(X, y).__dict__.copy()

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(pruning, "cut_at", interrupt)  # the last thing a fit does
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :1], y)
    assert model.__dict__.keys() == fitted.keys()
    assert all(model.__dict__[name] is value for name, value in fitted.items())
    assert model.n_features_in_ == 2


# ---------------------------------------------------------------------------------------------------- four steps


@pytest.mark.parametrize("learner", TREES)
def test_a_fit_validates_grows_prunes_and_finishes(learner, noisy):
    X, y = noisy
    steps = []

    class Noted(learner):
        def _validate(self, *args):
            steps.append("validate")
            return super()._validate(*args)

        def _grow(self, data, share):
            assert isinstance(data, Training)
            steps.append("grow")
            return super()._grow(data, share)

        def _prune(self, data, grown, held):
            steps.append("prune")
            return super()._prune(data, grown, held)

        def _finish(self, data, grown, pruned):
            steps.append("finish")
            super()._finish(data, grown, pruned)

    quick(Noted, prune=None, **QUICK.get(learner, {})).fit(X, y)
    assert steps == ["validate", "grow", "prune", "finish"]


@pytest.mark.parametrize("learner", [OC1Regressor, baselines.CARTClassifier])
@pytest.mark.parametrize("prune", ["holdout", "cv"])
def test_what_is_kept_back_is_not_grown_on(learner, prune, noisy):
    X, y = noisy
    shares = []

    class Noted(learner):
        def _grow(self, data, share):
            shares.append(share)
            return super()._grow(data, share)

    quick(Noted, prune=prune, prune_fraction=0.2, **QUICK.get(learner, {})).fit(X, y)
    if prune == "holdout":
        assert [share.sum() for share in shares] == [120]
    else:
        assert [share.sum() for share in shares] == [150] + 10 * [135]
        assert (sum(1 - share for share in shares) == 1).all()  # each example is kept back once


# ---------------------------------------------------------------------------------------------------- the pruning path


@pytest.mark.parametrize("learner", TREES)
def test_the_pruning_path_without_pruning_is_computed_when_it_is_asked_for(learner, noisy, monkeypatch):
    X, y = noisy
    sequence = pruning.prune_sequence
    calls = []
    monkeypatch.setattr(trees.pruning, "prune_sequence", lambda *args: calls.append(1) or sequence(*args))
    model = quick(learner, prune=None)
    with pytest.raises(NotFittedError):
        model.pruning_path_  # noqa: B018
    assert not hasattr(model, "pruning_path_")
    model.fit(X, y)
    assert calls == []
    path = model.pruning_path_
    score = "loss" if learner is OC1Regressor else "accuracy"
    assert path.dtype.names == ("alpha", "leaves", "terms", score)
    assert path.leaves[0] <= model.unpruned_tree_.n_leaves
    assert path.leaves[-1] == 1
    assert path.terms[0] >= path.leaves[0] - 1
    assert path.terms[-1] == 0
    assert np.isnan(path[score]).all()
    assert np.array_equal(model.pruning_path_.leaves, path.leaves)
    assert len(calls) == 1
    assert len(model.fit(X[:20], y[:20]).pruning_path_) != len(path)  # not that of the fit before


def test_the_pruning_path_of_a_pruned_tree_is_replaced_by_the_next_fit(noisy):
    X, y = noisy
    model = baselines.CARTClassifier(prune="cv", random_state=0).fit(X, y)
    assert np.isfinite(model.pruning_path_.accuracy).all()
    model.set_params(prune=None).fit(X, y)
    assert np.isnan(model.pruning_path_.accuracy).all()


# ---------------------------------------------------------------------------------------------------- input


@pytest.mark.parametrize("learner", TREES)
def test_missing_values_and_text_in_the_input(learner, noisy):
    X, y = noisy
    holed = X.copy()
    holed[::7, 0] = np.nan
    model = quick(learner).fit(holed, y)
    assert len(model.predict(holed)) == len(y)
    assert len(quick(learner).fit(np.full_like(X, np.nan), y).predict(X)) == len(y)  # nothing is known
    words = X.astype(object)
    words[3, 1] = "blue"
    advice = "name it in categorical_features" if "categorical_features" in model.get_params() else "encode it"
    with pytest.raises(ValueError, match=rf"column 1 holds text \('blue'\); {advice}"):
        quick(learner).fit(words, y)


@pytest.mark.parametrize("learner", TREES)
def test_weights_of_zero_are_as_good_as_absence(learner, noisy):
    X, y = noisy
    weights = (np.arange(len(y)) % 3 > 0).astype(float)
    kept = weights > 0
    weighted = quick(learner, prune=None).fit(X, y, weights)
    assert weighted.tree_.to_dict() == quick(learner, prune=None).fit(X[kept], y[kept]).tree_.to_dict()
    with pytest.raises(ValueError, match=r"no example|zero"):
        quick(learner).fit(X, y, 0 * weights)


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_seed_decides(learner, noisy):
    X, y = noisy
    trees = [quick(learner, random_state=state).fit(X, y) for state in (3, np.random.RandomState(3), 3)]
    assert trees[0].predict(X).tolist() == trees[2].predict(X).tolist()
    assert trees[0].n_hyperplanes_ == trees[1].n_hyperplanes_ == trees[2].n_hyperplanes_


@pytest.mark.parametrize("learner", LEARNERS)
def test_skops_stores_it(learner, noisy):
    skops = pytest.importorskip("skops.io")
    X, y = noisy
    model = quick(learner).fit(X, y)
    stored = skops.dumps(model)
    types = skops.get_untrusted_types(data=stored)
    assert all(name.startswith("oc1.") for name in types)
    loaded = skops.loads(stored, trusted=types)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    if hasattr(model, "tree_"):
        assert loaded.tree_.to_dict() == model.tree_.to_dict()
        np.testing.assert_array_equal(loaded.pruning_path_.leaves, model.pruning_path_.leaves)


def test_seeded_reaches_the_parts_of_a_pipeline():
    pipeline = make_pipeline(baselines.CARTClassifier(), OC1EnsembleClassifier(OC1Classifier()))
    seeds = {name: value for name, value in seeded(pipeline, 7).get_params().items() if "random_state" in name}
    assert set(seeds.values()) == {7}
    assert len(seeds) == 3
    assert pipeline.get_params()["cartclassifier__random_state"] is None

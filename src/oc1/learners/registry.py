"""The learners of the package by the names that the command line and model files know them by."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any, NamedTuple


class Learner(NamedTuple):
    """A learner that can be asked for by name."""

    module: str
    class_name: str
    fixed: dict[str, Any]  # parameters that make it what its name says
    title: str


#: By the name on the command line. Nothing is imported until a learner is made.
LEARNERS = {
    "oc1": Learner("oc1", "OC1Classifier", {}, "oblique tree"),
    "axis": Learner("oc1", "OC1Classifier", {"splits": "axis"}, "OC1 with axis-parallel splits only"),
    "vote": Learner("oc1", "OC1EnsembleClassifier", {}, "majority vote of oblique trees (k-DT)"),
    "forest": Learner("oc1", "OC1ForestClassifier", {}, "forest of oblique trees"),
    "cart": Learner("oc1.baselines", "CARTClassifier", {}, "CART, axis-parallel"),
    "cart-lc": Learner("oc1.baselines", "CARTLCClassifier", {}, "CART with linear combinations"),
    "c45": Learner("oc1.baselines", "C45Classifier", {}, "C4.5"),
    "lmdt": Learner("oc1.baselines", "LMDTClassifier", {}, "linear machine decision tree"),
    "sadt": Learner("oc1.baselines", "SADTClassifier", {}, "simulated annealing of decision trees"),
    "msmt": Learner("oc1.baselines", "MSMTClassifier", {}, "tree of linear-programming splits (MSM-T)"),
    "perceptron": Learner("oc1.baselines", "PerceptronTreeClassifier", {}, "perceptron tree"),
    "regressor": Learner("oc1", "OC1Regressor", {}, "oblique tree that predicts numbers"),
    "forest-regressor": Learner("oc1", "OC1ForestRegressor", {}, "forest of oblique trees that predicts numbers"),
}
#: Those that predict numbers.
OF_NUMBERS = ("regressor", "forest-regressor")
#: Those whose trees are grown side by side, also on the workers of a cluster.
OF_MANY_TREES = ("vote", "forest", "forest-regressor")


def learner_class(class_name: str) -> type:
    """Return a learner's class by the name of the class; KeyError for what is none."""
    modules = {learner.class_name: learner.module for learner in LEARNERS.values()}
    found: type = getattr(import_module(modules[class_name]), class_name)
    return found


def parameters_of(name: str) -> dict[str, Any]:
    """Return the parameters of the learner of that name, its own first, with their values if nothing is said."""
    learner = LEARNERS[name]
    kind = learner_class(learner.class_name)
    defaults = {key: parameter.default for key, parameter in inspect.signature(kind).parameters.items()}
    own = [key for key in inspect.get_annotations(kind) if key in defaults]
    return {key: defaults[key] for key in [*own, *defaults]} | learner.fixed


def make_learner(name: str, **parameters: Any) -> Any:
    """Return the learner of that name, not fitted.

    Parameters
    ----------
    name : str
        A key of `LEARNERS`.
    **parameters
        Of its class, besides those that its name fixes.

    Examples
    --------
    >>> make_learner("axis", max_depth=2)
    OC1Classifier(max_depth=2, splits='axis')
    """
    learner = LEARNERS[name]
    return learner_class(learner.class_name)(**{**learner.fixed, **parameters})

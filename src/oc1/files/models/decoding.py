"""JSON as fitted models, checked field by field, without scikit-learn: its import takes longer than most files.

Nothing that a file contains is ever executed, and no number in it makes room for more than its lists hold.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ... import __version__
from ...learners.registry import LEARNERS
from ...tree.linear import Tree
from ...tree.machine import MachineTree
from ...tree.regression import RegressionTree
from ...tree.validation import (
    InvalidField,
    cut,
    described,
    items,
    labels,
    numbers,
    record,
    table,
    text,
    texts,
    whole,
    within,
)
from .dt import MOST_FEATURES
from .record import FORMAT, VERSION, Fitted, Source

#: A vote of votes of votes, and so on, goes no deeper.
MOST_VOTES = 4
#: Learners that are not trees of linear tests for classes.
VOTE, REGRESSOR, MACHINES = "OC1EnsembleClassifier", "OC1Regressor", "LMDTClassifier"
#: Those that know categorical attributes.
WITH_CATEGORIES = ("OC1Classifier", "OC1Regressor", "OC1EnsembleClassifier")


def decoded_document(document: Any) -> tuple[Fitted, Source]:
    """Return the model that a document describes; raise `InvalidField` if it is not right in every detail.

    (But for its parameters, which `building` looks at.)
    """
    if type(document) is not dict or document.get("format") != FORMAT:
        raise InvalidField("", f'is not a model of oc1: it does not say "format": "{FORMAT}"')
    version = whole(document.get("version"), "version", 1)
    if version > VERSION:
        by = document.get("package")
        raise InvalidField(
            "version",
            f"the file is in format {version}, written by oc1 {cut(by).strip(chr(39))}; this version of oc1 "
            f"({__version__}) reads formats up to {VERSION}: update oc1",
        )
    fields = dict(document)
    for name in ("format", "version"):
        del fields[name]
    text(fields.pop("package", None), "package")
    source = fields.pop("source", {})
    fitted = _decoded_model(fields)
    with within("source"):
        return fitted, _decoded_source(source, fitted.attributes["n_features_in_"])


def _decoded_source(data: Any, n_features: int) -> Source:
    record(data, (), ("target", "one_hot", "ranges", "n_examples"))
    target, n_examples, one_hot = data.get("target"), data.get("n_examples"), data.get("one_hot", {})
    if type(one_hot) is not dict:
        raise InvalidField("one_hot", f"must be an object with a list for each column, not {described(one_hot)}")
    ranges = []
    for i, pair in enumerate(items(data.get("ranges", []), "ranges")):
        low, high = _nullable(items(pair, f"ranges[{i}]", 2), f"ranges[{i}]").tolist()
        if low > high:
            raise InvalidField(f"ranges[{i}]", "the smallest value is larger than the largest")
        ranges.append((low, high))
    if ranges and len(ranges) != n_features:
        raise InvalidField(
            "ranges", f"must be none or {n_features}, as many as there are attributes, not {len(ranges)}"
        )
    return Source(
        None if target is None else text(target, "target"),
        {name: texts(values, f"one_hot[{described(name)}]") for name, values in one_hot.items()},
        tuple(ranges),
        None if n_examples is None else whole(n_examples, "n_examples"),
    )


def _nullable(values: Any, where: str, **limits: Any) -> np.ndarray:
    """Return a list of numbers and nulls as an array with NaN for null."""
    items(values, where)
    array = numbers([0.0 if value is None else value for value in values], where, **limits)
    array[[value is None for value in values]] = np.nan
    return array


def _decoded_model(data: dict[str, Any], votes: int = 0) -> Fitted:
    learner = known_learner(data.get("learner"))
    is_vote, is_regressor = learner == VOTE, learner == REGRESSOR
    has_categories = learner in WITH_CATEGORIES
    record(
        data,
        ("learner", "parameters", "n_features", "n_hyperplanes")
        + (() if is_regressor else ("classes",))
        + (("members",) if is_vote else ("scale", "pruning_path", "tree", "unpruned_tree")),
        ("feature_names",)
        + (("categories",) if has_categories else ())
        + (("oob_score", "oob_decision_function") if is_vote else ()),
    )
    if type(data["parameters"]) is not dict:
        raise InvalidField("parameters", f"must be an object, not {described(data['parameters'])}")
    # A vote has no list with an entry for each attribute.
    n_features = whole(data["n_features"], "n_features", 1, MOST_FEATURES if is_vote else 2**31)
    fitted: dict[str, Any] = {
        "n_features_in_": n_features,
        "n_hyperplanes_": whole(data["n_hyperplanes"], "n_hyperplanes"),
    }
    names = texts(data.get("feature_names", []), "feature_names")
    if names:
        items(data["feature_names"], "feature_names", n_features)
        fitted["feature_names_in_"] = np.array(names, dtype=object)
    if not is_regressor:
        with within("classes"):
            own = record(data["classes"], ("type", "labels"))
            fitted["classes_"] = labels(own["labels"], "labels", text(own["type"], "type"))
            if len(fitted["classes_"]) == 0:
                raise InvalidField("labels", "there must be at least one class")
    if has_categories:
        fitted["categories_"] = _decoded_categories(data["categories"], n_features) if "categories" in data else None
    if is_vote:
        fitted |= _decoded_vote(data, fitted, votes)
    else:
        fitted |= _decoded_trees(data, fitted, learner)
    return Fitted(learner, data["parameters"], fitted)


def known_learner(name: Any) -> str:
    """Return the name of a class, which must be a learner of the package."""
    known = sorted({learner.class_name for learner in LEARNERS.values()})
    if text(name, "learner") not in known:
        raise InvalidField("learner", f"{described(name)} is not known; it must be one of {', '.join(known)}")
    return name


def _decoded_categories(values: Any, n_features: int) -> list[np.ndarray | None]:
    categories: list[np.ndarray | None] = []
    for m, own in enumerate(items(values, "categories", n_features)):
        if own is None:
            categories.append(None)
            continue
        where = f"categories[{m}]"
        for value in items(own, where):
            if type(value) not in (bool, int, float, str) or (type(value) is float and not np.isfinite(value)):
                raise InvalidField(
                    where, f"a category must be a text, a finite number or a boolean, not {described(value)}"
                )
        if len(set(own)) < len(own):
            raise InvalidField(where, "a category is there twice")
        array = np.empty(len(own), dtype=object)
        array[:] = own
        categories.append(array)
    if all(own is None for own in categories):
        raise InvalidField("categories", "no attribute has any")
    return categories


def _decoded_trees(data: dict[str, Any], fitted: dict[str, Any], learner: str) -> dict[str, Any]:
    kind: Any = {REGRESSOR: RegressionTree, MACHINES: MachineTree}.get(learner, Tree)
    classes, n_features = fitted.get("classes_"), fitted["n_features_in_"]
    own = {name: data[name] for name in ("tree", "unpruned_tree")}
    for name, value in own.items():
        if type(value) is not dict:
            raise InvalidField(name, f"must be an object, not {described(value)}")
        if "classes" in value:
            raise InvalidField(name, "the classes belong to the model, not to the tree")
    shared = {"feature_names": data.get("feature_names", []), **own["tree"]}
    shared["classes"] = [] if classes is None else classes.tolist()

    def read(name: str, tree: dict[str, Any]) -> Any:
        with within(name):
            found = kind.from_dict(tree)
            if len(found.fill) != n_features:
                raise InvalidField(
                    "fill", f"must have {n_features} entries, as there are attributes, but has {len(found.fill)}"
                )
            _check_codes(getattr(found, "codes", ()), fitted.get("categories_"))
        return found if classes is None else replace(found, classes=classes)

    tree = read("tree", shared)
    score = "loss" if learner == REGRESSOR else "accuracy"
    return {
        "tree_": tree,
        "unpruned_tree_": read("unpruned_tree", {**shared, **own["unpruned_tree"]}) if own["unpruned_tree"] else tree,
        "pruning_path_": _decoded_path(data["pruning_path"], score),
        "_scale": numbers(data["scale"], "scale", length=n_features, low=0),
    }


def _check_codes(codes: tuple, categories: list[np.ndarray | None] | None) -> None:
    sizes = [None if own is None else len(own) for own in codes]
    if sizes != ([] if categories is None else [None if own is None else len(own) for own in categories]):
        raise InvalidField("codes", "must be one for each category of the model, and none where it has none")


def _decoded_path(data: Any, score: str) -> np.recarray:
    with within("pruning_path"):
        record(data, ("alpha", "leaves", score))
        alpha = numbers(data["alpha"], "alpha")
        if len(alpha) == 0:
            raise InvalidField("alpha", "must have at least one entry")
        path = np.empty(len(alpha), dtype=[("alpha", float), ("leaves", np.int64), (score, float)])
        path["alpha"] = alpha
        path["leaves"] = numbers(data["leaves"], "leaves", np.int64, length=len(alpha), low=1)
        path[score] = _nullable(data[score], score, length=len(alpha))
    return path.view(np.recarray)


def _decoded_vote(data: dict[str, Any], fitted: dict[str, Any], votes: int) -> dict[str, Any]:
    if votes >= MOST_VOTES:
        raise InvalidField("", f"votes are nested more than {MOST_VOTES} deep")
    members, columns = [], []
    for i, own in enumerate(items(data["members"], "members")):
        with within(f"members[{i}]"):
            if type(own) is not dict:
                raise InvalidField("", f"must be an object, not {described(own)}")
            rest = dict(own)
            features = numbers(
                rest.pop("features", None), "features", np.int64, low=0, high=fitted["n_features_in_"] - 1
            )
            if (np.diff(features) <= 0).any():
                raise InvalidField("features", "must be in order, each of them once")
            member = _decoded_model(rest, votes + 1)
            if member.learner == REGRESSOR:
                raise InvalidField("learner", "a learner of numbers cannot vote on classes")
            n_features, own_classes = member.attributes["n_features_in_"], member.attributes["classes_"]
            if n_features != len(features):
                raise InvalidField("features", f"must have {n_features} entries, but has {len(features)}")
            classes: Any = fitted["classes_"]
            if own_classes.dtype.kind != classes.dtype.kind or not np.isin(own_classes, classes).all():
                raise InvalidField("classes", "are not among those of the vote")
            _check_numbers(member.attributes.get("categories_"), features, fitted["categories_"])
            members.append(member)
            columns.append(features)
    if not members:
        raise InvalidField("members", "there must be at least one")
    more: dict[str, Any] = {}
    if "oob_score" in data or "oob_decision_function" in data:
        record({name: None for name in data if name.startswith("oob")}, ("oob_score", "oob_decision_function"))
        more["oob_score_"] = float(numbers([data["oob_score"]], "oob_score", low=0, high=1)[0])
        more["oob_decision_function_"] = _decoded_shares(data["oob_decision_function"], len(fitted["classes_"]))
    return {"estimators_": members, "estimators_features_": columns, **more}


def _decoded_shares(rows: Any, n_classes: int) -> np.ndarray:
    """Return votes out of bag: a row of shares for each example, or of nulls."""
    where = "oob_decision_function"
    items(rows, where)
    unknown = [row == [None] * n_classes for row in rows]
    filled = [[0.0] * n_classes if one else row for one, row in zip(unknown, rows, strict=True)]
    array = table(filled, where, width=n_classes, low=0, high=1)
    array[unknown] = np.nan
    return array


def _check_numbers(numbers: Any, features: np.ndarray, categories: list[np.ndarray | None] | None) -> None:
    """Check the categories of a tree in a vote, which are numbers of the vote's categories."""
    for m, own in enumerate(numbers or ()):
        known = None if categories is None else categories[features[m]]
        if own is not None and known is not None:
            for number in own:
                if type(number) is not float or not number.is_integer() or not 0 <= number < len(known):
                    raise InvalidField(f"categories[{m}]", "must be numbers of the categories of the vote")

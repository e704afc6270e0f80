"""JSON as fitted models, checked field by field, without scikit-learn: its import takes longer than most files.

Nothing that a file contains is ever executed, and no number in it makes room for more than its lists hold.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from ... import __version__
from ...learners.registry import LEARNERS
from ...tree import validation as check
from ...tree.branching import BranchTree
from ...tree.linear import Tree
from ...tree.machine import MachineTree
from ...tree.regression import RegressionTree
from ...tree.validation import InvalidField, described, within
from ..inputs import FileColumns, ModelInputs
from .dt import MAX_FEATURES
from .record import FORMAT, FORMAT_VERSION, MEASURES, ModelRecord, Score, Source

#: A vote of votes of votes, and so on, goes no deeper.
MAX_NESTING_DEPTH = 4
#: Learners that are not trees of linear tests for classes.
VOTE, REGRESSOR, MACHINES, BRANCHES = "OC1EnsembleClassifier", "OC1Regressor", "LMDTClassifier", "C45Classifier"
FOREST, NUMBER_FOREST = "OC1ForestClassifier", "OC1ForestRegressor"
#: Those that predict numbers.
OF_NUMBERS = (REGRESSOR, NUMBER_FOREST)
#: The learner that chooses among kinds of trees, and these.
OC1, KINDS = "OC1Classifier", ("axis", "oblique", "joint")
#: What files of earlier versions call kinds, whose accuracies are not those of today's.
FORMER_KINDS = ("best", "linear")
#: Numbers of terms that a file does not have.
UNKNOWN = -1
#: Those that know categorical attributes.
LEARNERS_WITH_CATEGORIES = (
    "OC1Classifier",
    "OC1Regressor",
    "OC1EnsembleClassifier",
    "C45Classifier",
    FOREST,
    NUMBER_FOREST,
)

Categories = list[np.ndarray | None]


def require(condition: bool, where: str, problem: str) -> None:
    """Raise `InvalidField` unless a condition holds."""
    if not condition:
        raise InvalidField(where, problem)


def mapping(value: Any, where: str) -> dict[str, Any]:
    """Return an object of JSON, whatever its fields."""
    require(type(value) is dict, where, f"must be an object, not {described(value)}")
    return dict(value)


def known_learner(name: Any) -> str:
    """Return the name of a class, which must be a learner of the package."""
    known = sorted({learner.class_name for learner in LEARNERS.values()})
    if check.text(name, "learner") not in known:
        raise InvalidField("learner", f"{described(name)} is not known; it must be one of {', '.join(known)}")
    return str(name)


def decode_document(document: Any) -> tuple[ModelRecord, Source]:
    """Return the model that a document describes; raise `InvalidField` if it is not right in every detail.

    (But for its parameters, which `building` looks at.)
    """
    if type(document) is not dict or document.get("format") != FORMAT:
        raise InvalidField("", f'is not a model of oc1: it does not say "format": "{FORMAT}"')
    version = check.whole(document.get("version"), "version", 1)
    if version > FORMAT_VERSION:
        by = check.cut(document.get("package")).strip("'")
        raise InvalidField(
            "version",
            f"the file is in format {version}, written by oc1 {by}; this version of oc1 "
            f"({__version__}) reads formats up to {FORMAT_VERSION}: update oc1",
        )
    check.text(document.get("package"), "package")
    general = ("format", "version", "package", "source")
    record = _decode_model({name: value for name, value in document.items() if name not in general})
    with within("source"):
        return record, _decode_source(document.get("source", {}), record.attributes)


def _decode_source(data: Any, attributes: dict[str, Any]) -> Source:
    check.record(data, (), tuple(field.name for field in dataclasses.fields(Source)))
    n_examples, n_features = data.get("n_examples"), attributes["n_features_in_"]
    values = mapping(data.get("one_hot", {}), "one_hot")
    one_hot = {name: check.texts(own, f"one_hot[{described(name)}]") for name, own in values.items()}
    n_columns = n_features
    if one_hot:
        names = attributes.get("feature_names_in_")
        try:
            n_columns = len(ModelInputs(n_features, None if names is None else tuple(names), one_hot).columns())
        except ValueError as error:
            raise InvalidField("one_hot", str(error)) from None
    ranges = []
    for i, pair in enumerate(check.items(data.get("ranges", []), "ranges")):
        low, high = _nullable(check.items(pair, f"ranges[{i}]", 2), f"ranges[{i}]").tolist()
        require(not low > high, f"ranges[{i}]", "the smallest value is larger than the largest")
        ranges.append((low, high))
    wanted = f"must be none or {n_features}, as many as there are attributes, not {len(ranges)}"
    require(len(ranges) in (0, n_features), "ranges", wanted)
    versions = mapping(data.get("versions", {}), "versions")
    return Source(
        _optional_text(data, "target"),
        one_hot,
        tuple(ranges),
        None if n_examples is None else check.whole(n_examples, "n_examples"),
        _optional_text(data, "file"),
        _optional_text(data, "date"),
        {name: check.text(version, f"versions[{described(name)}]") for name, version in versions.items()},
        _optional_score(data, "training"),
        _optional_score(data, "held_out"),
        _decode_columns(data["columns"], n_columns) if data.get("columns") is not None else None,
    )


def _optional_text(data: dict[str, Any], name: str) -> str | None:
    return None if data.get(name) is None else check.text(data[name], name)


def _optional_score(data: dict[str, Any], name: str) -> Score | None:
    own = data.get(name)
    if own is None:
        return None
    with within(name):
        check.record(own, Score._fields)
        measure = check.text(own["measure"], "measure")
        require(measure in MEASURES, "measure", f"must be one of {', '.join(MEASURES)}, not {described(measure)}")
        (value,) = check.numbers([own["value"]], "value").tolist()
        return Score(measure, value, check.whole(own["n_examples"], "n_examples"))


def _decode_columns(data: Any, n_attributes: int) -> FileColumns:
    """Return which columns of the training file were what."""
    with within("columns"):
        own = check.record(data, ("n_columns", "target", "attributes"))
        n_columns = check.whole(own["n_columns"], "n_columns", n_attributes + 1, MAX_FEATURES)
        target = check.whole(own["target"], "target", 0, n_columns - 1)
        places = check.items(own["attributes"], "attributes", n_attributes)
        attributes = [check.whole(m, f"attributes[{i}]", 0, n_columns - 1) for i, m in enumerate(places)]
        require(attributes == sorted({*attributes} - {target}), "attributes", "must rise, and be without the target")
        return FileColumns(n_columns, target, tuple(attributes))


def _nullable(values: Any, where: str, **limits: Any) -> np.ndarray:
    """Return a list of numbers and nulls as an array with NaN for null."""
    is_null = [value is None for value in check.items(values, where)]
    array = check.numbers([0.0 if value is None else value for value in values], where, **limits)
    array[is_null] = np.nan
    return array


def _decode_model(data: dict[str, Any], depth: int = 0) -> ModelRecord:
    learner = known_learner(data.get("learner"))
    is_vote, has_categories = learner == VOTE, learner in LEARNERS_WITH_CATEGORIES
    is_forest = learner in (FOREST, NUMBER_FOREST)
    required = ["learner", "parameters", "n_features"] + ["classes"] * (learner not in OF_NUMBERS)
    if is_forest:
        required += ["seed", "scale", "trees"]
    else:
        required += ["n_hyperplanes"] + (["members"] if is_vote else ["scale", "pruning_path", "tree", "unpruned_tree"])
    oob = ["oob_score", "oob_prediction" if learner == NUMBER_FOREST else "oob_decision_function"]
    optional = ["feature_names"] + ["categories"] * has_categories + oob * (is_vote or is_forest)
    check.record(data, required, optional + ["kind", "cv_accuracies"] * (learner == OC1))
    # A vote has no list with an entry for each attribute.
    n_features = check.whole(data["n_features"], "n_features", 1, MAX_FEATURES if is_vote else 2**31)
    attributes: dict[str, Any] = {"n_features_in_": n_features}
    if not is_forest:
        attributes["n_hyperplanes_"] = check.whole(data["n_hyperplanes"], "n_hyperplanes")
    if data.get("feature_names", []) != []:
        names = check.texts(data["feature_names"], "feature_names", n_features)
        attributes["feature_names_in_"] = np.array(names, dtype=object)
    if "classes" in data:
        with within("classes"):
            own = check.record(data["classes"], ("type", "labels"))
            attributes["classes_"] = check.labels(own["labels"], "labels", check.text(own["type"], "type"))
            require(len(attributes["classes_"]) > 0, "labels", "there must be at least one class")
    if has_categories:
        attributes["categories_"] = _decode_categories(data["categories"], n_features) if "categories" in data else None
    if learner == OC1:
        attributes |= _decode_kind(data)
    if is_forest:
        attributes |= _decode_forest(data, attributes, learner)
    else:
        attributes |= _decode_vote(data, attributes, depth) if is_vote else _decode_trees(data, attributes, learner)
    return ModelRecord(learner, mapping(data["parameters"], "parameters"), attributes)


def _decode_kind(data: dict[str, Any]) -> dict[str, Any]:
    """Return the kind of tree; older files do not say which."""
    kind = check.text(data.get("kind", "oblique"), "kind")
    known = (*KINDS[:2], *FORMER_KINDS)
    require(kind in known, "kind", f"must be one of {', '.join(map(repr, known))}, not {described(kind)}")
    with within("cv_accuracies"):
        accuracies = check.record(data.get("cv_accuracies", {}), (), (*KINDS, *FORMER_KINDS))
        shares = check.numbers(list(accuracies.values()), "accuracies", low=0, high=1).tolist()
    is_former = kind in FORMER_KINDS or any(own in FORMER_KINDS for own in accuracies)
    known_shares = {} if is_former else dict(zip(accuracies, shares, strict=True))
    return {"splits_": "oblique" if kind in FORMER_KINDS else kind, "cv_accuracies_": known_shares}


def _decode_categories(values: Any, n_features: int) -> Categories:
    categories: Categories = [None] * len(check.items(values, "categories", n_features))
    for m, own in enumerate(values):
        if own is None:
            continue
        where = f"categories[{m}]"
        for value in check.items(own, where):
            if type(value) not in (bool, int, float, str) or (type(value) is float and not np.isfinite(value)):
                kinds = "a category must be a text, a finite number or a boolean"
                raise InvalidField(where, f"{kinds}, not {described(value)}")
        require(len(set(own)) == len(own), where, "a category is there twice")
        array = np.empty(len(own), dtype=object)
        array[:] = own
        categories[m] = array
    require(any(own is not None for own in categories), "categories", "no attribute has any")
    return categories


def _decode_trees(data: dict[str, Any], attributes: dict[str, Any], learner: str) -> dict[str, Any]:
    kind: Any = {REGRESSOR: RegressionTree, MACHINES: MachineTree}.get(learner, Tree)
    if learner == BRANCHES and isinstance(data["tree"], dict) and data["tree"].get("kind") == BranchTree.kind:
        kind = BranchTree
    pruned, unpruned = (mapping(data[name], name) for name in ("tree", "unpruned_tree"))
    for name, own in (("tree", pruned), ("unpruned_tree", unpruned)):
        _check_own_fields(own, name)
    shared = {"feature_names": data.get("feature_names", []), **pruned}
    tree = _read_tree(kind, "tree", shared, data, attributes)
    before = {**shared, **unpruned}
    return {
        "tree_": tree,
        "unpruned_tree_": _read_tree(kind, "unpruned_tree", before, data, attributes) if unpruned else tree,
        "_pruning_path": _decode_path(data["pruning_path"], "loss" if learner == REGRESSOR else "accuracy"),
        "_scale": tree.scale,
    }


def _check_own_fields(fields: dict[str, Any], where: str) -> None:
    for field in ("classes", "scale"):
        require(field not in fields, where, f"the {field} belong to the model, not to the tree")


def _read_tree(kind: Any, where: str, fields: dict[str, Any], data: dict[str, Any], attributes: dict[str, Any]) -> Any:
    """Return a tree of a model, with what it has from the model."""
    classes, n_features = attributes.get("classes_"), attributes["n_features_in_"]
    with within(where):
        tree = kind.from_dict({**fields, "classes": [] if classes is None else classes.tolist()})
        wanted = f"must have {n_features} entries, one for each attribute, but has {len(tree.fill)}"
        require(len(tree.fill) == n_features, "fill", wanted)
        fits = _sizes(getattr(tree, "codes", ())) == _sizes(attributes.get("categories_"))
        require(fits, "codes", "must be one for each category of the model, and none where it has none")
    scale = check.numbers(data["scale"], "scale", length=n_features, low=0)
    return replace(tree, scale=scale, **({} if classes is None else {"classes": classes}))


def _decode_forest(data: dict[str, Any], attributes: dict[str, Any], learner: str) -> dict[str, Any]:
    """Return the trees of a forest, which share what is not about their nodes."""
    kind: Any = RegressionTree if learner == NUMBER_FOREST else Tree
    names, trees = data.get("feature_names", []), []
    for i, own in enumerate(check.items(data["trees"], "trees")):
        fields = mapping(own, f"trees[{i}]")
        _check_own_fields(fields, f"trees[{i}]")
        require("feature_names" not in fields, f"trees[{i}]", "the feature_names belong to the model, not to the tree")
        trees.append(_read_tree(kind, f"trees[{i}]", {"feature_names": names, **fields}, data, attributes))
        for name in ("fill", "codes", "categories"):
            same = repr(fields.get(name)) == repr(data["trees"][0].get(name))
            require(same, f"trees[{i}].{name}", "must be the same for all trees")
    require(len(trees) > 0, "trees", "there must be at least one")
    found: dict[str, Any] = {"trees_": trees, "_seed": check.whole(data["seed"], "seed", 0, 2**31)}
    if any(name.startswith("oob") for name in data):
        answers = "oob_prediction" if learner == NUMBER_FOREST else "oob_decision_function"
        check.record({name: None for name in data if name.startswith("oob")}, ("oob_score", answers))
        low = -np.inf if learner == NUMBER_FOREST else 0.0
        found["oob_score_"] = float(check.numbers([data["oob_score"]], "oob_score", low=low, high=1)[0])
        if learner == NUMBER_FOREST:
            found["oob_prediction_"] = _nullable(data[answers], answers)
        else:
            found["oob_decision_function_"] = _decode_shares(data[answers], len(attributes["classes_"]))
    return found


def _sizes(lists: Sequence[Any] | None) -> list[int | None]:
    return [None if own is None else len(own) for own in lists or ()]


def _decode_path(data: Any, score: str) -> np.ndarray:
    with within("pruning_path"):
        check.record(data, ("alpha", "leaves", score), ("terms",))
        alpha = check.numbers(data["alpha"], "alpha")
        n = len(alpha)
        require(n > 0, "alpha", "must have at least one entry")
        leaves = check.numbers(data["leaves"], "leaves", np.int64, length=n, low=1)
        terms = check.numbers(data.get("terms", [UNKNOWN] * n), "terms", np.int64, length=n, low=UNKNOWN)
        scores = _nullable(data[score], score, length=n)
    types = [("alpha", float), ("leaves", np.int64), ("terms", np.int64), (score, float)]
    return np.array(list(zip(alpha, leaves, terms, scores, strict=True)), dtype=types)


def _decode_vote(data: dict[str, Any], attributes: dict[str, Any], depth: int) -> dict[str, Any]:
    require(depth < MAX_NESTING_DEPTH, "", f"votes are nested more than {MAX_NESTING_DEPTH} deep")
    members = []
    for i, own in enumerate(check.items(data["members"], "members")):
        with within(f"members[{i}]"):
            members.append(_decode_member(mapping(own, ""), attributes, depth + 1))
    require(len(members) > 0, "members", "there must be at least one")
    oob: dict[str, Any] = {}
    if "oob_score" in data or "oob_decision_function" in data:
        check.record({name: None for name in data if name.startswith("oob")}, ("oob_score", "oob_decision_function"))
        oob["oob_score_"] = float(check.numbers([data["oob_score"]], "oob_score", low=0, high=1)[0])
        oob["oob_decision_function_"] = _decode_shares(data["oob_decision_function"], len(attributes["classes_"]))
    records, features = zip(*members, strict=True)
    return {"estimators_": list(records), "estimators_features_": list(features), **oob}


def _decode_member(data: dict[str, Any], vote: dict[str, Any], depth: int) -> tuple[ModelRecord, np.ndarray]:
    """Return a member of a vote, and the attributes that it sees."""
    high = vote["n_features_in_"] - 1
    features = check.numbers(data.get("features"), "features", np.int64, low=0, high=high)
    require(bool((np.diff(features) > 0).all()), "features", "must be in order, each of them once")
    member = _decode_model({name: value for name, value in data.items() if name != "features"}, depth)
    require(member.learner not in OF_NUMBERS, "learner", "a learner of numbers cannot vote on classes")
    n_features = member.attributes["n_features_in_"]
    wanted = f"must have {n_features} entries, but has {len(features)}"
    require(len(features) == n_features, "features", wanted)
    classes, known = member.attributes["classes_"], vote["classes_"]
    is_known = classes.dtype.kind == known.dtype.kind and bool(np.isin(classes, known).all())
    require(is_known, "classes", "are not among those of the vote")
    # The categories of a member are numbers of the vote's categories.
    for m, own in enumerate(member.attributes.get("categories_") or ()):
        names = None if vote["categories_"] is None else vote["categories_"][features[m]]
        if own is not None and names is not None:
            is_fine = all(type(one) is float and one.is_integer() and 0 <= one < len(names) for one in own)
            require(is_fine, f"categories[{m}]", "must be numbers of the categories of the vote")
    return member, features


def _decode_shares(rows: Any, n_classes: int) -> np.ndarray:
    """Return votes out of bag: a row of shares for each example, or of nulls."""
    where = "oob_decision_function"
    for i, row in enumerate(check.items(rows, where)):
        check.items(row, f"{where}[{i}]", n_classes)
    array = _nullable([*chain.from_iterable(rows)], where, low=0, high=1, width=n_classes).reshape(-1, n_classes)
    unknown = np.isnan(array)
    require(bool((unknown.any(axis=1) == unknown.all(axis=1)).all()), where, "a row must have no null, or nothing else")
    return array

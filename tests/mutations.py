"""Damaged model files: valid ones of all kinds, ways to spoil them, and what must hold of whatever loads."""

import gzip
import json
import random
import re
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from oc1.baselines import C45Classifier
from oc1.files.models.storage import Source, read_model, save_model
from oc1.files.problems import FileProblem
from oc1.learners.classifier import OC1Classifier
from oc1.learners.ensemble import OC1EnsembleClassifier
from oc1.learners.registry import LEARNERS, make_learner
from oc1.learners.regressor import OC1Regressor

HUGE = ["99999999999999999999", "2147483648", "9223372036854775808", "1e308", "1e999", "-1", "0", "9" * 5000, "0.5"]
TOKENS = [
    b"NaN",
    b"Infinity",
    b"null",
    b"true",
    b"[]",
    b"{}",
    b'""',
    b"[" * 2000,
    b'{"a":' * 2000,
    b"\x00",
    b"\xff",
    b"\\ud800",
    b",",
]
VALUES = [
    None, True, False, -1, 0, 1, 2, 3, 2**31, 2**31 - 1, 2**63, -(2**63), 10**30, 0.5, -0.0, 1e308, -1e308, 5e-324,
    float("nan"), float("inf"), "", "x", "\ud800", "\x1b[31m", [], {}, [[]], [None], [1], {"tuple": [1]},
    {"dict": [[1, 2]]}, {"learner": "OC1Classifier", "parameters": {}}, [[-1, -1]], "OC1Regressor", "LMDTClassifier",
]  # fmt: skip


def examples():
    """Return a frame with a text, a number and holes, and classes that depend on them."""
    rng = np.random.default_rng(0)
    size, other = rng.normal(size=(2, 120)).round(3)
    colour = rng.choice(["red", "green", "blue"], 120)
    y = np.where(size + other > 0, "big", np.where(colour == "red", "small", "tiny"))
    frame = pd.DataFrame({"size": size, "other": other, "colour": pd.Series(colour, dtype=object)})
    frame.loc[::7, "other"] = np.nan
    return frame, y


def models():
    """Return small fitted models of all kinds by name."""
    frame, y = examples()
    X, codes = frame[["size", "other"]].to_numpy(), np.unique(y, return_inverse=True)[1]
    fitted = {}
    for name in LEARNERS:
        size = {"n_estimators": 3} if name == "vote" else {"max_depth": 3}
        fitted[name] = make_learner(name, random_state=0, **size)
        fitted[name].fit(X, X[:, 0] if name == "regressor" else codes)
    quick = {"max_depth": 3, "random_state": 0}
    categorical = {"categorical_features": ["colour"], **quick}
    fitted["categorical"] = OC1Classifier(**categorical).fit(frame, y)
    fitted["numbers by category"] = OC1Regressor(**categorical).fit(frame, X[:, 0])
    fitted["directions"] = OC1Classifier(splits="axis", missing="direction", prune=None, **quick).fit(X, y)
    base = OC1Classifier(prune=None, **categorical)
    fitted["categorical vote"] = OC1EnsembleClassifier(base, 3, max_features=2, random_state=0).fit(frame, y)
    bag = OC1EnsembleClassifier(C45Classifier(max_depth=2), 3, bootstrap=True, oob_score=True, random_state=0)
    fitted["bag"] = bag.fit(X, codes.astype(bool))
    fitted["leaf"] = OC1Classifier(class_weight={1: 2.0}).fit([[0.0], [1.0]], [1, 1])
    return fitted


def valid_files():
    """Return (ending, content) of model files in all formats."""
    files = []
    source = Source("kind", {}, (), 120)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i, (name, model) in enumerate(models().items()):
            endings = [".json"] + [".json.gz"] * (i % 4 == 0) + [".dt"] * (name in ("oc1", "axis", "cart-lc", "sadt"))
            for ending in endings:
                path = Path(folder, f"model{ending}")
                save_model(model, path, source=source)
                files.append((ending, path.read_bytes()))
    return files


# ---------------------------------------------------------------------------------------------------- spoiling


def spoil_bytes(rng: random.Random, data: bytes) -> bytes:
    """Change bytes anywhere, once or a few times."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        at = rng.randrange(len(data) + 1)
        span = rng.choice([1, 1, 2, 8, 100])
        match rng.randrange(7):
            case 0 if data:
                at = min(at, len(data) - 1)
                data = data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]
            case 1:
                data = data[:at] + data[at + span :]
            case 2:
                data = data[:at] + rng.randbytes(span) + data[at:]
            case 3:
                data = data[: at + span] + data[at:]
            case 4:
                data = data[:at]
            case 5:
                runs = list(re.finditer(rb"\d+", data[at : at + 300]))
                if runs:
                    run = rng.choice(runs)
                    data = data[: at + run.start()] + rng.choice(HUGE).encode() + data[at + run.end() :]
            case 6:
                data = data[:at] + rng.choice(TOKENS) + data[at + rng.randrange(4) :]
    return data


def spoil_lines(rng: random.Random, data: bytes) -> bytes:
    """Remove, repeat, exchange or change lines."""
    lines = data.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            del lines[i]
        case 1:
            lines.insert(i, lines[j])
        case 2:
            lines[i], lines[j] = lines[j], lines[i]
        case 3:
            lines[i] = lines[i].replace(
                *rng.choice([(b"x[1]", b"x[7]"), (b"l", b"r"), (b",", b" "), (b" ", b""), (b"=", b"")])
            )
    return b"\n".join(lines)


def spoil_structure(rng: random.Random, data: bytes) -> bytes:
    """Change values of a JSON document, once or a few times."""
    document = json.loads(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        places, todo = [], [document]
        while todo:
            one = todo.pop()
            keys = list(one) if isinstance(one, dict) else range(len(one))
            places += [(one, key) for key in keys]
            todo += [one[key] for key in keys if isinstance(one[key], dict | list)]
        if not places:
            break
        # Every other time a whole field, which are few among so many numbers.
        fields = [place for place in places if isinstance(place[1], str)]
        holder, key = rng.choice(fields if rng.random() < 0.5 and fields else places)
        value = holder[key]
        match rng.randrange(7):
            case 0:
                holder[key] = json.loads(json.dumps(rng.choice(VALUES)))
            case 1:
                del holder[key]
            case 2 if isinstance(value, list):
                value.insert(rng.randrange(len(value) + 1), rng.choice(value) if value else 0)
            case 3 if isinstance(value, list) and value:
                i, j = rng.randrange(len(value)), rng.randrange(len(value))
                value[i], value[j] = value[j], value[i]
            case 4 if isinstance(value, int | float):
                holder[key] = value + rng.choice([-1, 1, 0.5]) if rng.random() < 0.5 else -value
            case 5:
                other, place = rng.choice(places)
                holder[key] = json.loads(json.dumps(other[place]))
            case _ if isinstance(value, dict):
                value[rng.choice(["extra", "tree", "children", "missing", "codes", "kind"])] = rng.choice(VALUES)
            case _ if isinstance(value, list) and value:
                value[rng.randrange(len(value))] = rng.choice(VALUES)
    return json.dumps(document).encode()


def spoilt(files: list[tuple[str, bytes]], number: int, seed: int = 0) -> tuple[str, bytes]:
    """Return the (ending, content) of a damaged file; the same for the same numbers."""
    rng = random.Random(seed * 1_000_000_007 + number)
    ending, data = rng.choice(files)
    if ending == ".dt":
        return ending, (spoil_lines if rng.random() < 0.4 else spoil_bytes)(rng, data)
    if ending.endswith(".gz"):
        if rng.random() < 0.3:
            return ending, spoil_bytes(rng, data)
        data = gzip.decompress(data)
    data = (spoil_structure if rng.random() < 0.6 else spoil_bytes)(rng, data)
    return ending, gzip.compress(data, 1, mtime=0) if ending.endswith(".gz") else data


# ---------------------------------------------------------------------------------------------------- what must hold


def outcome(ending: str, data: bytes) -> str:
    """Load a file, and use the model if there is one; anything but a clear refusal or an answer is an exception."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = read_model(f"model{ending}", data).model
        except FileProblem as problem:
            message = str(problem)
        else:
            use(model)
            return "loaded"
    assert len(message) < 1000
    assert message.isprintable(), message
    assert "memory" not in message, message
    return "refused"


def use(model) -> None:
    """Ask a model all it can be asked."""
    n = 10 if model.n_features_in_ < 1000 else 1
    X = np.random.default_rng(0).normal(size=(n, model.n_features_in_)) * 10
    X[0, 0], X[-1, -1] = np.nan, 0.0
    assert model.predict(X).shape == (n,)
    if hasattr(model, "predict_proba"):
        assert model.predict_proba(X).shape == (n, len(model.classes_))
    assert model.feature_importances_.shape == (model.n_features_in_,)
    assert 0 <= model.get_depth() < model.get_n_leaves()
    for one in getattr(model, "estimators_", [model]):
        own = X[:, : one.n_features_in_]
        if hasattr(one, "tree_"):
            assert (one.apply(own) < one.tree_.n_nodes).all()
            assert one.decision_path(own).shape == (n, one.tree_.n_nodes)
            assert one.unpruned_tree_.apply(np.zeros((n, one.n_features_in_))).shape == (n,)
            assert str(one.tree_)

"""Damaged files: valid models, tables and journals of all kinds, ways to spoil them, and what must hold of the rest.

A spoilt model is loaded and asked all it can be asked (`outcome`), or it goes with a spoilt table through the commands
(`command`, `run_command`).
"""

import gzip
import io
import json
import random
import re
import tempfile
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import polars as pl
from typer.testing import CliRunner

from oc1.baselines import C45Classifier
from oc1.cli.app import app
from oc1.experiments.journal import Journal
from oc1.files.models.storage import Source, read_model, save_model
from oc1.files.problems import FileProblem
from oc1.files.tables import write_table
from oc1.learners.classifier import OC1Classifier
from oc1.learners.ensemble import OC1EnsembleClassifier
from oc1.learners.registry import LEARNERS, OF_MANY_TREES, OF_NUMBERS, make_learner
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
CELLS = [
    b"", b"?", b"NA", b"inf", b"-1e999", b"1e400", b"0x10", b"1,5", b'"', b'""', b'"a', b"'", b"\xff", b"\x00", b"\r",
    b"{}",
    b"\xef\xbb\xbf", b"x" * 100_000, b"9" * 5000, b"\xc3\xa9", b"1e-400", b"nan", b"True", b" ", b"\t", b"red", b"%",
    b"@data", b"=1+1", b'"a\nb"', b"\xe2\x80\xa8", b"1_000", b"1e5",
]  # fmt: skip
VALUES = [
    None, True, False, -1, 0, 1, 2, 3, 2**31, 2**31 - 1, 2**63, -(2**63), 10**30, 0.5, -0.0, 1e308, -1e308, 5e-324,
    float("nan"), float("inf"), "", "x", "\ud800", "\x1b[31m", [], {}, [[]], [None], [1], {"tuple": [1]},
    {"dict": [[1, 2]]}, {"learner": "OC1Classifier", "parameters": {}}, [[-1, -1]], "OC1Regressor", "LMDTClassifier",
    "x" * 100_000, [0] * 50_000, [[]] * 20_000, {"0": ["a", "b", "c"]}, {"size": ["1", "2"]}, ["a", "a" * 2000],
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
        size = {} if name == "vote" else {"max_depth": 3}
        size |= {"n_estimators": 3} if name in OF_MANY_TREES else {}
        fitted[name] = make_learner(name, random_state=0, **size)
        fitted[name].fit(X, X[:, 0] if name in OF_NUMBERS else codes)
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


def valid_tables():
    """Return (ending, content) of the examples in all formats."""
    frame, y = examples()
    table = {name: frame[name].to_numpy() for name in frame} | {"class": y}
    tables = []
    with tempfile.TemporaryDirectory() as folder:
        for ending in (".csv", ".tsv", ".arff", ".parquet", ".csv.gz"):
            write_table(Path(folder, f"table{ending}"), table)
            tables.append((ending, Path(folder, f"table{ending}").read_bytes()))
        numbers = {name: column for name, column in table.items() if name != "colour"}
        for ending in (".csv", ".data"):
            write_table(Path(folder, f"numbers{ending}"), numbers)
            tables.append((ending, Path(folder, f"numbers{ending}").read_bytes()))
    return tables


FINGERPRINT = {"experiment": "fuzz", "seed": 0}
RECORD = {
    "data": "iris", "learner": "oc1", "repeat": 0, "fold": 1, "n_test": 50, "n_correct": 48, "leaves": 3,
    "depth": 2, "hyperplanes": 0, "seconds": 0.5,
}  # fmt: skip


def valid_journal():
    """Return the content of a journal."""
    return "\n".join(
        json.dumps(one) for one in ({"fingerprint": FINGERPRINT}, RECORD, {**RECORD, "fold": 2}, "")
    ).encode()


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


def spoil_cells(rng: random.Random, data: bytes) -> bytes:
    """Change cells of a text table, once or a few times."""
    lines = data.split(b"\n")
    for _ in range(rng.choice([1, 1, 2, 5])):
        row = rng.randrange(len(lines))
        cells = lines[row].split(b",")
        cells[rng.randrange(len(cells))] = rng.choice(CELLS)
        lines[row] = b",".join(cells)
    return b"\n".join(lines)


def strange_parquet(rng: random.Random) -> bytes:
    """Return a Parquet file with columns of unusual types, some under the names that the models know."""
    n = rng.choice([0, 1, 5])
    columns = {
        "whole": pl.Series([2**63 - 1] * n, dtype=pl.Int64),
        "unsigned": pl.Series([2**64 - 1] * n, dtype=pl.UInt64),
        "infinite": pl.Series([float("inf")] * n, dtype=pl.Float32),
        "list": pl.Series([[1.0]] * n, dtype=pl.List(pl.Float64)),
        "struct": pl.Series([{"a": 1}] * n, dtype=pl.Struct({"a": pl.Int64})),
        "bytes": pl.Series([b"\xff"] * n, dtype=pl.Binary),
        "nulls": pl.Series([None] * n, dtype=pl.Null),
        "flag": pl.Series([True] * n, dtype=pl.Boolean),
        "date": pl.Series([0] * n, dtype=pl.Int32).cast(pl.Date),
        "decimal": pl.Series(["1.5"] * n).cast(pl.Decimal(20, 2)),
        "text": pl.Series(["red", "x\x00", "", "NA", "1e5"][:n], dtype=pl.Categorical),
    }
    chosen = rng.sample(sorted(columns), rng.randrange(1, 5))
    names = rng.sample(["size", "other", "colour", "class", "", "x" * 5000, "0"], len(chosen))
    buffer = io.BytesIO()
    pl.DataFrame({name: columns[own] for name, own in zip(names, chosen, strict=True)}).write_parquet(buffer)
    return buffer.getvalue()


def spoilt_table(tables: list[tuple[str, bytes]], rng: random.Random) -> tuple[str, bytes]:
    """Return the (ending, content) of a damaged table, sometimes under another ending."""
    ending, data = rng.choice(tables)
    if ending == ".parquet":
        return ending, strange_parquet(rng) if rng.random() < 0.5 else spoil_bytes(rng, data)
    if ending.endswith(".gz") and rng.random() < 0.7:
        data = gzip.decompress(data)
        return ending, gzip.compress(rng.choice([spoil_bytes, spoil_lines, spoil_cells])(rng, data), 1, mtime=0)
    data = rng.choice([spoil_bytes, spoil_lines, spoil_cells])(rng, data)
    return rng.choice(tables)[0] if rng.random() < 0.1 else ending, data


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


# ---------------------------------------------------------------------------------------------------- commands


class Command(NamedTuple):
    """Arguments of the command line, and the files that they name."""

    arguments: tuple[str, ...]
    files: dict[str, bytes]


#: What may be asked of a model and a table; {model} and {table} are the names of files, and those that draw are few.
COMMANDS = 3 * [
    "classify {model} {table} --target class",
    "classify {model} {table} --target class --json --leaf",
    "classify {model} {table} --target -1 -o out.parquet --no-probabilities",
    "classify {model} {table}",
    "test {model} {table}",
    "test {model} {table} --json --target class",
    "show {model}",
    "show {model} --json --digits 17",
    "convert {model} --to python",
    "convert {model} --to sql --table t",
    "convert {model} --to c",
    "convert {model} --to c --numbers fixed --data {table}",
    "convert {model} -o out.onnx",
    "convert {model} -o out.json",
    "convert {model} -o out.dt",
    "train {table} --learner axis --holdout 0 -o out.json",
    "train {table} --learner axis --one-hot --holdout 0 -o out.json",
    "train {table} --learner axis --categorical --target class --holdout 0 -o out.json.gz",
] + ["plot {model} -o out.svg", "plot {model} -o out.png", "plot {model} {table} -o out.png"]


def command(models: list[tuple[str, bytes]], tables: list[tuple[str, bytes]], number: int, seed: int = 0) -> Command:
    """Return a command on a damaged model, a damaged table, or both; the same for the same numbers."""
    rng = random.Random(seed * 1_000_000_007 + number)
    words = rng.choice(COMMANDS)
    what = rng.choice(["model", "table", "both"])
    (model_ending, model), (table_ending, table) = rng.choice(models), rng.choice(tables)
    if what != "table" and "{model}" in words:
        model_ending, model = spoilt(models, rng.randrange(10**9), seed)
    if what != "model" or "{model}" not in words:
        table_ending, table = spoilt_table(tables, rng)
    names = {"model": f"model{model_ending}", "table": f"table{table_ending}"}
    arguments = tuple(words.format(**names).split())
    return Command(arguments, {names["model"]: model, names["table"]: table})


def run_command(own: Command) -> str:
    """Run a command in the current folder; anything but an answer or a refusal in one sentence is an exception."""
    for name, content in own.files.items():
        Path(name).write_bytes(content)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        done = CliRunner().invoke(app, list(own.arguments))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code in (0, 1, 2), done.exit_code
    if done.exit_code == 0:
        return "worked"
    message = done.stderr.strip().split("\n")[-1]
    assert message.startswith("error: ") or done.exit_code == 2, done.stderr[-1000:]
    assert len(message) < 1500, message[:1500]
    assert "memory" not in message, message
    return "refused"


def journal_outcome(number: int, seed: int = 0) -> str:
    """Open a damaged journal."""
    rng = random.Random(seed * 1_000_000_007 + number)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.jsonl")
        path.write_bytes(rng.choice([spoil_bytes, spoil_lines])(rng, valid_journal()))
        try:
            Journal(path, FINGERPRINT)
        except ValueError as problem:
            message = str(problem)
        else:
            return "worked"
    assert len(message) < 1000
    return "refused"

"""Models as C: compiled and compared with the models on many rows."""

import ctypes
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from waiting import MAX_WAIT_SECONDS

from oc1 import OC1Classifier, OC1EnsembleClassifier, OC1Regressor
from oc1.baselines import C45Classifier, CARTLCClassifier, LMDTClassifier
from oc1.conversion.c.fixed_point import (
    FlatTree,
    column_units,
    in_floats,
    in_integers,
    lowest,
    to_inputs,
)
from oc1.conversion.c.program import CFile, _categories, to_c
from oc1.conversion.c.style import ONE
from oc1.learners.reduction import reduce_model
from oc1.tree.linear import Tree

GCC = shutil.which("gcc") or shutil.which("cc")
pytestmark = pytest.mark.skipif(GCC is None, reason="no C compiler")

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
#: Plain, and as fast as the compiler can: GNU's dialect fuses products into sums unless told not to.
WAYS = (["-O0"], ["-std=gnu99", "-O3", "-march=native"])
N = 100_000
C_TYPES = {"double": np.float64, "float": np.float32, "int16_t": np.int16, "int32_t": np.int32}


class Compiled:
    """A header as a shared library."""

    def __init__(self, folder, file: CFile, name="oc1_tree", flags=()):
        text, self.name = file.text, name
        self.input = next(kind for kind in C_TYPES if f"With a row {kind} x[" in text)
        self.is_number, self.is_vote = "_LABELS" not in text, f"{name}_votes" in text
        self.n_classes = 1 if self.is_number else int(text.split("_N_CLASSES ")[1].split()[0])
        self.answer = C_TYPES[self.input] if self.is_number else np.int32
        self.share = np.uint16 if "int" in self.input else C_TYPES[self.input]
        self.n_features = int(text.split("_N_FEATURES ")[1].split()[0])
        share = "uint16_t" if "int" in self.input else self.input
        folder.mkdir(exist_ok=True)
        (folder / "model.h").write_text(text, encoding="ascii")
        asks = [f"y[i] = {name}_predict(x + i * {self.n_features});"]
        if not self.is_vote:
            asks.append(f"leaf[i] = {name}_leaf(x + i * {self.n_features});")
        if not self.is_number:
            asks.append(f"{name}_probabilities(x + i * {self.n_features}, p + i * {self.n_classes});")
        answer = self.input if self.is_number else "int"
        head = f"void batch(const {self.input} *x, long n, {answer} *y, int *leaf, {share} *p)"
        (folder / "model.c").write_text(
            f'#include "model.h"\n#include "model.h"\n{head};\n{head}\n'
            f"{{ long i; (void)leaf; (void)p; for (i = 0; i < n; ++i) {{ {' '.join(asks)} }} }}\n"
        )
        library = folder / "model.so"
        subprocess.run(
            [GCC, *STRICT, *flags, "-shared", "-fPIC", "-o", library, folder / "model.c"],
            check=True,
            timeout=MAX_WAIT_SECONDS,
        )
        self.batch = ctypes.CDLL(str(library)).batch

    def __call__(self, X):
        """Return (answers, leaves, shares)."""
        X = np.ascontiguousarray(X, dtype=C_TYPES[self.input])
        y, leaf = np.zeros(len(X), self.answer), np.zeros(len(X), np.int32)
        p = np.zeros((len(X), self.n_classes), self.share)
        x_at, *others = (a.ctypes.data_as(ctypes.c_void_p) for a in (X, y, leaf, p))
        self.batch(x_at, ctypes.c_long(len(X)), *others)
        return y, leaf, p


def random_rows(model, X, n=N, holes=True, huge=True, seed=0):
    """Rows around the data: some of its own, some exactly on the tests, some with holes or huge values."""
    rng = np.random.default_rng(seed)
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    rows = rng.uniform(low - 0.2 * (high - low), high + 0.2 * (high - low), (n, X.shape[1]))
    rows[: min(len(X), n // 4)] = X[: n // 4]
    for number, plain in enumerate(reduce_model(model).trees):
        if isinstance(plain.tree, Tree):
            for node in np.flatnonzero(~plain.tree.is_leaf)[:200]:
                features, coefficients, threshold = plain.tree.test(node)
                some = rng.integers(n // 4, n, max(1, 5000 // (1 + plain.tree.n_leaves)))
                first, others = features[0], rows[np.ix_(some, features[1:])] @ coefficients[1:]
                if abs(threshold) < 1e300:
                    rows[some, first] = (threshold - others) / coefficients[0]
        if number == 3:
            break
    if huge:
        some = rng.integers(n // 4, n, n // 50)
        rows[some] *= 10.0 ** rng.integers(-300, 300, (len(some), X.shape[1]))
    if holes:
        rows[rng.random(rows.shape) < 0.05] = np.nan
        rows[-1] = np.nan
    return rows


def noisy_data(seed=0, n=400, d=5, k=3):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, d))
    scores = Z @ rng.normal(size=(d, k)) + 0.7 * rng.normal(size=(n, k))
    X = Z * 10.0 ** np.arange(-2, d - 2) + [0.03, 0, 50, 0, 0]
    return X, np.array(["no", "perhaps", "yes"])[scores.argmax(axis=1)]


def categorical_data(n=500):
    rng = np.random.default_rng(5)
    colour = rng.choice(np.array(["red", "green", "dark blue", "*/", None], dtype=object), n)
    size = rng.normal(size=n)
    size[rng.random(n) < 0.2] = np.nan
    number = rng.choice([1.5, 2.0, 7.0], n)
    frame = pd.DataFrame({"colour": colour, "size": size, "kind": number, "weight": rng.normal(size=n)})
    y = ((colour == "red") * 1.0 + np.nan_to_num(size, nan=1.5) + (number == 2.0) + frame["weight"] > 1).astype(int)
    return frame, y.to_numpy()


def fit(kind):
    """Return (model, rows as the C file takes them)."""
    X, y = noisy_data()
    with_holes = X.copy()
    with_holes[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    if kind == "categorical":
        frame, y = categorical_data()
        model = OC1Classifier(categorical_features=[0, 2], missing="direction", prune=None, random_state=0)
        model.fit(frame, y)
        return model, model._checked(frame)
    if kind == "categorical vote":
        frame, y = categorical_data(60)
        base = OC1Classifier(categorical_features=[0, 2], prune=None)
        model = OC1EnsembleClassifier(base, 5, bootstrap=True, max_features=3, random_state=1, smoothing=0.5)
        model.fit(frame, y)
        return model, model._checked(frame)
    if kind == "regressor":
        return OC1Regressor(random_state=0, max_leaf_nodes=20).fit(X, X[:, 0] * 3 + X[:, 2]), X
    if kind == "leaf":
        return OC1Classifier(max_depth=0).fit(X, y), X
    if kind == "large":  # tables, not ifs
        return OC1Classifier(prune=None, splits="axis", missing="direction").fit(with_holes, y), with_holes
    model = {
        "oc1": OC1Classifier(random_state=0, smoothing=1.0),
        "oc1 deep": OC1Classifier(random_state=0, prune=None),
        "axis": OC1Classifier(splits="axis", random_state=0),
        "c45": C45Classifier(),
        "cart-lc": CARTLCClassifier(random_state=0),
        "lmdt": LMDTClassifier(random_state=0),
        "direction": OC1Classifier(missing="direction", random_state=0),
        "vote": OC1EnsembleClassifier(n_estimators=7, random_state=0, smoothing=1.0, max_features=0.8),
        "lmdt vote": OC1EnsembleClassifier(LMDTClassifier(), 3, random_state=0, max_features=0.8),
    }[kind]
    return model.fit(with_holes if kind in ("direction", "vote") else X, y), X


KINDS = ["oc1", "oc1 deep", "axis", "c45", "cart-lc", "lmdt", "direction", "vote", "lmdt vote", "regressor", "leaf",
         "large", "categorical", "categorical vote"]  # fmt: skip


@pytest.fixture(scope="module")
def models():
    fitted = {}

    def get(kind):
        if kind not in fitted:
            fitted[kind] = fit(kind)
        return fitted[kind]

    return get


def ask_model(model, rows):
    """Ask the model itself: (answers, leaves or None, shares or None); rows are numbers."""
    values = getattr(model, "categories_", None)
    if values is not None:
        rows = rows.astype(object)
        for m, own in enumerate(values):
            if own is not None:
                number = rows[:, m].astype(float)
                known = (number >= 0) & (number < len(own))
                rows[:, m] = [own[int(i)] if ok else None for i, ok in zip(number, known, strict=True)]
        rows = pd.DataFrame(rows, columns=model.feature_names_in_)
        for m, own in enumerate(values):
            if own is None:
                rows.isetitem(m, rows.iloc[:, m].astype(float))
    answers = model.predict(rows)
    if isinstance(model, OC1Regressor):
        return answers, model.apply(rows), None
    answers = np.searchsorted(model.classes_, answers)
    leaves = None if isinstance(model, OC1EnsembleClassifier) else model.apply(rows)
    return answers, leaves, model.predict_proba(rows)


@pytest.mark.parametrize("kind", KINDS)
def test_doubles_are_the_model_to_the_last_bit(models, kind, tmp_path):
    model, X = models(kind)
    rows = random_rows(model, X, holes=kind != "c45")  # C4.5 divides examples with holes, C does not
    if "categorical" in kind:
        rows[::2, 0] = np.random.default_rng(0).integers(-1, 6, len(rows[::2]))
        rows[::3, 2] = np.random.default_rng(1).integers(-1, 6, len(rows[::3]))
    wanted, wanted_leaves, wanted_shares = ask_model(model, rows)
    file = to_c(model, data=None)
    assert (file.n_rows, file.n_different) == (None, None)
    assert kind == "vote" or ("while (node" in file.text) == (kind == "large")
    for number, flags in enumerate(WAYS):
        answers, leaves, shares = Compiled(tmp_path / str(number), file, flags=flags)(rows)
        assert (answers == wanted).all()
        if wanted_leaves is not None:
            assert (leaves == wanted_leaves).all()
        if wanted_shares is not None:
            assert (shares == wanted_shares).all()


def rounded_walks(model, X, numbers, bits):
    plain = reduce_model(model)
    exact = [FlatTree.make(tree, _categories(model, plain)) for tree in plain.trees]
    if numbers == "float":
        return plain, exact, [in_floats(walk) for walk in exact], lambda rows: rows.astype(np.float32)
    units = column_units(X, exact, bits)
    return plain, exact, [in_integers(walk, units, bits) for walk in exact], lambda rows: to_inputs(rows, units, bits)


def simulate(plain, rounded, inputs):
    """Return (answers, leaves of the first tree) of the simulated arithmetic."""
    leaves = [walk.leaves(inputs) for walk in rounded]
    voices = np.zeros((len(inputs), max(1, len(plain.classes))), dtype=int)
    for tree, own in zip(plain.trees, leaves, strict=True):
        voices[np.arange(len(inputs)), tree.votes[own]] += 1
    return voices.argmax(axis=1), leaves[0]


@pytest.mark.parametrize("numbers", ["float", 16, 32])
@pytest.mark.parametrize("kind", KINDS)
def test_rounded_numbers_do_what_is_simulated_and_promised(models, kind, numbers, tmp_path):
    model, X = models(kind)
    bits, as_text = (32, "float") if numbers == "float" else (numbers, "fixed")
    file = to_c(model, name="small", numbers=as_text, bits=bits, data=_as_given(model, X))
    plain, exact, rounded, to_numbers = rounded_walks(model, X, numbers, bits)
    rows = random_rows(model, X, huge=False)
    for m in range(X.shape[1]):
        if any(m in walk.codes for walk in exact):
            rows[:, m] = np.round(rows[:, m])
    inputs = to_numbers(rows)
    if numbers != "float":  # any integers, ends and holes among them
        rng = np.random.default_rng(2)
        most = -lowest(bits) - 1
        wild = rng.integers(-most, most, (N // 4, X.shape[1]), endpoint=True)
        ends = rng.choice([lowest(bits), -most, most, -1, 0, 1, 2], wild.shape)
        inputs[-len(wild) :] = np.where(rng.random(wild.shape) < 0.5, wild, ends)
    run = Compiled(tmp_path, file, "small", flags=WAYS[1])
    answers, leaves, shares = run(inputs)
    wanted, wanted_leaves = simulate(plain, rounded, inputs)
    if plain.task != "number":
        assert (answers == wanted).all()
    if plain.task != "vote":
        assert (leaves == wanted_leaves).all()
    if shares.dtype == np.uint16 and plain.task == "class":
        assert (shares.astype(int).sum(axis=1) == ONE).all()
        np.testing.assert_allclose(shares / ONE, plain.trees[0].leaves[leaves], atol=1 / ONE)
    if shares.dtype == np.uint16 and plain.task == "vote":
        assert (np.abs(ONE - shares.astype(int).sum(axis=1)) <= shares.shape[1]).all()

    # What the file says of the rows it was given.
    truth, true_leaves, _ = ask_model(model, X)
    own_answers, own_leaves, _ = run(to_numbers(X))
    differ = own_leaves != true_leaves if plain.task == "number" else own_answers != truth
    if not (kind == "c45" and np.isnan(X).any()):
        assert (file.n_rows, file.n_different) == (len(X), differ.sum())
    assert file.n_different < len(X) / 2
    assert f"SMALL_ROWS_DIFFERENT {file.n_different}\n" in file.text


def _as_given(model, X):
    """Undo the numbers of categories."""
    if getattr(model, "categories_", None) is None:
        return X
    frame = pd.DataFrame(X, columns=model.feature_names_in_).astype(object)
    for m, own in enumerate(model.categories_):
        if own is not None:
            frame.isetitem(m, [None if np.isnan(i) else own[int(i)] for i in X[:, m]])
    return frame


def test_numbers_predicted_in_fixed_point_are_near(models, tmp_path):
    model, X = models("regressor")
    for bits, digits in ((16, 1e-4), (32, 1e-9)):
        file = to_c(model, numbers="fixed", bits=bits, data=X)
        scale = float(file.text.split("_SCALE ")[-1].split()[0])
        _, _, _, to_numbers = rounded_walks(model, X, "fixed", bits)
        values, leaves, _ = Compiled(tmp_path / str(bits), file)(to_numbers(X))
        wanted = model.tree_.values[leaves]
        np.testing.assert_allclose(values / scale, wanted, atol=digits * np.abs(wanted).max())


@pytest.mark.parametrize("bits", [16, 32])
@pytest.mark.parametrize("kind", ["oc1 deep", "lmdt", "large", "categorical vote"])
def test_no_integer_overflows(models, kind, bits, tmp_path):
    model, X = models(kind)
    (tmp_path / "model.h").write_text(to_c(model, numbers="fixed", bits=bits, data=_as_given(model, X)).text)
    (tmp_path / "main.c").write_text(
        f"""#include "model.h"
int main(void)
{{
    static const int{bits}_t ends[] = {{INT{bits}_MIN, INT{bits}_MIN + 1, INT{bits}_MAX, 0}};
    uint32_t state = 1;
    long i;
    int m, seen = 0;
    for (i = 0; i < 50000; ++i) {{
        int{bits}_t x[OC1_TREE_N_FEATURES];
        uint16_t p[OC1_TREE_N_CLASSES];
        for (m = 0; m < OC1_TREE_N_FEATURES; ++m) {{
            state = state * 1664525u + 1013904223u;
            x[m] = ends[state >> 30];
        }}
        seen |= 1 << oc1_tree_predict(x);
        oc1_tree_probabilities(x, p);
    }}
    return seen == 0;
}}
"""
    )
    program = tmp_path / "main"
    checks = ["-fsanitize=undefined", "-fno-sanitize-recover=all", "-O1"]
    built = subprocess.run([GCC, *STRICT, *checks, "-o", program, tmp_path / "main.c"], capture_output=True, text=True)
    if "cannot find" in built.stderr:
        pytest.skip("the compiler has no sanitizer")
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([program], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("bits", [16, 32])
def test_sums_fit_by_construction(models, bits):
    for kind in ("oc1 deep", "lmdt", "vote"):
        model, X = models(kind)
        _, _, rounded, _ = rounded_walks(model, X, "fixed", bits)
        for walk in rounded:
            for function in range(len(walk.constants)):
                sizes = sum(abs(int(c)) for c in walk.parts(function)[1]) * (2 ** (bits - 1) - 1)
                if walk.is_machine:
                    sizes += abs(int(walk.constants[function]))
                assert sizes < 2 ** (2 * bits - 1) - 1
            assert np.abs(walk.coefficients).max() < 2**31


@pytest.mark.parametrize("bits", [16, 32])
def test_macros_turn_measurements_as_the_simulator_does(models, bits, tmp_path):
    model, X = models("oc1")
    rng = np.random.default_rng(0)
    _, _, _, to_numbers = rounded_walks(model, X, "fixed", bits)
    rows = np.concatenate([X, X * 3, rng.normal(size=(50, 5)) * 1e6, np.full((1, 5), np.nan), np.zeros((1, 5))])
    (tmp_path / "model.h").write_text(to_c(model, numbers="fixed", bits=bits, data=X).text)
    turns = " ".join(f"q[5 * i + {m}] = OC1_TREE_FIX_x{m + 1}(x[5 * i + {m}]);" for m in range(5))
    (tmp_path / "model.c").write_text(
        f'#include "model.h"\nstatic const int{bits}_t constant[] = {{OC1_TREE_FIX_x1(0.01), OC1_TREE_FIX_x2(-1e9)}};\n'
        f"int{bits}_t turn(const double *x, long n, int{bits}_t *q);\n"
        f"int{bits}_t turn(const double *x, long n, int{bits}_t *q)\n"
        f"{{ long i; for (i = 0; i < n; ++i) {{ {turns} }} return constant[1]; }}\n"
    )
    library = tmp_path / "model.so"
    subprocess.run([GCC, *STRICT, "-shared", "-fPIC", "-o", library, tmp_path / "model.c"], check=True)
    out = np.zeros(rows.shape, C_TYPES[f"int{bits}_t"])
    turn = ctypes.CDLL(str(library)).turn
    lowest_kept = turn(
        rows.ctypes.data_as(ctypes.c_void_p), ctypes.c_long(len(rows)), out.ctypes.data_as(ctypes.c_void_p)
    )
    assert (out == to_numbers(rows)).all()
    assert np.int64(lowest_kept).astype(out.dtype) == -(2 ** (bits - 1)) + 1


NASTY = [
    "*/ int evil;",
    "/*",
    "back\\",
    "tri??/",
    'say "x"',
    "new\nline\r",
    "größe\u202e",
    "\x00\x1b[31m",
    "a" * 300,
    "??)",
]


@pytest.mark.parametrize("numbers", ["double", "fixed"])
def test_texts_of_users_stay_texts(numbers, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, len(NASTY))), columns=NASTY)
    X["*/ int evil;"] = rng.choice(np.array(NASTY, dtype=object), len(X))
    scores = X["/*"] + X["back\\"] + (X["*/ int evil;"] == "/*")
    y = np.array(NASTY)[np.digitize(scores, np.linspace(-2, 2, len(NASTY) - 1))]
    model = OC1Classifier(categorical_features=["*/ int evil;"], prune=None, random_state=0).fit(X, y)
    # Names that ordinary attributes could not have, in the comments of tests, too.
    assert model.tree_.n_leaves > 5
    file = to_c(model, numbers=numbers, data=X)
    assert file.text.isascii()
    assert all(line.isprintable() and not line.endswith("??/") for line in file.text.splitlines())
    (tmp_path / "model.h").write_text(file.text)
    (tmp_path / "model.c").write_text(
        '#include "model.h"\nconst char *label(int c);\nconst char *label(int c) { return OC1_TREE_LABELS[c]; }\n'
    )
    library = tmp_path / "model.so"
    subprocess.run([GCC, *STRICT, "-O1", "-shared", "-fPIC", "-o", library, tmp_path / "model.c"], check=True)
    label = ctypes.CDLL(str(library)).label
    label.restype = ctypes.c_char_p
    for c, text in enumerate(model.classes_):
        assert label(c) == text.encode().split(b"\0")[0]


def test_a_large_tree_compiles_quickly_and_is_right(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4200, 4))
    model = OC1Classifier(splits="axis", prune=None).fit(X, rng.integers(0, 12, len(X)))
    assert model.get_n_leaves() > 2000
    for numbers in ("double", "fixed"):
        file = to_c(model, numbers=numbers, data=X)
        run = Compiled(tmp_path / numbers, file, flags=["-O2"])  # has a time limit
        inputs = X if numbers == "double" else rounded_walks(model, X, "fixed", 32)[3](X)
        assert (run(inputs)[1] == model.apply(X)).mean() > 0.999


def test_a_large_tree_of_machines(models, tmp_path, monkeypatch):
    monkeypatch.setattr("oc1.conversion.c.trees.MAX_LEAVES", 1)
    for kind in ("lmdt", "categorical", "direction", "vote", "oc1"):
        model, X = models(kind)
        rows = random_rows(model, X, 20_000)
        file = to_c(model)
        assert "while (node" in file.text
        answers, _, shares = Compiled(tmp_path / kind.replace(" ", ""), file)(rows)
        wanted, _, wanted_shares = ask_model(model, rows)
        assert (answers == wanted).all()
        assert (shares == wanted_shares).all()


@pytest.mark.parametrize("n_classes", [7, 11, 150])
def test_shares_of_votes_smoothed_by_a_fraction_are_exact(n_classes, tmp_path):
    # What they add up to depends on the order; numpy's is another from 8 and from 129 classes on.
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(6 * n_classes, 2))
    base = OC1Classifier(splits="axis", prune=None)
    for number, smoothing in enumerate((0.1, 1 / 3, 1e-7, 1e9 / 7)):
        model = OC1EnsembleClassifier(base, 5, bootstrap=True, smoothing=smoothing, random_state=0)
        model.fit(X, np.arange(len(X)) % n_classes)
        run = Compiled(tmp_path / str(number), to_c(model), flags=WAYS[1])
        rows = rng.normal(size=(3000, 2))
        assert (run(rows)[2] == model.predict_proba(rows)).all()


def test_it_is_also_cpp(models, tmp_path):
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    for kind in ("lmdt", "categorical vote", "large", "regressor"):
        model, X = models(kind)
        for numbers in ("double", "float", "fixed"):
            (tmp_path / "model.h").write_text(to_c(model, numbers=numbers, data=_as_given(model, X)).text)
            (tmp_path / "model.cpp").write_text('#include "model.h"\n')
            flags = ["-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]
            subprocess.run([compiler, *flags, tmp_path / "model.cpp"], check=True)


def test_the_file_refuses_fast_math(models, tmp_path):
    (tmp_path / "model.c").write_text(to_c(models("oc1")[0]).text)
    built = subprocess.run([GCC, "-ffast-math", "-c", "-o", "/dev/null", tmp_path / "model.c"], capture_output=True)
    assert built.returncode != 0
    assert b"without -ffast-math" in built.stderr


def test_the_same_model_is_the_same_file(models):
    model, X = models("vote")
    assert to_c(model, numbers="fixed", data=X) == to_c(model, numbers="fixed", data=X)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"name": "3d"}, "is not a valid name in C"),
        ({"name": "a b"}, "is not a valid name in C"),
        ({"name": "_a"}, "is not a valid name in C"),
        ({"name": "größe"}, "is not a valid name in C"),
        ({"name": "a\n"}, "is not a valid name in C"),
        ({"numbers": "half"}, "numbers must be"),
        ({"numbers": "fixed"}, "needs data, the training rows"),
        ({"numbers": "fixed", "bits": 8, "data": [[1, 2, 3, 4, 5]]}, "bits must be 16 or 32"),
        ({"numbers": "fixed", "data": [[1, 2]]}, "features"),
    ],
)
def test_wrong_arguments_are_named(models, wrong, words):
    with pytest.raises(ValueError, match=words):
        to_c(models("oc1")[0], **wrong)


def test_numbers_beyond_floats_are_refused(models):
    model = OC1Classifier(splits="axis", random_state=0).fit(
        np.array([[1e200], [2e200], [3e200], [4e200]] * 5), [0, 0, 1, 1] * 5
    )
    with pytest.raises(ValueError, match="too large or too small for a float"):
        to_c(model, numbers="float")
    tree = replace(model.tree_, thresholds=np.full(model.tree_.n_nodes, np.inf))
    model.tree_ = tree
    with pytest.raises(ValueError, match="not finite"):
        to_c(model)

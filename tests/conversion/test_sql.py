import sqlite3
from dataclasses import replace

import numpy as np
import pytest
from converted_models import NASTY, NUMERIC, WITH_CATEGORIES, fitted, mixed_rows, rows_for

from oc1.baselines import CARTClassifier
from oc1.conversion.sql import _Columns, _linear, literal, quoted_name, to_sql
from oc1.learners.classifier import OC1Classifier
from oc1.learners.ensemble import OC1EnsembleClassifier
from oc1.learners.reduction import reduce_model


def database(rows, names, table="some table"):
    connection = sqlite3.connect(":memory:")
    columns = ", ".join(quoted_name(name, "column") for name in names)
    connection.execute(f"CREATE TABLE {quoted_name(table, 'table')} (id INTEGER PRIMARY KEY, {columns})")
    marks = ", ".join("?" * (len(names) + 1))
    values = ([number, *row] for number, row in enumerate(rows))
    connection.executemany(f"INSERT INTO {quoted_name(table, 'table')} VALUES ({marks})", values)
    return connection


def check(model, X, rows, **options):
    names = reduce_model(model).feature_names
    connection = database(rows, names)
    cursor = connection.execute(to_sql(model, table="some table", **options))
    called = [column[0] for column in cursor.description]
    answers = sorted(cursor.fetchall())
    assert called[: len(names) + 2] == ["id", *names, "prediction"]
    assert [row[0] for row in answers] == list(range(len(X)))
    predicted = model.predict(X).tolist()
    assert [row[len(names) + 1] for row in answers] == predicted
    if hasattr(model, "classes_"):
        assert len(called) == len(names) + 2 + len(model.classes_)
        np.testing.assert_array_equal([row[len(names) + 2 :] for row in answers], model.predict_proba(X))
    part = 3000  # the expression asks a vote anew for each row
    some = connection.execute(f'SELECT {to_sql(model)} FROM "some table" WHERE id < {part} ORDER BY id').fetchall()
    assert [row[0] for row in some] == predicted[:part]


@pytest.mark.parametrize("name", NUMERIC)
def test_sqlite_gives_the_same_bits(name):
    model = fitted(name)
    # Where a function of a machine overflows SQLite has NULL, which is not the largest.
    X = rows_for(model, 5000, huge="machine" not in name and name != "lmdt")
    check(model, X, X.tolist())  # SQLite turns NaN into NULL


@pytest.mark.slow
def test_sqlite_gives_the_same_bits_on_many_rows():
    model = fitted("oblique")
    X = rows_for(model, 100_000)
    check(model, X, X.tolist())


@pytest.mark.parametrize("name", WITH_CATEGORIES)
def test_sqlite_takes_categories(name):
    X = mixed_rows(2000)
    rows = ([None if value != value else value for value in row] for row in X.itertuples(index=False, name=None))
    check(fitted(name), X, rows)


def test_two_thousand_leaves():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(6000, 3))
    model = CARTClassifier(prune=None).fit(points, rng.integers(0, 4, 6000))
    assert model.get_n_leaves() >= 2000
    X = rows_for(model, 3000)
    check(model, X, X.tolist())


def test_a_chain_of_two_hundred_tests():
    X = np.arange(200.0)[:, None]
    model = CARTClassifier(prune=None).fit(X, np.arange(200) % 2)
    assert model.get_depth() > 150
    check(model, X, X.tolist())


@pytest.mark.slow
def test_duckdb_gives_the_same_bits():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    for name in ("oblique", "directed", "lmdt", "vote", "regression", "nasty", "large"):
        model = fitted(name)
        X = rows_for(model, 2000, huge=False)
        columns = ", ".join(f"x{m + 1} DOUBLE" for m in range(X.shape[1]))
        connection.execute(f"CREATE OR REPLACE TABLE t (id INTEGER, {columns})")
        rows = [[number, *(None if v != v else v for v in row)] for number, row in enumerate(X.tolist())]
        connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * (X.shape[1] + 1))})", rows)
        answers = sorted(connection.execute(to_sql(model, table="t")).fetchall(), key=lambda row: row[0])
        assert [row[X.shape[1] + 1] for row in answers] == model.predict(X).tolist()
        if hasattr(model, "classes_"):
            np.testing.assert_array_equal([row[X.shape[1] + 2 :] for row in answers], model.predict_proba(X))
        labels = connection.execute(f"SELECT {to_sql(model)} FROM t ORDER BY id").fetchall()
        assert [row[0] for row in labels] == model.predict(X).tolist()


def test_names_are_quoted():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    names = ["select", 'a"b', "x y\n", "Ω", "'; DROP TABLE t; --", "label", "a + -b"]
    X = pandas.DataFrame(rng.normal(size=(300, len(names))), columns=names)
    model = OC1Classifier(random_state=0).fit(X, np.array(NASTY[:2])[(X.sum(axis=1) > 0).astype(int)])
    check(model, X, X.to_numpy().tolist())
    connection = database(X.to_numpy().tolist(), names, table="oc1_answers")
    assert len(connection.execute(to_sql(model, table="oc1_answers")).fetchall()) == 300
    assert len(connection.execute(to_sql(model, table=("main", "oc1_answers"))).fetchall()) == 300


def test_classes_that_differ_by_case_keep_their_columns():
    model = OC1Classifier(prune=None).fit([[0.0], [1.0], [2.0]], ["a", "A", "a_2"])
    check(model, [[0.0], [1.0], [2.0]], [[0.0], [1.0], [2.0]])
    connection = database([[0.0]], ["x1"])
    called = [column[0].lower() for column in connection.execute(to_sql(model, table="some table")).description]
    assert len(set(called)) == len(called)


def test_refuses_what_databases_cannot_take():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    for names, words in (
        (["A", "a"], "capital letters"),
        (["A", ""], "cannot be a name"),
        (["A", "b\0"], "character 0"),
    ):
        X = pandas.DataFrame(rng.normal(size=(60, 2)), columns=names)
        model = OC1Classifier(random_state=0, prune=None).fit(X, X.sum(axis=1) > 0)
        with pytest.raises(ValueError, match=words):
            to_sql(model)
    vote = OC1EnsembleClassifier(CARTClassifier(), 61).fit([[0.0], [1.0]] * 3, [0, 1] * 3)
    with pytest.raises(ValueError, match="61 trees"):
        to_sql(vote, table="t")
    check_one = sqlite3.connect(":memory:").execute(f"SELECT {to_sql(vote)} FROM (SELECT 0.7 AS x1)").fetchone()
    assert check_one == (1,)


def test_numbers_are_exact():
    rng = np.random.default_rng(0)
    for value in [
        *(rng.normal(size=200) * 10.0 ** rng.integers(-300, 300, 200)).tolist(),
        0.1,
        1e22,
        5e-324,
        0.0,
        -0.0,
    ]:
        assert float(literal(value)) == value
        assert "e" in literal(value)


def test_no_two_minus_signs_begin_a_comment():
    plain = reduce_model(fitted("categories"))
    tree = plain.trees[0]
    no_categories = replace(tree, tree=replace(tree.tree, fill=np.full(4, -1.5)), codes={0: {}})
    written = _linear([], [-1.0, -1.0], [_Columns(plain, "").filled(no_categories, 0)] * 2)
    assert sqlite3.connect(":memory:").execute(f"SELECT {written}").fetchone() == (3.0,)

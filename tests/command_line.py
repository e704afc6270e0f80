"""Running commands in tests, on iris."""

import subprocess
import sys

import polars as pl
from sklearn.datasets import load_iris
from typer.testing import CliRunner

from oc1.cli.app import app

NAMES = ["sepal_len", "sepal_wid", "petal_len", "petal_wid"]


def run(*arguments, code=0):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == code, done.stderr
    return done


def start(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "oc1", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def iris_frame():
    iris = load_iris()
    frame = pl.DataFrame(iris.data, schema=NAMES)
    return frame.with_columns(species=pl.Series(iris.target_names[iris.target].tolist()))

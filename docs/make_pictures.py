"""The pictures of the README: ``python docs/make_pictures.py`` makes them again, always the same."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import matplotlib

matplotlib.use("agg")
sys.path.insert(0, str(Path(__file__).parent))  # for picture_style

from matplotlib.figure import Figure
from picture_style import STYLE
from sklearn.datasets import load_breast_cancer, load_iris

from oc1 import OC1Classifier
from oc1.datasets import make_rcb
from oc1.plotting import plot_partition, plot_tree, save

PICTURES = Path(__file__).parent / "pictures"


def iris_tree() -> Figure:
    """Draw the tree for iris."""
    iris = load_iris(as_frame=True)
    species = iris.target_names[iris.target]
    return plot_tree(OC1Classifier(random_state=0).fit(iris.data, species), iris.data, species).figure


def rcb_partition() -> Figure:
    """Draw the rotated checker board; fewer points are shown than the tree has seen."""
    X, y = make_rcb(2000, random_state=0)
    figure = Figure(figsize=(6, 5.4), layout="constrained")
    plot_partition(OC1Classifier(random_state=0).fit(X, y), X[:300], y[:300], ax=figure.subplots())
    return figure


def cancer_tree() -> Figure:
    """Draw the tree for the breast cancer data."""
    cancer = load_breast_cancer(as_frame=True)
    diagnosis = cancer.target_names[cancer.target]
    return plot_tree(OC1Classifier(random_state=0).fit(cancer.data, diagnosis), cancer.data, diagnosis).figure


DRAWN = {"iris-tree": iris_tree, "rcb-partition": rcb_partition, "cancer-tree": cancer_tree}


def shorten(path: Path) -> None:
    """Round the coordinates of an SVG file to hundredths of a point."""
    text = path.read_text(encoding="utf-8")
    shorter = re.sub(r' d="[^"]*"', lambda line: re.sub(r"\d+\.\d{3,}", rounded, line[0]), text)
    path.write_text(shorter, encoding="utf-8")


def rounded(number: re.Match) -> str:
    """Write a number with two decimals at most."""
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def make_pictures(folder: Path) -> list[Path]:
    """Write all pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, draw in DRAWN.items():
        paths.append(folder / f"{name}.svg")
        with matplotlib.rc_context(STYLE):
            save(draw(), paths[-1])
        shorten(paths[-1])
    return paths


if __name__ == "__main__":
    for path in make_pictures(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES):
        print(path)

"""Modules import only from those before them: the order is the architecture."""

import ast
from pathlib import Path

import pytest

import oc1

ORDER = [
    "_kernels",
    "_compiling",
    "impurity",
    "export",
    "tree",
    "scaling",
    "sampling",
    "grower",
    "pruning",
    "classifier",
    "datasets",
    "__init__",
    "__main__",
]
PACKAGE = Path(oc1.__file__).parent


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            yield from [node.module.split(".")[0]] if node.module else [alias.name for alias in node.names]


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_imports_point_backwards(path):
    place = ORDER.index(path.stem)
    for name in imports(path):
        if name in ORDER:  # names such as OC1Classifier come from the package itself
            lazily = path.stem == "export" and name == "tree"  # only for type checking
            assert lazily or ORDER.index(name) < place, f"{path.name} imports {name}"


def test_compiled_code_lives_in_one_file():
    for path in PACKAGE.rglob("*.py"):
        decorated = [line for line in path.read_text().splitlines() if line.startswith("@njit")]
        assert not decorated or path.stem == "_kernels"

"""Packages are layers: each imports only from those above it in the list."""

import ast
from pathlib import Path

import pytest

import oc1

#: From the bottom up. Inside a package, files are free.
LAYERS = [
    "kernels",
    "impurity",
    "datasets",
    "data",
    "tree",
    "explaining",
    "growing",
    "learners",
    "baselines",
    "evaluation",
    "files",
    "conversion",
    "plotting",
    "explore",
    "animation",
    "dask",
    "experiments",
    "_warmup",
    "demo",
    "cli",
    "__main__",
]
PACKAGE = Path(oc1.__file__).parent


def layer_of(module):
    """Return the layer that a module like ``oc1.tree.text`` belongs to; "" for the package itself."""
    return module.split(".")[1] if "." in module else ""


def imports(path, root):
    """List (line, module) of what a file imports of this package, at its top, inside functions, or by name."""
    package = ["oc1", *path.relative_to(root).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names if alias.name.split(".")[0] == "oc1")
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            if module == "oc1":
                yield from ((node.lineno, f"oc1.{alias.name}") for alias in node.names)
            elif module.startswith("oc1."):
                yield node.lineno, module
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module") and node.args:
            name = node.args[0]
            if isinstance(name, ast.Constant) and str(name.value).startswith(("oc1", ".")):
                yield node.lineno, f"oc1{name.value}" if name.value.startswith(".") else name.value


def violations(root):
    """List the imports that point up, each as ``file:line: layer imports module``."""
    public = dict.fromkeys(oc1.__all__, "")
    found = []
    for path in sorted(root.rglob("*.py")):
        own = layer_of(".".join(["oc1", *path.relative_to(root).with_suffix("").parts]))
        if own != "__init__":  # the public names, imported when asked for
            allowed = {*LAYERS[: LAYERS.index(own) + 1], *public, ""}
            wrong = [(line, name) for line, name in imports(path, root) if layer_of(name) not in allowed]
            found += [
                f"{path.relative_to(root).as_posix()}:{line}: {own} imports {name}" for line, name in sorted(wrong)
            ]
    return found


def test_imports_point_down():
    found = violations(PACKAGE)
    assert not found, "\n".join(["imports that point up:", *found])


@pytest.mark.parametrize(
    "line",
    [
        "from ..files import tables",
        "from oc1.files.tables import parsing",
        "import oc1.cli.app",
        "def f():\n    from ..learners.classifier import OC1Classifier",
        "from oc1 import files",
        "importlib.import_module('oc1.dask')",
        "import_module('.dask', 'oc1')",
    ],
)
def test_imports_that_point_up_are_found_with_file_and_line(line, tmp_path):
    (tmp_path / "tree").mkdir()
    path = tmp_path / "tree" / "text.py"
    path.write_text("from ..kernels import records\nfrom oc1 import OC1Classifier\n")
    assert violations(tmp_path) == []
    path.write_text(f"from ..kernels import records\n{line}\n")
    (found,) = violations(tmp_path)
    assert found.startswith(f"tree/text.py:{line.count(chr(10)) + 2}: tree imports oc1.")


def test_every_part_of_the_package_has_a_layer():
    parts = {path.stem if path.suffix == ".py" else path.name for path in PACKAGE.iterdir()}
    assert parts - {"__init__", "__pycache__", "py.typed"} == set(LAYERS)

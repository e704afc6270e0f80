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


def imports(path):
    """List the modules of this package that a file imports, at its top, inside functions, or by name."""
    package = ["oc1", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "oc1")
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            if module == "oc1":
                yield from (f"oc1.{alias.name}" for alias in node.names)
            elif module.startswith("oc1."):
                yield module
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module") and node.args:
            name = node.args[0]
            if isinstance(name, ast.Constant) and str(name.value).startswith(("oc1", ".")):
                yield f"oc1{name.value}" if name.value.startswith(".") else name.value


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path):
    own = layer_of(".".join(["oc1", *path.relative_to(PACKAGE).with_suffix("").parts]))
    if own == "__init__":  # the public names, imported when asked for
        return
    below = LAYERS[: LAYERS.index(own) + 1]
    public = dict.fromkeys(oc1.__all__, "")
    wrong = [name for name in imports(path) if layer_of(name) not in {*below, *public, ""}]
    assert not wrong, f"{own} imports {', '.join(wrong)}"


def test_every_part_of_the_package_has_a_layer():
    parts = {path.stem if path.suffix == ".py" else path.name for path in PACKAGE.iterdir()}
    assert parts - {"__init__", "__pycache__", "py.typed"} == set(LAYERS)

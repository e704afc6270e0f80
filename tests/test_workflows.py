"""The files that say what is checked where: valid, and in agreement with each other."""

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import nox
import pytest
from pre_commit.clientlib import load_config
from ruamel.yaml import YAML
from waiting import MAX_WAIT_SECONDS

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
OLDEST = "3.11"


def load(path):
    return YAML(typ="safe").load(ROOT / path)


def jobs():
    return [(path.stem, name, job) for path in WORKFLOWS for name, job in load(path)["jobs"].items()]


def steps():
    return [(f"{file}/{name}", step) for file, name, job in jobs() for step in job["steps"]]


def check_schema(schema, path):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=MAX_WAIT_SECONDS)


@pytest.fixture(scope="module")
def noxfile():
    spec = importlib.util.spec_from_file_location("noxfile", ROOT / "noxfile.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def sessions(noxfile):
    """The sessions by name, and one name for each version of Python where there are several."""
    names = set()
    for name, function in nox.registry.get().items():
        versions = [function.python] if isinstance(function.python, str) else function.python or []
        names |= {name, *(f"{name}-{version}" for version in versions)}
    return names


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        *(("github-workflows", path) for path in WORKFLOWS),
        ("dependabot", ROOT / ".github" / "dependabot.yml"),
        ("readthedocs", ROOT / ".readthedocs.yaml"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_files_obey_their_schema(schema, path):
    done = check_schema(f"vendor.{schema}", path)
    assert done.returncode == 0, done.stdout


def test_a_faulty_workflow_is_found(tmp_path):
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert "runs-on:" in text
    (tmp_path / "ci.yml").write_text(text.replace("runs-on:", "run-on:"), encoding="utf-8")
    assert check_schema("vendor.github-workflows", tmp_path / "ci.yml").returncode == 1


def test_hooks_are_valid_and_pinned():
    for repo in load_config(ROOT / ".pre-commit-config.yaml")["repos"]:
        assert re.fullmatch(r"v?\d+\.\d+(\.\d+)?", repo["rev"]), repo["repo"]


def test_every_file_agrees_on_the_versions_of_python(noxfile):
    matrix = load(".github/workflows/ci.yml")["jobs"]["tests"]["strategy"]["matrix"]
    versions = matrix["python-version"]
    assert versions[0] == OLDEST
    assert PROJECT["project"]["requires-python"] == f">={OLDEST}"
    named = [line.split(" :: ")[-1] for line in PROJECT["project"]["classifiers"] if "Python :: 3." in line]
    assert named == versions
    assert list(noxfile.PYTHON_VERSIONS) == versions
    assert noxfile.tests.python == noxfile.PYTHON_VERSIONS
    assert noxfile.lowest.python == OLDEST
    assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]


def test_workflows_run_sessions_that_there_are(sessions):
    versions = load(".github/workflows/ci.yml")["jobs"]["tests"]["strategy"]["matrix"]["python-version"]
    asked = set()
    for where, step in steps():
        command = step.get("run", "")
        if command.startswith("nox"):
            name = re.fullmatch(r'nox -s "?([^"]+)"?', command)[1]
            asked |= {name.replace("${{ matrix.python-version }}", version) for version in versions}
        else:
            assert command in ("", "pip install nox uv", "exit 1"), where
    assert asked <= sessions
    # Whatever can be checked is checked somewhere.
    assert {name.split("-")[0] for name in sessions} == {name.split("-")[0] for name in asked}


def test_workflows_may_do_only_what_they_need():
    for path in WORKFLOWS:
        workflow = load(path)
        assert workflow["permissions"] == {}, path.name
        assert "concurrency" in workflow, path.name
    for file, name, job in jobs():
        allowed = {"id-token": "write"} if (file, name) == ("release", "publish") else {"contents": "read"}
        assert job["permissions"] in ({}, allowed), name
        assert "timeout-minutes" in job, name
    for where, step in steps():
        assert re.fullmatch(r"(actions/[\w-]+@v\d+|pypa/gh-action-pypi-publish@release/v1)?", step.get("uses", "")), (
            where
        )
        if step.get("uses", "").startswith("actions/checkout"):
            assert step["with"] == {"persist-credentials": False}, where


def test_a_release_is_published_without_a_token():
    publish = load(".github/workflows/release.yml")["jobs"]["publish"]
    assert publish["environment"]
    assert publish["needs"] == "build"
    assert "with" not in publish["steps"][-1]
    assert "secrets." not in (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")


def test_one_job_waits_for_all_others():
    all_jobs = load(".github/workflows/ci.yml")["jobs"]
    assert {*all_jobs["pass"]["needs"], "pass"} == set(all_jobs)

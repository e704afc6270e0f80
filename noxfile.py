#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.5.1"]
# ///
"""What is checked, each check in an environment of its own: ``nox`` runs the defaults, ``nox -s lint`` one of them.

What follows ``--`` is passed on: ``nox -s tests-3.13 -- tests/kernels -x``.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import nox

nox.needs_version = ">=2025.5.1"
nox.options.default_venv_backend = "uv|virtualenv"

ROOT = Path(__file__).parent
PROJECT = nox.project.load_toml(ROOT / "pyproject.toml")
PYTHON_VERSIONS = nox.project.python_versions(PROJECT)
OLDEST = PYTHON_VERSIONS[0]
WORKFLOWS = [str(path.relative_to(ROOT)) for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))]


def install_group(session: nox.Session, group: str) -> None:
    """Install a dependency group, with any version of pip."""
    session.install(*nox.project.dependency_groups(PROJECT, group))


def run_tests(session: nox.Session, *options: str) -> None:
    """Run all tests, slow ones, too, on all cores, or what was asked for after ``--``."""
    session.run("python", "-m", "pytest", *options, *(session.posargs or ["-n", "auto", "-m", ""]))


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, spelling, Markdown and workflows: what the pre-commit hooks check, without changing anything."""
    install_group(session, "lint")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("codespell")
    session.run("rumdl", "check", ".")
    session.run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS)
    session.run("check-jsonschema", "--builtin-schema", "vendor.dependabot", ".github/dependabot.yml")
    session.run("check-jsonschema", "--builtin-schema", "vendor.readthedocs", ".readthedocs.yaml")
    session.run("check-jsonschema", "--builtin-schema", "vendor.citation-file-format", "CITATION.cff")
    session.run("zizmor", "--offline", ".github")


@nox.session
def typecheck(session: nox.Session) -> None:
    """Check the types."""
    session.install(".[dev]")
    session.run("mypy", *session.posargs)


@nox.session(python=PYTHON_VERSIONS)
def tests(session: nox.Session) -> None:
    """Run the tests with the latest versions of the dependencies, and what only some recipes of the guide need."""
    session.install(".[test]", "shap")
    run_tests(session)


@nox.session(python=OLDEST, venv_backend="uv", default=False)
def lowest(session: nox.Session) -> None:
    """Run the tests with the lowest versions of the dependencies that pyproject.toml allows."""
    session.install("--resolution=lowest-direct", ".[test]")
    run_tests(session, "-W", "default")  # what old versions warn of has been mended in later ones


@nox.session(default=False)
def coverage(session: nox.Session) -> None:
    """Measure which lines and branches the tests run.

    Compiled code counts as never run, unless Numba is told not to compile, which is slow:
    ``NUMBA_DISABLE_JIT=1 nox -s coverage -- tests/kernels``.
    """
    install_group(session, "coverage")
    session.install("-e", ".[test]")
    run_tests(session, "--cov", "--cov-report=term", "--cov-report=xml", "--cov-report=html")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the guide; its examples run, and any warning fails."""
    session.install(".[docs]")
    session.run("python", "-m", "sphinx", "-W", "docs", "build/docs", *session.posargs)


@nox.session
def newcomer(session: nox.Session) -> None:
    """Run the script of the README in an empty folder: it makes its own environment, and installs the package there."""
    session.chdir(session.create_tmp())
    session.run("sh", str(ROOT / "examples" / "newcomer.sh"), str(ROOT), external=True)


@nox.session
def build(session: nox.Session) -> None:
    """Build sdist and wheel, and check what is in them."""
    install_group(session, "build")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    session.run("python", "-m", "build")
    files = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "dist").iterdir())]
    session.run("twine", "check", "--strict", *files)
    session.run("check-wheel-contents", *(name for name in files if name.endswith(".whl")))


@nox.session(default=False)
def release(session: nox.Session) -> None:
    """Install the wheel that ``build`` made into an empty environment, and run the script of the README with it."""
    (wheel,) = (ROOT / "dist").glob("oc1-*-none-any.whl")
    session.chdir(session.create_tmp())
    session.run("sh", str(ROOT / "examples" / "newcomer.sh"), str(wheel), external=True)


if __name__ == "__main__":
    nox.main()

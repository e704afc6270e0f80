"""What holds for every command."""

import os
import re
import subprocess
import sys

import pytest
from command_line import iris_frame, run, start
from typer.testing import CliRunner
from waiting import MAX_WAIT_SECONDS

from oc1 import load_model
from oc1.cli.app import COMMANDS, app
from oc1.cli.commands.convert import ENDINGS, NUMBERS
from oc1.cli.commands.generate import FORMATS as WRITTEN
from oc1.cli.options import FORMATS
from oc1.learners.registry import LEARNERS


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_help_has_an_example(command):
    text = run(command, "--help").stdout
    assert re.search(rf"Examples?: oc1 {command}", text)


@pytest.mark.parametrize(
    ("command", "choices"),
    [("cv", LEARNERS), ("generate", WRITTEN), ("classify", FORMATS), ("convert", [*ENDINGS, *NUMBERS])],
)
def test_help_has_all_choices(command, choices):
    words = set(re.findall(r"[\w-]+", run(command, "--help").stdout))
    assert set(choices) <= words


def test_version():
    assert run("--version").stdout.startswith("oc1 0.")


def test_without_arguments_there_is_help():
    done = CliRunner().invoke(app, [])
    assert "Usage: oc1" in done.output


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell):
    variables = {"_OC1_COMPLETE": f"complete_{shell}", "COMP_WORDS": "oc1 tr", "COMP_CWORD": "1"}
    variables |= {"_TYPER_COMPLETE_ARGS": "oc1 tr", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    done = subprocess.run(
        [sys.executable, "-c", "from oc1.__main__ import main; main()"],
        env={**os.environ, **variables}, capture_output=True, text=True, timeout=MAX_WAIT_SECONDS,
    )  # fmt: skip
    assert "train" in done.stdout
    assert "classify" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "iris.csv", "--n-restarts", "many"], "Invalid value for '--n-restarts'"),
        (["fly"], "No such command 'fly'"),
        (["train", "iris.csv", "--wings"], "-P NAME=VALUE sets any parameter of the learner"),
    ],
)
def test_wrong_options_are_one_sentence(arguments, message, iris):
    process = start(*arguments)
    out, errors = process.communicate(timeout=MAX_WAIT_SECONDS)
    assert (process.returncode, out, errors.count("\n")) == (2, "", 1)
    assert errors.startswith("error: ")
    assert message in errors


def test_nothing_that_is_read_is_overwritten(model, iris):
    before = model.read_bytes()
    for arguments in (
        ["classify", model, "iris.csv", "-o", iris / "iris.csv"],
        ["test", model, "iris.csv", "--misclassified", "iris.csv"],
        ["convert", model, "--to", "python", "-o", model],
        ["explore", model, "iris.csv", "-o", "iris.csv"],
    ):
        assert "is one of the input files" in run(*arguments, code=2).stderr
    assert "must end in .csv" in run("classify", model, "iris.csv", "-o", model, code=2).stderr
    assert model.read_bytes() == before
    assert (iris / "iris.csv").stat().st_size > 1000


def test_pipes_and_links_are_written_to(model, iris):
    os.mkfifo("pipe.csv")
    process = subprocess.Popen(["cat", "pipe.csv"], stdout=subprocess.PIPE, text=True)
    run("classify", model, "iris.csv", "-o", "pipe.csv")
    assert len(process.communicate(timeout=MAX_WAIT_SECONDS)[0].splitlines()) == 151
    assert not os.path.isfile("pipe.csv")
    os.symlink("loop.json", "loop.json")
    run("train", "iris.csv", "-o", "loop.json", "--holdout", 0)
    assert load_model("loop.json").get_n_leaves() == 3
    os.symlink("real.json", "link.json")
    run("train", "iris.csv", "-o", "link.json", "--holdout", 0)
    assert os.path.islink("link.json")
    assert load_model("real.json").get_n_leaves() == 3


def test_a_dash_is_stdout(model, iris):
    assert run("classify", model, "iris.csv", "-o", "-").stdout == run("classify", model, "iris.csv").stdout
    assert run("generate", "pol", "-n", 3, "-o", "-").stdout.startswith("x1,x2,class\n")
    assert not os.path.exists("-")


def test_letters_that_the_terminal_has_not(iris):
    (iris / "umlaut.csv").write_text("\n".join(["1,mäh"] * 9 + ["2,muh"] * 9), encoding="utf-8")
    process = start("train", "umlaut.csv", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    out, errors = process.communicate(timeout=MAX_WAIT_SECONDS)
    assert process.returncode == 0, errors
    assert "m\\xe4h" in out


def test_names_cannot_change_the_terminal(iris):
    frame = iris_frame().rename({"petal_wid": "pet\x1b[31mal"})
    frame.write_csv("red.csv")
    assert "\x1b" not in run("train", "red.csv", "-vv", "--prune", "none").stdout


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_may_be_closed(closed, iris):
    command = f"{sys.executable} -m oc1 train iris.csv -o iris.json --holdout 0 {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=MAX_WAIT_SECONDS)
    assert (done.returncode, "Traceback" in done.stdout + done.stderr) == (0, False)
    assert load_model("iris.json").get_n_leaves() == 3
    done = subprocess.run(
        ["sh", "-c", command.replace("iris.csv", "-")],
        capture_output=True, text=True, timeout=MAX_WAIT_SECONDS, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == ("" if "2>" in closed else "error: standard input: is empty\n")


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_a_terminal_of_80_columns(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    lines = run(*[command] * bool(command), "--help").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert not any(line.endswith("...") for line in lines if not line.startswith("Usage"))  # nothing is cut off


def test_without_typer_the_command_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None; from oc1.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=MAX_WAIT_SECONDS)
    assert done.returncode == 1
    assert done.stderr == (
        'error: the command line needs typer, rich and polars; install them with: pip install "oc1[cli]"\n'
    )


def test_models_that_are_none(iris):
    (iris / "model.json").write_text("{}")
    assert run("show", "model.json", code=1).stderr.startswith("error: model.json: ")
    (iris / "model.pkl").write_bytes(b"\x80\x04\x95")
    assert "is a pickle, which is never read" in run("classify", "model.pkl", "iris.csv", code=1).stderr
    assert run("test", "none.json", "iris.csv", code=1).stderr.startswith("error: none.json: ")

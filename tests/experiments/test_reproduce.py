import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from small_experiment import run
from typer.testing import CliRunner
from waiting import MAX_WAIT_SECONDS, comes_true, obeying_ctrl_c

from oc1.cli.app import app
from oc1.experiments import reproduce as runner
from oc1.experiments.definitions import Cell, Experiment
from oc1.experiments.report import QUICK


def test_results_do_not_depend_on_jobs(experiment, tmp_path):
    entry = run(experiment, tmp_path / "one")
    run(experiment, tmp_path / "two", n_jobs=2)
    results = [(tmp_path / name / "results.json").read_bytes() for name in ("one", "two")]
    assert results[0] == results[1]
    assert json.loads(results[0])["tiny"] == json.loads(json.dumps(entry))
    assert b"seconds" not in results[0]
    assert set(json.loads((tmp_path / "one" / "timings.json").read_text())["tiny"]) == {
        f"{data} / {learner}" for data in ("POL", "LS10") for learner in ("small", "smaller")
    }
    assert len(entry["records"]) == 2 * 2 * 2 * 5


def test_what_is_in_the_journal_is_not_computed_again(experiment, tmp_path, monkeypatch):
    first = run(experiment, tmp_path)
    (path,) = tmp_path.glob("*.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-7]) + lines[-7][:20])
    computed, said = [], []
    run_tasks = runner.run_tasks
    monkeypatch.setattr(runner, "run_tasks", lambda tasks, n: computed.extend(tasks) or run_tasks(tasks, n))
    again = runner.reproduce(experiment, tmp_path, repeats=2, n_samples=100, say=said.append)
    assert (len(computed), again) == (7, first)
    assert said == [f"tiny: 33 of 40 folds are already in {path}"]
    run(experiment, tmp_path)
    assert len(computed) == 7
    run(experiment, tmp_path, fresh=True)
    assert len(computed) == 47


@pytest.mark.slow
def test_ctrl_c_says_how_to_go_on_and_keeps_what_was_done(experiment, tmp_path, monkeypatch):
    undisturbed = run(experiment, tmp_path / "other")
    run_tasks = runner.run_tasks

    def interrupted(tasks, n_jobs):
        for number, record in enumerate(run_tasks(tasks, n_jobs)):
            if number == 11:
                raise KeyboardInterrupt
            yield record

    monkeypatch.setattr(runner, "run_tasks", interrupted)
    with pytest.raises(runner.Interrupted, match="after 11 of 40 folds; run the same command to continue"):
        run(experiment, tmp_path)
    monkeypatch.setattr(runner, "run_tasks", run_tasks)
    assert run(experiment, tmp_path) == undisturbed


@pytest.mark.slow
def test_another_seed_gives_other_results_beside(experiment, tmp_path):
    one, other = run(experiment, tmp_path), run(experiment, tmp_path, seed=1)
    assert one["records"] != other["records"]
    assert len(list(tmp_path.glob("*.jsonl"))) == 2


@pytest.mark.slow
def test_changed_code_does_not_go_on_with_the_results_of_the_old(experiment, tmp_path, monkeypatch):
    run(experiment, tmp_path)
    monkeypatch.setattr(runner, "code_digest", lambda: "other")
    computed = []
    run_tasks = runner.run_tasks
    monkeypatch.setattr(runner, "run_tasks", lambda tasks, n: computed.extend(tasks) or run_tasks(tasks, n))
    run(experiment, tmp_path)
    assert len(computed) == 40


WITHOUT = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("polars", "typer", "rich", "matplotlib"):
            raise ImportError(name)
sys.meta_path.insert(0, Block())
from pathlib import Path
from oc1.experiments.definitions import make_experiments
from oc1.experiments.reproduce import reproduce
if __name__ == "__main__":
    options = {"repeats": 1, "only": ["iris"], "n_jobs": 2}
    reproduce(make_experiments()["jumps"], Path(sys.argv[1]), data=Path(sys.argv[2]), **options)
"""


def test_python_reproduces_without_the_packages_of_the_command_line(tmp_path, shared_data):
    line = [sys.executable, "-c", WITHOUT, str(tmp_path), str(shared_data)]
    subprocess.run(line, check=True, capture_output=True)
    assert "| iris | OC1 20:5 paper |" in (tmp_path / "jumps.md").read_text()


def test_a_missing_set_is_skipped_aloud(experiment, tmp_path):
    more = Experiment("more", "More", "-", (*experiment.cells, Cell("dim", "small", experiment.cells[0].estimator)))
    said = []
    entry = runner.reproduce(more, tmp_path, repeats=1, n_samples=100, say=said.append)
    assert entry["skipped"] == said
    assert said[0].startswith("dim is skipped")
    assert "dim is skipped" in (tmp_path / "more.md").read_text()
    only = Experiment("only", "Only", "-", more.cells[-1:])
    with pytest.raises(ValueError, match="none of its data sets is available: dim"):
        run(only, tmp_path)


def command(out, *more):
    line = "-m oc1 reproduce measures --quick --set POL --repeats 2 --out"
    return [sys.executable, *line.split(), str(out), *more]


def count_lines(folder):
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("*.jsonl"))


def living_members(group):
    """Return the processes of a group that have not ended."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, _, its_group = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
            if int(its_group) == group and state != "Z":
                found.append(int(folder.name))
    return found


def wait_for_the_end_of(group):
    """Wait until no process of a group is left, where that can be seen."""
    assert comes_true(lambda: living_members(group) == [])


@pytest.mark.slow
def test_kill_9_leaves_no_worker_behind_and_what_was_done_to_go_on_from(tmp_path):
    subprocess.run(command(tmp_path / "calm"), check=True, capture_output=True)
    killed = tmp_path / "killed"
    process = subprocess.Popen(
        command(killed, "--jobs", "2"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, process_group=0
    )
    try:
        assert comes_true(lambda: count_lines(killed) >= 20)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == -signal.SIGKILL
    wait_for_the_end_of(process.pid)
    assert 20 <= count_lines(killed) < 1 + 12 * 5 * 2
    assert not (killed / "results.json").exists()
    (path,) = killed.glob("*.jsonl")
    with path.open("ab") as file:
        file.write(b'{"data": "POL", "dep')
    resumed = subprocess.run(command(killed, "--jobs", "2"), check=True, capture_output=True, text=True)
    assert "of 120 folds are already in" in resumed.stderr
    assert QUICK in resumed.stdout
    assert (killed / "results.json").read_bytes() == (tmp_path / "calm" / "results.json").read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_a_real_ctrl_c_ends_in_one_line_and_all_workers(tmp_path):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with obeying_ctrl_c():
        process = subprocess.Popen(command(tmp_path, "--jobs", "2"), process_group=0, **pipes)
    assert comes_true(lambda: count_lines(tmp_path) >= 5 or process.poll() is not None)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers as well
    _, errors = process.communicate(timeout=MAX_WAIT_SECONDS)
    assert process.returncode == 130
    wait_for_the_end_of(process.pid)
    # Sets that are not installed, and compiling, are said, too.
    lines = [line for line in errors.splitlines() if " is skipped: " not in line and "compiling kernels" not in line]
    assert len(lines) == 1
    assert "run the same command to continue" in lines[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table2", "--repeats", "0"], "--repeats"),
        (["table2", "--jobs", "0"], "--jobs"),
        (["table2", "--seed", "-1"], "--seed"),
        (["table3"], "unknown experiment 'table3'; choose from table1"),
        (["peers"], "'peers' goes beyond the paper: python benchmarks/compare.py peers, in the repository, runs it"),
        ([], "name an experiment"),
    ],
)
def test_bad_options_are_named(arguments, message):
    done = CliRunner().invoke(app, ["reproduce", "--quick", *arguments])
    assert done.exit_code == 2
    assert message in done.stderr


def test_a_data_folder_that_is_not_there_is_an_error(tmp_path):
    arguments = ["reproduce", "table1", "--data", str(tmp_path / "no"), "--out", str(tmp_path)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 1
    assert "there is no such folder" in done.stderr


def test_a_set_that_the_experiment_has_not_is_named(tmp_path):
    done = CliRunner().invoke(app, ["reproduce", "table1", "--set", "iris", "--set", "bear", "--out", str(tmp_path)])
    assert done.exit_code == 1
    assert "table1 has no data set 'bear'; it has bright" in done.stderr

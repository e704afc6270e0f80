import json
import os
import re
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from functools import partial

import pytest
from small_experiment import run

import oc1.experiments
from oc1.experiments import reproduce as runner
from oc1.experiments import results
from oc1.experiments.definitions import Cell, Experiment, Published, both_for, cross
from oc1.files.problems import FileProblem


@pytest.mark.slow
def test_several_experiments_share_a_folder(experiment, tmp_path):
    run(experiment, tmp_path)
    run(Experiment("second", "Another", "-", experiment.cells[:1]), tmp_path)
    assert set(json.loads((tmp_path / "results.json").read_text())) == {"tiny", "second"}
    text = (tmp_path / "report.html").read_text()
    assert "A &lt;tiny&gt; experiment" in text
    assert "Another" in text


def test_charts_get_our_values_and_the_paper_s(experiment, tmp_path, monkeypatch):
    drawn = {}

    class Figures:
        @staticmethod
        def bar_chart(rows, path):
            drawn[path.name] = rows

        @staticmethod
        def restarts_curve(points, path):
            drawn[path.name] = points

    monkeypatch.setattr(results, "_drawing", lambda module, say: Figures)
    small = experiment.cells[0].estimator
    published = Experiment("p", "P", "-", (Cell("POL", "small", small, Published(92.0, 1.0)), experiment.cells[1]))
    entry = run(published, tmp_path)
    assert drawn["p-chart.png"] == entry["cells"][:1]
    assert drawn["p-chart.png"][0]["paper"]["accuracy"] == 92.0
    curves = cross(("POL",), both_for("R={}", "n_restarts", (1, 2)))
    run(Experiment("c", "C", "-", curves, is_curve=True), tmp_path)
    for curve in ("paper", "defaults"):
        assert [point["restarts"] for point in drawn[f"c-chart-{curve}.png"]] == [1, 2]
    assert set(drawn["c-chart-paper.png"][0]) >= {"data", "restarts", "accuracy", "accuracy_sd", "leaves"}


def test_without_matplotlib_the_tables_are_written_all_the_same(experiment, tmp_path, monkeypatch):
    for name in {"matplotlib"} | {name for name in sys.modules if name.startswith("matplotlib.")}:
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("charts", "figures"):  # other tests may have imported them
        monkeypatch.delitem(sys.modules, f"oc1.experiments.{name}", raising=False)
        monkeypatch.delattr(oc1.experiments, name, raising=False)
    said = []
    published = Experiment("p", "P", "-", (Cell("POL", "small", experiment.cells[0].estimator, Published(92.0, 1.0)),))
    runner.reproduce(published, tmp_path, repeats=1, n_samples=100, say=said.append)
    assert "no pictures" in said[0]
    assert (tmp_path / "p.md").exists()
    assert results.draw_figures(tmp_path, 0, said.append) == []


def test_a_folder_of_an_earlier_version_is_added_to(experiment, tmp_path):
    entry = run(experiment, tmp_path)
    # As version d072fbb wrote them: they do not say whether they are quick, and some go beyond the paper.
    old = {name: value for name, value in entry.items() if name != "is_quick"}
    contest = {"contest": {"sets": [], "leads": {}, "versions": {}}, "failures": {}, "overview": {}}
    written = {"table2": old, "further": old | {"source": "log"}, "suite": old | contest}
    (tmp_path / "results.json").write_text(json.dumps(written))
    (tmp_path / "timings.json").write_text('{"suite": {"POL / small": {"seconds": 0.5, "ratio": 2.0}}}')
    run(experiment, tmp_path)
    assert json.loads((tmp_path / "results.json").read_text()).keys() == {"tiny", *written}
    assert json.loads((tmp_path / "timings.json").read_text()).keys() == {"tiny", "suite"}
    page = (tmp_path / "report.html").read_text()
    assert re.findall('<h2 id="([^"]+)"', page) == ["table2", "tiny"]


def test_two_processes_do_not_lose_each_other_s_results(experiment, tmp_path, monkeypatch):
    entry = run(experiment, tmp_path)
    both_have_read = threading.Barrier(2)
    read = results._read

    def slow_read(path):
        content = read(path)
        with suppress(threading.BrokenBarrierError):
            both_have_read.wait(0.3)  # time for the other one to read the same, unless it has to wait
        return content

    monkeypatch.setattr(results, "_read", slow_read)
    names = ["first", "second"]
    threads = [
        threading.Thread(
            target=results.write_results, args=(tmp_path, replace(experiment, name=name), entry, [], print)
        )
        for name in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert json.loads((tmp_path / "results.json").read_text()).keys() == {"tiny", *names}
    assert json.loads((tmp_path / "timings.json").read_text()).keys() == {"tiny", *names}


def test_a_report_is_there_whole_or_not_at_all(experiment, tmp_path, monkeypatch):
    run(experiment, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def replace_unless(name, source, target, replacing=os.replace):
        if str(target).endswith(name):
            raise KeyboardInterrupt
        replacing(source, target)

    monkeypatch.setattr(results.report, "STYLE", "other")
    for name in ("results.json", "timings.json", "tiny.md", "report.html"):
        monkeypatch.setattr(os, "replace", partial(replace_unless, name))
        with pytest.raises(KeyboardInterrupt):
            run(experiment, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_impossible_results_are_not_counted(experiment, tmp_path):
    run(experiment, tmp_path)
    (path,) = tmp_path.glob("*.jsonl")
    lines = path.read_text().splitlines(keepends=True)
    record = json.loads(lines[5])
    for change, reason in (({"fold": 5}, "there is no fold 5"), ({"n_test": 19, "n_correct": 1}, "has 20 examples")):
        path.write_text("".join([*lines[:5], json.dumps(record | change) + "\n", *lines[6:]]))
        with pytest.raises(FileProblem, match=rf"line 6: not a line of a journal \(.*{reason}"):
            run(experiment, tmp_path)

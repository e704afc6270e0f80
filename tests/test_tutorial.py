"""The tutorial notebook runs, shows what it says, and is committed without output."""

from pathlib import Path

import pytest

PATH = Path(__file__).parents[1] / "examples" / "tutorial.ipynb"


@pytest.fixture(scope="module")
def tutorial():
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    notebook = nbformat.read(PATH, as_version=4)
    nbformat.validate(notebook)
    return notebook


def test_no_output_is_committed(tutorial):
    code = [cell for cell in tutorial.cells if cell.cell_type == "code"]
    assert [cell for cell in code if cell.outputs or cell.execution_count is not None] == []


@pytest.mark.slow
def test_all_cells_run_and_show_something(tutorial, tmp_path):
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    executed = tutorial.copy()
    nbclient.NotebookClient(executed, timeout=600, resources={"metadata": {"path": tmp_path}}).execute()
    assert {path.name for path in tmp_path.iterdir()} == {"cancer.json", "cancer.html"}
    outputs = [output for cell in executed.cells for output in cell.get("outputs", ())]
    assert not [output for output in outputs if output.get("name") == "stderr" and "Warning" in output.text]
    results = [output.data for output in outputs if output.output_type == "execute_result"]
    shown = "".join(data.get("text/html", "") for data in results)
    for part in ("oc1-tree", "oc1-table", "<iframe", "<svg"):
        assert part in shown
    assert max(len(data["text/plain"]) for data in results) < 10_000  # tables and sentences, not the text of a page

import pytest
from command_line import iris_frame, run


@pytest.fixture
def iris(tmp_path, monkeypatch):
    """A folder with iris.csv in which the commands run."""
    monkeypatch.chdir(tmp_path)
    iris_frame().write_csv("iris.csv")
    return tmp_path


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of iris."""
    folder = tmp_path_factory.mktemp("iris")
    iris_frame().write_csv(folder / "iris.csv")
    run("train", folder / "iris.csv", "-o", folder / "iris.json")
    return folder / "iris.json"

import pytest

from oc1.experiments import charts


@pytest.fixture
def kept(monkeypatch):
    """The figures that would have been written."""
    figures_kept = []
    monkeypatch.setattr(charts, "save", lambda figure, path: figures_kept.append(figure))
    return figures_kept


def result(data, learner, ours, paper, ours_sd=0.5, paper_sd=0.4):
    published = {"accuracy": paper, "accuracy_sd": paper_sd}
    return {"data": data, "learner": learner, "accuracy": ours, "accuracy_sd": ours_sd, "paper": published}


def test_bars_reach_the_accuracies_and_the_axis_says_where_it_starts(kept):
    rows = [result("iris", "OC1", 95.0, 94.7), result("iris", "mine", 90.0, 92.5, None, None)]
    charts.bar_chart([*rows, result("POL", "OC1", 99.6, 99.3)], "somewhere.png")
    iris, pol = kept[0].axes
    assert [iris.get_title(), pol.get_title()] == ["iris", "POL"]
    assert [bar.get_y() + bar.get_height() for bar in iris.patches] == pytest.approx([94.7, 92.5, 95.0, 90.0])
    floor = iris.get_ylim()[0]
    assert 50 < floor < 89.5
    assert all(bar.get_y() == floor for bar in iris.patches)
    assert iris.get_ylabel() == f"accuracy (%), axis starts at {floor:g}"
    assert [text.get_text() for text in iris.texts] == ["94.7", "92.5", "95.0", "90.0"]
    assert pol.get_ylim()[1] >= 100.1


def test_curve_has_its_points_in_order(kept):
    points = [
        {"data": data, "restarts": n, "accuracy": 90 + n / 10, "accuracy_sd": 0.2, "leaves": 60 / n}
        for data in ("POL", "RCB", "LS10", "iris", "cancer")
        for n in (1, 5, 20)
    ]
    charts.restarts_curve(points, "somewhere.png")
    shown = [ax for ax in kept[0].axes if ax.axison]
    assert len(shown) == 10
    for ax in shown:
        assert ax.get_xscale() == "log"
        assert ax.lines[0].get_xdata().tolist() == [1, 5, 20]
        assert ax.lines[0].get_ydata().tolist() in ([90.1, 90.5, 92], [60, 12, 3])


def test_charts_are_written(tmp_path):
    path = tmp_path / "deep" / "bars.svg"
    for accuracy in (90.0, 91.0):
        charts.bar_chart([result("iris", "OC1", accuracy, 94.7)], path)
    assert "91.0" in path.read_text()
    point = {"data": "POL", "restarts": 1, "accuracy": 99.0, "accuracy_sd": 0.1, "leaves": 5.0}
    charts.restarts_curve([point], tmp_path / "curves" / "one.png")
    assert (tmp_path / "curves" / "one.png").stat().st_size > 5000

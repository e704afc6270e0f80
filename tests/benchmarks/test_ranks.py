import pytest
import ranks


@pytest.fixture
def kept(monkeypatch):
    """The figures that would have been written."""
    figures_kept = []
    monkeypatch.setattr(ranks, "save", lambda figure, path: figures_kept.append(figure))
    return figures_kept


def test_the_critical_difference_is_that_of_the_publication():
    assert round(ranks.critical_difference(4, 14), 2) == 1.25  # Demšar's example


def test_groups_are_as_long_as_they_can_be_and_none_is_inside_another():
    assert ranks.indistinct_groups([1.0, 2.0, 3.0], 5.0) == [(0, 2)]
    assert ranks.indistinct_groups([1.0, 2.0, 3.0], 0.5) == []
    assert ranks.indistinct_groups([1.0, 1.8, 2.5, 2.6, 4.0], 1.0) == [(0, 1), (1, 3)]


def test_rank_diagram_joins_those_that_may_differ_by_chance(kept):
    ranks.rank_diagram({"far": 3.9, "first": 1.2, "near_$": 1.9, "next": 2.9}, 1.0, 12, "somewhere.png")
    (ax,) = kept[0].axes
    assert "12 data sets" in ax.get_title()
    shown = [text.get_text() for text in ax.texts]
    assert shown == [
        *(r"first  1.20", r"near_\$  1.90", "2.90  next", "3.90  far", "critical difference 1.00"),
    ]
    bars = [line.get_xdata() for line in ax.lines if line.get_linewidth() == 4]
    assert [tuple(bar) for bar in bars] == [
        pytest.approx(ends) for ends in ((1.17, 1.93), (1.87, 2.93), (2.87, 3.93), (1, 2))
    ]

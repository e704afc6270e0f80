"""Finding columns by their names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc1.files.problems import FileProblem
from oc1.files.tables import ModelInputs, ReadOptions, read_table, scan_table
from oc1.files.tables.names import find_name, match_names, nearest_first

NAMES = st.lists(st.text("aAbBäÄ ", min_size=1, max_size=2), unique=True, max_size=8)


@given(NAMES, NAMES)
def test_no_column_is_taken_for_two_and_the_same_name_wins(wanted, names):
    found = match_names(wanted, names)
    assert len({*found.values()}) == len(found)
    for name in wanted:
        if name in names:
            assert names[found[name]] == name
        elif name in found:
            assert names[found[name]].strip().casefold() == name.strip().casefold()


@given(NAMES, st.text("aAbBäÄ ", min_size=1, max_size=3))
def test_the_nearest_names_are_all_names_in_another_order(names, wanted):
    assert sorted(nearest_first(wanted, names)) == sorted(names)


def test_one_letter_may_be_written_in_two_ways():
    assert find_name("La\N{COMBINING DIAERESIS}nge", ["Breite", "Länge"]) == 1


@pytest.fixture
def flowers(tmp_path):
    path = tmp_path / "flowers.csv"
    path.write_text("Petal Width,Petal Length,id,Species\n1,2,3,a\n4,5,6,b\n")
    return path


def test_the_case_of_names_does_not_matter(flowers):
    table = read_table(flowers, ReadOptions(target="species", ignore=("ID",)))
    assert (table.target, table.feature_names) == ("Species", ("Petal Width", "Petal Length"))
    inputs = ModelInputs(2, ("PETAL LENGTH", "petal width"), target="SPECIES")
    (batch,) = scan_table(flowers, inputs, labelled=True)
    assert (batch.X.tolist(), batch.y.tolist()) == ([[2, 1], [5, 4]], ["a", "b"])


def test_the_nearest_names_come_first(flowers):
    with pytest.raises(FileProblem, match="no column 'pedal with' for the target; its columns are 'Petal Width'"):
        read_table(flowers, ReadOptions(target="pedal with"))
    with pytest.raises(FileProblem, match="lacks what the model needs: column 'sepal length'; it has 'Petal Length'"):
        list(scan_table(flowers, ModelInputs(1, ("sepal length",)), labelled=False))


def test_several_columns_are_ignored_at_once(flowers):
    assert read_table(flowers, ReadOptions(ignore=("id,petal length",))).feature_names == ("Petal Width",)
    assert read_table(flowers, ReadOptions(ignore=("0, -2",))).feature_names == ("Petal Length",)
    flowers.write_text('"a,b",a,b,class\n1,2,3,x\n4,5,6,y\n')
    assert read_table(flowers, ReadOptions(ignore=("a,b",))).feature_names == ("a", "b")

"""The columns that a model wants."""

import pytest

from oc1.files.inputs import InputColumn, ModelInputs

COLOURS = {"colour": ("red", "green")}


def test_columns_by_name_and_by_position():
    colour = InputColumn("colour", "one_hot", COLOURS["colour"])
    named = ModelInputs(4, ("size", "colour=red", "colour=green", "kind"), COLOURS, ("kind",))
    assert named.columns() == [InputColumn("size", "number"), colour, InputColumn("kind", "text")]
    numbered = ModelInputs(4, None, {"1": ("red", "green")}, ("2",))
    assert [column.title for column in numbered.columns()] == ["0", "1", "2"]
    assert numbered.columns()[1].names == ["1=red", "1=green"]
    empty = ModelInputs(2, None, {"0": ()})
    assert [column.kind for column in empty.columns()] == ["one_hot", "number"]


@pytest.mark.parametrize(
    "inputs",
    [
        ModelInputs(3, ("size", "colour=green", "colour=red"), COLOURS),
        ModelInputs(2, ("size", "colour=red"), COLOURS),
        ModelInputs(2, ("size", "other"), {"size": ("a",)}),
        ModelInputs(2, None, {"7": ("a", "b")}),
        ModelInputs(2, None, {"0": ("a", "b", "c", "d")}),
    ],
)
def test_columns_that_are_not_attributes_are_refused(inputs):
    with pytest.raises(ValueError, match="not attributes of the model"):
        inputs.columns()

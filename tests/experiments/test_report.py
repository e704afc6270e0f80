from dataclasses import asdict

from small_experiment import Page

from oc1.experiments.definitions import Published
from oc1.experiments.report import difference, markdown, page


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
    tables = [part for part in text.split("\n\n") if part.startswith("|")]
    assert [len(table.splitlines()) - 2 for table in tables] == [4, 2, 2]  # cells, means, tests
    for table in tables:
        assert len({line.count("|") for line in table.strip().splitlines()}) == 1


def test_the_page_is_whole_coloured_and_needs_nothing_else(entry, tmp_path):
    for cell, accuracy in zip(entry["cells"], (90.5, 91.5, 93.0), strict=False):
        cell |= {"accuracy": accuracy, "paper": asdict(Published(90.0, 1.0))}
    (tmp_path / "one.png").write_bytes(b"picture")
    shown = Page(page({"tiny": entry}, None, {"tiny": [tmp_path / "one.png"], "figures": [tmp_path / "one.png"]}))
    assert shown.open == []
    assert [name for tag, name in shown.classes if tag == "td" and name] == ["near", "off", "far"]
    assert shown.sources == ["data:image/png;base64,cGljdHVyZQ=="] * 2
    assert not {"script", "link", "iframe"} & set(shown.tags)

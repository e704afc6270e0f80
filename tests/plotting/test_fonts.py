import warnings

import numpy as np
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib import font_manager
from matplotlib.figure import Figure

from oc1 import OC1Classifier
from oc1.plotting import plot_importances, plot_partition, plot_projection, plot_tree
from oc1.plotting.fonts import families_for, letters_without_font
from oc1.plotting.layout import width_of

#: Letters of the test's own font, and one that no font has: Anatolian hieroglyphs.
OWN, NONE = "\U00014400\U00014401", "\U00014402"


def square(width):
    pen = TTGlyphPen(None)
    if width:
        pen.moveTo((0, 0))
        for place in ((0, width), (width, width), (width, 0)):
            pen.lineTo(place)
        pen.closePath()
    return pen.glyph()


def make_font(path, name, letters, width):
    glyphs = {".notdef": square(100)} | {f"own{i}": square(width) for i in range(len(letters))}
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(list(glyphs))
    builder.setupCharacterMap({ord(letter): f"own{i}" for i, letter in enumerate(letters)})
    builder.setupGlyf(glyphs)
    builder.setupHorizontalMetrics(dict.fromkeys(glyphs, (900, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": name, "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(path)


@pytest.fixture
def fonts(tmp_path, monkeypatch):
    """Two fonts of the system: one without outlines, as those of coloured pictures are, and one that can be drawn."""
    usual = [font for font in font_manager.fontManager.ttflist if font.name.startswith("DejaVu")]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", usual)
    for name, letters, width in (("Aaa Pictures", OWN + NONE, 0), ("Own Letters", OWN, 800)):
        make_font(tmp_path / f"{name}.ttf", name, letters, width)
        font_manager.fontManager.addfont(tmp_path / f"{name}.ttf")


def test_letters_come_from_a_font_that_can_draw_them(fonts):
    assert families_for("petal length \N{GREEK SMALL LETTER OMEGA}") == families_for("")
    assert families_for(f"{OWN} petal") == [*families_for(""), "Own Letters"]
    assert families_for(NONE) == families_for("")
    assert letters_without_font(["petal", OWN, NONE + NONE, "\n"]) == NONE


def test_pictures_with_names_in_any_script(fonts):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(np.random.default_rng(0).normal(size=(100, 3)), columns=[OWN, f"a {OWN[0]}", "plain"])
    y = np.where(X.sum(axis=1) > 0, OWN[::-1], "no")
    model = OC1Classifier(random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # matplotlib warns of letters that it lacks
        for plot in (
            lambda ax: plot_tree(model, X, y, ax=ax),
            lambda ax: plot_partition(model, X, y, ax=ax),
            lambda ax: plot_projection(model, 0, X, y, ax=ax),
            lambda ax: plot_importances(model, ax=ax),
        ):
            plot(Figure(layout="constrained").subplots()).figure.canvas.draw()
    assert width_of(OWN) > width_of(OWN[0]) > 5

"""A page as a text that notebooks show in a frame."""

import copy
import html
import pickle

import pytest
from browser import chromium, opened

from oc1 import OC1Classifier
from oc1.datasets import make_rcb
from oc1.explore import Page, explore
from oc1.files.problems import FileProblem

TITLE = 'Corners & "edges" <b>'


@pytest.fixture(scope="module")
def page():
    X, y = make_rcb(150, random_state=0)
    return explore(OC1Classifier(splits="axis", random_state=0).fit(X, y), X, y, title=TITLE)


def test_a_page_is_a_text_of_few_words(page):
    assert isinstance(page, str)
    assert page.heading == TITLE
    assert len(repr(page)) < 120
    assert TITLE in repr(page)
    assert len(repr(Page(f"<title>{'long ' * 100}</title>"))) < 120
    assert Page("").heading == ""
    for other in (copy.deepcopy(page), pickle.loads(pickle.dumps(page))):
        assert other == page
        assert isinstance(other, Page)


def test_saving_writes_the_page_or_nothing(page, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    page.save(path)
    assert path.read_bytes().decode("utf-8") == page
    with pytest.raises(FileProblem, match="cannot be written"):
        page.save(tmp_path / "missing" / "page.html")
    assert [own.name for own in tmp_path.iterdir()] == ["page.html"]


def test_a_notebook_gets_a_frame_with_the_whole_page(page):
    shown = page._repr_mimebundle_()
    assert shown["text/plain"] == repr(page)
    frame = shown["text/html"]
    assert frame.count('"') == 2 * frame.count('="')  # nothing in the page ends an attribute
    assert html.unescape(frame.split('srcdoc="')[1].split('"')[0]) == page
    assert 'sandbox="allow-scripts"' in frame


def test_the_script_runs_in_the_frame(page, tmp_path):
    with chromium() as browser, opened(browser, f"<!DOCTYPE html>{page._repr_html_()}", tmp_path) as window:
        frame = window.frame_locator("iframe")
        frame.locator("#tree [role=treeitem]").first.wait_for()
        assert frame.locator("h1").inner_text() == TITLE
        frame.locator("#theme").click()

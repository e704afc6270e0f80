"""``oc1 explore``."""

import webbrowser

import pytest
from command_line import run


@pytest.mark.parametrize("has_browser", [True, False])
def test_the_page_is_opened_in_a_browser(model, tmp_path, monkeypatch, has_browser):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or has_browser)
    page = tmp_path / "a page.html"
    assert "no browser" not in run("explore", model, "-o", page).stderr
    assert not opened
    done = run("explore", model, "-o", page, "--open")
    assert opened == [page.as_uri()]
    assert ("there is no browser to open it in" in done.stderr) == (not has_browser)

"""A real browser for the tests of pages; they are skipped, with a reason, where there is none."""

import shutil
from contextlib import contextmanager

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@contextmanager
def chromium():
    """Start a headless Chromium."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next((found for found in map(shutil.which, NAMES) if found), None)
    if path is None:
        pytest.skip(f"no Chromium is installed (looked for {', '.join(NAMES)})")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=path, args=["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        )
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser, content, folder, **context):
    """Open a page in a fresh window; when it is done with, nothing must have gone wrong in it.

    Nothing may be loaded but the file itself.
    """
    path = folder / "page.html"
    path.write_text(content, encoding="utf-8")
    troubles, requests = [], []
    window = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **context})
    page = window.new_page()
    page.on("console", lambda message: troubles.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda problem: troubles.append(str(problem)))
    page.on("dialog", lambda dialog: (troubles.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    try:
        yield page
        assert troubles == []
        assert requests == [path.as_uri()]
    finally:
        window.close()

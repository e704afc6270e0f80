"""The search at a node: its record and the page."""

import json
import re
import shutil
from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

from oc1 import OC1Classifier
from oc1.animation.frames import chosen_steps, frames_of, histograms_of, impurity_range, pieces_of
from oc1.animation.page import page_data, page_of, write_page
from oc1.animation.recording import record_search
from oc1.cli.app import app
from oc1.datasets import load_figure5, make_ls10, make_rcb
from oc1.files.problems import FileProblem
from oc1.impurity import MEASURES


@pytest.fixture(scope="module")
def rcb():
    return make_rcb(300, random_state=0)


@pytest.fixture(scope="module")
def plane(rcb):
    return record_search(*rcb, random_state=0)


@pytest.fixture(scope="module")
def flowers():
    return record_search(*load_iris(return_X_y=True), node="r", n_restarts=4, random_state=0)


def split_impurity(criterion, coefficients, threshold, X, y):
    right = X @ coefficients > threshold
    counts = [np.bincount(y[side], minlength=y.max() + 1).astype(float) for side in (~right, right)]
    return MEASURES[criterion].impurity(*counts)


# ------------------------------------------------------------------------------------------------ the record


@pytest.mark.parametrize(
    "settings", [{}, {"preset": "paper"}, {"criterion": "gini", "n_restarts": 3}, {"splits": "oblique"}]
)
def test_the_best_step_is_the_split_that_a_fit_takes(settings, rcb):
    X, y = rcb
    record = record_search(X, y, random_state=3, **settings)
    tree = OC1Classifier(prune=None, max_depth=1, random_state=3, **settings).fit(X, y).tree_
    left, right = tree.counts[tree.children[0]]
    taken = MEASURES[record.criterion].impurity(left, right)
    assert record.steps[record.best[-1]].after == pytest.approx(taken, rel=1e-6)
    features, coefficients, threshold = tree.test(0)
    assert record.split[0][features].tolist() == coefficients.tolist()
    assert record.split[1] == threshold


def test_the_search_below_is_that_of_the_whole_tree(rcb):
    X, y = rcb
    tree = OC1Classifier(prune=None, random_state=0).fit(X, y).tree_
    for path in ("l", "rl"):
        record, node = record_search(X, y, node=path, random_state=0), 0
        for side in path:
            node = tree.children[node]["lr".index(side)]
        assert record.split[1] == tree.test(node)[2]
        assert np.bincount(record.y, minlength=8).tolist() == tree.counts[node].tolist()


@pytest.mark.parametrize("criterion", sorted(MEASURES))
def test_impurities_never_rise_within_a_run(criterion):
    X, y = make_ls10(300, random_state=0)
    y = np.where(np.random.default_rng(0).random(300) < 0.2, 3, y)  # so that no split is pure
    record = record_search(X, y, criterion=criterion, n_restarts=3, n_jumps=40, random_state=1)
    assert {step.kind for step in record.steps} == {"start", "coefficient", "jump"}
    for run in range(1, 4):
        own = [step for step in record.steps if step.run == run]
        assert own[0].kind == "start"
        for before, after in pairwise(own):
            assert after.before == before.after
            assert after.after <= after.before * (1 + 1e-9) + 1e-12
            assert (after.which is None) == (after.kind == "jump")


def test_planes_are_in_the_users_units(plane, rcb):
    X, y = rcb
    labels = np.unique(y, return_inverse=True)[1]
    stretched = record_search(X * [1000.0, 0.01] + [5.0, -7.0], y, random_state=0)
    for record, data in ((plane, X), (stretched, X * [1000.0, 0.01] + [5.0, -7.0])):
        near = 0
        for step in record.steps:
            again = split_impurity("twoing", *step.line, data, labels)
            near += np.isclose(step.after, again, rtol=0.05)  # the search counts with rounded numbers
        assert near >= 0.97 * len(record.steps)


def test_same_seed_same_record(plane, rcb):
    again, other = record_search(*rcb, random_state=0, n_jobs=2), record_search(*rcb, random_state=1)
    assert page_data(plane, 50) == page_data(again, 50)
    assert page_data(plane, 50) != page_data(other, 50)


def test_a_jump_leaves_the_local_minimum_of_figure_5():
    record = record_search(*load_figure5(), n_restarts=0, stagnation=0, random_state=1)
    start, jump = record.steps
    assert jump.kind == "jump"
    assert np.count_nonzero(start.line[0]) == 1
    assert jump.after < jump.before == start.after
    assert "jump" in record.describe(record.steps.index(jump))


def test_missing_values_weights_and_categories(rcb):
    import pandas as pd

    X, y = rcb[0].copy(), rcb[1]
    X[::7, 0] = np.nan
    weights = np.r_[np.zeros(50), np.ones(250)]
    record = record_search(X, y, weights, random_state=0)
    assert record.X.shape == (250, 2)
    assert np.isfinite(record.X).all()
    frame = pd.DataFrame({"a": rcb[0][:, 0], "kind": np.where(rcb[0][:, 1] > 0.5, "up", "down"), "b": rcb[0][:, 1]})
    record = record_search(frame, y, categorical_features=["kind"], random_state=0)
    assert record.feature_names == ("a", "code(kind)", "b")


def test_no_record_without_a_search(rcb):
    X, y = rcb
    with pytest.raises(ValueError, match="path from it of l and r, such as 'lr', got 'left'"):
        record_search(X, y, node="left")
    with pytest.raises(ValueError, match=r"no node 'l+': the node 'l+' is a leaf"):
        record_search(X, y, node="l" * 30, random_state=0)
    for settings, why in [
        ({"splits": "axis"}, "among its 300 examples of 2 attributes, no oblique split .* splits='axis'"),
        ({"min_samples_oblique": 500}, "min_samples_oblique=500"),
        ({"max_depth": 0}, "max_depth=0"),
        ({"prune": "auto"}, "prune='auto'"),  # linear classifiers are fitted instead
    ]:
        with pytest.raises(ValueError, match=f"no search was made at the node 'Root': .*{why}"):
            record_search(X, y, **settings)
    with pytest.raises(ValueError, match="its 300 examples are of one class"):
        record_search(X, np.zeros(300))
    with pytest.raises(ValueError, match="300 examples of 1 attributes"):
        record_search(X[:, :1], y)
    with pytest.raises(ValueError, match="cannot be told apart"):
        record_search(np.ones((300, 2)), y, splits="oblique")
    with pytest.raises(ValueError, match="parameter of OC1Classifier"):
        record_search(X, y, n_jumps=-1)


# ------------------------------------------------------------------------------------------------ frames


def test_frames_keep_what_matters(plane):
    n = len(plane.steps)
    assert chosen_steps(plane, n).tolist() == list(range(n))
    important = {i for i, step in enumerate(plane.steps) if step.kind != "coefficient"} | set(plane.best.tolist())
    some = chosen_steps(plane, len(important) + 20)
    assert len(some) == len(important) + 20
    assert important <= set(some.tolist())
    for most in (2, 3, 10, 40):
        few = chosen_steps(plane, most)
        assert len(few) == most
        assert {0, n - 1} <= set(few.tolist())
    with pytest.raises(ValueError, match="at least 2"):
        chosen_steps(plane, 1)


def test_the_last_frame_is_the_split(plane):
    *frames, end = frames_of(plane, 30)
    assert [frame.step for frame in frames] == chosen_steps(plane, 30).tolist()
    assert (end.kind, end.n_done, end.step) == ("end", len(plane.steps), plane.best[-1])
    assert end.line == plane.split
    assert plane.write_test(*plane.split) in end.test


def test_histograms_count_both_sides(flowers):
    frames = frames_of(flowers, 30)
    histograms = histograms_of(flowers, frames, n_bins=2000)
    for frame, histogram in zip(frames, histograms, strict=True):
        (coefficients, threshold), share = frame.line, histogram.heights / histogram.heights.sum()
        fullest = max(
            own.heights.sum() for own, other in zip(histograms, frames, strict=True) if other.run == frame.run
        )
        assert histogram.heights.sum() == pytest.approx(fullest)  # every example is in a bin, at the ends, too
        passing = np.mean(flowers.X @ coefficients > threshold)
        right = share[int(np.ceil(histogram.threshold * 2000)) :].sum()
        assert right == pytest.approx(passing, abs=0.03)  # the bin of the threshold is on both sides


def test_the_curve_shows_the_end_of_every_run(plane):
    low, high = impurity_range(plane)
    assert all(low < plane.impurities[end - 1] < high for _, end in pieces_of(plane))
    assert sum(end - begin for begin, end in pieces_of(plane)) == len(plane.steps)


# ------------------------------------------------------------------------------------------------ files


def test_a_page_that_cannot_be_written_names_its_file(plane, tmp_path):
    with pytest.raises(FileProblem, match=r"^\S+search\.xyz: cannot be written: No such file"):
        write_page(plane, tmp_path / "nowhere" / "search.xyz", max_frames=2)


def hostile(record):
    from dataclasses import replace

    names = ("</script><script>alert(1)</script>", "$x_1$ @DATA@ \u2028" + "long" * 60, *record.feature_names[2:])
    classes = [f"<img src=x onerror=alert({i})>" for i in range(len(record.classes))]
    return replace(record, feature_names=names, classes=np.array(classes))


def test_page_needs_nothing_else(plane, flowers, tmp_path):
    for record in (plane, flowers, hostile(plane), hostile(flowers)):
        said = write_page(record, tmp_path / "search.html", max_frames=30)
        page = (tmp_path / "search.html").read_text(encoding="utf-8")
        assert not re.search(
            r"(src|href)\s*=|@import|url\(|fetch\(|XMLHttp|import\(", re.sub(r'id="data">.*', "", page)
        )
        assert set(re.findall(r"https?://[^\"')\s]+", page)) == {"http://www.w3.org/2000/svg"}  # a name, not a place
        assert page.count("<script") == page.count("</script>") == 2
        assert "default-src 'none'" in page
        data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
        assert len(data["frames"]) == said == 31
        assert data["names"] == list(record.feature_names)
        assert ("points" in data) == (record.X.shape[1] == 2)


# ------------------------------------------------------------------------------------------------ the command


def run(*arguments, code=0):
    done = CliRunner().invoke(app, ["animate", *map(str, arguments)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == code, done.stderr
    return done


@pytest.fixture
def table(rcb, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{a},{b},{c}" for (a, b), c in zip(rcb[0], rcb[1], strict=True)]
    (tmp_path / "rcb.csv").write_text("east,north,kind\n" + "\n".join(rows) + "\n")
    return tmp_path


def test_command_writes_a_page(table, rcb):
    done = run("rcb.csv", "-o", "short.html", "--max-frames", 10, "--fps", 5, "--n-restarts", 2)
    assert "11 frames written to short.html" in done.stderr
    told = json.loads(run("rcb.csv", "-o", "search.html", "--node", "l", "--seed", 1, "--json").stdout)
    record = record_search(*rcb, node="l", random_state=1)
    assert told["moves"] == record.n_moves
    assert told["impurity"] == pytest.approx(record.impurities.min())
    assert (table / "search.html").stat().st_size > 1000


def test_command_refuses_in_one_sentence(table):
    for arguments, problem, code in [
        (["-o", "search.gif"], "an .html file", 2),
        (["-o", "nowhere/search.html"], "there is no folder nowhere", 2),
        (["-o", "a.html", "--node", "up"], "a path from it of l and r", 1),
        (["-o", "a.html", "--node", "rrrrrrrrrrrr"], "is a leaf", 1),
        (["-o", "a.html", "--splits", "axis"], "splits='axis'", 1),
    ]:
        assert problem in run("rcb.csv", *arguments, code=code).stderr
    (table / "words.csv").write_text("colour,size,kind\n" + "red,1,a\nblue,2,b\n" * 10)
    assert "'red' is not a number" in run("words.csv", "-o", "a.html", code=1).stderr
    run("words.csv", "-o", "words.html", "--one-hot", "-P", "min_samples_oblique=2")
    (table / "one.csv").write_text("x,y,kind\n" + "1,2,a\n2,1,a\n" * 10)
    assert "of one class" in run("one.csv", "-o", "a.html", code=1).stderr
    assert not (table / "a.html").exists()


# ------------------------------------------------------------------------------------------------ a browser


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no Chromium is installed")
    with playwright.sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        yield chromium
        chromium.close()


def reaches(page, frame):
    """Wait until a page has played further than a frame."""
    for _ in range(200):
        if int(page.input_value("#slider")) > frame:
            return True
        page.wait_for_timeout(50)
    return False


@pytest.mark.parametrize("name", ["plane", "flowers"])
def test_page_in_a_browser(name, request, browser, tmp_path):
    record, path = request.getfixturevalue(name), tmp_path / "search.html"
    n = write_page(record, path, max_frames=40, fps=50)
    page, problems = browser.new_page(viewport={"width": 360, "height": 700}, reduced_motion="reduce"), []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda asked: problems.append(asked.url) if not asked.url.startswith("file:") else None)
    page.goto(path.as_uri())
    place = lambda: int(page.input_value("#slider"))  # noqa: E731
    page.wait_for_timeout(200)
    assert place() == 0  # who wants no motion gets none
    assert "starts" in page.inner_text("#title")
    page.click("#next")
    page.keyboard.press("ArrowRight")
    assert place() == 2
    page.click("#back")
    assert place() == 1
    before = page.inner_html("#left")
    page.keyboard.press("End")
    assert place() == n - 1
    assert "split of the node" in page.inner_text("#test")
    assert page.inner_html("#left") != before
    page.keyboard.press("Home")
    jump = next((i for i, frame in enumerate(frames_of(record, 40)) if frame.kind == "jump"), 0)
    page.keyboard.press("j")
    assert place() == jump
    page.fill("#slider", "5")
    assert place() == 5
    page.click("#play")
    assert reaches(page, 8)
    page.click("#play")
    stopped = place()
    page.wait_for_timeout(150)
    assert place() == stopped
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.close()
    assert problems == []


def test_page_plays_by_itself_and_shows_hostile_names(plane, flowers, browser, tmp_path):
    for record in (hostile(plane), hostile(flowers)):
        (tmp_path / "search.html").write_text(page_of(page_data(record, 30) | {"fps": 60}), "utf-8")
        page, problems = browser.new_page(color_scheme="dark"), []
        page.on("console", lambda message, told=problems: told.append(message.text))
        page.on("dialog", lambda dialog, told=problems: (told.append("dialog"), dialog.dismiss()))
        page.goto((tmp_path / "search.html").as_uri())
        assert reaches(page, 1)
        assert "<img src=x onerror=alert(1)>" in page.inner_text("#classes")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 28)"
        page.close()
        assert problems == []

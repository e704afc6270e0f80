"""The page of a model in a real browser: mouse, keyboard, slider, examples, themes, small screens."""

import json
import re
import time
from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from browser import chromium, opened
from converted_models import NASTY, WITH_CATEGORIES, fitted, frame, mixed_rows, numbers, rows_for
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from oc1 import OC1Classifier, OC1Regressor
from oc1.datasets import make_rcb
from oc1.explore import explore

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.slow]


@pytest.fixture(scope="module")
def browser():
    with chromium() as own:
        yield own


@pytest.fixture(scope="module")
def rcb_model():
    X, y = make_rcb(300, random_state=0)
    return OC1Classifier(random_state=0, n_restarts=5).fit(X, y), X, y


def as_page_takes(X):
    """Return rows as the page's own function takes them."""
    rows = X.to_numpy(dtype=object).tolist() if hasattr(X, "to_numpy") else np.asarray(X, dtype=float).tolist()

    def cell(value, m):
        if value is None or value != value:
            return None
        if hasattr(X, "columns") and X.columns[m] in ("select", "X", "list"):
            return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        return value

    return [[cell(value, m) for m, value in enumerate(row)] for row in rows]


def until(page, happened):
    """Wait for something in the page. (Playwright's own way is to evaluate text, which the page does not allow.)"""
    for _ in range(200):
        if happened():
            return
        page.wait_for_timeout(10)
    raise AssertionError("it did not happen")


def select(page, node):
    page.locator(f'g.node[data-node="{node}"]').click()


# ---------------------------------------------------------------------------------------------------- the answers


@pytest.mark.parametrize("name", ["oblique", "directed", "vote", "regression", "lmdt", "c45", "machine votes", "cart"])
def test_the_page_answers_as_the_model_does(browser, tmp_path, name):
    model = fitted(name)
    X = rows_for(model, 400)
    with opened(browser, explore(model), tmp_path) as page:
        said = page.evaluate("rows => rows.map(window.oc1.classify)", as_page_takes(X))
        expected = model.predict(X)
        assert said == (expected.tolist() if name == "regression" else [str(label) for label in expected])
        if name != "regression":
            shares = page.evaluate("rows => rows.map(window.oc1.probabilities)", as_page_takes(X))
            assert np.allclose(shares, model.predict_proba(X), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", WITH_CATEGORIES)
def test_the_page_knows_categories(browser, tmp_path, name):
    model, X = fitted(name), mixed_rows(200)
    with opened(browser, explore(model, *frame()), tmp_path) as page:
        said = page.evaluate("rows => rows.map(window.oc1.classify)", as_page_takes(X))
        assert said == [str(label) for label in model.predict(X)]


KINDS = [
    "leaf", "nasty", "truth", "float labels", "vote", "subspaces", "regression", "lmdt", "large", *WITH_CATEGORIES,
]  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_model_opens_and_follows_an_example(browser, tmp_path, name):
    model = fitted(name)
    with opened(browser, explore(model), tmp_path) as page:
        assert page.locator("g.node").count() >= 1
        row = [0.3] * model.n_features_in_ if name not in WITH_CATEGORIES else ["b", 0.5, "1.5", "True"]
        page.click("#tab-example")
        page.fill("#paste", ", ".join(map(str, row)))
        page.click("#follow")
        assert page.locator("#problem").text_content() == ""
        label = page.evaluate("row => window.oc1.classify(row)", row)
        shown = page.locator("#verdict").text_content()
        assert shown == (f"{label:.5g}" if name == "regression" else (label if label.strip() else "(empty)"))


# ---------------------------------------------------------------------------------------------------- mouse, keyboard


def test_a_click_shows_what_a_node_asks(browser, tmp_path, rcb_model):
    model, X, y = rcb_model
    with opened(browser, explore(model, X, y), tmp_path) as page:
        assert page.locator("g.node").count() == model.tree_.n_nodes
        inner = np.flatnonzero(model.tree_.terms_of_nodes > 1)[-1]
        select(page, inner)
        panel = page.locator("#node")
        assert panel.locator("h2").text_content() == f"Node {inner}"
        assert "> " in panel.locator(".equation").text_content()
        # What counts, as bars, comes before the formula.
        places = [panel.locator(own).first.bounding_box()["y"] for own in (".branches", ".track.both", ".equation")]
        assert places == sorted(places)
        text = panel.text_content()
        assert "Goes right (yes) if" in text
        assert "An example comes here if" in text
        assert panel.locator("svg.plot rect").count() > 3  # the histogram
        heights = panel.locator("svg.plot rect").evaluate_all(
            "all => all.map(one => one.querySelector('title').textContent)"
        )
        total = sum(int(words.split(": ")[1].split(" of ")[0]) for words in heights)
        assert total == model.decision_path(X)[:, [inner]].sum()
        leaf = np.flatnonzero(model.tree_.is_leaf)[0]
        select(page, leaf)
        assert panel.locator("h2").text_content() == f"Leaf {leaf}: {model.tree_.classes[model.tree_.majority[leaf]]}"


def test_everything_can_be_reached_by_keyboard(browser, tmp_path, rcb_model):
    model, X, y = rcb_model
    with opened(browser, explore(model, X, y), tmp_path) as page:
        focused = "document.activeElement.getAttribute('data-node')"
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate(focused) is not None:
                break
        assert page.evaluate(focused) == "0"
        page.keyboard.press("ArrowDown")
        assert page.evaluate(focused) == "1"
        page.keyboard.press("ArrowRight")
        right = str(model.tree_.children[0, 1])
        assert page.evaluate(focused) == right
        page.keyboard.press("Enter")
        assert page.locator("#node h2").text_content() == f"Node {right}"
        assert page.evaluate(focused) == right
        assert page.locator(f'g.node[data-node="{right}"]').get_attribute("aria-selected") == "true"
        page.keyboard.press(" ")  # close it
        assert page.locator("g.node").count() < model.tree_.n_nodes
        assert page.locator(f'g.node[data-node="{right}"]').get_attribute("aria-expanded") == "false"
        page.keyboard.press("ArrowDown")  # opens it again
        assert page.locator("g.node").count() == model.tree_.n_nodes
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowUp")
        assert page.evaluate(focused) == "0"
        scale = "document.querySelector('#tree > g').getCTM().a"
        before = page.evaluate(scale)
        page.keyboard.press("+")
        assert page.evaluate(scale) > before
        page.keyboard.press("-")
        page.keyboard.press("-")
        assert page.evaluate(scale) < before
        page.keyboard.press("0")
        page.focus("#tab-node")
        page.keyboard.press("ArrowRight")
        assert page.locator("#example").is_visible()
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.type("x2 = 0.9; x1 = 0.1")
        page.keyboard.press("Enter")
        assert page.locator("#verdict").text_content() == str(model.predict([[0.1, 0.9]])[0])


def test_zooming_and_dragging(browser, tmp_path, rcb_model):
    with opened(browser, explore(*rcb_model), tmp_path) as page:
        place = lambda: page.evaluate("(({a, e}) => [a, e])(document.querySelector('#tree > g').getCTM())")  # noqa: E731
        scale, _ = place()
        page.mouse.move(300, 400)
        page.mouse.wheel(0, -300)
        until(page, lambda: place()[0] > scale)
        page.click("#fit")
        scale, x = place()
        page.mouse.move(20, 460)
        page.mouse.down()
        page.mouse.move(120, 470, steps=4)
        page.mouse.up()
        assert place() == pytest.approx([scale, x + 100])


# ---------------------------------------------------------------------------------------------------- slider


def test_the_slider_moves_along_the_pruning_path(browser, tmp_path, noisy):
    X, y = noisy
    model = OC1Classifier(splits="axis", prune="holdout", random_state=1).fit(X, y)
    assert model.tree_.n_leaves < model.unpruned_tree_.n_leaves
    with opened(browser, explore(model, X, y), tmp_path) as page:
        size = lambda: page.locator("#size").text_content()  # noqa: E731
        move = "n => { slider.value = n; slider.dispatchEvent(new Event('input')); }"
        assert size().startswith(f"{model.tree_.n_leaves} lea")
        assert size().endswith("the model")
        right = np.mean(model.predict(X) == y)
        assert f"{float(f'{100 * right:.1f}'):g}% of the 400 examples given" in size()
        page.evaluate(move, 10**6)  # larger trees are to the right
        assert size().startswith(f"{model.unpruned_tree_.n_leaves} leaves")
        assert size().endswith("larger than the model")
        page.evaluate(move, 0)
        assert size().startswith("1 leaf ")
        assert page.locator("g.node").count() == 1
        page.click("#back")
        assert size().endswith("the model")
        # By keyboard as well.
        page.focus("#slider")
        page.keyboard.press("Home")
        assert size().startswith("1 leaf ")
        sizes = [1]
        for _ in range(5):
            page.keyboard.press("ArrowRight")
            sizes.append(int(size().split()[0]))
        assert sizes == sorted(set(sizes))


# ---------------------------------------------------------------------------------------------------- examples


def test_an_example_shows_its_way_and_why(browser, tmp_path, rcb_model):
    model, X, y = rcb_model
    with opened(browser, explore(model, X, y), tmp_path) as page:
        page.click("#tab-example")
        for row in X[:5].tolist():
            page.fill("#paste", ",".join(map(repr, row)))
            page.click("#follow")
            path = model.decision_path([row]).indices.tolist()
            marked = page.locator("g.node.way").evaluate_all("all => all.map(one => Number(one.dataset.node))")
            assert sorted(marked) == sorted(path)
            label = str(model.predict([row])[0])
            assert page.locator("#verdict").text_content() == label
            assert page.locator("#why").text_content().startswith(f"Called class {label}. At first it looked ")
            assert page.locator("ol.steps > li").count() == len(path) - 1
            assert "To change sides, " in page.locator("ol.steps > li").first.text_content()
        page.locator("ol.steps button").first.click()
        assert "Your example here" in page.locator("#node").text_content()


def test_what_would_change_sides_does_change_them(browser, tmp_path, rcb_model):
    model, X, y = rcb_model
    with opened(browser, explore(model, X, y), tmp_path) as page:
        page.click("#tab-example")
        for row in X[5:10]:
            page.fill("#paste", ",".join(map(repr, row.tolist())))
            page.click("#follow")
            for step, words in enumerate(page.locator("ol.steps .hint").all_text_contents()):
                name, by, direction = (
                    words.removeprefix("To change sides, ").replace("would have to be ", "").split()[:3]
                )
                other, sign = row.copy(), 1 if direction == "larger" else -1
                other[int(name[1:]) - 1] += sign * float(by)
                ways = [model.decision_path([one]).indices.tolist() for one in (row, other)]
                node = ways[0][step]
                features, coefficients, threshold = model.tree_.test(node)
                # The value that is shown, entered as it is, does so as well, and lies on the side that is said.
                shown = row.copy()
                shown[int(name[1:]) - 1] = new = float(words.split("(")[1].split()[0].replace("\N{MINUS SIGN}", "-"))
                assert np.sign(new - row[int(name[1:]) - 1]) == sign, words
                sides = [float(coefficients @ one[features]) > threshold for one in (row, other, shown)]
                assert sides[0] != sides[1] == sides[2], words


def test_examples_in_many_spellings(browser, tmp_path):
    model = fitted("categories")
    with opened(browser, explore(model), tmp_path) as page:
        parse = lambda text: page.evaluate("text => window.oc1.parse(text).row", text)  # noqa: E731
        assert parse("b, 1.5, 0.5, True") == ["b", 1.5, "0.5", "True"]
        assert parse("b\t1.5\t0.5\tTrue") == ["b", 1.5, "0.5", "True"]
        assert parse("b;1.5;0.5;True") == ["b", 1.5, "0.5", "True"]
        assert parse("b 1.5 0.5 True") == ["b", 1.5, "0.5", "True"]
        assert parse("b, ?, , NA") == ["b", None, None, None]
        assert parse('"c""", -1e-3, 1, False') == ['c"', -0.001, "1", "False"]
        assert parse("b, 1.5, 0.5, True, some label") == ["b", 1.5, "0.5", "True"]
        assert parse("list=True, select=Ω") == ["Ω", None, None, "True"]
        assert parse('si"ze = 2') == [None, 2, None, None]
        assert parse('select,list,si"ze\nb,True,3') == ["b", 3, None, "True"]
        assert parse("unheard of, 1, 1, True")[0] is None
        page.click("#tab-example")
        for wrong, words in [
            ("1, 2", "4 attributes"),
            ("b, x, 1, True", "not a number"),
            ("", "nothing"),
            ("select=b, weight=3", "no attribute “weight”; the attributes are select, "),
        ]:
            page.fill("#paste", wrong)
            page.click("#follow")
            assert words in page.locator("#problem").text_content()
        page.fill("#field-1", "0.25")
        assert page.locator("#verdict").count() == 1
        assert page.locator("#paste").input_value() == ", 0.25, , "


def test_values_of_which_a_few_digits_say_nothing_change_sides(browser, tmp_path):
    X = np.array([[1.51683], [1.51686], [1.51799], [1.518]])
    model = OC1Classifier(splits="axis", prune=None).fit(X, ["a", "a", "b", "b"])
    with opened(browser, explore(model, X, ["a", "a", "b", "b"]), tmp_path) as page:
        for value, label in ((1.51799, "a"), (1.51686, "b")):
            follow(page, str(value))
            new = page.locator("ol.steps .hint").text_content().split("(")[1].split()[0]
            follow(page, new)
            assert page.locator("#verdict").text_content() == label


def follow(page, text):
    page.click("#tab-example")
    page.fill("#paste", text)
    page.click("#follow")


def test_what_is_not_known_is_not_told_as_if_it_were(browser, tmp_path, rcb_model):
    model, X, y = rcb_model
    with opened(browser, explore(model, X, y), tmp_path) as page:
        follow(page, "0.4, ")
        assert "is not known and counts as the average, " in page.locator("#why").text_content()
    unknown = copy(model)  # as a file of the original gives it
    unknown.tree_ = unknown.unpruned_tree_ = replace(model.tree_, fill=np.zeros(2))
    unknown._scale = np.ones(2)
    with opened(browser, explore(unknown), tmp_path) as page:
        follow(page, "0.4, ")
        why = page.locator("#why").text_content()
        assert "is not known and counts as 0" in why
        assert "average" not in why + page.locator("ol.steps").text_content()
        assert page.locator("#fields input").evaluate_all("all => all.map(one => one.placeholder).join('')") == ""


def test_reasons_are_against_the_average_at_the_node(browser, tmp_path):
    # Against all irises, setosa with its short petals among them, even versicolor has long ones.
    X, y = load_iris(return_X_y=True)
    model = OC1Classifier(max_terms=2, random_state=0).fit(X, y)
    with opened(browser, explore(model, X, y), tmp_path) as page:
        told = []
        for row in X[y == 1].tolist():
            follow(page, ", ".join(map(str, row)))
            told += re.findall(r"mostly because x(\d) is", page.locator("#why").text_content())
        assert sum(int(number) >= 3 for number in told) > 0.9 * len(told) > 40
    with opened(browser, explore(model), tmp_path) as page:
        follow(page, "6.1, 2.8, 4.7, 1.2")
        assert "mostly" not in page.locator("#why").text_content()


def test_reasons_name_what_an_answer_speaks_for(browser, tmp_path):
    cancer = load_breast_cancer(as_frame=True)
    X, y = cancer.data, cancer.target_names[cancer.target]
    model = OC1Classifier(random_state=0).fit(X, y)
    with opened(browser, str(explore(model, X, y)), tmp_path) as page:
        for i, side in ((13, "malignant"), (19, "benign")):
            follow(page, ", ".join(map(str, X.iloc[i])))
            why = page.locator("#why").text_content()
            link = "but" if side == "malignant" else "and"
            assert why.startswith(f"Called {side}. At first it looked benign (62.7% of 569 training examples), {link} ")
            assert f"which speaks for {side}" in why
            # The page and the explanation say the same.
            told = " ".join(str(model.explain(X.iloc[i])).split())
            answer, outcome = page.locator("ol.steps p").first.text_content().split(". ", 1)
            assert answer.endswith(f": that speaks for {side}")
            assert outcome in told


def test_no_answer_stays_without_its_example(browser, tmp_path, rcb_model):
    with opened(browser, explore(*rcb_model), tmp_path) as page:
        verdict, marked = page.locator("#verdict"), page.locator("g.node.way")
        for spoil in (
            lambda: follow(page, "nonsense"),
            lambda: page.fill("#paste", "0.5, "),
            lambda: page.fill("#field-0", "nonsense"),
            lambda: (page.fill("#field-0", ""), page.fill("#field-1", "")),
            lambda: page.click("#clear"),
        ):
            follow(page, "0.1, 0.9")
            assert verdict.count() == 1
            assert marked.count() > 1
            spoil()
            assert verdict.count() == 0
            assert marked.count() == 0


def test_of_several_examples_the_first_is_followed(browser, tmp_path, rcb_model):
    with opened(browser, explore(*rcb_model), tmp_path) as page:
        for text in ("0.1, 0.9\n0.8, 0.2", "x1=0.1, x2=0.9\nx1=0.8, x2=0.2", "x1,x2\n0.1,0.9\n0.8,0.2"):
            follow(page, text)
            assert "the first is followed" in page.locator("#problem").text_content()
            assert page.locator("#field-1").input_value() == "0.9"
        follow(page, "x1=0.1\nx2=0.9")
        assert page.locator("#problem").text_content() == ""
        follow(page, "foo=3")
        assert page.locator("#problem").text_content() == "There is no attribute “foo”; the attributes are x1, x2."


def test_one_example_is_one(browser, tmp_path):
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["a", "b", "b", "b"]
    model = OC1Classifier(splits="axis", prune=None).fit(X, y)
    with opened(browser, explore(model), tmp_path) as page:
        follow(page, "0")
        assert page.locator("#why").text_content().endswith("The one training example with these answers was a.")
        follow(page, "3")
        assert page.locator("#why").text_content().endswith("All 3 training examples with these answers were b.")


def test_linear_machines_say_which_function_is_largest(browser, tmp_path):
    model = fitted("lmdt")
    with opened(browser, explore(model), tmp_path) as page:
        follow(page, ", ".join(["0.3"] * model.n_features_in_))
        words = page.locator("ol.steps p").first.text_content()
        found = re.match(
            r"The linear function for class \S+ is the largest of \d+ \((\S+); next (\S+) for class", words
        )
        largest, second = (float(own.replace("\N{MINUS SIGN}", "-")) for own in found.groups())
        assert largest > second


def test_random_examples_and_the_map(browser, tmp_path, rcb_model):
    model, X, y = rcb_model
    with opened(browser, explore(model, X, y), tmp_path) as page:
        page.click("#tab-example")
        page.click("#random")
        row = [float(value) for value in page.locator("#paste").input_value().split(",")]
        assert row in X.tolist()
        assert "In the data it is" in page.locator("#result").text_content()
        assert page.locator("#map circle").count() == len(X) + 1  # the example is one more
        leaves = page.locator("#map polygon.region").count()
        assert leaves == model.tree_.n_leaves
        page.click("#map", position={"x": 300, "y": 80})
        row = [float(value) for value in page.locator("#paste").input_value().split(",")]
        assert page.locator("#verdict").text_content() == str(model.predict([row])[0])


def test_votes_are_counted(browser, tmp_path):
    model, (X, y) = fitted("vote"), numbers()
    with opened(browser, explore(model, X, y), tmp_path) as page:
        page.click("#tab-example")
        page.fill("#paste", "1, , 0.1")
        page.click("#follow")
        votes = [str(one.predict([[1, np.nan, 0.1]])[0]) for one in model.estimators_]
        buttons = page.locator("#result .row button")
        assert buttons.all_text_contents() == [f"{i}: {vote}" for i, vote in enumerate(votes, 1)]
        page.select_option("#which", "2")
        tree = model.estimators_[2].tree_
        assert page.evaluate("window.oc1.data.trees[2].children.length") == tree.n_nodes
        spoken = page.locator('g.node[data-node="0"]').get_attribute("aria-label")
        assert spoken.endswith(f"; {tree.counts[0].sum():g} training examples")


# ---------------------------------------------------------------------------------------------------- looks


def test_light_and_dark(browser, tmp_path, rcb_model):
    content = explore(*rcb_model)
    ground = "getComputedStyle(document.body).backgroundColor"
    with opened(browser, content, tmp_path, color_scheme="dark") as page:
        dark = page.evaluate(ground)
        page.click("#theme")
        assert page.evaluate(ground) != dark
    with opened(browser, content, tmp_path, color_scheme="light") as page:
        light = page.evaluate(ground)
        assert light != dark
        page.emulate_media(color_scheme="dark")
        until(page, lambda: page.evaluate(ground) == dark)


def test_texts_can_be_read_in_both_themes(browser, tmp_path, rcb_model):
    contrast = """() => {
        const light = (text) => {
            const [r, g, b] = text.match(/[\\d.]+/g).map(Number).map(own => own / 255)
                .map(own => own <= 0.03928 ? own / 12.92 : ((own + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const ground = (one) => {
            for (let at = one; at; at = at.parentElement) {
                const own = getComputedStyle(at).backgroundColor;
                if (!own.startsWith('rgba(0, 0, 0, 0')) return own;
            }
        };
        return [...document.querySelectorAll('h1, h2, h3, p, span, b, button, label, output, td, figcaption')]
            .filter(one => one.textContent.trim() && one.getClientRects().length)
            .map(one => {
                const [a, b] = [light(getComputedStyle(one).color), light(ground(one))].sort((x, y) => y - x);
                return [(a + 0.05) / (b + 0.05), one.textContent.slice(0, 40)];
            });
    }"""
    for scheme in ("light", "dark"):
        with opened(browser, explore(*rcb_model), tmp_path, color_scheme=scheme) as page:
            page.click("#tab-example")
            page.click("#random")
            found = page.evaluate(contrast)
            page.click("#tab-node")
            found += page.evaluate(contrast)
            assert len(found) > 20
            assert min(found)[0] >= 4.5, min(found)


@pytest.mark.parametrize("name", ["vote", "categories", "lmdt", "nasty"])
def test_a_phone_needs_no_scrolling_to_the_side(browser, tmp_path, name):
    model = fitted(name)
    wide = "document.documentElement.scrollWidth"
    with opened(browser, explore(model), tmp_path, viewport={"width": 360, "height": 740}) as page:
        assert page.evaluate(wide) == 360
        page.click("#tab-example")
        page.fill("#paste", ",".join(["0.1"] * model.n_features_in_))
        page.click("#follow")
        assert page.evaluate(wide) == 360
        tree, panel = (page.locator(own).bounding_box() for own in ("#canvas", "#example"))
        assert panel["y"] >= tree["y"] + tree["height"]


HOSTILE = [
    "<script>alert('name')</script>",
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "x" * 200,
]


def test_hostile_names_are_shown_and_not_run(browser, tmp_path):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 4)), columns=HOSTILE)
    labels = np.array(["<b>bold</b>", "</script><script>alert(3)</script>", NASTY[2]])
    y = labels[(X.to_numpy() @ [1.0, 1.0, 1.0, 1.0] > 0).astype(int) + (X.to_numpy()[:, 0] > 1)]
    model = OC1Classifier(random_state=0, n_restarts=2).fit(X, y)
    content = explore(model, X, y, title="<script>alert(4)</script>")
    for width in (1280, 360):
        with opened(browser, content, tmp_path, viewport={"width": width, "height": 800}) as page:
            assert page.title() == "<script>alert(4)</script>"
            assert page.locator("h1").text_content() == "<script>alert(4)</script>"
            assert page.locator("#legend li").all_text_contents()[1] == "<b>bold</b>"
            shown = page.locator("#node .equation .name").evaluate_all("all => all.map(one => one.title)")
            assert set(shown) <= set(HOSTILE)
            assert shown
            page.click("#tab-example")
            page.click("#random")
            assert page.locator("#fields label").all_text_contents() == HOSTILE
            assert page.locator("img, b script, #legend b").count() == 0
            assert page.evaluate("document.scripts.length") == 2  # the data and the page's own
            assert page.evaluate("document.documentElement.scrollWidth") == width


def test_inline_code_of_others_is_refused(browser, tmp_path, rcb_model):
    content = explore(*rcb_model).replace("</body>", "<script>window.broken = true</script></body>")
    troubles = []
    path = tmp_path / "page.html"
    path.write_text(content, encoding="utf-8")
    page = browser.new_page()
    page.on("console", lambda message: troubles.append(message.text))
    page.goto(path.as_uri())
    assert page.evaluate("window.broken") is None
    assert any("Content Security Policy" in words for words in troubles)
    page.close()


# ---------------------------------------------------------------------------------------------------- boxes


@pytest.fixture(scope="module")
def wide_model():
    """A tree on some of 30 attributes with long tests, of ten classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 30))
    X[:, :7] = 0  # nothing to be learned from these
    y = np.array(list("abcdefghij"))[np.digitize(X[:, 10:22] @ np.linspace(1, 3, 12), np.linspace(-9, 9, 9))]
    return OC1Classifier(random_state=0, n_restarts=1, prune=None, max_depth=6).fit(X, y), X, y


LETTERS = """() => [...document.querySelectorAll('#tree text, #map text')].filter(one => one.textContent)
    .map(one => parseFloat(getComputedStyle(one).fontSize) * Math.hypot(one.getCTM().a, one.getCTM().b))"""
INSIDE = """() => {
    const own = document.getElementById('canvas').getBoundingClientRect();
    return [...document.querySelectorAll('g.node .frame, g.opener')].map(one => one.getBoundingClientRect())
        .every(one => one.left >= own.left && one.right <= own.right && one.top >= own.top && one.bottom <= own.bottom);
}"""


@pytest.mark.parametrize("size", [(1280, 800), (390, 780)])
def test_the_tree_is_in_view_at_first_and_letters_are_never_too_small(browser, tmp_path, wide_model, rcb_model, size):
    viewport = dict(zip(("width", "height"), size, strict=True))
    for model in (wide_model, rcb_model):
        with opened(browser, explore(*model), tmp_path, viewport=viewport) as page:
            assert page.evaluate(INSIDE)
            assert page.locator("g.node").count() > 6
            assert page.locator("g.node text").count() > 6
            for _ in range(12):
                assert min(page.evaluate(LETTERS), default=11) > 10.99
                page.click("#out")
            for _ in range(24):
                page.click("#in")
                assert min(page.evaluate(LETTERS), default=11) > 10.99


def test_words_stay_inside_their_boxes(browser, tmp_path, wide_model):
    spills = """() => [...document.querySelectorAll('g.node')].flatMap(group => {
        const frame = group.querySelector('.frame').getBoundingClientRect();
        return [...group.querySelectorAll(':scope > text')].map(one => one.getBoundingClientRect())
            .filter(own => own.width && (own.left < frame.left - 1 || own.right > frame.right + 2
                || own.top < frame.top - 2 || own.bottom > frame.bottom + 2)).map(() => group.textContent);
    })"""
    with opened(browser, explore(*wide_model), tmp_path) as page:
        for _ in range(8):
            assert page.evaluate(spills) == []
            page.click("#out")
        for _ in range(12):
            page.click("#in")
            assert page.evaluate(spills) == []


def test_boxes_and_the_map_have_the_numbers_of_nodes(browser, tmp_path, rcb_model):
    model, X, y = rcb_model
    with opened(browser, explore(model, X, y), tmp_path) as page:
        numbers = page.locator("g.node > .badge + text").all_text_contents()
        assert sorted(map(int, numbers)) == list(range(model.tree_.n_nodes))
        on_map = {int(text) for text in page.locator("#map .number").all_text_contents()}
        assert len(on_map) > 0.7 * model.tree_.n_nodes
        assert on_map <= set(range(model.tree_.n_nodes))


def test_long_tests_show_the_largest_terms_and_the_others_when_asked(browser, tmp_path, wide_model):
    model, X, y = wide_model
    with opened(browser, explore(model, X, y), tmp_path) as page:
        names = page.locator("#node .equation .name")
        features, coefficients, _ = model.tree_.test(0)
        largest = features[np.argsort(-np.abs(coefficients * model._scale[features]), kind="stable")]
        assert names.all_text_contents() == [f"x{m + 1}" for m in largest]
        assert [name.is_visible() for name in names.all()] == [i < 5 for i in range(len(features))]
        button = page.locator("#node .equation .more")
        assert button.text_content().strip() == f"+ … {len(features) - 5} more"
        button.click()
        assert all(name.is_visible() for name in names.all())
        bars = page.locator("#node .lines .label").all_text_contents()
        assert bars[: len(features)] == [f"x{m + 1}" for m in largest]


def test_the_form_asks_for_what_the_tree_uses(browser, tmp_path, wide_model):
    model, X, y = wide_model
    used = sorted({int(m) for node in np.flatnonzero(~model.tree_.is_leaf) for m in model.tree_.test(node)[0]})
    assert 1 < len(used) < 30
    with opened(browser, explore(model, X, y), tmp_path) as page:
        page.click("#tab-example")
        page.evaluate("fieldbox.open = true")
        asked = [label.text_content() for label in page.locator("#fields label").all() if label.is_visible()]
        assert asked == [f"x{m + 1}" for m in used]
        assert page.locator("#unused").text_content() == (
            f"The tree does not use the other {30 - len(used)} attributes."
        )
        follow(page, ", ".join(map(str, X[0])))
        label = page.locator("#verdict").text_content()
        follow(page, ", ".join(map(str, X[0, used])))
        assert page.locator("#verdict").text_content() == label == model.predict(X[:1])[0]
        # A smaller tree asks for less.
        page.evaluate("slider.value = 0; slider.dispatchEvent(new Event('input'));")
        assert not any(label.is_visible() for label in page.locator("#fields label").all())


def test_sides_have_the_names_of_classes(browser, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    for labels, ends in [
        (np.array(["healthy", "ill"]), ["← healthy", "ill →"]),
        (np.array(["a", *"bcdefgh"]), ["← a", "the other classes →"]),
    ]:
        side = X.sum(axis=1) > 0
        y = labels[np.where(side, rng.integers(1, len(labels), size=len(X)), 0)]
        model = OC1Classifier(random_state=0, max_depth=1, prune=None).fit(X, y)
        if model.tree_.test(0)[1][0] < 0:
            ends = [f"← {ends[1].removesuffix(' →')}", f"{ends[0].removeprefix('← ')} →"]
        with opened(browser, explore(model, X, y), tmp_path) as page:
            shown = [
                words.replace("\N{NO-BREAK SPACE}", " ") for words in page.locator("#node .ends b").all_text_contents()
            ]
            assert shown == ends
            texts = page.locator("#node svg.plot text").all_text_contents()
            assert f"← no: {ends[0].removeprefix('← ')}" in texts
            assert "push" not in page.locator("#node").text_content()
    model = OC1Regressor(random_state=0, max_depth=1).fit(X, X @ [1.0, 1.0])
    with opened(browser, explore(model), tmp_path) as page:
        ends = sorted(
            words.strip("← \N{NO-BREAK SPACE}→") for words in page.locator("#node .ends b").all_text_contents()
        )
        assert ends == ["larger numbers", "smaller numbers"]


# ---------------------------------------------------------------------------------------------------- large trees


def test_a_tree_of_thousands_of_leaves_stays_usable(browser, tmp_path, shared_data):
    pytest.importorskip("polars")
    from oc1.files.tables import read_table

    table = read_table(shared_data / "letter.csv")
    model = OC1Classifier(splits="axis", prune=None, random_state=0).fit(table.X, table.y)
    assert model.tree_.n_leaves > 2000
    content = explore(model, table.X, table.y)
    assert len(content.encode()) < 3_000_000
    began = time.perf_counter()
    with opened(browser, content, tmp_path) as page:
        page.wait_for_selector("g.node")
        print(f"letter: {len(content.encode()) / 1e6:.2f} MB, {time.perf_counter() - began:.2f} s to open")
        assert page.locator("g.node").count() < 100
        assert "leaves" in page.locator(".opener").first.text_content()
        before = page.locator("g.node").count()
        page.locator(".opener").first.dispatch_event("click")  # it may be out of view
        assert page.locator("g.node").count() > before
        for _ in range(30):
            page.click("#open")
        drawn = page.locator("g.node").count()
        assert drawn < 600  # of more than 4,000 that are open: only what is in view
        page.click("#fit")
        page.click("#close")
        rows = table.X[:50].tolist()
        said = json.loads(page.evaluate("rows => JSON.stringify(rows.map(window.oc1.classify))", rows))
        assert said == model.predict(table.X[:50]).tolist()


def test_small_boxes_keep_their_thresholds(browser, tmp_path):
    X, y = load_digits(return_X_y=True)
    model = OC1Classifier(random_state=0, splits="oblique").fit(X, y)
    with opened(browser, explore(model), tmp_path, viewport={"width": 390, "height": 800}) as page:
        boxes = page.locator("#tree g.node.inner")
        assert boxes.count() >= 5  # those in view
        for i in range(boxes.count()):
            assert re.search("> \u2212?[0-9]", " ".join(boxes.nth(i).locator("text tspan").all_text_contents()))


def test_a_side_of_two_classes_is_named_after_both_as_in_explanations(browser, tmp_path):
    wine = load_wine(as_frame=True)
    model = OC1Classifier(random_state=0).fit(wine.data, wine.target_names[wine.target])
    (first, *_) = model.explain(wine.data.iloc[0]).steps
    assert len(first.speaks_for.labels) == 2
    with opened(browser, explore(model), tmp_path) as page:
        assert " or ".join(first.speaks_for.labels) in page.locator("#node").text_content()

import numpy as np
import pytest

from oc1 import OC1Classifier, OC1EnsembleClassifier, OC1Regressor, load_model, save_model
from oc1.baselines import C45Classifier, LMDTClassifier
from oc1.tree.summaries import NodeExamples, summarise_nodes
from oc1.tree.wording import number


def check_histograms(model, X, y, bins):
    """Every histogram counts the examples at its node, on each side those that go there; return how many there are."""
    tree = model.tree_
    path = model.decision_path(X).toarray().astype(bool)
    classes = getattr(model, "classes_", None)
    n = 0
    for node, own in enumerate(summarise_nodes(model, X, y, bins=bins)):
        if own.histogram is None:
            continue
        n += 1
        histogram, (no, yes) = own.histogram, tree.children[node]
        assert histogram.counts.shape == (bins, tree.counts.shape[1])
        assert (np.diff(histogram.edges) > 0).all()
        assert histogram.edges[histogram.n_left] == own.threshold
        parts = [histogram.counts[: histogram.n_left], histogram.counts[histogram.n_left :]]
        for child, part in zip((no, yes), parts, strict=True):
            if classes is None:
                assert part.sum() == path[:, child].sum()
            else:
                assert part.sum(axis=0).tolist() == [(y[path[:, child]] == label).sum() for label in classes]
    return n


@pytest.mark.parametrize("bins", [2, 5, 24])
@pytest.mark.parametrize("data", ["rcb", "noisy", "ls10"])
def test_histograms_count_the_examples_of_each_side(data, bins, request):
    X, y = request.getfixturevalue(data)
    model = OC1Classifier(prune=None, n_restarts=2, max_depth=5, random_state=0).fit(X[::2], y[::2])
    assert check_histograms(model, X, y, bins) == (~model.tree_.is_leaf).sum() > 0
    assert check_histograms(model, X[:1], y[:1], bins)  # most nodes get none


def test_histograms_of_numbers(noisy):
    X, _ = noisy
    model = OC1Regressor(prune=None, max_depth=3, random_state=0).fit(X, X @ [1, 2, 0, -1])
    assert check_histograms(model, X, None, 10) == 7
    assert [own.label for own in summarise_nodes(model)] == [number(value, 4) for value in model.tree_.values]


def test_bars_are_where_the_projections_are(noisy):
    X, y = noisy
    model = OC1Classifier(max_depth=2, random_state=0).fit(X, y)
    examples = NodeExamples.make(model, X, y)
    for own in summarise_nodes(model, X, y, bins=12):
        if own.histogram is not None:
            edges = own.histogram.edges
            rows, places, goes_right = examples.projected(own.node)
            assert (goes_right == (places > own.threshold)).all()
            middles = np.histogram(places, edges)[0]  # no example is on an edge, but for the ends
            assert own.histogram.counts.sum(axis=1).tolist() == middles.tolist()
            assert len(rows) == middles.sum()


def test_examples_on_the_threshold_go_left():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    model = OC1Classifier(prune=None).fit(X, [0, 0, 1, 1])
    (root, *_) = summarise_nodes(model, np.full((3, 1), 1.5), [0, 1, 1], bins=4)
    assert root.histogram.counts[: root.histogram.n_left].sum(axis=0).tolist() == [1, 2]
    assert root.histogram.counts[root.histogram.n_left :].sum() == 0


def test_missing_values_that_have_a_way_of_their_own_are_left_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] > 0).astype(int)
    X[rng.uniform(size=300) < 0.2, 0] = np.nan
    model = OC1Classifier(missing="direction", splits="axis", prune=None, max_depth=4, random_state=0).fit(X, y)
    tree = model.tree_
    assert np.any(tree.missing)
    examples = NodeExamples.make(model, X, y)
    asking = 0
    for own in summarise_nodes(model, X, y):
        if own.is_leaf:
            continue
        here = examples.rows(own.node)
        (feature,) = tree.test(own.node)[0]
        known = ~np.isnan(X[here, feature])
        if own.histogram is None:
            asking += own.equation.endswith(" missing")
            assert own.threshold is None
        else:
            assert own.histogram.counts.sum() == (known.sum() if tree.missing[own.node] else len(here))
    assert asking == sum(own.threshold is None and not own.is_leaf for own in summarise_nodes(model))


def test_categories_are_projected_by_their_codes():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    grade, size = rng.integers(4, size=300), rng.normal(size=300)
    X = pandas.DataFrame({"grade": np.array(["low", "mid", "high", "top"])[grade], "size": size})
    y = np.where(grade + size > 1.5, "yes", "no")
    model = OC1Classifier(categorical_features=["grade"], prune=None, random_state=0).fit(X, y)
    assert check_histograms(model, X, y, 24) > 0
    assert {name for own in summarise_nodes(model) for name, _, _ in own.terms} == {"grade", "size"}


def test_what_is_said_of_nodes(noisy):
    X, y = noisy
    model = OC1Classifier(prune=None, max_depth=3, random_state=0).fit(X, y)
    tree = model.tree_
    summaries = summarise_nodes(model)
    assert [own.node for own in summaries] == list(range(tree.n_nodes))
    root = summaries[0]
    assert (root.parent, root.depth, root.sentence, root.histogram) == (-1, 0, "", None)
    for own in summaries[1:]:
        above = summaries[own.parent]
        answer = above.equation if tree.children[own.parent, 1] == own.node else f"not ({above.equation})"
        assert own.sentence == (f"{above.sentence} and {answer}" if above.sentence else answer)
        assert own.depth == above.depth + 1
    for own in summaries:
        assert own.counts == tuple(tree.counts[own.node])
        assert own.label == str(model.classes_[tree.majority[own.node]])
        assert (own.equation == "") == (own.terms == ()) == (own.threshold is None) == own.is_leaf
        if own.terms:
            assert sum(share for _, _, share in own.terms) == pytest.approx(1.0)
    gains = np.zeros(4)
    for own in summaries:
        for name, _, share in own.terms:
            gains[int(name[1:]) - 1] += share * tree.gains[own.node] * tree.counts[own.node].sum()
    assert gains / gains.sum() == pytest.approx(model.feature_importances_)


def test_a_tree_alone_is_enough(noisy):
    X, y = noisy
    model = OC1Classifier(max_depth=2, random_state=0).fit(X, y)
    ours, theirs = summarise_nodes(model, X, y), summarise_nodes(model.tree_, X, y)
    for own, other in zip(ours, theirs, strict=True):
        assert (own.sentence, own.counts) == (other.sentence, other.counts)
        if own.histogram is not None:
            assert (own.histogram.counts == other.histogram.counts).all()
            assert [term[2] for term in own.terms] == pytest.approx([term[2] for term in other.terms], rel=1e-6)


def test_machines_have_words_but_no_threshold(rcb):
    X, y = rcb
    model = LMDTClassifier(prune=None, random_state=0).fit(X, y)
    summaries = summarise_nodes(model, X, y)
    assert summaries[0].equation.startswith("largest of ")
    assert all(own.threshold is None and own.histogram is None for own in summaries)
    assert len({own.sentence for own in summaries if own.parent == 0}) == (model.tree_.children[0] >= 0).sum()


def test_what_cannot_be_summarised(noisy):
    X, y = noisy
    model = OC1Classifier(max_depth=1).fit(X, y)
    with pytest.raises(ValueError, match="the class 7, which the model does not know"):
        summarise_nodes(model, X, np.full(len(y), 7))
    with pytest.raises(ValueError, match="y is needed"):
        summarise_nodes(model, X)
    with pytest.raises(ValueError, match="expecting 4 features"):
        summarise_nodes(model, X[:, :2], y)
    with pytest.raises(ValueError, match="the tree has 4"):
        summarise_nodes(model.tree_, X[:, :2], y)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        summarise_nodes(model, X, y[:-1])
    with pytest.raises(ValueError, match="at least 2"):
        summarise_nodes(model, X, y, bins=1)
    with pytest.raises(TypeError, match="has no single tree"):
        summarise_nodes(OC1EnsembleClassifier(n_estimators=2).fit(X, y))
    with pytest.raises(TypeError, match="a tree of this package is needed, got int"):
        summarise_nodes(3)


def test_sentences_do_not_grow_with_the_depth(monkeypatch):
    monkeypatch.setattr("oc1.tree.summaries.MAX_SENTENCE_LENGTH", 30)
    X = np.arange(40.0)[:, None]
    model = OC1Classifier(splits="axis", prune=None, random_state=0).fit(X, np.arange(40) % 2)
    found = summarise_nodes(model)
    assert max(own.depth for own in found) > 4
    assert max(len(own.sentence) for own in found) < 80
    assert all(own.sentence.startswith("... and ") for own in found if own.depth > 5)


@pytest.mark.parametrize("largest", [1e300, 1e308, 1.7e308])
@pytest.mark.parametrize("learner", [OC1Classifier, OC1Regressor, C45Classifier])
def test_the_largest_numbers_are_learnt_from_and_stored(learner, largest, tmp_path):
    """A histogram that no one had asked for once made such a fit fail."""
    shares = np.clip(np.random.default_rng(0).normal(size=(60, 2)) / 3, -1, 1)
    shares[:2] = [[1.0, 1.0], [-1.0, -1.0]]
    X, y = shares * largest, (shares.sum(axis=1) > 0).astype(int)
    model = learner().fit(X, y)
    counts = [own.histogram.counts.sum() for own in summarise_nodes(model, X, y) if own.histogram is not None]
    assert counts == [] or counts[0] == 60
    assert "NaN" not in model._repr_html_()
    save_model(model, tmp_path / "model.json")
    np.testing.assert_array_equal(load_model(tmp_path / "model.json").predict(X), model.predict(X))

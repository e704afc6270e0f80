"""What is written, and what is refused to be."""

import gzip
import warnings

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from oc1 import OC1Classifier, OC1EnsembleClassifier, OC1Regressor
from oc1.baselines import CARTClassifier
from oc1.files.models.storage import load_model, save_model


def test_what_json_cannot_hold_is_left_out(pol, tmp_path):
    X, y = pol

    def measure(left, right):
        return min(left.sum(), right.sum())

    model = CARTClassifier(criterion=measure, random_state=np.random.RandomState(0), max_depth=2).fit(X, y)
    path = tmp_path / "model.json"
    with pytest.warns(UserWarning, match="left out") as caught:
        save_model(model, path)
    messages = " ".join(str(one.message) for one in caught)
    assert "criterion=" in messages
    assert "random_state=" in messages
    assert "predicts the same" in messages
    again = load_model(path)
    assert (again.predict(X) == model.predict(X)).all()
    assert again.criterion == "twoing"
    assert again.random_state is None
    vote = OC1EnsembleClassifier(CARTClassifier(criterion=measure, max_depth=2), 5, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="criterion") as caught:
        save_model(vote, path)
    assert len(caught) == 1
    assert load_model(path).estimator.max_depth == 2


def test_files_are_readable_lines(fitted, tmp_path):
    path = tmp_path / "model.json"
    save_model(fitted["categorical"], path)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[:3] == ["{", ' "format": "oc1 model",', ' "version": 1,']
    assert any(line.startswith('  "children": [[1, ') for line in lines)
    save_model(fitted["categorical"], tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    save_model(fitted["categorical"], tmp_path / "one.json.gz")
    assert gzip.decompress((tmp_path / "one.json.gz").read_bytes()) == path.read_bytes()


def test_only_fitted_learners_of_the_package_are_stored(pol, tmp_path):
    X, y = pol
    path = tmp_path / "model.json"

    class Mine(OC1Classifier):
        pass

    for foreign in (LogisticRegression().fit(X, y), Mine(max_depth=1).fit(X, y), "text"):
        with pytest.raises(TypeError, match="only models of this package"):
            save_model(foreign, path)
    with pytest.raises(NotFittedError):
        save_model(OC1Classifier(), path)
    with pytest.raises(TypeError, match="a vote of DummyClassifier cannot be stored"):
        save_model(OC1EnsembleClassifier(DummyClassifier(), 2).fit(X, y), path)
    assert list(tmp_path.iterdir()) == []


def test_a_regressor_of_huge_numbers_is_not_written_with_infinities(tmp_path):
    X = np.arange(20.0)[:, None]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = OC1Regressor(prune=None, random_state=0).fit(X, np.arange(20.0))
    assert len(model.pruning_path_) > 1  # computed from the losses when it is first asked for
    model.tree_.losses[0] = np.inf
    with pytest.raises(ValueError, match=r"cannot be stored as JSON: tree\.losses\[0\]: must be finite"):
        save_model(model, tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []

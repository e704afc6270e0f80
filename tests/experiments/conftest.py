import pytest
from small_experiment import make_small_experiment, run


@pytest.fixture
def experiment():
    return make_small_experiment()


@pytest.fixture
def entry(experiment, tmp_path):
    return run(experiment, tmp_path)

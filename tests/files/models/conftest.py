import mutations
import pytest


@pytest.fixture(scope="session")
def fitted():
    return mutations.models()


@pytest.fixture(scope="session")
def files():
    return mutations.valid_files()

"""The folder of the zoo's files."""

import pytest


@pytest.fixture(scope="session")
def zoo(tmp_path_factory):
    return tmp_path_factory.mktemp("zoo")

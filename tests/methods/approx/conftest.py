"""Models of every kind that LIBSVM trains."""

import pytest

from support.model_files import trained_models


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    return trained_models(tmp_path_factory.mktemp("trained"))

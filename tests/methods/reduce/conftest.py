"""Trained models, made once."""

import pytest

from support.messages import cases
from support.training import train_jobs

JOBS = {name: words for name, *words in cases("models to reduce")}


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """name -> (model file, test file); models of 250 rows of data/."""
    return train_jobs(tmp_path_factory.mktemp("trained"), JOBS, 250)

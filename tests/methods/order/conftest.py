"""Trained models and their ordered models, made once."""

import pytest

from support.ordering import JOBS, order_file
from support.training import train_jobs


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """name -> (model file, test file)"""
    return train_jobs(tmp_path_factory.mktemp("trained"), JOBS, 500)


@pytest.fixture(scope="session")
def ordered(trained, tmp_path_factory):
    """ordered("rings", "triangle") -> path of that model, made once, without the command: a fifth of the time."""
    folder = tmp_path_factory.mktemp("ordered")

    def get(name, method):
        path = folder / f"{name}.{method}"
        if not path.exists():
            order_file(trained[name][0], method, path)
        return path

    return get

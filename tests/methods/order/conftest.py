"""Trained models and their ordered models, made once."""

import pytest

from support.ordering import JOBS, order_file
from support.places import DATA
from support.training import train_on


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """name -> (model file, test file)"""
    folder = tmp_path_factory.mktemp("trained")
    for name, (train_file, _, options) in JOBS.items():
        train_on(folder / f"{name}.model", train_file, options, 500)
    return {name: (folder / f"{name}.model", DATA / test_file) for name, (_, test_file, _) in JOBS.items()}


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

"""Trained models and their reduced sets, made once."""

import pytest

from fastsvm_cli.methods.reduce.probabilities import refit
from fastsvm_cli.methods.reduce.reduction import compile_reduced_set
from fastsvm_cli.models import load_model
from fastsvm_cli.text.read_rows import read_chunks
from support.reducing import JOBS, fingerprint
from support.training import train_jobs


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """name -> (model file, test file); models of 250 rows of data/."""
    return train_jobs(tmp_path_factory.mktemp("trained"), JOBS, 250)


@pytest.fixture(scope="session")
def reduced(trained, tmp_path_factory):
    """reduced("rings", 20) -> path of that reduced set, made once, without the command: half the time."""
    folder = tmp_path_factory.mktemp("reduced")

    def get(name, count=30, data=None):
        path = folder / f"{name}.{count}{'.refitted' if data else ''}"
        if not path.exists():
            model = trained[name][0]
            found = compile_reduced_set(
                load_model(str(model)), fingerprint=fingerprint(model.read_bytes()), count=count
            )
            if data:
                found.model = refit(found.model, read_chunks(str(data)))
            path.write_bytes(found.model.to_text())
        return path

    return get

"""Trained models, made once."""

import pytest

from support.training import train_jobs

JOBS = {
    "rings": ("rings.train", "rings.test", "-g 0.5 -c 10 -b 1"),
    "rings-one-class": ("rings.train", "rings.test", "-s 2 -n 0.3 -g 0.5"),
    "colors": ("colors.train", "colors.test", "-g 0.05 -b 1"),
    "waves": ("waves.train", "waves.train", "-s 3 -g 1 -p 0.02 -b 1"),
}


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """name -> (model file, test file); models of 250 rows of data/."""
    return train_jobs(tmp_path_factory.mktemp("trained"), JOBS, 250)

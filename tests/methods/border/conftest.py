"""Models with a known border, trained once."""

import pytest

from support.bordering import wavy_files
from support.training import train_on


@pytest.fixture(scope="session")
def wavy(tmp_path_factory):
    """Return (model file, training file, unseen rows)."""
    return wavy_files(tmp_path_factory.mktemp("wavy"))


@pytest.fixture(scope="session")
def colors(tmp_path_factory):
    return train_on(tmp_path_factory.mktemp("colors") / "colors.model", "colors.train", "-g 0.05 -b 1", 300)

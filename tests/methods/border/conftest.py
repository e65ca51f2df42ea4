"""A model with a known border, trained once."""

import pytest

from support.bordering import wavy_files


@pytest.fixture(scope="session")
def wavy(tmp_path_factory):
    """Return (model file, training file, unseen rows)."""
    return wavy_files(tmp_path_factory.mktemp("wavy"))

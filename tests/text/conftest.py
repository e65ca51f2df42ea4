"""Files and texts for tests of the readers; models for tests of bad rows."""

import itertools
import random

import pytest

from support.reading import random_text
from zoo.kinds import compiled


@pytest.fixture(autouse=True)
def all_threads_again(all_threads):
    pass


@pytest.fixture
def file(tmp_path):
    """file(content) writes content to a file and returns its path."""
    numbers = itertools.count()

    def write(content):
        path = tmp_path / f"data{next(numbers)}"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture(scope="session")
def long_text():
    return random_text(random.Random(3), 20_000)


@pytest.fixture(scope="session")
def model(zoo):
    """model(trait, kind) is the file of a model of the zoo."""
    return lambda trait="two_classes", kind="approx": compiled(trait, kind, zoo)

"""Files and texts for tests of the readers; models for tests of bad rows."""

import itertools
import random

import pytest

from fastsvm_cli import _native
from support.compiling import compile_all
from support.paths import DATA
from support.reading import random_text
from support.training import train_on


@pytest.fixture(autouse=True)
def all_threads_again():
    yield
    _native.set_threads(0)


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
def models(tmp_path_factory):
    """A model of each kind that affects output lines, and `rows`, 60 of each data set."""
    folder = tmp_path_factory.mktemp("models")
    for name, source, options in (
        ("rings", "rings.train", "-g 0.2 -c 10 -b 1"),
        ("colors", "colors.train", "-g 0.02 -c 1 -b 1"),
        ("waves", "waves.train", "-s 3 -g 0.05 -c 5 -b 1"),
        ("one", "rings.train", "-s 2 -n 0.3 -g 0.5 -b 1"),
    ):
        train_on(folder / f"{name}.model", source, options, 400)
        (folder / f"{name}.rows").write_text("".join((DATA / source).read_text().splitlines(keepends=True)[400:460]))
    compile_all(
        folder,
        "approx --certify rings.model rings.cert",
        "approx rings.model rings.approx",
        "approx --certify colors.model colors.cert",
        "order rings.model rings.order",
        "order colors.model colors.order",
        "reduce --ratio 0.1 colors.model colors.red",
    )
    return folder

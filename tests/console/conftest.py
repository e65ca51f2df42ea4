"""A model, a compiled one and a few rows, to be broken off, piped and misused."""

import subprocess

import pytest

from support.places import DATA, FASTSVM
from support.training import train_on


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """A folder with a model, m, what it compiles to, fast, and a few rows."""
    folder = tmp_path_factory.mktemp("console")
    train_on(folder / "m", "rings.train", "-g 0.2 -c 10")
    subprocess.run([FASTSVM, "approx", "-q", "--certify", folder / "m", folder / "fast"], check=True)
    (folder / "rows").write_text("".join((DATA / "rings.test").read_text().splitlines(keepends=True)[:50]))
    return folder


@pytest.fixture
def place(trained, tmp_path):
    """A folder of one's own: m, fast, rows, and an output of before."""
    for name in ("m", "fast", "rows"):
        (tmp_path / name).write_bytes((trained / name).read_bytes())
    (tmp_path / "out").write_text("before\n")
    return tmp_path

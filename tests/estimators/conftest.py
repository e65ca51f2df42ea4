"""Models and rows for the objects of fastsvm_cli.load."""

import pytest

from support.compiling import compile_all
from support.places import DATA
from support.training import train_on


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Two classes, certified (rings), and four with probabilities (colors): models, what they compile to, and rows."""
    folder = tmp_path_factory.mktemp("estimators")
    train_on(folder / "rings.model", "rings.train", "-g 0.1 -c 10", 1000)
    train_on(folder / "colors.model", "colors.train", "-g 0.05 -b 1", 200)
    for name in ("rings", "colors"):
        (folder / f"{name}.test").write_bytes((DATA / f"{name}.test").read_bytes())
        compile_all(folder, f"approx --certify {name}.model")
    return folder

import pytest

from support.compiling import compile_all
from support.paths import DATA
from support.training import train_on


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """A model m, its compiled form fast, and a few rows."""
    folder = tmp_path_factory.mktemp("console")
    train_on(folder / "m", "rings.train", "-g 0.2 -c 10")
    compile_all(folder, "approx --certify m fast")
    (folder / "rows").write_text("".join((DATA / "rings.test").read_text().splitlines(keepends=True)[:50]))
    return folder


@pytest.fixture
def directory(trained, tmp_path):
    """A folder per test: m, fast, rows, and an earlier output."""
    for name in ("m", "fast", "rows"):
        (tmp_path / name).write_bytes((trained / name).read_bytes())
    (tmp_path / "out").write_text("before\n")
    return tmp_path

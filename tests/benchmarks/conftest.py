import pytest

from support.benching import ROWS, first_rows, train
from support.compiling import compile_all, linked


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    """Tables in one piece: workers of pytest have 80 columns."""
    monkeypatch.setenv("COLUMNS", "180")


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """Rows and models: exact ones, and rings compiled by every method."""
    folder = tmp_path_factory.mktemp("bench")
    first_rows(folder, "rows", "rings.test", ROWS)
    first_rows(folder, "colors.rows", "colors.test", 150)
    first_rows(folder, "waves.rows", "waves.train", 80)
    train(folder, "rings.model", "rings.train", "-g 0.2 -c 10", 800)
    train(folder, "colors.model", "colors.train", "-g 0.02 -c 1", 300)
    train(folder, "waves.model", "waves.train", "-s 3 -g 0.05 -c 5", 300)
    train(folder, "other.model", "rings.train", "-g 0.5 -c 1", 300)
    train(folder, "sharp.model", "colors.train", "-g 0.2 -c 10", 300)
    compile_all(
        folder,
        "approx rings.model rings.approx",
        "approx --certify rings.model rings.cert",
        "reduce --ratio 0.05 rings.model rings.red",
        "border --samples 30 rings.model rings.border",
        "order --method geometry rings.model rings.order",
        "approx --degree 1 sharp.model sharp.approx",
        "approx colors.model colors.approx",
        "approx --certify colors.model colors.cert",
        "approx waves.model waves.approx",
        "approx --degree 1 other.model other.approx",
    )
    return folder


@pytest.fixture
def directory(compiled, tmp_path):
    """A folder with links to them, in which `bench` runs."""
    return linked(compiled, tmp_path)


@pytest.fixture
def bench(fastsvm):
    """bench("--json rows model", more words): one run per case."""

    def bench(words, *more, **how):
        words = [*words.split(), *more]
        runs = () if "--runs" in words or "--try" in words else ("--runs", 1)
        return fastsvm("bench", *runs, *words, **how)

    return bench

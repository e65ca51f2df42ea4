import pytest

from support.dasking import run_here
from support.places import DATA
from support.training import train_on


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """Models of every kind that answers in its own way, and rows for them: {name: (model, rows, options)}."""
    home = tmp_path_factory.mktemp("models")
    out = {}

    def made(name, source, options, rows, count=120):
        train_on(home / name, source, options, count)
        text = (DATA / rows).read_bytes().splitlines(keepends=True)[:250]
        (home / f"{name}.rows").write_bytes(b"".join(text))
        out[name] = (home / name, home / f"{name}.rows", [])
        return home / name

    def also(name, base, *command, options=()):
        run_here(*command[:1], "-q", *command[1:], home / base, home / name)
        out[name] = (home / name, out[base][1], list(options))

    two = made("two", "rings.train", "-g 0.5 -b 1", "rings.test")
    made("three", "colors.train", "-g 0.05 -b 1", "colors.test")
    value = made("value", "waves.train", "-s 3 -g 0.5", "waves.train")
    made("one", "rings.train", "-s 2 -g 0.5", "rings.test")
    also("compiled", "two", "approx")
    also("certified", "two", "approx", "--certify", options=["--exact", two])
    also("certified value", "value", "approx", "--certify", options=["--exact", value, "--tolerance", "0.01"])
    also("ordered", "two", "order", options=["--evaluations"])
    return out


@pytest.fixture(autouse=True)
def no_wait(monkeypatch):
    """Nobody else writes what a test writes."""
    from fastsvm_cli.cluster import lease

    monkeypatch.setattr(lease, "_SETTLE", 0.0)

import pytest
from sklearn.svm import SVC

from fastsvm_cli.estimators import patching
from support.compiling import compile_all
from support.fitting import fit, rows
from support.paths import DATA
from support.training import train_on


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Models, compiled forms and rows: two classes (rings), four with probabilities (colors)."""
    folder = tmp_path_factory.mktemp("estimators")
    train_on(folder / "rings.model", "rings.train", "-g 0.1 -c 10", 1000)
    train_on(folder / "colors.model", "colors.train", "-g 0.05 -b 1", 200)
    for name in ("rings", "colors"):
        (folder / f"{name}.test").write_bytes((DATA / f"{name}.test").read_bytes())
        compile_all(folder, f"approx --certify {name}.model")
    return folder


@pytest.fixture(scope="session")
def svc():
    """Fitted to three classes: `rows` of support.fitting."""
    return fit(SVC(gamma=0.05, C=3), *rows())


@pytest.fixture
def answered(monkeypatch):
    """Numbers of rows in calls that the engine answers for scikit-learn."""
    calls, numbers = [], patching.Engine.numbers

    def count(self, X, requested):
        calls.append(X.shape[0])
        return numbers(self, X, requested)

    monkeypatch.setattr(patching.Engine, "numbers", count)
    return calls


@pytest.fixture
def calls(answered, monkeypatch):
    """As `answered`; the engine answers every call, however small."""
    monkeypatch.setattr(patching, "LEAST_VALUES", 1)
    for name in ("ROWS_BEFORE", "VALUES_BEFORE"):
        monkeypatch.setattr(patching, name, 0)
    return answered

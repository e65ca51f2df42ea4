"""Exceptions are ours, and those that Python or scikit-learn would raise; they survive pickling."""

import pickle
import sys

import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import fastsvm_cli
from fastsvm_cli.errors import (
    DataFormatError,
    FastsvmError,
    FileError,
    MissingPackageError,
    ModelFormatError,
    RowError,
)
from fastsvm_cli.sklearn import CompiledSVC

UNFITTED = [
    SVC(),
    make_pipeline(StandardScaler(), SVC()),
    make_pipeline("passthrough", SVC()),
    GridSearchCV(SVC(), {"C": [1]}),
    CompiledSVC(),
]


@pytest.mark.parametrize("estimator", UNFITTED, ids=str)
@pytest.mark.parametrize("ask", [fastsvm_cli.compile, fastsvm_cli.to_libsvm])
def test_an_unfitted_estimator_is_scikit_learns_error(ask, estimator):
    caught = _raised(NotFittedError, lambda: ask(estimator))
    assert isinstance(caught, ModelFormatError)


def test_errors_of_files_are_those_of_open(folder, tmp_path):
    rows, model = folder / "rings.test", folder / "rings.model"
    (tmp_path / "rows").write_text("not a number\n")
    (tmp_path / "m.c").mkdir()
    for theirs, call in (
        (FileNotFoundError, lambda: fastsvm_cli.load(tmp_path / "none")),
        (FileNotFoundError, lambda: fastsvm_cli.load_model(tmp_path / "none")),
        (FileNotFoundError, lambda: fastsvm_cli.load(f"{model}.approx", exact=tmp_path / "none")),
        (FileNotFoundError, lambda: fastsvm_cli.compile(tmp_path / "none")),
        (FileNotFoundError, lambda: next(iter(fastsvm_cli.read_chunks(tmp_path / "none")))),
        (FileNotFoundError, lambda: fastsvm_cli.predict_file(tmp_path / "none", model, tmp_path / "out")),
        (FileNotFoundError, lambda: fastsvm_cli.predict_file(rows, model, tmp_path / "none" / "out")),
        (FileNotFoundError, lambda: fastsvm_cli.load(model).save(tmp_path / "none" / "m")),
        (IsADirectoryError, lambda: fastsvm_cli.load(tmp_path)),
        (IsADirectoryError, lambda: fastsvm_cli.load(model).export(tmp_path / "m.c")),
        (ValueError, lambda: fastsvm_cli.load(rows)),
        (ValueError, lambda: fastsvm_cli.predict_file(tmp_path / "rows", model, tmp_path / "out")),
    ):
        caught = _raised(theirs, call)
        assert isinstance(caught, FastsvmError)
        assert not isinstance(caught, OSError) or (caught.filename and caught.errno and caught.strerror in str(caught))


def test_no_model_is_exported_over_itself(folder, tmp_path):
    path = tmp_path / "m.c"
    for made in ("rings.model", "rings.model.approx"):
        before = (folder / "rings.model").read_bytes()
        path.write_bytes(before)
        with pytest.raises(FileError, match=r"m\.c: the source of the model found, which the model would replace"):
            fastsvm_cli.load(folder / made).export(path)
        assert path.read_bytes() == before and [each.name for each in tmp_path.iterdir()] == ["m.c"]


def test_paths_may_be_objects(folder):
    chunks = fastsvm_cli.read_chunks(folder / "rings.test")
    assert sum(chunk.rows for chunk in chunks) == 6000 and fastsvm_cli.load_model(folder / "rings.model").pairs == 1


def test_a_missing_package_is_an_import_error(folder, monkeypatch):
    fast = fastsvm_cli.load(folder / "rings.model")
    monkeypatch.setitem(sys.modules, "onnx", None)
    caught = _raised(ImportError, lambda: fast.export("m.onnx"))
    assert isinstance(caught, MissingPackageError) and caught.name == "onnx"


def test_errors_of_rows_and_models_keep_their_attributes():
    for error in (DataFormatError("rows", 3, "why"), ModelFormatError("m", "why", 2), RowError(4, "why")):
        assert isinstance(error, ValueError)
        copy = pickle.loads(pickle.dumps(error))
        assert vars(copy) == vars(error) and str(copy) == str(error)


def test_an_error_of_a_file_within_another_keeps_its_file():
    inner = FileError("a", PermissionError(13, "Permission denied"))
    assert FileError("b", inner) is inner and inner.path == "a" and isinstance(inner, PermissionError)


def _raised(kind, call):
    with pytest.raises(kind) as caught:
        call()
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is type(caught.value) and str(copy) == str(caught.value)
    return caught.value

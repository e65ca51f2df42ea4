"""FastSVM.export: scalers, class names, reasons against it; and --fit."""

import numpy as np
import onnxruntime
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

import fastsvm_cli
from support.exporting import bytes_of_tables
from support.paths import GOLDEN

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])


def exported(fast, folder, **options):
    """Outputs by name, of iris."""
    fast.export(folder / "m.onnx", **options)
    session = onnxruntime.InferenceSession(str(folder / "m.onnx"), providers=["CPUExecutionProvider"])
    kind = np.float64 if options else np.float32
    return dict(zip([each.name for each in session.get_outputs()], session.run(None, {"X": X.astype(kind)})))


@pytest.mark.parametrize(
    "scaler, method", [(StandardScaler(), ("approx", {"degree": 4})), (MinMaxScaler(), ("exact", {}))]
)
def test_a_pipeline_is_written_with_its_scaler_and_its_names(scaler, method, tmp_path):
    fast = fastsvm_cli.compile(make_pipeline(scaler, SVC(gamma=0.02)).fit(X, NAMES[Y]), method[0], **method[1])
    found = exported(fast, tmp_path)
    assert np.array_equal(found["label"], fast.predict(X))
    assert found["scores"] == pytest.approx(fast.decision_function(X), abs=1e-3)


@pytest.mark.parametrize("y", [Y > 0, Y + 5, Y - 1.0])
def test_columns_are_scikit_learns(y, tmp_path):
    svc = SVC().fit(X, y)
    found, expected = exported(fastsvm_cli.compile(svc), tmp_path, precision="double"), svc.decision_function(X)
    scores = np.column_stack([-expected, expected]) if expected.ndim == 1 else expected
    assert found["scores"] == pytest.approx(scores, abs=1e-9)
    assert np.array_equal(found["label"], svc.predict(X).astype(int))


def test_c_is_written_with_its_header(tmp_path):
    fast = fastsvm_cli.load(GOLDEN / "version2" / "c_svc.approx")
    assert "tables" in fast.export(tmp_path / "m.c", prefix="mine")
    assert "mine_predict(" in (tmp_path / "m.h").read_text() and '#include "m.h"' in (tmp_path / "m.c").read_text()


@pytest.mark.full
def test_fit_takes_what_fits_and_says_what_it_costs(fastsvm, tmp_path):
    rows = np.random.default_rng(0).normal(size=(200, 6))
    fastsvm_cli.to_libsvm(SVC(gamma=0.1, C=10).fit(rows, (rows**2).sum(axis=1) > 6), str(tmp_path / "model"))
    for most, limit, words in (
        ("400K", 400 * 1024, "as it is"),
        ("1K", 1024, "approx --degree"),
        ("120", 120, "approx --rank"),
    ):
        told = fastsvm("export", "--to", "c", "--fit", most, "model", "out.c").out
        assert words in told and "labels that differ on the support vectors" in told
        assert bytes_of_tables((tmp_path / "out.c").read_text()) <= limit
    for most, code, words in (("8", 1, "no compiled model fits into 8 bytes"), ("lots", 2, "32K")):
        assert words in fastsvm("export", "--to", "c", "--fit", most, "model", "out.c", code=code).err
    compiled = GOLDEN / "version2" / "c_svc.approx"
    assert "expected the exact one" in fastsvm("export", "--to", "c", "--fit", "1K", compiled, "out.c", code=1).err

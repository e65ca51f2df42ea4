"""FastSVM.export: scalers, class names, reasons against it; and --fit."""

import re

import numpy as np
import onnxruntime
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM

import fastsvm_cli
from support.paths import GOLDEN

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])


def run(path, rows):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    outputs = [each.name for each in session.get_outputs()]
    kind = np.float32 if session.get_inputs()[0].type == "tensor(float)" else np.float64
    return dict(zip(outputs, session.run(None, {"X": rows.astype(kind)})))


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler()])
@pytest.mark.parametrize("method", ["exact", "approx"])
def test_a_pipeline_is_written_with_its_scaler_and_its_names(scaler, method, tmp_path):
    pipeline = make_pipeline(scaler, SVC(gamma=0.02)).fit(X, NAMES[Y])
    fast = fastsvm_cli.compile(pipeline, method, **({"degree": 4} if method == "approx" else {}))
    fast.export(tmp_path / "m.onnx")
    found = run(tmp_path / "m.onnx", X)
    assert np.array_equal(found["label"], fast.predict(X))
    assert found["scores"] == pytest.approx(fast.decision_function(X), abs=1e-3)


@pytest.mark.parametrize("y", [Y > 0, Y + 5, Y - 1.0])
def test_columns_are_scikit_learns(y, tmp_path):
    svc = SVC().fit(X, y)
    fast = fastsvm_cli.compile(svc)
    fast.export(tmp_path / "m.onnx", precision="double")
    found, expected = run(tmp_path / "m.onnx", X), svc.decision_function(X)
    scores = np.column_stack([-expected, expected]) if expected.ndim == 1 else expected
    assert found["scores"] == pytest.approx(scores, abs=1e-9)
    assert np.array_equal(found["label"], svc.predict(X).astype(int))


def test_regression_and_one_class_are_written(tmp_path):
    for estimator in (SVR().fit(X, X[:, 0]), OneClassSVM().fit(X)):
        fast = fastsvm_cli.compile(estimator)
        fast.export(tmp_path / "m.onnx", precision="double")
        found = run(tmp_path / "m.onnx", X)
        expected = estimator.predict(X)
        assert next(iter(found.values())).ravel() == pytest.approx(expected, abs=1e-9)


def test_c_is_written_with_its_header(tmp_path):
    fast = fastsvm_cli.load(GOLDEN / "version2" / "c_svc.approx")
    assert "tables" in fast.export(tmp_path / "m.c", prefix="mine")
    assert "mine_predict(" in (tmp_path / "m.h").read_text() and '#include "m.h"' in (tmp_path / "m.c").read_text()


def test_what_no_target_computes_is_refused_in_one_line(tmp_path):
    clipping = make_pipeline(MinMaxScaler(clip=True), SVC()).fit(X, Y)
    with pytest.raises(fastsvm_cli.FastsvmError, match="clips"):
        fastsvm_cli.compile(clipping).export(tmp_path / "m.onnx")
    with pytest.raises(fastsvm_cli.FastsvmError, match="break_ties"):
        fastsvm_cli.compile(SVC(break_ties=True).fit(X, Y)).export(tmp_path / "m.onnx")
    with pytest.raises(ValueError, match=r"\.onnx or \.c"):
        fastsvm_cli.compile(SVC().fit(X, Y)).export(tmp_path / "m.txt")
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    path = tmp_path_factory.mktemp("fit") / "model"
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 6))
    fastsvm_cli.to_libsvm(SVC(gamma=0.1, C=10).fit(rows, (rows**2).sum(axis=1) > 6), str(path))
    return path


@pytest.mark.parametrize(
    ("most", "expected"), [("400K", "as it is"), ("1K", "approx --degree"), ("120", "approx --rank")]
)
def test_fit_takes_what_fits_and_says_what_it_costs(most, expected, trained, fastsvm, tmp_path):
    done = fastsvm("export", "--to", "c", "--fit", most, trained, tmp_path / "out.c")
    assert expected in done.out and "labels that differ on the support vectors" in done.out
    limit = int(most.removesuffix("K")) * (1024 if most.endswith("K") else 1)
    bytes_ = sum(
        int(count) * {"float": 4, "uint8_t": 1, "uint16_t": 2, "int8_t": 1}[kind]
        for kind, count in re.findall(r"^static const (\w+) \w+\[(\d+)\]", (tmp_path / "out.c").read_text(), re.M)
    )
    assert bytes_ <= limit


def test_fit_refuses_what_is_compiled_and_what_never_fits(trained, fastsvm, tmp_path):
    done = fastsvm("export", "--to", "c", "--fit", "8", trained, tmp_path / "out.c", code=1)
    assert "no compiled model fits into 8 bytes" in done.err
    done = fastsvm(
        "export", "--to", "c", "--fit", "1K", GOLDEN / "version2" / "c_svc.approx", tmp_path / "out.c", code=1
    )
    assert "expected the exact one" in done.err
    done = fastsvm("export", "--to", "c", "--fit", "lots", trained, tmp_path / "out.c", code=2)
    assert "32K" in done.err

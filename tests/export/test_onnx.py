"""Exported ONNX graphs in onnxruntime: outputs, marks; probabilities of both targets."""

import numpy as np
import pytest

from fastsvm_cli.estimators.predictor import FastSVM
from fastsvm_cli.export.c import Program
from fastsvm_cli.export.description import describe
from fastsvm_cli.export.onnx import model_of
from support.exporting import Library, chunk_of, graph_run, made_up, predicted, rows_for


@pytest.mark.parametrize("single, classes", [(True, 2), (False, 2), (True, 5), (False, 3)])
def test_outputs_are_scikit_learns(single, classes):
    """Columns are in the order of the sorted classes."""
    model = made_up(classes, classes=classes, d=4, n=30)
    rows = rows_for(classes, 4)
    found, expected = graph_run(describe(model, "m"), single, rows), FastSVM(model).decision_function(rows)
    if classes == 2:
        expected = np.column_stack([-expected, expected])
    assert found["scores"] == pytest.approx(expected, abs=1e-4 if single else 1e-12)
    assert found["label"].shape == (len(rows),) and found["label"].dtype == np.int64


@pytest.mark.parametrize(
    "svm_type, single, classes", [("c_svc", True, 3), ("c_svc", False, 7), ("one_class", False, 2)]
)
def test_probabilities_are_libsvms(svm_type, single, classes, tmp_path):
    """The iteration of coupling stops within 0.005 / classes of its limit, perhaps a round earlier or later."""
    model, rows = made_up(classes, svm_type=svm_type, classes=classes, n=30, probability=True), rows_for(classes, 5)
    description = describe(model, "m")
    expected = predicted(model, chunk_of(rows), probability=True)[2].reshape(len(rows), -1)
    found = Library(Program(description, single=single, prefix="m"), tmp_path).probabilities(rows)
    assert found == pytest.approx(expected, abs=0.01 if single else 1e-9)
    if svm_type == "one_class":
        assert np.array_equal(found, expected)
        return
    found = graph_run(description, single, rows)["probabilities"]
    assert found == pytest.approx(FastSVM(model).predict_proba(rows), abs=0.01 if single else 1e-12)


def test_a_row_is_answered_alone_as_among_others():
    description, rows = describe(made_up(9, classes=4, probability=True), "m"), rows_for(9, 5)
    for name, numbers in graph_run(description, False, rows).items():
        alone = np.concatenate([graph_run(description, False, rows[at : at + 1])[name] for at in range(3)])
        assert np.allclose(alone, numbers[:3], rtol=0, atol=1e-12), name


def test_it_says_what_it_was_made_from():
    proto = model_of(describe(made_up(1), "m", fingerprint="0123"), True)
    marks = {each.key: each.value for each in proto.metadata_props}
    parts = {"kind": "LIBSVM", "svm_type": "c_svc", "precision": "float32", "fingerprint": "0123", "label_of_nan": "1"}
    assert marks == {f"fastsvm.{name}": value for name, value in parts.items()} and proto.producer_name == "fastsvm"

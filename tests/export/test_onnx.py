"""Exported ONNX graphs in onnxruntime: outputs, probabilities, marks, the command."""

import re

import numpy as np
import onnx
import pytest

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.estimators.predictor import FastSVM
from fastsvm_cli.export.description import describe
from fastsvm_cli.export.onnx import model_of
from fastsvm_cli.models import parse_model
from support.exporting import graph_run, made_up, rows_for
from support.paths import GOLDEN


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("single", [True, False])
def test_outputs_are_scikit_learns(classes, single):
    """Columns are in the order of the sorted classes."""
    model = made_up(classes, classes=classes, d=4, n=30)
    rows = rows_for(classes, 4)
    found, fast = graph_run(describe(model, "m"), single, rows), FastSVM(model)
    expected = fast.decision_function(rows)
    if classes == 2:
        expected = np.column_stack([-expected, expected])
    assert found["scores"] == pytest.approx(expected, abs=1e-4 if single else 1e-12)
    assert found["label"].shape == (len(rows),) and found["label"].dtype == np.int64


@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("single", [True, False])
def test_probabilities_are_libsvms_coupling(classes, single):
    model = made_up(classes, classes=classes, n=30, probability=True)
    rows = rows_for(classes, 5)
    found = graph_run(describe(model, "m"), single, rows)["probabilities"]
    # The iteration may stop a round earlier or later: within 0.005 / classes of its limit.
    assert found == pytest.approx(FastSVM(model).predict_proba(rows), abs=0.01 if single else 1e-12)


def test_labels_of_text_come_out_as_text():
    model = made_up(3, classes=3)
    description = describe(model, "m")
    description.classes = np.array(["one", "two", "three"])
    found = graph_run(description, True, rows_for(3, 5))
    assert set(found["label"]) <= {"one", "two", "three"}


def test_a_row_is_answered_alone_as_among_others():
    model = made_up(9, classes=4, probability=True)
    rows = rows_for(9, 5)
    together = graph_run(describe(model, "m"), False, rows)
    for name, numbers in together.items():
        alone = np.concatenate([graph_run(describe(model, "m"), False, rows[at : at + 1])[name] for at in range(3)])
        assert np.allclose(alone, numbers[:3], rtol=0, atol=1e-12), name


def test_it_says_what_it_was_made_from():
    proto = model_of(describe(made_up(1), "m", fingerprint="0123"), True)
    marks = {each.key: each.value for each in proto.metadata_props}
    assert marks == {
        "fastsvm.kind": "LIBSVM",
        "fastsvm.svm_type": "c_svc",
        "fastsvm.precision": "float32",
        "fastsvm.fingerprint": "0123",
    }
    assert proto.producer_name == "fastsvm"


def test_numbers_beyond_single_precision_are_refused():
    text = re.sub(rb"rho .*", b"rho 1e300", made_up(1).to_text())
    model = parse_model(text, "m")
    with pytest.raises(ModelFormatError, match="--precision double"):
        model_of(describe(model, "m"), True)


@pytest.mark.parametrize("name", ["version2/c_svc.approx", "three_classes.model", "epsilon_svr.model"])
def test_the_command_writes_runs_and_compares(name, fastsvm, tmp_path):
    data = tmp_path / "rows"
    data.write_text("1 1:0.5 3:-1\n-1 2:0.25\n1\n")
    done = fastsvm("export", "--to", "onnx", "--test", data, GOLDEN / name, tmp_path / "out.onnx")
    assert done.code == 0, done
    assert (
        "rows: 0 of 3 labels differ from fastsvm predict's, values by at most " in done.out
        or "values differ" in done.out
    )
    onnx.checker.check_model(str(tmp_path / "out.onnx"))


def test_a_feature_without_a_column_is_told_with_its_line(fastsvm, tmp_path):
    data = tmp_path / "rows"
    data.write_text("1 1:0.5\n1 99:1\n")
    done = fastsvm(
        *"export --to onnx --test".split(), data, GOLDEN / "version2" / "c_svc.approx", tmp_path / "out.onnx", code=1
    )
    assert f"{data}:2: feature 99 found" in done.err and "--features" in done.err
    assert not (tmp_path / "out.onnx").exists()

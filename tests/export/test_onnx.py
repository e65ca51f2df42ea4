"""ONNX graphs exported from every kind of model, run in onnxruntime, answer as fastsvm predict."""

import re

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.estimators.predictor import FastSVM
from fastsvm_cli.export.description import describe
from fastsvm_cli.export.onnx import model_of
from fastsvm_cli.export.tolerance import tolerance
from fastsvm_cli.models import load_model, parse_model
from support.exporting import any_model, chunk_of, graph_run, made_up, predicted, rows_for
from support.model_files import BORDERS, COMPILED, ORDERED, REDUCED
from support.places import GOLDEN
from support.profiles import calm


def run(description, rows, single):
    """Outputs by name; the checker accepts the graph."""
    proto = model_of(description, single)
    onnx.checker.check_model(proto, full_check=True)
    assert {each.domain for each in proto.opset_import} == {""}
    return graph_run(description, single, rows)


def agrees(model, description, rows, single):
    chunk = chunk_of(rows)
    labels, values, _ = predicted(model, chunk)
    found, allowed = run(description, rows, single), tolerance(description, chunk, single)
    if model.header.regression:
        assert next(iter(found)) == "variable" and (abs(found["variable"] - values) <= allowed).all()
        return found
    assert (abs(found["values"] - values) <= allowed).all()
    sure = (abs(values) > allowed).all(axis=1)
    assert sure.any() and np.array_equal(found["label"].ravel()[sure], labels[sure])
    return found


@calm(160)
@given(data=st.data(), single=st.booleans())
def test_models_of_any_kind_answer_as_fastsvm_predict(data, single):
    model, seed = data.draw(any_model(single))
    description = describe(model, "m", inputs=model.max_index + 2)
    agrees(model, description, rows_for(seed, description.inputs), single)


@pytest.mark.full(few=3)
@pytest.mark.parametrize("name", COMPILED + ORDERED + REDUCED + BORDERS)
def test_golden_models_answer_as_fastsvm_predict(name):
    model = load_model(str(GOLDEN / name))
    try:
        description = describe(model, name, inputs=model.max_index + 1)
    except ModelFormatError as fault:
        assert "found" in str(fault)
        return
    for single in (True, False):
        agrees(model, description, rows_for(name, description.inputs), single)


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("single", [True, False])
def test_outputs_are_scikit_learns(classes, single):
    """Columns are in the order of the sorted classes."""
    model = made_up(classes, classes=classes, d=4, n=30)
    rows = rows_for(classes, 4)
    found, fast = run(describe(model, "m"), rows, single), FastSVM(model)
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
    found = run(describe(model, "m"), rows, single)["probabilities"]
    # The iteration may stop a round earlier or later: within 0.005 / classes of its limit.
    assert found == pytest.approx(FastSVM(model).predict_proba(rows), abs=0.01 if single else 1e-12)


def test_labels_of_text_come_out_as_text():
    model = made_up(3, classes=3)
    description = describe(model, "m")
    description.classes = np.array(["one", "two", "three"])
    found = run(description, rows_for(3, 5), True)
    assert set(found["label"]) <= {"one", "two", "three"}


def test_a_row_is_answered_alone_as_among_others():
    model = made_up(9, classes=4, probability=True)
    rows = rows_for(9, 5)
    together = run(describe(model, "m"), rows, False)
    for name, numbers in together.items():
        alone = np.concatenate([run(describe(model, "m"), rows[at : at + 1], False)[name] for at in range(3)])
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

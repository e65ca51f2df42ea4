"""Models without vectors, or with vectors that have no entries."""

import numpy as np
import pytest

from fastsvm_cli.export.c import Program
from fastsvm_cli.export.description import describe
from fastsvm_cli.export.tolerance import tolerance
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from support.exporting import KERNELS, Library, agrees, chunk_of, made_up, predicted, rows_for

SVM_TYPES = ["c_svc", "one_class", "epsilon_svr"]


def check(model, inputs, single, folder):
    description = describe(model, "m", inputs=inputs)
    assert description.inputs == max(inputs, 1)
    rows = rows_for(1, description.inputs)
    values = agrees(model, description, rows, single, folder)
    # Another feature counts in a distance alone.
    more = np.column_stack([rows, np.zeros((len(rows), 3 - inputs)), rows[:, :1]]).astype(rows.dtype)
    _, expected, _ = predicted(model, chunk_of(more))
    library = Library(Program(description, single=single, prefix="more"), folder)
    allowed = tolerance(description, chunk_of(rows), single) + 1e-6
    assert (abs(library.values(more, sparse=True) - expected) <= allowed).all()
    return values


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("inputs", [0, 3])
@pytest.mark.parametrize("svm_type", SVM_TYPES)
@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_vectors_without_entries_are_written(kernel, svm_type, inputs, single, tmp_path):
    model = made_up(1, svm_type=svm_type, kernel=kernel, classes=3, n=6, full=0.0)
    values = check(model, inputs, single, tmp_path)
    assert (np.ptp(values, axis=0) == 0).all() == (kernel != "rbf")


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("svm_type", SVM_TYPES)
@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_models_without_vectors_are_constants(kernel, svm_type, single, tmp_path):
    values = check(made_up(1, svm_type=svm_type, kernel=kernel, classes=3, n=0), 0, single, tmp_path)
    assert (np.ptp(values, axis=0) == 0).all()


@pytest.mark.parametrize("n", [0, 6])
def test_compiled_models_without_features_are_written(n, tmp_path):
    model = compile_maclaurin(made_up(1, classes=3, n=n, full=0.0), fingerprint="f", certify=True, degree=3)
    check(model, 2, False, tmp_path)


def test_the_command_writes_a_constant(fastsvm, tmp_path):
    (tmp_path / "model").write_bytes(made_up(1, svm_type="epsilon_svr", n=0).to_text())
    done = fastsvm("export", "--to", "c", tmp_path / "model", tmp_path / "o.c")
    assert done.code == 0 and "m_FEATURES" not in done.out and "_FEATURES 1 " in (tmp_path / "o.h").read_text()

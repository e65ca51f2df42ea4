"""Models that know feature 0: column 0 of dense rows is feature 0, and `_sparse` takes LIBSVM's indices."""

import numpy as np
import pytest

from fastsvm_cli.export.c import Program
from fastsvm_cli.export.description import describe
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.models.embedded_scaling import EmbeddedScaling
from fastsvm_cli.text.scaling import parse_scaling
from support.evaluation import reference
from support.exporting import Library, agrees, chunk_of, graph_run, made_up, predicted, rows_for

RANGE = b"x\n-1 1\n0 -3 5\n1 0 7\n3 10 11\n4 -1 1\n"


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf"])
def test_column_0_is_feature_0(kernel, single, tmp_path):
    model = made_up(kernel, kernel=kernel, classes=3, d=4, first=0)
    description = describe(model, "m", inputs=6)
    assert (describe(model, "m").inputs, description.inputs, description.first_index) == (4, 6, 0)
    rows = rows_for(kernel, 6)
    agrees(model, description, rows, single, tmp_path, first=0)
    assert "feature j + 0" in Program(description, single=single, prefix="m").header()


@pytest.mark.parametrize("single", [True, False])
def test_radii_count_from_feature_0(single, tmp_path):
    exact = made_up(4, classes=3, d=4, n=24, full=0.9, first=0)
    model = compile_maclaurin(exact, fingerprint="f", certify=True, degree=4)
    rows = rows_for(4, 4) * np.float32(0.3)
    expected = reference(exact, chunk_of(rows, first=0))
    description = describe(model, "m")
    library = Library(Program(description, single=single, prefix="m"), tmp_path)
    for _, radii in (library.radius(rows), library.radius(rows, sparse=True)):
        assert (abs(library.values(rows) - expected) <= radii).all() and np.isfinite(radii).all()
    assert (abs(graph_run(description, single, rows)["values"] - expected) <= radii).all()
    # One more feature, number 4, is unknown.
    assert np.isinf(library.radius(np.eye(1, 5, 4, dtype=np.float32), sparse=True)[1]).all()


def test_an_embedded_range_begins_at_feature_0(tmp_path):
    model = made_up(3, svm_type="epsilon_svr", d=5, n=30, first=0)
    model.embedded_scaling = EmbeddedScaling(parse_scaling(RANGE, "range"), "m")
    rows = (rows_for(3, 5) * np.float32(2)).astype(np.float32)
    _, expected, _ = predicted(model, chunk_of(rows, first=0))
    description = describe(model, "m")
    values = Library(Program(description, single=False, prefix="m"), tmp_path).values(rows)
    assert values == pytest.approx(expected, abs=0.02)  # svm-scale's six digits are not reproduced
    assert graph_run(description, False, rows)["variable"] == pytest.approx(values, abs=1e-9)

"""Models that take raw rows: an embedded range, also of y, and folded scaling."""

import numpy as np
import pytest

from fastsvm_cli.export.c import Program
from fastsvm_cli.export.description import describe
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.models import load_model
from fastsvm_cli.models.embedded_scaling import EmbeddedScaling
from fastsvm_cli.text.scaling import parse_scaling
from support.evaluation import reference
from support.exporting import Library, chunk_of, graph_run, made_up, predicted, rows_for
from support.paths import GOLDEN

RANGE = b"y\n-1 1\n0 250\nx\n-1 1\n1 -3 5\n2 0 7\n3 -0.125 4\n4 10 11\n5 -1 1\n"
STANDARD = b"0.5 2\n-1 0.25\n3 1\n0 1\n0.125 4\n"


def both(model, rows, single, folder):
    """(values, radii or None) of the C and of the graph."""
    description = describe(model, "m", inputs=rows.shape[1])
    library = Library(Program(description, single=single, prefix="m"), folder)
    radii = None if description.certified is None else library.radius(rows)[1]
    found = graph_run(description, single, rows)
    return [(library.values(rows), radii), (found.get("values", found.get("variable")), found.get("radius"))]


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("text", [RANGE, STANDARD], ids=["range", "standard"])
def test_an_embedded_range_is_part_of_what_is_written(text, single, tmp_path):
    model = made_up(3, svm_type="epsilon_svr", d=5, n=30)
    scaling = parse_scaling(text, "range")
    model.embedded_scaling = EmbeddedScaling(scaling, "m")
    rows = (rows_for(3, 5) * np.float32(2)).astype(np.float32)
    _, expected, _ = predicted(model, chunk_of(rows))
    for values, _ in both(model, rows, single, tmp_path):
        # svm-scale's six digits are not reproduced.
        assert values == pytest.approx(expected, abs=0.02 if text is RANGE else 1e-4 if single else 1e-9)


@pytest.mark.parametrize("single", [True, False])
def test_radii_are_in_the_unit_of_raw_labels(single, tmp_path):
    exact = made_up(3, svm_type="epsilon_svr", d=5, n=30)
    model = compile_maclaurin(exact, fingerprint="f", certify=True, degree=4)
    model.embedded_scaling = EmbeddedScaling(parse_scaling(RANGE, "range"), "m")
    rows = (rows_for(4, 5) * np.float32([4, 4, 2, 1, 1]) + np.float32([0, 3, 2, 10, 0])).astype(np.float32)
    expected = 125 * (reference(exact, model.embedded_scaling.rows(chunk_of(rows))) + 1)
    for values, radii in both(model, rows, single, tmp_path):
        assert (abs(values.astype(float) - expected) <= radii).all() and (radii < 125 * 20).all()


EXPORTED = sorted(path.name for path in (GOLDEN / "raw-rows").iterdir() if path.suffix != ".cascade")


@pytest.mark.parametrize("name", EXPORTED)
def test_models_of_raw_rows_answer_as_fastsvm_predict(name, tmp_path):
    model = load_model(str(GOLDEN / "raw-rows" / name))
    rows = rows_for(name, max(model.max_index, 1))
    _, expected, _ = predicted(model, chunk_of(rows))
    for values, _ in both(model, rows, False, tmp_path):
        assert values == pytest.approx(expected, abs=1e-9 * max(1, abs(expected).max()))

"""Models that take raw rows: an embedded range, also of y, and folded scaling."""

import pytest

from fastsvm_cli.export.c import Program
from fastsvm_cli.export.description import describe
from fastsvm_cli.models import load_model
from fastsvm_cli.text.scaling import EmbeddedScaling, parse_scaling
from support.exporting import Library, chunk_of, graph_run, made_up, predicted, rows_for
from support.paths import GOLDEN

RANGE = b"y\n-1 1\n0 250\nx\n-1 1\n1 -3 5\n2 0 7\n3 -0.125 4\n4 10 11\n5 -1 1\n"
FEATURE_0 = b"x\n-1 1\n0 -3 5\n1 0 7\n3 10 11\n4 -1 1\n"
STANDARD = b"0.5 2\n-1 0.25\n3 1\n0 1\n0.125 4\n"


def both(model, rows, single, folder):
    """Values of the C and of the graph."""
    description = describe(model, "m", inputs=rows.shape[1])
    found = graph_run(description, single, rows)
    library = Library(Program(description, single=single, prefix="m"), folder)
    return library.values(rows), found.get("values", found.get("variable"))


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("text, first", [(RANGE, 1), (STANDARD, 1), (FEATURE_0, 0)])
def test_an_embedded_range_is_part_of_what_is_written(text, first, single, tmp_path):
    model = made_up(3, svm_type="epsilon_svr", d=5, n=30, first=first)
    model.embedded_scaling = EmbeddedScaling(parse_scaling(text, "range"), "m")
    rows = rows_for(3, 5) * 2
    _, expected, _ = predicted(model, chunk_of(rows, first))
    for values in both(model, rows, single, tmp_path):
        # svm-scale's six digits are not reproduced.
        assert values == pytest.approx(expected, abs=0.02 if text is not STANDARD else 1e-4 if single else 1e-9)


@pytest.mark.full
def test_models_of_raw_rows_answer_as_fastsvm_predict(tmp_path):
    paths = [path for path in (GOLDEN / "raw-rows").iterdir() if path.suffix != ".cascade"]
    assert len(paths) > 5
    for path in paths:
        model = load_model(str(path))
        rows = rows_for(path.name, max(model.max_index, 1))
        _, expected, _ = predicted(model, chunk_of(rows))
        for values in both(model, rows, False, tmp_path):
            assert values == pytest.approx(expected, abs=1e-9 * max(1, abs(expected).max())), path.name

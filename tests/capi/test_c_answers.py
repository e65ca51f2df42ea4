"""libfastsvm gives the numbers of the Python package, for all forms of rows. The parity table compares labels of every
kind."""

import numpy as np
import pytest

from fastsvm_cli import Chunk, load_model, read_chunks
from fastsvm_cli.prediction import Fallback, Predictor
from support.c_library import CModel, dense_rows, sparse_rows
from support.damage import SHORTEST
from support.model_files import exact_name
from support.oracles import data_text
from support.paths import GOLDEN
from zoo.traits import usual

pytestmark = pytest.mark.full
CERTIFIED = [f"version2/{name}" for name in ("c_svc-certified.approx", "nu_svc-certified.approx", "c_svc.reduced")]
#: One of every kind, but for cascades; with certificates, embedded ranges, several classes, probabilities.
MODELS = [
    *(name for name in SHORTEST.values() if "cascade" not in name),
    *CERTIFIED,
    *(f"version3/{name}" for name in ("c_svc.border", "epsilon_svr-triangle.order", "three_classes.density")),
    *("c_svc.model", "one_class.model", "nu_svc.model", "raw-rows/c_svc.folded", "version2/three_classes.border"),
]


def answered(path, chunk, output_kind, form="sparse", exact=None):
    """The library's answers, (rows, numbers). form: sparse, one (row by row), doubles, floats, or memory (which the
    models are loaded from)."""
    known = load_model(str(path))
    library = CModel(path, known.pairs, exact=exact, memory=form == "memory")
    starts, *entries = (np.array(each) for each in (chunk.indptr, chunk.indices, chunk.values))
    if form in ("doubles", "floats"):
        x = np.zeros((chunk.rows, 64))
        x[np.repeat(np.arange(chunk.rows), np.diff(starts)), entries[0] - known.first_index] = entries[1]
        given = [dense_rows(x.astype("f8" if form == "doubles" else "f4"))]
    elif form == "one":
        given = [sparse_rows(starts[at : at + 2], *entries) for at in range(chunk.rows)]
    else:
        given = [sparse_rows(starts, *entries)]
    for _ in range(3):  # the first few rows are answered in another way
        found = [library.ask(output_kind, each, known.header.nr_class) for each in given]
    return np.concatenate(found)


def expected(path, rows, output_kind, exact=None):
    """The package's answers: (rows, numbers)."""
    model = load_model(str(path))
    fallback = None if exact is None else Fallback(lambda: load_model(str(exact)).plain())
    by_value = output_kind in ("values", "radii")
    predictor = Predictor(model, probability=output_kind == "probabilities", values=by_value, exact=fallback)
    answer = predictor.answer(Chunk.concatenate(read_chunks(str(rows), scaling=model.row_scaling())))
    found, decisions = answer.predictions, answer.decisions
    if by_value:
        radii = [np.array(decisions.radius)] if output_kind == "radii" else []
        return np.hstack([np.array(decisions.value), *radii])[:, : model.pairs * (1 + len(radii))]
    return np.column_stack([np.array(found.label), np.array(found.probability)])


def assert_alike(path, rows, forms, exact=None):
    """Same labels, other numbers up to rounding: the first rows are answered in another way."""
    header, chunk = load_model(str(path)).header, Chunk.concatenate(read_chunks(str(rows)))
    certified = load_model(str(path)).certified and exact is None
    kinds = ["labels", "values", *["radii"] * certified]
    for output_kind in kinds + ["probabilities"] * (header.has_probability and not header.regression):
        known = expected(path, rows, output_kind, exact)
        for form in forms:
            found = answered(path, chunk, output_kind, form, exact)
            assert found.shape == known.shape
            if output_kind in ("labels", "probabilities") and not header.regression:
                assert np.array_equal(found[:, 0], known[:, 0]), form
            assert found == pytest.approx(known, rel=1e-10, abs=1e-11), (output_kind, form)


@pytest.mark.parametrize("name", MODELS)
def test_golden_models_answer_as_in_python(name):
    rows = GOLDEN / ("version3/data" if "version3" in name else "data")
    assert_alike(GOLDEN / name, rows, ["sparse", "one", "memory"])


@pytest.mark.parametrize("name", [*CERTIFIED, "version2/epsilon_svr.reduced"])
def test_a_certified_model_with_its_exact_one_has_svm_predicts_labels(name):
    assert_alike(GOLDEN / name, GOLDEN / "data", ["sparse", "memory"], GOLDEN / exact_name(name))


@pytest.mark.parametrize("svm_type, classes", [("c_svc", 2), ("c_svc", 5), ("epsilon_svr", 2)])
def test_forms_of_rows_are_one(tmp_path, svm_type, classes):
    """More rows than are answered at a time. Dense doubles with a stride equal sparse rows; so do floats."""
    found = usual(np.random.default_rng(3), svm_type, classes=classes, rows=1100, indices=range(1, 11))
    found = found.with_(rows=[{j: float(np.float32(v)) for j, v in row.items()} for row in found.rows])
    (tmp_path / "model").write_bytes(found.model)
    (tmp_path / "rows").write_bytes(data_text(found.rows))
    assert_alike(tmp_path / "model", tmp_path / "rows", ["sparse", "one", "doubles", "floats"])
